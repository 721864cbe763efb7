//! Painting the lanes, the sixteen bits as one bar, and the ratios of codecs against the ceiling. It decides nothing.

use super::super::Answer;
use super::{LANES, words};
use crate::ink;
use egui::{Align2, Color32, Painter, Pos2, Rangef, Rect, StrokeKind, pos2, vec2};
use vramlab_kit::paint::{Area, area};
use vramlab_kit::{Axis, Spread, Tokens, Type};
use vramlab_units::Lang;
use vramlab_units::show::{number, with_unit};

const HEAD: f32 = 38.0;
const LANE: f32 = 84.0;
const NAMES: f32 = 20.0;
const BAR_HEAD: f32 = 26.0;
const BAR: f32 = 24.0;
const ROW: f32 = 27.0;
const ROWS_HEAD: f32 = 30.0;
/// First lane of each field, and the end.
const EDGES: [usize; 4] = [0, 1, 9, 16];

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    lanes: Rect,
    bar: Rect,
    rows: Rect,
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32) -> Self {
        let x = Rangef::new(origin.x, origin.x + width);
        let band = |top: f32, height: f32| Rect::from_x_y_ranges(x, Rangef::new(top, top + height * scale));
        let lanes = band(origin.y + HEAD * scale, LANE);
        let bar = band(lanes.bottom() + (NAMES + BAR_HEAD) * scale, BAR);
        let rows = band(bar.bottom() + ROWS_HEAD * scale, ROW * 4.0);
        Self { rect: Rect::from_min_max(origin, rows.max + vec2(0.0, 4.0 * scale)), lanes, bar, rows }
    }

    /// The cell of a lane.
    pub fn lane(&self, idx: usize) -> Rect {
        let wide = self.lanes.width() / LANES.len() as f32;
        Rect::from_min_size(
            pos2(self.lanes.left() + idx as f32 * wide, self.lanes.top()),
            vec2(wide, self.lanes.height()),
        )
    }

    pub fn lane_at(&self, at: Pos2) -> Option<usize> {
        let room = self.lanes.expand2(vec2(0.0, 20.0));
        let share = (at.x - self.lanes.left()) / self.lanes.width();
        room.contains(at).then(|| ((share * LANES.len() as f32) as usize).min(LANES.len() - 1))
    }
}

/// Sign, exponent, mantissa.
pub fn color(tokens: &Tokens, field: usize) -> Color32 {
    tokens.category([2, 0, 1][field])
}

fn field_of(lane: usize) -> usize {
    EDGES.iter().rposition(|edge| *edge <= lane).unwrap_or(0).min(2)
}

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub answer: &'a Answer,
    pub lane: usize,
}

