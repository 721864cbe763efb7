//! The page from top to bottom: the model, the controls, the verdict with its bar, what is in it, what to change, and where
//! the numbers come from.

use crate::action::Action;
use crate::app::App;
use crate::fit::desk::{Desk, MODELS, Open};
use crate::fit::{ask, bar, levers};
use crate::guide::parts;
use crate::widgets;
use egui::{Rect, Sense, Ui, pos2, vec2};
use vramlab_fit::{Answer, Fits};
use vramlab_kit::paint::{self, Area};
use vramlab_kit::tokens::{Tokens, Type, Verdict};
use vramlab_modelfile::{Origin, parts as matrices};
use vramlab_units::{Bytes, Lang, Text, show};

const TITLE: Text = Text::new("装得下吗", "Does it fit");
const SUBTITLE: Text = Text::new(
    "模型的文件说了多少，这里就算多少：一张卡上装着什么，先改什么省得最多，代价是什么。文件没说的，标为“约定”或者空着。",
    "What a model's file says is added up here: what fills a card, what to change first, and what that costs. What the file \
     does not say is marked as assumed, or left open.",
);
const DROP: Text = Text::new(
    "把 config.json、safetensors 或 GGUF 拖进这个窗口。文件只在本机读，权重文件也只读开头。",
    "Drop a config.json, safetensors or GGUF on this window. It is read here and uploaded nowhere, and of weights only the \
     header.",
);
const CHOOSE: Text = Text::new("选择文件…", "Choose a file…");
const EXAMPLES: Text = Text::new("或者先看一个", "Or look at one first");
const WORKING: Text = Text::new("正在算…", "working it out …");
const FAILED: Text = Text::new("读不出来 · {name}：{why}", "cannot be read · {name}: {why}");
const FITS: Text =
    Text::new("装得下 · 要 {total}，有 {there}，剩 {gap}", "it fits · {total} wanted, {there} there, {gap} left");
const FITS_NOT: Text = Text::new(
    "装不下 · 要 {total}，只有 {there}，差 {gap}",
    "it does not fit · {total} wanted, {there} there, {gap} too much",
);
const OPEN_ENDED: Text = Text::new(
    "说不准 · 已知的要 {total}，有 {there}；下面这些数文件没有给",
    "cannot be told · what is known wants {total} of {there}; the file does not give the numbers below",
);
const CONTENTS: Text = Text::new("一张卡上装着什么", "What fills one card");
const AT: Text = Text::new("最满的时刻：{}", "fullest moment: {}");
const ORIGINS: Text = Text::new("这些数字从哪里来", "Where the numbers come from");
const UNKNOWN: Text = Text::new("文件没有说的", "What the file does not say");
const PARAMETERS: Text = Text::new("{} 个参数", "{} parameters");

#[inline(never)] // it comes late on the web
pub fn ui(app: &mut App, ui: &mut Ui, actions: &mut Vec<Action>) {
    let tokens = app.tokens().clone();
    let lang = app.lang();
    if app.fit.advance(app.platform.as_mut()) {
        ui.ctx().request_repaint();
    }
    let mut desk = std::mem::take(&mut app.fit);
    let before = desk.params();
    parts::page(ui, &tokens, "fit", TITLE.get(lang), SUBTITLE.get(lang), |ui| {
        body(ui, &tokens, lang, &mut desk, actions);
    });
    let params = desk.params();
    app.fit = desk;
    if params != before {
        app.address_fit(params);
        ui.ctx().request_repaint();
    }
}

fn body(ui: &mut Ui, tokens: &Tokens, lang: Lang, desk: &mut Desk, actions: &mut Vec<Action>) {
    if let Some((name, problem)) = &desk.failed {
        let words = FAILED.get(lang).replace("{name}", name).replace("{why}", &problem.message(lang));
        widgets::verdict(ui, tokens, Verdict::Bad, &words);
        ui.add_space(tokens.space.m);
    }
    if let Some(open) = &desk.open {
        parts::heading(ui, tokens, &head(open, lang));
        widgets::card(ui, tokens, |ui| ask::ui(ui, tokens, lang, &mut desk.controls));
        ui.add_space(tokens.space.m);
        answer_ui(ui, tokens, lang, desk);
        ui.add_space(tokens.space.m);
    }
    door(ui, tokens, lang, desk, actions);
}

