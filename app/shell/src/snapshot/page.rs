//! The page from top to bottom.

use crate::action::Action;
use crate::app::App;
use crate::guide::parts;
use crate::snapshot::desk::{Desk, Opened, State, begun_part};
use crate::snapshot::shelf::{Incoming, Shelf};
use crate::snapshot::{about, answer, ask, empty, figures, limit, rules, together};
use crate::widgets;
use egui::{RichText, ScrollArea, Ui};
use vramlab_kit::tokens::{Tokens, Type, Verdict};
use vramlab_kit::widgets::segmented;
use vramlab_units::{Bytes, Lang, Text, show};

const TITLE: Text = Text::new("显存快照", "Memory snapshot");
const SUBTITLE: Text = Text::new(
    "PyTorch 分配器的记录：谁在什么时候占了多少，峰值由谁造成，剩下的为什么用不上。",
    "What PyTorch's allocator recorded: who held how much and when, what made the peak, and why the rest could not be used.",
);
const READING: Text = Text::new("正在读 {name}（{size}）…", "Reading {name} ({size}) …");
const COUNTING: Text =
    Text::new("{name} 很大（{size}），先数它有多少事件…", "{name} is large ({size}): counting its events first …");
const PART: Text = Text::new(
    "只读了第 {from}–{until} 个事件，文件里共 {n} 个；段和块是这一段结束时的样子。",
    "Only events {from}–{until} of {n} were read; segments and blocks are those at the end of that part.",
);
const FAILED: Text = Text::new("读不出来 · {name}：{why}", "cannot be read · {name}: {why}");
const OTHER: Text = Text::new("打开另一份…", "Open another…");
const ADD: Text = Text::new("再加一份来比较…", "Add one to compare…");
const SIDE_BY_SIDE: Text = Text::new("各设备并排", "All devices side by side");
const CLOSE: Text = Text::new("关闭", "Close");
const DEVICE: Text = Text::new("设备", "Device");
/// The page may be wider than a chapter: time runs right.
const COLUMN: f32 = 1280.0;

/// The page.
#[inline(never)] // it comes late on the web
pub fn ui(app: &mut App, ui: &mut Ui, actions: &mut Vec<Action>) {
    let tokens = app.tokens().clone();
    let lang = app.lang();
    let mut is_urgent = app.snapshot.advance(app.platform.as_mut());
    // The state is taken out while it is painted, so that what it needs of the program can be borrowed.
    let mut desk = std::mem::take(&mut app.snapshot);
    if let State::Open(opened) = &mut desk.state {
        let (snapshot, analysis) = (opened.scene.snapshot.clone(), opened.scene.analysis.clone());
        is_urgent |= opened.answers.advance(app.platform.as_mut(), &snapshot, &analysis);
    }
    if is_urgent {
        ui.ctx().request_repaint();
    }
    let mut area = ScrollArea::vertical().id_salt("snapshot").auto_shrink([false, false]);
    if let Some(text) = pasted(ui) {
        desk.paper.take(&text);
        area = area.vertical_scroll_offset(0.0);
    }
    area.show(ui, |ui| {
        column(ui, &tokens, |ui| {
            let response = ui.label(RichText::new(TITLE.get(lang)).font(tokens.font(Type::Chapter)).color(tokens.ink));
            ui.ctx().accesskit_node_builder(response.id, |node| node.set_role(egui::accesskit::Role::Heading));
            ui.add_space(tokens.space.xxs);
            if !asking_ui(ui, &tokens, lang, &mut desk, app.platform.as_mut()) {
                body(ui, &tokens, lang, &mut desk, actions);
            }
        });
    });
    app.snapshot = desk;
}

/// A text that was pasted while nothing is typed into.
fn pasted(ui: &Ui) -> Option<String> {
    let focused = ui.memory(egui::Memory::focused);
    let types = focused.is_some_and(|id| egui::text_edit::TextEditState::load(ui.ctx(), id).is_some());
    let text = |event: &egui::Event| match event {
        egui::Event::Paste(text) if !types => Some(text.clone()),
        _ => None,
    };
    ui.input(|input| input.events.iter().find_map(text))
}

