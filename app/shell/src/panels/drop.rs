//! What a release of the mouse will do, while files hang over the window: one line a file, by its content where the
//! platform lets us look into it, by its name otherwise.

use crate::app::App;
use crate::intake::Hovered;
use egui::{Align2, FontId, Id, LayerId, Order, Rect, Ui, pos2, vec2};
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
    let row = tokens.px(56.0);
    let height = tokens.px(72.0) + row * files.len() as f32 + tokens.px(32.0);
    let card = Rect::from_center_size(screen.center(), vec2(width, height));
    painter.rect(card, tokens.card_corner(), tokens.surface, tokens.hairline(), egui::StrokeKind::Inside);
    let left = card.left() + tokens.space.l;
    let room = width - 2.0 * tokens.space.l;
    let put = |at: egui::Pos2, text: &str, font: FontId, color: egui::Color32| {
        let mut job = egui::text::LayoutJob::simple_singleline(text.to_owned(), font, color);
        job.wrap = egui::text::TextWrapping::truncate_at_width(room);
        painter.galley(at, painter.layout_job(job), color);
    };
    put(pos2(left, card.top() + tokens.space.l), RELEASE.get(lang), tokens.font(Type::Card), tokens.ink);
    for (idx, file) in files.iter().enumerate() {
        let top = card.top() + tokens.px(64.0) + row * idx as f32;
        let (text, is_of_use) = file.in_a_line(lang);
        let name = if file.name.is_empty() { NAMELESS.get(lang) } else { &file.name };
        put(pos2(left, top), name, tokens.font(Type::NoteStrong), tokens.ink);
        let color = if is_of_use { tokens.accent } else { tokens.caution };
        put(pos2(left, top + tokens.px(22.0)), &text, tokens.font(Type::Note), color);
    }
    let foot = pos2(card.center().x, card.bottom() - tokens.space.s);
    painter.text(foot, Align2::CENTER_BOTTOM, PRIVATE.get(lang), tokens.font(Type::Small), tokens.muted);
}
