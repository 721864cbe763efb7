//! Painting ratio against decoder speed, a line a link, and what each link gains at the chosen place. It decides nothing.

use super::super::Answer;
use super::{DECODERS, LINKS, RATIOS, words};
use crate::ink;
use egui::{Align2, Color32, Painter, Pos2, Rangef, Rect, pos2, vec2};
use vramlab_kit::{Axis, Spread, Tokens, Type};
use vramlab_units::Lang;
use vramlab_units::show::{grouped, number, with_unit};

const PLOT: f32 = 280.0;
const ABOVE: f32 = 24.0;
const LEFT: f32 = 62.0;
const BELOW: f32 = 40.0;
const ROW: f32 = 24.0;
const ROWS_HEAD: f32 = 26.0;

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    pub plot: Rect,
    rows: Rect,
    x: Axis,
    y: Axis,
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32) -> Self {
        let plot = Rect::from_min_max(
            origin + vec2(LEFT, ABOVE) * scale,
            pos2(origin.x + width - 10.0 * scale, origin.y + (ABOVE + PLOT) * scale),
        );
        let top = plot.bottom() + (BELOW + ROWS_HEAD) * scale;
        let rows = Rect::from_x_y_ranges(
            Rangef::new(origin.x, origin.x + width),
            Rangef::new(top, top + ROW * scale * LINKS.len() as f32),
        );
        let x = Axis { spread: Spread::Linear, min: RATIOS.0, max: RATIOS.1 };
        let y = Axis { spread: Spread::Log10, min: DECODERS.0, max: DECODERS.1 };
        Self { rect: Rect::from_min_max(origin, rows.max), plot, rows, x, y }
    }

    pub fn place(&self, ratio: f64, decoder: f64) -> Pos2 {
        let share = |axis: &Axis, value: f64| axis.share_from_value(value).unwrap_or(0.0).clamp(0.0, 1.0) as f32;
        let plot = self.plot;
        pos2(
            plot.left() + plot.width() * share(&self.x, ratio),
            plot.bottom() - plot.height() * share(&self.y, decoder),
        )
    }

    pub fn value(&self, at: Pos2) -> (f64, f64) {
        let plot = self.plot;
        let share = |x: f32| f64::from(x.clamp(0.0, 1.0));
        (
            self.x.value_from_share(share((at.x - plot.left()) / plot.width())),
            self.y.value_from_share(share((plot.bottom() - at.y) / plot.height())),
        )
    }
}

/// The colour of a link's line.
fn color(tokens: &Tokens, link: usize) -> Color32 {
    tokens.series(LINKS.len() - 1 - link, LINKS.len())
}

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub lines: &'a [Vec<[f64; 2]>; 4],
    pub found: &'a [Answer; 4],
    pub place: (f64, f64),
}

