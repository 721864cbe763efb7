//! A byte grid: one square is a stated number of bytes; the parts follow each other, right and then down.

use super::Items;
use super::look::{Brush, Fill};
use egui::{Align2, Rect, Vec2, pos2, vec2};
use vramlab_kit::{GridLayout, Type};
use vramlab_lesson::figure::picture::{BytePicture, PartValue};
use vramlab_units::{Lang, show};

/// Squares of one part; the last one may be filled in part only.
fn n_squares(grid: &BytePicture, part: &PartValue) -> usize {
    (part.value / grid.square_bytes).ceil().clamp(0.0, 1e6) as usize
}

fn layout(brush: &Brush<'_>, grid: &BytePicture, width: f32) -> GridLayout {
    let n_cells: usize = grid.parts.iter().map(|part| n_squares(grid, part)).sum();
    // About as many columns as give four times the width of the height, in groups of eight.
    let wanted = ((n_cells as f32 * 4.0).sqrt() / 8.0).round() as usize * 8;
    let most = (width / brush.px(8.0)) as usize / 8 * 8;
    let n_columns = wanted.clamp(16, most.max(16)).min(128);
    GridLayout::fitted(n_cells, n_columns, 8, width, brush.px(22.0))
}

pub fn size(brush: &Brush<'_>, grid: &BytePicture, width: f32) -> Vec2 {
    let squares = layout(brush, grid, width).size();
    vec2(width, legend_height(brush, grid, width) + squares.y.max(brush.px(22.0)) + brush.px(6.0))
}

/// Name and size of a part, in the author's units.
fn entry(brush: &Brush<'_>, grid: &BytePicture, idx: usize) -> String {
    format!("{} {}", brush.say(&grid.parts[idx].label), size_of(grid, idx))
}

fn size_of(grid: &BytePicture, idx: usize) -> &str {
    grid.sizes.get(idx).map(String::as_str).unwrap_or_default()
}

fn legend_height(brush: &Brush<'_>, grid: &BytePicture, width: f32) -> f32 {
    let (mut x, mut n_rows) = (0.0, 1);
    for idx in 0..grid.parts.len() {
        let need = brush.width(&entry(brush, grid, idx), Type::Small) + brush.px(34.0);
        if x > 0.0 && x + need > width {
            n_rows += 1;
            x = 0.0;
        }
        x += need;
    }
    n_rows as f32 * brush.px(20.0) + brush.px(8.0)
}

pub fn paint(brush: &Brush<'_>, rect: Rect, grid: &BytePicture) -> Items {
    let mut items = Items::default();
    let layout = layout(brush, grid, rect.width());
    let (mut x, mut y) = (rect.left(), rect.top() + brush.px(9.0));
    let corner = pos2(rect.left(), rect.top() + legend_height(brush, grid, rect.width()));
    let n = grid.parts.len();
    let mut next = 0;
    for (idx, part) in grid.parts.iter().enumerate() {
        let fill = brush.fill(part.role, idx, n);
        let (text, count) = (entry(brush, grid, idx), n_squares(grid, part));
        let need = brush.width(&text, Type::Small) + brush.px(34.0);
        if x > rect.left() && x + need > rect.right() {
            (x, y) = (rect.left(), y + brush.px(20.0));
        }
        let square = Rect::from_center_size(pos2(x + brush.px(6.0), y), Vec2::splat(brush.px(12.0)));
        brush.block(square, fill, 2.0);
        brush.text(pos2(x + brush.px(18.0), y), Align2::LEFT_CENTER, &text, Type::Small, brush.tokens.muted);
        x += need;
        items.words.push(words(brush, grid, idx, count));
        for cell_idx in next..next + count {
            let cell = layout.rect_from_cell(cell_idx).translate(corner.to_vec2());
            let share = (part.value / grid.square_bytes - (cell_idx - next) as f64).clamp(0.0, 1.0) as f32;
            cell_on(brush, cell, fill, share);
            items.areas.push((cell, idx));
        }
        next += count;
    }
    items
}

/// A square, the last one of a part filled as far as the part goes.
fn cell_on(brush: &Brush<'_>, cell: Rect, fill: Fill, share: f32) {
    if share < 0.999 {
        let faint = match fill {
            Fill::Color(color) => brush.tokens.tint(color, 0.18),
            Fill::Area(_) => brush.tokens.sunken,
        };
        brush.painter.rect_filled(cell, 1.5, faint);
    }
    let filled = cell.with_max_x(cell.left() + cell.width() * share);
    if filled.width() > 0.3 {
        brush.block(filled, fill, 1.5);
    }
}

fn words(brush: &Brush<'_>, grid: &BytePicture, idx: usize, count: usize) -> String {
    let part = &grid.parts[idx];
    let (label, size, bytes) = (brush.say(&part.label), size_of(grid, idx), show::grouped(part.value));
    match brush.lang {
        Lang::Zh => format!("{label}：{size}（{bytes} B），{count} 格，一格 {}", grid.square),
        Lang::En => format!("{label}: {size} ({bytes} B), {count} squares of {}", grid.square),
    }
}
