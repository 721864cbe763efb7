//! Axes: from value to place and back, ticks at round values, and how they are drawn. Pure apart from the last part.

use crate::tokens::{Tokens, Type};
use egui::{Align2, Painter, Pos2, Rect, pos2};

/// How values are spread along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    Linear,
    /// Linear, with ticks at multiples of a power of two: bytes.
    Binary,
    /// Equal ratios are equally long; ticks at powers of two: strides, sizes.
    Log2,
    /// Equal ratios are equally long; ticks at 1, 2, 5 of each decade: rates, times.
    Log10,
}

impl Spread {
    pub fn is_linear(self) -> bool {
        matches!(self, Self::Linear | Self::Binary)
    }

    /// The distance of ticks that is at least `least`.
    fn step(self, least: f64) -> f64 {
        if self == Self::Binary { (least.log2() - 1e-9).ceil().exp2() } else { round_step(least) }
    }
}

/// One axis, from `min` to `max`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    pub spread: Spread,
    pub min: f64,
    pub max: f64,
}

impl Axis {
    /// `None` if the ends are not finite, not ascending, or not positive where the spread is logarithmic: nothing can be
    /// drawn then, and the caller says why.
    pub fn new(spread: Spread, min: f64, max: f64) -> Option<Self> {
        let is_legal = min.is_finite() && max.is_finite() && min < max && (spread.is_linear() || min > 0.0);
        is_legal.then_some(Self { spread, min, max })
    }

    /// The axis that holds all `values`, widened to round ends. One value alone gets room on both sides.
    pub fn around(spread: Spread, values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let usable = |value: &f64| value.is_finite() && (spread.is_linear() || *value > 0.0);
        let (min, max) = values
            .into_iter()
            .filter(usable)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), value| (min.min(value), max.max(value)));
        if min > max {
            return None;
        }
        match spread {
            Spread::Linear | Spread::Binary => {
                let span = if max > min { max - min } else { min.abs().max(1.0) };
                let step = spread.step(span / 5.0);
                let low = if min == max { min - step } else { min };
                Self::new(spread, (low / step).floor() * step, ((max + span * 1e-9) / step).ceil() * step)
            }
            Spread::Log2 => {
                let (low, mut high) = (min.log2().floor(), max.log2().ceil());
                high = high.max(low + 1.0);
                Self::new(spread, low.exp2(), high.exp2())
            }
            Spread::Log10 => {
                let ticks = decades(min / 2.01, max * 2.01);
                let low = ticks.iter().copied().rfind(|tick| *tick <= min * (1.0 + 1e-9))?;
                let high = ticks.iter().copied().find(|tick| *tick >= max * (1.0 - 1e-9) && *tick > low)?;
                Self::new(spread, low, high)
            }
        }
    }

    /// Where `value` lies: 0.0 at the lower end, 1.0 at the upper; beyond that outside. `None` for what has no place.
    pub fn share_from_value(&self, value: f64) -> Option<f64> {
        let share = match self.spread {
            Spread::Linear | Spread::Binary => (value - self.min) / (self.max - self.min),
            Spread::Log2 | Spread::Log10 => (value / self.min).ln() / (self.max / self.min).ln(),
        };
        share.is_finite().then_some(share)
    }

    pub fn value_from_share(&self, share: f64) -> f64 {
        match self.spread {
            Spread::Linear | Spread::Binary => self.min + (self.max - self.min) * share,
            Spread::Log2 | Spread::Log10 => self.min * (self.max / self.min).powf(share),
        }
    }

    /// Round values from end to end, at most about `n_most`.
    pub fn ticks(&self, n_most: usize) -> Vec<f64> {
        let n_most = n_most.max(2);
        let inside =
            |value: &f64| *value >= self.min * (1.0 - 1e-9) - 1e-12 && *value <= self.max * (1.0 + 1e-9) + 1e-12;
        let ticks: Vec<f64> = match self.spread {
            Spread::Linear | Spread::Binary => {
                let step = self.spread.step((self.max - self.min) / n_most as f64);
                let first = (self.min / step - 1e-9).ceil();
                let n_steps = ((self.max / step + 1e-9).floor() - first).max(0.0) as usize;
                return (0..=n_steps.min(1_000)).map(|tick_idx| (first + tick_idx as f64) * step).collect();
            }
            Spread::Log2 => {
                let (low, high) = (self.min.log2().floor() as i32, self.max.log2().ceil() as i32);
                (low..=high).map(|exponent| f64::from(exponent).exp2()).filter(inside).collect()
            }
            Spread::Log10 => {
                let all: Vec<f64> = decades(self.min, self.max).into_iter().filter(inside).collect();
                let tens = |tick: &f64| (tick.log10() - tick.log10().round()).abs() < 1e-9;
                if all.len() <= n_most { all } else { all.into_iter().filter(tens).collect() }
            }
        };
        thinned(ticks, n_most)
    }
}

/// Every second, third, … so that at most `n_most` remain.
fn thinned(ticks: Vec<f64>, n_most: usize) -> Vec<f64> {
    let every = ticks.len().div_ceil(n_most).max(1);
    ticks.into_iter().step_by(every).collect()
}

/// 1, 2 and 5 of each decade that `min..=max` touches.
fn decades(min: f64, max: f64) -> Vec<f64> {
    let (low, high) = (min.log10().floor() as i32, max.log10().ceil() as i32);
    (low..=high.min(low + 60)).flat_map(|exponent| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(exponent))).collect()
}

