//! The byte grid: one square is a stated number of bytes; addresses run right, then down.

use crate::paint::{self, Area};
use crate::tokens::{Role, Tokens};
use egui::{Color32, EventFilter, Key, Pos2, Rect, Response, Sense, StrokeKind, Ui, Vec2, WidgetInfo, pos2, vec2};

/// What one square holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell {
    /// Data of a role, used.
    Role(Role),
    /// Data of a role that nobody asked for: moved along, not used.
    Faint(Role),
    Area(Area),
    /// A colour of a ramp, resolved by the caller from the tokens.
    Color(Color32),
}

/// Where the squares lie; pure geometry. Columns can be grouped (sectors of a line, say), with a wider gap between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridLayout {
    pub n_cells: usize,
    pub n_columns: usize,
    /// Columns in a group; 0 for no groups.
    pub group: usize,
    /// Side of a square.
    pub side: f32,
    pub gap: f32,
    pub group_gap: f32,
}

impl GridLayout {
    /// The largest squares, up to `most`, with which `n_columns` fit into `width`.
    pub fn fitted(n_cells: usize, n_columns: usize, group: usize, width: f32, most: f32) -> Self {
        let n_columns = n_columns.max(1);
        let (gap, group_gap) = (1.0, if group > 0 { 5.0 } else { 0.0 });
        let n_groups = if group > 0 { n_columns.div_ceil(group) } else { 1 };
        let gaps = (n_columns - 1) as f32 * gap + (n_groups - 1) as f32 * group_gap;
        let side = ((width - gaps) / n_columns as f32).clamp(1.0, most.max(1.0));
        Self { n_cells, n_columns, group, side, gap, group_gap }
    }

    pub fn size(&self) -> Vec2 {
        let n_rows = self.n_cells.div_ceil(self.n_columns);
        let right = self.left(self.n_columns.saturating_sub(1)) + self.side;
        vec2(right, (n_rows as f32 * (self.side + self.gap) - self.gap).max(0.0))
    }

    pub fn rect_from_cell(&self, cell_idx: usize) -> Rect {
        let (row, column) = (cell_idx / self.n_columns, cell_idx % self.n_columns);
        Rect::from_min_size(pos2(self.left(column), row as f32 * (self.side + self.gap)), Vec2::splat(self.side))
    }

    /// The square at `at`; its share of the gap belongs to it.
    pub fn cell_from_pos(&self, at: Pos2) -> Option<usize> {
        if at.x < 0.0 || at.y < 0.0 || at.x > self.size().x || at.y > self.size().y {
            return None;
        }
        let row = (at.y / (self.side + self.gap)) as usize;
        let column = (0..self.n_columns).rev().find(|column| at.x >= self.left(*column))?;
        let cell_idx = row * self.n_columns + column;
        (cell_idx < self.n_cells).then_some(cell_idx)
    }

    fn left(&self, column: usize) -> f32 {
        let n_group_gaps = column.checked_div(self.group).unwrap_or_default();
        column as f32 * (self.side + self.gap) + n_group_gaps as f32 * self.group_gap
    }
}

/// What the reader points at.
pub struct GridResponse {
    pub response: Response,
    pub hovered: Option<usize>,
    /// The square that was clicked, or reached by arrow keys.
    pub chosen: Option<usize>,
}

