//! A ruler on which a number is guessed, and on which the guess is compared with the truth: drag, click, arrow keys, Home
//! and End. Logarithmic when its ends are a factor of 100 apart, so that a guess is a matter of factors.

use crate::axis::{Axis, Spread};
use crate::tokens::{Tokens, Type};
use egui::{
    Align2, EventFilter, Key, Painter, Pos2, Rect, Response, Role, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2,
};
use vramlab_units::show;

/// How values lie on a ruler, and which of them a hand can set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    axis: Axis,
}

impl Scale {
    /// Nothing if the ends are not finite and ascending.
    pub fn new(min: f64, max: f64) -> Option<Self> {
        let is_log = min > 0.0 && max / min >= 100.0;
        let is_power = |value: f64| value.log2().fract() == 0.0;
        let spread = match is_log {
            true if is_power(min) && is_power(max) => Spread::Log2,
            true => Spread::Log10,
            false => Spread::Linear,
        };
        Axis::new(spread, min, max).map(|axis| Self { axis })
    }

    pub fn is_log(&self) -> bool {
        self.axis.spread != Spread::Linear
    }

    pub fn share_from_value(&self, value: f64) -> f64 {
        self.axis.share_from_value(value).unwrap_or(0.0).clamp(0.0, 1.0)
    }

    /// The value at a place, rounded to what a hand can mean: two digits, and between powers of two those.
    pub fn value_from_share(&self, share: f64) -> f64 {
        self.rounded(self.axis.value_from_share(share.clamp(0.0, 1.0)))
    }

    fn rounded(&self, value: f64) -> f64 {
        if !self.is_log() {
            let span = self.axis.max - self.axis.min;
            let is_counted = span >= 20.0 && self.axis.min.fract() == 0.0 && self.axis.max.fract() == 0.0;
            let step = 10_f64.powf((span / 100.0).log10().floor()).max(if is_counted { 1.0 } else { 0.0 });
            return ((value / step).round() * step).clamp(self.axis.min, self.axis.max);
        }
        let power = value.log2().round().exp2();
        if self.axis.spread == Spread::Log2 && (value / power).ln().abs() < 0.03 {
            return power.clamp(self.axis.min, self.axis.max);
        }
        let digit = 10_f64.powf(value.log10().floor() - 1.0);
        ((value / digit).round() * digit).clamp(self.axis.min, self.axis.max)
    }

    /// The value `n` fiftieths of the ruler on, and another one in any case.
    fn stepped(&self, value: f64, n: f64) -> f64 {
        let start = self.share_from_value(value);
        let by = |factor: f64| self.value_from_share(start + n * factor / 50.0);
        (2..=9).map(|factor| by(f64::from(factor) / 2.0)).find(|next| *next != value).unwrap_or(value)
    }

    /// Places to print: both ends, and round values with `room` (a share) around each.
    fn ticks(&self, n_most: usize, room: f64) -> Vec<f64> {
        let mut out = vec![self.axis.min];
        for tick in self.axis.ticks(n_most) {
            let at = self.share_from_value(tick);
            let last = out.last().map_or(0.0, |last| self.share_from_value(*last));
            if at - last >= room && 1.0 - at >= room {
                out.push(tick);
            }
        }
        out.push(self.axis.max);
        out
    }
}

/// What the truth is called, and where it lies.
#[derive(Clone, Copy, Debug)]
pub struct Truth<'a> {
    pub name: &'a str,
    pub value: f64,
}

/// `Ruler::new("useful bandwidth", "GB/s", scale, &mut guess).show(ui, tokens)`.
#[must_use = "call show"]
pub struct Ruler<'a> {
    name: &'a str,
    unit: &'a str,
    scale: Scale,
    value: &'a mut Option<f64>,
    /// What stands above the reader's mark.
    you: &'a str,
    truth: Option<Truth<'a>>,
}

impl<'a> Ruler<'a> {
    pub fn new(name: &'a str, unit: &'a str, scale: Scale, value: &'a mut Option<f64>) -> Self {
        Self { name, unit, scale, value, you: "", truth: None }
    }

