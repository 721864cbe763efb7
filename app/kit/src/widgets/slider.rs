//! A labelled slider with its value: drag, click, arrow keys, Home and End, double click to reset.

use crate::paint;
use crate::tokens::{Tokens, Type};
use egui::{EventFilter, Key, Rect, Response, Role, Sense, Ui, WidgetInfo, pos2, vec2};
use std::ops::RangeInclusive;

/// How the rail is divided.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scale<'a> {
    /// `step` is the distance between values; 0 for any value.
    Linear { step: f64 },
    /// Equal ratios are equally far apart; `step` as above.
    Log { step: f64 },
    /// Only these values, equally far apart.
    Stops(&'a [f64]),
}

/// `Slider::new("步长 stride", &mut stride, 1.0..=32.0).step(1.0).show(ui, tokens)`.
#[must_use = "call show"]
pub struct Slider<'a> {
    name: &'a str,
    value: &'a mut f64,
    range: RangeInclusive<f64>,
    scale: Scale<'a>,
    default: Option<f64>,
    width: f32,
    shown: Box<dyn Fn(f64) -> String + 'a>,
}

impl<'a> Slider<'a> {
    pub fn new(name: &'a str, value: &'a mut f64, range: RangeInclusive<f64>) -> Self {
        let (scale, shown) = (Scale::Linear { step: 0.0 }, Box::new(vramlab_units::show::number));
        Self { name, value, range, scale, default: None, width: 120.0, shown }
    }

    /// Values are multiples of `step` from the lower end.
    pub fn step(mut self, step: f64) -> Self {
        self.scale = match self.scale {
            Scale::Log { .. } => Scale::Log { step },
            _ => Scale::Linear { step },
        };
        self
    }

    /// Equal ratios get equal lengths. The range must be positive.
    pub fn log(mut self) -> Self {
        let step = if let Scale::Linear { step } = self.scale { step } else { 0.0 };
        self.scale = Scale::Log { step };
        self
    }

    /// Only these values, in ascending order: 1, 2, 4, 8, 16.
    pub fn stops(mut self, stops: &'a [f64]) -> Self {
        self.scale = Scale::Stops(stops);
        self
    }

    /// What a double click goes back to.
    pub fn default_value(mut self, default: f64) -> Self {
        self.default = Some(default);
        self
    }

    /// Unit behind the value, as `units::show` writes it.
    pub fn unit(self, unit: &'a str) -> Self {
        self.shown(move |value| vramlab_units::show::with_unit(value, unit))
    }

    pub fn shown(mut self, shown: impl Fn(f64) -> String + 'a) -> Self {
        self.shown = Box::new(shown);
        self
    }

    /// Length of the rail in points at normal size.
    pub fn width(mut self, points: f32) -> Self {
        self.width = points;
        self
    }

    /// The response says `changed()` when the reader moved it. One widget: label, rail and value keep together, and the
    /// label goes above the rail where the row is too short for them.
    pub fn show(mut self, ui: &mut Ui, tokens: &Tokens) -> Response {
        let label = paint::text(ui, tokens, Type::Note, tokens.muted, self.name);
        let (gap, value_width) = (tokens.space.xs, self.value_width(ui, tokens));
        let most = paint::most_width(ui);
        let lead = if self.name.is_empty() { 0.0 } else { label.size().x + gap };
        let is_stacked = lead + tokens.px(72.0) + gap + value_width > most;
        let beside = if is_stacked { 0.0 } else { lead };
        let rail_width = tokens.px(self.width).min(most - beside - gap - value_width).max(tokens.px(48.0));
        let above = if is_stacked { label.size().y } else { 0.0 };
        let width = (beside + rail_width + gap + value_width).max(if is_stacked { label.size().x } else { 0.0 });
        let (rect, whole) = ui.allocate_exact_size(vec2(width, above + tokens.hit), Sense::hover());
        let row = rect.with_min_y(rect.top() + above);
        let middle = |height: f32| row.center().y - height / 2.0;
        let label_top = if is_stacked { rect.top() } else { middle(label.size().y) };
        ui.painter().galley(pos2(rect.left(), label_top), label, tokens.muted);
        let track = Rect::from_min_size(pos2(row.left() + beside, row.top()), vec2(rail_width, row.height()));
        let response = self.rail_ui(ui, tokens, track, whole.id.with("rail"));
        let text = (self.shown)(*self.value);
        let value = paint::elided(ui, tokens, Type::Mono, tokens.ink, &text, most - gap);
        ui.painter().galley(pos2(track.right() + gap, middle(value.size().y)), value, tokens.ink);
        self.name_it(ui, &response, &text);
        response
    }

