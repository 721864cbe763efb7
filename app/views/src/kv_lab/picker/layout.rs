//! Where the bars of the models and the card below them go.

use egui::{Pos2, Rect, pos2, vec2};

const HEAD: f32 = 24.0;
const ROW: f32 = 22.0;
const NARROW_ROW: f32 = 37.0;
const NAME: f32 = 128.0;
/// What is written behind a bar.
const AFTER: f32 = 92.0;
const GAP: f32 = 40.0;
const CARD: f32 = 30.0;
const AXIS: f32 = 22.0;
const NARROW: f32 = 560.0;

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    pub head: Rect,
    pub rows: Vec<Rect>,
    pub left: f32,
    pub right: f32,
    pub is_narrow: bool,
    /// The card, as wide as what is shown of it.
    pub card: Rect,
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32, n_rows: usize) -> Self {
        let px = |points: f32| points * scale;
        let is_narrow = width < px(NARROW);
        let row = px(if is_narrow { NARROW_ROW } else { ROW });
        let head = Rect::from_min_size(origin, vec2(width, px(HEAD)));
        let at = |idx: usize| pos2(origin.x, head.bottom() + idx as f32 * row);
        let rows: Vec<Rect> = (0..n_rows).map(|idx| Rect::from_min_size(at(idx), vec2(width, row))).collect();
        let left = if is_narrow { origin.x } else { origin.x + px(NAME) };
        let right = origin.x + width - if is_narrow { px(4.0) } else { px(AFTER) };
        let card = Rect::from_min_size(at(n_rows) + vec2(0.0, px(GAP)), vec2(width, px(CARD)));
        let rect = Rect::from_min_max(origin, pos2(origin.x + width, card.bottom() + px(AXIS)));
        Self { rect, head, rows, left, right, is_narrow, card }
    }

    /// The bar of a row, of `share` of the room.
    pub fn bar(&self, row: usize, share: f32) -> Rect {
        let rect = self.rows[row];
        let (top, bottom) = if self.is_narrow { (0.55, 0.06) } else { (0.14, 0.14) };
        let right = self.left + (self.right - self.left) * share.clamp(0.0, 1.0);
        let y = |share: f32| rect.top() + rect.height() * share;
        Rect::from_min_max(pos2(self.left, y(top)), pos2(right.max(self.left + 1.0), y(1.0 - bottom)))
    }

    pub fn row_at(&self, at: Pos2) -> Option<usize> {
        self.rows.iter().position(|row| row.contains(at))
    }

    /// The part of the card that `from` to `to` bytes take, of `most` that are shown.
    pub fn on_card(&self, from: f64, to: f64, most: f64) -> Rect {
        let x = |bytes: f64| self.card.left() + self.card.width() * (bytes / most.max(1.0)).clamp(0.0, 1.0) as f32;
        Rect::from_min_max(pos2(x(from), self.card.top()), pos2(x(to), self.card.bottom()))
    }
}
