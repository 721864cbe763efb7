//! Where the tile, the values that stay and the nibbles go: eight units side by side, whatever the width.

use super::SIDE;
use egui::{Pos2, Rect, pos2, vec2};

const HEAD: f32 = 40.0;
const MOST: f32 = 62.0;
const GAP: f32 = 14.0;

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    pub tile: Rect,
    pub kept: Rect,
    pub bits: Rect,
    pub unit: f32,
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32) -> Self {
        let gap = (width * 0.06).clamp(GAP * scale * 0.7, GAP * scale * 3.0);
        let unit = ((width - 2.0 * gap) / 8.0).min(MOST * scale);
        let height = unit * SIDE as f32;
        let top = origin.y + HEAD * scale;
        let at = |x: f32, units: f32| Rect::from_min_size(pos2(x, top), vec2(units * unit, height));
        let tile = at(origin.x, 4.0);
        let kept = at(tile.right() + gap, 2.0);
        let bits = at(kept.right() + gap, 2.0);
        let rect = Rect::from_min_max(origin, pos2(origin.x + width, top + height));
        Self { rect, tile, kept, bits, unit }
    }

    pub fn cell(&self, row: usize, col: usize) -> Rect {
        let min = self.tile.min + vec2(col as f32, row as f32) * self.unit;
        Rect::from_min_size(min, vec2(self.unit, self.unit)).shrink(2.0)
    }

    pub fn kept_cell(&self, row: usize, at: usize) -> Rect {
        let min = self.kept.min + vec2(at as f32, row as f32) * self.unit;
        Rect::from_min_size(min, vec2(self.unit, self.unit)).shrink(2.0)
    }

    /// A bit of a nibble, the highest on the left.
    pub fn bit(&self, row: usize, at: usize) -> Rect {
        let side = self.unit / 2.0;
        let min = self.bits.min + vec2(at as f32 * side, row as f32 * self.unit + side * 0.3);
        Rect::from_min_size(min, vec2(side, side)).shrink(1.5)
    }

    pub fn cell_at(&self, at: Pos2) -> Option<usize> {
        let inside = at - self.tile.min;
        let place = |length: f32| ((length / self.unit) as usize).min(SIDE - 1);
        self.tile.contains(at).then(|| place(inside.y) * SIDE + place(inside.x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_found_where_it_is_drawn() {
        for width in [240.0, 300.0, 844.0] {
            let figure = Geometry::new(pos2(5.0, 7.0), width, 1.0);
            for cell in 0..SIDE * SIDE {
                let rect = figure.cell(cell / SIDE, cell % SIDE);
                assert_eq!(figure.cell_at(rect.center()), Some(cell));
            }
            assert!(figure.rect.contains_rect(figure.bits), "{width}");
            assert!(figure.tile.right() < figure.kept.left() && figure.kept.right() < figure.bits.left());
            assert_eq!(figure.cell_at(figure.kept.center()), None);
        }
    }
}
