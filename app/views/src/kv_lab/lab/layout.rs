//! Where the tables, the pool, the queue and the line of time go. A block is a square of the same area as every other;
//! where squares would be smaller than a few pixels, one stands for several blocks, and says for how many.

use egui::{Pos2, Rect, pos2, vec2};

const HEAD: f32 = 26.0;
const GAP: f32 = 24.0;
const MOST_CELL: f32 = 58.0;
/// Smaller squares are not told apart.
const LEAST_CELL: f32 = 3.0;
const MOST_POOL: f32 = 300.0;
const ROW: f32 = 25.0;
const QUEUE: f32 = 24.0;
const LINE: f32 = 58.0;
const AXIS: f32 = 18.0;
const NARROW: f32 = 620.0;

/// The squares of the pool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    pub rect: Rect,
    pub cell: f32,
    pub columns: u32,
    /// Blocks that one square stands for.
    pub per_cell: u32,
    pub n_blocks: u32,
}

impl Grid {
    /// The largest squares with which all blocks fit into `width` by `height`.
    fn fitted(at: Pos2, width: f32, height: f32, most: f32, n_blocks: u32) -> Self {
        let columns_of = |cell: f32| (width / cell + 1e-3).floor().max(1.0);
        let fits = |cell: f32, n: u32| (n as f32 / columns_of(cell)).ceil() * cell <= height;
        let n_steps = ((most - LEAST_CELL) / 0.25).ceil() as u32;
        let cells = (0..=n_steps).map(|step| most - step as f32 * 0.25);
        let found = cells.filter(|cell| *cell >= LEAST_CELL).find(|cell| fits(*cell, n_blocks));
        let (cell, per_cell) = found.map_or_else(
            || {
                let room = columns_of(LEAST_CELL) as u32 * (height / LEAST_CELL).floor().max(1.0) as u32;
                (LEAST_CELL, n_blocks.div_ceil(room.max(1)))
            },
            |cell| (cell, 1),
        );
        let columns = columns_of(cell) as u32;
        let rows = n_blocks.div_ceil(per_cell).div_ceil(columns);
        let rect = Rect::from_min_size(at, vec2(columns.min(n_blocks) as f32, rows as f32) * cell);
        Self { rect, cell, columns, per_cell, n_blocks }
    }

    pub fn n_cells(&self) -> u32 {
        self.n_blocks.div_ceil(self.per_cell)
    }

    /// The square of a cell.
    pub fn square(&self, cell: u32) -> Rect {
        let (row, column) = (cell / self.columns, cell % self.columns);
        Rect::from_min_size(self.rect.min + vec2(column as f32, row as f32) * self.cell, vec2(self.cell, self.cell))
    }

