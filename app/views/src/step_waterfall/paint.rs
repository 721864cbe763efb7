//! Painting the waterfall. It sees the steps, the order, the geometry and the tokens, and decides nothing.

use super::layout::{Geometry, Row, tick};
use super::question::Order;
use super::recorded::{Bar, Steps};
use super::words;
use crate::ink;
use egui::{Align2, Color32, CornerRadius, Painter, Rect, Stroke, StrokeKind, pos2};
use vramlab_kit::paint::area;
use vramlab_kit::{Area, Tokens, Type};
use vramlab_units::Lang;

/// Everything that painting reads.
pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub order: &'a Order,
    pub steps: &'a Steps,
    pub picked: Option<usize>,
}

/// Copies have the colour of the host, work on the card a category each.
pub fn colour(tokens: &Tokens, part: usize) -> Color32 {
    match part {
        0 => tokens.category(0),
        4 => tokens.tint(tokens.category(0), 0.6),
        part => tokens.category(part),
    }
}

impl Scene<'_> {
    pub fn paint(&self) {
        self.axis();
        self.floor();
        for idx in 0..self.geometry.rows.len() {
            if idx <= self.order.0.len() {
                self.stage(idx);
            } else {
                self.offer(idx);
            }
        }
    }

    fn axis(&self) {
        let Self { painter, tokens, geometry, .. } = self;
        let most = f64::from(geometry.most_ms);
        let step = tick(most);
        let bottom = geometry.rows.last().map_or(geometry.rect.bottom(), |row| row.all.bottom());
        let mut at = 0.0;
        while at <= most {
            let x = geometry.x(at);
            painter.vline(x, geometry.rect.top()..=bottom, tokens.stroke(1.0, tokens.grid));
            let anchor = if at == 0.0 {
                Align2::LEFT_TOP
            } else if at + step > most && x > geometry.rect.right() - tokens.px(24.0) {
                Align2::RIGHT_TOP
            } else {
                Align2::CENTER_TOP
            };
            let text = if at == 0.0 { "0".to_owned() } else { words::ms(at) };
            ink::text(
                painter,
                pos2(x, bottom + tokens.px(4.0)),
                anchor,
                text,
                tokens.font(Type::MonoSmall),
                tokens.muted,
            );
            at += step;
        }
    }

    /// Where every order ends: beside the bars, as a line through the names could not be read.
    fn floor(&self) {
        let Self { painter, tokens, geometry, .. } = self;
        let x = geometry.x(self.steps.best(31).whole);
        let stroke = tokens.stroke(1.2, tokens.muted);
        for row in &geometry.rows {
            let line = [pos2(x, row.predicted.top()), pos2(x, row.all.bottom() - tokens.px(4.0))];
            ink::dashes(painter, &line, stroke, 4.0, 4.0);
        }
    }

    /// A stage that is reached: its name, what it changed, both bars, and what the fix has taken away.
    fn stage(&self, idx: usize) {
        let Self { painter, tokens, geometry, steps, order, lang, .. } = self;
        let row = &geometry.rows[idx];
        if self.picked == Some(idx) {
            painter.rect_filled(
                row.all.expand2(egui::vec2(tokens.px(4.0), -tokens.px(3.0))),
                tokens.control_corner(),
                tokens.sunken,
            );
        }
        let bits = order.bits(idx) as usize;
        let (predicted, measured) = (steps.predicted[bits], steps.measured[bits]);
        let before = (idx > 0).then(|| steps.best(order.bits(idx - 1)).whole);
        let name = match idx {
            0 => words::BASELINE.get(*lang).to_owned(),
            idx => format!("+ {}", words::FIX[order.0[idx - 1]].get(*lang)),
        };
        let now = measured.unwrap_or(predicted);
        let value = match before {
            Some(before) => format!("{}  {}", words::change(before, now.whole), words::ms(now.whole)),
            None => words::ms(now.whole),
        };
        let ground = if self.picked == Some(idx) { tokens.sunken } else { tokens.surface };
        let font = tokens.font(Type::NoteStrong);
        ink::text_on(painter, row.name, Align2::LEFT_CENTER, name, font, tokens.ink, ground);
        let right = pos2(row.all.right(), row.name.y);
        ink::text(painter, right, Align2::RIGHT_CENTER, value, tokens.font(Type::Mono), tokens.ink);
        self.hollow(row.predicted, &predicted);
        if let Some(bar) = measured {
            self.solid(row.measured, &bar);
        }
        if let Some(before) = before.filter(|before| *before > now.whole) {
            let lower = if measured.is_some() { row.measured } else { row.predicted };
            let gone = Rect::from_x_y_ranges(geometry.x(now.whole)..=geometry.x(before), lower.y_range());
            area(painter, tokens, gone, Area::CachedFree);
        }
    }

    fn hollow(&self, line: Rect, bar: &Bar) {
        let Self { painter, tokens, geometry, .. } = self;
        let end = geometry.x(bar.whole);
        let rect = line.with_max_x(end);
        painter.rect_stroke(rect, CornerRadius::same(2), tokens.stroke(1.0, tokens.ink), StrokeKind::Inside);
        let mut sum = 0.0;
        for (part, ms) in bar.parts.iter().enumerate() {
            let from = geometry.x(sum);
            sum += ms;
            let to = geometry.x(sum).min(end);
            let strip = Rect::from_x_y_ranges(from..=to, rect.shrink2(egui::vec2(0.0, line.height() * 0.34)).y_range());
            painter.rect_filled(strip, CornerRadius::ZERO, colour(tokens, part));
            painter.vline(to, rect.y_range(), tokens.stroke(1.0, tokens.ink));
        }
    }

    /// Parts are measured with a wait after each; they are drawn as shares of the whole, which has none.
    fn solid(&self, line: Rect, bar: &Bar) {
        let Self { painter, tokens, geometry, .. } = self;
        let all: f64 = bar.parts.iter().sum();
        let mut sum = 0.0;
        for (part, ms) in bar.parts.iter().enumerate() {
            let from = geometry.x(sum / all * bar.whole);
            sum += ms;
            let to = geometry.x(sum / all * bar.whole);
            let rect = Rect::from_x_y_ranges(from..=to, line.y_range());
            painter.rect_filled(rect, CornerRadius::ZERO, colour(tokens, part));
            if to - from > tokens.px(3.0) {
                painter.vline(to, line.y_range(), Stroke::new(1.0, tokens.surface));
            }
        }
    }

    /// A fix that could be the next: what the model says it would be worth.
    fn offer(&self, idx: usize) {
        let Self { painter, tokens, geometry, steps, order, lang, .. } = self;
        let row: &Row = &geometry.rows[idx];
        let Some(fix) = order.open().get(idx - order.0.len() - 1).copied() else { return };
        let now = order.bits(order.0.len());
        let (before, after) = (steps.predicted[now as usize].whole, steps.predicted[(now | 1 << fix) as usize].whole);
        let is_picked = self.picked == Some(idx);
        let color = if is_picked { tokens.accent } else { tokens.muted };
        let name = words::DEFECT[fix].get(*lang);
        let font = tokens.font(Type::Note);
        ink::text_on(painter, row.name, Align2::LEFT_CENTER, name, font, color, tokens.surface);
        let value = words::change(before, after);
        let right = pos2(row.all.right(), row.name.y);
        ink::text(painter, right, Align2::RIGHT_CENTER, value, tokens.font(Type::Mono), color);
        let gain = Rect::from_x_y_ranges(geometry.x(after)..=geometry.x(before), row.predicted.y_range());
        let line = [pos2(geometry.rect.left(), gain.center().y), pos2(geometry.x(after), gain.center().y)];
        ink::dashes(painter, &line, tokens.stroke(1.0, tokens.line), 3.0, 3.0);
        if gain.width() > 0.5 {
            painter.rect_stroke(gain, CornerRadius::same(2), tokens.stroke(1.0, color), StrokeKind::Inside);
        }
    }
}
