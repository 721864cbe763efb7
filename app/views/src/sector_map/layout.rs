//! Where the sector map puts things: lanes, lines, sectors, bytes. Pure functions from numbers to rectangles.
//!
//! Bytes are area: inside a sector's box, byte `b` of 32 takes 1/32 of the width. Addresses run right, then down, and a
//! line (128 B) is never broken across rows.

use crate::lanes::LaneRow;
use egui::{Pos2, Rangef, Rect, Vec2, pos2, vec2};

const SECTORS_PER_LINE: u64 = 4;
const SECTOR_BYTES: f32 = 32.0;
/// 4-byte words of a sector.
const WORDS: f32 = 8.0;
/// A warp touches at most this many lines, since an aligned access lies in one.
const MAX_LINES: usize = 32;

/// On which side of the lanes the sectors lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Sectors under the lanes.
    Below,
    /// Sectors over the lanes, so that something else has room beneath.
    Above,
}

/// The lines to draw, and how many untouched ones between them are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    pub lines: Vec<u64>,
    pub n_left_out: u64,
}

/// Every line from 0 to the last touched one if they are few; else the touched ones alone.
pub fn shown_lines(touched: &[u64], at_least: usize) -> Shown {
    let end = touched.last().map_or(0, |last| last + 1).max(at_least as u64);
    if end as usize <= MAX_LINES {
        return Shown { lines: (0..end).collect(), n_left_out: 0 };
    }
    Shown { lines: touched.to_vec(), n_left_out: end - touched.len() as u64 }
}

/// How many lines stand side by side, so that a few lines are wide and many still fit: a power of two.
pub fn lines_per_row(width: f32, scale: f32, n_lines: usize) -> usize {
    let fits = |n: usize, least: f32| width / (n as f32 * SECTORS_PER_LINE as f32) >= least * scale;
    let most = |least: f32| [8, 4, 2].into_iter().find(|n| fits(*n, least)).unwrap_or(1);
    let (roomy, tight) = (most(38.0).min(4), most(18.0));
    let mut per_row = roomy;
    while per_row < tight && n_lines.div_ceil(per_row) > 4 {
        per_row *= 2;
    }
    per_row
}

/// A sector on screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SectorBox {
    pub sector: u64,
    pub rect: Rect,
}

/// A line on screen; its rectangle encloses its four sectors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineBox {
    pub line: u64,
    pub rect: Rect,
    /// Lines before this one are left out.
    pub is_after_jump: bool,
}

/// The whole figure, from `origin` down and right.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    pub side: Side,
    pub lanes: LaneRow,
    pub lane_band: f32,
    pub lines: Vec<LineBox>,
    pub sectors: Vec<SectorBox>,
    pub n_rows: usize,
    /// Sector numbers have room under (or over) their boxes.
    pub has_sector_labels: bool,
    pub n_left_out: u64,
}

/// Measures of one row of lines.
struct Row {
    height: f32,
    label: f32,
    gap: f32,
}

impl Row {
    fn new(n_rows: usize, scale: f32) -> Self {
        let (height, label, gap) = match n_rows {
            0..=2 => (38.0, 40.0, 8.0),
            3..=4 => (28.0, 16.0, 8.0),
            _ => (20.0, 15.0, 5.0),
        };
        Self { height: height * scale, label: label * scale, gap: gap * scale }
    }
}

impl Geometry {
    /// Lays the figure out in `width` for the touched lines (sorted). The lanes begin `lane_inset` further right.
    pub fn new(origin: Pos2, width: f32, scale: f32, touched_lines: &[u64], side: Side, lane_inset: f32) -> Self {
        let base_per_row = lines_per_row(width, scale, 1);
        let shown = shown_lines(touched_lines, base_per_row);
        let per_row = lines_per_row(width, scale, shown.lines.len());
        let n_rows = shown.lines.len().div_ceil(per_row).max(1);
        let row = Row::new(n_rows, scale);
        let lane_band = 28.0 * scale;
        let drop = if n_rows <= 2 { 76.0 } else { 56.0 } * scale;
        let grid_height = n_rows as f32 * (row.height + row.label) + (n_rows - 1) as f32 * row.gap;
        let caption = 16.0 * scale;
        let (lanes_y, grid_top) = match side {
            Side::Below => (origin.y + caption + lane_band / 2.0, origin.y + caption + lane_band + drop),
            Side::Above => (origin.y + grid_height + drop + lane_band / 2.0, origin.y),
        };
        let above = if side == Side::Below { caption } else { 0.0 };
        let rect = Rect::from_min_size(origin, vec2(width, above + lane_band + drop + grid_height));
        let lanes = LaneRow::new(Rangef::new(origin.x + lane_inset, origin.x + width), lanes_y, 7.0 * scale);
        let mut this = Self {
            rect,
            side,
            lanes,
            lane_band,
            lines: Vec::with_capacity(shown.lines.len()),
            sectors: Vec::with_capacity(shown.lines.len() * SECTORS_PER_LINE as usize),
            n_rows,
            has_sector_labels: n_rows <= 2,
            n_left_out: shown.n_left_out,
        };
        this.place(&shown.lines, per_row, grid_top, &row, scale);
        this
    }