/// As wide as there is room, up to the page's own measure.
fn column(ui: &mut Ui, tokens: &Tokens, add: impl FnOnce(&mut Ui)) {
    let room = ui.available_width();
    let side = if room < tokens.px(640.0) { tokens.space.s } else { tokens.space.xxl };
    let width = (room - 2.0 * side).min(tokens.px(COLUMN)).max(240.0);
    ui.horizontal_top(|ui| {
        ui.add_space(((room - width) / 2.0).max(0.0));
        ui.vertical(|ui| {
            ui.set_width(width);
            ui.add_space(tokens.space.xl);
            add(ui);
            ui.add_space(tokens.space.xxl * 2.0);
        });
    });
}

/// A large file: which part of it is wanted.
fn asking_ui(
    ui: &mut Ui,
    tokens: &Tokens,
    lang: Lang,
    desk: &mut Desk,
    platform: &mut dyn crate::platform::Platform,
) -> bool {
    let State::Asking(asking) = &mut desk.state else { return false };
    match asking.ui(ui, tokens, lang) {
        None => return true,
        Some(ask::Answer::Cancel) => desk.state = State::Empty,
        Some(ask::Answer::Read) => {
            if let State::Asking(asking) = std::mem::take(&mut desk.state) {
                desk.state = begun_part(platform, *asking);
                ui.ctx().request_repaint();
            }
        }
    }
    true
}

/// What stands under the title.
fn body(ui: &mut Ui, tokens: &Tokens, lang: Lang, desk: &mut Desk, actions: &mut Vec<Action>) {
    match &desk.state {
        State::Open(_) => opened_ui(ui, tokens, lang, desk, actions),
        State::Fetching { path } => parts::note(ui, tokens, &reading(lang, path, None), tokens.ink),
        State::Waiting { name, bytes, .. } => {
            parts::note(ui, tokens, &reading(lang, name, Some(bytes.len() as u64)), tokens.ink);
        }
        State::Counting { name, n_bytes, .. } => {
            let size = show::bytes_binary(Bytes(*n_bytes));
            parts::note(ui, tokens, &COUNTING.get(lang).replace("{name}", name).replace("{size}", &size), tokens.ink);
        }
        // It has its own card.
        State::Asking(_) => {}
        State::Reading { name, n_bytes, .. } => {
            parts::note(ui, tokens, &reading(lang, name, Some(*n_bytes)), tokens.ink);
        }
        State::Empty | State::Failed { .. } => {
            parts::body(ui, tokens, SUBTITLE.get(lang), tokens.muted);
            ui.add_space(tokens.space.l);
            if let State::Failed { name, why } = &desk.state {
                let words = FAILED.get(lang).replace("{name}", name).replace("{why}", why.get(lang));
                widgets::verdict(ui, tokens, Verdict::Bad, &words);
                ui.add_space(tokens.space.m);
            }
            // A table that was opened comes first, the place to paste one last.
            if desk.paper.is_read() {
                desk.paper.ui(ui, tokens, lang, actions);
                ui.add_space(tokens.space.m);
                empty::ui(ui, tokens, lang, actions);
            } else {
                empty::ui(ui, tokens, lang, actions);
                ui.add_space(tokens.space.m);
                desk.paper.ui(ui, tokens, lang, actions);
            }
        }
    }
}

fn reading(lang: Lang, name: &str, n_bytes: Option<u64>) -> String {
    let size = n_bytes.map_or("…".to_owned(), |n_bytes| show::bytes_binary(Bytes(n_bytes)));
    READING.get(lang).replace("{name}", name).replace("{size}", &size)
}

