//! Painting piles of samples, the bands of intervals, medians and flags. It decides nothing.

use super::layout::Geometry;
use super::question::Line;
use super::words;
use crate::ink;
use egui::{Align2, Color32, CornerRadius, Painter, Rect, StrokeKind, pos2, vec2};
use vramlab_kit::{Axis, Mark, Spread, Tokens, Type};
use vramlab_units::show::{number, with_unit};
use vramlab_units::{Lang, Text};

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub lines: &'a [Line],
    pub truths: Option<[f64; 2]>,
}

/// The colour of a line of samples.
pub fn color(tokens: &Tokens, line: usize) -> Color32 {
    tokens.series(line, 2)
}

impl Scene<'_> {
    pub fn paint(&self) {
        let counts: Vec<Vec<usize>> = self.lines.iter().map(|line| self.geometry.counts(&line.stats.sorted)).collect();
        // Both sides in one measure.
        let most = counts.iter().flatten().copied().max().unwrap_or(1).max(4) as f32;
        for (idx, line) in self.lines.iter().enumerate() {
            self.head(idx, line);
            self.pile(idx, line, &counts[idx], most);
            self.band(idx, line);
        }
        self.axis();
    }

    fn head(&self, idx: usize, line: &Line) {
        let Self { painter, tokens, lang, geometry, .. } = self;
        let pile = geometry.piles[idx];
        let at = pile.left_top() - vec2(0.0, tokens.px(4.0));
        let name = words::name(idx, self.lines.len()).get(*lang);
        let name = ink::text(painter, at, Align2::LEFT_BOTTOM, name, tokens.font(Type::NoteStrong), tokens.ink);
        let (long, short) = words::head(&line.stats, *lang);
        let font = tokens.font(Type::Small);
        let room = pile.right() - name.right() - tokens.space.m;
        let text = if ink::text_width(painter, &long, font.clone()) <= room { long } else { short };
        let at = pile.right_top() - vec2(0.0, tokens.px(4.0));
        ink::text(painter, at, Align2::RIGHT_BOTTOM, text, font, tokens.muted);
    }

    fn pile(&self, idx: usize, line: &Line, counts: &[usize], most: f32) {
        let Self { painter, tokens, geometry, .. } = self;
        let fill = color(tokens, idx);
        let pile = geometry.piles[idx];
        painter.hline(pile.x_range(), pile.bottom(), tokens.stroke(1.0, tokens.line));
        for (column, n) in counts.iter().enumerate().filter(|(_, n)| **n > 0) {
            let bar = geometry.bar(idx, column, *n as f32 / most);
            let is_far = line.stats.sorted.iter().any(|x| geometry.column(*x) == column && line.stats.is_far(*x));
            if is_far {
                // Flagged, not dropped: hollow, with a sign above.
                painter.rect_stroke(bar, 1.0, tokens.stroke(1.5, tokens.caution), StrokeKind::Inside);
                let at = pos2(bar.center().x, bar.top() - tokens.px(2.0));
                ink::text(painter, at, Align2::CENTER_BOTTOM, "!", tokens.font(Type::NoteStrong), tokens.caution);
            } else {
                painter.rect_filled(bar, 1.0, fill);
            }
        }
        if let Some(truth) = self.truths.and_then(|truths| truths.get(idx).copied()) {
            let x = geometry.x_of(truth);
            let ends = [pos2(x, pile.top()), pos2(x, pile.bottom())];
            ink::dashes(painter, &ends, tokens.stroke(1.2, tokens.ink), tokens.px(4.0), tokens.px(3.0));
        }
    }

    /// The interval as a band, the median in it, the mean as a mark beside.
    fn band(&self, idx: usize, line: &Line) {
        let Self { painter, tokens, geometry, lang, .. } = self;
        let row = geometry.bands[idx];
        let y = row.center().y;
        let fill = color(tokens, idx);
        let median = geometry.x_of(line.stats.median);
        match line.stats.interval() {
            Some((low, high)) => {
                let half = tokens.px(6.0);
                let (left, right) = (geometry.x_of(low), geometry.x_of(high));
                let band = Rect::from_min_max(pos2(left, y - half), pos2(right.max(left + 1.5), y + half));
                painter.rect_filled(band, CornerRadius::same(3), tokens.tint(fill, 0.35));
                painter.rect_stroke(band, CornerRadius::same(3), tokens.stroke(1.2, fill), StrokeKind::Inside);
            }
            None => {
                // On the side of both marks that has more room.
                let mean = geometry.x_of(line.stats.mean);
                let (left, right) = (median.min(mean) - tokens.px(12.0), median.max(mean) + tokens.px(12.0));
                let rooms = (left - row.left(), row.right() - right);
                let (x, anchor, room) = if rooms.1 > rooms.0 {
                    (right, Align2::LEFT_CENTER, rooms.1)
                } else {
                    (left, Align2::RIGHT_CENTER, rooms.0)
                };
                let (long, short) = (words::no_interval(line.samples.len(), *lang), words::none(*lang));
                let is_room = ink::text_width(painter, &long, tokens.font(Type::Small)) <= room;
                let text = if is_room { long } else { short };
                let at = pos2(x, y);
                ink::text(painter, at, anchor, text, tokens.font(Type::Small), tokens.caution);
            }
        }
        let tall = tokens.px(9.0);
        painter.vline(median, y - tall..=y + tall, tokens.stroke(2.5, tokens.ink));
        let mean = geometry.x_of(line.stats.mean);
        let size = tokens.px(4.5);
        let stroke = tokens.stroke(1.4, tokens.muted);
        ink::strike(painter, pos2(mean, y), size, stroke);
    }

    fn axis(&self) {
        let Self { painter, tokens, geometry, lang, .. } = self;
        let Some(last) = geometry.bands.last() else { return };
        let y = last.bottom() + tokens.px(8.0);
        painter.hline(last.x_range(), y, tokens.stroke(1.0, tokens.line));
        let font = tokens.font(Type::Small);
        let (low, high) = geometry.ends();
        let Some(axis) = Axis::new(Spread::Linear, low, high) else { return };
        for tick in axis.ticks((last.width() / tokens.px(70.0)) as usize) {
            let x = geometry.x_of(tick);
            painter.vline(x, y..=y + tokens.px(4.0), tokens.stroke(1.0, tokens.muted));
            let text = number(tick);
            ink::text(painter, pos2(x, y + tokens.px(5.0)), Align2::CENTER_TOP, text, font.clone(), tokens.muted);
        }
        let at = pos2(geometry.rect.right(), geometry.rect.bottom());
        let text = words::AXIS.get(*lang);
        ink::text(painter, at, Align2::RIGHT_BOTTOM, text, font, tokens.muted);
    }
}

/// What the marks mean that have no words beside them.
pub fn legend(tokens: &Tokens, lang: Lang, has_truth: bool) -> Vec<(Mark, &'static str)> {
    let mut out = vec![(
        Mark::Square(tokens.tint(color(tokens, 0), 0.35)),
        Text::new("中位数的 95 % 区间", "95 % interval of the median"),
    )];
    if has_truth {
        out.push((Mark::Predicted, Text::new("真的中位数", "the true median")));
    }
    out.into_iter().map(|(mark, text)| (mark, text.get(lang))).collect()
}

/// A share in words, for the sliders.
pub fn percent(share: f64) -> String {
    with_unit(share, "%")
}
