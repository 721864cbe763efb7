//! The page from top to bottom.

use crate::action::Action;
use crate::app::App;
use crate::guide::parts;
use crate::snapshot::desk::{Opened, State};
use crate::snapshot::{about, answer, empty, figures};
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
const FAILED: Text = Text::new("读不出来 · {name}：{why}", "cannot be read · {name}: {why}");
const OTHER: Text = Text::new("打开另一份…", "Open another…");
const CLOSE: Text = Text::new("关闭", "Close");
const DEVICE: Text = Text::new("设备", "Device");
/// The page may be wider than a chapter: time runs right.
const COLUMN: f32 = 1280.0;

/// The page.
pub fn ui(app: &mut App, ui: &mut Ui, actions: &mut Vec<Action>) {
    let tokens = app.tokens().clone();
    let lang = app.lang();
    let mut is_urgent = app.snapshot.advance(app.platform.as_mut());
    // The state is taken out while it is painted, so that what it needs of the program can be borrowed.
    let mut state = std::mem::take(&mut app.snapshot.state);
    if let State::Open(opened) = &mut state {
        let (snapshot, analysis) = (opened.scene.snapshot.clone(), opened.scene.analysis.clone());
        is_urgent |= opened.answers.advance(app.platform.as_mut(), &snapshot, &analysis);
    }
    if is_urgent {
        ui.ctx().request_repaint();
    }
    ScrollArea::vertical().id_salt("snapshot").auto_shrink([false, false]).show(ui, |ui| {
        column(ui, &tokens, |ui| {
            let response = ui.label(RichText::new(TITLE.get(lang)).font(tokens.font(Type::Chapter)).color(tokens.ink));
            ui.ctx().accesskit_node_builder(response.id, |node| node.set_role(egui::accesskit::Role::Heading));
            ui.add_space(tokens.space.xxs);
            let closes = body(ui, &tokens, lang, &mut state, actions);
            if closes {
                state = State::Empty;
            }
        });
    });
    app.snapshot.state = state;
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

/// What stands under the title; true when the snapshot is to be closed.
fn body(ui: &mut Ui, tokens: &Tokens, lang: Lang, state: &mut State, actions: &mut Vec<Action>) -> bool {
    match state {
        State::Open(opened) => return opened_ui(ui, tokens, lang, opened, actions),
        State::Fetching { path } => parts::note(ui, tokens, &reading(lang, path, None), tokens.ink),
        State::Waiting { name, bytes, .. } => {
            parts::note(ui, tokens, &reading(lang, name, Some(bytes.len() as u64)), tokens.ink);
        }
        State::Reading { name, n_bytes, .. } => {
            parts::note(ui, tokens, &reading(lang, name, Some(*n_bytes)), tokens.ink);
        }
        State::Empty | State::Failed { .. } => {
            parts::body(ui, tokens, SUBTITLE.get(lang), tokens.muted);
            ui.add_space(tokens.space.l);
            if let State::Failed { name, why } = state {
                let words = FAILED.get(lang).replace("{name}", name).replace("{why}", why);
                widgets::verdict(ui, tokens, Verdict::Bad, &words);
                ui.add_space(tokens.space.m);
            }
            empty::ui(ui, tokens, lang, actions);
        }
    }
    false
}

fn reading(lang: Lang, name: &str, n_bytes: Option<u64>) -> String {
    let size = n_bytes.map_or("…".to_owned(), |n_bytes| show::bytes_binary(Bytes(n_bytes)));
    READING.get(lang).replace("{name}", name).replace("{size}", &size)
}

fn opened_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, opened: &mut Opened, actions: &mut Vec<Action>) -> bool {
    let before = opened.params();
    let mut closes = false;
    ui.horizontal_wrapped(|ui| {
        let size = show::bytes_binary(Bytes(opened.n_bytes));
        let name = format!("{} · {size}", opened.name);
        ui.label(RichText::new(name).font(tokens.font(Type::Mono)).color(tokens.muted));
        if widgets::link(ui, tokens, OTHER.get(lang)).clicked() {
            actions.push(Action::OpenFile);
        }
        closes = widgets::link(ui, tokens, CLOSE.get(lang)).clicked();
    });
    devices_ui(ui, tokens, lang, opened);
    ui.add_space(tokens.space.m);
    answer::ui(ui, tokens, lang, &opened.scene.snapshot, &opened.scene.analysis, &opened.answers);
    for figure in [figures::timeline, figures::map, figures::log, figures::stacks] {
        ui.add_space(tokens.space.m);
        figure(ui, tokens, lang, opened);
    }
    ui.add_space(tokens.space.m);
    about::ui(ui, tokens, lang, &opened.scene.snapshot, &opened.scene.analysis, opened.answers.before);
    let params = opened.params();
    if params != before || closes {
        actions.push(Action::SnapshotAddress(if closes { Default::default() } else { params }));
    }
    closes
}

/// A choice among the devices of the file, if there are several.
fn devices_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, opened: &mut Opened) {
    let devices = opened.devices();
    if devices.len() < 2 {
        return;
    }
    let names: Vec<(usize, String)> = devices.iter().map(|device| (*device, format!("cuda:{device}"))).collect();
    let options: Vec<(usize, &str)> = names.iter().map(|(device, name)| (*device, name.as_str())).collect();
    let mut device = opened.scene.analysis.device;
    if segmented(ui, tokens, DEVICE.get(lang), &mut device, &options) {
        opened.wants_device = Some(device);
    }
}
