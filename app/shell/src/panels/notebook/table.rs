//! Rows of small numbers in the width of the panel: columns are shares of it, and what does not fit is cut.

use egui::{Align2, Color32, Response, Role, Sense, Ui, WidgetInfo, pos2, vec2};
use vramlab_kit::paint;
use vramlab_kit::tokens::{Tokens, Type};

/// One cell: its text, its look.
#[derive(Clone, Debug)]
pub struct Cell {
    pub text: String,
    pub role: Type,
    pub color: Color32,
}

impl Cell {
    pub fn new(text: impl Into<String>, role: Type, color: Color32) -> Self {
        Self { text: text.into(), role, color }
    }
}

/// One row. The first column is flush left, the others flush right. `shares` add up to 1.
pub fn row<const N: usize>(ui: &mut Ui, tokens: &Tokens, shares: [f32; N], cells: [Cell; N]) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), tokens.px(19.0)), Sense::hover());
    let spoken = cells.iter().map(|cell| cell.text.as_str()).filter(|text| !text.is_empty()).collect::<Vec<_>>();
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, spoken.join(", ")));
    let mut left = rect.left();
    let mut is_cut = false;
    for (idx, (share, cell)) in shares.iter().zip(&cells).enumerate() {
        let width = rect.width() * share;
        let room = width - tokens.px(6.0);
        let galley = paint::elided(ui, tokens, cell.role, cell.color, cell.text.as_str(), room);
        is_cut |= galley.elided;
        let (align, x) = if idx == 0 { (Align2::LEFT_CENTER, left) } else { (Align2::RIGHT_CENTER, left + width) };
        let place = align.anchor_size(pos2(x, rect.center().y), galley.size());
        ui.painter().galley(place.min, galley, cell.color);
        left += width;
    }
    if is_cut { response.on_hover_text(spoken.join(" · ")) } else { response }
}
