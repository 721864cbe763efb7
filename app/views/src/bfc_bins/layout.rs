//! Where the bins and the regions are drawn: 21 columns side by side, under them a strip for each region.
//!
//! Columns are equally wide, since each bin is twice the one before: the ruler is logarithmic. Strips share one linear
//! scale, so that regions compare.

use egui::{Pos2, Rangef, Rect, pos2, vec2};
use vramlab_alloc::bfc::N_BINS;

/// Chunks of a bin that are drawn one by one.
pub const MOST_CELLS: usize = 3;
/// Regions that are drawn; the rest are counted.
pub const MOST_STRIPS: usize = 7;
/// Bins whose lower bound is printed under the ruler.
pub const MARKS: [u32; 6] = [0, 4, 8, 12, 16, 20];

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    /// The line on which the search is drawn, above the columns.
    pub search_y: f32,
    /// Where the request's words stand.
    pub words_y: f32,
    pub columns: Rect,
    /// Height of a cell with the gap under it.
    pub cell: f32,
    /// Bin numbers, and the bounds under them.
    pub numbers_y: f32,
    pub bounds_y: f32,
    /// Heading of the strips.
    pub heading_y: f32,
    pub strips: Rect,
    /// Height of a strip with the gap under it.
    pub strip: f32,
    scale: f32,
}

impl Geometry {
    /// `n_strips`: rows under the ruler.
    pub fn new(origin: Pos2, width: f32, scale: f32, n_strips: usize) -> Self {
        let px = |points: f32| points * scale;
        let cell = px(17.0);
        let strip = px(25.0);
        let top = origin.y + px(42.0);
        let columns = Rect::from_x_y_ranges(
            Rangef::new(origin.x, origin.x + width),
            Rangef::new(top, top + cell * (MOST_CELLS as f32 + 1.0) + px(4.0)),
        );
        let heading_y = columns.bottom() + px(52.0);
        let strips_top = heading_y + px(14.0);
        // Room for exact bytes, eleven signs wide.
        let label = px(if width < px(480.0) { 80.0 } else { 84.0 });
        let strips = Rect::from_x_y_ranges(
            Rangef::new(origin.x + label, origin.x + width),
            Rangef::new(strips_top, strips_top + strip * n_strips as f32),
        );
        let bottom = strips.bottom() + px(4.0);
        Self {
            rect: Rect::from_min_size(origin, vec2(width, bottom - origin.y)),
            search_y: origin.y + px(30.0),
            words_y: origin.y + px(10.0),
            columns,
            cell,
            numbers_y: columns.bottom() + px(11.0),
            bounds_y: columns.bottom() + px(27.0),
            heading_y,
            strips,
            strip,
            scale,
        }
    }

    /// The column of a bin.
    pub fn column(&self, bin: u32) -> Rect {
        let width = self.columns.width() / N_BINS as f32;
        let left = self.columns.left() + width * bin as f32;
        Rect::from_x_y_ranges(Rangef::new(left, left + width), self.columns.y_range()).shrink2(vec2(1.0, 0.0))
    }

    pub fn bin_from_x(&self, x: f32) -> Option<u32> {
        let share = (x - self.columns.left()) / self.columns.width();
        (0.0..1.0).contains(&share).then(|| ((share * N_BINS as f32) as u32).min(N_BINS - 1))
    }

    /// The place of a chunk in its column, from the bottom up; nothing for one that is only counted.
    pub fn cell_at(&self, bin: u32, nth: usize) -> Option<Rect> {
        (nth <= MOST_CELLS).then(|| {
            let column = self.column(bin);
            let bottom = column.bottom() - 2.0 * self.scale - self.cell * nth as f32;
            let rows = Rangef::new(bottom - self.cell + 2.0 * self.scale, bottom);
            Rect::from_x_y_ranges(column.x_range().shrink(1.0), rows)
        })
    }

    /// The strip in row `nth` of a region of `bytes`, where the longest is `longest`.
    pub fn strip_at(&self, nth: usize, bytes: u64, longest: u64) -> Rect {
        let share = bytes as f64 / longest.max(1) as f64;
        let least = 10.0 * self.scale;
        let width = (self.strips.width() * share as f32).max(least).min(self.strips.width());
        let top = self.strips.top() + self.strip * nth as f32;
        Rect::from_min_size(pos2(self.strips.left(), top), vec2(width, self.strip - 5.0 * self.scale))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_fill_the_width_and_are_found_again() {
        for width in [296.0, 844.0] {
            let figure = Geometry::new(pos2(3.0, 4.0), width, 1.0, 4);
            assert!((figure.column(20).right() - figure.rect.right()).abs() < 2.0);
            for bin in 0..N_BINS {
                assert_eq!(figure.bin_from_x(figure.column(bin).center().x), Some(bin));
            }
            assert_eq!(figure.bin_from_x(figure.rect.right() + 1.0), None);
        }
    }

    #[test]
    fn strips_are_as_long_as_their_bytes() {
        let figure = Geometry::new(pos2(0.0, 0.0), 844.0, 1.0, 4);
        let (whole, half) = (figure.strip_at(0, 32, 32), figure.strip_at(1, 16, 32));
        assert!((whole.width() - 2.0 * half.width()).abs() < 1e-3 && whole.bottom() < half.top());
        assert!(figure.rect.contains_rect(whole) && figure.rect.contains_rect(figure.strip_at(3, 1, 1 << 40)));
        let cells: Vec<_> = (0..8).filter_map(|nth| figure.cell_at(12, nth)).collect();
        assert_eq!(cells.len(), MOST_CELLS + 1);
        assert!(cells.iter().all(|cell| figure.columns.contains_rect(*cell)));
    }
}