    /// What the reader's mark is called.
    pub fn you(mut self, you: &'a str) -> Self {
        self.you = you;
        self
    }

    /// Shows the truth beside the guess, which then stays as it is.
    pub fn truth(mut self, truth: Truth<'a>) -> Self {
        self.truth = Some(truth);
        self
    }

    /// The response says `changed()` when the reader moved the mark.
    pub fn show(mut self, ui: &mut Ui, tokens: &Tokens) -> Response {
        let sense = if self.truth.is_some() { Sense::hover() } else { Sense::click_and_drag() };
        let size = vec2(ui.available_width().min(tokens.px(640.0)), tokens.px(66.0));
        let (rect, mut response) = ui.allocate_exact_size(size, sense);
        let line = Rect::from_min_max(
            pos2(rect.left() + tokens.px(12.0), rect.top() + tokens.px(30.0)),
            pos2(rect.right() - tokens.px(12.0), rect.top() + tokens.px(30.0)),
        );
        if self.truth.is_none() {
            let before = *self.value;
            self.drag(&response, line);
            self.keys(ui, &response);
            if *self.value != before {
                response.mark_changed();
            }
        }
        if ui.is_rect_visible(rect) {
            self.paint(ui.painter(), tokens, line, &response);
        }
        self.name_it(ui, &response);
        response
    }

    fn drag(&mut self, response: &Response, line: Rect) {
        let Some(pointer) = response.interact_pointer_pos() else { return };
        response.request_focus();
        let share = f64::from((pointer.x - line.left()) / line.width().max(1.0));
        *self.value = Some(self.scale.value_from_share(share));
    }

    fn keys(&mut self, ui: &Ui, response: &Response) {
        use egui::accesskit::{Action, ActionData};
        let requests = |action| ui.input(|input| input.num_accesskit_action_requests(response.id, action)) as f64;
        let mut n_steps = requests(Action::Increment) - requests(Action::Decrement);
        if response.has_focus() {
            let filter = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
            ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
            let presses = |key| ui.input(|input| input.num_presses(key)) as f64;
            n_steps += presses(Key::ArrowRight) - presses(Key::ArrowLeft);
            n_steps += 10.0 * (presses(Key::PageUp) - presses(Key::PageDown));
            if presses(Key::Home) > 0.0 {
                *self.value = Some(self.scale.axis.min);
            }
            if presses(Key::End) > 0.0 {
                *self.value = Some(self.scale.axis.max);
            }
        }
        if n_steps != 0.0 {
            *self.value = Some(match *self.value {
                Some(value) => self.scale.stepped(value, n_steps),
                None => self.scale.value_from_share(0.5), // the first key puts the mark in the middle
            });
        }
        let wanted = ui.input(|input| {
            let requests = input.accesskit_action_requests(response.id, Action::SetValue);
            let value = |request: &egui::accesskit::ActionRequest| match request.data {
                Some(ActionData::NumericValue(value)) => Some(value),
                _ => None,
            };
            requests.filter_map(value).last()
        });
        if let Some(wanted) = wanted {
            *self.value = Some(wanted.clamp(self.scale.axis.min, self.scale.axis.max));
        }
    }

    fn paint(&self, painter: &Painter, tokens: &Tokens, line: Rect, response: &Response) {
        let x_of = |value: f64| line.left() + line.width() * self.scale.share_from_value(value) as f32;
        let y = line.center().y;
        self.paint_scale(painter, tokens, line);
        let you = self.value.map(|value| pos2(x_of(value), y));
        let truth = self.truth.map(|truth| pos2(x_of(truth.value), y));
        if let (Some(you), Some(truth)) = (you, truth) {
            painter.hline(
                you.x.min(truth.x)..=you.x.max(truth.x),
                y,
                tokens.stroke(4.0, tokens.tint(tokens.ink, 0.35)),
            );
        }
        if let Some(truth) = truth {
            painter.circle(truth, tokens.px(7.0), tokens.surface, tokens.stroke(2.0, tokens.ink));
        }
        if let Some(you) = you {
            let is_lit = self.truth.is_none() && (response.hovered() || response.dragged());
            diamond(painter, you, tokens.px(if is_lit { 9.0 } else { 8.0 }), tokens);
            if response.has_focus() {
                painter.circle_stroke(you, tokens.px(13.0), tokens.stroke(1.5, tokens.accent));
            }
        } else if response.has_focus() {
            painter.circle_stroke(line.center(), tokens.px(13.0), tokens.stroke(1.5, tokens.accent));
        }
        self.paint_names(painter, tokens, line, you, truth);
    }

