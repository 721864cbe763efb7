//! What stands at the roofs: on each line which ceiling is met first there, and the roof that does not count beside the
//! one that does.

use super::answer::tflops_at;
use super::layout::Geometry;
use super::paint::Scene;
use super::question::{Roof, Tier};
use super::words;
use crate::ink;
use egui::{Align2, Pos2, Rect, pos2, vec2};
use vramlab_kit::Type;

/// Lines nearer than this look like one line badly drawn.
const LEAST_APART: f32 = 3.0;
/// Places for words along the slope, as shares of it, best first.
const ALONG: [f32; 5] = [0.7, 0.55, 0.84, 0.4, 0.95];

/// A roof that does not count at the moment, for comparison.
#[derive(Clone, Copy, Debug)]
pub struct OtherRoof {
    pub peak_tflops: f64,
    pub gb_per_s: f64,
    pub is_measured: bool,
    has_slope: bool,
    has_level: bool,
}

impl OtherRoof {
    pub fn new(peak_tflops: f64, gb_per_s: f64, is_measured: bool) -> Self {
        Self { peak_tflops, gb_per_s, is_measured, has_slope: true, has_level: true }
    }

    /// Without the lines that would lie on those of the counting roof.
    #[must_use]
    pub fn apart_from(self, geometry: &Geometry, peak_tflops: f64, gb_per_s: f64) -> Self {
        let apart = |a: f64, b: f64| {
            let y = |tflops: f64| geometry.plane.pos(1.0, tflops).map(|at| at.y);
            y(a).zip(y(b)).is_some_and(|(a, b)| (a - b).abs() > LEAST_APART * geometry.scale)
        };
        let has_slope = apart(tflops_at(1.0, self.gb_per_s), tflops_at(1.0, gb_per_s));
        Self { has_slope, has_level: apart(self.peak_tflops, peak_tflops), ..self }
    }

    pub fn is_seen(&self) -> bool {
        self.has_slope || self.has_level
    }
}

