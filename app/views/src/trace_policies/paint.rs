//! Painting the bars. Full width is the card.

use super::policies::Policy;
use super::words;
use crate::ink;
use egui::{Align2, Color32, CornerRadius, Painter, Rect, StrokeKind, pos2, vec2};
use vramlab_alloc::MIB;
use vramlab_kit::paint::{Area, area};
use vramlab_kit::{Role, Tokens, Type};
use vramlab_snapshot::policies::Held;
use vramlab_units::Lang;

const ROW: f32 = 38.0;
const BAR: f32 = 13.0;
const FOOT: f32 = 22.0;

/// Everything that painting reads.
pub struct Scene<'a> {
    pub painter: &'a Painter,
    pub tokens: &'a Tokens,
    pub lang: Lang,
    pub rect: Rect,
    /// In the order of [`Policy::ALL`]; empty while there is nothing to show.
    pub held: &'a [Held],
    pub capacity_mib: u64,
}

/// Bytes that the program asked for.
pub fn asked(tokens: &Tokens) -> Color32 {
    tokens.role(Role::Parameters)
}

/// Room for a bar each, whether or not the recording has come.
pub fn height(tokens: &Tokens, n_bars: usize) -> f32 {
    tokens.px(ROW * n_bars.max(Policy::ALL.len()) as f32 + FOOT)
}

impl Scene<'_> {
    pub fn paint(&self) {
        for (row, (policy, held)) in Policy::ALL.iter().zip(self.held).enumerate() {
            self.row(row, *policy, held);
        }
        self.foot();
    }

    /// Words where there is no picture.
    pub fn empty(&self, words: &str) {
        let tokens = self.tokens;
        self.painter.rect(self.rect, tokens.card_corner(), tokens.sunken, tokens.hairline(), StrokeKind::Inside);
        let font = tokens.font(Type::Note);
        let galley = self.painter.layout(words.to_owned(), font, tokens.muted, self.rect.width() - tokens.px(32.0));
        let at = self.rect.center() - galley.size() / 2.0;
        self.painter.galley(at, galley, tokens.muted);
    }

    fn row(&self, row: usize, policy: Policy, held: &Held) {
        let Self { painter, tokens, rect, lang, .. } = self;
        let top = rect.top() + tokens.px(ROW) * row as f32;
        let y = top + tokens.px(10.0);
        let is_failed = held.first_oom.is_some();
        let font = tokens.font(Type::Note);
        let name = policy.name().get(*lang);
        ink::text(painter, pos2(rect.left(), y), Align2::LEFT_CENTER, name, font, tokens.ink);
        let color = if is_failed { tokens.bad } else { tokens.ink };
        let value = words::value(held, *lang);
        ink::text(painter, pos2(rect.right(), y), Align2::RIGHT_CENTER, value, tokens.font(Type::Mono), color);
        let bar = Rect::from_min_size(pos2(rect.left(), top + tokens.px(19.0)), vec2(rect.width(), tokens.px(BAR)));
        self.bar(bar, held, is_failed);
    }

    fn bar(&self, bar: Rect, held: &Held, is_failed: bool) {
        let Self { painter, tokens, .. } = self;
        let corner = CornerRadius::same(2);
        painter.rect_filled(bar, corner, tokens.sunken);
        let share = |bytes: u64| (bytes as f64 / (self.capacity_mib * MIB) as f64).min(1.0) as f32;
        let end = |bytes: u64| bar.left() + (bar.width() * share(bytes)).max(tokens.px(2.0));
        let taken = bar.with_max_x(end(held.peak_reserved));
        painter.rect_filled(taken, corner, tokens.surface);
        area(painter, tokens, taken, Area::CachedFree);
        let used = bar.with_max_x(end(held.peak_requested.min(held.peak_reserved)));
        painter.rect_filled(used, corner, asked(tokens));
        if is_failed {
            painter.rect_stroke(bar, corner, tokens.stroke(1.2, tokens.bad), StrokeKind::Outside);
        }
    }

    /// What the full width is.
    fn foot(&self) {
        let Self { painter, tokens, rect, lang, .. } = self;
        let y = rect.bottom() - tokens.px(FOOT) / 2.0 + tokens.px(3.0);
        let whole = words::mib(self.capacity_mib);
        let text = match lang {
            Lang::Zh => format!("整条是一张 {whole} 的卡"),
            Lang::En => format!("full width: a card of {whole}"),
        };
        ink::text(painter, pos2(rect.right(), y), Align2::RIGHT_CENTER, text, tokens.font(Type::Small), tokens.muted);
    }
}
