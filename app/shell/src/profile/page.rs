//! The page from top to bottom: what ran and how it ended, the report, memory over time with its lanes, the reconciliation,
//! and where runs come in.

use super::desk::{Desk, EXAMPLE_ID, Opened, Reconciled, State};
use crate::action::Action;
use crate::app::App;
use crate::guide::parts;
use crate::widgets;
use egui::Ui;
use vramlab_kit::Evidence;
use vramlab_kit::tokens::{Tokens, Verdict};
use vramlab_kit::widgets::{Mark, chip, legend};
use vramlab_profile::words;
use vramlab_units::{Lang, Text};
use vramlab_views::profile::{Memory, moment};
use vramlab_views::reconciliation;

const TITLE: Text = Text::new("一次运行的录制", "A recorded run");
const SUBTITLE: Text = Text::new(
    "vramlab profile 看着别人的程序跑：NVML 和系统说它占了多少，CUPTI 记下它的内核、拷贝和分配；看不见的，也说出来。",
    "vramlab profile watches somebody else's program: what NVML and the system say it holds, its kernels, copies and \
     allocations by CUPTI, and what none of them can see.",
);
const HOW: Text = Text::new("录一份自己的", "Record one of your own");
const COMMAND: &str = "vramlab profile --out run.json.gz -- python train.py";
const COPY: Text = Text::new("复制", "Copy");
const DROP: Text = Text::new(
    "然后把 run.json.gz 拖进这个窗口。文件只在本机读取，不会上传。",
    "Then drop run.json.gz on this window. It is read here and uploaded nowhere.",
);
const CHOOSE: Text = Text::new("选择文件…", "Choose a file…");
const EXAMPLE: Text = Text::new("看一份录好的：小 GPT 训练", "Look at one: a small GPT that trains");
const READING: Text = Text::new("正在读 {}…", "reading {} …");
const FAILED: Text = Text::new("读不出来 · {name}：{why}", "cannot be read · {name}: {why}");
const REPORT: Text = Text::new("报告", "Report");
const TIMELINE: Text = Text::new("内存随时间的变化", "Memory over time");
const GPU: Text = Text::new("GPU", "GPU");
const HOST: Text = Text::new("主机", "host");
const TO_PEAK: Text = Text::new("到峰值", "To the peak");
const ALL: Text = Text::new("整个运行", "The whole run");
const CARD: Text = Text::new("整张卡（虚线）", "the whole card, dashed");
const LIVE: Text = Text::new("程序自己的 cudaMalloc", "the program's own cudaMalloc");
const HINT: Text = Text::new(
    "拖动放大，双击复原，单击放光标；点中后滚轮缩放，A、D 平移。",
    "Drag to zoom, double click for all, click for the cursor; once clicked, the wheel zooms and A and D pan.",
);
const RECONCILED: Text = Text::new("对账：从 NVML 到张量", "Reconciliation: from NVML to tensors");
const WITH: Text = Text::new("快照：{}", "Snapshot: {}");
const MATCHED: Text = Text::new(
    "{all} 段里有 {n} 段，CUPTI 看到过同地址、同大小的 cudaMalloc。主人是按调用栈猜的。",
    "Of {all} segments, CUPTI saw {n} allocated at the same address with the same size. Owners are guessed from the stacks.",
);
const NO_SNAPSHOT: Text = Text::new(
    "再打开同一次运行的显存快照（_dump_snapshot），这里就能把 NVML 的数字一路拆到张量。",
    "Open a memory snapshot of the same run too (_dump_snapshot), and NVML's figure is taken apart here down to tensors.",
);

#[inline(never)] // it comes late on the web
pub fn ui(app: &mut App, ui: &mut Ui, actions: &mut Vec<Action>) {
    let tokens = app.tokens().clone();
    let lang = app.lang();
    let open = app.snapshot.counterpart();
    if app.profile.advance(app.platform.as_mut(), open) {
        ui.ctx().request_repaint();
    }
    let mut desk = std::mem::take(&mut app.profile);
    let before = desk.params();
    parts::page(ui, &tokens, "profile", TITLE.get(lang), SUBTITLE.get(lang), |ui| {
        body(ui, &tokens, lang, &mut desk, actions);
    });
    let params = desk.params();
    app.profile = desk;
    if params != before {
        app.address_profile(params);
        ui.ctx().request_repaint();
    }
}