    fn place(&mut self, lines: &[u64], per_row: usize, grid_top: f32, row: &Row, scale: f32) {
        // Two sectors stand closer: together they are the 64 bytes that DRAM hands over.
        let (line_gap, sector_gap, pair_gap) = (12.0 * scale.min(1.2), 2.0, 5.0);
        let room = (self.rect.width() - line_gap * (per_row - 1) as f32) / per_row as f32;
        // Whole points, so that boxes of the same bytes are the same width on every screen.
        let sector_width = ((room - 2.0 * sector_gap - pair_gap) / SECTORS_PER_LINE as f32).floor();
        let line_width = sector_width * SECTORS_PER_LINE as f32 + 2.0 * sector_gap + pair_gap;
        let pitch = (self.rect.width() - line_width) / (per_row.max(2) - 1) as f32;
        let label_above = if self.side == Side::Above { row.label } else { 0.0 };
        for (idx, line) in lines.iter().enumerate() {
            let x = (self.rect.left() + (idx % per_row) as f32 * pitch).floor();
            let y = grid_top + (idx / per_row) as f32 * (row.height + row.label + row.gap) + label_above;
            let rect = Rect::from_min_size(pos2(x, y), vec2(line_width, row.height));
            let is_after_jump = if idx == 0 { *line > 0 && self.n_left_out > 0 } else { lines[idx - 1] + 1 != *line };
            self.lines.push(LineBox { line: *line, rect, is_after_jump });
            for part in 0..SECTORS_PER_LINE {
                let gaps = sector_gap * part.div_ceil(2) as f32 + pair_gap * (part / 2) as f32;
                let min = pos2(x + part as f32 * sector_width + gaps, y);
                let rect = Rect::from_min_size(min, vec2(sector_width, row.height));
                self.sectors.push(SectorBox { sector: line * SECTORS_PER_LINE + part, rect });
            }
        }
    }

    /// The box of a sector, if it is drawn.
    pub fn sector(&self, sector: u64) -> Option<&SectorBox> {
        self.sectors.binary_search_by_key(&sector, |found| found.sector).ok().map(|idx| &self.sectors[idx])
    }

    /// The area of `n_bytes` from byte address `addr`, which must not cross a sector's end.
    pub fn bytes(&self, addr: u64, n_bytes: u64) -> Option<Rect> {
        let inner = self.sector(addr / SECTOR_BYTES as u64)?.inner();
        let byte = inner.width() / SECTOR_BYTES;
        let left = inner.left() + (addr % SECTOR_BYTES as u64) as f32 * byte;
        Some(Rect::from_min_size(pos2(left, inner.top()), vec2(n_bytes as f32 * byte, inner.height())))
    }

    /// Where a lane's curve meets the bytes at `addr`.
    pub fn landing(&self, addr: u64, n_bytes: u64) -> Option<Pos2> {
        let area = self.bytes(addr, n_bytes)?;
        Some(match self.side {
            Side::Below => area.center_top(),
            Side::Above => area.center_bottom(),
        })
    }

    /// What a pointer at `pos` means.
    pub fn hit(&self, pos: Pos2) -> Option<Hit> {
        if self.lanes.band(self.lane_band).contains(pos) {
            return self.lanes.lane_from_x(pos.x).map(Hit::Lane);
        }
        self.sectors.iter().find(|found| found.rect.expand(1.0).contains(pos)).map(|found| Hit::Sector(found.sector))
    }
}

