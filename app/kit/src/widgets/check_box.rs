//! A box to tick, with its label.

use crate::icons::Icon;
use crate::paint;
use crate::tokens::{Tokens, Type};
use egui::{Rect, Response, Role, Sense, StrokeKind, Ui, WidgetInfo, pos2, vec2};

/// Lets the reader switch `is_on`; the whole row can be pressed. The response says `changed()`.
pub fn check_box(ui: &mut Ui, tokens: &Tokens, is_on: &mut bool, label: &str) -> Response {
    let (side, gap) = (tokens.px(18.0), tokens.px(8.0));
    let most = paint::most_width(ui) - side - gap;
    let text = paint::elided(ui, tokens, Type::Note, tokens.ink, label, most);
    let size = vec2(side + gap + text.size().x, tokens.hit);
    let (rect, mut response) = ui.allocate_exact_size(size, Sense::click());
    if response.clicked() {
        *is_on = !*is_on;
        response.mark_changed();
    }
    let square = Rect::from_center_size(pos2(rect.left() + side / 2.0, rect.center().y), vec2(side, side));
    let edge = if *is_on || response.hovered() { tokens.accent } else { tokens.tint(tokens.muted, 0.7) };
    let fill = if *is_on { tokens.accent } else { tokens.surface };
    let radius = tokens.px(4.0);
    ui.painter().rect(square, radius, fill, tokens.stroke(1.2, edge), StrokeKind::Inside);
    if *is_on {
        Icon::Check.paint(ui.painter(), tokens, square, tokens.on_accent);
    }
    ui.painter().galley(pos2(square.right() + gap, rect.center().y - text.size().y / 2.0), text, tokens.ink);
    paint::focus_ring(ui, tokens, &response, square, radius);
    response.widget_info(|| WidgetInfo::selected(Role::CheckBox, ui.is_enabled(), *is_on, label));
    response
}