impl Scene<'_> {
    /// Another roof, thin; the labels of the counting one give its value.
    pub(super) fn other(&self, other: OtherRoof) {
        let roof = self.geometry.roof(other.peak_tflops, other.gb_per_s);
        let [low, ridge, end] = roof.as_slice() else { return };
        if other.has_slope {
            self.line(&[*low, *ridge], 1.0, self.tokens.muted, other.is_measured);
        }
        if other.has_level {
            self.line(&[*ridge, *end], 1.0, self.tokens.muted, other.is_measured);
        }
    }

    /// A label of the counting roof, and with the other roofs that are drawn: `FP32 66.9 TFLOP/s, measured 50`.
    fn with_others(&self, label: &str, value: impl Fn(&OtherRoof) -> Option<String>) -> [String; 2] {
        let mut whole = label.to_owned();
        for other in self.others {
            let kind = if other.is_measured { Roof::Measured } else { Roof::Published };
            if let Some(value) = value(other) {
                whole.push_str(&words::beside(kind, &value, self.lang));
            }
        }
        [whole, label.to_owned()]
    }

    /// On the slope and on the level line: what runs out first there, and how much of it there is.
    pub(super) fn sides(&self) {
        let hbm = self.hbm_gb_per_s();
        let roof = self.geometry.roof(self.answer.peak_tflops, hbm);
        let [low, ridge, end] = roof.as_slice() else { return };
        let [memory, compute] = words::sides(self.lang);
        if let [_] = self.answer.dots.as_slice() {
            let rate = format!("{} {}", Tier::Hbm.label(), words::rate(hbm));
            let rates = self.with_others(&rate, |other| other.has_slope.then(|| words::rate(other.gb_per_s)));
            self.on_slope(*low, *ridge, memory, &rates);
        }
        self.on_level(*ridge, *end, compute);
    }

    /// Words that end at `corner` stay clear of the name of the axis, at the top left.
    fn is_clear(&self, corner: Pos2, size: egui::Vec2) -> bool {
        let Geometry { rect, plane, .. } = self.geometry;
        let name = self.size(&words::y_axis(self.card, self.lang), Type::Small).x + self.tokens.space.m;
        let (left, top) = (corner.x - size.x, corner.y - size.y);
        top > plane.rect.top() || (top > rect.top() && left > rect.left() + name)
    }

    fn size(&self, text: &str, font: Type) -> egui::Vec2 {
        self.painter.layout_no_wrap(text.to_owned(), self.tokens.font(font), self.tokens.ink).size()
    }

    /// Above the slope, ending at it, where no dot is in the way.
    fn on_slope(&self, low: Pos2, ridge: Pos2, texts: [&str; 2], rates: &[String; 2]) {
        let (plot, obstacles) = (self.geometry.plane.rect, self.obstacles());
        let clear = self.tokens.px(12.0);
        let place = |text: &str, rate: &str, share: f32| {
            let (above, below) = (self.size(text, Type::Note), self.size(rate, Type::Small));
            let corner = low + (ridge - low) * share - vec2(self.tokens.px(10.0), self.tokens.px(2.0));
            let size = vec2(above.x.max(below.x), above.y + below.y);
            let rect = Rect::from_min_max(corner - size, corner);
            let is_free = plot.contains_rect(rect) && !obstacles.iter().any(|at| rect.expand(clear).contains(*at));
            is_free.then_some(rect)
        };
        let choices = [(texts[0], &rates[0]), (texts[1], &rates[0]), (texts[1], &rates[1])];
        let found = choices.into_iter().find_map(|(text, rate)| {
            ALONG.iter().find_map(|share| Some((text, rate.as_str(), place(text, rate, *share)?)))
        });
        let Some((text, rate, rect)) = found else { return };
        let Self { painter, tokens, .. } = self;
        let note = pos2(rect.right(), rect.bottom() - self.size(rate, Type::Small).y);
        ink::text(painter, note, Align2::RIGHT_BOTTOM, text, tokens.font(Type::Note), tokens.ink);
        let small = tokens.font(Type::Small);
        ink::text(painter, rect.right_bottom(), Align2::RIGHT_BOTTOM, rate, small, tokens.muted);
    }

    /// Above the level line: its name and value at the right end, the words before it, or over it on a narrow page.
    fn on_level(&self, ridge: Pos2, end: Pos2, texts: [&str; 2]) {
        let Self { painter, tokens, geometry, peak_label, .. } = self;
        let y = end.y - tokens.px(7.0);
        let right = geometry.plane.rect.right() - tokens.px(40.0);
        let (small, surface) = (tokens.font(Type::Small), tokens.surface);
        let peaks = self.with_others(peak_label, |other| other.has_level.then(|| words::work(other.peak_tflops)));
        let fits = |text: &&String| self.size(text, Type::Small).x <= right - ridge.x + tokens.px(120.0); // the slope falls away to the left
        let peak = peaks.iter().find(fits).unwrap_or(&peaks[1]);
        let peak = ink::text_on(painter, pos2(right, y), Align2::RIGHT_BOTTOM, peak, small, tokens.muted, surface);
        let note = tokens.font(Type::Note);
        let left = ridge.x + tokens.px(18.0);
        let room = peak.left() - tokens.space.m - left;
        if let Some(text) = texts.iter().find(|text| self.size(text, Type::Note).x <= room) {
            ink::text(painter, pos2(left, y), Align2::LEFT_BOTTOM, *text, note, tokens.ink);
        } else if self.is_clear(peak.right_top(), self.size(texts[1], Type::Note)) {
            ink::text(painter, peak.right_top(), Align2::RIGHT_BOTTOM, texts[1], note, tokens.ink);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measured H200 against published: 4570 of 4800 GB/s and 65.7 of 66.9 TFLOP/s are a line's width apart, 804 of 989
    /// are not.
    #[test]
    fn a_roof_on_top_of_another_is_left_out() {
        let geometry = Geometry::new(pos2(0.0, 0.0), 844.0, 1.0).unwrap();
        assert!(!OtherRoof::new(65.7, 4570.0, true).apart_from(&geometry, 66.9, 4800.0).is_seen());
        let bf16 = OtherRoof::new(804.0, 4570.0, true).apart_from(&geometry, 989.0, 4800.0);
        assert!(bf16.has_level && !bf16.has_slope);
        let dragged = OtherRoof::new(66.9, 4800.0, false).apart_from(&geometry, 66.9, 9600.0);
        assert!(dragged.has_slope && !dragged.has_level);
    }
}