    fn paint_scale(&self, painter: &Painter, tokens: &Tokens, line: Rect) {
        let y = line.center().y;
        painter.hline(line.x_range(), y, tokens.stroke(2.0, tokens.line));
        let n_most = (line.width() / tokens.px(52.0)) as usize;
        let room = f64::from(tokens.px(46.0) / line.width().max(1.0));
        let ticks = self.scale.ticks(n_most, room);
        let last = ticks.len().saturating_sub(1);
        let mut taken: Vec<Rect> = Vec::new();
        // The ends come first, the last with the unit; a number between them gives way where it would touch another.
        let mut order: Vec<(usize, f64)> = ticks.into_iter().enumerate().collect();
        order.sort_by_key(|(idx, _)| (*idx != last, *idx));
        for (idx, tick) in order {
            let x = line.left() + line.width() * self.scale.share_from_value(tick) as f32;
            painter.vline(x, y - tokens.px(4.0)..=y + tokens.px(4.0), tokens.stroke(1.0, tokens.muted));
            let (align, x) = match idx {
                0 => (Align2::LEFT_TOP, x - tokens.px(6.0)),
                idx if idx == last => (Align2::RIGHT_TOP, x + tokens.px(8.0)),
                _ => (Align2::CENTER_TOP, x),
            };
            let text = if idx == last { show::with_unit(tick, self.unit) } else { bare(tick, self.unit) };
            let galley = painter.layout_no_wrap(text, tokens.font(Type::MonoSmall), tokens.muted);
            let place = align.anchor_size(pos2(x, y + tokens.px(14.0)), galley.size());
            let around = place.expand2(vec2(tokens.px(3.0), 0.0));
            if taken.iter().any(|other| around.intersects(*other)) {
                continue;
            }
            painter.galley(place.min, galley, tokens.muted);
            taken.push(place);
        }
    }

    /// The names above the marks, kept apart and inside.
    fn paint_names(&self, painter: &Painter, tokens: &Tokens, line: Rect, you: Option<Pos2>, truth: Option<Pos2>) {
        let galley = |name: &str, value: f64| {
            let text = format!("{name} {}", show::with_unit(value, self.unit));
            painter.layout_no_wrap(text.trim().to_owned(), tokens.font(Type::Small), tokens.ink)
        };
        let mut names = Vec::new();
        names.extend(you.zip(*self.value).map(|(at, value)| (at.x, galley(self.you, value))));
        names.extend(truth.zip(self.truth).map(|(at, truth)| (at.x, galley(truth.name, truth.value))));
        names.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (low, high) = (line.left() - tokens.px(12.0), line.right() + tokens.px(12.0));
        let mut lefts: Vec<f32> = names
            .iter()
            .map(|(x, name)| (x - name.size().x / 2.0).clamp(low, (high - name.size().x).max(low)))
            .collect();
        if let [first, second] = lefts[..]
            && second < first + names[0].1.size().x + tokens.space.s
        {
            // Too close: each goes to its own side of the middle between them.
            let middle = f32::midpoint(names[0].0, names[1].0);
            let width = names[0].1.size().x;
            lefts[0] = (middle - tokens.space.xs - width).max(low);
            lefts[1] = (lefts[0] + width + tokens.space.s).min(high - names[1].1.size().x);
        }
        for ((_, name), left) in names.into_iter().zip(lefts) {
            let top = line.center().y - tokens.px(13.0) - name.size().y;
            painter.galley(pos2(left, top), name, tokens.ink);
        }
    }

