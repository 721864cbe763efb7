//! A ring around the pointer while presenting, so that the last row sees what is pointed at.

use crate::app::App;
use egui::{Id, LayerId, Order, Stroke, Ui};

pub fn ui(app: &App, ui: &Ui) {
    if !app.is_presenting {
        return;
    }
    let Some(at) = ui.input(|input| input.pointer.hover_pos()) else { return };
    let tokens = app.tokens();
    let painter = ui.ctx().layer_painter(LayerId::new(Order::Tooltip, Id::unique("pointer_halo")));
    let is_down = ui.input(|input| input.pointer.any_down());
    let radius = tokens.px(if is_down { 16.0 } else { 22.0 });
    painter.circle(at, radius, tokens.accent.gamma_multiply(0.16), Stroke::new(tokens.px(2.0), tokens.accent));
}
