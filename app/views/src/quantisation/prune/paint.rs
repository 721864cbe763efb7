//! Painting the tile and what is stored of it.

use super::layout::Geometry;
use super::{Answer, SIDE, words};
use crate::ink;
use egui::{Align2, Color32, CornerRadius, Painter, Rect, StrokeKind, pos2, vec2};
use vramlab_kit::paint::{Area, area};
use vramlab_kit::{Role, Tokens, Type};
use vramlab_units::Lang;

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub values: &'a [f64; 16],
    pub answer: &'a Answer,
    pub looked: usize,
}

impl Scene<'_> {
    pub fn paint(&self) {
        self.heads();
        let most = self.values.iter().fold(0.1_f64, |most, value| most.max(value.abs()));
        for row in 0..SIDE {
            for col in 0..SIDE {
                self.cell(row, col, most);
            }
            self.stored(row, most);
            self.nibble(row);
        }
    }

    fn heads(&self) {
        let Self { painter, tokens, geometry, lang, .. } = self;
        for ((rect, name), size) in [geometry.tile, geometry.kept, geometry.bits]
            .into_iter()
            .zip(words::heads(*lang))
            .zip(words::sizes(self.answer))
        {
            let at = rect.left_top() - vec2(-2.0, tokens.px(22.0));
            ink::text(painter, at, Align2::LEFT_BOTTOM, name, tokens.font(Type::Small), tokens.muted);
            let at = rect.left_top() - vec2(-2.0, tokens.px(5.0));
            ink::text(painter, at, Align2::LEFT_BOTTOM, size, tokens.font(Type::MonoSmall), tokens.ink);
        }
    }

    fn value(&self, rect: Rect, value: f64, color: Color32) {
        let is_small = self.geometry.unit < self.tokens.px(44.0);
        let font = self.tokens.font(if is_small { Type::MonoSmall } else { Type::Mono });
        ink::text(self.painter, rect.center(), Align2::CENTER_CENTER, words::value(value), font, color);
    }

    /// As high as the magnitude.
    fn fill(&self, rect: Rect, value: f64, most: f64, color: Color32) {
        let height = rect.height() * (value.abs() / most) as f32;
        let bar = Rect::from_min_max(pos2(rect.left(), rect.bottom() - height), rect.max);
        self.painter.rect_filled(bar, CornerRadius::same(2), self.tokens.tint(color, 0.38));
    }

    fn cell(&self, row: usize, col: usize, most: f64) {
        let Self { painter, tokens, geometry, .. } = self;
        let rect = geometry.cell(row, col);
        let value = self.values[row * SIDE + col];
        let stays = self.answer.keeps(row, col);
        if stays {
            painter.rect_filled(rect, CornerRadius::same(3), tokens.sunken);
            self.fill(rect, value, most, tokens.role(Role::Parameters));
            let edge = tokens.stroke(1.6, tokens.role(Role::Parameters));
            painter.rect_stroke(rect, CornerRadius::same(3), edge, StrokeKind::Inside);
        } else {
            area(painter, tokens, rect, Area::CachedFree);
        }
        if stays {
            self.value(rect, value, tokens.ink);
        } else {
            let font = tokens.font(Type::MonoSmall);
            ink::text_on(
                painter,
                rect.center(),
                Align2::CENTER_CENTER,
                words::value(value),
                font,
                tokens.muted,
                tokens.surface,
            );
        }
        if self.looked == row * SIDE + col {
            painter.rect_stroke(rect.expand(2.0), 4.0, tokens.stroke(2.0, tokens.accent), StrokeKind::Inside);
        }
    }

    fn stored(&self, row: usize, most: f64) {
        let Self { painter, tokens, geometry, .. } = self;
        for at in 0..2 {
            let rect = geometry.kept_cell(row, at);
            let value = self.answer.kept.get(2 * row + at).copied().unwrap_or_default();
            painter.rect_filled(rect, CornerRadius::same(3), tokens.sunken);
            self.fill(rect, value, most, tokens.role(Role::Parameters));
            self.value(rect, value, tokens.ink);
        }
    }

    /// Two bits a place, the second kept value's on the left, and the number that they make.
    fn nibble(&self, row: usize) {
        let Self { painter, tokens, geometry, .. } = self;
        let nibble = self.answer.nibbles.get(row).copied().unwrap_or_default();
        let is_looked = self.looked / SIDE == row;
        let color = tokens.role(Role::Workspace);
        for at in 0..4 {
            let rect = geometry.bit(row, at);
            let is_set = nibble >> (3 - at) & 1 == 1;
            painter.rect_filled(rect, CornerRadius::same(2), tokens.tint(color, if is_set { 0.55 } else { 0.12 }));
            let font = tokens.font(Type::MonoSmall);
            ink::text(painter, rect.center(), Align2::CENTER_CENTER, if is_set { "1" } else { "0" }, font, tokens.ink);
        }
        let middle = geometry.bit(row, 2).left() - 1.5;
        let (top, bottom) = (geometry.bit(row, 0).top(), geometry.bit(row, 0).bottom());
        painter.vline(middle, top - 2.0..=bottom + 2.0, tokens.stroke(1.0, tokens.muted));
        let color = if is_looked { tokens.accent } else { tokens.muted };
        let at = pos2(geometry.bit(row, 0).left(), bottom + tokens.px(2.0));
        let text = words::nibble(nibble);
        ink::text(painter, at, Align2::LEFT_TOP, text, tokens.font(Type::MonoSmall), color);
    }
}