/// Where models come in.
fn door(ui: &mut Ui, tokens: &Tokens, lang: Lang, desk: &mut Desk, actions: &mut Vec<Action>) {
    widgets::card(ui, tokens, |ui| {
        parts::note(ui, tokens, DROP.get(lang), tokens.ink);
        ui.add_space(tokens.space.xs);
        if widgets::primary(ui, tokens, CHOOSE.get(lang)).clicked() {
            actions.push(Action::OpenFile);
        }
        ui.add_space(tokens.space.s);
        parts::label(ui, tokens, EXAMPLES.get(lang));
        ui.horizontal_wrapped(|ui| {
            for (id, _) in MODELS {
                let is_open = desk.open.as_ref().is_some_and(|open| open.name == id);
                if widgets::pill(ui, tokens, is_open, id).clicked() {
                    desk.example(id);
                }
            }
        });
    });
}

/// `llama-3.1-8b · llama · 8.03 B parameters · bf16`.
fn head(open: &Open, lang: Lang) -> String {
    let arch = &open.model.arch;
    let mut words = vec![open.name.clone()];
    if !arch.model_type.is_empty() && arch.model_type != open.name {
        words.push(arch.model_type.clone());
    }
    if let Ok(list) = matrices::parts(arch) {
        let n = matrices::n_params(&list) as f64;
        words.push(PARAMETERS.get(lang).replace("{}", &count(n)));
    }
    words.extend(arch.stored_as().map(|format| format.id()));
    words.join(" · ")
}

/// The verdict, in one line.
pub fn verdict(answer: &Answer, lang: Lang) -> (Verdict, String) {
    let (tone, text) = match answer.fits {
        Fits::Yes if !answer.sums.warnings.is_empty() => (Verdict::Caution, FITS),
        Fits::Yes => (Verdict::Good, FITS),
        Fits::No => (Verdict::Bad, FITS_NOT),
        Fits::Unknown => (Verdict::Caution, OPEN_ENDED),
    };
    let size = |bytes: u64| show::bytes_binary(Bytes(bytes));
    let words = text
        .get(lang)
        .replace("{total}", &size(answer.total()))
        .replace("{there}", &size(answer.capacity))
        .replace("{gap}", &size(answer.free().unsigned_abs()));
    (tone, words)
}

fn answer_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, desk: &mut Desk) {
    let is_current = desk.answered.as_ref().is_some_and(|(ask, _)| desk.controls.ask().as_ref() == Some(ask));
    let mut pulled = None;
    match &desk.answered {
        None => parts::note(ui, tokens, WORKING.get(lang), tokens.muted),
        Some((_, Err(problem))) => {
            widgets::verdict(ui, tokens, Verdict::Bad, &problem.message(lang));
        }
        Some((_, Ok(answer))) => {
            let (tone, words) = verdict(answer, lang);
            widgets::card(ui, tokens, |ui| {
                let shown = if is_current { words.clone() } else { format!("{words} · {}", WORKING.get(lang)) };
                widgets::verdict(ui, tokens, tone, &shown);
                for warning in &answer.sums.warnings {
                    ui.add_space(tokens.space.xs);
                    widgets::verdict(ui, tokens, Verdict::Caution, warning.get(lang));
                }
                ui.add_space(tokens.space.s);
                bar::ui(ui, tokens, lang, answer, &words);
                contents(ui, tokens, lang, answer);
                if let Some(limit) = answer.limit_words() {
                    parts::note(ui, tokens, limit.get(lang), tokens.ink);
                }
            });
            ui.add_space(tokens.space.m);
            pulled = levers::ui(ui, tokens, lang, answer);
            origins(ui, tokens, lang, desk.open.as_ref());
        }
    }
    if let Some(ask) = pulled {
        desk.controls.take(&ask);
    }
}

