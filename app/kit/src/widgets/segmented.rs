//! A choice among a few things, all in view.

use crate::paint;
use crate::tokens::{Tokens, Type};
use egui::{Align2, Color32, Key, Rect, Role, Sense, StrokeKind, Ui, WidgetInfo, pos2, vec2};

/// Lets the reader choose one of `options`. True when the choice changed. `name` is what is being chosen, for screen
/// readers; arrow keys move the choice. Options that do not fit in the row wrap to the next.
pub fn segmented<T: PartialEq + Copy>(
    ui: &mut Ui,
    tokens: &Tokens,
    name: &str,
    chosen: &mut T,
    options: &[(T, &str)],
) -> bool {
    let mut is_changed = false;
    let widths: Vec<f32> = options
        .iter()
        .map(|(_, label)| paint::text(ui, tokens, Type::Note, tokens.ink, *label).size().x + 2.0 * tokens.px(12.0))
        .collect();
    let total: f32 = widths.iter().map(|width| width.max(tokens.hit)).sum();
    let is_one_row = total <= ui.available_width();
    let group = |ui: &mut Ui| {
        ui.spacing_mut().item_spacing =
            if is_one_row { egui::Vec2::ZERO } else { vec2(tokens.px(4.0), tokens.px(4.0)) };
        let start = ui.cursor().min;
        if is_one_row {
            let outline = Rect::from_min_size(pos2(start.x, start.y), vec2(total, tokens.px(30.0)));
            ui.painter().rect_filled(outline, tokens.control_corner(), tokens.sunken);
        }
        for ((value, label), width) in options.iter().zip(&widths) {
            let is_chosen = value == chosen;
            let size = vec2(width.max(tokens.hit), tokens.px(30.0));
            let (rect, response) = ui.allocate_exact_size(size, Sense::click());
            paint_option(ui, tokens, rect, &response, label, is_chosen);
            response
                .widget_info(|| WidgetInfo::selected(Role::RadioButton, true, is_chosen, format!("{name}: {label}")));
            let moved = if is_chosen && response.has_focus() { moved_by_keys(ui, &response) } else { 0 };
            if response.clicked() && !is_chosen {
                (*chosen, is_changed) = (*value, true);
            } else if moved != 0 {
                let from = options.iter().position(|(option, _)| option == value).unwrap_or_default();
                let to = from.saturating_add_signed(moved).min(options.len().saturating_sub(1));
                is_changed |= to != from;
                *chosen = options[to].0;
            }
        }
    };
    if is_one_row {
        ui.horizontal(group)
    } else {
        ui.horizontal_wrapped(group)
    };
    is_changed
}

fn moved_by_keys(ui: &Ui, response: &egui::Response) -> isize {
    let filter = egui::EventFilter { horizontal_arrows: true, ..Default::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    ui.input(|input| input.num_presses(Key::ArrowRight) as isize - input.num_presses(Key::ArrowLeft) as isize)
}

fn paint_option(ui: &Ui, tokens: &Tokens, rect: Rect, response: &egui::Response, label: &str, is_chosen: bool) {
    let inner = rect.shrink(tokens.px(2.0));
    let radius = f32::from(tokens.control_radius) - 2.0;
    let (fill, edge, ink, role) = if is_chosen {
        (tokens.surface, tokens.hairline(), tokens.accent, Type::NoteStrong)
    } else if response.hovered() {
        (tokens.accent_soft, egui::Stroke::NONE, tokens.ink, Type::Note)
    } else {
        (Color32::TRANSPARENT, egui::Stroke::NONE, tokens.muted, Type::Note)
    };
    ui.painter().rect(inner, radius, fill, edge, StrokeKind::Inside);
    ui.painter().text(rect.center(), Align2::CENTER_CENTER, label, tokens.font(role), ink);
    paint::focus_ring(ui, tokens, response, inner, radius);
}
