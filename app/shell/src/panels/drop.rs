//! What a release of the mouse will do, while files hang over the window.

use crate::app::App;
use egui::{Align2, Id, LayerId, Order, Ui};
use vramlab_kit::tokens::Type;
use vramlab_units::Text;

const RELEASE: Text = Text::new("松手打开：{}", "Release to open: {}");
const KINDS: Text = Text::new(
    "录制、课程包（.zip 或文件夹）、单章、学习进度。文件只在本机读取。",
    "A trace, a lesson pack (.zip or a folder), a chapter, or your progress. Files are read here and go nowhere.",
);

pub fn ui(app: &App, ui: &Ui) {
    let names: Vec<String> = ui.input(|input| {
        let name = |file: &egui::HoveredFile| {
            let path = file.path.as_ref().and_then(|path| path.file_name());
            path.map(|name| name.to_string_lossy().into_owned())
        };
        input.raw.hovered_files.iter().map(|file| name(file).unwrap_or_else(|| file.mime.clone())).collect()
    });
    if names.is_empty() {
        return;
    }
    let tokens = app.tokens();
    let lang = app.lang();
    let painter = ui.ctx().layer_painter(LayerId::new(Order::Foreground, Id::unique("drop")));
    let screen = ui.ctx().content_rect();
    painter.rect_filled(screen, 0, tokens.ground.gamma_multiply(0.92));
    let frame = screen.shrink(tokens.px(24.0));
    painter.rect_stroke(frame, tokens.card_corner(), tokens.stroke(2.0, tokens.accent), egui::StrokeKind::Inside);
    let text = RELEASE.get(lang).replace("{}", &names.join(", "));
    let center = screen.center();
    painter.text(center, Align2::CENTER_BOTTOM, text, tokens.font(Type::Card), tokens.ink);
    let below = center + egui::vec2(0.0, tokens.space.s);
    painter.text(below, Align2::CENTER_TOP, KINDS.get(lang), tokens.font(Type::Note), tokens.muted);
}
