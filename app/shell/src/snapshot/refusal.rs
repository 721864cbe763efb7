//! The text of an out-of-memory error: its cause, what to do first, and every number of it, drawn where they fit the card.

use crate::action::Action;
use crate::guide::parts;
use crate::route::{Page, Route};
use crate::widgets;
use egui::{Rect, Sense, Ui, WidgetInfo, pos2, vec2};
use vramlab_kit::paint::{self, Area};
use vramlab_kit::tokens::{Tokens, Type, Verdict};
use vramlab_kit::widgets::key_number;
use vramlab_snapshot::message::Message;
use vramlab_units::{Bytes, Lang, Text, show};

const CHAPTER: Text = Text::new("第 18 章：逐词读这条报错", "Chapter 18: this error, word by word");
const HELP: Text = Text::new("训练 OOM 怎么办", "What to do about an OOM in training");
const OTHER: Text = Text::new("换一份", "Another");
const OUTSIDE: Text = Text::new("别的进程", "others");
const BESIDE: Text = Text::new("分配器之外（本进程的上下文、别的进程）", "outside the allocator (context, others)");
const CONTEXT: Text = Text::new("本进程的 CUDA 上下文等", "this process besides PyTorch");
const ALLOCATED: Text = Text::new("已分配", "allocated");
const INACTIVE: Text = Text::new("保留而空闲", "reserved, free");
const FREE: Text = Text::new("设备空闲", "free");
const LEFT: Text = Text::new("上限之下还剩", "left of the limit");
const LIMIT: Text = Text::new("本进程的上限 {}", "The limit of this process, {}");
const CARD: Text = Text::new("整张卡 {}", "The whole card, {}");
const WANTED: Text = Text::new("要 {}", "{} wanted");

fn size(bytes: u64) -> String {
    show::bytes_binary(Bytes(bytes))
}

/// Everything that the text says.
/// True when another text is wanted.
pub fn ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, message: &Message, actions: &mut Vec<Action>) -> bool {
    let told = message.told();
    for (idx, (title, words)) in told.iter().enumerate() {
        let end = if lang == Lang::Zh { "：" } else { ": " };
        let words = format!("{}{end}{}", title.get(lang), words.get(lang));
        if idx == 0 {
            widgets::verdict(ui, tokens, Verdict::Bad, &words);
        } else {
            parts::body(ui, tokens, &words, tokens.ink);
        }
    }
    ui.add_space(tokens.space.s);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(tokens.space.xl, tokens.space.s);
        for (name, bytes) in message.figures() {
            let exact = format!("{bytes}\u{2009}B");
            key_number(ui, tokens, name.get(lang), &size(bytes), Some(&exact), Verdict::Neutral);
        }
    });
    ui.add_space(tokens.space.s);
    card_ui(ui, tokens, lang, message);
    ui.add_space(tokens.space.s);
    let links = ui.horizontal_wrapped(|ui| {
        let help = Page::Help { symptom: Some("training_oom".to_owned()), answers: Vec::new() };
        for (words, route) in [(CHAPTER, Route::step("18_debugging", "message")), (HELP, Route::page(help))] {
            if widgets::link(ui, tokens, words.get(lang)).clicked() {
                actions.push(Action::Go(route));
            }
        }
        widgets::link(ui, tokens, OTHER.get(lang)).clicked()
    });
    links.inner
}

/// A stretch of the card.
struct Stretch {
    name: Text,
    bytes: u64,
    look: Look,
}

#[derive(Clone, Copy)]
enum Look {
    Others,
    Context,
    Allocated,
    Inactive,
    Free,
}

