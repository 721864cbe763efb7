//! Painting the bars and the card. It sees answers, geometry and tokens, decides nothing.

use super::answer::{Answer, Row};
use super::layout::Geometry;
use super::question::{OWN, Question, Shows};
use super::words;
use crate::ink;
use crate::kv_lab::bytes::words::bytes;
use egui::{Align2, Painter, Rect, StrokeKind, pos2, vec2};
use vramlab_kit::paint::{dashed_rect, hatch};
use vramlab_kit::{Role, Tokens, Type};
use vramlab_units::Lang;

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub question: &'a Question,
    pub answer: &'a Answer,
    pub over: Option<usize>,
}

impl Scene<'_> {
    pub fn paint(&self) {
        let Self { painter, tokens, geometry, lang, answer, question, .. } = self;
        let font = tokens.font(Type::NoteStrong);
        let title = words::title(question, *lang);
        let is_room = ink::text_width(painter, &title, font.clone()) <= geometry.head.width();
        let title = if is_room { title } else { words::short_title(question, *lang) };
        ink::text(painter, geometry.head.left_center(), Align2::LEFT_CENTER, title, font, tokens.ink);
        let most = answer.rows.iter().map(|row| self.shown(row)).fold(1.0, f64::max);
        for (idx, row) in answer.rows.iter().enumerate() {
            self.row(idx, row, most);
        }
        self.card();
    }

    fn shown(&self, row: &Row) -> f64 {
        match self.question.shows {
            Shows::Token => row.per_token,
            Shows::Request => row.request,
        }
    }

    fn row(&self, idx: usize, row: &Row, most: f64) {
        let Self { painter, tokens, geometry, lang, answer, .. } = self;
        let rect = geometry.rows[idx];
        let ground = rect.expand2(vec2(4.0, 0.0));
        if idx == answer.at {
            painter.rect_filled(ground, 4.0, tokens.accent_soft);
        } else if self.over == Some(idx) {
            painter.rect_filled(ground, 4.0, tokens.sunken);
        }
        let bar = geometry.bar(idx, (self.shown(row) / most) as f32);
        painter.rect_filled(bar, 2.0, tokens.role(Role::KvCache));
        // The part of the layers that forget what is behind the window.
        if row.shape.window_layers > 0 && self.question.shows == Shows::Token {
            let part = row.shape.window_layers as f32 / row.shape.layers as f32;
            let kept = bar.with_min_x(bar.right() - bar.width() * part);
            painter.rect_filled(kept, 2.0, tokens.tint(tokens.role(Role::KvCache), 0.35));
            hatch(painter, kept, tokens.px(5.0), tokens.stroke(1.0, tokens.role(Role::KvCache)), false);
        }
        let font = tokens.font(if row.id == OWN { Type::NoteStrong } else { Type::Note });
        let y = if geometry.is_narrow { rect.top() + rect.height() * 0.3 } else { rect.center().y };
        ink::text(painter, pos2(rect.left(), y), Align2::LEFT_CENTER, row.name.get(*lang), font, tokens.ink);
        let mono = tokens.font(Type::MonoSmall);
        let said = bytes(self.shown(row));
        if geometry.is_narrow {
            ink::text(painter, pos2(rect.right(), y), Align2::RIGHT_CENTER, said, mono, tokens.ink);
        } else {
            let at = pos2(bar.right() + tokens.px(8.0), y);
            ink::text(painter, at, Align2::LEFT_CENTER, said, mono, tokens.ink);
        }
    }

    /// Weights, cache and what is free of one card; what does not fit sticks out beyond its end.
    fn card(&self) {
        let Self { painter, tokens, geometry, lang, answer, question, .. } = self;
        let (fit, name) = (answer.fit, answer.row().name.get(*lang));
        let most = fit.room.max(fit.used());
        let room = geometry.on_card(0.0, fit.room, most);
        let up = geometry.card.left_top() - vec2(0.0, tokens.px(7.0));
        let (title, font) = (words::card_title(question, name, *lang), tokens.font(Type::NoteStrong));
        let is_room = ink::text_width(painter, &title, font.clone()) <= geometry.card.width();
        let title = if is_room { title } else { words::short_card_title(question, name) };
        ink::text(painter, up, Align2::LEFT_BOTTOM, title, font, tokens.ink);
        let weights = fit.weights.unwrap_or(0.0);
        let parts = [
            (words::WEIGHTS, geometry.on_card(0.0, weights, most), tokens.role(Role::Parameters)),
            (words::CACHE, geometry.on_card(weights, fit.used(), most), tokens.role(Role::KvCache)),
        ];
        for (_, rect, color) in parts {
            painter.rect_filled(rect, 1.0, color);
        }
        painter.rect_stroke(room, 2.0, tokens.stroke(1.5, tokens.ink), StrokeKind::Outside);
        if !fit.fits() {
            let over = geometry.on_card(fit.room, fit.used(), most);
            dashed_rect(painter, over, 1.0, tokens.stroke(2.0, tokens.bad), tokens.px(5.0));
        }
        self.marks(room, &parts.map(|(name, rect, _)| (name.get(*lang), rect)));
    }

    /// Names under the parts, and how much is free or missing at the right.
    fn marks(&self, room: Rect, parts: &[(&str, Rect)]) {
        let Self { painter, tokens, geometry, lang, answer, .. } = self;
        let fit = answer.fit;
        let font = tokens.font(Type::Small);
        let low = geometry.card.bottom() + tokens.px(4.0);
        let free = fit.room - fit.used();
        let (text, color) = if fit.fits() {
            (format!("{} {}", words::FREE.get(*lang), words::size(free)), tokens.muted)
        } else {
            (format!("{} {}", words::OVER.get(*lang), words::size(-free)), tokens.bad)
        };
        let end = pos2(geometry.card.right(), low);
        let end = ink::text(painter, end, Align2::RIGHT_TOP, text, font.clone(), color);
        let mut from = room.left();
        for ((name, rect), bytes) in parts.iter().zip([fit.weights.unwrap_or(0.0), fit.cache]) {
            let text = format!("{name} {}", words::size(bytes));
            let x = rect.left().max(from);
            let wide = ink::text_width(painter, &text, font.clone());
            if bytes > 0.0 && x + wide + tokens.space.s < end.left() {
                let put = ink::text(painter, pos2(x, low), Align2::LEFT_TOP, text, font.clone(), tokens.muted);
                from = put.right() + tokens.px(10.0);
            }
        }
    }
}
