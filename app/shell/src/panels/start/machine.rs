//! What this machine can do: its back ends as far as anybody asked, and the recordings that stand in for a GPU.

use crate::action::Action;
use crate::app::App;
use crate::guide::parts;
use crate::platform::BackendState;
use crate::widgets;
use egui::Ui;
use std::collections::BTreeSet;
use vramlab_kit::tokens::{Tokens, Verdict};
use vramlab_trace::Backend;
use vramlab_units::{Lang, Text};

const TITLE: Text = Text::new("这台机器能做什么", "What this machine can do");
const NOT_ASKED: Text =
    Text::new("还没有查；第一次运行实验时才会启动", "not asked yet; it starts with the first experiment");
const STARTING: Text = Text::new("正在启动…", "starting…");
const ASK_NOW: Text = Text::new("现在就查", "Find out now");
const GPU_RUNS: Text = Text::new("{n} 个实验能在这块卡上实测", "{n} experiments can be measured on this card");
const CPU_RUNS: Text = Text::new("{n} 个实验能在处理器上实测", "{n} experiments can be measured on the processor");
const RECORDED: Text = Text::new(
    "录制 · 没有 GPU 也能学：{n} 个实验用 {devices} 的录制重放",
    "Recordings · no GPU needed: {n} experiments replay recordings of {devices}",
);

pub fn ui(app: &App, ui: &mut Ui, tokens: &Tokens, actions: &mut Vec<Action>) {
    let lang = app.lang();
    widgets::card(ui, tokens, |ui| {
        parts::heading(ui, tokens, TITLE.get(lang));
        for (backend, name, runs) in [(Backend::Cuda, "GPU", GPU_RUNS), (Backend::Cpu, "CPU", CPU_RUNS)] {
            let n = app.library.kernels().experiments.values().filter(|run| run.backend == backend).count();
            let runs = runs.get(lang).replace("{n}", &n.to_string());
            let state = app.platform.backend(backend);
            let (verdict, text) = words(&state, &runs, lang);
            let is_wide = ui.available_width() >= tokens.px(520.0);
            let mut row = |ui: &mut Ui| {
                ui.set_min_height(tokens.hit);
                widgets::verdict(ui, tokens, verdict, &format!("{name} · {text}"));
                if state == BackendState::Unknown && widgets::link(ui, tokens, ASK_NOW.get(lang)).clicked() {
                    actions.push(Action::RetryRunner(backend));
                }
            };
            if is_wide { ui.horizontal(row).inner } else { row(ui) }
        }
        let (n, devices) = recorded(app);
        let text = RECORDED.get(lang).replace("{n}", &n.to_string()).replace("{devices}", &devices);
        parts::note(ui, tokens, &text, tokens.muted);
    });
}

fn words(state: &BackendState, runs: &str, lang: Lang) -> (Verdict, String) {
    let semicolon = if lang == Lang::Zh { "；" } else { "; " };
    match state {
        BackendState::Ready(facts) => (Verdict::Good, format!("{} · {} · {runs}", facts.name, facts.driver)),
        BackendState::Unavailable { why, fix } => {
            let parts = [why.get(lang), fix.get(lang)];
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            (Verdict::Neutral, parts.join(semicolon))
        }
        BackendState::Opening => (Verdict::Neutral, STARTING.get(lang).to_owned()),
        BackendState::Unknown => (Verdict::Neutral, NOT_ASKED.get(lang).to_owned()),
    }
}

/// How many experiments have recordings, and the folders of the devices they are of.
fn recorded(app: &App) -> (usize, String) {
    let mut n = 0;
    let mut devices = BTreeSet::new();
    for id in app.library.kernels().experiments.keys() {
        let paths = app.library.trace_paths(id);
        n += usize::from(!paths.is_empty());
        devices.extend(paths.iter().filter_map(|path| path.rsplit('/').nth(1).map(device_name)));
    }
    let comma = if app.lang() == Lang::Zh { "、" } else { ", " };
    (n, devices.into_iter().collect::<Vec<_>>().join(comma))
}

/// The folder of a device's recordings as a name: `h200` is H200, `xeon` is Xeon.
fn device_name(folder: &str) -> String {
    if folder.contains(|c: char| c.is_ascii_digit()) {
        return folder.to_uppercase();
    }
    let mut letters = folder.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
