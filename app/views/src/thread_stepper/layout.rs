//! Where the thread stepper puts things: grid, block and warp above each other, each a part of the one before seen from
//! nearer, then the listing with a cell for every lane.
//!
//! Time runs down here, not to the right: a program is read downwards, and the lanes need the width.

use super::question::ROWS;
use crate::lanes::LaneRow;
use egui::{Pos2, Rangef, Rect, pos2, vec2};

/// Room for the numbers of some lanes, under their dots.
const LANE_NUMBERS: f32 = 20.0;
/// Blocks in one row of the grid.
const BLOCKS_PER_ROW: usize = 32;
/// From here on labels and source stand left of the picture, not above it.
const WIDE: f32 = 600.0;
/// From here on the longest line of the source stands as it is written.
const ROOMY: f32 = 800.0;

/// A row of the listing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowPlace {
    /// The whole row, for its ground.
    pub rect: Rect,
    /// Where the source begins: left, middle.
    pub source: Pos2,
    /// The lanes' cells.
    pub strip: Rect,
    /// Right ends of the slot's number and of the number of lanes at work.
    pub slot: Pos2,
    pub at_work: Pos2,
}

/// The whole figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    pub blocks: Vec<Rect>,
    pub warps: Vec<Rect>,
    pub lanes: LaneRow,
    /// Left, middle of the names of grid, block, warp and slot.
    pub labels: [Pos2; 3],
    pub rows: Vec<RowPlace>,
    /// The room for source text.
    pub source_width: f32,
    pub is_wide: bool,
}

/// Something in the figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hit {
    Block(usize),
    Warp(usize),
    Lane(usize),
}

/// Measures that follow from the width.
struct Frame {
    left: f32,
    /// Where pictures stand.
    x: Rangef,
    is_wide: bool,
    scale: f32,
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32, n_blocks: usize, n_warps: usize) -> Self {
        let is_wide = width >= WIDE * scale;
        let (code, slot) = match width / scale {
            width if width >= ROOMY => (332.0 * scale, 74.0 * scale),
            width if width >= WIDE => (284.0 * scale, 74.0 * scale),
            _ => (0.0, 0.0),
        };
        let x = Rangef::new(origin.x + code, origin.x + width - slot);
        let frame = Frame { left: origin.x, x, is_wide, scale };
        let mut y = origin.y;
        let mut labels = [Pos2::ZERO; 3];
        let blocks = frame.band(&mut y, &mut labels[0], n_blocks, BLOCKS_PER_ROW, 24.0, 64.0);
        y += 20.0 * scale;
        let warps = frame.band(&mut y, &mut labels[1], n_warps, n_warps.max(1), 20.0, f32::INFINITY);
        y += 20.0 * scale;
        let warp_band = frame.label(&mut y, &mut labels[2], 20.0 * scale);
        let lanes = LaneRow::new(x, warp_band, 6.0 * scale);
        y += LANE_NUMBERS * scale;
        let rows = frame.rows(&mut y);
        let rect = Rect::from_min_max(origin, pos2(origin.x + width, y));
        let source_width = if is_wide { code - 24.0 * scale } else { width - 84.0 * scale };
        Self { rect, blocks, warps, lanes, labels, rows, source_width, is_wide }
    }

    /// The cell of a lane in a row's strip.
    pub fn cell(&self, row: &RowPlace, lane: usize) -> Rect {
        let pitch = self.lanes.pitch();
        let gap = (pitch * 0.16).clamp(0.75, 2.5);
        let left = row.strip.left() + pitch * lane as f32;
        Rect::from_min_size(pos2(left, row.strip.top()), vec2(pitch, row.strip.height())).shrink2(vec2(gap / 2.0, 0.0))
    }

    /// What a pointer at `pos` means.
    pub fn hit(&self, pos: Pos2) -> Option<Hit> {
        let find = |rects: &[Rect]| rects.iter().position(|rect| rect.expand(1.5).contains(pos));
        if let Some(block) = find(&self.blocks) {
            return Some(Hit::Block(block));
        }
        if let Some(warp) = find(&self.warps) {
            return Some(Hit::Warp(warp));
        }
        let first = self.lanes.y - self.lanes.radius * 2.0;
        let is_lane = pos.y >= first && pos.y <= self.rect.bottom();
        is_lane.then(|| self.lanes.lane_from_x(pos.x)).flatten().map(Hit::Lane)
    }
}

impl Frame {
    /// Takes the room of a label and of what it names; gives the middle of the latter.
    fn label(&self, y: &mut f32, label: &mut Pos2, height: f32) -> f32 {
        if !self.is_wide {
            *label = pos2(self.left, *y + 8.0 * self.scale);
            *y += 19.0 * self.scale;
        }
        let middle = *y + height / 2.0;
        if self.is_wide {
            *label = pos2(self.left, middle);
        }
        *y += height;
        middle
    }

