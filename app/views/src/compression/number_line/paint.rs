//! Painting a line from minus to plus with the format's numbers, and below it, by magnitude, the values and what they become.

use super::{Found, N, words};
use crate::ink;
use egui::{Align2, Color32, Painter, Pos2, Rangef, Rect, pos2, vec2};
use vramlab_kit::{Axis, Spread, Tokens, Type};
use vramlab_units::Lang;
use vramlab_units::show::number;

const HEAD: f32 = 20.0;
const LINE: f32 = 44.0;
const LINE_NAMES: f32 = 22.0;
const GAP: f32 = 34.0;
const PLOT: f32 = 300.0;
const ZERO: f32 = 26.0;
const LEFT: f32 = 44.0;
/// Magnitudes that are drawn, as powers of two.
const LOW: f64 = -7.0;
const HIGH: f64 = 7.0;

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    line: Rect,
    plot: Rect,
    /// Where zeros lie, below the logarithmic part.
    zero: Rect,
    y: Axis,
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32) -> Self {
        let x = Rangef::new(origin.x + LEFT * scale, origin.x + width - 8.0 * scale);
        let band = |top: f32, height: f32| Rect::from_x_y_ranges(x, Rangef::new(top, top + height * scale));
        let line = band(origin.y + HEAD * scale, LINE);
        let plot = band(line.bottom() + (LINE_NAMES + GAP) * scale, PLOT);
        let zero = band(plot.bottom(), ZERO);
        let y = Axis { spread: Spread::Log2, min: LOW.exp2(), max: HIGH.exp2() };
        let rect = Rect::from_min_max(origin, pos2(origin.x + width, zero.bottom() + 4.0 * scale));
        Self { rect, line, plot, zero, y }
    }

    fn x_of(&self, column: usize) -> f32 {
        self.plot.left() + self.plot.width() * (column as f32 + 0.5) / N as f32
    }

    /// By magnitude; zero and what is below the plot lies in the band of zeros.
    fn y_of(&self, value: f64) -> f32 {
        match self.y.share_from_value(value.abs()).filter(|_| value != 0.0) {
            Some(share) if share >= 0.0 => self.plot.bottom() - self.plot.height() * share.min(1.0) as f32,
            _ => self.zero.center().y,
        }
    }

    pub fn magnitude(&self, y: f32) -> f64 {
        let share = (self.plot.bottom() - y) / self.plot.height();
        self.y.value_from_share(f64::from(share.clamp(0.0, 1.0)))
    }

    pub fn column_at(&self, at: Pos2) -> Option<usize> {
        let room = self.plot.union(self.zero).expand(6.0);
        let share = (at.x - self.plot.left()) / self.plot.width();
        room.contains(at).then(|| ((share.clamp(0.0, 0.999) * N as f32) as usize).min(N - 1))
    }
}

pub fn stored(tokens: &Tokens) -> Color32 {
    tokens.accent
}

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub found: &'a Found,
    pub cursor: usize,
    pub has_outlier: bool,
}

