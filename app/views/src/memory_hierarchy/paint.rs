//! Painting the memory hierarchy. It sees the levels, the geometry and the tokens, and decides nothing.

use super::layout::{Geometry, Quantity, RowPlace};
use super::levels::Level;
use super::words;
use crate::ink;
use egui::{Align2, CornerRadius, Painter, Stroke, StrokeKind, pos2};
use vramlab_kit::{Tokens, Type};
use vramlab_units::Lang;

/// Everything that painting reads.
pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub levels: &'a [Level],
    pub quantity: Quantity,
    pub picked: usize,
}

impl Scene<'_> {
    pub fn paint(&self) {
        if let Some(row) = self.geometry.rows.get(self.picked) {
            let corner = CornerRadius::same(self.tokens.control_radius);
            self.painter.rect_filled(row.rect, corner, self.tokens.accent_soft);
        }
        self.grid();
        for (idx, (level, row)) in self.levels.iter().zip(&self.geometry.rows).enumerate() {
            self.row(level, row, idx == self.picked);
        }
    }

    fn grid(&self) {
        let Geometry { plot, axis, .. } = self.geometry;
        let font = self.tokens.font(Type::Small);
        let n_most = (plot.width() / self.tokens.px(64.0)) as usize;
        for tick in axis.ticks(n_most.max(2)) {
            let Some(share) = axis.share_from_value(tick) else { continue };
            let x = self.painter.round_to_pixel_center(plot.left() + plot.width() * share as f32);
            self.painter.vline(x, plot.y_range(), Stroke::new(1.0, self.tokens.grid));
            let text = words::value(self.quantity, tick);
            let half = ink::text_width(self.painter, &text, font.clone()) / 2.0;
            let (first, last) = (self.geometry.rect.left() + half, self.geometry.rect.right() - half);
            let at = pos2(x.clamp(first, last.max(first)), plot.bottom() + self.tokens.px(6.0));
            ink::text(self.painter, at, Align2::CENTER_TOP, text, font.clone(), self.tokens.muted);
        }
    }

    fn row(&self, level: &Level, row: &RowPlace, is_picked: bool) {
        let color = self.tokens.hierarchy(level.far);
        let edge = Stroke::new(1.0, self.tokens.tint(self.tokens.muted, 0.6));
        if row.bar[1].x > row.bar[0].x {
            let thick = self.tokens.px(5.0);
            let bar = egui::Rect::from_two_pos(row.bar[0], row.bar[1]).expand2(egui::vec2(0.0, thick / 2.0));
            self.painter.rect(bar, CornerRadius::same(2), color, edge, StrokeKind::Inside);
        }
        let corner = CornerRadius::same(3);
        let frame = if is_picked { self.tokens.stroke(2.0, self.tokens.accent) } else { edge };
        self.painter.rect(row.square, corner, color, frame, StrokeKind::Outside);
        self.names(level, row, is_picked);
        let text = words::value_of(self.quantity, level, self.lang);
        let font = self.tokens.font(Type::Mono);
        ink::text(self.painter, row.value, Align2::LEFT_CENTER, text, font, self.tokens.ink);
    }

    fn names(&self, level: &Level, row: &RowPlace, is_picked: bool) {
        let strong = self.tokens.font(if is_picked { Type::NoteStrong } else { Type::Note });
        let inset = self.tokens.px(8.0);
        let at = pos2(row.name.x + inset, row.name.y);
        ink::text(self.painter, at, Align2::LEFT_CENTER, level.name(self.lang), strong, self.tokens.ink);
        let small = self.tokens.font(Type::Small);
        let (at, anchor) = if self.geometry.is_wide {
            (pos2(row.place.x + inset, row.place.y), Align2::LEFT_CENTER)
        } else {
            (pos2(row.place.x - inset, row.place.y), Align2::RIGHT_CENTER)
        };
        ink::text(self.painter, at, anchor, level.place.get(self.lang), small, self.tokens.muted);
    }
}
