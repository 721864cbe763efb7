//! Where the transpose player puts things: source, tile and target side by side, one square an element.

use egui::{Pos2, Rect, Vec2, pos2, vec2};
use vramlab_model::bank_conflicts::{BANKS, WORD};
use vramlab_model::transpose::{Cell, Method, TILE};

/// What a panel shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Source,
    /// Shared memory as its banks see it: a column is a bank, addresses run right, then down.
    Tile,
    Target,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Panel {
    pub kind: Kind,
    /// The squares, without the title.
    pub grid: Rect,
}

/// The whole figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    pub panels: Vec<Panel>,
    pub side: f32,
    pub title_height: f32,
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32, method: Method) -> Self {
        let kinds: &[Kind] = if method == Method::Naive {
            &[Kind::Source, Kind::Target]
        } else {
            &[Kind::Source, Kind::Tile, Kind::Target]
        };
        let gap = (width * 0.04).clamp(12.0, 36.0 * scale);
        let n = kinds.len() as f32;
        let panel_width = ((width - gap * (n - 1.0)) / n).min(272.0 * scale);
        let side = panel_width / TILE as f32;
        let title_height = 20.0 * scale;
        let n_tile_rows = (method.tile_bytes().0 / (WORD.0 * BANKS)).max(TILE);
        let mut left = origin.x;
        let mut panels = Vec::with_capacity(kinds.len());
        for kind in kinds {
            let n_rows = if *kind == Kind::Tile { n_tile_rows } else { TILE };
            let size = vec2(panel_width, side * n_rows as f32);
            panels.push(Panel { kind: *kind, grid: Rect::from_min_size(pos2(left, origin.y + title_height), size) });
            left += panel_width + gap;
        }
        let height = title_height + side * n_tile_rows as f32;
        Self { rect: Rect::from_min_size(origin, vec2(width, height)), panels, side, title_height }
    }

    pub fn panel(&self, kind: Kind) -> Option<&Panel> {
        self.panels.iter().find(|panel| panel.kind == kind)
    }

    /// The square of a cell of source or target.
    pub fn cell(&self, panel: &Panel, cell: Cell) -> Rect {
        self.square(panel, cell.col, cell.row)
    }

    /// The square of a word of the tile.
    pub fn word(&self, panel: &Panel, word: u64) -> Rect {
        self.square(panel, word % BANKS, word / BANKS)
    }

    fn square(&self, panel: &Panel, col: u64, row: u64) -> Rect {
        let min = panel.grid.min + vec2(col as f32, row as f32) * self.side;
        Rect::from_min_size(min, Vec2::splat(self.side))
    }

    /// The panel and the square that `pos` is in: column and row.
    pub fn hit(&self, pos: Pos2) -> Option<(Kind, Cell)> {
        let panel = self.panels.iter().find(|panel| panel.grid.contains(pos))?;
        let at = (pos - panel.grid.min) / self.side;
        Some((panel.kind, Cell { row: at.y as u64, col: at.x as u64 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_fit_side_by_side_and_pointers_find_their_squares() {
        for method in Method::ALL {
            for width in [280.0, 844.0] {
                let figure = Geometry::new(pos2(4.0, 8.0), width, 1.0, method);
                assert_eq!(figure.panels.len(), if method == Method::Naive { 2 } else { 3 });
                for panel in &figure.panels {
                    assert!(figure.rect.expand(0.1).contains_rect(panel.grid), "{method:?} {width} {panel:?}");
                    let cell = Cell { row: 31, col: 7 };
                    assert_eq!(figure.hit(figure.cell(panel, cell).center()), Some((panel.kind, cell)));
                }
            }
        }
    }

    #[test]
    fn the_padded_tile_has_a_row_more() {
        let rows = |method| {
            let figure = Geometry::new(pos2(0.0, 0.0), 844.0, 1.0, method);
            (figure.panel(Kind::Tile).unwrap().grid.height() / figure.side).round() as u64
        };
        assert_eq!((rows(Method::Tile), rows(Method::TilePad)), (32, 33));
    }
}
