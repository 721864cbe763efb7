//! The start page: what this is, where you were, what this machine can do, what can be opened.

use crate::action::Action;
use crate::app::App;
use crate::platform::BackendState;
use crate::route::Route;
use crate::widgets;
use egui::{RichText, ScrollArea, Ui};
use vramlab_kit::tokens::{Tokens, Type, Verdict};
use vramlab_trace::Backend;
use vramlab_units::{Lang, Text};

const PROMISE: Text = Text::new(
    "先猜，再跑，再解释。每个数字都写明来处：模型、录制、本机实测，或引用。",
    "Predict, run, explain. Every number says where it comes from: a model, a recording, this machine, or a source.",
);
const CONTINUE: Text = Text::new("继续", "Continue");
const BEGIN: Text = Text::new("开始", "Begin");
const CHAPTERS: Text = Text::new("现在可以学的章节", "Chapters you can take now");
const MACHINE: Text = Text::new("这台机器能做什么", "What this machine can do");
const OPEN: Text = Text::new("打开文件", "Open a file");
const DROP: Text = Text::new(
    "把课程包、单章或录制拖进窗口即可打开。文件只在本机读取，不会上传。",
    "Drop a lesson pack, a chapter or a trace anywhere on the window. Files are read here and go nowhere.",
);
const CHOOSE: Text = Text::new("选择文件…", "Choose a file…");
const NOT_ASKED: Text = Text::new("第一次运行实验时才会启动", "starts with the first experiment");
const STARTING: Text = Text::new("正在启动…", "starting…");
const RECORDED: Text =
    Text::new("没有 GPU 也能学：实验用 H200 的录制重放", "no GPU needed: experiments replay H200 recordings");

pub fn ui(app: &mut App, ui: &mut Ui, actions: &mut Vec<Action>) {
    let tokens = app.tokens().clone();
    let lang = app.lang();
    ScrollArea::vertical().id_salt("start").auto_shrink([false, false]).show(ui, |ui| {
        crate::page::column(ui, &tokens, |ui| {
            let name = format!("{} · {}", crate::text::APP.get(lang), crate::text::APP.get(lang.other()));
            ui.label(RichText::new(name).font(tokens.font(Type::Chapter)).color(tokens.ink));
            ui.add_space(tokens.space.xxs);
            ui.label(RichText::new(PROMISE.get(lang)).font(tokens.font(Type::Body)).color(tokens.muted));
            ui.add_space(tokens.space.xl);
            chapters_ui(app, ui, &tokens, lang, actions);
            ui.add_space(tokens.space.l);
            machine_ui(app, ui, &tokens, lang);
            ui.add_space(tokens.space.l);
            open_ui(app, ui, &tokens, lang, actions);
        });
    });
}

fn chapters_ui(app: &App, ui: &mut Ui, tokens: &Tokens, lang: Lang, actions: &mut Vec<Action>) {
    widgets::card(ui, tokens, |ui| {
        widgets::card_header(ui, tokens, CHAPTERS.get(lang), "", |_| {});
        for chapter in app.library.chapters() {
            let n_done = app.n_done(&chapter.id);
            ui.horizontal_wrapped(|ui| {
                let label = if n_done > 0 { CONTINUE } else { BEGIN };
                if widgets::primary(ui, tokens, label.get(lang)).clicked() {
                    actions.push(Action::Go(Route::chapter(&chapter.id)));
                }
                let number = chapter.number.map(|n| format!("{n:02} · ")).unwrap_or_default();
                let title = format!("{number}{}", chapter.title.get(lang));
                ui.label(RichText::new(title).font(tokens.font(Type::BodyStrong)));
                let count = format!("{n_done}/{}", chapter.steps.len());
                ui.label(RichText::new(count).font(tokens.font(Type::Mono)).color(tokens.muted));
            });
            ui.label(RichText::new(chapter.subtitle.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
            ui.add_space(tokens.space.s);
        }
    });
}

fn machine_ui(app: &App, ui: &mut Ui, tokens: &Tokens, lang: Lang) {
    widgets::card(ui, tokens, |ui| {
        widgets::card_header(ui, tokens, MACHINE.get(lang), "", |_| {});
        for (backend, name) in [(Backend::Cuda, "CUDA"), (Backend::Cpu, "CPU")] {
            let (verdict, text) = match app.platform.backend(backend) {
                BackendState::Ready(facts) => (Verdict::Good, format!("{} · {}", facts.name, facts.driver)),
                BackendState::Unavailable { why, fix } => {
                    (Verdict::Neutral, [why.get(lang), fix.get(lang)].join(if lang == Lang::Zh { "；" } else { "; " }))
                }
                BackendState::Opening => (Verdict::Neutral, STARTING.get(lang).to_owned()),
                BackendState::Unknown => (Verdict::Neutral, NOT_ASKED.get(lang).to_owned()),
            };
            widgets::verdict(ui, tokens, verdict, &format!("{name} · {text}"));
        }
        ui.label(RichText::new(RECORDED.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
    });
}

fn open_ui(app: &App, ui: &mut Ui, tokens: &Tokens, lang: Lang, actions: &mut Vec<Action>) {
    widgets::card(ui, tokens, |ui| {
        widgets::card_header(ui, tokens, OPEN.get(lang), "", |_| {});
        ui.label(RichText::new(DROP.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
        ui.add_space(tokens.space.xs);
        ui.horizontal_wrapped(|ui| {
            if widgets::secondary(ui, tokens, CHOOSE.get(lang)).clicked() {
                actions.push(Action::OpenFile);
            }
            for name in &app.settings.recent {
                ui.label(RichText::new(name).font(tokens.font(Type::Small)).color(tokens.muted));
            }
        });
    });
}
