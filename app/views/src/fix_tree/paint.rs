//! Painting the tree. It sees the profile, the geometry and the tokens, and decides nothing.

use super::layout::{Geometry, Row};
use super::words;
use crate::ink;
use egui::text::{LayoutJob, TextWrapping};
use egui::{Align2, Color32, CornerRadius, FontId, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, pos2, vec2};
use vramlab_kit::{Tokens, Type};
use vramlab_model::next_fix::{Bound, Profile};
use vramlab_units::Lang;

/// Everything that painting reads.
pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub profile: &'a Profile,
    pub picked: Option<usize>,
}

impl Scene<'_> {
    pub fn paint(&self) {
        let end = Bound::ALL.iter().position(|bound| *bound == self.profile.bound()).unwrap_or(0);
        for (idx, (bound, row)) in Bound::ALL.into_iter().zip(&self.geometry.rows).enumerate() {
            self.arrows(idx, row, end);
            if let Some(node) = row.node {
                self.node(bound, node, idx <= end);
            }
            self.end(bound, row.end, idx == end, self.picked == Some(idx));
        }
    }

    fn node(&self, bound: Bound, rect: Rect, is_reached: bool) {
        let Self { painter, tokens, lang, profile, .. } = self;
        let ink = if is_reached { tokens.ink } else { tokens.muted };
        let edge = if is_reached { tokens.stroke(1.2, tokens.ink) } else { tokens.hairline() };
        painter.rect(rect, tokens.control_corner(), tokens.surface, edge, StrokeKind::Inside);
        let pad = tokens.px(10.0);
        let at = rect.min + vec2(pad, tokens.px(7.0));
        self.line(at, words::question(bound).get(*lang), tokens.font(Type::NoteStrong), ink, rect.width() - 2.0 * pad);
        let font = tokens.font(Type::Small);
        let text = words::evidence(bound, profile, *lang);
        let y = rect.bottom() - tokens.px(14.0);
        let label = ink::text(painter, pos2(rect.left() + pad, y), Align2::LEFT_CENTER, text, font, tokens.muted);
        let track = Rect::from_x_y_ranges(
            (label.right() + tokens.px(10.0)).min(rect.right() - pad)..=rect.right() - pad,
            y - tokens.px(3.5)..=y + tokens.px(3.5),
        );
        if track.width() > tokens.px(24.0) {
            self.bar(track, bound, ink);
        }
    }

    /// The number on its track, and the limit as a mark.
    fn bar(&self, track: Rect, bound: Bound, color: Color32) {
        let Self { painter, tokens, profile, .. } = self;
        let most = if bound == Bound::Capacity { 1.5 } else { 1.0 };
        let x = |share: f64| track.left() + track.width() * (share / most).clamp(0.0, 1.0) as f32;
        painter.rect_filled(track, CornerRadius::same(3), tokens.sunken);
        painter.rect_filled(track.with_max_x(x(profile.of(bound))), CornerRadius::same(3), color);
        let limit = x(bound.limit());
        let line = [pos2(limit, track.top() - tokens.px(4.0)), pos2(limit, track.bottom() + tokens.px(4.0))];
        painter.line_segment(line, tokens.stroke(2.0, tokens.caution));
    }

    fn end(&self, bound: Bound, rect: Rect, is_end: bool, is_picked: bool) {
        let Self { painter, tokens, lang, geometry, .. } = self;
        let fill = if is_end { tokens.accent_soft } else { tokens.surface };
        let edge = match (is_end, is_picked) {
            (_, true) => tokens.stroke(1.5, tokens.accent),
            (true, _) => tokens.stroke(1.5, tokens.ink),
            _ => tokens.hairline(),
        };
        painter.rect(rect, tokens.control_corner(), fill, edge, StrokeKind::Inside);
        let pad = tokens.px(10.0);
        let (strong, small) = (tokens.font(Type::NoteStrong), tokens.font(Type::Small));
        let color = if is_end { tokens.ink } else { tokens.muted };
        let link = words::chapter(bound, *lang);
        let corner = pos2(rect.right() - pad, rect.top() + tokens.px(16.0));
        let link = ink::text(painter, corner, Align2::RIGHT_CENTER, link, small.clone(), tokens.accent);
        let room = link.left() - rect.left() - 2.0 * pad;
        self.line(rect.min + vec2(pad, tokens.px(7.0)), words::title(bound).get(*lang), strong, color, room);
        let room = rect.width() - 2.0 * pad;
        let at = rect.min + vec2(pad, tokens.px(29.0));
        let mut job = LayoutJob::simple(words::advice(bound).get(*lang).to_owned(), small, tokens.muted, room);
        job.wrap.max_rows = if geometry.is_narrow { 2 } else { 1 };
        painter.galley(at, painter.layout_job(job), tokens.muted);
    }

    fn line(&self, at: Pos2, text: &str, font: FontId, color: Color32, room: f32) {
        let mut job = LayoutJob::simple_singleline(text.to_owned(), font, color);
        job.wrap = TextWrapping::truncate_at_width(room.max(24.0));
        self.painter.galley(at, self.painter.layout_job(job), color);
    }

    fn arrows(&self, idx: usize, row: &Row, end: usize) {
        let Some(node) = row.node else { return };
        let tokens = self.tokens;
        let next = self.geometry.rows[idx + 1];
        let below = next.node.unwrap_or(next.end);
        let down = node.left() + tokens.px(if self.geometry.is_narrow { 14.0 } else { 28.0 });
        self.arrow(pos2(down, node.bottom()), pos2(down, below.top()), words::NO.get(self.lang), idx < end);
        if self.geometry.is_narrow {
            let x = node.left() + tokens.px(76.0);
            self.arrow(pos2(x, node.bottom()), pos2(x, row.end.top()), words::YES.get(self.lang), idx == end);
        } else {
            let y = node.center().y;
            let (from, to) = (pos2(node.right(), y), pos2(row.end.left(), y));
            self.arrow(from, to, words::YES.get(self.lang), idx == end);
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
        painter.add(Shape::convex_polygon(head, color, Stroke::NONE));
        let middle = from + (to - from) * 0.5;
        let (at, anchor) = if way.x.abs() > way.y.abs() {
            (middle - vec2(tokens.px(3.0), tokens.px(3.0)), Align2::CENTER_BOTTOM)
        } else {
            (middle + vec2(tokens.px(6.0), 0.0), Align2::LEFT_CENTER)
        };
        // Between two boxes that nearly touch a word has no room.
        if (to - from).length() >= tokens.px(11.0) {
            let color = if is_taken { tokens.ink } else { tokens.muted };
            ink::text(painter, at, anchor, word, tokens.font(Type::Small), color);
        }
    }
}
