//! Painting the bars against the card. It decides nothing.

use super::layout::Geometry;
use super::question::{Bar, GB, Look, Part};
use super::words;
use crate::ink;
use egui::{Align2, CornerRadius, Painter, Rangef, Rect, StrokeKind, pos2, vec2};
use vramlab_kit::paint::{Area, area, hatch};
use vramlab_kit::{Axis, Mark, Spread, Tokens, Type};
use vramlab_units::show::number;
use vramlab_units::{Lang, Text};

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub bars: &'a [Bar],
    pub card: f64,
    pub hovered: Option<(usize, usize)>,
}

impl Scene<'_> {
    pub fn paint(&self) {
        self.axis();
        self.card();
        for (idx, bar) in self.bars.iter().enumerate() {
            self.bar(idx, bar);
        }
    }

    fn bar(&self, idx: usize, bar: &Bar) {
        let Self { painter, tokens, lang, geometry, .. } = self;
        let rect = geometry.bars[idx];
        let up = tokens.px(5.0);
        let name = bar.name.get(*lang);
        let at = rect.left_top() - vec2(0.0, up);
        let name = ink::text(painter, at, Align2::LEFT_BOTTOM, name, tokens.font(Type::NoteStrong), tokens.ink);
        let total = words::total(bar, self.card, *lang);
        let color = if bar.used() > self.card { tokens.bad } else { tokens.muted };
        let at = pos2(name.right() + tokens.space.s, name.bottom());
        ink::text_on(painter, at, Align2::LEFT_BOTTOM, total, tokens.font(Type::Note), color, tokens.surface);
        // The card itself: a vessel that the bar fills.
        let vessel = geometry.span(idx, 0.0, self.card).intersect(rect);
        painter.rect_filled(vessel, CornerRadius::same(4), tokens.sunken);
        let mut from = 0.0;
        let mut spans = Vec::new();
        for (part_idx, part) in bar.parts.iter().enumerate() {
            let span = geometry.span(idx, from, from + part.bytes);
            self.part(span, part, self.hovered == Some((idx, part_idx)));
            spans.push((span, part));
            from += part.bytes;
        }
        self.labels(spans);
        if bar.used() > self.card {
            let over = geometry.span(idx, self.card, bar.used());
            hatch(painter, over, tokens.px(6.0), tokens.stroke(1.4, tokens.bad), false);
            painter.rect_stroke(over, 0.0, tokens.stroke(2.0, tokens.bad), StrokeKind::Inside);
        }
        painter.rect_stroke(vessel, CornerRadius::same(4), tokens.stroke(1.2, tokens.muted), StrokeKind::Outside);
        painter.vline(vessel.right(), rect.y_range(), tokens.stroke(2.0, tokens.ink));
        if let Some(measured) = bar.measured {
            self.measured(idx, measured);
        }
    }

    fn part(&self, span: Rect, part: &Part, is_hovered: bool) {
        let Self { painter, tokens, .. } = self;
        match part.look {
            Look::Of(role) => {
                painter.rect_filled(span, 0.0, tokens.role(role));
                let wide = span.width() / part.pieces.max(1) as f32;
                if part.pieces > 1 && wide >= tokens.px(3.0) {
                    for piece in 1..part.pieces {
                        let x = span.left() + wide * piece as f32;
                        painter.vline(x, span.y_range(), tokens.stroke(1.0, tokens.surface));
                    }
                }
            }
            Look::Cached => area(painter, tokens, span, Area::CachedFree),
            Look::Barred => area(painter, tokens, span, Area::Fragmented),
            Look::Free => area(painter, tokens, span, Area::Free),
        }
        if is_hovered {
            painter.rect_stroke(span, 0.0, tokens.stroke(2.0, tokens.accent), StrokeKind::Inside);
        }
    }

    /// The names of parts below them, the largest first: where room is short, the smallest go without.
    fn labels(&self, mut spans: Vec<(Rect, &Part)>) {
        spans.sort_by(|a, b| b.1.bytes.total_cmp(&a.1.bytes));
        let mut taken: Vec<Rangef> = Vec::new();
        for (span, part) in spans {
            taken.extend(self.label(span, part, &taken));
        }
    }

    /// The name of a part and its size, unless something stands there; returns what they take.
    fn label(&self, span: Rect, part: &Part, taken: &[Rangef]) -> Option<Rangef> {
        let Self { painter, tokens, lang, .. } = self;
        let (name, size) = (part.name.get(*lang), words::size(part.bytes));
        let font = tokens.font(Type::Small);
        let mono = tokens.font(Type::MonoSmall);
        let wide = ink::text_width(painter, name, font.clone()).max(ink::text_width(painter, &size, mono.clone()));
        // A label that would leave the figure ends at its edge.
        let left = span.left().min(self.geometry.rect.right() - wide);
        let place = Rangef::new(left, left + wide);
        let gap = tokens.space.s;
        let is_room = taken.iter().all(|other| place.max + gap <= other.min || other.max + gap <= place.min);
        if !is_room || part.bytes <= 0.0 || span.width() < wide.min(tokens.px(22.0)) {
            return None;
        }
        let at = pos2(left, span.bottom() + tokens.px(3.0));
        let ground = tokens.surface;
        let first = ink::text_on(painter, at, Align2::LEFT_TOP, name, font, tokens.ink, ground);
        let below = pos2(at.x, first.bottom() - 1.0);
        ink::text_on(painter, below, Align2::LEFT_TOP, size, mono, tokens.muted, ground);
        Some(place)
    }

    /// A recorded total: a solid mark across the bar, a dot, its word beside it.
    fn measured(&self, idx: usize, bytes: f64) {
        let Self { painter, tokens, geometry, lang, .. } = self;
        let rect = geometry.bars[idx];
        let at = pos2(geometry.x_of(bytes), rect.center().y);
        painter.vline(at.x, rect.y_range(), tokens.stroke(2.5, tokens.ink));
        painter.circle(at, tokens.px(5.0), tokens.ink, tokens.stroke(1.5, tokens.surface));
        let text = words::measured(bytes, *lang);
        let font = tokens.font(Type::Small);
        let wide = ink::text_width(painter, &text, font.clone());
        let is_right = at.x + wide + tokens.px(12.0) <= geometry.rect.right();
        let (dx, anchor) = if is_right { (10.0, Align2::LEFT_CENTER) } else { (-10.0, Align2::RIGHT_CENTER) };
        let place = at + vec2(tokens.px(dx), 0.0);
        ink::text_on(painter, place, anchor, text, font, tokens.ink, tokens.surface);
    }

    fn axis(&self) {
        let Self { painter, tokens, geometry, .. } = self;
        let y = geometry.rect.bottom() - tokens.px(22.0);
        painter.hline(geometry.rect.x_range(), y, tokens.stroke(1.0, tokens.line));
        let Some(axis) = Axis::new(Spread::Linear, 0.0, geometry.end / GB) else { return };
        let font = tokens.font(Type::Small);
        for tick in axis.ticks((geometry.rect.width() / tokens.px(90.0)) as usize) {
            let x = geometry.x_of(tick * GB);
            painter.vline(x, y..=y + tokens.px(4.0), tokens.stroke(1.0, tokens.muted));
            let text = if tick == 0.0 { "0".to_owned() } else { format!("{}\u{2009}GB", number(tick)) };
            let (anchor, dx) = if tick == 0.0 { (Align2::LEFT_TOP, 0.0) } else { (Align2::CENTER_TOP, 0.0) };
            let wide = ink::text_width(painter, &text, font.clone());
            if x + wide / 2.0 <= geometry.rect.right() {
                ink::text(painter, pos2(x + dx, y + tokens.px(5.0)), anchor, text, font.clone(), tokens.muted);
            }
        }
    }

    /// The end of the card across all bars.
    fn card(&self) {
        let Self { painter, tokens, geometry, lang, .. } = self;
        let x = geometry.x_of(self.card);
        let top = geometry.rect.top() + tokens.px(20.0);
        let bottom = geometry.rect.bottom() - tokens.px(22.0);
        painter.vline(x, top..=bottom, tokens.stroke(1.2, tokens.muted));
        let text = words::card(self.card, *lang);
        let font = tokens.font(Type::NoteStrong);
        let wide = ink::text_width(painter, &text, font.clone());
        let anchor = if x - geometry.rect.left() > wide { Align2::RIGHT_BOTTOM } else { Align2::LEFT_BOTTOM };
        ink::text(painter, pos2(x, top), anchor, text, font, tokens.ink);
    }
}

/// What the colours of all bars mean, each once.
pub fn legend(bars: &[Bar], tokens: &Tokens) -> Vec<(Mark, Text)> {
    let mut out: Vec<(Mark, Text)> = Vec::new();
    for part in bars.iter().flat_map(|bar| &bar.parts).filter(|part| part.bytes > 0.0) {
        let mark = match part.look {
            Look::Of(role) => Mark::Square(tokens.role(role)),
            Look::Cached => Mark::Area(Area::CachedFree),
            Look::Barred => Mark::Area(Area::Fragmented),
            Look::Free => Mark::Area(Area::Free),
        };
        if out.iter().all(|(known, _)| *known != mark) {
            out.push((mark, part.name));
        }
    }
    out
}
