//! Two ledgers against a reading and a card, and the card after a change. It decides nothing.

use super::question::{CARD_GB, Evidence, Found, Question, TOLD};
use super::words;
use crate::ink;
use egui::{Align2, Painter, Pos2, Rect, pos2, vec2};
use vramlab_kit::paint::{Area, area, dashed_rect};
use vramlab_kit::{Mark, Role, Tokens, Type};
use vramlab_units::Lang;
use vramlab_units::show::number;

const HEAD: f32 = 24.0;
const LABEL: f32 = 20.0;
const BAR: f32 = 32.0;
const GAP: f32 = 12.0;
/// The most that is drawn, GB.
const MOST: f64 = 50.0;

/// What a part of a ledger is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Weights,
    Activations,
    Kv,
    Fragments,
    Open,
}

impl Part {
    pub const ALL: [Self; 5] = [Self::Weights, Self::Activations, Self::Kv, Self::Fragments, Self::Open];
}

pub fn mark(tokens: &Tokens, part: Part) -> Mark {
    match part {
        Part::Weights => Mark::Square(tokens.role(Role::Parameters)),
        Part::Activations => Mark::Square(tokens.role(Role::Activations)),
        Part::Kv => Mark::Square(tokens.role(Role::KvCache)),
        Part::Fragments => Mark::Area(Area::Fragmented),
        Part::Open => Mark::Area(Area::Unknown),
    }
}

fn fill(painter: &Painter, tokens: &Tokens, rect: Rect, part: Part) {
    match mark(tokens, part) {
        Mark::Square(color) => {
            painter.rect_filled(rect.shrink2(vec2(0.5, 0.0)), 2.0, color);
        }
        Mark::Area(kind) => area(painter, tokens, rect, kind),
        _ => {}
    }
}

/// The ledger as it was told, as far as it was asked for.
pub fn told(question: &Question) -> Vec<(Part, f64)> {
    if !question.has(Evidence::Summary) {
        return Vec::new();
    }
    [Part::Weights, Part::Activations, Part::Kv, Part::Fragments]
        .into_iter()
        .zip(TOLD)
        .map(|(part, (_, gb))| (part, gb))
        .collect()
}

/// What must be, as far as it follows from the evidence.
pub fn must(question: &Question, found: &Found) -> Vec<(Part, f64)> {
    let mut parts = Vec::new();
    if !question.has(Evidence::Config) {
        return parts;
    }
    parts.push((Part::Weights, found.weights));
    if question.has(Evidence::Lengths) {
        parts.push((Part::Kv, found.kv));
    }
    let open = TOLD[4].1 - parts.iter().map(|(_, gb)| gb).sum::<f64>();
    if question.has(Evidence::Smi) && question.has(Evidence::Lengths) {
        parts.push((Part::Open, open));
    }
    parts
}

#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    pub rect: Rect,
    pub bars: [Rect; 2],
}

impl Geometry {
    pub fn new(origin: Pos2, width: f32, scale: f32) -> Self {
        let px = |points: f32| points * scale;
        let bar = |idx: f32| {
            let y = origin.y + px(HEAD + LABEL) + idx * px(LABEL + BAR + GAP);
            Rect::from_min_size(pos2(origin.x, y), vec2(width, px(BAR)))
        };
        let bars = [bar(0.0), bar(1.0)];
        let rect = Rect::from_min_max(origin, pos2(origin.x + width, bars[1].bottom() + px(6.0)));
        Self { rect, bars }
    }

    fn x(&self, gb: f64) -> f32 {
        self.bars[0].left() + self.bars[0].width() * (gb / MOST) as f32
    }

    /// The part of a ledger under a point.
    pub fn hit(&self, at: Pos2, ledgers: &[Vec<(Part, f64)>; 2]) -> Option<(usize, Part, f64)> {
        let row = self.bars.iter().position(|bar| bar.contains(at))?;
        let gb = f64::from((at.x - self.bars[0].left()) / self.bars[0].width()) * MOST;
        let mut end = 0.0;
        ledgers[row]
            .iter()
            .find(|(_, size)| {
                end += size;
                gb < end
            })
            .map(|(part, size)| (row, *part, *size))
    }
}

pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub geometry: &'a Geometry,
    pub question: &'a Question,
    pub ledgers: &'a [Vec<(Part, f64)>; 2],
}

