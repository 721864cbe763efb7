//! Geometry and picture of the ribbon: struct, lanes, memory, sectors. Decides nothing.

use super::question::{Answer, Question};
use super::words;
use crate::ink;
use egui::{Align2, Color32, Painter, Pos2, Rect, StrokeKind, pos2, vec2};
use vramlab_kit::{Area, Tokens, Type, paint};
use vramlab_model::kernels::struct_fields::{LANES, SECTOR};
use vramlab_units::Lang;

const LABEL: f32 = 20.0;
const BAR: f32 = 28.0;
const ARROWS: f32 = 92.0;
const BOX: f32 = 18.0;

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    pub one: Rect,
    pub lanes: Rect,
    pub memory: Rect,
    pub fetched: Rect,
    one_byte: f32,
    byte: f32,
    box_height: f32,
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32, question: &Question, answer: &Answer) -> Self {
        let px = |points: f32| points * scale;
        let one_byte = (width / answer.struct_bytes as f32).min(px(14.0));
        let row = |top: f32, wide: f32, height: f32| Rect::from_min_size(pos2(origin.x, top), vec2(wide, height));
        let one = row(origin.y + px(LABEL), one_byte * answer.struct_bytes as f32, px(BAR));
        let lanes = row(one.bottom() + px(14.0 + LABEL), width, px(14.0));
        let memory = row(lanes.bottom() + px(ARROWS), width, px(BAR));
        let n_rows = if question.is_worst { answer.read.len().max(1) } else { 1 };
        let fetched = row(memory.bottom() + px(10.0 + 2.0 * LABEL), width, px(BOX) * n_rows as f32);
        let rect = Rect::from_min_max(origin, pos2(origin.x + width, fetched.bottom() + px(4.0)));
        Self { rect, one, lanes, memory, fetched, one_byte, byte: width / answer.shown as f32, box_height: px(BOX) }
    }

    pub fn lane(&self, lane: u64) -> Pos2 {
        let pitch = self.lanes.width() / LANES as f32;
        pos2(self.lanes.left() + (lane as f32 + 0.5) * pitch, self.lanes.center().y)
    }

    pub fn field(&self, answer: &Answer, question: &Question, at: usize) -> Rect {
        let left = self.one.left() + answer.offsets[at] as f32 * self.one_byte;
        let wide = question.fields[at].bytes as f32 * self.one_byte;
        Rect::from_min_size(pos2(left, self.one.top()), vec2(wide, self.one.height()))
    }

    pub fn bytes(&self, from: u64, n: u64) -> Rect {
        let left = self.memory.left() + from as f32 * self.byte;
        Rect::from_min_size(pos2(left, self.memory.top()), vec2(n as f32 * self.byte, self.memory.height()))
    }

    pub fn fetch(&self, sector: u64, row: u64) -> Rect {
        let over = self.bytes(sector * SECTOR, SECTOR);
        let top = self.fetched.top() + row as f32 * self.box_height;
        let gap = (over.width() * 0.08).min(1.5);
        Rect::from_min_size(pos2(over.left(), top), vec2(over.width(), self.box_height)).shrink2(vec2(gap, 1.0))
    }

    pub fn field_at(&self, answer: &Answer, question: &Question, at: Pos2) -> Option<usize> {
        (0..question.fields.len()).find(|field| self.field(answer, question, *field).contains(at))
    }

    pub fn lane_at(&self, at: Pos2) -> Option<u64> {
        let over = self.lanes.expand2(vec2(0.0, 12.0));
        over.contains(at)
            .then(|| ((at.x - over.left()) / over.width() * LANES as f32) as u64)
            .filter(|lane| *lane < LANES)
    }

    pub fn sector_at(&self, at: Pos2) -> Option<u64> {
        let is_over = self.memory.expand(2.0).contains(at) || self.fetched.expand(2.0).contains(at);
        is_over.then(|| ((at.x - self.memory.left()).max(0.0) / self.byte) as u64 / SECTOR)
    }
}

pub fn color(tokens: &Tokens, field: usize) -> Color32 {
    tokens.category(field)
}

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub question: &'a Question,
    pub answer: &'a Answer,
    pub selected: usize,
    pub lane: Option<u64>,
    pub sector: Option<u64>,
}

