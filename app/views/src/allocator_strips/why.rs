//! "Why this block?": every free range at the time of the request, and what spoke against it.

use super::run::Run;
use super::words::size;
use egui::{Grid, Label, Rect, RichText, Sense, Ui, vec2};
use vramlab_alloc::replay::{Against, Candidate, Explanation};
use vramlab_kit::widgets::finding::sign;
use vramlab_kit::{Tokens, Type, Verdict};
use vramlab_units::{Lang, Text};

const TITLE: Text = Text::new("为什么是这一块？", "Why this block?");
const HOLE: Text = Text::new("空洞", "hole");
const AT: Text = Text::new("位置", "at");
const REASON: Text = Text::new("结论", "verdict");
const TAKEN: Text = Text::new("就是它：装得下的里最小的", "taken: the smallest that holds it");
/// More are counted, not listed.
const MOST_ROWS: usize = 7;

/// What spoke against a range, in words.
pub fn reason(against: Option<Against>, lang: Lang) -> String {
    let Some(against) = against else { return TAKEN.get(lang).to_owned() };
    match (against, lang) {
        (Against::TooSmall, Lang::Zh) => "太小".to_owned(),
        (Against::TooSmall, Lang::En) => "too small".to_owned(),
        (Against::OtherStream(stream), Lang::Zh) => format!("属于流 {stream}"),
        (Against::OtherStream(stream), Lang::En) => format!("belongs to stream {stream}"),
        (Against::OtherPool, Lang::Zh) => "在另一个池里".to_owned(),
        (Against::OtherPool, Lang::En) => "in another pool".to_owned(),
        (Against::Larger, Lang::Zh) => "装得下，但有更小的".to_owned(),
        (Against::Larger, Lang::En) => "holds it, but a smaller one does too".to_owned(),
        (Against::HigherAddress, Lang::Zh) => "一样大，地址更高".to_owned(),
        (Against::HigherAddress, Lang::En) => "as large, but at a higher address".to_owned(),
        (Against::Oversize(limit), Lang::Zh) => format!("不小于 {}，不许切给小申请；查找到此为止", size(limit)),
        (Against::Oversize(limit), Lang::En) => {
            format!("{} or more, so not to be cut for a smaller request; the search ends here", size(limit))
        }
        (Against::TooLoose(most), Lang::Zh) => format!("不许切，又大出 {} 以上；查找到此为止", size(most)),
        (Against::TooLoose(most), Lang::En) => {
            format!("not to be cut, and over {} too large; the search ends here", size(most))
        }
        (Against::RoomToGrow(room), Lang::Zh) => format!("后面能长到 {}，留给更大的", size(room)),
        (Against::RoomToGrow(room), Lang::En) => format!("can grow to {}: kept for something larger", size(room)),
        (Against::NotReached, Lang::Zh) => "没有查到这里".to_owned(),
        (Against::NotReached, Lang::En) => "not looked at any more".to_owned(),
        (Against::LowerBin(bin), Lang::Zh) => format!("在第 {bin} 箱，低于申请的箱，不查"),
        (Against::LowerBin(bin), Lang::En) => format!("in bin {bin}, below the request's, which is not searched"),
        (Against::NotOrdered, Lang::Zh) => "释放它的流还没等过".to_owned(),
        (Against::NotOrdered, Lang::En) => "freed on a stream that was not waited for".to_owned(),
    }
}

