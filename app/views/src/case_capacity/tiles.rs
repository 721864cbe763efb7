//! The picture as the decoder sees it: one piece, or tiles that overlap, with those that cover nothing new.

use super::words;
use egui::{Rect, Response, RichText, Sense, StrokeKind, Ui, pos2, vec2};
use vramlab_kit::{Role, Tokens, Type};
use vramlab_model::diffusion_peak::{tiles, tiles_started};
use vramlab_units::Lang;

const TILE: u64 = 512;
const OVERLAP: u64 = 128;
const SIDE: f32 = 132.0;

/// The tiles along one side: where each starts and ends, in pixels, those last that lie inside the one before.
pub fn spans(side: u64, is_tiled: bool) -> Vec<(u64, u64)> {
    if !is_tiled {
        return vec![(0, side)];
    }
    let n = tiles_started(side, TILE, OVERLAP);
    (0..n).map(|idx| (idx * (TILE - OVERLAP), (idx * (TILE - OVERLAP) + TILE).min(side))).collect()
}

/// Tiles that cover the picture, and tiles that a loop over their starts makes.
pub fn counts(side: u64, is_tiled: bool) -> (u64, u64) {
    if is_tiled { (tiles(side, TILE, OVERLAP).pow(2), tiles_started(side, TILE, OVERLAP).pow(2)) } else { (1, 1) }
}

pub fn ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, side: u64, is_tiled: bool) {
    let room = ui.available_width();
    let square = tokens.px(SIDE);
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = tokens.space.l;
        let response = picture_ui(ui, tokens, square, side, is_tiled);
        let text = words::tiles(side, counts(side, is_tiled), lang);
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Figure, true, &text));
        ui.vertical(|ui| {
            ui.set_max_width((room - square - tokens.space.l).max(tokens.px(120.0)));
            ui.label(RichText::new(words::TILES.get(lang)).font(tokens.font(Type::NoteStrong)).color(tokens.ink));
            let text = RichText::new(text).font(tokens.font(Type::Note)).color(tokens.muted);
            ui.add(egui::Label::new(text).wrap());
        });
    });
}

fn picture_ui(ui: &mut Ui, tokens: &Tokens, square: f32, side: u64, is_tiled: bool) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(square, square), Sense::hover());
    let area = rect.shrink(1.0);
    let painter = ui.painter();
    painter.rect_filled(area, 0.0, tokens.sunken);
    let color = tokens.role(Role::Activations);
    let scale = area.width() / side as f32;
    let along = spans(side, is_tiled);
    let n_cover = if is_tiled { tiles(side, TILE, OVERLAP) as usize } else { 1 };
    for (row, y) in along.iter().enumerate() {
        for (column, x) in along.iter().enumerate() {
            let tile = Rect::from_min_max(
                area.min + vec2(x.0 as f32, y.0 as f32) * scale,
                area.min + vec2(x.1 as f32, y.1 as f32) * scale,
            );
            let is_needed = row < n_cover && column < n_cover;
            let (fill, edge) = if is_needed { (color, color) } else { (tokens.caution, tokens.caution) };
            // Overlaps are darker because they are painted twice.
            painter.rect_filled(tile, 0.0, fill.gamma_multiply(0.22));
            painter.rect_stroke(tile, 0.0, tokens.stroke(1.0, edge.gamma_multiply(0.8)), StrokeKind::Inside);
        }
    }
    let ends = [pos2(area.left(), area.top()), pos2(area.right(), area.bottom())];
    painter.rect_stroke(Rect::from_two_pos(ends[0], ends[1]), 0.0, tokens.stroke(1.2, tokens.ink), StrokeKind::Outside);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_the_picture_and_the_last_row_adds_nothing() {
        for side in [512, 768, 1024, 1536, 2048] {
            let along = spans(side, true);
            let n = tiles(side, TILE, OVERLAP) as usize;
            assert_eq!(along[n - 1].1, side, "{n} tiles reach the end of {side}");
            assert!(along.windows(2).all(|pair| pair[1].0 <= pair[0].1), "no gap");
            assert!(along[n..].iter().all(|(from, to)| *from >= along[n - 1].0 && *to == side));
        }
        assert_eq!((counts(2048, true), counts(1024, true), counts(2048, false)), ((25, 36), (9, 9), (1, 1)));
    }
}
