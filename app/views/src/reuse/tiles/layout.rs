//! Where the tiles figure puts things: B above, A at the left, C in the corner, the tank between them, roofline and levels beside or
//! below. Pure functions.

use egui::{Pos2, Rect, pos2, vec2};
use vramlab_kit::{Axis, Plane, Spread};
use vramlab_model::kernels::gemm_walk::Matrix;

/// FLOP a byte, TFLOP/s.
const X: (f64, f64) = (0.5, 512.0);
const Y: (f64, f64) = (0.5, 2000.0);
/// Cells a side of a matrix at most; more tiles share one.
pub const MOST_CELLS: u64 = 32;
const LEVEL: f32 = 40.0;

/// What the pointer is on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hit {
    /// A tile of a matrix by row and column.
    Tile(Matrix, u64, u64),
    Tank,
    Dot,
    Level(usize),
}

#[derive(Clone, Debug)]
pub struct Geometry {
    pub rect: Rect,
    pub a: Rect,
    pub b: Rect,
    pub c: Rect,
    pub tank: Rect,
    pub plane: Plane,
    pub levels: Vec<Rect>,
    pub scale: f32,
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32, n_levels: usize) -> Option<Self> {
        let px = |points: f32| points * scale;
        let is_wide = width >= px(640.0);
        let block = if is_wide { width * 0.52 } else { width }.min(px(460.0));
        let (gap, name) = (px(14.0), px(20.0));
        let side = (block - gap - name) / 2.0;
        let (near, far) = (origin.x + name, origin.x + name + side + gap);
        let (top, low) = (origin.y + name, origin.y + name + side + gap);
        let square = |x: f32, y: f32| Rect::from_min_size(pos2(x, y), vec2(side, side));
        let (left, head, right) = if is_wide {
            (origin.x + block + px(28.0), origin.y, origin.x + width)
        } else {
            (origin.x, low + side + px(24.0), origin.x + width)
        };
        let tall = if is_wide { (low + side - head) - n_levels as f32 * px(LEVEL) - px(66.0) } else { px(210.0) };
        let plot = Rect::from_min_max(
            pos2(left + px(40.0), head + px(22.0)),
            pos2(right - px(8.0), head + px(22.0) + tall.max(px(120.0))),
        );
        let first = plot.bottom() + px(48.0);
        let level =
            |idx: usize| Rect::from_min_size(pos2(left, first + idx as f32 * px(LEVEL)), vec2(right - left, px(LEVEL)));
        let levels: Vec<Rect> = (0..n_levels).map(level).collect();
        let bottom = levels.last().map_or(first, Rect::bottom).max(low + side);
        Some(Self {
            rect: Rect::from_min_max(origin, pos2(origin.x + width, bottom + px(4.0))),
            a: square(near, low),
            b: square(far, top),
            c: square(far, low),
            tank: square(near, top).with_max_x(near + side - px(10.0)),
            plane: Plane { x: Axis::new(Spread::Log10, X.0, X.1)?, y: Axis::new(Spread::Log10, Y.0, Y.1)?, rect: plot },
            levels,
            scale,
        })
    }

    pub fn matrix(&self, matrix: Matrix) -> Rect {
        match matrix {
            Matrix::A => self.a,
            Matrix::B => self.b,
            Matrix::C => self.c,
        }
    }

    /// Where tiles `from..to` of `n` lie along a span.
    fn along(span: (f32, f32), from: u64, to: u64, n: u64) -> (f32, f32) {
        let at = |tile: u64| span.0 + (span.1 - span.0) * tile as f32 / n.max(1) as f32;
        (at(from), at(to))
    }

    /// The area of rows and columns of tiles of a matrix with `grid` tiles.
    pub fn tiles(&self, matrix: Matrix, grid: [u64; 2], rows: (u64, u64), columns: (u64, u64)) -> Rect {
        let rect = self.matrix(matrix);
        let (top, bottom) = Self::along((rect.top(), rect.bottom()), rows.0, rows.1, grid[0]);
        let (left, right) = Self::along((rect.left(), rect.right()), columns.0, columns.1, grid[1]);
        Rect::from_min_max(pos2(left, top), pos2(right, bottom))
    }

    /// The tile under the pointer.
    pub fn tile_at(&self, matrix: Matrix, grid: [u64; 2], at: Pos2) -> Option<(u64, u64)> {
        let rect = self.matrix(matrix);
        rect.contains(at).then(|| {
            let nth = |share: f32, n: u64| ((f64::from(share) * n as f64) as u64).min(n.saturating_sub(1));
            (nth((at.y - rect.top()) / rect.height(), grid[0]), nth((at.x - rect.left()) / rect.width(), grid[1]))
        })
    }

    pub fn hit(&self, grid: impl Fn(Matrix) -> [u64; 2], dot: Option<Pos2>, at: Pos2) -> Option<Hit> {
        for matrix in Matrix::ALL {
            if let Some((row, column)) = self.tile_at(matrix, grid(matrix), at) {
                return Some(Hit::Tile(matrix, row, column));
            }
        }
        if self.tank.contains(at) {
            return Some(Hit::Tank);
        }
        if dot.is_some_and(|dot| dot.distance(at) < 22.0 * self.scale) {
            return Some(Hit::Dot);
        }
        self.levels.iter().position(|level| level.contains(at)).map(Hit::Level)
    }

    /// The slope of a bandwidth up to a ceiling, and along it.
    pub fn roof(&self, gb_per_s: f64, peak: f64) -> Vec<Pos2> {
        let low = X.0.max(Y.0 * 1000.0 / gb_per_s);
        let ridge = peak * 1000.0 / gb_per_s;
        let rate = |x: f64| (x * gb_per_s / 1000.0).min(peak);
        let stops = [low, ridge.clamp(low, X.1), X.1];
        stops.into_iter().filter_map(|x| self.plane.pos(x, rate(x))).collect()
    }

    pub fn intensity_at(&self, at: Pos2) -> f64 {
        let share = f64::from((at.x - self.plane.rect.left()) / self.plane.rect.width());
        self.plane.x.value_from_share(share.clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_inside_and_apart() {
        for (width, scale) in [(290.0, 1.0), (844.0, 1.0), (420.0, 1.6), (1200.0, 1.6)] {
            let geometry = Geometry::new(pos2(3.0, 7.0), width, scale, 3).unwrap();
            let parts = [geometry.a, geometry.b, geometry.c, geometry.tank, geometry.plane.rect];
            let parts: Vec<Rect> = parts.into_iter().chain(geometry.levels).collect();
            for (idx, part) in parts.iter().enumerate() {
                assert!(geometry.rect.expand(0.5).contains_rect(*part), "{width}: part {idx} {part:?}");
                let rest = parts.iter().skip(idx + 1);
                assert!(rest.into_iter().all(|other| !other.shrink(0.5).intersects(*part)), "{width}: part {idx}");
            }
        }
    }

    #[test]
    fn a_tile_is_found_where_it_is_drawn() {
        let geometry = Geometry::new(pos2(0.0, 0.0), 844.0, 1.0, 2).unwrap();
        let grid = [16, 8];
        for (row, column) in [(0, 0), (15, 7), (7, 3)] {
            let area = geometry.tiles(Matrix::A, grid, (row, row + 1), (column, column + 1));
            assert_eq!(geometry.tile_at(Matrix::A, grid, area.center()), Some((row, column)));
        }
    }
}