/// What there was: the process's own limit where that refused, else the card, where the text says how large it is.
fn stretches(message: &Message) -> Option<(Text, u64, Vec<Stretch>)> {
    let part = |(name, bytes, look)| Stretch { name, bytes, look };
    let is_there = |(_, bytes, _): &(Text, u64, Look)| *bytes > 0;
    if let (Some(allowed), Some(left)) = (message.allowed, message.left().filter(|_| message.is_capped())) {
        let all = [
            (ALLOCATED, message.allocated.bytes, Look::Allocated),
            (INACTIVE, message.inactive.bytes, Look::Inactive),
            (LEFT, left, Look::Free),
        ];
        return Some((LIMIT, allowed.bytes, all.into_iter().filter(is_there).map(part).collect()));
    }
    let capacity = message.capacity?.bytes;
    let (allocated, inactive, free) = (message.allocated.bytes, message.inactive.bytes, message.device_free.bytes);
    let held = allocated.saturating_add(inactive);
    let context = message.in_use.map_or(0, |in_use| in_use.bytes.saturating_sub(held));
    // What the digits leave out is no process.
    let given = [message.capacity, Some(message.device_free), message.in_use];
    let slack: u64 = given.iter().flatten().map(|amount| amount.slack).sum();
    let others = capacity.saturating_sub(held.saturating_add(context).saturating_add(free));
    let others = if others > slack { others } else { 0 };
    let all = [
        // Without this process's own figure nobody knows whose it is.
        (if message.in_use.is_some() { OUTSIDE } else { BESIDE }, others, Look::Others),
        (CONTEXT, context, Look::Context),
        (ALLOCATED, allocated, Look::Allocated),
        (INACTIVE, inactive, Look::Inactive),
        (FREE, free, Look::Free),
    ];
    Some((CARD, capacity, all.into_iter().filter(is_there).map(part).collect()))
}

/// All there was as a strip, and below it the request, as long.
fn card_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, message: &Message) {
    let Some((name, capacity, all)) = stretches(message) else { return };
    parts::label(ui, tokens, &name.get(lang).replace("{}", &size(capacity)));
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), tokens.px(46.0)), Sense::hover());
    let part = |stretch: &Stretch| format!("{} {}", stretch.name.get(lang), size(stretch.bytes));
    let words = all.iter().map(part).collect::<Vec<_>>().join(" · ");
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Label, true, &words));
    let most = capacity.max(message.request.bytes).max(1) as f64;
    let length = |bytes: u64| rect.width() * (bytes as f64 / most) as f32;
    let painter = ui.painter();
    let mut left = rect.left();
    for stretch in &all {
        let right = left + length(stretch.bytes);
        let cell = Rect::from_min_max(pos2(left, rect.top()), pos2(right, rect.top() + tokens.px(18.0)));
        fill(painter, tokens, cell, stretch.look);
        left = right;
    }
    let top = rect.top() + tokens.px(24.0);
    let wanted =
        Rect::from_min_size(pos2(rect.left(), top), vec2(length(message.request.bytes).max(2.0), tokens.px(6.0)));
    painter.rect_filled(wanted, 1.0, tokens.bad);
    let label = WANTED.get(lang).replace("{}", &size(message.request.bytes));
    let galley = paint::text(ui, tokens, Type::Small, tokens.bad, label);
    let beside = wanted.right() + tokens.px(8.0);
    let x = if beside + galley.size().x <= rect.right() { beside } else { rect.left() };
    let y = if x > rect.left() { wanted.center().y - galley.size().y / 2.0 } else { wanted.bottom() };
    ui.painter().galley(pos2(x, y), galley, tokens.bad);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(tokens.space.m, tokens.space.xxs);
        all.iter().for_each(|stretch| entry_ui(ui, tokens, &part(stretch), stretch.look));
    });
}

fn fill(painter: &egui::Painter, tokens: &Tokens, rect: Rect, look: Look) {
    let flat = match look {
        Look::Others => tokens.tint(tokens.muted, 0.35),
        Look::Context => tokens.tint(tokens.muted, 0.55),
        Look::Allocated => tokens.tint(tokens.ink, 0.65),
        Look::Inactive | Look::Free => tokens.sunken,
    };
    painter.rect_filled(rect, 0.0, flat);
    match look {
        Look::Others => paint::hatch(painter, rect, tokens.px(6.0), tokens.stroke(1.0, tokens.muted), false),
        Look::Inactive => paint::area(painter, tokens, rect, Area::Fragmented),
        Look::Context | Look::Allocated | Look::Free => {}
    }
    painter.rect_stroke(rect, 0.0, tokens.stroke(1.0, tokens.line), egui::StrokeKind::Inside);
}

fn entry_ui(ui: &mut Ui, tokens: &Tokens, words: &str, look: Look) {
    let galley = paint::text(ui, tokens, Type::Small, tokens.muted, words);
    let size = vec2(tokens.px(26.0) + galley.size().x, tokens.px(20.0));
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(egui::Role::Label, true, words));
    let swatch = Rect::from_min_size(rect.min + vec2(0.0, tokens.px(4.0)), vec2(tokens.px(20.0), tokens.px(12.0)));
    fill(ui.painter(), tokens, swatch, look);
    let at = pos2(rect.left() + tokens.px(26.0), rect.center().y - galley.size().y / 2.0);
    ui.painter().galley(at, galley, tokens.muted);
}
