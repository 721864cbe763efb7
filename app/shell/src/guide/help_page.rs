//! The handbook: symptoms, then one question at a time, then what to do and what to measure. The answers so far stand in
//! the address, so that back, links and bookmarks work.

use crate::action::Action;
use crate::app::App;
use crate::guide::parts::{self, Tile};
use crate::guide::{Guide, task_page};
use crate::route::{Page, Route};
use crate::widgets;
use egui::{RichText, Ui};
use std::rc::Rc;
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_lesson::course::{Advice, Ask, At, Walk};
use vramlab_units::{Lang, Localized, Text};

const TITLE: Text = Text::new("症状手册", "From symptom to cause");
const SUBTITLE: Text = Text::new(
    "选最像的一个。接下来每次只问一个问题，最后告诉你可能的原因、怎么办，以及量什么来确认。",
    "Pick the one that fits best. One question at a time follows, and in the end a likely cause, what to do, and what to measure to be sure.",
);
const SO_FAR: Text = Text::new("你的回答", "Your answers so far");
const HOW: Text = Text::new("怎么查", "How to find out");
const CAUSE: Text = Text::new("可能的原因", "The likely cause");
const MEASURE: Text = Text::new("量这个来确认", "Measure this to be sure");
const LEARN: Text = Text::new("讲它的章节", "Chapters that explain it");
const TRY: Text = Text::new("可以马上跑的实验", "Experiments you can run now");
const IN_TASK: Text = Text::new("走一遍这个任务", "Go through the task");
const SOURCE: Text = Text::new("来源", "Source");
const AGAIN: Text = Text::new("换一个症状", "Another symptom");
const BACK: Text = Text::new("退回一步", "One step back");
const COPY: Text = Text::new("复制命令", "Copy the command");
const NOT_SURE: Text = Text::new("拿不准？每个回答都可以退回来改。", "Not sure? Every answer can be taken back.");

pub fn ui(app: &App, ui: &mut Ui, symptom: Option<&str>, answers: &[String], actions: &mut Vec<Action>) {
    let guide = Rc::clone(&app.guide);
    match symptom.and_then(|symptom| guide.handbook.walk(symptom, answers)) {
        Some(walk) => walk_ui(app, ui, &walk, actions),
        None => symptoms_ui(app, ui, &guide, actions),
    }
}

fn place(symptom: &str, answers: &[&str]) -> Action {
    let answers = answers.iter().map(|answer| (*answer).to_owned()).collect();
    Action::Go(Route::page(Page::Help { symptom: Some(symptom.to_owned()), answers }))
}

/// The tiles of all symptoms.
pub fn symptom_tiles(guide: &Guide, lang: Lang) -> Vec<Tile> {
    let tile = |symptom: &vramlab_lesson::course::Symptom| Tile {
        title: symptom.title.get(lang).to_owned(),
        text: symptom.text.get(lang).to_owned(),
        ..Tile::default()
    };
    guide.handbook.symptoms.iter().map(tile).collect()
}

fn symptoms_ui(app: &App, ui: &mut Ui, guide: &Guide, actions: &mut Vec<Action>) {
    let tokens = app.tokens().clone();
    let lang = app.lang();
    parts::page(ui, &tokens, "help", TITLE.get(lang), SUBTITLE.get(lang), |ui| {
        if let Some(idx) = parts::tiles(ui, &tokens, &symptom_tiles(guide, lang), 300.0) {
            actions.push(place(&guide.handbook.symptoms[idx].id, &[]));
        }
    });
}

fn walk_ui(app: &App, ui: &mut Ui, walk: &Walk<'_>, actions: &mut Vec<Action>) {
    let tokens = app.tokens().clone();
    let lang = app.lang();
    let symptom = walk.symptom;
    parts::page(ui, &tokens, "help", symptom.title.get(lang), symptom.text.get(lang), |ui| {
        trail_ui(ui, &tokens, walk, lang, actions);
        match walk.at {
            At::Ask(ask) => ask_ui(ui, &tokens, walk, ask, lang, actions),
            At::Advice(advice) => advice_ui(app, ui, &tokens, advice, actions),
            At::Nowhere => {}
        }
        ui.add_space(tokens.space.m);
        ui.horizontal_wrapped(|ui| {
            let taken: Vec<&str> = walk.taken.iter().map(|(_, answer)| answer.id.as_str()).collect();
            if let Some((_, before)) = taken.split_last()
                && widgets::secondary(ui, &tokens, BACK.get(lang)).clicked()
            {
                actions.push(place(&symptom.id, before));
            }
            if widgets::link(ui, &tokens, AGAIN.get(lang)).clicked() {
                actions.push(Action::Go(Route::page(Page::Help { symptom: None, answers: Vec::new() })));
            }
        });
    });
}

/// What was answered, each with a way back to before it.
fn trail_ui(ui: &mut Ui, tokens: &Tokens, walk: &Walk<'_>, lang: Lang, actions: &mut Vec<Action>) {
    if walk.taken.is_empty() {
        return;
    }
    parts::label(ui, tokens, SO_FAR.get(lang));
    let ids: Vec<&str> = walk.taken.iter().map(|(_, answer)| answer.id.as_str()).collect();
    for (idx, (ask, answer)) in walk.taken.iter().enumerate() {
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new(ask.ask.get(lang)).font(tokens.font(Type::Small)).color(tokens.muted));
            if widgets::pill(ui, tokens, true, answer.text.get(lang)).clicked() {
                actions.push(place(&walk.symptom.id, &ids[..idx]));
            }
        });
    }
    ui.add_space(tokens.space.m);
}

