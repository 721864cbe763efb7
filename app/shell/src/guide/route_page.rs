//! A route: whom it is for, how far the reader is, and its chapters or tasks in order.

use crate::action::Action;
use crate::app::App;
use crate::guide::parts;
use crate::route::{Page, Route};
use crate::widgets;
use egui::Ui;
use std::rc::Rc;
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_lesson::course;
use vramlab_units::{Lang, Localized, Text};

const CHAPTERS: Text = Text::new("按这个顺序学", "In this order");
const WRITTEN: Text = Text::new("{all} 章，已写 {n} 章", "{all} chapters, {n} of them written");
const NEXT: Text = Text::new("接着学", "Continue");
const EVIDENCE: Text = Text::new("这条路线的证据表", "The evidence table of this route");
const OTHERS: Text = Text::new("别的路线", "Other routes");
const OPEN_TASK: Text = Text::new("打开这个任务", "Open this task");

pub fn ui(app: &App, ui: &mut Ui, id: &str, actions: &mut Vec<Action>) {
    let guide = Rc::clone(&app.guide);
    let Some(route) = guide.course.route(id) else { return };
    let tokens = app.tokens().clone();
    let lang = app.lang();
    parts::page(ui, &tokens, "route", route.title.get(lang), route.text.get(lang), |ui| {
        head_ui(app, ui, &tokens, route, actions);
        ui.add_space(tokens.space.m);
        let tasks = guide.course.tasks_of(route);
        if tasks.is_empty() {
            widgets::card(ui, &tokens, |ui| {
                parts::heading(ui, &tokens, CHAPTERS.get(lang));
                for id in guide.course.chapters_of(route) {
                    parts::chapter_line(app, ui, id, &Localized::default(), actions);
                }
            });
        }
        for task in tasks {
            task_ui(app, ui, &tokens, task, actions);
            ui.add_space(tokens.space.s);
        }
        ui.add_space(tokens.space.l);
        others_ui(app, ui, &tokens, id, actions);
    });
}

/// How far the reader is, and what comes next.
fn head_ui(app: &App, ui: &mut Ui, tokens: &Tokens, route: &course::Route, actions: &mut Vec<Action>) {
    let lang = app.lang();
    let ids = app.guide.course.chapters_of(route);
    widgets::card(ui, tokens, |ui| {
        parts::strip(app, ui, &ids);
        ui.add_space(tokens.space.xs);
        let next = next_chapter(app, &ids);
        if let Some((_, title)) = &next {
            let title = egui::RichText::new(title).font(tokens.font(Type::NoteStrong)).color(tokens.ink);
            ui.add(egui::Label::new(title).wrap());
        }
        ui.horizontal_wrapped(|ui| {
            if let Some((id, _)) = &next
                && widgets::primary(ui, tokens, NEXT.get(lang)).clicked()
            {
                actions.push(Action::Go(Route::chapter(id)));
            }
            if widgets::link(ui, tokens, EVIDENCE.get(lang)).clicked() {
                actions.push(Action::Go(Route::page(Page::Evidence { route: Some(route.id.clone()) })));
            }
        });
        parts::label(ui, tokens, &written(app, &ids, lang));
    });
}

/// The first written chapter of the route that is not done, with its title.
pub fn next_chapter(app: &App, ids: &[&str]) -> Option<(String, String)> {
    ids.iter().filter_map(|id| app.library.row(id)).find(|row| row.is_written && app.n_done(&row.id) < row.n_steps).map(
        |row| {
            let title = format!("{} · {}", row.number, row.title.get(app.lang()));
            (row.id, title)
        },
    )
}

/// "31 chapters, 4 of them written".
pub fn written(app: &App, ids: &[&str], lang: Lang) -> String {
    let n = ids.iter().filter(|id| app.library.row(id).is_some_and(|row| row.is_written)).count();
    WRITTEN.get(lang).replace("{all}", &ids.len().to_string()).replace("{n}", &n.to_string())
}

fn task_ui(app: &App, ui: &mut Ui, tokens: &Tokens, task: &course::Task, actions: &mut Vec<Action>) {
    let lang = app.lang();
    widgets::card(ui, tokens, |ui| {
        widgets::card_header(ui, tokens, &super::task_page::title(task, lang), "", |ui| {
            if widgets::secondary(ui, tokens, OPEN_TASK.get(lang)).clicked() {
                actions.push(Action::Go(Route::page(Page::Task { id: task.id.clone() })));
            }
        });
        parts::note(ui, tokens, task.asks.get(lang), tokens.muted);
        ui.add_space(tokens.space.xxs);
        for (id, part) in &task.chapters {
            parts::chapter_line(app, ui, id, part, actions);
        }
    });
}

fn others_ui(app: &App, ui: &mut Ui, tokens: &Tokens, id: &str, actions: &mut Vec<Action>) {
    let lang = app.lang();
    parts::label(ui, tokens, OTHERS.get(lang));
    ui.horizontal_wrapped(|ui| {
        for route in app.guide.course.routes.iter().filter(|route| route.id != id) {
            if widgets::secondary(ui, tokens, route.title.get(lang)).clicked() {
                actions.push(Action::Go(Route::page(Page::Route { id: route.id.clone() })));
            }
        }
    });
}