/// A row an owner: mark, name, bytes, how it was found and how sure that is.
fn contents(ui: &mut Ui, tokens: &Tokens, lang: Lang, answer: &Answer) {
    ui.add_space(tokens.space.s);
    let title = match &answer.sums.moment {
        Some(moment) => format!("{} · {}", CONTENTS.get(lang), AT.get(lang).replace("{}", moment.get(lang))),
        None => CONTENTS.get(lang).to_owned(),
    };
    parts::label(ui, tokens, &title);
    for item in &answer.sums.items {
        let how = format!("{} · {}", item.certainty.name().get(lang), item.how.get(lang));
        let size = show::bytes_binary(Bytes(item.bytes));
        row(ui, tokens, bar::color(tokens, item.owner), item.name().get(lang), &size, &how);
    }
    for (owner, why) in &answer.sums.unknown {
        row(ui, tokens, None, owner.name().get(lang), "?", why.get(lang));
    }
    for note in &answer.sums.notes {
        parts::note(ui, tokens, note.get(lang), tokens.muted);
    }
}

fn row(ui: &mut Ui, tokens: &Tokens, color: Option<egui::Color32>, name: &str, size: &str, how: &str) {
    let width = ui.available_width();
    let is_narrow = width < tokens.px(520.0);
    let left = if is_narrow { tokens.px(22.0) } else { tokens.px(230.0) };
    let how = parts::laid(ui, tokens, how, tokens.muted, (width - left).max(tokens.px(120.0)));
    let line = tokens.px(22.0);
    let height = how.size().y + if is_narrow { line } else { 0.0 };
    let (rect, response) = ui.allocate_exact_size(vec2(width, height.max(line)), Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, format!("{name} {size}")));
    let mark = Rect::from_min_size(rect.min + vec2(0.0, tokens.px(5.0)), vec2(tokens.px(12.0), tokens.px(12.0)));
    match color {
        Some(color) => {
            ui.painter().rect_filled(mark, 2.0, color);
        }
        None => paint::area(ui.painter(), tokens, mark, Area::CachedFree),
    }
    let name = paint::text(ui, tokens, Type::Note, tokens.ink, name);
    ui.painter().galley(pos2(mark.right() + tokens.px(10.0), rect.top()), name, tokens.ink);
    let size = paint::text(ui, tokens, Type::NoteStrong, tokens.ink, size);
    let right = if is_narrow { rect.right() } else { rect.left() + left - tokens.space.m };
    ui.painter().galley(pos2(right - size.size().x, rect.top()), size, tokens.ink);
    let below = if is_narrow { line } else { 0.0 };
    ui.painter().galley(pos2(rect.left() + left, rect.top() + below), how, tokens.muted);
}

/// What was not simply read, and what is not known.
fn origins(ui: &mut Ui, tokens: &Tokens, lang: Lang, open: Option<&Open>) {
    let Some(open) = open else { return };
    let arch = &open.model.arch;
    let told = arch.facts.iter().filter(|fact| {
        let is_read = matches!(fact.origin, Origin::Read { .. });
        !(is_read || fact.field.is_flag() && fact.value == 0)
    });
    let lines: Vec<String> = told
        .map(|fact| {
            let value = show::grouped(fact.value as f64);
            format!("{} {value} · {}", fact.field.name().get(lang), fact.origin.words().get(lang))
        })
        .chain(arch.notes.iter().map(|note| note.get(lang).to_owned()))
        .collect();
    let unknown: Vec<&str> = arch.unknown.iter().map(|unknown| unknown.why.get(lang)).collect();
    if lines.is_empty() && unknown.is_empty() {
        return;
    }
    ui.add_space(tokens.space.m);
    widgets::card(ui, tokens, |ui| {
        if !lines.is_empty() {
            parts::heading(ui, tokens, ORIGINS.get(lang));
            lines.iter().for_each(|line| parts::note(ui, tokens, line, tokens.muted));
        }
        if !unknown.is_empty() {
            ui.add_space(tokens.space.xs);
            parts::heading(ui, tokens, UNKNOWN.get(lang));
            unknown.iter().for_each(|line| parts::note(ui, tokens, line, tokens.ink));
        }
    });
}

/// `8.03 B`, `124 M`.
fn count(n: f64) -> String {
    if n >= 1e9 { format!("{:.2} B", n / 1e9) } else { format!("{:.0} M", n / 1e6) }
}