impl Scene<'_> {
    pub fn paint(&self) {
        self.axes();
        for (idx, line) in self.lines.iter().enumerate() {
            self.line(idx, line);
        }
        self.chosen();
        self.gains();
    }

    fn axes(&self) {
        let Self { painter, tokens, geometry, lang, .. } = self;
        let plot = geometry.plot;
        let font = || tokens.font(Type::MonoSmall);
        for tick in geometry.x.ticks(6) {
            let x = geometry.place(tick, 1.0).x;
            painter.vline(x, plot.y_range(), tokens.stroke(1.0, tokens.grid));
            let at = pos2(x, plot.bottom() + tokens.px(5.0));
            ink::text(painter, at, Align2::CENTER_TOP, number(tick), font(), tokens.muted);
        }
        for tick in geometry.y.ticks(7) {
            let y = geometry.place(1.0, tick).y;
            painter.hline(plot.x_range(), y, tokens.stroke(1.0, tokens.grid));
            let at = pos2(plot.left() - tokens.px(6.0), y);
            ink::text(painter, at, Align2::RIGHT_CENTER, grouped(tick), font(), tokens.muted);
        }
        let [x, y] = words::axes(*lang);
        let at = pos2(plot.right(), plot.bottom() + tokens.px(BELOW - 2.0));
        ink::text(painter, at, Align2::RIGHT_BOTTOM, x, tokens.font(Type::Small), tokens.muted);
        ink::text(painter, geometry.rect.left_top(), Align2::LEFT_TOP, y, tokens.font(Type::Small), tokens.muted);
    }

    fn line(&self, idx: usize, line: &[[f64; 2]]) {
        let Self { painter, tokens, geometry, lang, .. } = self;
        let shown = line.iter().filter(|[_, y]| (DECODERS.0..=DECODERS.1).contains(y));
        let places: Vec<Pos2> = shown.map(|[x, y]| geometry.place(*x, *y)).collect();
        let fill = color(tokens, idx);
        painter.line(places.clone(), tokens.stroke(2.0, fill));
        if let Some(end) = places.last() {
            let at = *end - vec2(tokens.px(4.0), tokens.px(4.0));
            let name = LINKS[idx].0.get(*lang);
            ink::text_on(painter, at, Align2::RIGHT_BOTTOM, name, tokens.font(Type::NoteStrong), fill, tokens.surface);
        }
    }

    fn chosen(&self) {
        let Self { painter, tokens, geometry, place: (ratio, decoder), .. } = self;
        let plot = geometry.plot;
        let at = geometry.place(*ratio, *decoder);
        let stroke = tokens.stroke(1.0, tokens.accent);
        ink::dashes(painter, &[pos2(plot.left(), at.y), at], stroke, tokens.px(4.0), tokens.px(3.0));
        ink::dashes(painter, &[pos2(at.x, plot.bottom()), at], stroke, tokens.px(4.0), tokens.px(3.0));
        painter.circle(at, tokens.px(7.0), tokens.accent, tokens.stroke(2.0, tokens.surface));
        let text = format!("{ratio:.2}×, {}", with_unit(*decoder, "GB/s"));
        let is_right = at.x > plot.center().x;
        let (by, anchor) = if is_right { (-12.0, Align2::RIGHT_CENTER) } else { (12.0, Align2::LEFT_CENTER) };
        // Above the dot where it stands at the bottom.
        let y = (at.y - tokens.px(12.0)).clamp(plot.top() + tokens.px(8.0), plot.bottom() - tokens.px(10.0));
        let at = pos2(at.x + tokens.px(by), y);
        ink::text_on(painter, at, anchor, text, tokens.font(Type::MonoSmall), tokens.ink, tokens.surface);
    }

    /// Each link's gain, one after the other and at the same time, about the line of 1.
    fn gains(&self) {
        let Self { painter, tokens, geometry, lang, found, .. } = self;
        let rows = geometry.rows;
        let narrow = rows.width() < tokens.px(430.0);
        let left = rows.left() + tokens.px(if narrow { 108.0 } else { 140.0 });
        let span = rows.right() - left - tokens.px(if narrow { 40.0 } else { 150.0 });
        let axis = Axis { spread: Spread::Log10, min: 0.01, max: 4.0 };
        let x_of = |gain: f64| left + span * axis.share_from_value(gain).unwrap_or(0.0).clamp(0.0, 1.0) as f32;
        let head = pos2(rows.left(), rows.top() - tokens.px(6.0));
        ink::text(
            painter,
            head,
            Align2::LEFT_BOTTOM,
            words::GAINS.get(*lang),
            tokens.font(Type::NoteStrong),
            tokens.ink,
        );
        painter.vline(x_of(1.0), rows.y_range(), tokens.stroke(1.2, tokens.ink));
        for (idx, found) in found.iter().enumerate() {
            let y = rows.top() + tokens.px(ROW) * (idx as f32 + 0.5);
            let at = pos2(left - tokens.px(8.0), y);
            let font = || tokens.font(Type::Small);
            ink::text(painter, at, Align2::RIGHT_CENTER, LINKS[idx].0.get(*lang), font(), color(tokens, idx));
            let (serial, both) = (found.num("serial_gain"), found.num("overlapped_gain"));
            let (a, b) = (x_of(1.0), x_of(serial));
            let bar = Rect::from_x_y_ranges(
                Rangef::new(a.min(b), a.max(b)),
                Rangef::new(y - tokens.px(7.0), y + tokens.px(7.0)),
            );
            painter.rect_filled(bar, 1.0, if serial > 1.0 { tokens.good } else { tokens.bad });
            painter.circle(pos2(x_of(both), y), tokens.px(4.0), tokens.surface, tokens.stroke(1.6, tokens.ink));
            let text = words::gain(serial, both, narrow, *lang);
            let at = pos2(rows.right(), y);
            ink::text(painter, at, Align2::RIGHT_CENTER, text, tokens.font(Type::MonoSmall), tokens.ink);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_values_are_each_others_inverse() {
        for width in [296.0, 844.0] {
            let figure = Geometry::new(pos2(4.0, 9.0), width, 1.0);
            for (ratio, decoder) in [(1.0, 0.1), (1.43, 182.9), (4.0, 1e5)] {
                let (x, y) = figure.value(figure.place(ratio, decoder));
                assert!((x - ratio).abs() < 1e-3 && (y / decoder - 1.0).abs() < 1e-3, "{x} {y}");
            }
            assert!(figure.rect.contains_rect(figure.plot) && figure.rect.contains_rect(figure.rows));
        }
    }
}