impl Scene<'_> {
    pub fn paint(&self) {
        let names = [words::TOLD, words::MUST];
        for (row, name) in names.into_iter().enumerate() {
            self.ledger(row, name.get(self.lang));
        }
        let Self { tokens, lang, .. } = self;
        if self.question.has(Evidence::Smi) {
            self.line(TOLD[4].1, words::READING.get(*lang), tokens.accent, Align2::RIGHT_TOP);
        }
        self.line(CARD_GB, words::CARD.get(*lang), tokens.ink, Align2::LEFT_TOP);
    }

    fn ledger(&self, row: usize, name: &str) {
        let Self { painter, tokens, geometry, ledgers, lang, .. } = self;
        let bar = geometry.bars[row];
        let sum: f64 = ledgers[row].iter().map(|(_, gb)| gb).sum();
        let at = bar.left_top() - vec2(0.0, tokens.px(3.0));
        let label = if sum > 0.0 { format!("{name} · {}", words::gb(sum)) } else { name.to_owned() };
        ink::text(painter, at, Align2::LEFT_BOTTOM, label, tokens.font(Type::Note), tokens.ink);
        painter.rect_filled(bar, 2.0, tokens.tint(tokens.muted, 0.06));
        let mut from = 0.0;
        for (part, gb) in &ledgers[row] {
            let rect = Rect::from_min_max(pos2(geometry.x(from), bar.top()), pos2(geometry.x(from + gb), bar.bottom()));
            from += gb;
            fill(painter, tokens, rect, *part);
            let (text, font) = (number(*gb), tokens.font(Type::MonoSmall));
            if ink::text_width(painter, &text, font.clone()) + tokens.px(8.0) < rect.width() {
                ink::text_on(painter, rect.center(), Align2::CENTER_CENTER, text, font, tokens.ink, tokens.surface);
            }
        }
        if ledgers[row].is_empty() {
            let at = bar.left_center() + vec2(tokens.px(8.0), 0.0);
            let text = words::NOTHING.get(*lang);
            ink::text(painter, at, Align2::LEFT_CENTER, text, tokens.font(Type::Note), tokens.muted);
        }
    }

    /// A size across both ledgers, named above them.
    fn line(&self, gb: f64, name: &str, color: egui::Color32, anchor: Align2) {
        let Self { painter, tokens, geometry, .. } = self;
        let x = geometry.x(gb);
        let (top, bottom) = (geometry.rect.top() + tokens.px(18.0), geometry.rect.bottom());
        ink::dashes(
            painter,
            &[pos2(x, top), pos2(x, bottom)],
            tokens.stroke(1.6, color),
            tokens.px(5.0),
            tokens.px(3.0),
        );
        let dx = if anchor == Align2::LEFT_TOP { tokens.px(-2.0) } else { tokens.px(-5.0) };
        ink::text(painter, pos2(x + dx, geometry.rect.top()), anchor, name, tokens.font(Type::Small), color);
    }
}

/// The card, or the cards, after a change: weights, then requests one by one, then the tenth that is left alone.
pub fn card(painter: &Painter, tokens: &Tokens, rect: Rect, found: &Found) {
    let whole = CARD_GB * found.cards;
    let x = |gb: f64| rect.left() + rect.width() * (gb / whole) as f32;
    let part = |from: f64, to: f64| Rect::from_min_max(pos2(x(from), rect.top()), pos2(x(to), rect.bottom()));
    fill(painter, tokens, part(0.0, found.weights), Part::Weights);
    let end = found.weights + found.fits as f64 * found.kv_request;
    painter.rect_filled(part(found.weights, end), 0.0, tokens.role(Role::KvCache));
    let each = rect.width() * (found.kv_request / whole) as f32;
    if each > tokens.px(3.0) {
        for n in 1..found.fits {
            let x = x(found.weights + n as f64 * found.kv_request);
            painter.vline(x, rect.y_range(), tokens.stroke(1.0, tokens.surface));
        }
    }
    area(painter, tokens, part(end, whole), Area::Free);
    for n in 1..found.cards as u32 {
        painter.vline(x(CARD_GB * f64::from(n)), rect.y_range().expand(tokens.px(3.0)), tokens.stroke(1.6, tokens.ink));
    }
}

/// A card that is not told yet.
pub fn hidden(painter: &Painter, tokens: &Tokens, rect: Rect, text: &str) {
    dashed_rect(painter, rect, 4.0, tokens.stroke(1.2, tokens.muted), tokens.px(5.0));
    ink::text(painter, rect.center(), Align2::CENTER_CENTER, text, tokens.font(Type::Note), tokens.muted);
}
