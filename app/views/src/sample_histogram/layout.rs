//! Where samples stand: one line a side, samples piled up in columns over the time that they took.

use egui::{Pos2, Rangef, Rect, pos2, vec2};

const HEAD: f32 = 24.0;
const PILE: f32 = 92.0;
const BAND: f32 = 26.0;
const AXIS: f32 = 40.0;
const GAP: f32 = 10.0;
/// Columns that samples are piled in.
pub const COLUMNS: usize = 64;

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    /// Of each line: where samples pile up, and below it the band of the interval.
    pub piles: Vec<Rect>,
    pub bands: Vec<Rect>,
    low: f64,
    high: f64,
}

impl Geometry {
    /// `ends` are the least and the largest value that must be seen.
    pub fn new(origin: Pos2, width: f32, scale: f32, n_lines: usize, ends: (f64, f64)) -> Self {
        let px = |points: f32| points * scale;
        let x = Rangef::new(origin.x + px(2.0), origin.x + width - px(2.0));
        let (mut y, mut piles, mut bands) = (origin.y, Vec::new(), Vec::new());
        for _ in 0..n_lines {
            let top = y + px(HEAD);
            piles.push(Rect::from_x_y_ranges(x, Rangef::new(top, top + px(PILE))));
            bands.push(Rect::from_x_y_ranges(x, Rangef::new(top + px(PILE), top + px(PILE + BAND))));
            y = top + px(PILE + BAND + GAP);
        }
        let rect = Rect::from_min_size(origin, vec2(width, y + px(AXIS) - origin.y));
        let room = ((ends.1 - ends.0) * 0.04).max(ends.0.abs() * 0.01).max(1e-6);
        Self { rect, piles, bands, low: ends.0 - room, high: ends.1 + room }
    }

    pub fn x_of(&self, value: f64) -> f32 {
        let x = self.piles.first().map_or(self.rect.x_range(), |pile| pile.x_range());
        x.min + x.span() * ((value - self.low) / (self.high - self.low)) as f32
    }

    pub fn ends(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// The column of a value.
    pub fn column(&self, value: f64) -> usize {
        let share = (value - self.low) / (self.high - self.low);
        ((share * COLUMNS as f64) as usize).min(COLUMNS - 1)
    }

    /// The samples of each column.
    pub fn counts(&self, samples: &[f64]) -> Vec<usize> {
        let mut counts = vec![0; COLUMNS];
        for sample in samples {
            counts[self.column(*sample)] += 1;
        }
        counts
    }

    /// One column of a pile, `share` of its height.
    pub fn bar(&self, line: usize, column: usize, share: f32) -> Rect {
        let pile = self.piles[line];
        let wide = pile.width() / COLUMNS as f32;
        let left = pile.left() + column as f32 * wide;
        Rect::from_min_max(
            pos2(left + 0.5, pile.bottom() - pile.height() * share),
            pos2(left + wide - 0.5, pile.bottom()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_is_in_a_column_under_its_place() {
        let figure = Geometry::new(pos2(4.0, 2.0), 400.0, 1.0, 2, (9.0, 15.0));
        let samples = [9.0, 10.0, 10.01, 15.0];
        assert_eq!(figure.counts(&samples).iter().sum::<usize>(), 4);
        for sample in samples {
            let bar = figure.bar(1, figure.column(sample), 1.0);
            assert!(bar.expand(1.0).x_range().contains(figure.x_of(sample)), "{sample}");
        }
        assert!(figure.bands[0].bottom() < figure.piles[1].top());
        assert!(figure.rect.contains_rect(figure.bands[1]));
    }
}
