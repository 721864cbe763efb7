//! Where the waterfall puts things: a row a stage, its name above, the model's bar and the measured one below each other.

use egui::{Pos2, Rect, pos2, vec2};

/// The baseline and five fixes.
pub const ROWS: usize = 6;
const NAME: f32 = 19.0;
const BAR: f32 = 15.0;
const THIN: f32 = 9.0;
const GAP: f32 = 13.0;
const FOOT: f32 = 26.0;

#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub all: Rect,
    pub name: Pos2,
    pub predicted: Rect,
    pub measured: Rect,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    pub rows: Vec<Row>,
    /// Milliseconds at the right end.
    pub most_ms: f32,
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32, most_ms: f64) -> Self {
        let each = (NAME + THIN + 2.0 + BAR + GAP) * scale;
        let rect = Rect::from_min_size(origin, vec2(width, each * ROWS as f32 + FOOT * scale));
        let row = |idx: usize| {
            let top = origin.y + each * idx as f32;
            let all = Rect::from_min_size(pos2(origin.x, top), vec2(width, each));
            let line =
                |y: f32, height: f32| Rect::from_min_size(pos2(origin.x, top + y * scale), vec2(width, height * scale));
            Row {
                all,
                name: pos2(origin.x, top + NAME * scale * 0.5),
                predicted: line(NAME, THIN),
                measured: line(NAME + THIN + 2.0, BAR),
            }
        };
        Self { rect, rows: (0..ROWS).map(row).collect(), most_ms: (most_ms as f32).max(1e-6) }
    }

    /// The place of a time.
    pub fn x(&self, ms: f64) -> f32 {
        self.rect.left() + self.rect.width() * (ms as f32 / self.most_ms).clamp(0.0, 1.0)
    }

    pub fn hit(&self, at: Pos2) -> Option<usize> {
        self.rows.iter().position(|row| row.all.contains(at))
    }
}

/// A round step of the axis, so that four to eight fit.
pub fn tick(most_ms: f64) -> f64 {
    let raw = most_ms / 6.0;
    let power = 10_f64.powf(raw.max(1e-9).log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|step| step * power).find(|step| *step >= raw).unwrap_or(raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_follow_one_another_and_time_runs_right() {
        for width in [240.0, 844.0] {
            let figure = Geometry::new(pos2(5.0, 7.0), width, 1.0, 20.0);
            for pair in figure.rows.windows(2) {
                assert!(pair[0].measured.bottom() < pair[1].predicted.top());
            }
            assert!(figure.rect.contains_rect(figure.rows[5].measured));
            assert!((figure.x(10.0) - figure.rect.center().x).abs() < 1e-3);
            assert_eq!(figure.hit(figure.rows[3].measured.center()), Some(3));
        }
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!([20.0, 3.0, 24.7].map(tick), [5.0, 0.5, 5.0]);
    }
}