impl Scene<'_> {
    pub fn paint(&self) {
        self.line();
        self.grid();
        for column in 0..self.found.values.len().min(N) {
            self.value(column);
        }
    }

    /// From minus to plus, evenly: here the numbers crowd around zero.
    fn line(&self) {
        let Self { painter, tokens, geometry, found, lang, .. } = self;
        let line = geometry.line;
        let end = found.grid.iter().chain(&found.values).fold(0.0_f64, |most, value| most.max(value.abs())).max(1e-9);
        let x = |value: f64| line.center().x + line.width() / 2.0 * (value / end) as f32;
        let at = pos2(geometry.rect.left(), geometry.rect.top());
        ink::text(painter, at, Align2::LEFT_TOP, words::LINE.get(*lang), tokens.font(Type::NoteStrong), tokens.ink);
        let middle = line.center().y;
        painter.hline(line.x_range(), middle, tokens.stroke(1.0, tokens.line));
        for number in &found.grid {
            for x in [x(*number), x(-number)] {
                painter.vline(x, Rangef::new(line.top(), middle), tokens.stroke(1.0, tokens.muted));
            }
        }
        for (column, value) in found.values.iter().enumerate() {
            let is_picked = column == self.cursor;
            let color = if is_picked { tokens.accent } else { tokens.ink };
            let to = line.bottom() - tokens.px(if is_picked { 0.0 } else { 8.0 });
            painter.vline(x(*value), Rangef::new(middle, to), tokens.stroke(if is_picked { 2.4 } else { 1.2 }, color));
        }
        for (value, anchor) in [(-end, Align2::LEFT_TOP), (0.0, Align2::CENTER_TOP), (end, Align2::RIGHT_TOP)] {
            let at = pos2(x(value), line.bottom() + tokens.px(3.0));
            ink::text(painter, at, anchor, number(value), tokens.font(Type::MonoSmall), tokens.muted);
        }
    }

    /// The format's numbers as lines across, equal ratios equally far apart.
    fn grid(&self) {
        let Self { painter, tokens, geometry, found, lang, .. } = self;
        let at = geometry.plot.left_top() - vec2(tokens.px(LEFT), tokens.px(12.0));
        ink::text(painter, at, Align2::LEFT_BOTTOM, words::PLOT.get(*lang), tokens.font(Type::NoteStrong), tokens.ink);
        painter.rect_filled(geometry.zero, 0.0, tokens.sunken);
        for tick in geometry.y.ticks(8) {
            let at = pos2(geometry.plot.left() - tokens.px(6.0), geometry.y_of(tick));
            let text = if tick < 1.0 { format!("1/{}", number(1.0 / tick)) } else { number(tick) };
            ink::text(painter, at, Align2::RIGHT_CENTER, text, tokens.font(Type::MonoSmall), tokens.muted);
        }
        let at = pos2(geometry.plot.left() - tokens.px(6.0), geometry.zero.center().y);
        ink::text(painter, at, Align2::RIGHT_CENTER, "0", tokens.font(Type::MonoSmall), tokens.muted);
        let color = tokens.tint(tokens.muted, 0.55);
        for value in found.grid.iter().filter(|value| (LOW.exp2()..=HIGH.exp2()).contains(*value)) {
            painter.hline(geometry.plot.x_range(), geometry.y_of(*value), tokens.stroke(0.8, color));
        }
        if let Some(last) = found.grid.last().filter(|last| **last < HIGH.exp2() && **last > LOW.exp2()) {
            let y = geometry.y_of(*last);
            painter.hline(geometry.plot.x_range(), y, tokens.stroke(1.6, tokens.ink));
            let at = pos2(geometry.plot.left() + tokens.px(4.0), y - tokens.px(3.0));
            let text = words::last(*last, *lang);
            ink::text_on(painter, at, Align2::LEFT_BOTTOM, text, tokens.font(Type::Small), tokens.ink, tokens.surface);
        }
    }

    fn value(&self, column: usize) {
        let Self { painter, tokens, geometry, found, .. } = self;
        let (value, kept) = (found.values[column], found.stored.get(column).copied().unwrap_or_default());
        let x = geometry.x_of(column);
        let (from, to) = (geometry.y_of(value), geometry.y_of(kept));
        let last = found.grid.last().copied().unwrap_or_default();
        let is_lost = (value != 0.0 && kept == 0.0) || value.abs() > last;
        let color = if is_lost { tokens.bad } else { stored(tokens) };
        if column == self.cursor {
            let band = Rect::from_center_size(pos2(x, 0.0), vec2(geometry.plot.width() / N as f32, 0.0));
            let y = Rangef::new(geometry.plot.top(), geometry.zero.bottom());
            painter.rect_filled(Rect::from_x_y_ranges(band.x_range(), y), 0.0, tokens.accent.gamma_multiply(0.16));
        }
        painter.line_segment([pos2(x, from), pos2(x, to)], tokens.stroke(1.4, color));
        let radius = tokens.px(3.6);
        painter.circle(pos2(x, from), radius, tokens.surface, tokens.stroke(1.4, tokens.ink));
        painter.circle_filled(pos2(x, to), radius * 0.8, color);
        if column + 1 == N {
            let at = pos2(x, if self.has_outlier { from } else { geometry.plot.top() + tokens.px(8.0) });
            ink::grip(painter, tokens, at, column == self.cursor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_magnitude_and_back() {
        for width in [296.0, 844.0] {
            let figure = Geometry::new(pos2(4.0, 9.0), width, 1.0);
            for value in [0.02, 1.0, 64.0] {
                assert!((figure.magnitude(figure.y_of(value)) / value - 1.0).abs() < 1e-3, "{value}");
                assert_eq!(figure.y_of(value), figure.y_of(-value));
            }
            assert!(figure.zero.contains(pos2(figure.zero.center().x, figure.y_of(0.0))));
            assert!(figure.zero.contains(pos2(figure.zero.center().x, figure.y_of(1e-6))));
            for column in [0, 13, N - 1] {
                assert_eq!(figure.column_at(pos2(figure.x_of(column), figure.plot.center().y)), Some(column));
            }
        }
    }
}