fn ask_ui(ui: &mut Ui, tokens: &Tokens, walk: &Walk<'_>, ask: &Ask, lang: Lang, actions: &mut Vec<Action>) {
    widgets::card(ui, tokens, |ui| {
        let response = ui.label(RichText::new(ask.ask.get(lang)).font(tokens.font(Type::Card)).color(tokens.ink));
        ui.ctx().accesskit_node_builder(response.id, |node| node.set_role(egui::accesskit::Role::Heading));
        ui.add_space(tokens.space.xxs);
        parts::label(ui, tokens, HOW.get(lang));
        parts::note(ui, tokens, ask.how.get(lang), tokens.muted);
        if !ask.code.is_empty() {
            ui.add_space(tokens.space.xxs);
            parts::code(ui, tokens, &ask.code, COPY.get(lang), actions);
        }
    });
    ui.add_space(tokens.space.s);
    let tile = |text: &Localized| Tile { title: text.get(lang).to_owned(), ..Tile::default() };
    let all: Vec<Tile> = ask.options.iter().map(|option| tile(&option.text)).collect();
    if let Some(idx) = parts::tiles(ui, tokens, &all, 600.0) {
        let mut ids: Vec<&str> = walk.taken.iter().map(|(_, answer)| answer.id.as_str()).collect();
        ids.push(&ask.options[idx].id);
        actions.push(place(&walk.symptom.id, &ids));
    }
    ui.add_space(tokens.space.xs);
    parts::label(ui, tokens, NOT_SURE.get(lang));
}

fn advice_ui(app: &App, ui: &mut Ui, tokens: &Tokens, advice: &Advice, actions: &mut Vec<Action>) {
    let lang = app.lang();
    widgets::card(ui, tokens, |ui| {
        parts::label(ui, tokens, CAUSE.get(lang));
        let response = ui.label(RichText::new(advice.title.get(lang)).font(tokens.font(Type::Card)).color(tokens.ink));
        ui.ctx().accesskit_node_builder(response.id, |node| node.set_role(egui::accesskit::Role::Heading));
        ui.add_space(tokens.space.xxs);
        parts::body(ui, tokens, advice.text.get(lang), tokens.ink);
        if !advice.source.is_empty() {
            ui.add_space(tokens.space.xxs);
            parts::label(ui, tokens, &format!("{}{}{}", SOURCE.get(lang), colon(lang), advice.source.get(lang)));
        }
    });
    ui.add_space(tokens.space.s);
    let soft = egui::Frame::new().fill(tokens.accent_soft).corner_radius(tokens.card_corner());
    soft.inner_margin(egui::Margin::symmetric(tokens.space.l as i8, tokens.space.m as i8)).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.label(RichText::new(MEASURE.get(lang)).font(tokens.font(Type::NoteStrong)).color(tokens.accent));
        parts::note(ui, tokens, advice.measure.get(lang), tokens.ink);
        if !advice.code.is_empty() {
            ui.add_space(tokens.space.xxs);
            parts::code(ui, tokens, &advice.code, COPY.get(lang), actions);
        }
    });
    ui.add_space(tokens.space.s);
    learn_ui(app, ui, tokens, advice, actions);
}

fn colon(lang: Lang) -> &'static str {
    if lang == Lang::Zh { "：" } else { ": " }
}

/// Experiments first, because they run now; then chapters, written or not.
fn learn_ui(app: &App, ui: &mut Ui, tokens: &Tokens, advice: &Advice, actions: &mut Vec<Action>) {
    let lang = app.lang();
    widgets::card(ui, tokens, |ui| {
        let runs: Vec<&String> = advice.runs.iter().filter(|run| app.library.step_of(run).is_some()).collect();
        if !runs.is_empty() {
            parts::label(ui, tokens, TRY.get(lang));
            ui.horizontal_wrapped(|ui| {
                for run in runs {
                    if widgets::secondary(ui, tokens, app.library.experiment_title(run, lang)).clicked()
                        && let Some((chapter, step)) = app.library.step_of(run)
                    {
                        actions.push(Action::Go(Route::step(&chapter, &step)));
                    }
                }
            });
            ui.add_space(tokens.space.xs);
        }
        parts::label(ui, tokens, LEARN.get(lang));
        for id in &advice.chapters {
            parts::chapter_line(app, ui, id, &Localized::default(), actions);
        }
        if let Some(task) = app.guide.course.task(&advice.task) {
            ui.add_space(tokens.space.xs);
            ui.horizontal_wrapped(|ui| {
                parts::label(ui, tokens, IN_TASK.get(lang));
                if widgets::link(ui, tokens, &task_page::title(task, lang)).clicked() {
                    actions.push(Action::Go(Route::page(Page::Task { id: task.id.clone() })));
                }
            });
        }
    });
}
