//! The bar of a chapter's steps: where you are, what is done, a way to jump.

use crate::paint;
use crate::tokens::Tokens;
use egui::{Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};

/// One bar for each step, with how much of it is done (0.0 to 1.0) and its name for hover and screen readers. Gives the
/// index of the step that was clicked.
pub fn step_bar(ui: &mut Ui, tokens: &Tokens, steps: &[(f32, String)], current_idx: usize) -> Option<usize> {
    let width = ui.available_width();
    let n_steps = steps.len().max(1) as f32;
    let gap = tokens.px(6.0).min(width / n_steps * 0.2);
    let step_width = (width - gap * (n_steps - 1.0)) / n_steps;
    let mut clicked = None;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = gap;
        for (step_idx, (share, name)) in steps.iter().enumerate() {
            let (rect, response) = ui.allocate_exact_size(vec2(step_width, tokens.hit), Sense::click());
            let is_current = step_idx == current_idx;
            paint_step(ui, tokens, rect, *share, is_current, response.hovered());
            paint::focus_ring(ui, tokens, &response, rect, f32::from(tokens.control_radius));
            response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_current, name));
            if response.on_hover_text(name).clicked() {
                clicked = Some(step_idx);
            }
        }
    });
    clicked
}

fn paint_step(ui: &Ui, tokens: &Tokens, rect: Rect, share: f32, is_current: bool, is_hovered: bool) {
    let thick = tokens.px(if is_hovered || is_current { 6.0 } else { 4.0 });
    let bar = Rect::from_center_size(pos2(rect.center().x, rect.center().y), vec2(rect.width(), thick));
    let radius = thick / 2.0;
    ui.painter().rect_filled(bar, radius, if is_current { tokens.tint(tokens.accent, 0.3) } else { tokens.line });
    let done = bar.with_max_x(bar.left() + bar.width() * share.clamp(0.0, 1.0));
    if done.width() >= thick {
        ui.painter().rect_filled(done, radius, tokens.accent);
    }
}
