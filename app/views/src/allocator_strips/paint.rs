//! Painting the strips: blocks in colour, holes hatched, what has no memory dashed, and what did not fit in red.

use super::layout::{Geometry, Ghost, Hit, Lane, span};
use super::run::{Answered, Run};
use super::words;
use crate::author_figure::ink_on;
use crate::ink;
use egui::{Align2, Color32, CornerRadius, Painter, Rect, Stroke, StrokeKind, pos2, vec2};
use vramlab_alloc::MIB;
use vramlab_alloc::replay::Part;
use vramlab_alloc::replay::frame::{Cell, Strip};
use vramlab_kit::paint::{self, Area};
use vramlab_kit::{Role, Tokens, Type};
use vramlab_units::show::bytes_binary;
use vramlab_units::{Bytes, Lang, Text};

const CARD: Text = Text::new("卡上还有 {}", "card: {} left");
const WANTED: Text = Text::new("要 {}", "{} wanted");
const UNMAPPED: Text = Text::new("无内存", "no memory");

/// Everything that painting reads.
pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub answered: &'a Answered,
    /// Events that are over.
    pub done: usize,
    pub picked: Option<Hit>,
}

/// Streams have the colours of roles in turn; the default one is that of temporary memory.
pub fn stream_color(tokens: &Tokens, stream: u32) -> Color32 {
    const ROLES: [Role; 4] = [Role::Workspace, Role::Activations, Role::Optimizer, Role::Gradients];
    tokens.role(ROLES[stream as usize % ROLES.len()])
}

