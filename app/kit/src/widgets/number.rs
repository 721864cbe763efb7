//! Key numbers and gauges.

use crate::paint;
use crate::tokens::{Tokens, Type, Verdict};
use egui::{Rect, Response, Role, Sense, Ui, WidgetInfo, pos2, vec2};

/// A number to be read from afar: the label above, the value with its unit below, the exact value on hover.
/// `value` comes from `units::show`; `verdict` other than neutral colours it, and its word must stand beside it.
pub fn key_number(
    ui: &mut Ui,
    tokens: &Tokens,
    label: &str,
    value: &str,
    exact: Option<&str>,
    verdict: Verdict,
) -> Response {
    let ink = if verdict == Verdict::Neutral { tokens.ink } else { tokens.verdict(verdict) };
    let label_text = paint::text(ui, tokens, Type::Small, tokens.muted, label);
    let value_text = paint::text(ui, tokens, Type::Number, ink, value);
    let size = vec2(label_text.size().x.max(value_text.size().x), label_text.size().y + value_text.size().y);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let value_top = rect.top() + label_text.size().y;
    ui.painter().galley(rect.left_top(), label_text, tokens.muted);
    ui.painter().galley(pos2(rect.left(), value_top), value_text, ink);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{label}: {}", exact.unwrap_or(value))));
    match exact {
        Some(exact) => response.on_hover_text(exact),
        None => response,
    }
}

/// A gauge in one row: label, bar, value. `share` is 0.0 to 1.0, or `None` where the device does not say.
pub fn meter(ui: &mut Ui, tokens: &Tokens, label: &str, share: Option<f32>, value: &str) -> Response {
    let width = ui.available_width();
    let (rect, response) = ui.allocate_exact_size(vec2(width, tokens.px(26.0)), Sense::hover());
    let label_text = paint::text(ui, tokens, Type::Note, tokens.muted, label);
    let value_text = paint::text(ui, tokens, Type::MonoSmall, tokens.ink, value);
    let middle = |height: f32| rect.center().y - height / 2.0;
    ui.painter().galley(pos2(rect.left(), middle(label_text.size().y)), label_text, tokens.muted);
    let at = pos2(rect.right() - value_text.size().x, middle(value_text.size().y));
    ui.painter().galley(at, value_text, tokens.ink);
    let (left, right) = (rect.left() + width * 0.32, rect.left() + width * 0.70);
    let bar = Rect::from_min_max(pos2(left, middle(tokens.px(6.0))), pos2(right, middle(-tokens.px(6.0))));
    if let Some(share) = share {
        let radius = bar.height() / 2.0;
        ui.painter().rect_filled(bar, radius, tokens.grid);
        let filled = bar.with_max_x(bar.left() + bar.width() * share.clamp(0.0, 1.0));
        ui.painter().rect_filled(filled, radius, tokens.tint(tokens.ink, 0.75));
    }
    response.widget_info(|| WidgetInfo::labeled(Role::Meter, true, format!("{label}: {value}")));
    response
}
