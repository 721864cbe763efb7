//! Where the two pools, the table and the curve go. A row of a pool is 512 slots, so equal areas are equal tokens.

use super::question::POOL_TOKENS;
use egui::{Pos2, Rect, pos2, vec2};

pub const ROW_TOKENS: u64 = 512;
pub const N_ROWS: u64 = POOL_TOKENS / ROW_TOKENS;

const HEAD: f32 = 26.0;
const ROW: f32 = 27.0;
const GAP: f32 = 22.0;
const TABLE: f32 = 76.0;
const CURVE: f32 = 96.0;
const AXIS: f32 = 20.0;
const NARROW: f32 = 600.0;

/// Which of the two pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Reserved,
    Paged,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    pub reserved: Rect,
    pub paged: Rect,
    /// The table of the chosen request.
    pub table: Rect,
    /// Requests that run over steps.
    pub curve: Rect,
    pub is_narrow: bool,
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32) -> Self {
        let px = |points: f32| points * scale;
        let is_narrow = width < px(NARROW);
        let grid = vec2(if is_narrow { width } else { (width - px(GAP)) / 2.0 }, px(ROW) * N_ROWS as f32);
        let reserved = Rect::from_min_size(pos2(origin.x, origin.y + px(HEAD)), grid);
        let at = if is_narrow {
            pos2(origin.x, reserved.bottom() + px(HEAD + 8.0))
        } else {
            pos2(reserved.right() + px(GAP), reserved.top())
        };
        let paged = Rect::from_min_size(at, grid);
        let table = Rect::from_min_size(pos2(origin.x, paged.bottom() + px(14.0)), vec2(width, px(TABLE)));
        let top = table.bottom() + px(HEAD);
        let curve = Rect::from_min_size(pos2(origin.x + px(28.0), top), vec2(width - px(34.0), px(CURVE)));
        let rect = Rect::from_min_max(origin, pos2(origin.x + width, curve.bottom() + px(AXIS)));
        Self { rect, reserved, paged, table, curve, is_narrow }
    }

    pub fn pool(&self, side: Side) -> Rect {
        match side {
            Side::Reserved => self.reserved,
            Side::Paged => self.paged,
        }
    }

    /// The boxes of `tokens` slots from slot `first` on: one a row, all rows of a long place.
    pub fn boxes(&self, side: Side, first: u64, tokens: u64) -> Vec<Rect> {
        let pool = self.pool(side);
        let (slot, row) = (pool.width() / ROW_TOKENS as f32, pool.height() / N_ROWS as f32);
        let mut out = Vec::new();
        let (mut at, end) = (first, first + tokens);
        while at < end {
            let part = (ROW_TOKENS - at % ROW_TOKENS).min(end - at);
            let min = pos2(pool.left() + (at % ROW_TOKENS) as f32 * slot, pool.top() + (at / ROW_TOKENS) as f32 * row);
            out.push(Rect::from_min_size(min, vec2(part as f32 * slot, row)));
            at += part;
        }
        out
    }

    /// The pool and the slot under a point.
    pub fn hit(&self, at: Pos2) -> Option<(Side, u64)> {
        let side = [Side::Reserved, Side::Paged].into_iter().find(|side| self.pool(*side).contains(at))?;
        let pool = self.pool(side);
        let column = ((at.x - pool.left()) / pool.width() * ROW_TOKENS as f32) as u64;
        let row = ((at.y - pool.top()) / pool.height() * N_ROWS as f32) as u64;
        Some((side, row.min(N_ROWS - 1) * ROW_TOKENS + column.min(ROW_TOKENS - 1)))
    }

    pub fn x_of_step(&self, step: f32, n_steps: f32) -> f32 {
        self.curve.left() + self.curve.width() * (step / n_steps.max(1.0)).clamp(0.0, 1.0)
    }

    pub fn step_at(&self, at: Pos2, n_steps: f32) -> Option<f32> {
        let area = self.curve.expand2(vec2(0.0, 6.0));
        area.contains(at).then(|| ((at.x - self.curve.left()) / self.curve.width()).clamp(0.0, 1.0) * n_steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_found_where_it_is_drawn() {
        for width in [300.0, 844.0] {
            let figure = Geometry::new(pos2(3.0, 5.0), width, 1.0);
            for side in [Side::Reserved, Side::Paged] {
                for slot in [0, 511, 512, 4095] {
                    let found = figure.boxes(side, slot, 1)[0].center();
                    assert_eq!(figure.hit(found), Some((side, slot)), "{width}");
                }
            }
            assert_eq!(figure.boxes(Side::Paged, 0, 1024).len(), 2);
            assert!(figure.rect.contains_rect(figure.curve) && figure.paged.bottom() < figure.table.top());
            assert!(!figure.reserved.intersects(figure.paged));
        }
    }
}