fn opened_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, desk: &mut Desk, actions: &mut Vec<Action>) {
    let before = desk.params();
    let mut pressed = None;
    let closes;
    {
        let Desk { state: State::Open(opened), shelf, together, paper, .. } = desk else { return };
        closes = header_ui(ui, tokens, lang, opened, shelf, actions);
        pressed = pressed.or(together::tabs_ui(ui, tokens, lang, opened, shelf));
        devices_ui(ui, tokens, lang, opened, shelf);
        part_ui(ui, tokens, lang, opened);
        ui.add_space(tokens.space.m);
        pressed = pressed.or(together::ui(ui, tokens, lang, opened, shelf, together));
        // An error that was pasted beside a snapshot stands above it, and tells the limit that the snapshot lacks.
        if paper.is_message() {
            paper.ui(ui, tokens, lang, actions);
            ui.add_space(tokens.space.m);
        }
        if let Some(allowed) = paper.take_allowed().filter(|_| opened.limit.bytes().is_none()) {
            opened.limit.set(allowed);
        }
        rules::judge(opened);
        limit::judge(opened);
        if let Some(scene) = opened.scene.narrowed_to(&opened.look.filter) {
            opened.scene = scene;
        }
        answer::ui(ui, tokens, lang, opened);
        ui.add_space(tokens.space.m);
        for figure in [figures::timeline, figures::map, figures::log, figures::stacks] {
            figure(ui, tokens, lang, opened);
            ui.add_space(tokens.space.m);
        }
        about::ui(ui, tokens, lang, &opened.scene.snapshot, &opened.scene.analysis, opened.answers.before);
        if !paper.is_message() {
            ui.add_space(tokens.space.m);
            paper.ui(ui, tokens, lang, actions);
        }
    }
    if let Some(idx) = pressed {
        desk.shelf.swap(&mut desk.state, idx);
    }
    if closes {
        desk.close();
    }
    let params = desk.params();
    if params != before {
        actions.push(Action::SnapshotAddress(params));
    }
}

/// The name, and what can be done with it; true when it is to be closed.
fn header_ui(
    ui: &mut Ui,
    tokens: &Tokens,
    lang: Lang,
    opened: &Opened,
    shelf: &mut Shelf,
    actions: &mut Vec<Action>,
) -> bool {
    let mut closes = false;
    ui.horizontal_wrapped(|ui| {
        let size = show::bytes_binary(Bytes(opened.n_bytes));
        let name = format!("{} · {size}", opened.name);
        ui.label(RichText::new(name).font(tokens.font(Type::Mono)).color(tokens.muted));
        if widgets::link(ui, tokens, ADD.get(lang)).clicked() {
            shelf.adds = true;
            actions.push(Action::OpenFile);
        }
        if widgets::link(ui, tokens, OTHER.get(lang)).clicked() {
            shelf.adds = false;
            actions.push(Action::OpenFile);
        }
        closes = widgets::link(ui, tokens, CLOSE.get(lang)).clicked();
    });
    closes
}

/// That only a part was read.
fn part_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, opened: &Opened) {
    let Some(shown) = opened.scene.snapshot.shown.get(opened.scene.analysis.device) else { return };
    if shown.until - shown.from < shown.n_events {
        let words = PART.get(lang).replace("{from}", &(shown.from + 1).to_string());
        let words = words.replace("{until}", &shown.until.to_string()).replace("{n}", &shown.n_events.to_string());
        parts::note(ui, tokens, &words, tokens.caution);
    }
}

/// A choice among the devices of the file, if there are several, or all of them at once.
fn devices_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, opened: &mut Opened, shelf: &mut Shelf) {
    let devices = opened.devices();
    if devices.len() < 2 {
        return;
    }
    let names: Vec<(usize, String)> = devices.iter().map(|device| (*device, format!("cuda:{device}"))).collect();
    let options: Vec<(usize, &str)> = names.iter().map(|(device, name)| (*device, name.as_str())).collect();
    let shown = opened.scene.analysis.device;
    let mut device = shown;
    ui.horizontal_wrapped(|ui| {
        if segmented(ui, tokens, DEVICE.get(lang), &mut device, &options) {
            opened.wants_device = Some(device);
        }
        let is_alone = shelf.others.is_empty() && shelf.reading().is_none();
        if is_alone && widgets::link(ui, tokens, SIDE_BY_SIDE.get(lang)).clicked() {
            for (device, name) in names.iter().filter(|(device, _)| *device != shown) {
                shelf.queue(Incoming::Device {
                    name: format!("{} · {name}", opened.name),
                    n_bytes: opened.n_bytes,
                    snapshot: std::sync::Arc::clone(&opened.scene.snapshot),
                    device: *device,
                });
            }
            opened.name = format!("{} · cuda:{shown}", opened.name);
        }
    });
}