    fn name_it(&self, ui: &Ui, response: &Response) {
        let said = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| show::with_unit(value, self.unit));
        let value = said(*self.value);
        if let Some(truth) = self.truth {
            let text = format!("{} {value}, {} {}", self.you, truth.name, said(Some(truth.value)));
            response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &text));
            return;
        }
        response.widget_info(|| WidgetInfo {
            current_text_value: Some(value.clone()),
            ..WidgetInfo::slider(true, self.value.unwrap_or(self.scale.axis.min), self.name)
        });
        ui.ctx().accesskit_node_builder(response.id, |node| {
            use egui::accesskit::Action;
            node.set_role(Role::Slider);
            node.set_min_numeric_value(self.scale.axis.min);
            node.set_max_numeric_value(self.scale.axis.max);
            node.set_value(value.as_str());
            for action in [Action::Increment, Action::Decrement, Action::SetValue] {
                node.add_action(action);
            }
        });
    }
}

/// The reader's own prediction.
fn diamond(painter: &Painter, center: Pos2, radius: f32, tokens: &Tokens) {
    let corners = [vec2(0.0, -radius), vec2(radius, 0.0), vec2(0.0, radius), vec2(-radius, 0.0)];
    let points = corners.map(|corner| center + corner).to_vec();
    painter.add(Shape::convex_polygon(points, tokens.ink, Stroke::new(1.5, tokens.surface)));
}

/// A tick without its unit; ratios that are printed in per cent keep their scale.
fn bare(value: f64, unit: &str) -> String {
    show::number(if unit == "%" { value * 100.0 } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(min: f64, max: f64) -> Scale {
        Scale::new(min, max).unwrap()
    }

    #[test]
    fn a_factor_of_a_hundred_makes_it_logarithmic() {
        assert!(!scale(1.0, 99.0).is_log() && scale(1.0, 100.0).is_log() && !scale(0.0, 1e6).is_log());
        assert_eq!(scale(10.0, 1000.0).share_from_value(100.0), 0.5);
        assert_eq!(scale(0.0, 10.0).share_from_value(2.5), 0.25);
        assert_eq!(Scale::new(5.0, 5.0), None);
        assert_eq!(Scale::new(f64::NAN, 5.0), None);
    }

    #[test]
    fn a_hand_sets_two_digits_or_between_powers_of_two_those() {
        let rates = scale(50.0, 5000.0);
        let set = |value: f64| rates.value_from_share(rates.share_from_value(value));
        assert_eq!((set(301.4), set(3014.0), set(50.0), set(5000.0)), (300.0, 3000.0, 50.0, 5000.0));
        let bytes = scale(32.0, 4096.0);
        let set = |value: f64| bytes.value_from_share(bytes.share_from_value(value));
        assert_eq!((set(250.0), set(520.0), set(300.0)), (256.0, 512.0, 300.0));
        let (counts, shares) = (scale(1.0, 33.0), scale(0.0, 1.0));
        assert_eq!(counts.value_from_share(counts.share_from_value(7.26)), 7.0);
        assert_eq!(shares.value_from_share(0.126), 0.13);
    }

    #[test]
    fn a_key_always_moves_and_stops_at_the_ends() {
        for scale in [scale(32.0, 4096.0), scale(1.0, 1e6), scale(0.0, 7.0)] {
            let mut value = scale.axis.min;
            for _ in 0..200 {
                let next = scale.stepped(value, 1.0);
                assert!(next > value || value == scale.axis.max, "{scale:?} sticks at {value}");
                value = next;
            }
            assert_eq!(value, scale.axis.max);
            assert_eq!(scale.stepped(scale.axis.min, -1.0), scale.axis.min);
        }
    }

    #[test]
    fn ticks_hold_both_ends_and_their_distance() {
        let ticks = scale(32.0, 4096.0).ticks(8, 0.1);
        assert_eq!((ticks.first(), ticks.last()), (Some(&32.0), Some(&4096.0)));
        let shares: Vec<f64> = ticks.iter().map(|tick| scale(32.0, 4096.0).share_from_value(*tick)).collect();
        assert!(shares.windows(2).all(|pair| pair[1] - pair[0] >= 0.0999), "{ticks:?}");
    }
}
