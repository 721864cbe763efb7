//! Where the bottleneck panel puts things: a row for each resource, one below for what happens without any overlap. Time
//! runs right, on one scale.

use egui::{Pos2, Rangef, Rect, pos2, vec2};

/// One resource.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The whole row, for the pointer.
    pub rect: Rect,
    /// As long as the resource takes.
    pub bar: Rect,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    pub rows: Vec<Row>,
    /// The four laid end to end: nothing overlaps.
    pub serial: Vec<Rect>,
    pub serial_row: Rect,
    /// Where the names end and time 0 is.
    pub x0: f32,
    /// The names stand above their bars, for want of room.
    pub is_stacked: bool,
}

const ROW: f32 = 34.0;
const GAP: f32 = 8.0;
const NAMES: f32 = 112.0;
const VALUES: f32 = 118.0;

impl Geometry {
    /// `times` in any unit; the longest row and the sum both fit.
    pub fn new(origin: Pos2, width: f32, scale: f32, times: &[f64]) -> Self {
        let is_stacked = width < 480.0 * scale;
        let (names, head) = if is_stacked { (0.0, 18.0 * scale) } else { (NAMES * scale, 0.0) };
        let values = VALUES * scale;
        let x0 = origin.x + names;
        let room = (width - names - values).max(20.0);
        let sum: f64 = times.iter().sum();
        let per_unit = if sum > 0.0 { f64::from(room) / sum } else { 0.0 };
        let (row, gap) = (ROW * scale, GAP * scale);
        let slot = row + head;
        let at = |idx: usize| origin.y + idx as f32 * (slot + gap);
        let bar = |idx: usize, from: f64, to: f64| {
            let top = at(idx) + head + row * 0.14;
            let x = |time: f64| x0 + (time * per_unit) as f32;
            Rect::from_x_y_ranges(Rangef::new(x(from), x(to)), Rangef::new(top, top + row * 0.72))
        };
        let row_rect = |idx: usize| Rect::from_min_size(pos2(origin.x, at(idx)), vec2(width, slot));
        let rows = times.iter().enumerate().map(|(idx, time)| Row { rect: row_rect(idx), bar: bar(idx, 0.0, *time) });
        let mut from = 0.0;
        let serial = times.iter().map(|time| {
            from += time;
            bar(times.len(), from - time, from)
        });
        let (rows, serial) = (rows.collect(), serial.collect());
        let height = (times.len() + 1) as f32 * (slot + gap) - gap;
        let rect = Rect::from_min_size(origin, vec2(width, height));
        Self { rect, rows, serial, serial_row: row_rect(times.len()), x0, is_stacked }
    }

    pub fn hit(&self, pos: Pos2) -> Option<usize> {
        self.rows.iter().position(|row| row.rect.contains(pos))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_is_time_and_the_sum_is_laid_end_to_end() {
        for width in [296.0, 844.0] {
            let figure = Geometry::new(pos2(2.0, 3.0), width, 1.0, &[10.0, 40.0, 5.0, 0.0]);
            let lengths: Vec<f32> = figure.rows.iter().map(|row| row.bar.width()).collect();
            assert!((lengths[1] / lengths[0] - 4.0).abs() < 1e-3 && lengths[3] == 0.0);
            let sum: f32 = lengths.iter().sum();
            let last = figure.serial.last().unwrap();
            assert!((last.right() - figure.x0 - sum).abs() < 1e-2 && last.right() < figure.rect.right());
            assert_eq!(figure.hit(figure.rows[2].rect.center()), Some(2));
            assert_eq!(figure.hit(figure.serial_row.center()), None);
        }
    }
}
