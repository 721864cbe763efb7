//! Painting the two pools, the table of one request and the curve. It sees answers, geometry and tokens, decides nothing.

use super::layout::{Geometry, Side};
use super::words;
use super::{History, Shown};
use crate::ink;
use egui::{Align2, Color32, CornerRadius, Painter, Rect, StrokeKind, pos2, vec2};
use vramlab_kit::paint::{Area, hatch};
use vramlab_kit::{Role, Tokens, Type};
use vramlab_model::kv_paging::{Pool, Running};
use vramlab_units::Lang;

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub shown: &'a Shown,
    pub history: &'a History,
    pub step: u64,
    /// How far the curve goes.
    pub seen: u64,
    /// The request whose places are outlined and whose table is shown.
    pub picked: usize,
    pub block_tokens: u64,
    pub max_len: u64,
}

/// Four shades of the one colour that keys and values have, so that neighbours differ.
const SHADES: [f32; 4] = [1.0, 0.55, 0.8, 0.36];

impl Scene<'_> {
    pub fn paint(&self) {
        self.pool(Side::Reserved, &self.shown.reserved, self.max_len);
        self.pool(Side::Paged, &self.shown.paged, self.block_tokens);
        self.table();
        self.curve();
    }

    fn shade(&self, id: usize) -> Color32 {
        self.tokens.tint(self.tokens.role(Role::KvCache), SHADES[id % SHADES.len()])
    }

    fn pool(&self, side: Side, pool: &Pool, place: u64) {
        let Self { painter, tokens, geometry, .. } = self;
        let rect = geometry.pool(side);
        self.title(side, pool, rect);
        painter.rect_filled(rect, 2.0, tokens.sunken);
        for request in &pool.running {
            self.request(side, request, place);
        }
        self.lines(side, rect, place);
        for request in pool.running.iter().filter(|request| request.id == self.picked) {
            for page in &request.pages {
                for part in geometry.boxes(side, u64::from(*page) * place, place) {
                    painter.rect_stroke(part, 1.0, tokens.stroke(2.0, tokens.accent), StrokeKind::Middle);
                }
            }
        }
    }

    fn title(&self, side: Side, pool: &Pool, rect: Rect) {
        let Self { painter, tokens, lang, .. } = self;
        let up = vec2(0.0, tokens.px(6.0));
        let name = words::side(side).get(*lang);
        let name = ink::text(
            painter,
            rect.left_top() - up,
            Align2::LEFT_BOTTOM,
            name,
            tokens.font(Type::NoteStrong),
            tokens.ink,
        );
        let (long, short) = words::tally(pool, *lang);
        let font = tokens.font(Type::Small);
        let room = rect.right() - name.right() - tokens.space.s;
        let text = if ink::text_width(painter, &long, font.clone()) <= room { long } else { short };
        ink::text(painter, rect.right_top() - up, Align2::RIGHT_BOTTOM, text, font, tokens.muted);
    }

    /// What a request holds: slots with a token are filled, the rest of its places hatched.
    fn request(&self, side: Side, request: &Running, place: u64) {
        let Self { painter, tokens, geometry, .. } = self;
        let color = self.shade(request.id);
        for (idx, page) in request.pages.iter().enumerate() {
            let first = u64::from(*page) * place;
            let used = request.tokens.saturating_sub(idx as u64 * place).min(place);
            for part in geometry.boxes(side, first, used) {
                painter.rect_filled(part, 0.0, color);
            }
            for part in geometry.boxes(side, first + used, place - used) {
                painter.rect_filled(part, 0.0, tokens.surface);
                let stroke = tokens.stroke(1.0, tokens.tint(tokens.muted, 0.75));
                hatch(painter, part, tokens.px(5.0), stroke, false);
            }
        }
    }

    /// The edges of places.
    fn lines(&self, side: Side, rect: Rect, place: u64) {
        let Self { painter, tokens, geometry, .. } = self;
        let edge = tokens.stroke(1.0, tokens.surface);
        let painter = painter.with_clip_rect(rect);
        let wide = geometry.boxes(side, 0, place.min(super::layout::ROW_TOKENS))[0].width();
        if wide >= tokens.px(4.0) {
            let mut x = rect.left() + wide;
            while x < rect.right() - 1.0 {
                painter.vline(x, rect.y_range(), edge);
                x += wide;
            }
        }
        let rows = super::layout::N_ROWS;
        let height = rect.height() / rows as f32;
        for row in 1..rows {
            // A place of two rows has no edge in its middle.
            if (row * super::layout::ROW_TOKENS).is_multiple_of(place) || place < super::layout::ROW_TOKENS {
                painter.hline(rect.x_range(), rect.top() + row as f32 * height, edge);
            }
        }
        self.painter.rect_stroke(rect, 2.0, tokens.stroke(1.0, tokens.line), StrokeKind::Outside);
    }

    /// Logical pages above, physical ones below, as many as there is room for.
    fn table(&self) {
        let Self { painter, tokens, geometry, lang, .. } = self;
        let rect = geometry.table;
        let request = self.shown.paged.running.iter().find(|request| request.id == self.picked);
        let font = tokens.font(Type::NoteStrong);
        let title = words::table(self.picked, request, *lang);
        let title = ink::text(painter, rect.left_top(), Align2::LEFT_TOP, title, font, tokens.ink);
        let Some(request) = request else { return };
        let small = tokens.font(Type::MonoSmall);
        let top = title.bottom() + tokens.px(5.0);
        let names = words::table_rows(*lang);
        let wide =
            names.iter().map(|name| ink::text_width(painter, name, tokens.font(Type::Small))).fold(0.0, f32::max);
        for (row, name) in names.iter().enumerate() {
            let y = top + tokens.px(10.0 + 20.0 * row as f32);
            ink::text(
                painter,
                pos2(rect.left(), y),
                Align2::LEFT_CENTER,
                *name,
                tokens.font(Type::Small),
                tokens.muted,
            );
        }
        let cell = vec2(tokens.px(34.0), tokens.px(20.0));
        let left = rect.left() + wide + tokens.space.s;
        let room = ((rect.right() - left) / cell.x).floor().max(1.0) as usize;
        let cut = request.pages.len() > room;
        for (idx, page) in request.pages.iter().take(if cut { room - 1 } else { room }).enumerate() {
            let min = pos2(left + idx as f32 * cell.x, top);
            let lower = Rect::from_min_size(min + vec2(0.0, cell.y), cell).shrink2(vec2(1.0, 0.0));
            painter.rect_filled(lower, CornerRadius::same(2), self.tokens.tint(tokens.role(Role::KvCache), 0.3));
            let middle = Align2::CENTER_CENTER;
            let upper = min + cell / 2.0;
            ink::text(painter, upper, middle, idx.to_string(), small.clone(), tokens.muted);
            ink::text(painter, lower.center(), middle, page.to_string(), small.clone(), tokens.ink);
        }
        if cut {
            let at = pos2(left + (room as f32 - 0.5) * cell.x, top + cell.y);
            ink::text(painter, at, Align2::CENTER_CENTER, "…", tokens.font(Type::Note), tokens.muted);
        }
    }

    /// Requests that run, over steps, both ways.
    fn curve(&self) {
        let Self { painter, tokens, geometry, lang, history, .. } = self;
        let rect = geometry.curve;
        let font = tokens.font(Type::Small);
        let title = pos2(geometry.rect.left(), rect.top() - tokens.px(8.0));
        ink::text(painter, title, Align2::LEFT_BOTTOM, words::CURVE.get(*lang), font.clone(), tokens.muted);
        let most = history.paged.iter().chain(&history.reserved).copied().max().unwrap_or(1).max(1);
        let ceiling = (f32::from(most) / 10.0).ceil() * 10.0;
        let y_of = |n: f32| rect.bottom() - rect.height() * n / ceiling;
        for share in [0.0, 0.5, 1.0] {
            let n = ceiling * share;
            painter.hline(rect.x_range(), y_of(n), tokens.stroke(1.0, tokens.grid));
            let at = pos2(rect.left() - tokens.px(6.0), y_of(n));
            ink::text(painter, at, Align2::RIGHT_CENTER, format!("{n:.0}"), font.clone(), tokens.muted);
        }
        let n_steps = history.paged.len().saturating_sub(1).max(1) as f32;
        let line = |counts: &[u16]| -> Vec<egui::Pos2> {
            let at = |(idx, n): (usize, &u16)| pos2(geometry.x_of_step(idx as f32, n_steps), y_of(f32::from(*n)));
            counts.iter().take(self.seen as usize + 1).enumerate().map(at).collect()
        };
        let kv = tokens.role(Role::KvCache);
        painter.line(line(&history.paged), tokens.stroke(2.2, kv));
        painter.line(line(&history.reserved), tokens.stroke(2.2, tokens.muted));
        for (counts, side, color) in
            [(&history.paged, Side::Paged, tokens.ink), (&history.reserved, Side::Reserved, tokens.muted)]
        {
            let idx = (counts.len() as f32 * 0.22) as usize;
            if self.seen < 2 * idx as u64 {
                self.curve_end(counts, side, color, geometry.x_of_step(self.seen as f32, n_steps), &y_of);
                continue;
            }
            // Above its own curve, the upper one over the whole word.
            let reach = counts.iter().skip(idx.saturating_sub(20)).take(40).copied().max().unwrap_or(0);
            let (n, dy, anchor) = match side {
                Side::Paged => (reach, -4.0, Align2::CENTER_BOTTOM),
                Side::Reserved => (counts.get(idx).copied().unwrap_or(0), 4.0, Align2::CENTER_TOP),
            };
            let at = pos2(geometry.x_of_step(idx as f32, n_steps), y_of(f32::from(n)) + tokens.px(dy));
            ink::text(painter, at, anchor, words::side(side).get(*lang), font.clone(), color);
        }
        self.step_axis(n_steps);
    }

    /// The name at the end of a curve that has only begun.
    fn curve_end(&self, counts: &[u16], side: Side, color: Color32, x: f32, y_of: &impl Fn(f32) -> f32) {
        let Self { painter, tokens, lang, .. } = self;
        let n = counts.get(self.seen as usize).copied().unwrap_or(0);
        let anchor = if side == Side::Paged { Align2::LEFT_BOTTOM } else { Align2::LEFT_TOP };
        let at = pos2(x + tokens.px(7.0), y_of(f32::from(n)));
        painter.circle_filled(pos2(x, y_of(f32::from(n))), tokens.px(3.0), color);
        ink::text(painter, at, anchor, words::side(side).get(*lang), tokens.font(Type::Small), color);
    }

    /// The step shown, and the ends of the axis.
    fn step_axis(&self, n_steps: f32) {
        let Self { painter, tokens, geometry, lang, .. } = self;
        let (rect, font) = (geometry.curve, tokens.font(Type::Small));
        let x = geometry.x_of_step(self.step as f32, n_steps);
        painter.vline(
            x,
            rect.top() - tokens.px(4.0)..=rect.bottom() + tokens.px(3.0),
            tokens.stroke(1.5, tokens.accent),
        );
        let low = rect.bottom() + tokens.px(4.0);
        ink::text(painter, pos2(rect.left(), low), Align2::LEFT_TOP, "0", font.clone(), tokens.muted);
        let end = words::steps(n_steps as u64, *lang);
        ink::text(painter, pos2(rect.right(), low), Align2::RIGHT_TOP, end, font, tokens.muted);
    }
}

/// What the marks of the pools mean.
pub fn legend(tokens: &Tokens) -> [(vramlab_kit::Mark, vramlab_units::Text); 3] {
    use vramlab_kit::Mark;
    [
        (Mark::Square(tokens.role(Role::KvCache)), words::FILLED),
        (Mark::Area(Area::CachedFree), words::EMPTY),
        (Mark::Area(Area::Free), words::FREE),
    ]
}
