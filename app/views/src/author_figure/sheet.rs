//! A table of live numbers. A table that is wider than the page scrolls inside itself.

use super::Items;
use super::look::Brush;
use egui::{Rect, Stroke, Vec2, pos2, vec2};
use vramlab_kit::Type;
use vramlab_lesson::figure::picture::{TablePicture, TableRow};
use vramlab_units::Localized;
use vramlab_units::show::{grouped_with_unit, number};

const ROW: f32 = 30.0;

struct Layout {
    /// The first is that of the row names.
    widths: Vec<f32>,
    head: f32,
}

fn layout(brush: &Brush<'_>, sheet: &TablePicture, width: f32) -> Layout {
    let pad = brush.px(20.0);
    let names = sheet.rows.iter().map(|row| brush.width(brush.say(&row.label), Type::Note));
    let corner = brush.width(brush.say(&sheet.row_head), Type::Small).min(brush.px(130.0));
    let mut widths = vec![names.fold(corner, f32::max).min(brush.px(220.0)) + pad];
    for (idx, (label, unit)) in sheet.columns.iter().enumerate() {
        let cells = sheet.rows.iter().map(|row| brush.width(&cell(row, idx, unit), Type::Mono));
        let head = brush.width(brush.say(label), Type::Small).min(brush.px(130.0));
        widths.push(cells.fold(head, f32::max) + pad);
    }
    let total: f32 = widths.iter().sum();
    // Some room to spare goes to the columns; a wide page is not filled for its own sake.
    let spare = ((width - total) / widths.len() as f32).clamp(0.0, brush.px(48.0));
    widths.iter_mut().for_each(|width| *width += spare);
    let heads = std::iter::once(&sheet.row_head).chain(sheet.columns.iter().map(|(label, _)| label));
    let head = heads.zip(&widths).map(|(label, width)| head(brush, label, *width).size().y).fold(0.0, f32::max);
    Layout { widths, head: head + brush.px(12.0) }
}

fn head(brush: &Brush<'_>, label: &Localized, width: f32) -> std::sync::Arc<egui::Galley> {
    brush.wrapped(brush.say(label), Type::Small, brush.tokens.muted, width - brush.px(12.0))
}

/// A cell's number with its unit.
fn cell(row: &TableRow, idx: usize, unit: &str) -> String {
    match row.cells.get(idx).copied().flatten() {
        Some(value) => grouped_with_unit(value, unit),
        None => number(f64::NAN), // the sign for "no value"
    }
}

pub fn size(brush: &Brush<'_>, sheet: &TablePicture, width: f32) -> Vec2 {
    let layout = layout(brush, sheet, width);
    vec2(layout.widths.iter().sum(), layout.head + sheet.rows.len() as f32 * brush.px(ROW) + brush.px(4.0))
}

pub fn paint(brush: &Brush<'_>, rect: Rect, sheet: &TablePicture) -> Items {
    let mut items = Items::default();
    let (layout, tokens, painter) = (layout(brush, sheet, rect.width()), brush.tokens, &brush.painter);
    let corner = head(brush, &sheet.row_head, layout.widths[0]);
    let foot = rect.top() + layout.head - brush.px(6.0);
    painter.galley(pos2(rect.left() + brush.px(6.0), foot - corner.size().y), corner, tokens.muted);
    let mut right = rect.left() + layout.widths[0];
    for ((label, _), width) in sheet.columns.iter().zip(layout.widths.iter().skip(1)) {
        right += width;
        let text = head(brush, label, *width);
        let at = pos2(right - text.size().x - brush.px(8.0), foot - text.size().y);
        painter.galley(at, text, tokens.muted);
    }
    let line = rect.top() + layout.head;
    painter.hline(rect.x_range(), line, Stroke::new(1.0, tokens.line));
    for (row_idx, row) in sheet.rows.iter().enumerate() {
        let top = line + row_idx as f32 * brush.px(ROW);
        let area = Rect::from_min_size(pos2(rect.left(), top), vec2(rect.width(), brush.px(ROW)));
        if row.is_current {
            painter.rect_filled(area.shrink(1.0), f32::from(tokens.control_radius) / 2.0, tokens.accent_soft);
        }
        row_on(brush, area, sheet, row, &layout);
        items.push(area, words(brush, sheet, row));
        if row_idx + 1 < sheet.rows.len() {
            painter.hline(rect.x_range(), area.bottom(), Stroke::new(1.0, tokens.grid));
        }
    }
    items
}

fn row_on(brush: &Brush<'_>, area: Rect, sheet: &TablePicture, row: &TableRow, layout: &Layout) {
    let (tokens, painter) = (brush.tokens, &brush.painter);
    let name = brush.cut(brush.say(&row.label), Type::Note, tokens.ink, layout.widths[0] - brush.px(12.0));
    let middle = |height: f32| area.center().y - height / 2.0;
    painter.galley(pos2(area.left() + brush.px(6.0), middle(name.size().y)), name, tokens.ink);
    let mut right = area.left() + layout.widths[0];
    for (idx, ((_, unit), width)) in sheet.columns.iter().zip(layout.widths.iter().skip(1)).enumerate() {
        right += width;
        let text = brush.cut(&cell(row, idx, unit), Type::Mono, tokens.ink, *width);
        painter.galley(pos2(right - text.size().x - brush.px(8.0), middle(text.size().y)), text, tokens.ink);
    }
}

fn words(brush: &Brush<'_>, sheet: &TablePicture, row: &TableRow) -> String {
    let is_zh = brush.lang == vramlab_units::Lang::Zh;
    let cells = sheet.columns.iter().enumerate().map(|(idx, (label, unit))| {
        let colon = if is_zh { "：" } else { ": " };
        format!("{}{colon}{}", brush.say(label), cell(row, idx, unit))
    });
    let cells = cells.collect::<Vec<_>>().join(if is_zh { "，" } else { ", " });
    match brush.say(&row.label) {
        "" => cells,
        name => format!("{name}{}{cells}", if is_zh { "。" } else { ". " }),
    }
}
