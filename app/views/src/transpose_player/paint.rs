//! Painting the transpose player: every element keeps the colour of the source row that it came from.

use super::layout::{Geometry, Kind, Panel};
use super::replay::{Held, words};
use crate::ink;
use egui::epaint::Mesh;
use egui::{Align2, Color32, CornerRadius, Painter, Rect, Shape, Stroke, StrokeKind, pos2, vec2};
use vramlab_kit::paint::hatch;
use vramlab_kit::{Tokens, Type};
use vramlab_model::transpose::{Cell, Stage, Step, TILE};
use vramlab_units::{Lang, Text};

/// fp32 elements in a sector.
const SECTOR_ELEMS: u64 = vramlab_model::coalescing::SECTOR.0 / 4;

/// Everything that painting reads.
pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub held: &'a Held,
    /// The access that has just been made.
    pub current: Option<&'a Step>,
    /// The element under the pointer, by its place in the source.
    pub picked: Option<Cell>,
}

impl Scene<'_> {
    pub fn paint(&self) {
        for panel in &self.geometry.panels {
            self.title(panel);
            self.ground(panel);
            match panel.kind {
                Kind::Source => self.source(panel),
                Kind::Tile => self.words(panel),
                Kind::Target => self.target(panel),
            }
            self.edge(panel);
        }
        self.arrows();
        if let Some(step) = self.current {
            self.access(step);
        }
    }

    /// By source row along an ordered ramp, so that rows that have become columns show it.
    fn color(&self, cell: Cell) -> Color32 {
        self.tokens.series(cell.row as usize, TILE as usize)
    }

    fn title(&self, panel: &Panel) {
        let is_tight = panel.grid.width() < self.tokens.px(190.0);
        let text = match (panel.kind, is_tight) {
            (Kind::Source, true) => Text::new("源 in", "source"),
            (Kind::Source, false) => Text::new("源矩阵 in，全局内存", "Source, global memory"),
            (Kind::Tile, true) => Text::new("小块 tile", "tile"),
            (Kind::Tile, false) => Text::new("小块，共享内存：一列一个 bank", "Tile, shared: a column is a bank"),
            (Kind::Target, true) => Text::new("目标 out", "target"),
            (Kind::Target, false) => Text::new("目标矩阵 out，全局内存", "Target, global memory"),
        };
        let font = self.tokens.font(Type::Small);
        let place = pos2(panel.grid.left(), panel.grid.top() - self.tokens.px(4.0));
        ink::text(self.painter, place, Align2::LEFT_BOTTOM, text.get(self.lang), font, self.tokens.muted);
    }

    /// Empty squares, and hairlines at every sector (or every eighth bank).
    fn ground(&self, panel: &Panel) {
        self.painter.rect_filled(panel.grid, CornerRadius::same(2), self.tokens.sunken);
        for col in (SECTOR_ELEMS..TILE).step_by(SECTOR_ELEMS as usize) {
            let x = panel.grid.left() + col as f32 * self.geometry.side;
            self.painter.vline(x, panel.grid.y_range(), Stroke::new(1.0, self.tokens.line));
        }
    }

    fn edge(&self, panel: &Panel) {
        let stroke = Stroke::new(1.0, self.tokens.line);
        self.painter.rect_stroke(panel.grid.expand(1.0), CornerRadius::same(3), stroke, StrokeKind::Outside);
    }

    fn squares(&self, cells: impl Iterator<Item = (Rect, Color32)>) {
        let mut mesh = Mesh::default();
        let gap = if self.geometry.side > 5.0 { 0.5 } else { 0.0 };
        for (rect, color) in cells {
            mesh.add_colored_rect(rect.shrink(gap), color);
        }
        self.painter.add(Shape::mesh(mesh));
    }

    fn source(&self, panel: &Panel) {
        let cells = (0..TILE * TILE).map(|idx| Cell { row: idx / TILE, col: idx % TILE });
        self.squares(cells.map(|cell| {
            let is_read = cell.row < self.held.n_rows_read;
            let color = if is_read { self.color(cell) } else { self.tokens.tint(self.color(cell), 0.28) };
            (self.geometry.cell(panel, cell), color)
        }));
        self.pick(self.picked.map(|cell| self.geometry.cell(panel, cell)));
    }

    fn words(&self, panel: &Panel) {
        let held = self.held.tile.iter().enumerate().filter_map(|(word, cell)| cell.map(|cell| (word as u64, cell)));
        self.squares(held.clone().map(|(word, cell)| (self.geometry.word(panel, word), self.color(cell))));
        let place = held.clone().find(|(_, cell)| Some(*cell) == self.picked);
        self.pick(place.map(|(word, _)| self.geometry.word(panel, word)));
    }

    fn target(&self, panel: &Panel) {
        let at = |idx: usize| Cell { row: idx as u64 / TILE, col: idx as u64 % TILE };
        let held = self.held.target.iter().enumerate().filter_map(|(idx, cell)| cell.map(|cell| (at(idx), cell)));
        self.squares(held.clone().map(|(place, cell)| (self.geometry.cell(panel, place), self.color(cell))));
        let place = held.clone().find(|(_, cell)| Some(*cell) == self.picked);
        self.pick(place.map(|(place, _)| self.geometry.cell(panel, place)));
    }

    fn pick(&self, square: Option<Rect>) {
        if let Some(square) = square {
            let stroke = self.tokens.stroke(2.0, self.tokens.ink);
            self.painter.rect_stroke(square.expand(1.0), CornerRadius::same(2), stroke, StrokeKind::Outside);
        }
    }

    fn arrows(&self) {
        for pair in self.geometry.panels.windows(2) {
            let (from, to) = (pair[0].grid.right(), pair[1].grid.left());
            let y = pair[0].grid.top() + self.geometry.side * TILE as f32 / 2.0;
            let inset = (to - from) * 0.22;
            let start = pos2(from + inset, y);
            self.painter.arrow(start, vec2(to - from - 2.0 * inset, 0.0), self.tokens.stroke(1.5, self.tokens.muted));
        }
    }

    /// The access of the step: the squares of its lanes, and for global memory the sectors around them.
    fn access(&self, step: &Step) {
        let kind = match step.stage {
            Stage::ReadSource => Kind::Source,
            Stage::StoreTile | Stage::LoadTile => Kind::Tile,
            Stage::WriteTarget => Kind::Target,
            Stage::Barrier => return,
        };
        let Some(panel) = self.geometry.panel(kind) else { return };
        if kind == Kind::Tile {
            let stroke = self.tokens.stroke(if self.geometry.side > 5.0 { 1.5 } else { 1.0 }, self.tokens.accent);
            for word in words(step) {
                let square = self.geometry.word(panel, word as u64);
                self.painter.rect_stroke(square, CornerRadius::ZERO, stroke, StrokeKind::Inside);
            }
            return;
        }
        self.sectors(panel, step);
    }

    fn sectors(&self, panel: &Panel, step: &Step) {
        let mut boxes: Vec<(u64, u64)> = step.cells.iter().map(|cell| (cell.row, cell.col / SECTOR_ELEMS)).collect();
        boxes.sort_unstable();
        boxes.dedup();
        let side = self.geometry.side;
        for (row, part) in boxes {
            let first = self.geometry.cell(panel, Cell { row, col: part * SECTOR_ELEMS });
            let sector = Rect::from_min_size(first.min, vec2(side * SECTOR_ELEMS as f32, side));
            let n_used = step.cells.iter().filter(|cell| cell.row == row && cell.col / SECTOR_ELEMS == part).count();
            if n_used < SECTOR_ELEMS as usize {
                hatch(
                    self.painter,
                    sector,
                    (side * 0.6).max(2.0),
                    Stroke::new(1.0, self.tokens.caution.gamma_multiply(0.7)),
                    false,
                );
            }
            self.painter.rect_stroke(
                sector,
                CornerRadius::same(1),
                Stroke::new(1.0, self.tokens.accent),
                StrokeKind::Middle,
            );
        }
        for cell in &step.cells {
            let used = self.geometry.cell(panel, *cell).shrink(side * 0.2);
            self.painter.rect_filled(used, CornerRadius::ZERO, self.tokens.accent);
        }
    }
}
