//! Tables in prose: columns as wide as their text needs, or their share of the width; a hairline under each row.

use super::parse::Spans;
use super::{Page, job};
use crate::tokens::Type;
use egui::{Align, Layout, Rect, Ui, UiBuilder, pos2, vec2};
use pulldown_cmark::Alignment;

pub(super) fn table_ui(page: &mut Page<'_>, ui: &mut Ui, aligned: &[Alignment], rows: &[Vec<Spans>]) {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    if n_columns == 0 {
        return;
    }
    let tokens = page.tokens;
    let gap = tokens.space.m;
    let natural: Vec<f32> = (0..n_columns).map(|column| natural_width(page, ui, rows, column)).collect();
    let widths = column_widths(&natural, ui.available_width() - gap * (n_columns - 1) as f32);
    for (row_idx, row) in rows.iter().enumerate() {
        let is_head = row_idx == 0;
        let top = ui.cursor().top() + tokens.px(3.0);
        let (mut left, mut bottom) = (ui.cursor().left(), top);
        for (column, width) in widths.iter().enumerate() {
            if let Some(cell) = row.get(column) {
                let rect = Rect::from_min_size(pos2(left, top), vec2(*width, f32::INFINITY));
                let align = match aligned.get(column) {
                    Some(Alignment::Right) => Align::Max,
                    Some(Alignment::Center) => Align::Center,
                    _ => Align::Min,
                };
                let builder = UiBuilder::new().max_rect(rect).layout(Layout::top_down(align));
                let color = if is_head { tokens.muted } else { tokens.ink };
                let shown = ui.scope_builder(builder, |ui| page.spans_ui(ui, cell, color, Type::Note)).response;
                bottom = bottom.max(shown.rect.bottom());
            }
            left += width + gap;
        }
        let bottom = bottom + tokens.px(3.0);
        let row_rect = Rect::from_min_max(pos2(ui.cursor().left(), top), pos2(left - gap, bottom));
        ui.advance_cursor_after_rect(row_rect);
        ui.add_space(-ui.spacing().item_spacing.y);
        ui.painter().hline(row_rect.x_range(), bottom, tokens.hairline());
    }
    ui.add_space(ui.spacing().item_spacing.y);
}

fn natural_width(page: &Page<'_>, ui: &Ui, rows: &[Vec<Spans>], column: usize) -> f32 {
    let width = |spans: &Spans| {
        let mut job = job(page.tokens, spans, page.tokens.ink, Type::Note);
        job.wrap.max_width = f32::INFINITY;
        ui.painter().layout_job(job).size().x.ceil() + 1.0
    };
    rows.iter().filter_map(|row| row.get(column)).map(width).fold(0.0, f32::max)
}

/// Columns get what they need while that fits. When it does not, narrow ones still do, and the others share the rest.
fn column_widths(natural: &[f32], available: f32) -> Vec<f32> {
    if natural.iter().sum::<f32>() <= available {
        return natural.to_vec();
    }
    let mut order: Vec<usize> = (0..natural.len()).collect();
    order.sort_by(|a, b| natural[*a].total_cmp(&natural[*b]));
    let (mut rest, mut widths) = (available.max(1.0), vec![0.0; natural.len()]);
    for (place, column) in order.iter().enumerate() {
        let share = rest / (natural.len() - place) as f32;
        widths[*column] = natural[*column].min(share);
        rest -= widths[*column];
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::column_widths;

    #[test]
    fn narrow_columns_keep_their_width_and_wide_ones_share() {
        assert_eq!(column_widths(&[40.0, 60.0], 200.0), [40.0, 60.0]);
        assert_eq!(column_widths(&[40.0, 500.0, 900.0], 340.0), [40.0, 150.0, 150.0]);
        assert_eq!(column_widths(&[300.0, 20.0], 100.0), [80.0, 20.0]);
    }
}