impl Scene<'_> {
    pub fn paint(&self) {
        self.one();
        self.memory();
        self.arrows();
        self.fetched();
    }

    fn label(&self, over: Rect, text: &str) {
        let at = over.left_top() - vec2(0.0, self.tokens.px(5.0));
        ink::text(self.painter, at, Align2::LEFT_BOTTOM, text, self.tokens.font(Type::Small), self.tokens.muted);
    }

    fn fill(&self, field: usize) -> Color32 {
        let strong = if self.tokens.is_dark() { 0.8 } else { 0.75 };
        let share = if self.question.is_read[field] { strong } else { 0.22 };
        self.tokens.tint(color(self.tokens, field), share)
    }

    fn one(&self) {
        let Self { painter, tokens, geometry, question, answer, .. } = self;
        self.label(geometry.one, &format!("{} · {} B", words::STRUCT.get(self.lang), answer.struct_bytes));
        paint::area(painter, tokens, geometry.one, Area::CachedFree);
        for (at, field) in question.fields.iter().enumerate() {
            let rect = geometry.field(answer, question, at);
            painter.rect_filled(rect, 0.0, tokens.surface);
            painter.rect_filled(rect, 0.0, self.fill(at));
            let font = tokens.font(Type::MonoSmall);
            for text in [format!("{} {} B", field.name, field.bytes), field.name.clone()] {
                if ink::text_width(painter, &text, font.clone()) + tokens.px(4.0) <= rect.width() {
                    let ink_color = if question.is_read[at] { tokens.surface } else { tokens.ink };
                    ink::text(painter, rect.center(), Align2::CENTER_CENTER, text, font, ink_color);
                    break;
                }
            }
            let stroke = if at == self.selected { tokens.stroke(2.0, tokens.accent) } else { tokens.hairline() };
            painter.rect_stroke(rect, 0.0, stroke, StrokeKind::Inside);
        }
    }

    fn memory(&self) {
        let Self { painter, tokens, geometry, question, answer, .. } = self;
        let is_touched = |sector: u64| answer.touched.iter().any(|touched| touched.sector == sector);
        paint::area(painter, tokens, geometry.memory, Area::CachedFree);
        for lane in 0..LANES {
            for (at, field) in question.fields.iter().enumerate() {
                let rect = geometry.bytes(question.place(at, lane), field.bytes);
                painter.rect_filled(rect, 0.0, tokens.surface);
                painter.rect_filled(rect, 0.0, self.fill(at));
            }
        }
        for sector in 0..answer.shown / SECTOR {
            let rect = geometry.bytes(sector * SECTOR, SECTOR);
            let (low, color) = if is_touched(sector) { (6.0, tokens.ink) } else { (4.0, tokens.line) };
            let y = rect.bottom()..=rect.bottom() + tokens.px(low);
            painter.vline(rect.left(), y.clone(), tokens.stroke(1.0, color));
            painter.vline(rect.right(), y, tokens.stroke(1.0, color));
            if self.sector == Some(sector) {
                painter.rect_stroke(rect.expand(1.0), 1.0, tokens.stroke(2.0, tokens.accent), StrokeKind::Outside);
            }
        }
        painter.rect_stroke(geometry.memory, 0.0, tokens.hairline(), StrokeKind::Outside);
        let at = geometry.memory.left_bottom() + vec2(0.0, tokens.px(9.0));
        let font = tokens.font(Type::Small);
        ink::text(painter, at, Align2::LEFT_TOP, words::MEMORY.get(self.lang), font, tokens.muted);
    }

    fn arrows(&self) {
        let Self { painter, tokens, geometry, question, answer, .. } = self;
        self.label(geometry.lanes, words::LANE.get(self.lang));
        for lane in 0..LANES {
            let from = geometry.lane(lane);
            let mut is_lit = self.lane == Some(lane);
            for field in &answer.read {
                let start = question.place(*field, lane);
                let bytes = question.fields[*field].bytes;
                let to = geometry.bytes(start, bytes).center_top();
                let is_over =
                    self.sector.is_some_and(|at| (start / SECTOR..=(start + bytes - 1) / SECTOR).contains(&at));
                is_lit |= is_over;
                let is_quiet = (self.lane.is_some() || self.sector.is_some()) && self.lane != Some(lane) && !is_over;
                let share = if is_quiet { 0.18 } else { 0.75 };
                let hue = tokens.tint(color(tokens, *field), share);
                let wide = if self.lane == Some(lane) || is_over { 2.0 } else { 1.0 };
                painter.line_segment([from + vec2(0.0, tokens.px(4.0)), to], tokens.stroke(wide, hue));
            }
            let hue = if is_lit { tokens.accent } else { tokens.muted };
            painter.circle_filled(from, tokens.px(3.5), hue);
        }
    }

    fn fetched(&self) {
        let Self { painter, tokens, geometry, question, answer, .. } = self;
        self.label(geometry.fetched, words::FETCHED.get(self.lang));
        for touched in &answer.touched {
            let mut row = 0;
            let mut low = 0.0;
            for (at, bytes) in touched.by_field.iter().enumerate().filter(|(_, bytes)| **bytes > 0) {
                let rect = geometry.fetch(touched.sector, row);
                if low == 0.0 {
                    paint::area(painter, tokens, rect, Area::Wasted);
                }
                let bottom = rect.bottom() - low;
                let height = rect.height() * (*bytes as f32 / SECTOR as f32).min(1.0);
                let part = Rect::from_min_max(pos2(rect.left(), bottom - height), pos2(rect.right(), bottom));
                painter.rect_filled(part, 0.0, self.fill(answer.read[at]));
                painter.rect_stroke(rect, 1.0, tokens.stroke(1.0, tokens.muted), StrokeKind::Inside);
                if question.is_worst {
                    row += 1;
                } else {
                    low += height;
                }
            }
        }
    }
}
