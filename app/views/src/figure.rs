//! What every figure does the same way: one focus stop, a name for screen readers, a line of words under the picture,
//! lanes steered by the keyboard.

use crate::lanes::LANES;
use egui::{CornerRadius, EventFilter, Key, Pos2, Response, RichText, StrokeKind, Ui, WidgetInfo};
use vramlab_kit::{Tokens, Type};

/// Below this a figure scrolls inside itself.
pub const LEAST_WIDTH: f32 = 240.0;

/// The ring that says "the keyboard is here".
pub fn focus_ring(ui: &Ui, tokens: &Tokens, response: &Response) {
    if response.has_focus() {
        let corner = CornerRadius::same(tokens.control_radius);
        let rect = response.rect.expand(tokens.px(4.0));
        ui.painter().rect_stroke(rect, corner, tokens.stroke(1.5, tokens.accent), StrokeKind::Inside);
    }
}

/// Where the pointer is over the figure, while it moves or presses: at rest it leaves the cursor to the keyboard.
pub fn moved_over(ui: &Ui, response: &Response) -> Option<Pos2> {
    let is_active = ui.input(|input| input.pointer.delta() != egui::Vec2::ZERO || input.pointer.any_down());
    response.hover_pos().filter(|_| is_active)
}

/// The name of the figure: its finding, and what the cursor is on.
pub fn speak(response: &Response, finding: &str, detail: Option<&str>) {
    let text = match detail {
        Some(detail) => format!("{finding} {detail}"),
        None => finding.to_owned(),
    };
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Figure, true, &text));
}

/// The line under the picture. It keeps its height, so that nothing jumps when the pointer moves.
pub fn readout_ui(ui: &mut Ui, tokens: &Tokens, text: &str) {
    let least = tokens.px(20.0);
    let label = egui::Label::new(RichText::new(text).font(tokens.font(Type::Small)).color(tokens.muted)).wrap();
    let used = ui.add(label).rect.height();
    ui.add_space((least - used).max(0.0));
}

/// A state that has no picture, with the reason.
pub fn problem_ui(ui: &mut Ui, tokens: &Tokens, problem: &str) {
    ui.label(RichText::new(problem).font(tokens.font(Type::Body)).color(tokens.bad));
}

/// A list steered by the keyboard: Up, Down, Home and End move `cursor` among its `n` entries.
pub fn list_keys(ui: &Ui, response: &Response, cursor: &mut usize, n: usize) {
    if response.clicked_by(egui::PointerButton::Primary) {
        response.request_focus();
    }
    if !response.has_focus() {
        return;
    }
    let filter = EventFilter { vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    let last = n.saturating_sub(1);
    let pressed = |key| ui.input(|input| input.key_pressed(key));
    if pressed(Key::ArrowDown) {
        *cursor = (*cursor + 1).min(last);
    } else if pressed(Key::ArrowUp) {
        *cursor = cursor.saturating_sub(1);
    } else if pressed(Key::Home) {
        *cursor = 0;
    } else if pressed(Key::End) {
        *cursor = last;
    }
}

/// The keyboard's place among the lanes.
#[derive(Clone, Copy, Debug, Default)]
pub struct LaneKeys {
    pub lane: usize,
}

impl LaneKeys {
    /// Arrows, Home and End move; Space and Enter give the lane to switch.
    pub fn steer(&mut self, ui: &Ui, response: &Response) -> Option<usize> {
        if response.clicked_by(egui::PointerButton::Primary) {
            response.request_focus();
        }
        if !response.has_focus() {
            return None;
        }
        let filter = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let last = LANES - 1;
        ui.input(|input| {
            if input.key_pressed(Key::ArrowRight) {
                self.lane = (self.lane + 1).min(last);
            }
            if input.key_pressed(Key::ArrowLeft) {
                self.lane = self.lane.saturating_sub(1);
            }
            if input.key_pressed(Key::Home) {
                self.lane = 0;
            }
            if input.key_pressed(Key::End) {
                self.lane = last;
            }
        });
        let is_pressed = response.clicked() && !response.clicked_by(egui::PointerButton::Primary);
        is_pressed.then_some(self.lane)
    }
}
