//! Painting a bar for each format, with its bits before and its bytes behind.

use super::question::{Answer, Row};
use super::words;
use crate::ink;
use egui::{Align2, Painter, Pos2, Rect, pos2, vec2};
use vramlab_kit::{Role, Tokens, Type};
use vramlab_units::Lang;

const ROW: f32 = 25.0;
const NAME: f32 = 98.0;
const BITS: f32 = 50.0;
const AFTER: f32 = 78.0;
const HEAD: f32 = 20.0;
const NARROW: f32 = 480.0;

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    rows: Vec<Rect>,
    bits_right: f32,
    left: f32,
    right: f32,
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32, n: usize) -> Self {
        let px = |points: f32| points * scale;
        let is_narrow = width < px(NARROW);
        let row = |at: usize| {
            Rect::from_min_size(pos2(origin.x, origin.y + px(HEAD) + px(ROW) * at as f32), vec2(width, px(ROW)))
        };
        let rows: Vec<Rect> = (0..n).map(row).collect();
        let bits_right = origin.x + px(NAME + if is_narrow { BITS - 10.0 } else { BITS });
        let left = bits_right + px(10.0);
        let rect = Rect::from_min_size(origin, vec2(width, px(HEAD) + px(ROW) * n as f32));
        Self { rect, rows, bits_right, left, right: origin.x + width - px(AFTER) }
    }

    pub fn row_at(&self, at: Pos2) -> Option<usize> {
        self.rows.iter().position(|row| row.contains(at))
    }

    fn bar(&self, row: usize, from: f64, to: f64) -> Rect {
        let rect = self.rows[row].shrink2(vec2(0.0, self.rows[row].height() * 0.18));
        let x = |share: f64| self.left + (self.right - self.left) * share as f32;
        Rect::from_min_max(pos2(x(from), rect.top()), pos2(x(to).max(x(from)), rect.bottom()))
    }
}

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub answer: &'a Answer,
    pub looked: usize,
}

impl Scene<'_> {
    pub fn paint(&self) {
        let Self { painter, tokens, geometry, answer, lang, .. } = self;
        let (bits, bytes) = match lang {
            Lang::Zh => ("位/参数", "文件"),
            Lang::En => ("bits", "file"),
        };
        let font = tokens.font(Type::Small);
        let top = geometry.rect.top();
        let at = pos2(geometry.bits_right, top);
        ink::text(painter, at, Align2::RIGHT_TOP, bits, font.clone(), tokens.muted);
        ink::text(painter, pos2(geometry.rect.right(), top), Align2::RIGHT_TOP, bytes, font, tokens.muted);
        let most = answer.rows.iter().map(|row| row.bytes).fold(1.0, f64::max);
        for (at, row) in answer.rows.iter().enumerate() {
            self.row(at, row, most);
        }
    }

    fn row(&self, at: usize, row: &Row, most: f64) {
        let Self { painter, tokens, geometry, .. } = self;
        let rect = geometry.rows[at];
        let is_looked = at == self.looked;
        if is_looked {
            painter.rect_filled(rect.expand2(vec2(4.0, 0.0)), 4.0, tokens.sunken);
        }
        let y = rect.center().y;
        let name = tokens.font(if is_looked { Type::NoteStrong } else { Type::Note });
        ink::text(painter, pos2(rect.left(), y), Align2::LEFT_CENTER, row.format.name, name, tokens.ink);
        let mono = tokens.font(Type::MonoSmall);
        let bits = words::bits(row.bits);
        ink::text(painter, pos2(geometry.bits_right, y), Align2::RIGHT_CENTER, bits, mono.clone(), tokens.muted);
        let color = tokens.role(Role::Parameters);
        let (inner, whole) = (row.linear_bytes / most, row.bytes / most);
        painter.rect_filled(geometry.bar(at, 0.0, inner), 2.0, color);
        painter.rect_filled(geometry.bar(at, inner, whole), 2.0, tokens.tint(color, 0.4));
        let after = words::gb(row.bytes);
        ink::text(painter, pos2(rect.right(), y), Align2::RIGHT_CENTER, after, mono, tokens.ink);
    }
}
