//! Painting the bars: solid as it is, dashed as the mistake has it.

use super::answer::{Answer, Kept};
use super::layout::Geometry;
use super::question::{Mistake, Question};
use super::words;
use crate::ink;
use egui::{Align2, Color32, Painter, Rect, pos2};
use vramlab_kit::paint::dashed_rect;
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
        ink::text(painter, geometry.head.left_center(), Align2::LEFT_CENTER, title, font.clone(), tokens.ink);
        let most = answer.kept.iter().flat_map(|kept| [kept.request, kept.wrong]).fold(1.0, f64::max);
        for (row, kept) in answer.kept.iter().enumerate() {
            self.way(row, kept, most);
        }
        let n = answer.kept.len();
        let at = geometry.rows[n].left_top() - egui::vec2(0.0, tokens.px(6.0));
        ink::text(painter, at, Align2::LEFT_BOTTOM, words::WEIGHTS.get(*lang), font, tokens.ink);
        self.weights(n);
    }

    fn way(&self, row: usize, kept: &Kept, most: f64) {
        let Self { tokens, question, lang, .. } = self;
        let bar = self.geometry.bar(row, (kept.request / most) as f32);
        let has_mistake = matches!(question.mistake, Mistake::QueryHeads | Mistake::FullContext | Mistake::Gb);
        let wrong = has_mistake.then(|| self.geometry.bar(row, (kept.wrong / most) as f32));
        let after = words::after(kept, question.mistake, *lang);
        let per = words::per_token(kept.per_token);
        self.row(row, kept.way.name().get(*lang), &per, bar, wrong, &after, tokens.role(Role::KvCache));
    }

    fn weights(&self, first: usize) {
        let Self { tokens, question, lang, answer, .. } = self;
        let color = tokens.role(Role::Parameters);
        let whole = self.geometry.bar(first, 1.0);
        let name = words::TOTAL.get(*lang);
        self.row(first, name, "", whole, None, &words::weight(question.total_b, question.value_bytes), color);
        let share = (1.0 / answer.factors.params) as f32;
        let part = self.geometry.bar(first + 1, share);
        let is_wrong = question.mistake == Mistake::ActiveParams;
        let mut text = words::weight(question.active_b, question.value_bytes);
        if is_wrong {
            text += &words::times(1.0 / answer.factors.params);
        }
        let wrong = is_wrong.then_some(part);
        let name = words::ACTIVE.get(*lang);
        self.row(first + 1, name, "", part, wrong, &text, tokens.tint(color, if is_wrong { 0.15 } else { 0.5 }));
    }

    #[expect(clippy::too_many_arguments, reason = "the words and marks of one row")]
    fn row(&self, row: usize, name: &str, per: &str, bar: Rect, wrong: Option<Rect>, after: &str, color: Color32) {
        let Self { painter, tokens, geometry, .. } = self;
        let rect = geometry.rows[row];
        if self.over == Some(row) {
            painter.rect_filled(rect.expand2(egui::vec2(4.0, 0.0)), 4.0, tokens.sunken);
        }
        painter.rect_filled(bar, 2.0, color);
        if let Some(wrong) = wrong {
            dashed_rect(painter, wrong, 2.0, tokens.stroke(1.6, tokens.bad), tokens.px(5.0));
        }
        let font = tokens.font(Type::Note);
        let mono = tokens.font(Type::MonoSmall);
        let y = if geometry.is_narrow { rect.top() + rect.height() * 0.26 } else { rect.center().y };
        let named = ink::text(painter, pos2(rect.left(), y), Align2::LEFT_CENTER, name, font, tokens.ink);
        if geometry.is_narrow {
            let at = pos2(named.right() + tokens.px(8.0), y);
            ink::text(painter, at, Align2::LEFT_CENTER, per, mono.clone(), tokens.muted);
            ink::text(painter, pos2(rect.right(), y), Align2::RIGHT_CENTER, after, mono, tokens.ink);
            return;
        }
        ink::text(painter, pos2(geometry.per_at, y), Align2::LEFT_CENTER, per, mono.clone(), tokens.muted);
        let end = wrong.map_or(bar.right(), |wrong| wrong.right().max(bar.right()));
        ink::text(painter, pos2(end + tokens.px(8.0), y), Align2::LEFT_CENTER, after, mono, tokens.ink);
    }
}
