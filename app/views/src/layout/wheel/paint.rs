//! Geometry and picture of the wheel: 32 banks around, lanes that step over them, and the degree of every pitch. Decides nothing.

use super::{MOST_PITCH, words};
use crate::ink;
use egui::{Align2, Color32, Painter, Pos2, Rect, pos2, vec2};
use std::f32::consts::{FRAC_PI_2, TAU};
use vramlab_kit::{Tokens, Type};
use vramlab_model::kernels::bank_wheel::Wheel;
use vramlab_units::Lang;

const BANKS: usize = 32;
const SIDE: f32 = 330.0;
const BARS: f32 = 150.0;
/// The degree that reaches the top of the bars, as its binary logarithm.
const TOP: f32 = 5.0;

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    pub wheel: Rect,
    pub bars: Rect,
    scale: f32,
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32) -> Self {
        let px = |points: f32| points * scale;
        let is_wide = width >= px(640.0);
        // A name at either side needs room beyond the circle.
        let side = px(SIDE).min(width - px(28.0));
        let left = if is_wide { origin.x + px(14.0) } else { origin.x + (width - side) / 2.0 };
        let wheel = Rect::from_min_size(pos2(left, origin.y), vec2(side, side));
        // Half a number of room for the last pitch.
        let right = origin.x + width - px(10.0);
        let bars = if is_wide {
            let left = wheel.right() + px(36.0);
            let top = wheel.center().y - px(BARS / 2.0);
            Rect::from_min_max(pos2(left, top), pos2(right, top + px(BARS)))
        } else {
            let top = wheel.bottom() + px(30.0);
            Rect::from_min_max(pos2(origin.x + px(18.0), top), pos2(right, top + px(BARS * 0.7)))
        };
        let low = if is_wide { wheel.bottom() } else { bars.bottom() + px(20.0) };
        Self { rect: Rect::from_min_max(origin, pos2(origin.x + width, low)), wheel, bars, scale }
    }

    fn radius(&self) -> f32 {
        self.wheel.width() / 2.0 - 58.0 * self.scale
    }

    /// A place on the ray of `bank`, `out` beyond the circle.
    pub fn on_ray(&self, bank: usize, out: f32) -> Pos2 {
        let turn = bank as f32 / BANKS as f32 * TAU - FRAC_PI_2;
        self.wheel.center() + (self.radius() + out) * vec2(turn.cos(), turn.sin())
    }

    pub fn bank_at(&self, at: Pos2) -> Option<usize> {
        let from = at - self.wheel.center();
        if !self.wheel.contains(at) || from.length() < self.radius() * 0.8 {
            return None;
        }
        let turn = (from.y.atan2(from.x) + FRAC_PI_2).rem_euclid(TAU) / TAU;
        Some((turn * BANKS as f32).round() as usize % BANKS)
    }

    pub fn bar(&self, pitch: u64, degree: u32) -> Rect {
        let wide = self.bars.width() / MOST_PITCH as f32;
        let left = self.bars.left() + (pitch - 1) as f32 * wide;
        let share = 0.06 + 0.94 * (degree.max(1) as f32).log2() / TOP;
        let top = self.bars.bottom() - share * self.bars.height();
        Rect::from_min_max(pos2(left, top), pos2(left + wide, self.bars.bottom())).shrink2(vec2(wide * 0.12, 0.0))
    }

    pub fn pitch_at(&self, at: Pos2) -> u64 {
        let share = ((at.x - self.bars.left()) / self.bars.width()).clamp(0.0, 0.999);
        (share * MOST_PITCH as f32) as u64 + 1
    }
}

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub pitch: u64,
    pub wheel: &'a Wheel,
    /// The degree of each pitch from 1.
    pub degrees: &'a [u32],
    pub bank: Option<usize>,
}