    /// The first block of the square under a point.
    pub fn block_at(&self, at: Pos2) -> Option<u32> {
        if !self.rect.contains(at) {
            return None;
        }
        let place = (at - self.rect.min) / self.cell;
        let cell = place.y as u32 * self.columns + (place.x as u32).min(self.columns - 1);
        Some(cell * self.per_cell).filter(|block| *block < self.n_blocks)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    pub tables: Rect,
    /// Rows of tables that fit.
    pub n_rows: usize,
    pub row: f32,
    pub grid: Grid,
    /// The column that the pool has, as wide as it may get.
    pub pool: Rect,
    pub queue: Rect,
    pub line: Rect,
}

/// What the figure is made for, the same in all steps, so that nothing moves while it plays.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub n_blocks: u32,
    pub n_tables: usize,
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32, wanted: Wanted) -> Self {
        let px = |points: f32| points * scale;
        let is_narrow = width < px(NARROW);
        let top = origin.y + px(HEAD);
        let wide_tables = (width - px(GAP)) * 0.45;
        let (pool_at, pool_width) = if is_narrow {
            (pos2(origin.x, top), width)
        } else {
            (pos2(origin.x + wide_tables + px(GAP), top), width - px(GAP) - wide_tables)
        };
        let grid = Grid::fitted(pool_at, pool_width, px(MOST_POOL), px(MOST_CELL), wanted.n_blocks);
        let most_rows = if is_narrow { 8 } else { 12 };
        let n_rows = wanted.n_tables.clamp(3, most_rows);
        let rows = px(ROW) * n_rows as f32;
        let (tables, bottom) = if is_narrow {
            let tables = Rect::from_min_size(pos2(origin.x, grid.rect.bottom() + px(HEAD + 12.0)), vec2(width, rows));
            (tables, tables.bottom())
        } else {
            let tables = Rect::from_min_size(pos2(origin.x, top), vec2(wide_tables, rows));
            (tables, tables.bottom().max(grid.rect.bottom()))
        };
        let pool = Rect::from_min_size(pool_at, vec2(pool_width, grid.rect.height()));
        let queue = Rect::from_min_size(pos2(origin.x, bottom + px(HEAD + 10.0)), vec2(width, px(QUEUE)));
        let line = Rect::from_min_size(
            pos2(origin.x + px(40.0), queue.bottom() + px(HEAD + 12.0)),
            vec2(width - px(46.0), px(LINE)),
        );
        let rect = Rect::from_min_max(origin, pos2(origin.x + width, line.bottom() + px(AXIS)));
        Self { rect, tables, n_rows, row: px(ROW), grid, pool, queue, line }
    }

    /// The place on the line of time when `step` of `n_steps` are over.
    pub fn x_of_step(&self, step: usize, n_steps: usize) -> f32 {
        self.line.left() + self.line.width() * (step as f32 / n_steps.max(1) as f32).clamp(0.0, 1.0)
    }

    /// The step under a point of the line of time.
    pub fn step_at(&self, at: Pos2, n_steps: usize) -> Option<usize> {
        let area = self.line.expand2(vec2(0.0, 6.0));
        let share = ((at.x - self.line.left()) / self.line.width()).clamp(0.0, 1.0);
        area.contains(at).then(|| ((share * n_steps as f32).ceil() as usize).clamp(1, n_steps.max(1)))
    }

    /// The row of a table under a point.
    pub fn row_at(&self, at: Pos2) -> Option<usize> {
        self.tables.contains(at).then(|| ((at.y - self.tables.top()) / self.row) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_has_its_place_however_many_there_are() {
        for (width, scale) in [(290.0, 1.0), (844.0, 1.0), (1200.0, 1.6)] {
            for n_blocks in [1, 5, 24, 1_000, 10_000, 65_536] {
                let geometry = Geometry::new(pos2(3.0, 7.0), width, scale, Wanted { n_blocks, n_tables: 40 });
                let grid = geometry.grid;
                assert!(geometry.rect.contains_rect(grid.rect.shrink(0.1)), "{width} {n_blocks}: {grid:?}");
                assert!(grid.n_cells() * grid.per_cell >= n_blocks, "{grid:?}");
                for cell in [0, grid.n_cells() / 2, grid.n_cells() - 1] {
                    let square = grid.square(cell);
                    assert!(grid.rect.expand(0.1).contains_rect(square), "{width} {n_blocks} {cell}: {grid:?}");
                    assert_eq!(grid.block_at(square.center()), Some(cell * grid.per_cell), "{width} {n_blocks}");
                }
                assert!(
                    geometry.tables.bottom() < geometry.queue.top() && geometry.queue.bottom() < geometry.line.top()
                );
                assert!(!geometry.tables.intersects(grid.rect));
            }
        }
    }

    /// In a card of 844 points each of ten thousand blocks has a square of its own.
    #[test]
    fn ten_thousand_blocks_are_ten_thousand_squares() {
        let geometry = Geometry::new(pos2(0.0, 0.0), 844.0, 1.0, Wanted { n_blocks: 10_000, n_tables: 12 });
        assert_eq!((geometry.grid.per_cell, geometry.grid.n_cells()), (1, 10_000));
        assert!(geometry.grid.cell >= 3.0);
    }

    #[test]
    fn a_step_is_found_where_it_is_drawn() {
        let geometry = Geometry::new(pos2(0.0, 0.0), 844.0, 1.0, Wanted { n_blocks: 24, n_tables: 4 });
        for step in [1, 20, 41] {
            let at = pos2(geometry.x_of_step(step, 41) - 1.0, geometry.line.center().y);
            assert_eq!(geometry.step_at(at, 41), Some(step));
        }
    }
}
