//! What a release of the mouse will do, while files hang over the window: one line a file, by its content where the
//! platform lets us look into it, by its name otherwise.

use crate::app::App;
use crate::intake::Hovered;
use egui::text::LayoutJob;
use egui::{Id, LayerId, Order, Rect, Ui, vec2};
use vramlab_kit::tokens::Type;
use vramlab_units::Text;

const RELEASE: Text = Text::new("松手，看看它是什么", "Release, and it is recognised");
const NAMELESS: Text = Text::new("一个文件", "a file");
const PRIVATE: Text = Text::new("文件只在本机读取，不会上传", "Files are read here and go nowhere");

pub fn ui(app: &mut App, ui: &Ui) {
    let hovered = ui.input(|input| input.raw.hovered_files.clone());
    let mut hovering = std::mem::take(&mut app.hovering);
    hovering.refresh(&hovered, app.platform.as_mut());
    if !hovered.is_empty() {
        paint(app, ui, &hovering.files);
    }
    app.hovering = hovering;
}

fn paint(app: &App, ui: &Ui, files: &[Hovered]) {
    let tokens = app.tokens();
    let lang = app.lang();
    let painter = ui.ctx().layer_painter(LayerId::new(Order::Foreground, Id::unique("drop")));
    let screen = ui.ctx().content_rect();
    painter.rect_filled(screen, 0, tokens.ground.gamma_multiply(0.94));
    let frame = screen.shrink(tokens.px(20.0));
    painter.rect_stroke(frame, tokens.card_corner(), tokens.stroke(2.0, tokens.accent), egui::StrokeKind::Inside);
    let width = (frame.width() - tokens.px(32.0)).min(tokens.px(560.0));
    let room = width - 2.0 * tokens.space.l;
    let lay = |text: &str, role: Type, color: egui::Color32| {
        painter.layout_job(LayoutJob::simple(text.to_owned(), tokens.font(role), color, room))
    };
    let mut lines = vec![(lay(RELEASE.get(lang), Type::Card, tokens.ink), tokens.space.l)];
    for file in files {
        let (text, is_of_use) = file.in_a_line(lang);
        let name = if file.name.is_empty() { NAMELESS.get(lang) } else { &file.name };
        lines.push((lay(name, Type::NoteStrong, tokens.ink), tokens.px(2.0)));
        let color = if is_of_use { tokens.accent } else { tokens.caution };
        lines.push((lay(&text, Type::Note, color), tokens.space.s));
    }
    lines.push((lay(PRIVATE.get(lang), Type::Small, tokens.muted), 0.0));
    let height: f32 = lines.iter().map(|(line, gap)| line.size().y + gap).sum();
    let size = vec2(width, height + 2.0 * tokens.space.l);
    let card = Rect::from_center_size(screen.center(), size);
    painter.rect(card, tokens.card_corner(), tokens.surface, tokens.hairline(), egui::StrokeKind::Inside);
    let mut at = card.min + vec2(tokens.space.l, tokens.space.l);
    for (line, gap) in lines {
        let below = line.size().y + gap;
        painter.galley(at, line, tokens.ink);
        at.y += below;
    }
}