impl Scene<'_> {
    pub fn paint(&self) {
        self.chords();
        self.banks();
        self.bars();
    }

    fn hue(&self, degree: usize) -> Color32 {
        if degree > 1 { self.tokens.caution } else { self.tokens.good }
    }

    fn chords(&self) {
        let Self { painter, tokens, geometry, wheel, .. } = self;
        let bank_of = |lane: usize| wheel.words[lane] as usize % BANKS;
        let ring = tokens.stroke(1.0, tokens.line);
        painter.circle_stroke(geometry.wheel.center(), geometry.radius(), ring);
        for lane in 1..wheel.words.len() {
            let (from, to) = (bank_of(lane - 1), bank_of(lane));
            let is_lit = self.bank.is_some_and(|bank| bank == from || bank == to);
            let share = if is_lit { 0.9 } else { 0.45 };
            let hue = tokens.tint(tokens.ink, share);
            let ends = [geometry.on_ray(from, 0.0), geometry.on_ray(to, 0.0)];
            painter.line_segment(ends, tokens.stroke(if is_lit { 1.8 } else { 1.0 }, hue));
        }
        for (lane, text) in ["0", "1", "2"].iter().enumerate() {
            let at = geometry.on_ray(bank_of(lane), -tokens.px(14.0));
            let is_free = (0..lane).all(|other| bank_of(other) != bank_of(lane));
            if is_free {
                let font = tokens.font(Type::MonoSmall);
                ink::text_on(painter, at, Align2::CENTER_CENTER, *text, font, tokens.ink, tokens.surface);
            }
        }
    }

    fn banks(&self) {
        let Self { painter, tokens, geometry, wheel, .. } = self;
        for (bank, lanes) in wheel.banks.iter().enumerate() {
            let at = geometry.on_ray(bank, 0.0);
            let n = lanes.len();
            let is_over = self.bank == Some(bank);
            if n == 0 {
                painter.circle(at, tokens.px(3.5), tokens.surface, tokens.stroke(1.2, tokens.muted));
            } else {
                let hue = self.hue(n);
                let long = tokens.px(8.0 + 26.0 * (n as f32 / BANKS as f32).sqrt());
                let wide = if is_over { 9.0 } else { 7.0 };
                painter.line_segment([at, geometry.on_ray(bank, long)], tokens.stroke(wide, tokens.tint(hue, 0.8)));
                painter.circle_filled(at, tokens.px(4.0), hue);
            }
            let is_named = bank % 4 == 0 || is_over || n > 1;
            if is_named {
                let text = if n > 1 { format!("{bank}: {n}×") } else { bank.to_string() };
                let is_many = wheel.banks_used > 8 && n > 1 && bank % 4 != 0 && !is_over;
                let color = if n > 1 { tokens.caution } else { tokens.muted };
                if !is_many {
                    let font = tokens.font(Type::MonoSmall);
                    ink::text(
                        painter,
                        geometry.on_ray(bank, tokens.px(46.0)),
                        Align2::CENTER_CENTER,
                        text,
                        font,
                        color,
                    );
                }
            }
        }
    }

    fn bars(&self) {
        let Self { painter, tokens, geometry, .. } = self;
        let small = tokens.font(Type::Small);
        let title = geometry.bars.left_top() - vec2(0.0, tokens.px(8.0));
        ink::text(painter, title, Align2::LEFT_BOTTOM, words::BARS.get(self.lang), small, tokens.muted);
        for (idx, degree) in self.degrees.iter().enumerate() {
            let pitch = idx as u64 + 1;
            let rect = geometry.bar(pitch, *degree);
            let is_here = pitch == self.pitch;
            let share = if is_here { 1.0 } else { 0.5 };
            painter.rect_filled(rect, 1.0, tokens.tint(self.hue(*degree as usize), share));
            if is_here {
                let color = tokens.ink;
                let mark = [rect.center_top() - vec2(0.0, tokens.px(4.0)), rect.center_top()];
                painter.line_segment(mark, tokens.stroke(2.0, color));
                let at = rect.center_bottom() + vec2(0.0, tokens.px(4.0));
                let font = tokens.font(Type::MonoSmall);
                ink::text(painter, at, Align2::CENTER_TOP, pitch.to_string(), font, color);
            } else if pitch.is_multiple_of(16) && pitch.abs_diff(self.pitch) > 3 {
                let at = rect.center_bottom() + vec2(0.0, tokens.px(4.0));
                let font = tokens.font(Type::MonoSmall);
                ink::text(painter, at, Align2::CENTER_TOP, pitch.to_string(), font, tokens.muted);
            }
        }
        painter.hline(geometry.bars.x_range(), geometry.bars.bottom(), tokens.hairline());
        for degree in [1_u32, 4, 32] {
            let y = geometry.bar(1, degree).top();
            let at = pos2(geometry.bars.left() - tokens.px(4.0), y);
            let font = tokens.font(Type::MonoSmall);
            ink::text(painter, at, Align2::RIGHT_CENTER, degree.to_string(), font, tokens.muted);
        }
    }
}