impl SectorBox {
    /// The part in which bytes are drawn. Where there is room, 4 bytes are a whole number of points.
    pub fn inner(&self) -> Rect {
        let high = self.rect.shrink2(Vec2::new(0.0, (self.rect.height() * 0.12).clamp(2.0, 5.0)));
        let width = ((self.rect.width() - 2.0) / WORDS).floor() * WORDS;
        if width < 4.0 * WORDS {
            return high.shrink2(Vec2::new((self.rect.width() * 0.06).clamp(1.0, 4.0), 0.0));
        }
        let left = high.left() + ((self.rect.width() - width) / 2.0).floor();
        high.with_min_x(left).with_max_x(left + width)
    }
}

/// Something in the figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hit {
    Lane(usize),
    Sector(u64),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(width: f32, touched: &[u64]) -> Geometry {
        Geometry::new(pos2(5.0, 7.0), width, 1.0, touched, Side::Below, 0.0)
    }

    #[test]
    fn a_wide_card_shows_sixteen_sectors_in_one_row() {
        let figure = figure(844.0, &[0, 1]);
        assert_eq!((figure.sectors.len(), figure.n_rows), (16, 1));
        assert!(figure.has_sector_labels);
    }

    #[test]
    fn a_warp_over_32_lines_wraps_and_stays_inside() {
        let touched: Vec<u64> = (0..32).collect();
        for (width, rows) in [(844.0, 4), (328.0, 8)] {
            let figure = figure(width, &touched);
            assert_eq!((figure.n_rows, figure.n_left_out), (rows, 0), "width {width}");
            for found in &figure.sectors {
                assert!(figure.rect.expand(0.1).contains_rect(found.rect), "width {width} {found:?}");
            }
        }
    }

    #[test]
    fn addresses_run_right_then_down() {
        let figure = figure(844.0, &(0..8).collect::<Vec<_>>());
        for pair in figure.sectors.windows(2) {
            let (a, b) = (pair[0].rect, pair[1].rect);
            assert!(b.left() > a.right() || b.top() > a.bottom(), "{pair:?} overlap or run backwards");
        }
    }

    #[test]
    fn far_lines_leave_the_untouched_ones_out_and_count_them() {
        let touched: Vec<u64> = (0..32).map(|lane| lane * 8).collect();
        let figure = figure(844.0, &touched);
        assert_eq!(figure.lines.len(), 32);
        assert_eq!(figure.n_left_out, 31 * 8 + 1 - 32);
        assert!(figure.lines[1].is_after_jump && !figure.lines[0].is_after_jump);
    }

    /// Stripes of equal bytes are equally wide and begin on whole points, in every sector.
    #[test]
    fn words_fall_on_whole_points() {
        for width in [844.0, 839.5, 500.0, 420.0] {
            let figure = figure(width, &[0, 1]);
            let words: Vec<Rect> = (0..16).filter_map(|word| figure.bytes(word * 8, 4)).collect();
            for word in &words {
                assert!(word.left().fract() == 0.0 && word.width() == words[0].width(), "{word:?} at {width}");
            }
            let last = figure.sectors.last().unwrap().rect.right();
            assert!(last <= figure.rect.right() && last > figure.rect.right() - 2.0, "{last} at {width}");
        }
    }

    #[test]
    fn bytes_are_area() {
        let figure = figure(844.0, &[0]);
        let sector = figure.sector(3).unwrap().inner();
        let all: f32 = (0..8).map(|word| figure.bytes(96 + word * 4, 4).unwrap().area()).sum();
        assert!((all / sector.area() - 1.0).abs() < 1e-4);
        let one = figure.bytes(96, 4).unwrap();
        assert!((figure.bytes(96, 16).unwrap().width() / one.width() - 4.0).abs() < 1e-3);
    }

    #[test]
    fn pointers_find_lanes_and_sectors() {
        for side in [Side::Below, Side::Above] {
            let figure = Geometry::new(pos2(0.0, 0.0), 360.0, 1.0, &[0, 3], side, 0.0);
            assert_eq!(figure.hit(figure.lanes.center(17)), Some(Hit::Lane(17)));
            let sector = figure.sector(12).unwrap().rect;
            assert_eq!(figure.hit(sector.center()), Some(Hit::Sector(12)));
            assert!(!sector.intersects(figure.lanes.band(figure.lane_band)));
        }
    }
}