fn body(ui: &mut Ui, tokens: &Tokens, lang: Lang, desk: &mut Desk, actions: &mut Vec<Action>) {
    let Desk { state, reconciled, .. } = desk;
    match state {
        State::Open(opened) => {
            opened_ui(ui, tokens, lang, opened);
            ui.add_space(tokens.space.m);
            reconciled_ui(ui, tokens, lang, reconciled.as_ref(), actions);
            ui.add_space(tokens.space.m);
        }
        State::Failed { name, why } => {
            let words = FAILED.get(lang).replace("{name}", name).replace("{why}", why);
            widgets::verdict(ui, tokens, Verdict::Bad, &words);
            ui.add_space(tokens.space.m);
        }
        State::Reading { name, .. } => {
            parts::note(ui, tokens, &READING.get(lang).replace("{}", name), tokens.muted);
        }
        State::Fetching => parts::note(ui, tokens, &READING.get(lang).replace("{}", EXAMPLE_ID), tokens.muted),
        State::Empty => {}
    }
    door(ui, tokens, lang, desk, actions);
}

/// Where runs come in.
fn door(ui: &mut Ui, tokens: &Tokens, lang: Lang, desk: &mut Desk, actions: &mut Vec<Action>) {
    widgets::card(ui, tokens, |ui| {
        parts::heading(ui, tokens, HOW.get(lang));
        parts::code(ui, tokens, COMMAND, COPY.get(lang), actions);
        parts::note(ui, tokens, DROP.get(lang), tokens.muted);
        ui.add_space(tokens.space.xs);
        ui.horizontal_wrapped(|ui| {
            if widgets::primary(ui, tokens, CHOOSE.get(lang)).clicked() {
                actions.push(Action::OpenFile);
            }
            if widgets::secondary(ui, tokens, EXAMPLE.get(lang)).clicked() {
                desk.example();
            }
        });
    });
}

fn opened_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, opened: &mut Opened) {
    let profile = std::sync::Arc::clone(&opened.scene.profile);
    parts::heading(ui, tokens, &short(&profile.command.join(" "), &opened.name));
    if let Some(device) = &profile.device {
        let evidence = Evidence::Recorded {
            device: device.name.clone(),
            driver: device.driver.clone(),
            date: profile.date.clone(),
        };
        chip(ui, tokens, &evidence, lang);
        ui.add_space(tokens.space.xs);
    }
    widgets::card(ui, tokens, |ui| {
        parts::label(ui, tokens, TIMELINE.get(lang));
        ui.add_space(tokens.space.xs);
        look_ui(ui, tokens, lang, opened);
        let Opened { scene, look, timeline, .. } = &mut *opened;
        timeline.ui(ui, tokens, lang, scene, look);
        legend_ui(ui, tokens, lang, opened);
        let words = moment(&opened.scene, opened.look.cursor, opened.look.memory, lang);
        parts::note(ui, tokens, &words, tokens.ink);
        parts::note(ui, tokens, HINT.get(lang), tokens.muted);
    });
    ui.add_space(tokens.space.m);
    widgets::card(ui, tokens, |ui| {
        parts::label(ui, tokens, REPORT.get(lang));
        for line in words::lines(&profile, &opened.scene.report, lang) {
            line_ui(ui, tokens, line.label.get(lang), &line.text);
        }
        for note in &profile.notes {
            parts::note(ui, tokens, note.get(lang), tokens.ink);
        }
    });
}

/// A command in a line, or the file's name where there is none.
fn short(command: &str, name: &str) -> String {
    const MOST: usize = 80;
    let words = command.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(MOST) {
        _ if words.is_empty() => name.to_owned(),
        Some((at, _)) => format!("{}…", &words[..at]),
        None => words,
    }
}

