//! Where the bars go: one below the other on one scale, the card as a line across them.

use egui::{Pos2, Rect, pos2, vec2};

const NAME: f32 = 24.0;
const BAR: f32 = 46.0;
const LABELS: f32 = 34.0;
const GAP: f32 = 14.0;
const TOP: f32 = 30.0;
const AXIS: f32 = 28.0;

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    /// Of each bar the area from 0 to the end of the scale.
    pub bars: Vec<Rect>,
    /// The bytes at the right end.
    pub end: f64,
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32, n_bars: usize, most: f64) -> Self {
        let px = |points: f32| points * scale;
        let mut y = origin.y + px(TOP);
        let bars: Vec<Rect> = (0..n_bars)
            .map(|_| {
                let bar = Rect::from_min_size(pos2(origin.x, y + px(NAME)), vec2(width, px(BAR)));
                y = bar.bottom() + px(LABELS + GAP);
                bar
            })
            .collect();
        let rect = Rect::from_min_size(origin, vec2(width, y - px(GAP) + px(AXIS) - origin.y));
        Self { rect, bars, end: (most * 1.08).max(1.0) }
    }

    pub fn x_of(&self, bytes: f64) -> f32 {
        self.rect.left() + self.rect.width() * (bytes / self.end) as f32
    }

    /// The part of a bar between two amounts.
    pub fn span(&self, bar: usize, from: f64, to: f64) -> Rect {
        let rect = self.bars[bar];
        rect.with_min_x(self.x_of(from)).with_max_x(self.x_of(to))
    }

    /// The bar under a point, and the bytes there.
    pub fn hit(&self, at: Pos2) -> Option<(usize, f64)> {
        let bar = self.bars.iter().position(|bar| bar.contains(at))?;
        Some((bar, f64::from((at.x - self.rect.left()) / self.rect.width()) * self.end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_bytes() {
        let figure = Geometry::new(pos2(5.0, 5.0), 400.0, 1.0, 2, 100.0);
        let (a, b) = (figure.span(0, 0.0, 25.0), figure.span(1, 25.0, 75.0));
        assert!((b.width() / a.width() - 2.0).abs() < 1e-4);
        assert!(figure.rect.contains_rect(figure.bars[1]) && figure.bars[0].bottom() < figure.bars[1].top());
        let (bar, bytes) = figure.hit(b.center()).unwrap();
        assert!(bar == 1 && (bytes - 50.0).abs() < 0.01);
    }
}
