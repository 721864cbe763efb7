//! Sizes of what was asked for in the window: a bar for each power of two. Pressing a bar narrows the log to it.

use super::look::Look;
use super::scene::Scene;
use egui::{Align2, Rect, Sense, Ui, WidgetInfo, pos2, vec2};
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_snapshot::{Action, Event};
use vramlab_units::{Bytes, Lang, Text, show};

const BAR: Text = Text::new("{from} 到 {to}：{n} 次，共 {sum}", "{from} to {to}: {n} requests, {sum} in all");
const HEIGHT: f32 = 128.0;

/// Requests and bytes of one power of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bin {
    n: u64,
    bytes: u64,
}

type Bins = [Bin; 64];
const APART: usize = 4096;

/// The figure's own memory between frames.
#[derive(Default)]
pub struct Histogram {
    bins: Vec<Bin>,
    sums: Vec<Bins>,
    sums_of: Option<usize>,
    made_for: Option<(usize, usize, usize)>,
}

impl Histogram {
    /// The figure. True when the filter changed.
    pub fn ui(&mut self, ui: &mut Ui, tokens: &Tokens, lang: Lang, scene: &Scene, look: &mut Look) -> bool {
        let key = (look.from, look.until, std::sync::Arc::as_ptr(&scene.analysis) as usize);
        if self.made_for != Some(key) {
            self.made_for = Some(key);
            if self.sums_of != Some(key.2) {
                self.sums_of = Some(key.2);
                self.sums = sums(scene.events());
            }
            self.bins = bins(scene.events(), &self.sums, look).to_vec();
        }
        bars(ui, tokens, lang, &self.bins, look)
    }
}

fn bars(ui: &mut Ui, tokens: &Tokens, lang: Lang, bins: &[Bin], look: &mut Look) -> bool {
    let used = |bin: &Bin| bin.n > 0;
    let (Some(first), Some(last)) = (bins.iter().position(used), bins.iter().rposition(used)) else { return false };
    let most = bins.iter().map(|bin| bin.n).max().unwrap_or(1).max(1);
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), tokens.px(HEIGHT)), Sense::hover());
    let plot = Rect::from_min_max(rect.min + vec2(0.0, tokens.px(16.0)), rect.max - vec2(0.0, tokens.px(22.0)));
    let width = plot.width() / (last - first + 1) as f32;
    let before = look.filter.log2_size;
    let bytes = |bytes: u64| show::bytes_binary(Bytes(bytes));
    let n_labels = (plot.width() / tokens.px(64.0)).max(1.0) as usize;
    let every = (last - first + 1).div_ceil(n_labels).max(1);
    for (log2, bin) in bins.iter().enumerate().take(last + 1).skip(first) {
        let left = plot.left() + width * (log2 - first) as f32;
        let cell = Rect::from_x_y_ranges(left..=left + width, rect.y_range());
        let response = ui.interact(cell, ui.scope_id().with(("bin", log2)), Sense::click());
        let words = BAR.get(lang).replace("{from}", &bytes(1 << log2)).replace("{to}", &bytes(1 << (log2 + 1)));
        let words = words.replace("{n}", &bin.n.to_string()).replace("{sum}", &bytes(bin.bytes));
        let is_chosen = look.filter.log2_size == Some(log2 as u32);
        response.widget_info(|| WidgetInfo::selected(egui::Role::Button, true, is_chosen, &words));
        let painter = ui.painter();
        if response.hovered() || response.has_focus() {
            painter.rect_filled(cell, 2.0, tokens.accent_soft);
        }
        // A single request among thousands still has a bar.
        let height = (plot.height() * (bin.n as f64 / most as f64) as f32).max(if bin.n > 0 { 1.5 } else { 0.0 });
        let bar = Rect::from_min_max(pos2(left + 2.0, plot.bottom() - height), pos2(left + width - 2.0, plot.bottom()));
        painter.rect_filled(bar, 1.0, if is_chosen { tokens.accent } else { tokens.tint(tokens.ink, 0.55) });
        if bin.n > 0 && width >= tokens.px(26.0) {
            let at = pos2(left + width / 2.0, bar.top() - tokens.px(2.0));
            painter.text(at, Align2::CENTER_BOTTOM, bin.n.to_string(), tokens.font(Type::MonoSmall), tokens.muted);
        }
        if (log2 - first) % every == 0 {
            let at = pos2(left + width / 2.0, plot.bottom() + tokens.px(4.0));
            let align = if log2 == first && width < tokens.px(40.0) { Align2::LEFT_TOP } else { Align2::CENTER_TOP };
            let at = if align == Align2::LEFT_TOP { pos2(left, at.y) } else { at };
            painter.text(at, align, bytes(1 << log2), tokens.font(Type::Small), tokens.muted);
        }
        if response.clicked() {
            look.filter.log2_size = (!is_chosen).then_some(log2 as u32);
        }
        response.on_hover_text(words);
    }
    ui.painter().hline(plot.x_range(), plot.bottom(), tokens.hairline());
    before != look.filter.log2_size
}

fn add(bins: &mut Bins, events: &[Event]) {
    for event in events.iter().filter(|event| event.action == Action::Alloc) {
        let bin = &mut bins[event.size.max(1).ilog2() as usize];
        bin.n += 1;
        bin.bytes = bin.bytes.wrapping_add(event.size);
    }
}

/// Sums up to every [`APART`]-th event, so that a window costs its two ends.
fn sums(events: &[Event]) -> Vec<Bins> {
    let mut now = [Bin::default(); 64];
    let mut out = vec![now];
    for events in events.chunks_exact(APART) {
        add(&mut now, events);
        out.push(now);
    }
    out
}

fn bins(events: &[Event], sums: &[Bins], look: &Look) -> Bins {
    let up_to = |at: usize| {
        let at = at.min(events.len());
        let mark = (at / APART).min(sums.len().saturating_sub(1));
        let mut bins = sums.get(mark).copied().unwrap_or([Bin::default(); 64]);
        add(&mut bins, &events[mark * APART..at]);
        bins
    };
    let (before, mut bins) = (up_to(look.from), up_to(look.until));
    for (bin, before) in bins.iter_mut().zip(&before) {
        bin.n -= before.n.min(bin.n);
        bin.bytes = bin.bytes.wrapping_sub(before.bytes);
    }
    bins
}

#[cfg(test)]
mod tests {
    use super::*;
    use vramlab_snapshot::StackId;

    #[test]
    fn a_window_holds_what_looking_at_its_events_counts() {
        let event = |idx: u64| Event {
            action: if idx.is_multiple_of(3) { Action::Alloc } else { Action::FreeCompleted },
            address: idx,
            size: 1 << (idx % 40),
            stream: 0,
            stack: StackId(0),
            time_us: 0,
        };
        let events: Vec<Event> = (0..20_000).map(event).collect();
        let sums = sums(&events);
        for (from, until) in [(0, 20_000), (0, 5), (4_095, 4_097), (4_096, 8_192), (100, 19_999), (7, 7), (0, 90_000)] {
            let look = Look { from, until, ..Look::default() };
            let mut all = [Bin::default(); 64];
            add(&mut all, &events[from..until.min(events.len())]);
            assert_eq!(bins(&events, &sums, &look), all, "{from}..{until}");
        }
    }
}
