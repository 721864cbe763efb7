//! Where the memory hierarchy puts things: a row a level, near above far, a bar as long as the quantity and at its end a
//! square that grows with the size.

use super::levels::Level;
use egui::{Pos2, Rect, Vec2, pos2};
use vramlab_kit::{Axis, Spread};

/// What the bars measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    Latency,
    Rate,
    Size,
}

impl Quantity {
    pub const ALL: [Self; 3] = [Self::Latency, Self::Rate, Self::Size];

    /// Id in parameters.
    pub fn id(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Rate => "bandwidth",
            Self::Size => "size",
        }
    }

    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|quantity| quantity.id() == id)
    }

    /// The value of a level: ns, GB/s or bytes.
    pub fn of(self, level: &Level) -> Option<f64> {
        match self {
            Self::Latency => level.latency_ns.as_ref().map(|fact| fact.value),
            Self::Rate => Some(level.gb_per_s.value),
            Self::Size => Some(level.size_bytes.value),
        }
    }
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowPlace {
    pub rect: Rect,
    /// Left end of the level's name, and of where it is.
    pub name: Pos2,
    pub place: Pos2,
    pub bar: [Pos2; 2],
    pub square: Rect,
    /// Left end of the value.
    pub value: Pos2,
}

/// The whole figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    pub rows: Vec<RowPlace>,
    pub axis: Axis,
    /// The room of the bars.
    pub plot: Rect,
    /// Names stand left of the bars, not above them.
    pub is_wide: bool,
}

/// From here on names stand left of the bars.
const WIDE: f32 = 560.0;
/// Sides of the smallest and the largest square.
const SQUARE: (f32, f32) = (10.0, 32.0);

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32, levels: &[Level], quantity: Quantity, spread: Spread) -> Self {
        let is_wide = width >= WIDE * scale;
        let (names, values) = if is_wide { (150.0 * scale, 100.0 * scale) } else { (17.0 * scale, 92.0 * scale) };
        let (height, name_height) = if is_wide { (46.0 * scale, 0.0) } else { (60.0 * scale, 22.0 * scale) };
        let n_rows = levels.len() as f32;
        let right = (origin.x + width - values).max(origin.x + names + 40.0);
        let plot = Rect::from_min_max(pos2(origin.x + names, origin.y), pos2(right, origin.y + height * n_rows));
        let rect = Rect::from_min_max(origin, pos2(origin.x + width, plot.bottom() + 26.0 * scale));
        let axis = axis(levels, quantity, spread);
        let mut rows = Vec::with_capacity(levels.len());
        for (idx, level) in levels.iter().enumerate() {
            let top = origin.y + height * idx as f32;
            let y = top + name_height + (height - name_height) / 2.0;
            let share = quantity.of(level).and_then(|value| axis.share_from_value(value)).unwrap_or(0.0) as f32;
            let end = pos2(plot.left() + plot.width() * share.clamp(0.0, 1.0), y);
            let side = side(levels, level) * scale;
            let square = Rect::from_center_size(end, Vec2::splat(side));
            let (name, place) = if is_wide {
                (pos2(origin.x, y - 8.0 * scale), pos2(origin.x, y + 9.0 * scale))
            } else {
                (pos2(origin.x, top + 11.0 * scale), pos2(origin.x + width, top + 11.0 * scale))
            };
            rows.push(RowPlace {
                rect: Rect::from_min_max(pos2(origin.x, top), pos2(origin.x + width, top + height)),
                name,
                place,
                bar: [pos2(plot.left(), y), end],
                square,
                value: pos2(square.right() + 8.0 * scale, y),
            });
        }
        Self { rect, rows, axis, plot, is_wide }
    }

    /// The level under a pointer.
    pub fn hit(&self, pos: Pos2) -> Option<usize> {
        self.rows.iter().position(|row| row.rect.contains(pos))
    }
}

/// Side of a level's square: equal ratios of size are equal steps of area.
fn side(levels: &[Level], level: &Level) -> f32 {
    let sizes = || levels.iter().map(|level| level.size_bytes.value.ln());
    let (min, max) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(f64::NEG_INFINITY, f64::max));
    let share = if max > min { (level.size_bytes.value.ln() - min) / (max - min) } else { 0.5 };
    let area = |side: f32| side * side;
    (area(SQUARE.0) + (area(SQUARE.1) - area(SQUARE.0)) * share as f32).sqrt()
}

fn axis(levels: &[Level], quantity: Quantity, spread: Spread) -> Axis {
    let values = || levels.iter().filter_map(|level| quantity.of(level));
    let max = values().fold(0.0, f64::max);
    let min = values().fold(f64::INFINITY, f64::min);
    // Waits begin at a nanosecond, two cycles: room for what does not wait at all.
    let log_min = if quantity == Quantity::Latency { 1.0 } else { 10_f64.powf((min * 0.9).log10().floor()) };
    let (low, high) = match spread {
        Spread::Linear | Spread::Binary => (0.0, max),
        Spread::Log2 | Spread::Log10 => (log_min, max),
    };
    let fallback = Axis { spread: Spread::Linear, min: 0.0, max: 1.0 };
    Axis::new(spread, low, high).unwrap_or(fallback)
}

#[cfg(test)]
mod tests {
    use super::super::levels::Levels;
    use super::*;

    #[test]
    fn farther_levels_reach_further_and_stay_inside() {
        let levels = Levels::course().levels;
        for (width, scale) in [(296.0, 1.0), (420.0, 1.6), (844.0, 1.0), (1200.0, 1.6)] {
            for spread in [Spread::Log10, Spread::Linear] {
                let figure = Geometry::new(pos2(5.0, 7.0), width, scale, &levels, Quantity::Latency, spread);
                for pair in figure.rows.windows(2) {
                    assert!(pair[0].bar[1].x <= pair[1].bar[1].x && pair[0].rect.bottom() <= pair[1].rect.top() + 0.01);
                    assert!(pair[0].square.width() <= pair[1].square.width() + 0.01);
                }
                assert!(figure.rows.iter().all(|row| row.rect.contains_rect(row.square)), "{width} {spread:?}");
                assert_eq!(figure.hit(figure.rows[3].rect.center()), Some(3));
            }
        }
    }

    #[test]
    fn equal_ratios_of_latency_are_equal_lengths() {
        let levels = Levels::course().levels;
        let figure = Geometry::new(pos2(0.0, 0.0), 844.0, 1.0, &levels, Quantity::Latency, Spread::Log10);
        let per_decade = |a: usize, b: usize| {
            let ns = |idx: usize| Quantity::Latency.of(&levels[idx]).unwrap().log10() as f32;
            (figure.rows[b].bar[1].x - figure.rows[a].bar[1].x) / (ns(b) - ns(a))
        };
        assert!((per_decade(1, 3) / per_decade(3, 5) - 1.0).abs() < 1e-3);
    }
}
