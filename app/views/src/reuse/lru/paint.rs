//! The picture of the stack: the strip of accesses, the chips, the curve of misses. Decides nothing.

use super::layout::{Geometry, Hit};
use super::question::{Answer, Question, Source};
use super::words;
use crate::ink;
use egui::{Align2, Color32, CornerRadius, Painter, Pos2, Rect, StrokeKind, pos2, vec2};
use vramlab_kit::{Tokens, Type};
use vramlab_units::Lang;
use vramlab_units::show::number;

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub question: &'a Question,
    pub answer: &'a Answer,
    /// Lines by their last use after the accesses that are over.
    pub stack: &'a [u32],
    /// Accesses that are over.
    pub now: usize,
    pub picked: Option<Hit>,
}

impl Scene<'_> {
    pub fn paint(&self) {
        self.strip();
        self.map();
        self.chips();
        self.curve();
    }

    fn is_hit(&self, idx: usize) -> bool {
        self.answer.distances[idx].is_some_and(|far| (far as u64) < self.question.lines)
    }

    fn hue(&self, line: u32) -> Color32 {
        match self.question.source {
            Source::Product => self.tokens.category(self.answer.matrix(line)),
            Source::Typed => self.tokens.category(line as usize),
        }
    }

    /// Name, mark and distance of each access that is shown.
    fn strip(&self) {
        let Self { painter, tokens, geometry, answer, .. } = self;
        for (nth, cell) in geometry.cells.iter().enumerate() {
            let idx = geometry.first + nth;
            let is_over = idx < self.now;
            let name = cell.with_max_y(cell.top() + tokens.px(24.0)).shrink(1.5);
            let line = answer.lines[idx];
            let share = if is_over { 0.35 } else { 0.1 };
            let corner = CornerRadius::same(3);
            painter.rect_filled(name, corner, tokens.tint(self.hue(line), share));
            let color = if is_over { tokens.ink } else { tokens.muted };
            if idx + 1 == self.now || self.picked == Some(Hit::Access(idx)) {
                painter.rect_stroke(name, corner, tokens.stroke(2.0, tokens.accent), StrokeKind::Middle);
            }
            let font = tokens.font(Type::MonoSmall);
            self.fitted(name, answer.name(line), color);
            if !is_over {
                continue;
            }
            let (mark, color) = if self.is_hit(idx) { ("✓", tokens.good) } else { ("✗", tokens.bad) };
            let middle = pos2(cell.center().x, cell.top() + tokens.px(33.0));
            ink::text(painter, middle, Align2::CENTER_CENTER, mark, tokens.font(Type::Note), color);
            let far = answer.distances[idx].map_or_else(|| "–".to_owned(), |far| far.to_string());
            let below = pos2(cell.center().x, cell.bottom() - tokens.px(2.0));
            ink::text(painter, below, Align2::CENTER_BOTTOM, far, font, tokens.muted);
        }
    }

    /// A name that fits into its box; a longer one is cut.
    fn fitted(&self, area: Rect, name: &str, color: Color32) {
        let font = self.tokens.font(Type::MonoSmall);
        let mut shown: String = name.to_owned();
        while shown.chars().count() > 1 && ink::text_width(self.painter, &shown, font.clone()) > area.width() - 2.0 {
            shown.pop();
        }
        ink::text(self.painter, area.center(), Align2::CENTER_CENTER, shown, font, color);
    }

    /// All accesses in one bar: a miss is a stroke, the frame is the part in the strip.
    fn map(&self) {
        let Self { painter, tokens, geometry, answer, .. } = self;
        let Some(map) = geometry.map else { return };
        let n = answer.lines.len();
        painter.rect_filled(map, 0.0, tokens.tint(tokens.good, 0.18));
        let x = |idx: usize| map.left() + map.width() * idx as f32 / n as f32;
        let columns = (map.width() as usize).max(1);
        for column in 0..columns {
            let (from, to) = (column * n / columns, ((column + 1) * n / columns).max(column * n / columns + 1).min(n));
            let over = (from..to).filter(|idx| *idx < self.now);
            let misses = over.filter(|idx| !self.is_hit(*idx)).count();
            if misses > 0 {
                let share = misses as f32 / (to - from).max(1) as f32;
                let bar = Rect::from_min_max(
                    pos2(map.left() + column as f32, map.bottom() - map.height() * share),
                    pos2(map.left() + column as f32 + 1.0, map.bottom()),
                );
                painter.rect_filled(bar, 0.0, tokens.bad);
            }
        }
        let rest = map.with_min_x(x(self.now));
        painter.rect_filled(rest, 0.0, tokens.tint(tokens.muted, 0.12));
        let frame = Rect::from_min_max(
            pos2(x(geometry.first), map.top() - 2.0),
            pos2(x(geometry.first + geometry.cells.len()).max(x(geometry.first) + 3.0), map.bottom() + 2.0),
        );
        painter.rect_stroke(frame, 2.0, tokens.stroke(1.6, tokens.ink), StrokeKind::Middle);
    }

    fn chips(&self) {
        let Self { painter, tokens, geometry, answer, question, stack, .. } = self;
        let title = words::STACK.get(self.lang);
        let at = geometry.stack.left_top();
        ink::text(painter, at, Align2::LEFT_TOP, title, tokens.font(Type::Small), tokens.muted);
        for (nth, (chip, line)) in geometry.chips.iter().zip(stack.iter()).enumerate() {
            let is_held = (nth as u64) < question.lines;
            let corner = CornerRadius::same(4);
            if is_held {
                painter.rect_filled(*chip, corner, tokens.tint(self.hue(*line), 0.5));
            } else {
                painter.rect_stroke(*chip, corner, tokens.stroke(1.0, tokens.line), StrokeKind::Inside);
            }
            if self.picked == Some(Hit::Chip(nth)) {
                painter.rect_stroke(*chip, corner, tokens.stroke(1.6, tokens.accent), StrokeKind::Middle);
            }
            let color = if is_held { tokens.ink } else { tokens.muted };
            self.fitted(*chip, answer.name(*line), color);
            if nth as u64 + 1 == question.lines {
                let x = chip.right() + tokens.px(2.0);
                let span = chip.top() - tokens.px(2.0)..=chip.bottom() + tokens.px(2.0);
                painter.vline(x, span, tokens.stroke(3.0, tokens.ink));
            }
        }
        let rest = stack.len().saturating_sub(geometry.chips.len());
        if rest > 0 {
            let text = words::more(rest, self.lang);
            let at = geometry.stack.right_top();
            ink::text(painter, at, Align2::RIGHT_TOP, text, tokens.font(Type::Small), tokens.muted);
        }
    }

    fn curve(&self) {
        let Self { painter, tokens, geometry, question, answer, .. } = self;
        let plane = &geometry.plane;
        plane.paint_grid(painter, tokens, &number, &number);
        let above = plane.rect.left_top() - vec2(0.0, tokens.px(4.0));
        let title = words::curve_title(self.lang);
        ink::text(painter, above, Align2::LEFT_BOTTOM, title, tokens.font(Type::Small), tokens.muted);
        for (nth, (tile, misses)) in answer.curves.iter().enumerate().rev() {
            let points: Vec<Pos2> = steps(misses, plane.x.max as usize)
                .into_iter()
                .filter_map(|(lines, misses)| plane.pos(lines as f64, misses as f64))
                .collect();
            let color = if nth == 0 { tokens.accent } else { tokens.category(nth + 2) };
            let width = if nth == 0 { 2.4 } else { 1.3 };
            painter.line(points.clone(), tokens.stroke(width, color));
            if question.source == Source::Product {
                let at =
                    pos2(plane.rect.right() - tokens.px(6.0), plane.rect.top() + tokens.px(4.0 + 17.0 * nth as f32));
                let font = tokens.font(if nth == 0 { Type::NoteStrong } else { Type::Small });
                let text = words::tile(*tile, self.lang);
                let area = ink::text_on(painter, at, Align2::RIGHT_TOP, text, font, tokens.ink, tokens.surface);
                let y = area.center().y;
                let (left, right) = (area.left() - tokens.px(24.0), area.left() - tokens.px(6.0));
                painter.hline(left..=right, y, tokens.stroke(width, color));
            }
        }
        let lines = question.lines as f64;
        if let Some(at) = plane.pos(lines, answer.misses(question.lines) as f64) {
            painter.vline(at.x, plane.rect.y_range(), tokens.stroke(1.4, tokens.ink));
            painter.circle(at, tokens.px(5.0), tokens.accent, tokens.stroke(1.5, tokens.surface));
        }
    }
}

/// The corners of the steps of a curve.
fn steps(misses: &[usize], most: usize) -> Vec<(usize, usize)> {
    let mut corners: Vec<(usize, usize)> = Vec::new();
    for (lines, misses) in misses.iter().enumerate().take(most + 1) {
        if let Some((_, before)) = corners.last().copied() {
            corners.push((lines, before));
        }
        corners.push((lines, *misses));
    }
    corners
}
