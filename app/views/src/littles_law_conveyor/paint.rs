//! Painting the conveyor. It sees the answer, the geometry, the step and the tokens, and decides nothing.

use super::layout::{Geometry, ROWS};
use super::question::{Answer, Question};
use super::words;
use crate::ink;
use egui::{Align2, CornerRadius, Painter, Rect, Stroke, StrokeKind, pos2, vec2};
use vramlab_kit::paint::{dashed_rect, hatch};
use vramlab_kit::{Role, Tokens, Type};
use vramlab_units::Lang;
use vramlab_units::show::with_unit;

/// Everything that painting reads.
pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub question: &'a Question,
    pub answer: &'a Answer,
    /// Columns that the first bytes have come: the belt is empty beyond.
    pub now: usize,
    /// The first bytes have arrived.
    pub has_arrived: bool,
}

/// The data under way: one object, one colour.
const DATA: Role = Role::Parameters;
/// Every so many columns a darker one, so that the belt is seen to move.
const MARK_EVERY: usize = 6;

impl Scene<'_> {
    pub fn paint(&self) {
        self.queue();
        self.belt();
        self.parcels();
        self.outline();
        self.names();
    }

    fn belt(&self) {
        let Self { painter, tokens, geometry, .. } = self;
        painter.rect_filled(geometry.belt, CornerRadius::same(2), tokens.sunken);
    }

    fn parcels(&self) {
        let Self { painter, tokens, geometry, .. } = self;
        let (belt, filled, gap) = (geometry.belt, geometry.filled, (geometry.column * 0.12).clamp(0.5, 2.0));
        let data = tokens.role(DATA);
        let n_filled = geometry.n_columns().min(if self.has_arrived { usize::MAX } else { self.now });
        for column in 0..n_filled {
            let left = belt.left() + column as f32 * geometry.column;
            let right = (left + geometry.column).min(belt.right());
            // Columns move right with the steps; the marks ride on them.
            let is_marked = (column + MARK_EVERY * 1024 - self.now).is_multiple_of(MARK_EVERY);
            let color = tokens.tint(data, if is_marked { 0.95 } else { 0.6 });
            for row in 0..ROWS {
                let bottom = belt.bottom() - row as f32 * geometry.row;
                let top = (bottom - geometry.row).max(filled.top());
                if bottom - top > 0.3 {
                    let cell = Rect::from_min_max(pos2(left, top), pos2(right, bottom)).shrink(gap / 2.0);
                    painter.rect_filled(cell, CornerRadius::same(1), color);
                }
            }
        }
    }

    fn queue(&self) {
        let Self { painter, tokens, geometry, lang, .. } = self;
        let Some(queue) = geometry.queue else { return self.no_queue() };
        let data = tokens.role(DATA);
        painter.rect(
            queue,
            CornerRadius::same(2),
            tokens.tint(data, 0.12),
            Stroke::new(1.0, tokens.tint(data, 0.5)),
            StrokeKind::Inside,
        );
        hatch(painter, queue, tokens.px(5.0), Stroke::new(1.0, tokens.tint(data, 0.5)), false);
        let font = tokens.font(Type::Small);
        let label = match (lang, geometry.is_queue_cut) {
            (Lang::Zh, false) => "排队",
            (Lang::Zh, true) => "… 排队",
            (Lang::En, false) => "waiting",
            (Lang::En, true) => "… waiting",
        };
        let at = pos2(queue.left(), queue.bottom() + tokens.space.xxs);
        ink::text(painter, at, Align2::LEFT_TOP, label, font, tokens.muted);
    }

    /// The place where bytes would wait, empty.
    fn no_queue(&self) {
        let Self { painter, tokens, geometry, lang, .. } = self;
        let label = match lang {
            Lang::Zh => "没有排队",
            Lang::En => "none waiting",
        };
        let font = tokens.font(Type::Small);
        let (left, right) = (geometry.rect.left(), geometry.belt.left() - tokens.space.xs);
        let y = painter.round_to_pixel_center(geometry.belt.bottom());
        painter.hline(left..=right, y, Stroke::new(1.0, tokens.line));
        if right - left > ink::text_width(painter, label, font.clone()) {
            let at = pos2(left, y + tokens.space.xxs);
            ink::text(painter, at, Align2::LEFT_TOP, label, font, tokens.muted);
        }
    }

    /// What the belt could carry: hollow, as everything predicted.
    fn outline(&self) {
        let Self { painter, tokens, geometry, .. } = self;
        dashed_rect(painter, geometry.belt.expand(1.0), 2.0, tokens.stroke(1.3, tokens.ink), tokens.px(5.0));
    }

    fn names(&self) {
        let Self { painter, tokens, geometry, question, answer, lang, .. } = self;
        let (belt, small) = (geometry.belt, tokens.font(Type::Small));
        let needed = words::bytes(answer.bytes_needed);
        let label = match lang {
            Lang::Zh => format!("填满要 {needed}"),
            Lang::En => format!("full at {needed}"),
        };
        let at = belt.left_top() - vec2(0.0, tokens.px(5.0));
        ink::text(painter, at, Align2::LEFT_BOTTOM, label, small.clone(), tokens.ink);
        self.latency();
        let right = belt.right() + tokens.space.xs;
        let peak = with_unit(question.peak_gb_per_s, "GB/s");
        let reached = with_unit(answer.gb_per_s, "GB/s");
        let top = geometry.filled.top().max(belt.top());
        if !answer.is_full {
            let room = top - belt.top() > small.size * 1.6;
            let y = if room { belt.top() } else { belt.top() - tokens.px(16.0) };
            ink::text(painter, pos2(right, y), Align2::LEFT_TOP, stacked(&peak), small.clone(), tokens.muted);
        }
        let bar = Rect::from_min_max(pos2(belt.right() + 2.0, top), pos2(belt.right() + tokens.px(5.0), belt.bottom()));
        let color = if self.has_arrived { tokens.role(DATA) } else { tokens.line };
        painter.rect_filled(bar, CornerRadius::ZERO, color);
        let reached_at = pos2(right, f32::midpoint(top, belt.bottom()).min(belt.bottom() - small.size * 1.4));
        let font = tokens.font(Type::NoteStrong);
        let text = if self.has_arrived { stacked(&reached) } else { stacked(&with_unit(0.0, "GB/s")) };
        ink::text(painter, reached_at, Align2::LEFT_CENTER, text, font, tokens.ink);
    }

    /// The length of the belt, under it.
    fn latency(&self) {
        let Self { painter, tokens, geometry, question, lang, .. } = self;
        let belt = geometry.belt;
        let y = belt.bottom() + tokens.px(26.0);
        let name = match lang {
            Lang::Zh => "延迟",
            Lang::En => "latency",
        };
        let text = format!("{name} {}", with_unit(question.latency_ns, "ns"));
        let stroke = Stroke::new(1.0, tokens.muted);
        painter.hline(belt.x_range(), painter.round_to_pixel_center(y), stroke);
        for x in [belt.left(), belt.right()] {
            painter.vline(x, egui::Rangef::new(y - 4.0, y + 4.0), stroke);
        }
        let font = tokens.font(Type::Small);
        ink::text_on(painter, pos2(belt.center().x, y), Align2::CENTER_CENTER, text, font, tokens.ink, tokens.surface);
    }
}

/// Number and unit on two lines, where there is little room beside the belt.
fn stacked(text: &str) -> String {
    text.replace(vramlab_units::show::THIN, "\n")
}
