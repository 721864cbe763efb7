//! Where the two intervals, the controls and the ladder of verdicts go.

use egui::{Pos2, Rangef, Rect, pos2, vec2};
use vramlab_model::control_check::CONTROLS;

const LINE: f32 = 24.0;
const INTERVALS: f32 = 76.0;
const ROW: f32 = 40.0;
const NARROW_ROW: f32 = 46.0;
const RUNG: f32 = 58.0;
const GAP: f32 = 20.0;
const NARROW: f32 = 600.0;
const N_RUNGS: usize = 4;

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    /// Both intervals on one axis.
    pub intervals: Rect,
    pub rows: Vec<Rect>,
    /// Best first.
    pub rungs: Vec<Rect>,
    pub is_narrow: bool,
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32) -> Self {
        let px = |points: f32| points * scale;
        let is_narrow = width < px(NARROW);
        let intervals = Rect::from_min_size(origin, vec2(width, px(INTERVALS)));
        let column = if is_narrow { width } else { (width - px(GAP)) * 0.62 };
        let top = intervals.bottom() + px(LINE);
        let height = px(if is_narrow { NARROW_ROW } else { ROW });
        let rows: Vec<Rect> = (0..CONTROLS.len())
            .map(|idx| Rect::from_min_size(pos2(origin.x, top + idx as f32 * height), vec2(column, height)))
            .collect();
        let bottom = rows.last().map_or(top, |row| row.bottom());
        let (left, rung_top, rung) = if is_narrow {
            (origin.x, bottom + px(LINE + 8.0), px(RUNG))
        } else {
            (origin.x + column + px(GAP), top, (bottom - top) / N_RUNGS as f32)
        };
        let x = Rangef::new(left, origin.x + width);
        let rungs: Vec<Rect> = (0..N_RUNGS)
            .map(|idx| {
                let y = rung_top + idx as f32 * rung;
                Rect::from_x_y_ranges(x, Rangef::new(y, y + rung - px(6.0)))
            })
            .collect();
        let end = rungs.last().map_or(bottom, |rung| rung.bottom().max(bottom));
        let rect = Rect::from_min_max(origin, pos2(origin.x + width, end + px(2.0)));
        Self { rect, intervals, rows, rungs, is_narrow }
    }

    pub fn hit(&self, at: Pos2) -> Option<usize> {
        self.rows.iter().position(|row| row.contains(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_overlaps() {
        for width in [300.0, 844.0] {
            let figure = Geometry::new(pos2(2.0, 3.0), width, 1.0);
            let all: Vec<Rect> = figure.rows.iter().chain(&figure.rungs).chain([&figure.intervals]).copied().collect();
            for (idx, one) in all.iter().enumerate() {
                assert!(figure.rect.expand(0.1).contains_rect(*one), "{width}");
                assert!(all[idx + 1..].iter().all(|other| !one.shrink(0.5).intersects(*other)), "{width}");
            }
            assert_eq!(figure.hit(figure.rows[4].center()), Some(4));
        }
    }
}