/// The sentence over the list.
fn search(explanation: &Explanation, lang: Lang) -> String {
    let (asked, rounded) = (size(explanation.requested_bytes), size(explanation.rounded_bytes));
    let (n, device) = (explanation.candidates.len(), size(explanation.device_bytes));
    let what = match (lang, explanation.requested_bytes == explanation.rounded_bytes) {
        (Lang::Zh, true) => format!("找 {rounded}"),
        (Lang::Zh, false) => format!("要 {asked}，取整到 {rounded}"),
        (Lang::En, true) => format!("Looking for {rounded}"),
        (Lang::En, false) => format!("{asked} are rounded to {rounded}"),
    };
    match (lang, n, explanation.chosen().is_some()) {
        (Lang::Zh, 0, _) => format!("{what}。一个空洞也没有，向卡要 {device}。"),
        (Lang::Zh, _, false) => format!("{what}。{n} 个空洞都不行，向卡要 {device}。"),
        (Lang::Zh, _, true) => format!("{what}。共有 {n} 个空洞："),
        (Lang::En, 0, _) => format!("{what}. There is no hole: the card is asked for {device}."),
        (Lang::En, 1, false) => format!("{what}. The only hole will not do: the card is asked for {device}."),
        (Lang::En, _, false) => format!("{what}. None of {n} holes will do: the card is asked for {device}."),
        (Lang::En, 1, true) => format!("{what}. There is one hole:"),
        (Lang::En, _, true) => format!("{what}. There are {n} holes:"),
    }
}

/// The list for one allocator; nothing where the last event was no request.
pub fn ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, run: &Run, room: f32) {
    let Some(explanation) = &run.frame.explanation else { return };
    ui.add_space(tokens.space.s);
    ui.spacing_mut().interact_size.y = 0.0;
    let title = format!("{} · {}", TITLE.get(lang), run.engine.label().get(lang));
    ui.label(RichText::new(title).font(tokens.font(Type::NoteStrong)).color(tokens.ink));
    let text = RichText::new(search(explanation, lang)).font(tokens.font(Type::Note)).color(tokens.muted);
    ui.add(Label::new(text).wrap());
    if explanation.candidates.is_empty() {
        return;
    }
    ui.add_space(tokens.space.xxs);
    let base = run.frame.strips.iter().map(|strip| strip.address).min();
    let lowest = explanation.candidates.iter().map(|it| it.address).chain(base).min().unwrap_or(0);
    let mut rows: Vec<&Candidate> = explanation.candidates.iter().collect();
    rows.sort_by_key(|candidate| (candidate.against.is_some(), std::cmp::Reverse(candidate.size), candidate.address));
    let n_left = rows.len().saturating_sub(MOST_ROWS);
    let shown = rows.into_iter().take(MOST_ROWS);
    if room < tokens.px(400.0) {
        for candidate in shown {
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing.x = tokens.space.s;
                row(ui, tokens, lang, candidate, lowest);
            });
        }
    } else {
        Grid::new(("why", run.engine.id())).spacing(vec2(tokens.space.m, tokens.space.xxs)).show(ui, |ui| {
            head(ui, tokens, lang);
            for candidate in shown {
                row(ui, tokens, lang, candidate, lowest);
                ui.end_row();
            }
        });
    }
    if n_left > 0 {
        let text = match lang {
            Lang::Zh => format!("另有 {n_left} 个更小的空洞"),
            Lang::En => format!("and {n_left} smaller holes"),
        };
        ui.label(RichText::new(text).font(tokens.font(Type::Small)).color(tokens.muted));
    }
}

fn head(ui: &mut Ui, tokens: &Tokens, lang: Lang) {
    ui.allocate_space(vec2(1.0, 1.0));
    for text in [HOLE, AT, REASON] {
        ui.label(RichText::new(text.get(lang)).font(tokens.font(Type::Small)).color(tokens.muted));
    }
    ui.end_row();
}

fn row(ui: &mut Ui, tokens: &Tokens, lang: Lang, candidate: &Candidate, lowest: u64) {
    let side = tokens.px(16.0);
    let (rect, _) = ui.allocate_exact_size(vec2(side, tokens.px(20.0)), Sense::hover());
    let verdict = if candidate.against.is_none() { Verdict::Good } else { Verdict::Bad };
    sign(ui, tokens, Rect::from_center_size(rect.center(), vec2(side, side)), verdict);
    let mono = |text: String| RichText::new(text).font(tokens.font(Type::Mono)).color(tokens.ink);
    ui.label(mono(size(candidate.size)));
    ui.label(mono(format!("+{}", size(candidate.address - lowest))));
    let color = if candidate.against.is_none() { tokens.ink } else { tokens.muted };
    let text = RichText::new(reason(candidate.against, lang)).font(tokens.font(Type::Note)).color(color);
    ui.add(Label::new(text).wrap());
}
