//! The picture of an SM: what its blocks take, and which resource lets no further one in. Decides nothing.

use super::layout::{CELLS, Geometry};
use super::question::{Answer, Question};
use super::words;
use crate::ink;
use egui::{Align2, Color32, CornerRadius, Painter, Rect, Stroke, StrokeKind, pos2, vec2};
use vramlab_kit::{Area, Tokens, Type, paint, palette};
use vramlab_model::kernels::architecture::PARTITIONS;
use vramlab_units::{Lang, Text};

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub question: &'a Question,
    pub answer: &'a Answer,
    /// The block under the pointer.
    pub picked: Option<u64>,
}

pub fn warp(tokens: &Tokens) -> Color32 {
    tokens.category(0)
}

pub fn register(tokens: &Tokens) -> Color32 {
    lifted(tokens, tokens.hierarchy(0.0))
}

pub fn shared(tokens: &Tokens) -> Color32 {
    lifted(tokens, tokens.hierarchy(1.0 / 6.0))
}

/// The near end of the hierarchy is dark: on a dark ground it comes forward a little.
pub fn lifted(tokens: &Tokens, color: Color32) -> Color32 {
    if tokens.is_dark() { palette::mix(color, tokens.ink, 0.34) } else { color }
}

impl Scene<'_> {
    pub fn paint(&self) {
        self.partitions();
        self.blocks();
        self.shared();
        self.ticks();
        self.meters();
        self.waves();
    }

    fn is_limit(&self, word: &str) -> bool {
        self.answer.limits.limiter().split('+').any(|limit| limit == word)
    }

    /// Neighbouring blocks differ in shade, so that one can be told from the next.
    fn fill(&self, color: Color32, block: u64) -> Color32 {
        let share = if block.is_multiple_of(2) { 0.9 } else { 0.55 };
        self.tokens.tint(color, share)
    }

    fn glow(&self, rect: Rect, is_on: bool) {
        if is_on {
            let (tokens, corner) = (self.tokens, CornerRadius::same(4));
            let soft = tokens.stroke(5.0, tokens.tint(tokens.caution, 0.25));
            self.painter.rect_stroke(rect.expand(tokens.px(1.0)), corner, soft, StrokeKind::Outside);
            self.painter.rect_stroke(rect, corner, tokens.stroke(1.6, tokens.caution), StrokeKind::Outside);
        }
    }

    fn name(&self, rect: Rect, text: Text) {
        let at = pos2(rect.left(), rect.top() - self.tokens.px(3.5));
        let font = self.tokens.font(Type::Small);
        ink::text(self.painter, at, Align2::LEFT_BOTTOM, text.get(self.lang), font, self.tokens.muted);
    }

    fn partitions(&self) {
        let Self { painter, tokens, geometry, question, .. } = self;
        let slots = question.sm.warps / PARTITIONS;
        for (idx, part) in geometry.partitions.iter().enumerate() {
            painter.rect_filled(part.frame, CornerRadius::same(6), tokens.sunken);
            for at in 0..slots {
                painter.rect_filled(geometry.slot(at * PARTITIONS + idx as u64), 1, tokens.surface);
            }
            for at in 0..CELLS {
                painter.rect_filled(geometry.cell(idx as u64, at), 0, tokens.surface);
            }
            self.glow(part.slots, self.is_limit("warps"));
            self.glow(part.registers, self.is_limit("registers"));
        }
        let (first, lang) = (&geometry.partitions[0], self.lang);
        let head = words::pick(
            lang,
            format!("SM {}：4 个分区，各 {slots} 个 warp 槽、16 384 个寄存器", question.sm.name()),
            format!("SM {}: 4 partitions, each {slots} warp slots and 16 384 registers", question.sm.name()),
        );
        let at = pos2(geometry.rect.left(), first.frame.top() - tokens.px(3.0));
        let room = geometry.sm.width() - geometry.shared.width();
        let short = format!("SM {} · {slots} × 4", question.sm.name());
        let font = tokens.font(Type::NoteStrong);
        let fits = ink::text_width(painter, &head, font.clone()) < room;
        ink::text(painter, at, Align2::LEFT_BOTTOM, if fits { head } else { short }, font, tokens.ink);
        self.name(first.slots, words::WARPS);
        self.name(first.registers, words::REGISTERS);
    }

    fn blocks(&self) {
        let Self { painter, tokens, geometry, question, answer, .. } = self;
        let each = question.launch.warps();
        for number in 0..answer.warps {
            let block = number / each;
            let mark = Stroke::new(tokens.px(1.5), tokens.accent);
            let slot = geometry.slot(number);
            painter.rect_filled(slot, 1, self.fill(warp(tokens), block));
            for (part, cell) in Geometry::cells_of(question, number) {
                painter.rect_filled(geometry.cell(part, cell), 0, self.fill(register(tokens), block));
            }
            if self.picked == Some(block) {
                painter.rect_stroke(slot, 1, mark, StrokeKind::Outside);
                for (part, cell) in Geometry::cells_of(question, number) {
                    painter.rect_stroke(geometry.cell(part, cell), 0, mark, StrokeKind::Inside);
                }
            }
        }
    }

    fn shared(&self) {
        let Self { painter, tokens, geometry, question, answer, .. } = self;
        let column = geometry.shared;
        painter.rect_filled(column, 2, tokens.sunken);
        paint::area(painter, tokens, column, Area::Free);
        let per_byte = column.height() / (question.sm.shared_kib << 10) as f32;
        for block in 0..answer.blocks {
            let rect = geometry.stretch(question, block);
            let asked = (question.launch.static_bytes + question.launch.dynamic_bytes) as f32 * per_byte;
            let reserved = rect.with_min_y((rect.bottom() - question.sm.reserved as f32 * per_byte).max(rect.top()));
            painter.rect_filled(rect, 0, self.fill(shared(tokens), block));
            painter.rect_filled(reserved, 0, tokens.tint(tokens.muted, 0.55));
            let over = rect.with_max_y((reserved.top() - asked).max(rect.top()));
            if over.height() > 1.0 {
                paint::area(painter, tokens, over, Area::Wasted);
            }
            painter.hline(rect.x_range(), rect.top(), Stroke::new(1.0, tokens.surface));
            if self.picked == Some(block) {
                painter.rect_stroke(rect, 0, tokens.stroke(1.5, tokens.accent), StrokeKind::Inside);
            }
        }
        self.glow(column, self.is_limit("shared"));
        let at = pos2(column.right(), column.top() - tokens.px(3.0));
        let text = format!("{} KiB", question.sm.shared_kib);
        ink::text(painter, at, Align2::RIGHT_BOTTOM, text, tokens.font(Type::MonoSmall), tokens.muted);
    }

    fn ticks(&self) {
        let Self { painter, tokens, geometry, question, answer, .. } = self;
        self.name(geometry.ticks, words::BLOCKS);
        for idx in 0..question.sm.blocks {
            let rect = geometry.tick(question, idx);
            let is_taken = idx < answer.blocks;
            let color = if is_taken { self.fill(tokens.category(3), idx) } else { tokens.sunken };
            painter.rect_filled(rect, 2, color);
            if self.picked == Some(idx) {
                painter.rect_stroke(rect, 2, tokens.stroke(1.5, tokens.accent), StrokeKind::Outside);
            }
        }
        self.glow(geometry.ticks, self.is_limit("blocks"));
    }

    fn meters(&self) {
        let Self { painter, tokens, geometry, answer, lang, .. } = self;
        let limits = answer.limits;
        let rows = [
            ("warps", words::WARPS, Some(limits.warps), warp(tokens)),
            ("registers", words::REGISTERS, limits.registers, register(tokens)),
            ("shared", words::SHARED, limits.shared, shared(tokens)),
            ("blocks", words::BLOCKS, Some(limits.blocks), tokens.category(3)),
        ];
        let names = rows.map(|(_, name, _, _)| name.get(*lang));
        let font = tokens.font(Type::Small);
        let wide = names.map(|name| ink::text_width(painter, name, font.clone())).into_iter().fold(0.0, f32::max);
        self.name(geometry.meters[0].translate(vec2(0.0, tokens.px(3.0))), words::ALLOWS);
        let most = limits.blocks.max(1) as f32;
        let widest = format!("000  {}", words::LIMITS.get(*lang));
        let said_wide = ink::text_width(painter, &widest, tokens.font(Type::NoteStrong)) + tokens.px(8.0);
        for (rect, (word, name, allowed, color)) in geometry.meters.iter().zip(rows) {
            let is_limit = self.is_limit(word);
            let ink_color = if is_limit { tokens.caution } else { tokens.muted };
            let y = rect.center().y;
            let role = if is_limit { Type::NoteStrong } else { Type::Small };
            ink::text(painter, pos2(rect.left(), y), Align2::LEFT_CENTER, name.get(*lang), font.clone(), ink_color);
            let left = rect.left() + wide + tokens.px(10.0);
            let said = allowed.map_or_else(|| words::NO_LIMIT.get(*lang).to_owned(), |n| n.to_string());
            let said = if is_limit { format!("{said}  {}", words::LIMITS.get(*lang)) } else { said };
            let room = (rect.right() - left - said_wide).max(tokens.px(8.0));
            let share = allowed.map_or(1.0, |n| (n as f32 / most).min(1.0));
            let bar = Rect::from_min_size(pos2(left, y - tokens.px(5.0)), vec2(room * share, tokens.px(10.0)));
            painter.rect_filled(bar, 2, tokens.tint(color, if is_limit { 0.9 } else { 0.4 }));
            let is_more = allowed.is_none_or(|n| n > limits.blocks);
            let arrow = if is_more && allowed.is_some() { "+" } else { "" };
            let at = pos2(bar.right() + tokens.px(6.0), y);
            ink::text(painter, at, Align2::LEFT_CENTER, format!("{said}{arrow}"), tokens.font(role), ink_color);
        }
    }

    fn waves(&self) {
        let Self { painter, tokens, geometry, answer, question, lang, .. } = self;
        let area = geometry.waves;
        let said = words::waves(question, answer, *lang);
        let galley = painter.layout(said, tokens.font(Type::Small), tokens.muted, area.width());
        let at = pos2(area.left(), area.top() - tokens.px(4.0) - galley.size().y);
        painter.galley(at, galley, tokens.muted);
        let Some((n, _, last)) = answer.waves else { return };
        let drawn = n.min((area.width() / tokens.px(26.0)) as u64).max(1);
        let wide = area.width() / drawn.max(4) as f32;
        let places = answer.blocks * question.sms;
        for idx in 0..drawn {
            let left = area.left() + idx as f32 * wide;
            let frame = Rect::from_min_size(pos2(left, area.top()), vec2(wide - tokens.px(3.0), area.height()));
            let is_last = idx + 1 == drawn;
            let skips = n > drawn && idx + 2 == drawn;
            paint::area(painter, tokens, frame, Area::Free);
            if skips {
                ink::text(painter, frame.center(), Align2::CENTER_CENTER, "…", tokens.font(Type::Note), tokens.muted);
                continue;
            }
            let share = if is_last { last as f32 / places as f32 } else { 1.0 };
            let top = frame.bottom() - (frame.height() * share).max(tokens.px(1.5));
            painter.rect_filled(frame.with_min_y(top), 1, tokens.tint(warp(tokens), 0.7));
            let (text, color) =
                if share > 0.6 { ((idx + 1).to_string(), tokens.surface) } else { (n.to_string(), tokens.muted) };
            if wide > tokens.px(24.0) {
                let text = if is_last { n.to_string() } else { text };
                ink::text(painter, frame.center(), Align2::CENTER_CENTER, text, tokens.font(Type::MonoSmall), color);
            }
        }
    }
}
