//! Painting the tree. It sees the answers, the geometry and the tokens, and decides nothing.

use super::layout::{BAR, FOOT, Geometry, HEAD, Row};
use super::words;
use crate::ink;
use egui::{Align2, Color32, CornerRadius, FontId, Painter, Pos2, Rect, StrokeKind, pos2, vec2};
use vramlab_alloc::refusal::Cause;
use vramlab_kit::paint::{Area, area};
use vramlab_kit::{Tokens, Type};
use vramlab_units::Lang;

/// How a bar is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// What was asked for, what is held.
    Solid,
    /// What it is held against.
    Limit,
    /// Free, in pieces.
    Holes,
}

/// One bar of evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    pub label: &'static str,
    pub value: String,
    /// Of the longest bar of its node.
    pub share: f32,
    pub look: Look,
}

/// How far the way down has come at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Asked, answered by no.
    Passed,
    /// Answered by yes: here the way ends.
    Ends,
    NotReached,
}

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub ways: [Way; 6],
    pub bars: [Vec<Bar>; 6],
    /// The row under the pointer or the keyboard's cursor.
    pub picked: Option<usize>,
}

impl Scene<'_> {
    pub fn paint(&self) {
        for (idx, cause) in Cause::ALL.into_iter().enumerate() {
            let row = self.geometry.rows[idx];
            self.arrows(idx, row);
            if let Some(node) = row.node {
                self.node(idx, cause, node);
            }
            self.leaf(idx, cause, row.leaf);
        }
    }

    fn ink(&self, is_reached: bool) -> Color32 {
        if is_reached { self.tokens.ink } else { self.tokens.tint(self.tokens.muted, 0.75) }
    }

    fn edge(&self, rect: Rect, idx: usize, stroke: egui::Stroke, fill: Color32) {
        let corner = CornerRadius::same(self.tokens.control_radius);
        self.painter.rect(rect, corner, fill, stroke, StrokeKind::Inside);
        if self.picked == Some(idx) {
            let ring = self.tokens.stroke(1.5, self.tokens.accent);
            self.painter.rect_stroke(rect.expand(2.0), corner, ring, StrokeKind::Outside);
        }
    }

    fn node(&self, idx: usize, cause: Cause, rect: Rect) {
        let Self { tokens, lang, .. } = self;
        let is_reached = self.ways[idx] != Way::NotReached;
        let stroke = if is_reached { tokens.stroke(1.5, tokens.ink) } else { tokens.stroke(1.0, tokens.line) };
        self.edge(rect, idx, stroke, tokens.surface);
        // In the middle where the cause beside it is higher.
        let height = tokens.px(HEAD + BAR * self.bars[idx].len() as f32 + FOOT);
        let start = rect.top() + (rect.height() - height).max(0.0) / 2.0;
        let at = pos2(rect.left() + tokens.space.s, start + tokens.px(6.0));
        let font = tokens.font(if is_reached { Type::NoteStrong } else { Type::Note });
        let room = rect.width() - 2.0 * tokens.space.s;
        self.fitted(at, words::question(cause).get(*lang), font, self.ink(is_reached), room);
        let top = start + tokens.px(HEAD);
        for (line, bar) in self.bars[idx].iter().enumerate() {
            let y = top + line as f32 * tokens.px(BAR);
            self.bar(
                Rect::from_min_size(pos2(at.x, y), vec2(rect.width() - 2.0 * tokens.space.s, tokens.px(16.0))),
                bar,
                is_reached,
            );
        }
    }

    /// Label, bar, number. Without a length it is words alone.
    fn bar(&self, row: Rect, bar: &Bar, is_reached: bool) {
        let Self { painter, tokens, .. } = self;
        let (note, mono) = (tokens.font(Type::Note), tokens.font(Type::MonoSmall));
        let color = if is_reached { tokens.muted } else { self.ink(false) };
        ink::text(painter, row.left_center(), Align2::LEFT_CENTER, bar.label, note, color);
        let names = tokens.px(if self.geometry.is_narrow { 124.0 } else { 140.0 });
        let room = ink::text_width(painter, &bar.value, mono.clone()) + tokens.space.s;
        let track = row.with_min_x(row.left() + names).with_max_x(row.right() - room).shrink2(vec2(0.0, 2.0));
        if bar.share < 0.0 {
            let at = pos2(row.left() + names, row.top());
            self.fitted(at, &bar.value, mono, self.ink(is_reached), row.width() - names);
            return;
        }
        ink::text(painter, row.right_center(), Align2::RIGHT_CENTER, &*bar.value, mono, self.ink(is_reached));
        if track.width() < 8.0 {
            return;
        }
        let length = (track.width() * bar.share).max(if bar.share > 0.0 { 1.5 } else { 0.0 });
        let filled = track.with_max_x(track.left() + length);
        let color = self.ink(is_reached);
        match bar.look {
            Look::Solid => {
                painter.rect_filled(filled, 2.0, color);
            }
            Look::Limit => {
                painter.rect_stroke(filled, 2.0, tokens.stroke(1.2, color), StrokeKind::Inside);
            }
            Look::Holes => {
                area(painter, tokens, filled, Area::Fragmented);
                painter.rect_stroke(filled, 0.0, tokens.stroke(1.0, color), StrokeKind::Inside);
            }
        }
    }

    fn leaf(&self, idx: usize, cause: Cause, rect: Rect) {
        let Self { painter, tokens, lang, .. } = self;
        let is_here = self.ways[idx] == Way::Ends;
        let (stroke, fill) = if is_here {
            (tokens.stroke(2.0, tokens.caution), tokens.tint(tokens.caution, 0.10))
        } else {
            (tokens.stroke(1.0, tokens.line), tokens.surface)
        };
        self.edge(rect, idx, stroke, fill);
        let room = rect.width() - 2.0 * tokens.space.s;
        let color = if is_here { tokens.caution } else { self.ink(false) };
        let font = tokens.font(if is_here { Type::NoteStrong } else { Type::Note });
        let title = painter.layout(words::title(cause).get(*lang).to_owned(), font, color, room);
        let color = if is_here { tokens.ink } else { self.ink(false) };
        let advice = words::advice(cause).get(*lang).to_owned();
        let advice = painter.layout(advice, tokens.font(Type::Note), color, room);
        // Title and advice as one block in the middle of the box, however many lines it takes.
        let top = rect.center().y - (title.size().y + advice.size().y) / 2.0;
        let at = pos2(rect.left() + tokens.space.s, top);
        let below = at + vec2(0.0, title.size().y);
        painter.galley(at, title, color);
        painter.galley(below, advice, color);
    }

    /// Text from `at` on, cut where it would be wider than `room`.
    fn fitted(&self, at: Pos2, text: &str, font: FontId, color: Color32, room: f32) {
        let mut job = egui::text::LayoutJob::simple_singleline(text.to_owned(), font, color);
        job.wrap = egui::text::TextWrapping::truncate_at_width(room.max(24.0));
        self.painter.galley(at, self.painter.layout_job(job), color);
    }

    /// To the cause, and down to the next question.
    fn arrows(&self, idx: usize, row: Row) {
        let Some(node) = row.node else { return };
        let way = self.ways[idx];
        let words = (words::YES.get(self.lang), words::NO.get(self.lang));
        let next = self.geometry.rows[idx + 1];
        let below = next.node.unwrap_or(next.leaf);
        let down_x = if self.geometry.is_narrow {
            node.left() + self.tokens.px(12.0)
        } else {
            node.left() + self.tokens.px(28.0)
        };
        self.arrow(pos2(down_x, node.bottom()), pos2(down_x, below.top()), words.1, way == Way::Passed);
        if self.geometry.is_narrow {
            let x = node.left() + self.tokens.px(76.0);
            self.arrow(pos2(x, node.bottom()), pos2(x, row.leaf.top()), "", way == Way::Ends);
        } else {
            self.arrow(node.right_center(), row.leaf.left_center(), words.0, way == Way::Ends);
        }
    }

    fn arrow(&self, from: Pos2, to: Pos2, word: &str, is_taken: bool) {
        let Self { painter, tokens, .. } = self;
        let (width, color) = if is_taken { (2.0, tokens.ink) } else { (1.0, tokens.line) };
        painter.line_segment([from, to], tokens.stroke(width, color));
        let way = (to - from).normalized();
        let side = vec2(-way.y, way.x);
        let (long, wide) = (tokens.px(7.0), tokens.px(4.0));
        let head = vec![to, to - way * long + side * wide, to - way * long - side * wide];
        painter.add(egui::Shape::convex_polygon(head, color, egui::Stroke::NONE));
        let is_across = way.x.abs() > way.y.abs();
        let middle = from + (to - from) * 0.5;
        let (at, anchor) = if is_across {
            (middle - vec2(tokens.px(3.0), tokens.px(3.0)), Align2::CENTER_BOTTOM)
        } else {
            (middle + vec2(tokens.px(6.0), 0.0), Align2::LEFT_CENTER)
        };
        let color = if is_taken { tokens.ink } else { tokens.muted };
        ink::text(painter, at, anchor, word, tokens.font(Type::Small), color);
    }
}
