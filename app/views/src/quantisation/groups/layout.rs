//! Where the row of weights, the number line and the trade-off go, from above to below.

use super::question::{MOST, N};
use egui::{Pos2, Rect, pos2, vec2};

const ROW: f32 = 150.0;
const LINE: f32 = 58.0;
const TRADE: f32 = 150.0;
const HEAD: f32 = 24.0;
const NARROW: f32 = 560.0;
/// Values are drawn by their root beyond this, so that small ones and large ones are seen at once.
const KNEE: f64 = 4.0;

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    pub row: Rect,
    pub line: Rect,
    pub trade: Rect,
    pub is_narrow: bool,
}

/// A place from −1 to 1: linear to ±4 σ over half the height, then by the logarithm.
fn bent(value: f64) -> f64 {
    let size = value.abs().min(MOST);
    let share = if size <= KNEE { 0.5 * size / KNEE } else { 0.5 + 0.5 * (size / KNEE).ln() / (MOST / KNEE).ln() };
    share.copysign(value)
}

fn straight(share: f64) -> f64 {
    let size = share.abs().min(1.0);
    let value = if size <= 0.5 { size / 0.5 * KNEE } else { KNEE * ((size - 0.5) / 0.5 * (MOST / KNEE).ln()).exp() };
    value.copysign(share)
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32) -> Self {
        let px = |points: f32| points * scale;
        let is_narrow = width < px(NARROW);
        let left = origin.x + px(30.0);
        let inner = width - px(36.0);
        let row = Rect::from_min_size(pos2(left, origin.y + px(HEAD)), vec2(inner, px(ROW)));
        let line = Rect::from_min_size(pos2(left, row.bottom() + px(HEAD + 10.0)), vec2(inner, px(LINE)));
        let trade = Rect::from_min_size(
            pos2(left + px(22.0), line.bottom() + px(HEAD + 22.0)),
            vec2(inner - px(22.0), px(TRADE)),
        );
        let rect = Rect::from_min_max(origin, pos2(origin.x + width, trade.bottom() + px(36.0)));
        Self { rect, row, line, trade, is_narrow }
    }

    pub fn x_of(&self, at: usize) -> f32 {
        self.row.left() + self.row.width() * (at as f32 + 0.5) / N as f32
    }

    pub fn y_of(&self, value: f64) -> f32 {
        self.row.center().y - self.row.height() / 2.0 * bent(value) as f32
    }

    pub fn weight_at(&self, at: Pos2) -> Option<usize> {
        let area = self.row.expand2(vec2(0.0, 14.0));
        let share = (at.x - self.row.left()) / self.row.width();
        area.contains(at).then(|| ((share * N as f32) as usize).min(N - 1))
    }

    pub fn value_at(&self, at: Pos2) -> f64 {
        straight(f64::from((self.row.center().y - at.y) / (self.row.height() / 2.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_is_found_where_it_is_drawn() {
        for width in [240.0, 844.0] {
            let figure = Geometry::new(pos2(3.0, 4.0), width, 1.0);
            for (at, value) in [(0, -1.5), (150, 3.9), (255, 28.0), (77, -40.0)] {
                let place = pos2(figure.x_of(at), figure.y_of(value));
                assert_eq!(figure.weight_at(place), Some(at));
                assert!((figure.value_at(place) - value).abs() < 0.2, "{value}: {}", figure.value_at(place));
            }
            assert!(figure.row.bottom() < figure.line.top() && figure.line.bottom() < figure.trade.top());
        }
    }
}
