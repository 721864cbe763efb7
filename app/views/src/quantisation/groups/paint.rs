//! Painting the row of weights and the number line of one group.

use super::layout::Geometry;
use super::question::{Answer, N, Question};
use super::words;
use crate::ink;
use egui::{Align2, CornerRadius, Painter, Rect, StrokeKind, pos2, vec2};
use vramlab_kit::{Role, Tokens, Type};
use vramlab_units::Lang;
use vramlab_units::show::with_unit;

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub question: &'a Question,
    pub answer: &'a Answer,
    /// The weight that is looked at.
    pub looked: usize,
}

impl Scene<'_> {
    pub fn paint(&self) {
        self.axis();
        self.groups();
        self.weights();
        self.line();
        self.trade();
    }

    fn group(&self) -> usize {
        self.looked / self.question.group as usize
    }

    fn title(&self, rect: Rect, text: &str) {
        let at = pos2(self.geometry.rect.left(), rect.top() - self.tokens.px(7.0));
        let font = self.tokens.font(Type::Small);
        ink::text(self.painter, at, Align2::LEFT_BOTTOM, text, font, self.tokens.muted);
    }

    fn axis(&self) {
        let Self { painter, tokens, geometry, lang, .. } = self;
        let title = if geometry.is_narrow { words::ROW_SHORT } else { words::ROW };
        self.title(geometry.row, title.get(*lang));
        for value in [-40.0, -10.0, -4.0, 0.0, 4.0, 10.0, 40.0] {
            let y = geometry.y_of(value);
            let stroke = tokens.stroke(1.0, if value == 0.0 { tokens.line } else { tokens.grid });
            painter.hline(geometry.row.x_range(), y, stroke);
            if value.abs() == 10.0 {
                continue;
            }
            let at = pos2(geometry.row.left() - tokens.px(5.0), y);
            let text = format!("{value:.0}").replace('-', "−");
            ink::text(painter, at, Align2::RIGHT_CENTER, text, tokens.font(Type::MonoSmall), tokens.muted);
        }
    }

    /// The range that the codes of each group span; a step is a fraction of it.
    fn groups(&self) {
        let Self { painter, tokens, geometry, answer, .. } = self;
        let size = self.question.group as usize;
        let codes = words::codes(self.question.bits);
        for group in 0..N / size {
            let wide = geometry.row.width() / N as f32;
            let left = geometry.row.left() + wide * (group * size) as f32;
            let right = left + wide * size as f32;
            let reach = answer.scale(group) * codes;
            let rect = Rect::from_min_max(pos2(left, geometry.y_of(reach)), pos2(right, geometry.y_of(-reach)));
            let is_looked = group == self.group();
            let fill = tokens.tint(tokens.role(Role::Workspace), if is_looked { 0.28 } else { 0.12 });
            painter.rect_filled(rect.shrink2(vec2(1.0, 0.0)), CornerRadius::same(2), fill);
            if is_looked {
                let stroke = tokens.stroke(1.4, tokens.role(Role::Workspace));
                painter.rect_stroke(rect.shrink2(vec2(1.0, 0.0)), CornerRadius::same(2), stroke, StrokeKind::Inside);
            }
        }
    }

    fn weights(&self) {
        let Self { painter, tokens, geometry, answer, .. } = self;
        let color = tokens.role(Role::Parameters);
        let wide = (geometry.row.width() / N as f32 * 0.62).max(0.8);
        for (at, value) in answer.values.iter().enumerate() {
            let x = geometry.x_of(at);
            let (a, b) = (geometry.y_of(0.0), geometry.y_of(*value));
            painter.vline(x, a.min(b)..=a.max(b), egui::Stroke::new(wide, color));
        }
        let at = self.question.outlier_at;
        let place = pos2(geometry.x_of(at), geometry.y_of(answer.values[at]));
        ink::grip(painter, tokens, place, self.question.outlier.is_some());
        if self.looked != at {
            let place = pos2(geometry.x_of(self.looked), geometry.y_of(answer.values[self.looked]));
            painter.circle_stroke(place, tokens.px(4.0), tokens.stroke(1.6, tokens.accent));
        }
    }

    /// The group that is looked at: a tick a code, a dot a weight.
    fn line(&self) {
        let Self { painter, tokens, geometry, answer, lang, .. } = self;
        let (size, group) = (self.question.group as usize, self.group());
        let (scale, codes) = (answer.scale(group), words::codes(self.question.bits));
        self.title(geometry.line, &words::line(group, scale, self.question, *lang));
        let reach = scale * codes;
        let rect = geometry.line;
        let x_of = |value: f64| rect.center().x + rect.width() * 0.48 * (value / reach.max(1e-9)) as f32;
        let base = rect.bottom() - tokens.px(16.0);
        painter.hline(rect.x_range(), base, tokens.stroke(1.2, tokens.muted));
        let n = codes as i64;
        for code in -n..=n {
            let x = x_of(scale * code as f64);
            let is_named = n <= 7 || code % 32 == 0 || code.abs() == n;
            let height = tokens.px(if is_named { 7.0 } else { 4.0 });
            painter.vline(x, base - height / 2.0..=base + height / 2.0, tokens.stroke(1.0, tokens.muted));
            if is_named && (n <= 7 || code.abs() != 128 - 32) {
                let text = code.to_string().replace('-', "−");
                let at = pos2(x, base + tokens.px(4.0));
                ink::text(painter, at, Align2::CENTER_TOP, text, tokens.font(Type::MonoSmall), tokens.muted);
            }
        }
        let color = tokens.role(Role::Parameters);
        for at in group * size..(group + 1) * size {
            // Dots stand apart by a fixed rule, so that a heap is seen as one.
            let y = base - tokens.px(9.0 + (at * 7 % 11) as f32 * 2.4);
            let is_looked = at == self.looked;
            let radius = tokens.px(if is_looked { 4.0 } else { 2.2 });
            let color = if is_looked { tokens.accent } else { tokens.tint(color, 0.75) };
            painter.circle_filled(pos2(x_of(answer.values[at]), y), radius, color);
        }
        let end = with_unit(reach, "σ");
        let at = pos2(rect.right(), rect.top() - tokens.px(7.0));
        ink::text(painter, at, Align2::RIGHT_BOTTOM, format!("± {end}"), tokens.font(Type::MonoSmall), tokens.ink);
    }
}
