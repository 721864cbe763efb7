//! "Why this block?": every free range at the time of the request, and what spoke against it.

use super::run::Run;
use super::words::{size, sizes};
use egui::{Align, Label, Layout, Rect, RichText, Sense, Ui, vec2};
use vramlab_alloc::replay::{Against, Candidate, Explanation};
use vramlab_kit::widgets::finding::sign;
use vramlab_kit::{Tokens, Type, Verdict, paint};
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
    let [asked, rounded, device] =
        sizes([explanation.requested_bytes, explanation.rounded_bytes, explanation.device_bytes]);
    let n = explanation.candidates.len();
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
    let mono = |text: &str| paint::text(ui, tokens, Type::Mono, tokens.ink, text).size().x.ceil();
    let column = |texts: &[String]| texts.iter().map(|text| mono(text)).fold(tokens.px(32.0), f32::max);
    let shown: Vec<&Candidate> = shown.collect();
    let columns = [
        tokens.px(16.0),
        column(&shown.iter().map(|it| size(it.size)).collect::<Vec<_>>()),
        column(&shown.iter().map(|it| place(it, lowest)).collect::<Vec<_>>()),
    ];
    let rest = room - columns.iter().sum::<f32>() - 3.0 * tokens.space.m;
    if rest < tokens.px(170.0) {
        for candidate in shown {
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing.x = tokens.space.s;
                row(ui, tokens, lang, candidate, lowest);
            });
        }
    } else {
        // What follows the sizes has all the width that is left.
        let widths = [columns[0], columns[1], columns[2], rest];
        head(ui, tokens, lang, widths);
        for candidate in shown {
            spaced(ui, tokens, |ui| {
                for (idx, width) in widths.into_iter().enumerate() {
                    cell(ui, width, |ui| part(ui, tokens, lang, (candidate, lowest), idx));
                }
            });
        }
    }
    if n_left > 0 {
        let text = match lang {
            Lang::Zh => format!("另有 {n_left} 个更小的空洞"),
            Lang::En => format!("and {n_left} smaller holes"),
        };
        ui.label(RichText::new(text).font(tokens.font(Type::Small)).color(tokens.muted));
    }
}

fn place(candidate: &Candidate, lowest: u64) -> String {
    format!("+{}", size(candidate.address - lowest))
}

fn spaced(ui: &mut Ui, tokens: &Tokens, add: impl FnOnce(&mut Ui)) {
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing = vec2(tokens.space.m, tokens.space.xxs);
        add(ui);
    });
}

fn cell(ui: &mut Ui, width: f32, add: impl FnOnce(&mut Ui)) {
    ui.allocate_ui_with_layout(vec2(width, 0.0), Layout::top_down(Align::Min), |ui| {
        ui.set_width(width);
        add(ui);
    });
}

fn head(ui: &mut Ui, tokens: &Tokens, lang: Lang, widths: [f32; 4]) {
    let titles = [None, Some(HOLE), Some(AT), Some(REASON)];
    spaced(ui, tokens, |ui| {
        for (title, width) in titles.into_iter().zip(widths) {
            cell(ui, width, |ui| {
                if let Some(title) = title {
                    ui.label(RichText::new(title.get(lang)).font(tokens.font(Type::Small)).color(tokens.muted));
                }
            });
        }
    });
}

fn row(ui: &mut Ui, tokens: &Tokens, lang: Lang, candidate: &Candidate, lowest: u64) {
    for idx in 0..4 {
        part(ui, tokens, lang, (candidate, lowest), idx);
    }
}

/// One of the four things that are said of a range: its sign, how large, where, what spoke against it.
fn part(ui: &mut Ui, tokens: &Tokens, lang: Lang, (candidate, lowest): (&Candidate, u64), idx: usize) {
    let is_taken = candidate.against.is_none();
    let mono = |text: String| RichText::new(text).font(tokens.font(Type::Mono)).color(tokens.ink);
    match idx {
        0 => {
            let side = tokens.px(16.0);
            let (rect, _) = ui.allocate_exact_size(vec2(side, tokens.px(20.0)), Sense::hover());
            let verdict = if is_taken { Verdict::Good } else { Verdict::Bad };
            sign(ui, tokens, Rect::from_center_size(rect.center(), vec2(side, side)), verdict);
        }
        1 => {
            ui.label(mono(size(candidate.size)));
        }
        2 => {
            ui.label(mono(place(candidate, lowest)));
        }
        _ => {
            let color = if is_taken { tokens.ink } else { tokens.muted };
            let text = RichText::new(reason(candidate.against, lang)).font(tokens.font(Type::Note)).color(color);
            ui.add(Label::new(text).wrap());
        }
    }
}
