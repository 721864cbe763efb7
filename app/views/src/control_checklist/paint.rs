//! Painting the intervals, the list and the ladder. It decides nothing.

use super::Case;
use super::layout::Geometry;
use super::words;
use crate::ink;
use egui::{Align2, Color32, CornerRadius, Painter, Pos2, Rect, StrokeKind, pos2, vec2};
use vramlab_kit::{Tokens, Type};
use vramlab_model::control_check::{CONTROLS, Control, Worth};
use vramlab_model::samples::Change;
use vramlab_units::Lang;
use vramlab_units::show::number;

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub case: Case,
    pub change: Change,
    pub kept: &'a [bool; 10],
    pub worth: Worth,
    pub hangs_on: Option<&'static Control>,
    pub hovered: Option<usize>,
}

pub fn color(tokens: &Tokens, worth: Worth) -> Color32 {
    match worth {
        Worth::Repeatable => tokens.good,
        Worth::OneDay => tokens.ink,
        Worth::Hint => tokens.caution,
        Worth::Nothing => tokens.bad,
    }
}

impl Scene<'_> {
    pub fn paint(&self) {
        self.intervals();
        for (idx, control) in CONTROLS.iter().enumerate() {
            self.row(idx, control);
        }
        for (idx, worth) in Worth::ALL.into_iter().enumerate() {
            self.rung(self.geometry.rungs[idx], worth);
        }
    }

    fn intervals(&self) {
        let Self { painter, tokens, lang, geometry, case, .. } = self;
        let rect = geometry.intervals;
        let names = words::sides(*lang);
        let small = tokens.font(Type::Small);
        let left = names.iter().map(|name| ink::text_width(painter, name, small.clone())).fold(0.0, f32::max);
        let plot = rect.with_min_x(rect.left() + left + tokens.space.m);
        let (low, high) = case.ends();
        let x_of = |value: f64| plot.left() + plot.width() * ((value - low) / (high - low)) as f32;
        let fill = if self.worth == Worth::Nothing { tokens.muted } else { color(tokens, self.worth) };
        for (idx, (from, to)) in case.intervals().into_iter().enumerate() {
            let y = rect.top() + tokens.px(16.0 + 26.0 * idx as f32);
            ink::text(painter, pos2(rect.left(), y), Align2::LEFT_CENTER, names[idx], small.clone(), tokens.muted);
            let half = tokens.px(7.0);
            let band = Rect::from_min_max(pos2(x_of(from), y - half), pos2(x_of(to), y + half));
            let tone = if idx == 0 { tokens.muted } else { fill };
            painter.rect(
                band,
                CornerRadius::same(3),
                tokens.tint(tone, 0.3),
                tokens.stroke(1.4, tone),
                StrokeKind::Inside,
            );
            let middle = x_of(f64::midpoint(from, to));
            painter.vline(middle, y - half..=y + half, tokens.stroke(2.5, tone));
            if self.worth == Worth::Nothing && idx == 1 {
                // Struck through: the two are not of one thing.
                let ends =
                    [band.left_center() - vec2(tokens.px(8.0), 0.0), band.right_center() + vec2(tokens.px(8.0), 0.0)];
                painter.line_segment(ends, tokens.stroke(2.0, tokens.bad));
            }
        }
        let y = rect.bottom() - tokens.px(14.0);
        painter.hline(plot.x_range(), y, tokens.stroke(1.0, tokens.line));
        for tick in case.ticks() {
            let at = pos2(x_of(tick), y + tokens.px(2.0));
            painter.vline(at.x, y..=y + tokens.px(3.0), tokens.stroke(1.0, tokens.muted));
            let label = number(tick);
            let half = ink::text_width(painter, &label, small.clone()) / 2.0;
            let at = pos2(at.x.min(rect.right() - half), at.y);
            ink::text(painter, at, Align2::CENTER_TOP, label, small.clone(), tokens.muted);
        }
        let at = pos2(plot.right(), y - tokens.px(3.0));
        ink::text(painter, at, Align2::RIGHT_BOTTOM, "ms", small, tokens.muted);
    }

    fn row(&self, idx: usize, control: &Control) {
        let Self { painter, tokens, lang, geometry, .. } = self;
        let rect = geometry.rows[idx];
        let is_kept = self.kept[idx];
        let tone = color(tokens, control.without);
        if self.hovered == Some(idx) {
            painter.rect_filled(rect, CornerRadius::same(tokens.control_radius), tokens.sunken);
        }
        let side = tokens.px(18.0);
        let square = Rect::from_center_size(pos2(rect.left() + tokens.px(16.0), rect.center().y), vec2(side, side));
        self.check(square, is_kept);
        let left = square.right() + tokens.space.s;
        let room = rect.right() - left - tokens.space.xs;
        let name = control.name.get(*lang);
        let font = tokens.font(if is_kept { Type::Note } else { Type::NoteStrong });
        let middle = rect.center().y;
        let (name_y, harm_y) = (middle - tokens.px(8.0), middle + tokens.px(9.0));
        self.line(pos2(left, name_y), name, font, if is_kept { tokens.ink } else { tone }, room);
        let harm = if is_kept { control.harm.get(*lang).to_owned() } else { words::then(control, *lang) };
        let shade = if is_kept { tokens.muted } else { tokens.ink };
        self.line(pos2(left, harm_y), &harm, tokens.font(Type::Small), shade, room);
        if self.hangs_on.is_some_and(|worst| worst.id == control.id) {
            let bar = Rect::from_min_size(
                rect.left_top() + vec2(0.0, tokens.px(4.0)),
                vec2(tokens.px(3.0), rect.height() - tokens.px(8.0)),
            );
            painter.rect_filled(bar, 1.0, tone);
        }
    }

    fn check(&self, square: Rect, is_kept: bool) {
        let Self { painter, tokens, .. } = self;
        let corner = CornerRadius::same(4);
        if !is_kept {
            painter.rect(square, corner, tokens.surface, tokens.stroke(1.5, tokens.muted), StrokeKind::Inside);
            return;
        }
        painter.rect_filled(square, corner, tokens.accent);
        let at = |x: f32, y: f32| square.min + vec2(x, y) * (square.width() / 18.0);
        painter.line(vec![at(4.5, 9.5), at(7.8, 12.8), at(13.8, 5.8)], tokens.stroke(2.0, tokens.on_accent));
    }

    fn line(&self, at: Pos2, text: &str, font: egui::FontId, color: Color32, room: f32) {
        let mut job = egui::text::LayoutJob::simple_singleline(text.to_owned(), font, color);
        job.wrap = egui::text::TextWrapping::truncate_at_width(room.max(24.0));
        let galley = self.painter.layout_job(job);
        self.painter.galley(at - vec2(0.0, galley.size().y / 2.0), galley, color);
    }

    fn rung(&self, rect: Rect, worth: Worth) {
        let Self { painter, tokens, lang, .. } = self;
        let is_here = worth == self.worth;
        let tone = color(tokens, worth);
        let corner = CornerRadius::same(tokens.control_radius);
        let (fill, stroke) = if is_here {
            (tokens.tint(tone, 0.12), tokens.stroke(2.0, tone))
        } else {
            (tokens.surface, tokens.stroke(1.0, tokens.line))
        };
        painter.rect(rect, corner, fill, stroke, StrokeKind::Inside);
        let room = rect.width() - 2.0 * tokens.space.s;
        let ink_of = |strong: Color32| if is_here { strong } else { tokens.muted };
        let font = tokens.font(if is_here { Type::NoteStrong } else { Type::Note });
        let title = format!("{} {}", words::sign(worth), words::title(worth, self.change, *lang));
        let title = painter.layout(title, font, ink_of(tone), room);
        let text = words::meaning(worth).get(*lang).to_owned();
        let text = painter.layout(text, tokens.font(Type::Small), ink_of(tokens.ink), room);
        let top = rect.center().y - (title.size().y + text.size().y) / 2.0;
        let at = pos2(rect.left() + tokens.space.s, top);
        let below = at + vec2(0.0, title.size().y);
        painter.galley(at, title, tone);
        painter.galley(below, text, tokens.ink);
    }
}