fn look_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, opened: &mut Opened) {
    ui.horizontal_wrapped(|ui| {
        if opened.scene.has_gpu() {
            for (memory, text) in [(Memory::Gpu, GPU), (Memory::Host, HOST)] {
                if widgets::pill(ui, tokens, opened.look.memory == memory, text.get(lang)).clicked() {
                    opened.look.memory = memory;
                }
            }
        }
        let wall = opened.scene.profile.wall_us;
        if let Some(peak) = opened.scene.peak(opened.look.memory).map(|peak| peak.t_us)
            && widgets::link(ui, tokens, TO_PEAK.get(lang)).clicked()
        {
            opened.look.point_at(peak, wall);
        }
        if opened.look.span() < wall && widgets::link(ui, tokens, ALL.get(lang)).clicked() {
            opened.look.show(0.0, wall as f64, wall);
        }
    });
    ui.add_space(tokens.space.xs);
}

fn legend_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, opened: &Opened) {
    let memory = opened.look.memory;
    let names = vramlab_views::profile::legend(&opened.scene, memory, lang);
    let band = |idx: usize| Mark::Square(tokens.tint(tokens.category(idx), 0.82));
    let mut marks: Vec<(Mark, &str)> = names.iter().enumerate().map(|(idx, name)| (band(idx), name.as_str())).collect();
    if memory == Memory::Gpu {
        marks.push((Mark::Square(tokens.muted), CARD.get(lang)));
        if !opened.scene.live.is_empty() {
            marks.push((Mark::Square(tokens.ink), LIVE.get(lang)));
        }
    }
    legend(ui, tokens, &marks);
}

fn line_ui(ui: &mut Ui, tokens: &Tokens, label: &str, text: &str) {
    ui.add_space(tokens.space.xs);
    let left = tokens.px(96.0);
    let width = ui.available_width();
    let is_narrow = width < tokens.px(480.0);
    let room = if is_narrow { width } else { width - left };
    let words = parts::laid(ui, tokens, text, tokens.ink, room.max(80.0));
    let name = parts::laid(ui, tokens, label, tokens.muted, left);
    let top = if is_narrow { name.size().y } else { 0.0 };
    let size = egui::vec2(width, words.size().y + top);
    let (rect, response) = ui.allocate_exact_size(size, egui::Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, format!("{label}: {text}")));
    let x = if is_narrow { 0.0 } else { left };
    ui.painter().galley(rect.min, name, tokens.muted);
    ui.painter().galley(rect.min + egui::vec2(x, top), words, tokens.ink);
}

fn reconciled_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, reconciled: Option<&Reconciled>, actions: &mut Vec<Action>) {
    widgets::card(ui, tokens, |ui| {
        parts::label(ui, tokens, RECONCILED.get(lang));
        let Some(reconciled) = reconciled else {
            parts::note(ui, tokens, NO_SNAPSHOT.get(lang), tokens.ink);
            if widgets::secondary(ui, tokens, CHOOSE.get(lang)).clicked() {
                actions.push(Action::OpenFile);
            }
            return;
        };
        parts::note(ui, tokens, &WITH.get(lang).replace("{}", &reconciled.name), tokens.muted);
        match &reconciled.answer {
            Err(why) => {
                widgets::verdict(ui, tokens, Verdict::Caution, why.get(lang));
            }
            Ok((both, parts_of)) => {
                ui.add_space(tokens.space.xs);
                reconciliation::bars_ui(ui, tokens, lang, &both.figures, parts_of);
                ui.add_space(tokens.space.xs);
                parts::note(ui, tokens, &reconciliation::sentence(&both.figures, parts_of, lang), tokens.ink);
                if let Some((n, all)) = both.matched {
                    let words = MATCHED.get(lang).replace("{all}", &all.to_string()).replace("{n}", &n.to_string());
                    parts::note(ui, tokens, &words, tokens.muted);
                }
            }
        }
    });
}