impl Scene<'_> {
    pub fn paint(&self) {
        let fields = ["sign_bits", "exponent_bits", "mantissa_bits"].map(|key| self.answer.num(key));
        self.brackets(&fields);
        for (idx, bits) in self.answer.list("lane_bits").into_iter().enumerate() {
            self.cell(idx, bits);
        }
        self.budget(&fields);
        self.codecs();
    }

    fn brackets(&self, fields: &[f64; 3]) {
        let Self { painter, tokens, geometry, lang, .. } = self;
        for (field, bits) in fields.iter().enumerate() {
            let (first, last) = (geometry.lane(EDGES[field]), geometry.lane(EDGES[field + 1] - 1));
            let x = Rangef::new(first.left() + tokens.px(2.0), last.right() - tokens.px(2.0));
            let y = first.top() - tokens.px(7.0);
            painter.hline(x, y, tokens.stroke(2.0, color(tokens, field)));
            let of = EDGES[field + 1] - EDGES[field];
            let (long, short) = words::bracket(field, *bits, of, *lang);
            let font = tokens.font(Type::Small);
            let is_wide = ink::text_width(painter, &long, font.clone()) <= x.span();
            let text = if is_wide { long } else { short };
            // The sign has one lane only: its words begin at the edge.
            let (at, anchor) = if field == 0 {
                (pos2(geometry.rect.left(), y - tokens.px(5.0)), Align2::LEFT_BOTTOM)
            } else {
                (pos2(x.center(), y - tokens.px(5.0)), Align2::CENTER_BOTTOM)
            };
            ink::text(painter, at, anchor, text, font, tokens.ink);
        }
    }

    fn cell(&self, idx: usize, bits: f64) {
        let Self { painter, tokens, geometry, .. } = self;
        let cell = geometry.lane(idx).shrink2(vec2(tokens.px(1.5), 0.0));
        area(painter, tokens, cell, Area::CachedFree);
        let filled = cell.with_min_y(cell.bottom() - cell.height() * bits.clamp(0.0, 1.0) as f32);
        painter.rect_filled(filled, 1.0, color(tokens, field_of(idx)));
        let is_picked = idx == self.lane;
        if is_picked {
            painter.rect_stroke(cell.expand(1.0), 2.0, tokens.stroke(2.0, tokens.accent), StrokeKind::Outside);
        }
        let ink_of = if is_picked { tokens.accent } else { tokens.muted };
        let at = pos2(cell.center().x, cell.bottom() + tokens.px(4.0));
        let room = cell.width() + tokens.px(2.0);
        let name = LANES[idx];
        let font = tokens.font(Type::MonoSmall);
        let is_wide = ink::text_width(painter, name, font.clone()) <= room;
        if is_wide || is_picked || matches!(idx, 0 | 1 | 8 | 15) {
            // On a narrow page only the ends of a field keep their names.
            ink::text(painter, at, Align2::CENTER_TOP, if is_wide { name } else { &name[..1] }, font, ink_of);
        }
    }

    /// Sixteen bits as one bar: information, and what can be left out.
    fn budget(&self, fields: &[f64; 3]) {
        let Self { painter, tokens, geometry, lang, answer, .. } = self;
        let bar = geometry.bar;
        area(painter, tokens, bar, Area::CachedFree);
        let mut x = bar.left();
        for (field, bits) in fields.iter().enumerate() {
            let wide = bar.width() * (*bits / 16.0) as f32;
            let part = Rect::from_min_size(pos2(x, bar.top()), vec2(wide, bar.height()));
            painter.rect_filled(part, 0.0, color(tokens, field));
            x += wide;
        }
        let text = words::budget(answer.num("field_bits"), *lang);
        let at = bar.left_top() - vec2(0.0, tokens.px(4.0));
        ink::text(painter, at, Align2::LEFT_BOTTOM, text, tokens.font(Type::NoteStrong), tokens.ink);
    }

    fn codecs(&self) {
        let Self { painter, tokens, geometry, answer, lang, .. } = self;
        let rows = [("lz4_ratio", true), ("byte_ratio", false), ("split_lz4_ratio", true), ("split_ratio", false)];
        let top = rows.iter().map(|(key, _)| answer.num(key)).fold(answer.num("field_ratio"), f64::max).max(1.2);
        let axis = Axis { spread: Spread::Linear, min: 0.0, max: top * 1.08 };
        let narrow = geometry.rect.width() < tokens.px(430.0);
        let left = geometry.rows.left() + tokens.px(if narrow { 104.0 } else { 190.0 });
        let span = geometry.rows.right() - left - tokens.px(44.0);
        let x_of = |value: f64| left + span * axis.share_from_value(value).unwrap_or(0.0) as f32;
        painter.vline(x_of(1.0), geometry.rows.y_range(), tokens.stroke(1.0, tokens.line));
        for (row, (key, is_run)) in rows.into_iter().enumerate() {
            let y = geometry.rows.top() + tokens.px(ROW) * (row as f32 + 0.5);
            let name = words::codec(row, narrow, *lang);
            let at = pos2(left - tokens.px(8.0), y);
            ink::text(painter, at, Align2::RIGHT_CENTER, name, tokens.font(Type::Small), tokens.muted);
            let value = answer.num(key);
            let half = tokens.px(8.0);
            let bar = Rect::from_min_max(pos2(left, y - half), pos2(x_of(value), y + half));
            if is_run {
                painter.rect_filled(bar, 1.0, tokens.series(row, 4));
            } else {
                painter.rect_stroke(bar, 1.0, tokens.stroke(1.4, tokens.ink), StrokeKind::Inside);
            }
            let text = if value < 10.0 { format!("{value:.3}") } else { number(value) };
            let at = pos2(bar.right() + tokens.px(5.0), y);
            ink::text_on(
                painter,
                at,
                Align2::LEFT_CENTER,
                text,
                tokens.font(Type::MonoSmall),
                tokens.ink,
                tokens.surface,
            );
        }
        self.ceiling(x_of(answer.num("field_ratio")));
    }

    fn ceiling(&self, x: f32) {
        let Self { painter, tokens, geometry, answer, lang, .. } = self;
        let rows = geometry.rows;
        let top = rows.top() - tokens.px(4.0);
        let ends = [pos2(x, top), pos2(x, rows.bottom())];
        ink::dashes(painter, &ends, tokens.stroke(1.8, tokens.bad), tokens.px(6.0), tokens.px(3.0));
        let text = words::ceiling(&with_unit(answer.num("field_ratio"), "×"), *lang);
        let font = tokens.font(Type::Small);
        let right = (x + ink::text_width(painter, &text, font.clone()) / 2.0).min(rows.right());
        ink::text(painter, pos2(right, top), Align2::RIGHT_BOTTOM, text, font, tokens.bad);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_stand_side_by_side_and_are_found_again() {
        for width in [296.0, 844.0] {
            let figure = Geometry::new(pos2(4.0, 9.0), width, 1.0);
            for idx in 0..16 {
                assert_eq!(figure.lane_at(figure.lane(idx).center()), Some(idx));
            }
            assert!((figure.lane(15).right() - figure.rect.right()).abs() < 1e-3);
            assert!(figure.rect.contains_rect(figure.rows) && figure.bar.bottom() < figure.rows.top());
        }
        assert_eq!([0, 1, 8, 9, 15].map(field_of), [0, 1, 1, 2, 2]);
    }
}
