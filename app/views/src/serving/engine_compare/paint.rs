//! A bar of the card for each engine. It decides nothing.

use super::engines::ENGINES;
use super::question::{Part, Taken};
use super::words;
use crate::ink;
use egui::{Align2, Painter, Pos2, Rect, pos2, vec2};
use vramlab_kit::paint::{Area, area, dashed_rect};
use vramlab_kit::{Mark, Role, Tokens, Type};
use vramlab_units::Lang;

const ROW: f32 = 44.0;
const NARROW_ROW: f32 = 62.0;
const NAME: f32 = 104.0;
const AFTER: f32 = 178.0;
const NARROW: f32 = 640.0;

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    pub rows: Vec<Rect>,
    is_narrow: bool,
    left: f32,
    right: f32,
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32) -> Self {
        let px = |points: f32| points * scale;
        let is_narrow = width < px(NARROW);
        let height = px(if is_narrow { NARROW_ROW } else { ROW });
        let rows: Vec<Rect> = (0..ENGINES.len())
            .map(|idx| Rect::from_min_size(pos2(origin.x, origin.y + height * idx as f32), vec2(width, height)))
            .collect();
        let rect = Rect::from_min_size(origin, vec2(width, height * rows.len() as f32));
        let inset = px(6.0);
        let left = origin.x + if is_narrow { inset } else { px(NAME) };
        let right = origin.x + width - if is_narrow { inset } else { px(AFTER) };
        Self { rect, rows, is_narrow, left, right }
    }

    pub fn row_at(&self, at: Pos2) -> Option<usize> {
        self.rows.iter().position(|row| row.contains(at))
    }

    fn bar(&self, row: usize) -> Rect {
        let rect = self.rows[row];
        let (top, bottom) = if self.is_narrow { (0.48, 0.88) } else { (0.2, 0.8) };
        Rect::from_min_max(
            pos2(self.left, rect.top() + rect.height() * top),
            pos2(self.right, rect.top() + rect.height() * bottom),
        )
    }
}

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub taken: &'a [Taken],
    pub card_bytes: f64,
    pub picked: usize,
    pub hovered: Option<usize>,
}

pub fn mark(tokens: &Tokens, part: Part) -> Mark {
    match part {
        Part::NonTorch => Mark::Square(tokens.tint(tokens.muted, 0.5)),
        Part::Weights => Mark::Square(tokens.role(Role::Parameters)),
        Part::Activations => Mark::Square(tokens.role(Role::Activations)),
        Part::Pool => Mark::Square(tokens.role(Role::KvCache)),
        Part::Growing => Mark::Square(tokens.tint(tokens.role(Role::KvCache), 0.25)),
        Part::Left => Mark::Area(Area::Free),
    }
}

impl Scene<'_> {
    pub fn paint(&self) {
        for idx in 0..self.taken.len() {
            self.row(idx);
        }
    }

    fn row(&self, idx: usize) {
        let Self { painter, tokens, geometry, taken, lang, .. } = self;
        let (rect, bar, taken) = (geometry.rows[idx], geometry.bar(idx), &taken[idx]);
        if self.picked == idx {
            painter.rect_filled(rect.shrink2(vec2(0.0, 1.0)), 6.0, tokens.accent_soft);
        } else if self.hovered == Some(idx) {
            painter.rect_filled(rect.shrink2(vec2(0.0, 1.0)), 6.0, tokens.sunken);
        }
        let (strong, mono) = (tokens.font(Type::NoteStrong), tokens.font(Type::MonoSmall));
        let y = if geometry.is_narrow { rect.top() + rect.height() * 0.26 } else { rect.center().y };
        let inset = tokens.px(6.0);
        ink::text(painter, pos2(rect.left() + inset, y), Align2::LEFT_CENTER, &ENGINES[idx].name, strong, tokens.ink);
        let is_bad = taken.is_short || taken.pool_bytes <= 0.0;
        let text = words::after(taken, *lang);
        let color = if is_bad { tokens.bad } else { tokens.ink };
        let (at, anchor) = if geometry.is_narrow {
            (pos2(rect.right() - inset, y), Align2::RIGHT_CENTER)
        } else {
            (pos2(bar.right() + tokens.px(10.0), y), Align2::LEFT_CENTER)
        };
        ink::text(painter, at, anchor, text, mono, color);
        self.parts(bar, taken);
    }

    fn parts(&self, bar: Rect, taken: &Taken) {
        let Self { painter, tokens, card_bytes, .. } = self;
        let used: f64 = taken.parts.iter().map(|(_, bytes)| bytes).sum();
        let whole = card_bytes.max(used);
        let x = |bytes: f64| bar.left() + bar.width() * (bytes / whole) as f32;
        let mut from = 0.0;
        for (part, bytes) in &taken.parts {
            let rect = Rect::from_min_max(pos2(x(from), bar.top()), pos2(x(from + bytes), bar.bottom()));
            from += bytes;
            match mark(tokens, *part) {
                Mark::Square(color) => {
                    painter.rect_filled(rect.shrink2(vec2(0.5, 0.0)), 2.0, color);
                }
                Mark::Area(kind) => area(painter, tokens, rect, kind),
                _ => {}
            }
            if *part == Part::Growing {
                dashed_rect(
                    painter,
                    rect.shrink(1.0),
                    2.0,
                    tokens.stroke(1.4, tokens.role(Role::KvCache)),
                    tokens.px(5.0),
                );
            }
        }
        if used > card_bytes * (1.0 + 1e-9) {
            painter.vline(x(*card_bytes), bar.y_range().expand(tokens.px(3.0)), tokens.stroke(2.0, tokens.bad));
        }
    }
}