    /// `count` cells of equal width, `per_row` a row.
    fn band(&self, y: &mut f32, label: &mut Pos2, count: usize, per_row: usize, height: f32, most: f32) -> Vec<Rect> {
        let n_rows = count.div_ceil(per_row).max(1);
        let height = if n_rows > 1 { 13.0 } else { height } * self.scale;
        let gap = if count > 16 { 2.0 } else { 4.0 };
        let row_gap = 3.0 * self.scale;
        let top = *y + if self.is_wide { 0.0 } else { 19.0 * self.scale };
        self.label(y, label, n_rows as f32 * height + (n_rows - 1) as f32 * row_gap);
        let in_row = count.min(per_row).max(1) as f32;
        let width = ((self.x.span() - gap * (in_row - 1.0)) / in_row).min(most * self.scale);
        let place = |idx: usize| {
            let (row, column) = ((idx / per_row) as f32, (idx % per_row) as f32);
            let min = pos2(self.x.min + column * (width + gap), top + row * (height + row_gap));
            Rect::from_min_size(min, vec2(width, height))
        };
        (0..count).map(place).collect()
    }

    fn rows(&self, y: &mut f32) -> Vec<RowPlace> {
        let scale = self.scale;
        let (pitch, cell, source_above) = if self.is_wide { (23.0, 16.0, 0.0) } else { (37.0, 14.0, 18.0) };
        let mut places = Vec::with_capacity(ROWS.len());
        for row in ROWS {
            let is_word = row == super::question::Row::Else;
            let height = if is_word { 20.0 } else { pitch } * scale;
            let top = *y;
            let strip_top = top + (source_above + (pitch - source_above - cell) / 2.0) * scale;
            let strip = Rect::from_x_y_ranges(self.x, Rangef::new(strip_top, strip_top + cell * scale));
            let source_y = if self.is_wide || is_word { top + height / 2.0 } else { top + 10.0 * scale };
            let right = if self.is_wide { self.x.max + 74.0 * scale } else { self.x.max };
            places.push(RowPlace {
                rect: Rect::from_min_max(pos2(self.left, top), pos2(right, top + height)),
                source: pos2(self.left + 16.0 * scale, source_y),
                strip,
                slot: pos2(right - 42.0 * scale, source_y),
                at_work: pos2(right - 6.0 * scale, source_y),
            });
            *y += height;
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_stays_inside_and_nothing_overlaps_in_any_width() {
        for (width, scale) in [(296.0, 1.0), (420.0, 1.6), (844.0, 1.0), (1200.0, 1.6)] {
            for (n_blocks, n_warps) in [(1, 1), (8, 4), (128, 1), (40, 8)] {
                let figure = Geometry::new(pos2(5.0, 7.0), width, scale, n_blocks, n_warps);
                assert_eq!((figure.blocks.len(), figure.warps.len()), (n_blocks, n_warps));
                let inside = figure.rect.expand(0.5);
                let rects = figure.blocks.iter().chain(&figure.warps).chain(figure.rows.iter().map(|row| &row.strip));
                assert!(rects.clone().all(|rect| inside.contains_rect(*rect)), "{width} {n_blocks}");
                let below = |a: &[Rect], b: f32| a.iter().all(|rect| rect.bottom() < b);
                assert!(below(&figure.blocks, figure.warps[0].top()));
                assert!(below(&figure.warps, figure.lanes.y - figure.lanes.radius));
                assert!(figure.lanes.y + figure.lanes.radius < figure.rows[0].rect.top() + 0.5);
                for pair in figure.rows.windows(2) {
                    assert!(
                        pair[0].strip.bottom() <= pair[1].rect.top() || pair[0].rect.bottom() <= pair[1].rect.top()
                    );
                }
            }
        }
    }

    #[test]
    fn pointers_find_blocks_warps_and_lanes() {
        let figure = Geometry::new(pos2(0.0, 0.0), 844.0, 1.0, 8, 4);
        assert_eq!(figure.hit(figure.blocks[5].center()), Some(Hit::Block(5)));
        assert_eq!(figure.hit(figure.warps[2].center()), Some(Hit::Warp(2)));
        assert_eq!(figure.hit(figure.lanes.center(17)), Some(Hit::Lane(17)));
        let cell = figure.cell(&figure.rows[4], 30);
        assert_eq!(figure.hit(cell.center()), Some(Hit::Lane(30)));
        assert!((cell.center().x - figure.lanes.center(30).x).abs() < 0.01, "a cell stands under its lane");
        assert_eq!(figure.hit(pos2(20.0, figure.rows[4].rect.center().y)), None);
    }

    #[test]
    fn many_blocks_wrap() {
        let figure = Geometry::new(pos2(0.0, 0.0), 844.0, 1.0, 128, 1);
        assert!(figure.blocks[32].top() > figure.blocks[31].bottom());
        assert_eq!(figure.blocks[32].left(), figure.blocks[0].left());
    }
}
