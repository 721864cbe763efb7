//! A QR code: dark on light in both themes, because that is what readers of the code expect.

use crate::palette::{QR_DARK, QR_LIGHT};
use egui::{Rect, Response, Role, Sense, Ui, WidgetInfo, pos2, vec2};

/// Light modules around the code, as the standard asks.
const QUIET: usize = 4;

/// `is_dark` holds the modules row by row; `side` is in points and includes the light margin.
pub fn qr_code(ui: &mut Ui, is_dark: &[bool], side: f32, label: &str) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(side, side), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, label));
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 0.0, QR_LIGHT);
    let n = is_dark.len().isqrt();
    let size = side / (n + 2 * QUIET) as f32;
    let at = |module: usize| (module + QUIET) as f32 * size;
    for (idx, _) in is_dark.iter().enumerate().filter(|(_, is_dark)| **is_dark) {
        let min = rect.min + vec2(at(idx % n), at(idx / n));
        let max = rect.min + vec2(at(idx % n + 1), at(idx / n + 1));
        painter.rect_filled(Rect::from_min_max(pos2(min.x, min.y), pos2(max.x, max.y)), 0.0, QR_DARK);
    }
    response
}
