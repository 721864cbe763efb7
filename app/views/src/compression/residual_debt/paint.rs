//! Painting the gradient, what is waiting and what of it goes, and the sum of both over time. It decides nothing.

use super::{ROUNDS, State, words};
use crate::ink;
use egui::{Align2, Color32, Painter, Pos2, Rangef, Rect, StrokeKind, pos2, vec2};
use vramlab_kit::paint::{Area, area};
use vramlab_kit::{Role, Tokens, Type};
use vramlab_units::Lang;
use vramlab_units::show::number;

const HEAD: f32 = 22.0;
const TOP: f32 = 88.0;
const BOTTOM: f32 = 190.0;
const GAP: f32 = 12.0;
const NAMES: f32 = 20.0;

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    /// The gradient of each step.
    top: Rect,
    /// Sent and owed.
    bottom: Rect,
    n: usize,
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32, n: usize) -> Self {
        let x = Rangef::new(origin.x, origin.x + width);
        let band = |top: f32, height: f32| Rect::from_x_y_ranges(x, Rangef::new(top, top + height * scale));
        let top = band(origin.y + HEAD * scale, TOP);
        let bottom = band(top.bottom() + (GAP + HEAD) * scale, BOTTOM);
        let rect = Rect::from_min_max(origin, pos2(x.max, bottom.bottom() + NAMES * scale));
        Self { rect, top, bottom, n: n.max(1) }
    }

    fn x(&self, entry: usize) -> Rangef {
        let wide = self.rect.width() / self.n as f32;
        let half = (wide * 0.34).min(38.0);
        let center = self.rect.left() + (entry as f32 + 0.5) * wide;
        Rangef::new(center - half, center + half)
    }

    pub fn entry_at(&self, at: Pos2) -> Option<usize> {
        let share = (at.x - self.rect.left()) / self.rect.width();
        self.rect.contains(at).then(|| ((share * self.n as f32) as usize).min(self.n - 1))
    }

    /// The entry whose bar of the gradient is pulled, and to what.
    pub fn pulled(&self, at: Pos2) -> Option<(usize, f64)> {
        let entry = self.entry_at(at).filter(|_| self.top.expand2(vec2(0.0, 10.0)).contains(at))?;
        let value = f64::from((self.top.center().y - at.y) / (self.top.height() / 2.0)).clamp(-1.0, 1.0);
        Some((entry, (value * 20.0).round() / 20.0))
    }

    /// A bar from zero in `band`, whose half height is `most`.
    fn bar(&self, band: Rect, entry: usize, from: f64, to: f64, most: f64) -> Rect {
        let y = |value: f64| band.center().y - band.height() / 2.0 * (value / most).clamp(-1.0, 1.0) as f32;
        let (a, b) = (y(from), y(to));
        Rect::from_x_y_ranges(self.x(entry), Rangef::new(a.min(b), a.max(b)))
    }
}

pub fn sent(tokens: &Tokens) -> Color32 {
    tokens.role(Role::Gradients)
}

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub gradient: &'a [f64],
    pub state: &'a State,
    pub step: usize,
    pub entry: usize,
}

impl Scene<'_> {
    pub fn paint(&self) {
        let Self { painter, tokens, geometry, lang, .. } = self;
        let heads =
            [(geometry.top, words::EACH.get(*lang).to_owned()), (geometry.bottom, words::after(self.step, *lang))];
        for (band, text) in heads {
            let at = band.left_top() - vec2(0.0, tokens.px(5.0));
            ink::text(painter, at, Align2::LEFT_BOTTOM, text, tokens.font(Type::NoteStrong), tokens.ink);
            painter.hline(band.x_range(), band.center().y, tokens.stroke(1.0, tokens.line));
        }
        for entry in 0..self.gradient.len() {
            self.each(entry);
            self.sum(entry);
        }
    }

    fn each(&self, entry: usize) {
        let Self { painter, tokens, geometry, gradient, .. } = self;
        let value = gradient[entry];
        let bar = geometry.bar(geometry.top, entry, 0.0, value, 1.0);
        painter.rect_filled(bar, 1.0, tokens.tint(sent(tokens), 0.55));
        let (at, anchor) = if value < 0.0 {
            (bar.center_bottom() + vec2(0.0, tokens.px(2.0)), Align2::CENTER_TOP)
        } else {
            (bar.center_top() - vec2(0.0, tokens.px(2.0)), Align2::CENTER_BOTTOM)
        };
        if geometry.x(entry).span() > tokens.px(20.0) {
            ink::text(painter, at, anchor, number(value), tokens.font(Type::MonoSmall), tokens.ink);
        }
    }

    /// Sent, then owed on top of it; the mark is what all gradients add up to.
    fn sum(&self, entry: usize) {
        let Self { painter, tokens, geometry, gradient, state, .. } = self;
        let steepest = gradient.iter().fold(0.05_f64, |most, value| most.max(value.abs()));
        // One measure for all steps that are near, so that stepping shows growth.
        let horizon = [4, 8, ROUNDS].into_iter().find(|horizon| self.step <= *horizon).unwrap_or(ROUNDS);
        let most = steepest * horizon as f64 * 1.08;
        let band = geometry.bottom;
        let (gone, owed) = (state.sent[entry], state.owed[entry]);
        let bar = geometry.bar(band, entry, 0.0, gone, most);
        painter.rect_filled(bar, 1.0, sent(tokens));
        let debt = geometry.bar(band, entry, gone, gone + owed, most);
        if debt.height() > 0.5 {
            area(painter, tokens, debt, Area::CachedFree);
        }
        let is_now = state.now.contains(&entry);
        if is_now {
            painter.rect_stroke(bar.expand(1.5), 2.0, tokens.stroke(2.4, tokens.accent), StrokeKind::Outside);
        }
        let all = geometry.bar(band, entry, 0.0, gradient[entry] * self.step as f64, most);
        let y = if gradient[entry] < 0.0 { all.bottom() } else { all.top() };
        let x = geometry.x(entry);
        let ends = [pos2(x.min - tokens.px(6.0), y), pos2(x.max + tokens.px(6.0), y)];
        ink::dashes(painter, &ends, tokens.stroke(1.8, tokens.ink), tokens.px(5.0), tokens.px(3.0));
        let color = if is_now { tokens.accent } else { tokens.muted };
        let at = pos2(x.center(), band.bottom() + tokens.px(4.0));
        let text = if is_now { words::now(entry, x.span() > tokens.px(44.0), self.lang) } else { entry.to_string() };
        let font = tokens.font(if entry == self.entry { Type::NoteStrong } else { Type::Small });
        ink::text(painter, at, Align2::CENTER_TOP, text, font, color);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_and_pulled() {
        for (width, n) in [(296.0, 12), (844.0, 4)] {
            let figure = Geometry::new(pos2(4.0, 9.0), width, 1.0, n);
            for entry in 0..n {
                let at = pos2(figure.x(entry).center(), figure.top.center().y);
                assert_eq!(figure.entry_at(at), Some(entry));
                assert_eq!(figure.pulled(at), Some((entry, 0.0)));
                let top = pos2(at.x, figure.top.top());
                assert_eq!(figure.pulled(top), Some((entry, 1.0)));
            }
            assert_eq!(figure.pulled(figure.bottom.center()), None);
            let bar = figure.bar(figure.bottom, 0, 0.0, -1.0, 1.0);
            assert!(
                bar.bottom() <= figure.bottom.bottom() + 1e-3 && (bar.top() - figure.bottom.center().y).abs() < 1e-3
            );
        }
    }
}