/// The smallest of 1, 2, 5 times a power of ten that is at least `step`.
fn round_step(step: f64) -> f64 {
    let decade = 10_f64.powf(step.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|digit| digit * decade)
        .find(|round| *round >= step * (1.0 - 1e-9))
        .unwrap_or(step)
}

/// Two axes and the rectangle they span.
#[derive(Clone, Copy, Debug)]
pub struct Plane {
    pub x: Axis,
    pub y: Axis,
    pub rect: Rect,
}

impl Plane {
    /// Where a pair of values lies on screen; `None` for what has no place.
    pub fn pos(&self, x: f64, y: f64) -> Option<Pos2> {
        let (x, y) = (self.x.share_from_value(x)?, self.y.share_from_value(y)?);
        Some(pos2(self.rect.left() + self.rect.width() * x as f32, self.rect.bottom() - self.rect.height() * y as f32))
    }

    /// Horizontal grid lines with their values at the left, values along the bottom. `x_text` and `y_text` print ticks.
    pub fn paint_grid(
        &self,
        painter: &Painter,
        tokens: &Tokens,
        x_text: &dyn Fn(f64) -> String,
        y_text: &dyn Fn(f64) -> String,
    ) {
        let font = tokens.font(Type::Small);
        let n_rows = (self.rect.height() / tokens.px(24.0)) as usize;
        for value in self.y.ticks(n_rows) {
            if let Some(at) = self.pos(self.x.min, value) {
                painter.hline(self.rect.x_range(), at.y, egui::Stroke::new(1.0, tokens.grid));
                let label = pos2(self.rect.left() - tokens.px(8.0), at.y);
                painter.text(label, Align2::RIGHT_CENTER, y_text(value), font.clone(), tokens.muted);
            }
        }
        let n_columns = (self.rect.width() / tokens.px(56.0)) as usize;
        self.paint_columns(painter, tokens, x_text, n_columns);
    }

    /// Values along the bottom alone, for planes whose rows are not numbers.
    pub fn paint_columns(&self, painter: &Painter, tokens: &Tokens, text: &dyn Fn(f64) -> String, n_most: usize) {
        let font = tokens.font(Type::Small);
        for value in self.x.ticks(n_most) {
            if let Some(at) = self.pos(value, self.y.min) {
                let label = pos2(at.x, self.rect.bottom() + tokens.px(8.0));
                painter.text(label, Align2::CENTER_TOP, text(value), font.clone(), tokens.muted);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_axis_gives_equal_ratios_equal_lengths() {
        let axis = Axis::new(Spread::Log2, 1.0, 64.0).unwrap();
        assert_eq!(axis.share_from_value(8.0), Some(0.5));
        assert!((axis.value_from_share(0.5) - 8.0).abs() < 1e-9);
        assert_eq!(axis.ticks(10), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]);
        assert_eq!(axis.ticks(4), [1.0, 4.0, 16.0, 64.0]);
        assert_eq!(axis.share_from_value(0.0), None);
    }

    #[test]
    fn rates_get_one_two_five() {
        let axis = Axis::around(Spread::Log10, [182.0, 4512.0]).unwrap();
        assert_eq!((axis.min, axis.max), (100.0, 5000.0));
        assert_eq!(axis.ticks(8), [100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0]);
        let wide = Axis::new(Spread::Log10, 1.0, 1e6).unwrap();
        assert_eq!(wide.ticks(8), [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6]);
    }

    /// 640 MiB: ticks at 0, 128, 256 …, and not at 100, which is no round number of bytes.
    #[test]
    fn bytes_have_ticks_at_multiples_of_a_power_of_two() {
        let axis = Axis::new(Spread::Binary, 0.0, 640.0).unwrap();
        assert_eq!(axis.ticks(6), [0.0, 128.0, 256.0, 384.0, 512.0, 640.0]);
        assert_eq!(Axis::around(Spread::Binary, [0.0, 700.0]).unwrap().max, 768.0);
    }

    #[test]
    fn linear_ends_and_ticks_are_round() {
        let axis = Axis::around(Spread::Linear, [0.3, 9.2]).unwrap();
        assert_eq!((axis.min, axis.max), (0.0, 10.0));
        assert_eq!(axis.ticks(6), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        let lone = Axis::around(Spread::Linear, [7.0]).unwrap();
        assert!(lone.min < 7.0 && lone.max >= 7.0, "{lone:?}");
    }

    #[test]
    fn what_cannot_be_drawn_has_no_axis() {
        assert_eq!(Axis::new(Spread::Log10, 0.0, 5.0), None);
        assert_eq!(Axis::new(Spread::Linear, 2.0, 2.0), None);
        assert_eq!(Axis::new(Spread::Linear, f64::NAN, 2.0), None);
        assert_eq!(Axis::around(Spread::Log2, [-1.0, f64::INFINITY]), None);
        assert_eq!(Axis::around(Spread::Linear, []), None);
    }

    #[test]
    fn up_is_more_and_right_is_more() {
        let x = Axis::new(Spread::Linear, 0.0, 10.0).unwrap();
        let plane = Plane { x, y: x, rect: Rect::from_min_max(pos2(100.0, 50.0), pos2(200.0, 150.0)) };
        assert_eq!(plane.pos(0.0, 0.0), Some(pos2(100.0, 150.0)));
        assert_eq!(plane.pos(10.0, 5.0), Some(pos2(200.0, 100.0)));
        assert_eq!(plane.pos(f64::NAN, 5.0), None);
    }
}