/// Draws the grid and lets the reader choose a square by pointer or arrow keys; `chosen` is the one that is framed.
/// `name` says what the grid shows, and `describe` what a square holds, for screen readers.
pub fn byte_grid(
    ui: &mut Ui,
    tokens: &Tokens,
    layout: &GridLayout,
    name: &str,
    chosen: Option<usize>,
    describe: &dyn Fn(usize) -> String,
    cell: &dyn Fn(usize) -> Cell,
) -> GridResponse {
    let (rect, response) = ui.allocate_exact_size(layout.size(), Sense::click());
    let offset = rect.min.to_vec2();
    if ui.is_rect_visible(rect) {
        let visible = ui.clip_rect();
        for cell_idx in 0..layout.n_cells {
            let square = layout.rect_from_cell(cell_idx).translate(offset);
            if visible.intersects(square) {
                paint_cell(ui, tokens, square, cell(cell_idx));
            }
        }
    }
    let at = |pos: Pos2| layout.cell_from_pos(pos - offset);
    let hovered = response.hover_pos().and_then(at);
    let clicked = if response.clicked() { response.interact_pointer_pos().and_then(at) } else { None };
    let moved = moved_by_keys(ui, &response, layout, chosen);
    let chosen = clicked.or(moved).or(chosen);
    for (marked, stroke) in [(hovered, tokens.stroke(1.0, tokens.muted)), (chosen, tokens.stroke(2.0, tokens.accent))] {
        if let Some(cell_idx) = marked.filter(|cell_idx| *cell_idx < layout.n_cells) {
            let square = layout.rect_from_cell(cell_idx).translate(offset).expand(1.0);
            ui.painter().rect_stroke(square, 2.0, stroke, StrokeKind::Outside);
        }
    }
    paint::focus_ring(ui, tokens, &response, rect, 4.0);
    response.widget_info(|| {
        let what = chosen.map(|cell_idx| format!("{name}. {}", describe(cell_idx)));
        WidgetInfo::labeled(egui::Role::Grid, true, what.unwrap_or_else(|| name.to_owned()))
    });
    GridResponse { response, hovered, chosen }
}

fn moved_by_keys(ui: &Ui, response: &Response, layout: &GridLayout, from: Option<usize>) -> Option<usize> {
    if !response.has_focus() || layout.n_cells == 0 {
        return None;
    }
    let filter = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    let presses = |key| ui.input(|input| input.num_presses(key)) as isize;
    let along = presses(Key::ArrowRight) - presses(Key::ArrowLeft);
    let down = presses(Key::ArrowDown) - presses(Key::ArrowUp);
    if along == 0 && down == 0 {
        return None;
    }
    let Some(from) = from else { return Some(0) };
    let to = from as isize + along + down * layout.n_columns as isize;
    usize::try_from(to).ok().filter(|cell_idx| *cell_idx < layout.n_cells)
}

fn paint_cell(ui: &Ui, tokens: &Tokens, square: Rect, cell: Cell) {
    let painter = ui.painter();
    match cell {
        Cell::Role(role) => {
            painter.rect_filled(square, 1.5, tokens.role(role));
        }
        Cell::Faint(role) => {
            painter.rect_filled(square, 1.5, tokens.tint(tokens.role(role), 0.2));
        }
        Cell::Color(color) => {
            painter.rect_filled(square, 1.5, color);
        }
        Cell::Area(kind) => paint::area(painter, tokens, square, kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> GridLayout {
        GridLayout { n_cells: 20, n_columns: 8, group: 4, side: 10.0, gap: 1.0, group_gap: 5.0 }
    }

    #[test]
    fn addresses_run_right_then_down() {
        let layout = layout();
        assert_eq!(layout.rect_from_cell(0).min, pos2(0.0, 0.0));
        assert_eq!(layout.rect_from_cell(3).min, pos2(33.0, 0.0));
        assert_eq!(layout.rect_from_cell(4).min, pos2(49.0, 0.0)); // 4 × 11 and one group gap
        assert_eq!(layout.rect_from_cell(8).min, pos2(0.0, 11.0));
        assert_eq!(layout.size(), vec2(92.0, 32.0)); // 7 × 11 + 5 + 10; 3 rows
    }

    #[test]
    fn every_square_is_found_again_and_nothing_outside() {
        let layout = layout();
        for cell_idx in 0..layout.n_cells {
            assert_eq!(layout.cell_from_pos(layout.rect_from_cell(cell_idx).center()), Some(cell_idx));
        }
        assert_eq!(layout.cell_from_pos(pos2(60.0, 25.0)), None); // the last row ends after 4 squares
        assert_eq!(layout.cell_from_pos(pos2(-1.0, 5.0)), None);
        assert_eq!(layout.cell_from_pos(pos2(5.0, 33.0)), None);
    }

    #[test]
    fn squares_fit_the_width() {
        let layout = GridLayout::fitted(128, 32, 8, 500.0, 40.0);
        assert!(layout.size().x <= 500.0 && layout.side > 14.0, "{layout:?}");
        assert_eq!(GridLayout::fitted(4, 4, 0, 500.0, 20.0).side, 20.0);
        assert_eq!(GridLayout::fitted(4, 0, 0, 0.0, 20.0).side, 1.0);
    }
}
