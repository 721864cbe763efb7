//! Where the scores, the registers and the meters go. The scores are a square; Q lies on its left, K and V above, O on its
//! right.

use egui::{Pos2, Rect, pos2, vec2};
use vramlab_model::inference::flash_tiles::Tiling;

const MOST_SIDE: f32 = 336.0;
const STRIP: f32 = 13.0;
const GAP: f32 = 5.0;
const HEAD: f32 = 26.0;
const ROW: f32 = 23.0;
const METER: f32 = 44.0;
const NARROW: f32 = 640.0;
/// Rows of the tile whose registers are shown.
pub const N_ROWS: u64 = 4;
pub const N_METERS: usize = 4;

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    /// The scores.
    pub grid: Rect,
    pub queries: Rect,
    pub keys: Rect,
    pub output: Rect,
    /// Registers, the line of titles first.
    pub table: Rect,
    pub row: f32,
    pub meters: Rect,
    pub meter: f32,
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32) -> Self {
        let px = |points: f32| points * scale;
        let is_narrow = width < px(NARROW);
        let around = px(STRIP + GAP) * 2.0 + px(14.0);
        let side =
            if is_narrow { (width - around).min(px(MOST_SIDE)) } else { (width * 0.44 - around).min(px(MOST_SIDE)) };
        let grid_at = pos2(origin.x + px(STRIP + GAP + 14.0), origin.y + px(HEAD + STRIP + GAP));
        let grid = Rect::from_min_size(grid_at, vec2(side, side));
        let queries = Rect::from_min_size(grid.min - vec2(px(STRIP + GAP), 0.0), vec2(px(STRIP), side));
        let keys = Rect::from_min_size(grid.min - vec2(0.0, px(STRIP + GAP)), vec2(side, px(STRIP)));
        let output = Rect::from_min_size(pos2(grid.right() + px(GAP), grid.top()), vec2(px(STRIP), side));
        let (panel_at, panel_width) = if is_narrow {
            (pos2(origin.x, grid.bottom() + px(HEAD + 8.0)), width)
        } else {
            let left = output.right() + px(28.0);
            (pos2(left, origin.y + px(HEAD)), origin.x + width - left)
        };
        let table = Rect::from_min_size(panel_at, vec2(panel_width, px(ROW) * (N_ROWS + 1) as f32));
        let meters_at = pos2(panel_at.x, table.bottom() + px(HEAD + 12.0));
        let meters = Rect::from_min_size(meters_at, vec2(panel_width, px(METER) * N_METERS as f32));
        let bottom = meters.bottom().max(grid.bottom() + px(4.0));
        let rect = Rect::from_min_max(origin, pos2(origin.x + width, bottom));
        Self { rect, grid, queries, keys, output, table, row: px(ROW), meters, meter: px(METER) }
    }

    /// A span of tokens along a side, as a share of it.
    fn share(tiling: &Tiling, tile: u64, size: u64) -> (f32, f32) {
        let at = |token: u64| token.min(tiling.tokens) as f32 / tiling.tokens.max(1) as f32;
        (at(tile * size), at((tile + 1) * size))
    }

    pub fn tile(&self, tiling: &Tiling, row: u64, col: u64) -> Rect {
        let (top, bottom) = Self::share(tiling, row, tiling.rows);
        let (left, right) = Self::share(tiling, col, tiling.cols);
        let at = |x: f32, y: f32| self.grid.min + vec2(x, y) * self.grid.width();
        Rect::from_min_max(at(left, top), at(right, bottom))
    }

    /// The part of a strip that stands beside a row of tiles, or above a column.
    pub fn beside(&self, strip: Rect, tiling: &Tiling, row: u64) -> Rect {
        let (top, bottom) = Self::share(tiling, row, tiling.rows);
        let y = |share: f32| strip.top() + share * strip.height();
        Rect::from_min_max(pos2(strip.left(), y(top)), pos2(strip.right(), y(bottom)))
    }

    pub fn above(&self, tiling: &Tiling, col: u64) -> Rect {
        let (left, right) = Self::share(tiling, col, tiling.cols);
        let x = |share: f32| self.keys.left() + share * self.keys.width();
        Rect::from_min_max(pos2(x(left), self.keys.top()), pos2(x(right), self.keys.bottom()))
    }

    /// The square of one score.
    pub fn score(&self, tiling: &Tiling, row: u64, key: u64) -> Rect {
        let side = self.grid.width() / tiling.tokens.max(1) as f32;
        Rect::from_min_size(self.grid.min + vec2(key as f32, row as f32) * side, vec2(side, side))
    }

    /// The tile under a point.
    pub fn tile_at(&self, tiling: &Tiling, at: Pos2) -> Option<(u64, u64)> {
        let share = (at - self.grid.min) / self.grid.width();
        let token = |share: f32| ((share * tiling.tokens as f32) as u64).min(tiling.tokens.saturating_sub(1));
        let is_in = self.grid.contains(at);
        is_in.then(|| (token(share.y) / tiling.rows.max(1), token(share.x) / tiling.cols.max(1)))
    }

    /// The row of the table under a point, its titles not counted.
    pub fn row_at(&self, at: Pos2) -> Option<u64> {
        let row = ((at.y - self.table.top()) / self.row) as u64;
        (self.table.contains(at) && row > 0).then(|| row - 1)
    }

    pub fn table_row(&self, idx: u64) -> Rect {
        let min = pos2(self.table.left(), self.table.top() + idx as f32 * self.row);
        Rect::from_min_size(min, vec2(self.table.width(), self.row))
    }

    pub fn meter_rect(&self, idx: usize) -> Rect {
        let min = pos2(self.meters.left(), self.meters.top() + idx as f32 * self.meter);
        Rect::from_min_size(min, vec2(self.meters.width(), self.meter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tile_is_found_where_it_is_drawn() {
        for (width, scale) in [(290.0, 1.0), (844.0, 1.0), (1200.0, 1.6)] {
            let geometry = Geometry::new(pos2(3.0, 7.0), width, scale);
            for (tokens, rows, cols) in [(4, 2, 2), (2048, 128, 128), (100, 32, 64), (8, 16, 16)] {
                let tiling = Tiling { tokens, rows, cols, head_dim: 1, value_bytes: 2, is_causal: false };
                for (row, col) in [(0, 0), (tiling.row_tiles() - 1, tiling.col_tiles() - 1)] {
                    let rect = geometry.tile(&tiling, row, col);
                    assert!(geometry.grid.expand(0.1).contains_rect(rect));
                    assert_eq!(geometry.tile_at(&tiling, rect.center()), Some((row, col)), "{tokens} {rows} {cols}");
                }
            }
            assert!(geometry.rect.expand(0.1).contains_rect(geometry.meters));
            assert!(!geometry.output.intersects(geometry.table));
        }
    }
}
