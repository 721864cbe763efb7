//! Painting the bottleneck panel. It sees the answer, the geometry and the tokens, and decides nothing.

use super::layout::Geometry;
use super::words;
use crate::ink;
use egui::{Align2, Color32, CornerRadius, Painter, Rangef, Rect, Stroke, StrokeKind, pos2, vec2};
use vramlab_kit::{Tokens, Type};
use vramlab_model::bottleneck::{Found, Resource};
use vramlab_units::{Lang, Text};

/// Everything that painting reads.
pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub found: &'a Found,
    /// The row under the pointer or the keyboard's cursor.
    pub picked: Option<usize>,
}

const BINDS: Text = Text::new("瓶颈", "binds");

impl Scene<'_> {
    pub fn paint(&self) {
        self.floor();
        for (idx, resource) in Resource::ALL.into_iter().enumerate() {
            self.row(idx, resource);
        }
        self.serial();
    }

    fn color(&self, idx: usize) -> Color32 {
        self.tokens.series(idx, Resource::ALL.len())
    }

    /// A line down from the end of the longest bar: no run is faster.
    fn floor(&self) {
        let Self { painter, tokens, geometry, .. } = self;
        let x = geometry.rows.iter().map(|row| row.bar.right()).fold(geometry.x0, f32::max);
        let (top, bottom) = (geometry.rect.top(), geometry.serial_row.bottom());
        ink::dashes(painter, &[pos2(x, top), pos2(x, bottom)], tokens.stroke(1.0, tokens.muted), 4.0, 3.0);
        let axis = painter.round_to_pixel_center(geometry.x0);
        painter.vline(axis, Rangef::new(top, bottom), Stroke::new(1.0, tokens.line));
    }

    fn row(&self, idx: usize, resource: Resource) {
        let Self { painter, tokens, geometry, found, lang, .. } = self;
        let row = geometry.rows[idx];
        let is_bound = found.bound.contains(&resource);
        let color = if is_bound { self.color(idx) } else { tokens.tint(self.color(idx), 0.45) };
        let bar = row.bar.with_max_x(row.bar.right().max(row.bar.left() + 1.0));
        let corner = CornerRadius::same(3);
        if found.times_us[idx] > 0.0 {
            painter.rect_filled(bar, corner, color);
        }
        if self.picked == Some(idx) {
            painter.rect_stroke(bar.expand(1.5), corner, tokens.stroke(1.5, tokens.accent), StrokeKind::Outside);
        }
        self.name(row.rect, row.bar, words::name(resource).get(*lang), is_bound);
        let time = words::time(found.times_us[idx]);
        let font = tokens.font(if is_bound { Type::NoteStrong } else { Type::Note });
        let at = pos2(row.bar.right() + tokens.space.xs, row.bar.center().y);
        let ink_color = if is_bound { tokens.ink } else { tokens.muted };
        let text = ink::text_on(painter, at, Align2::LEFT_CENTER, time, font, ink_color, tokens.surface);
        if is_bound {
            self.tag(text);
        }
    }

    fn name(&self, row: Rect, bar: Rect, name: &str, is_strong: bool) {
        let Self { painter, tokens, geometry, .. } = self;
        let font = tokens.font(if is_strong { Type::NoteStrong } else { Type::Note });
        let color = if is_strong { tokens.ink } else { tokens.muted };
        let (at, anchor) = if geometry.is_stacked {
            (row.left_top(), Align2::LEFT_TOP)
        } else {
            (pos2(row.left(), bar.center().y), Align2::LEFT_CENTER)
        };
        ink::text(painter, at, anchor, name, font, color);
    }

    /// The word beside the time of what binds.
    fn tag(&self, beside: Rect) {
        let Self { painter, tokens, lang, .. } = self;
        let galley = painter.layout_no_wrap(BINDS.get(*lang).to_owned(), tokens.font(Type::Small), tokens.caution);
        let min = pos2(beside.right() + tokens.space.xs, beside.center().y - galley.size().y / 2.0);
        let rect = Rect::from_min_size(min, galley.size()).expand2(vec2(tokens.space.xxs, 1.0));
        painter.rect(rect, 4.0, tokens.surface, tokens.stroke(1.0, tokens.caution), StrokeKind::Outside);
        painter.galley(min, galley, tokens.caution);
    }

    fn serial(&self) {
        let Self { painter, tokens, geometry, found, lang, .. } = self;
        for (idx, part) in geometry.serial.iter().enumerate().filter(|(_, part)| part.width() > 0.2) {
            painter.rect_filled(*part, 0.0, tokens.tint(self.color(idx), 0.45));
        }
        let last = geometry.serial.last().copied().unwrap_or(geometry.serial_row);
        self.name(geometry.serial_row, last, words::SERIAL.get(*lang), false);
        let at = pos2(last.right() + tokens.space.xs, last.center().y);
        let font = tokens.font(Type::Note);
        ink::text(painter, at, Align2::LEFT_CENTER, words::time(found.serial_us()), font, tokens.muted);
    }
}