    /// Room for the widest value, so that the row does not jump while the knob moves.
    fn value_width(&self, ui: &Ui, tokens: &Tokens) -> f32 {
        // In the middle of a range that changes its unit on the way, numbers have four digits.
        let (start, end) = (*self.range.start(), *self.range.end());
        let widest = [start, end, *self.value, 9_999_f64.max(start).min(end)].map(|value| (self.shown)(value));
        let widths = widest.map(|text| paint::text(ui, tokens, Type::Mono, tokens.ink, text).size().x);
        widths.into_iter().fold(0.0, f32::max)
    }

    fn rail_ui(&mut self, ui: &Ui, tokens: &Tokens, track: Rect, id: egui::Id) -> Response {
        let mut response = ui.interact(track, id, Sense::click_and_drag());
        let knob_radius = tokens.px(8.0);
        let rail = track.shrink2(vec2(knob_radius, 0.0));
        let before = *self.value;
        if let Some(pointer) = response.interact_pointer_pos() {
            let share = (pointer.x - rail.left()) / rail.width();
            *self.value = self.value_from_share(f64::from(share));
        }
        if response.double_clicked()
            && let Some(default) = self.default
        {
            *self.value = default;
        }
        self.take_keys(ui, &response);
        if *self.value != before {
            response.mark_changed();
        }
        self.paint(ui, tokens, rail, knob_radius, &response);
        response
    }

    fn take_keys(&mut self, ui: &Ui, response: &Response) {
        use egui::accesskit::{Action, ActionData};
        let mut n_steps = ui.input(|input| {
            input.num_accesskit_action_requests(response.id, Action::Increment) as f64
                - input.num_accesskit_action_requests(response.id, Action::Decrement) as f64
        });
        if response.has_focus() {
            let filter = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
            ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
            let presses = |key| ui.input(|input| input.num_presses(key)) as f64;
            n_steps += presses(Key::ArrowRight) - presses(Key::ArrowLeft);
            n_steps += 10.0 * (presses(Key::PageUp) - presses(Key::PageDown));
            if presses(Key::Home) > 0.0 {
                *self.value = *self.range.start();
            }
            if presses(Key::End) > 0.0 {
                *self.value = *self.range.end();
            }
        }
        if n_steps != 0.0 {
            *self.value = self.stepped(n_steps);
        }
        let wanted = ui.input(|input| {
            let requests = input.accesskit_action_requests(response.id, Action::SetValue);
            requests
                .filter_map(
                    |request| if let Some(ActionData::NumericValue(value)) = request.data { Some(value) } else { None },
                )
                .last()
        });
        if let Some(wanted) = wanted {
            *self.value = self.value_from_share(self.share_from_value(wanted));
        }
    }

    fn paint(&self, ui: &Ui, tokens: &Tokens, rail: Rect, knob_radius: f32, response: &Response) {
        let painter = ui.painter();
        let bar = Rect::from_center_size(rail.center(), vec2(rail.width(), tokens.px(4.0)));
        let knob = pos2(rail.left() + rail.width() * self.share_from_value(*self.value) as f32, rail.center().y);
        painter.rect_filled(bar, bar.height() / 2.0, tokens.line);
        painter.rect_filled(bar.with_max_x(knob.x), bar.height() / 2.0, tokens.accent);
        let fill = if response.hovered() || response.dragged() { tokens.accent_soft } else { tokens.surface };
        painter.circle(knob, knob_radius, fill, tokens.stroke(2.0, tokens.accent));
        if response.has_focus() {
            painter.circle_stroke(knob, knob_radius + tokens.px(3.0), tokens.stroke(1.5, tokens.accent));
        }
    }

