//! The stacked area of the timeline as one mesh: the bands column by column, and single blocks upon them.

use super::columns::Column;
use super::detail::{Cell, Detail};
use super::scene::Scene;
use egui::{Mesh, Rect, pos2};
use vramlab_kit::axis::Plane;
use vramlab_kit::tokens::Tokens;

/// Narrower blocks are not set off, in points.
const LEAST_WIDTH: f32 = 3.0;

/// The stacked area as quads.
pub struct Area<'a> {
    pub tokens: &'a Tokens,
    pub scene: &'a Scene,
    pub plane: &'a Plane,
    /// Bytes of a unit of the axis.
    pub unit: f64,
    pub columns: &'a [Column],
}

impl Area<'_> {
    fn y(&self, bytes: u64) -> f32 {
        let share = self.plane.y.share_from_value(bytes as f64 / self.unit).unwrap_or(0.0);
        self.plane.rect.bottom() - self.plane.rect.height() * share as f32
    }

    fn x(&self, share: f32) -> f32 {
        self.plane.rect.left() + self.plane.rect.width() * share
    }

    /// Where a block lies.
    pub fn rect(&self, cell: &Cell) -> Rect {
        let left = self.columns.get(cell.from as usize).map_or(0.0, |column| column.left);
        let right = self.columns.get(cell.until as usize - 1).map_or(1.0, |column| column.right);
        Rect::from_min_max(
            pos2(self.x(left), self.y(cell.bottom + cell.size)),
            pos2(self.x(right), self.y(cell.bottom)),
        )
    }

    /// One quad a band and column, and the blocks upon them.
    pub fn mesh(&self, values: &[u64], detail: &Detail) -> Mesh {
        let mut mesh = Mesh::default();
        let n_bands = self.scene.bands.all.len();
        let colors: Vec<_> = (0..n_bands).map(|band| self.scene.color(self.tokens, band)).collect();
        for (column, values) in self.columns.iter().zip(values.chunks(n_bands.max(1))) {
            let (left, right) = (self.x(column.left), self.x(column.right));
            let mut below = 0;
            for (value, color) in values.iter().zip(&colors) {
                if *value > 0 {
                    let quad = Rect::from_min_max(pos2(left, self.y(below + value)), pos2(right, self.y(below)));
                    mesh.add_colored_rect(quad, *color);
                    below += value;
                }
            }
        }
        for cell in &detail.cells {
            self.cell(&mut mesh, cell, colors[usize::from(cell.band).min(n_bands - 1)]);
        }
        mesh
    }

    /// A block: every second a little lighter, an edge above, ruled if it stands from before the recording.
    fn cell(&self, mesh: &mut Mesh, cell: &Cell, color: egui::Color32) {
        let rect = self.rect(cell);
        let is_before = self.scene.life(cell.life).is_some_and(|life| life.from.is_none());
        // A block that is gone before the eye can follow it is only its band's colour.
        if rect.width() < LEAST_WIDTH && !is_before {
            return;
        }
        let light = [0.0, 0.10, 0.20][cell.life as usize % 3];
        mesh.add_colored_rect(rect, vramlab_kit::palette::mix(color, self.tokens.surface, light));
        if rect.height() >= 3.0 {
            let edge = Rect::from_min_max(rect.min, pos2(rect.right(), rect.top() + 0.75));
            mesh.add_colored_rect(edge, self.tokens.surface.gamma_multiply(0.8));
        }
        if is_before {
            let mut y = rect.bottom() - 3.0;
            while y > rect.top() + 1.0 {
                let rule = Rect::from_min_max(pos2(rect.left(), y), pos2(rect.right(), y + 1.0));
                mesh.add_colored_rect(rule, self.tokens.surface.gamma_multiply(0.55));
                y -= 4.0;
            }
        }
    }
}