impl Scene<'_> {
    pub fn paint(&self) {
        self.tape();
        for (idx, (lane, run)) in self.geometry.lanes.iter().zip(&self.answered.runs).enumerate() {
            self.header(lane, run);
            for (strip_idx, (rect, strip)) in lane.strips.iter().zip(&run.frame.strips).enumerate() {
                self.strip(*rect, strip, run, (idx, strip_idx));
            }
            if let Some(card) = lane.card {
                self.card(card, run.frame.card_bytes);
            }
            if let Some(ghost) = lane.ghost {
                self.ghost(ghost, run);
            }
        }
        self.ruler();
    }

    fn tape(&self) {
        let tokens = self.tokens;
        for (idx, rect) in &self.geometry.tape {
            let is_current = idx + 1 == self.done;
            let fails = *idx < self.done && self.answered.fails_at(*idx);
            let color = match (*idx < self.done, fails) {
                (_, true) => tokens.bad,
                (true, _) if is_current => tokens.accent,
                (true, _) => tokens.ink,
                (false, _) => tokens.tint(tokens.muted, 0.75),
            };
            if is_current {
                let fill = if fails { tokens.tint(tokens.bad, 0.12) } else { tokens.accent_soft };
                self.painter.rect_filled(*rect, tokens.control_corner(), fill);
            }
            if self.picked == Some(Hit::Word(*idx)) {
                let edge = tokens.stroke(1.0, tokens.accent);
                self.painter.rect_stroke(*rect, tokens.control_corner(), edge, StrokeKind::Inside);
            }
            let word = &self.answered.words[*idx];
            let font = tokens.font(Type::Mono);
            let galley = self.painter.layout_no_wrap(word.clone(), font, color);
            self.painter.with_clip_rect(rect.intersect(self.painter.clip_rect())).galley(
                rect.center() - galley.size() / 2.0,
                galley,
                color,
            );
        }
    }

    fn header(&self, lane: &Lane, run: &Run) {
        let tokens = self.tokens;
        let name = run.engine.label().get(self.lang);
        let y = lane.header.center().y;
        let left = ink::text(
            self.painter,
            pos2(lane.header.left(), y),
            Align2::LEFT_CENTER,
            name,
            tokens.font(Type::NoteStrong),
            tokens.ink,
        );
        let mut right = lane.header.right();
        if run.frame.miss.is_some() {
            let word = ink::text(
                self.painter,
                pos2(right, y),
                Align2::RIGHT_CENTER,
                "OOM",
                tokens.font(Type::NoteStrong),
                tokens.bad,
            );
            right = word.left() - tokens.space.s;
        }
        let font = tokens.font(Type::Note);
        for text in words::lane_states(&run.frame, self.lang) {
            if ink::text_width(self.painter, &text, font.clone()) <= right - left.right() - tokens.space.m {
                ink::text(self.painter, pos2(right, y), Align2::RIGHT_CENTER, text, font, tokens.muted);
                break;
            }
        }
    }

    fn strip(&self, rect: Rect, strip: &Strip, run: &Run, at: (usize, usize)) {
        let tokens = self.tokens;
        self.painter.rect_filled(rect, 2.0, tokens.sunken);
        let is_free = strip.is_free();
        let place = |cell: &Cell| span(rect, strip, cell.piece.address, cell.piece.size);
        for (cell_idx, cell) in strip.cells.iter().enumerate() {
            self.cell(place(cell), cell, is_free);
            if self.picked == Some(Hit::Cell(at.0, at.1, cell_idx)) {
                self.painter.rect_stroke(place(cell), 1.0, tokens.stroke(1.5, tokens.ink), StrokeKind::Inside);
            }
        }
        self.painter.rect_stroke(rect, 2.0, tokens.stroke(1.0, tokens.muted), StrokeKind::Outside);
        let is_here = |address: &u64| (strip.address..strip.address + strip.size).contains(address);
        if let Some((address, size)) = run.frame.changed.filter(|(address, _)| is_here(address)) {
            let place = span(rect, strip, address, size).expand(tokens.px(2.0));
            let stroke = tokens.stroke(2.0, tokens.accent);
            self.painter.rect_stroke(place, CornerRadius::same(3), stroke, StrokeKind::Middle);
        }
        for cell in &strip.cells {
            self.cell_label(place(cell), cell);
        }
    }

    fn cell(&self, rect: Rect, cell: &Cell, is_free_strip: bool) {
        let (tokens, painter) = (self.tokens, self.painter);
        match cell.piece.part {
            Part::Free if is_free_strip => paint::area(painter, tokens, rect, Area::CachedFree),
            Part::Free => paint::area(painter, tokens, rect, Area::Fragmented),
            Part::Unmapped => {
                painter.rect_filled(rect, 0.0, tokens.surface);
                paint::dashed_rect(painter, rect.shrink(1.0), 2.0, tokens.stroke(1.0, tokens.muted), tokens.px(3.0));
            }
            Part::Used | Part::Pending => self.block(rect, cell),
        }
    }

    fn block(&self, rect: Rect, cell: &Cell) {
        let tokens = self.tokens;
        let color = self.color_of(cell);
        self.painter.rect_filled(rect, 0.0, color);
        let share = cell.piece.requested.min(cell.piece.size) as f64 / cell.piece.size.max(1) as f64;
        let end = rect.left() + rect.width() * share as f32;
        if rect.right() - end >= 1.0 {
            let slack = Rect::from_x_y_ranges(end..=rect.right(), rect.y_range());
            self.painter.rect_filled(slack, 0.0, tokens.tint(color, 0.35));
        }
        if cell.piece.part == Part::Pending {
            paint::hatch(self.painter, rect, tokens.px(5.0), tokens.stroke(1.2, tokens.surface), false);
        }
        if rect.width() >= 4.0 {
            self.painter.vline(rect.right(), rect.y_range(), Stroke::new(1.0, tokens.surface));
        }
    }

    fn color_of(&self, cell: &Cell) -> Color32 {
        stream_color(self.tokens, cell.holder.map_or(0, |(_, stream)| stream))
    }

    fn cell_label(&self, rect: Rect, cell: &Cell) {
        let tokens = self.tokens;
        let size = bytes_binary(Bytes(cell.piece.size));
        match cell.piece.part {
            Part::Free => self.label(rect, &[size], Type::Small, tokens.ink, Some(tokens.surface)),
            Part::Unmapped => {
                let long = format!("{} · {size}", UNMAPPED.get(self.lang));
                self.label(rect, &[long, size], Type::Small, tokens.ink, Some(tokens.surface));
            }
            Part::Used | Part::Pending => {
                let name = cell.holder.map_or("", |(id, _)| self.answered.trace.name(id));
                let long = format!("{name} · {}", bytes_binary(Bytes(cell.piece.requested)));
                let color = self.color_of(cell);
                let ground = if cell.piece.part == Part::Pending { Some(color) } else { None };
                let share = cell.piece.requested.min(cell.piece.size) as f64 / cell.piece.size.max(1) as f64;
                let rect = rect.with_max_x(rect.left() + rect.width() * share as f32);
                self.label(rect, &[long, name.to_owned()], Type::Note, ink_on(tokens, color), ground);
            }
        }
    }

    /// The first of `texts` that fits.
    fn label(&self, rect: Rect, texts: &[String], role: Type, color: Color32, ground: Option<Color32>) {
        let font = self.tokens.font(role);
        let room = rect.width() - self.tokens.px(8.0);
        for text in texts.iter().filter(|text| !text.is_empty()) {
            if ink::text_width(self.painter, text, font.clone()) <= room {
                match ground {
                    Some(ground) => {
                        ink::text_on(self.painter, rect.center(), Align2::CENTER_CENTER, text, font, color, ground)
                    }
                    None => ink::text(self.painter, rect.center(), Align2::CENTER_CENTER, text, font, color),
                };
                return;
            }
        }
    }

    fn card(&self, rect: Rect, bytes: u64) {
        let tokens = self.tokens;
        paint::dashed_rect(
            self.painter,
            rect.shrink(1.0),
            tokens.px(4.0),
            tokens.stroke(1.0, tokens.muted),
            tokens.px(4.0),
        );
        let size = bytes_binary(Bytes(bytes));
        self.label(rect, &[CARD.get(self.lang).replace("{}", &size), size], Type::Small, tokens.muted, None);
    }

    /// What was wanted, as wide as it is, under the most room there was: the part that sticks out is solid.
    fn ghost(&self, ghost: Ghost, run: &Run) {
        let tokens = self.tokens;
        let (rect, gap) = (ghost.rect, ghost.gap);
        self.painter.rect_filled(rect, 2.0, tokens.tint(tokens.bad, 0.14));
        for out in [
            Rect::from_min_max(rect.min, pos2(gap.left().clamp(rect.left(), rect.right()), rect.bottom())),
            Rect::from_min_max(pos2(gap.right().clamp(rect.left(), rect.right()), rect.top()), rect.max),
        ] {
            if out.width() > 1.0 {
                paint::hatch(self.painter, out, tokens.px(4.0), tokens.stroke(1.2, tokens.bad), false);
            }
        }
        paint::dashed_rect(self.painter, rect, tokens.px(2.0), tokens.stroke(1.6, tokens.bad), tokens.px(4.0));
        let stroke = tokens.stroke(1.2, tokens.bad);
        for x in [gap.left(), gap.right()] {
            let x = x.clamp(self.geometry.rect.left(), self.geometry.rect.right());
            ink::dashes(self.painter, &[pos2(x, gap.bottom()), pos2(x, rect.bottom())], stroke, 3.0, 3.0);
        }
        let miss =
            run.frame.miss.map_or(0, |miss| if miss.hole.is_some() { miss.wanted_bytes } else { miss.device_bytes });
        let text = WANTED.get(self.lang).replace("{}", &bytes_binary(Bytes(miss)));
        let font = tokens.font(Type::NoteStrong);
        let width = ink::text_width(self.painter, &text, font.clone());
        let (painter, y, step) = (self.painter, rect.center().y, tokens.px(6.0));
        let taken = if width + tokens.px(10.0) <= rect.width() {
            let ground = tokens.tint(tokens.bad, 0.14);
            ink::text_on(painter, rect.center(), Align2::CENTER_CENTER, text, font, tokens.bad, ground)
        } else if rect.right() + step + width <= self.geometry.rect.right() {
            ink::text(painter, pos2(rect.right() + step, y), Align2::LEFT_CENTER, text, font, tokens.bad)
        } else {
            ink::text(painter, pos2(rect.left() - step, y), Align2::RIGHT_CENTER, text, font, tokens.bad)
        };
        self.ghost_note(rect.union(taken), run);
    }

    /// The free bytes that were there all the same, beside the ghost where there is room.
    fn ghost_note(&self, taken: Rect, run: &Run) {
        let tokens = self.tokens;
        let font = tokens.font(Type::Note);
        let (left, right) = (self.geometry.rect.left(), self.geometry.rect.right());
        let gap = tokens.space.m;
        for text in words::free_all_the_same(&run.frame, self.lang) {
            let width = ink::text_width(self.painter, &text, font.clone()) + gap;
            let y = taken.center().y;
            if taken.left() - left >= width {
                let at = pos2(taken.left() - gap, y);
                ink::text(self.painter, at, Align2::RIGHT_CENTER, text, font, tokens.ink);
                return;
            }
            if right - taken.right() >= width {
                ink::text(self.painter, pos2(taken.right() + gap, y), Align2::LEFT_CENTER, text, font, tokens.ink);
                return;
            }
        }
    }

    /// How long so many bytes are.
    fn ruler(&self) {
        let tokens = self.tokens;
        let foot = self.geometry.foot;
        let most = f64::from(foot.width()) * 0.3 / self.geometry.scale.px_per_byte;
        let bytes = round_below(most);
        let width = self.geometry.scale.px(bytes);
        let y = foot.center().y;
        let stroke = tokens.stroke(1.2, tokens.muted);
        let (left, right) = (foot.left() + 1.0, foot.left() + 1.0 + width);
        self.painter.hline(left..=right, y, stroke);
        for x in [left, right] {
            self.painter.vline(x, (y - tokens.px(4.0))..=(y + tokens.px(4.0)), stroke);
        }
        let at = pos2(right, y) + vec2(tokens.px(8.0), 0.0);
        let text = bytes_binary(Bytes(bytes));
        ink::text(self.painter, at, Align2::LEFT_CENTER, text, tokens.font(Type::Small), tokens.muted);
    }
}

/// A round number of bytes below `most`: 1, 2, 5, 10 … in the unit that fits.
pub fn round_below(most: f64) -> u64 {
    let unit = [1024.0 * MIB as f64, MIB as f64, 1024.0].into_iter().find(|unit| *unit <= most).unwrap_or(1.0);
    let count = (most / unit).max(1.0);
    let power = 10_f64.powf(count.log10().floor());
    let step = [5.0, 2.0, 1.0].into_iter().find(|step| step * power <= count).unwrap_or(1.0);
    (step * power * unit) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ruler_has_a_round_length() {
        assert_eq!(round_below(18.0 * MIB as f64), 10 * MIB);
        assert_eq!(round_below(7.3 * MIB as f64), 5 * MIB);
        assert_eq!(round_below(3000.0), 2048);
        assert_eq!(round_below(700.0), 500);
        assert_eq!(round_below(0.0), 1);
    }
}