    fn name_it(&self, ui: &Ui, response: &Response, text: &str) {
        response.widget_info(|| WidgetInfo {
            current_text_value: Some(text.to_owned()),
            ..WidgetInfo::slider(true, *self.value, self.name)
        });
        ui.ctx().accesskit_node_builder(response.id, |node| {
            node.set_role(Role::Slider);
            node.set_min_numeric_value(*self.range.start());
            node.set_max_numeric_value(*self.range.end());
            node.set_value(text);
            for action in [
                egui::accesskit::Action::Increment,
                egui::accesskit::Action::Decrement,
                egui::accesskit::Action::SetValue,
            ] {
                node.add_action(action);
            }
        });
    }

    fn share_from_value(&self, value: f64) -> f64 {
        let (low, high) = (*self.range.start(), *self.range.end());
        let share = match self.scale {
            Scale::Linear { .. } => (value - low) / (high - low),
            Scale::Log { .. } => (value / low).ln() / (high / low).ln(),
            Scale::Stops(stops) => nearest(stops, value) as f64 / stops.len().saturating_sub(1).max(1) as f64,
        };
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    fn value_from_share(&self, share: f64) -> f64 {
        let share = share.clamp(0.0, 1.0);
        let (low, high) = (*self.range.start(), *self.range.end());
        match self.scale {
            Scale::Linear { step } => self.rounded(low + (high - low) * share, step),
            Scale::Log { step } => self.rounded(low * (high / low).powf(share), step),
            Scale::Stops(stops) => {
                let stop_idx = (share * stops.len().saturating_sub(1) as f64).round() as usize;
                stops.get(stop_idx).copied().unwrap_or(*self.value)
            }
        }
    }

    fn rounded(&self, value: f64, step: f64) -> f64 {
        let (low, high) = (*self.range.start(), *self.range.end());
        let value = if step > 0.0 { low + ((value - low) / step).round() * step } else { value };
        value.clamp(low, high)
    }

    fn stepped(&self, n_steps: f64) -> f64 {
        match self.scale {
            Scale::Linear { step } | Scale::Log { step } if step > 0.0 => {
                self.rounded(*self.value + n_steps * step, step)
            }
            Scale::Linear { .. } | Scale::Log { .. } => {
                self.value_from_share(self.share_from_value(*self.value) + n_steps / 100.0)
            }
            Scale::Stops(stops) => {
                let stop_idx = nearest(stops, *self.value).saturating_add_signed(n_steps as isize);
                stops.get(stop_idx.min(stops.len().saturating_sub(1))).copied().unwrap_or(*self.value)
            }
        }
    }
}

fn nearest(stops: &[f64], value: f64) -> usize {
    let distance = |stop: &f64| (stop - value).abs();
    let best = stops.iter().enumerate().min_by(|a, b| distance(a.1).total_cmp(&distance(b.1)));
    best.map_or(0, |(stop_idx, _)| stop_idx)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_values_are_inverse() {
        let (mut a, mut b, mut c) = (1.0, 1.0, 4.0);
        let linear = Slider::new("", &mut a, 1.0..=32.0).step(1.0);
        assert_eq!((linear.value_from_share(0.0), linear.value_from_share(1.0)), (1.0, 32.0));
        assert_eq!(linear.value_from_share(linear.share_from_value(8.0)), 8.0);
        let log = Slider::new("", &mut b, 1.0..=1024.0).log();
        assert_eq!(log.value_from_share(0.5), 32.0); // the geometric middle
        assert_eq!(log.share_from_value(32.0), 0.5);
        let stops = Slider::new("", &mut c, 1.0..=16.0).stops(&[1.0, 2.0, 4.0, 8.0, 16.0]);
        assert_eq!((stops.value_from_share(0.5), stops.value_from_share(0.6)), (4.0, 4.0));
        assert_eq!(stops.share_from_value(16.0), 1.0);
    }

    #[test]
    fn keys_step_to_the_next_value_and_stop_at_the_ends() {
        let step = |mut value: f64, n_steps| Slider::new("", &mut value, 1.0..=32.0).step(1.0).stepped(n_steps);
        assert_eq!((step(2.0, 1.0), step(32.0, 1.0), step(1.0, -1.0), step(30.0, 10.0)), (3.0, 32.0, 1.0, 32.0));
        let stops = |mut value: f64, n| Slider::new("", &mut value, 1.0..=8.0).stops(&[1.0, 4.0, 8.0]).stepped(n);
        assert_eq!((stops(4.0, 1.0), stops(4.0, -1.0), stops(8.0, 1.0)), (8.0, 1.0, 8.0));
    }
}
