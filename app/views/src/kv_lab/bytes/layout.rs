//! Where the bars go: a row for each way of attention, its name and its bytes a token on the left, the bar on the right;
//! below them the weights.

use egui::{Pos2, Rect, pos2, vec2};

const HEAD: f32 = 24.0;
const ROW: f32 = 30.0;
const NAME: f32 = 62.0;
const PER: f32 = 108.0;
/// What is written behind a bar.
const AFTER: f32 = 150.0;
const GAP: f32 = 30.0;
const NARROW: f32 = 560.0;

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    pub head: Rect,
    /// One for each way, then all weights and the active ones.
    pub rows: Vec<Rect>,
    /// Bars of the cache end here at most.
    pub left: f32,
    pub right: f32,
    pub per_at: f32,
    /// Words of a row stand above its bar.
    pub is_narrow: bool,
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32, n_ways: usize) -> Self {
        let px = |points: f32| points * scale;
        let is_narrow = width < px(NARROW);
        let row = if is_narrow { px(ROW * 1.45) } else { px(ROW) };
        let head = Rect::from_min_size(origin, vec2(width, px(HEAD)));
        let mut rows = Vec::new();
        let mut y = head.bottom();
        for idx in 0..n_ways + 2 {
            if idx == n_ways {
                y += px(GAP);
            }
            rows.push(Rect::from_min_size(pos2(origin.x, y), vec2(width, row)));
            y += row;
        }
        let left = if is_narrow { origin.x } else { origin.x + px(NAME + PER) };
        let right = if is_narrow { origin.x + width - px(4.0) } else { origin.x + width - px(AFTER) };
        let rect = Rect::from_min_max(origin, pos2(origin.x + width, y));
        Self { rect, head, rows, left, right, per_at: origin.x + px(NAME), is_narrow }
    }

    /// The bar of a row, of `share` of the room.
    pub fn bar(&self, row: usize, share: f32) -> Rect {
        let rect = self.rows[row];
        let top = if self.is_narrow { rect.top() + rect.height() * 0.48 } else { rect.top() + rect.height() * 0.16 };
        let bottom = rect.bottom() - rect.height() * if self.is_narrow { 0.1 } else { 0.16 };
        let right = self.left + (self.right - self.left) * share.clamp(0.0, 1.0);
        Rect::from_min_max(pos2(self.left, top), pos2(right.max(self.left + 1.0), bottom))
    }

    pub fn row_at(&self, at: Pos2) -> Option<usize> {
        self.rows.iter().position(|row| row.contains(at))
    }
}
