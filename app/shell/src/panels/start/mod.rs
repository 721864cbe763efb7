//! The start page: where you were, what is due, the ways in, the map of the course, what this machine can do, and what can
//! be opened. A newcomer finds one button that stands out.

mod files;
mod machine;
mod map;
mod resume;

pub use files::{files_page, recent_words};

use crate::action::Action;
use crate::app::App;
use crate::guide::parts::{self, Tile};
use crate::route::Route;
use egui::{RichText, ScrollArea, Ui};
use std::rc::Rc;
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_lesson::course::Entrance;
use vramlab_units::{Lang, Localized, Text};

const PROMISE: Text = Text::new(
    "先猜，再跑，再解释。每个数字都写明来处：模型、录制、本机实测，或引用。",
    "Predict, run, explain. Every number says where it comes from: a model, a recording, this machine, or a source.",
);
const WAYS: Text = Text::new("三个入口", "Three ways in");

pub fn ui(app: &mut App, ui: &mut Ui, actions: &mut Vec<Action>) {
    let tokens = app.tokens().clone();
    let lang = app.lang();
    ScrollArea::vertical().id_salt("start").auto_shrink([false, false]).show(ui, |ui| {
        crate::page::column(ui, &tokens, |ui| {
            title_ui(ui, &tokens, lang);
            ui.add_space(tokens.space.l);
            resume::ui(app, ui, &tokens, actions);
            ui.add_space(tokens.space.s);
            crate::study::due_ui(app, ui, &tokens, actions);
            ui.add_space(tokens.space.l);
            parts::label(ui, &tokens, WAYS.get(lang));
            entrances_ui(app, ui, &tokens, actions);
            ui.add_space(tokens.space.l);
            map::ui(app, ui, &tokens, actions);
            ui.add_space(tokens.space.l);
            crate::study::calibration_ui(app, ui, &tokens);
            ui.add_space(tokens.space.s);
            machine::ui(app, ui, &tokens, actions);
            ui.add_space(tokens.space.l);
            files::card_ui(app, ui, &tokens, actions);
        });
    });
}

fn title_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang) {
    ui.horizontal_wrapped(|ui| {
        let name = RichText::new(crate::text::APP.get(lang)).font(tokens.font(Type::Chapter)).color(tokens.ink);
        let response = ui.label(name);
        ui.ctx().accesskit_node_builder(response.id, |node| node.set_role(egui::accesskit::Role::Heading));
        let other = crate::text::APP.get(lang.other());
        ui.label(RichText::new(other).font(tokens.font(Type::Body)).color(tokens.muted));
    });
    ui.add_space(tokens.space.xxs);
    parts::body(ui, tokens, PROMISE.get(lang), tokens.muted);
}

/// The three entrances; the one that is a list of links unfolds below.
fn entrances_ui(app: &App, ui: &mut Ui, tokens: &Tokens, actions: &mut Vec<Action>) {
    let lang = app.lang();
    let guide = Rc::clone(&app.guide);
    let entrances = &guide.course.entrances;
    let id = egui::Id::unique("entrance unfolded");
    let unfolded = ui.data(|data| data.get_temp::<usize>(id));
    let tile = |entrance: &Entrance| Tile {
        title: entrance.title.get(lang).to_owned(),
        text: entrance.text.get(lang).to_owned(),
        ..Tile::default()
    };
    let all: Vec<Tile> = entrances.iter().map(tile).collect();
    let pressed = ui.scope(|ui| parts::tiles(ui, tokens, &all, 240.0)).inner;
    if let Some(idx) = pressed {
        match entrances[idx].opens.as_str() {
            "" if unfolded == Some(idx) => ui.data_mut(|data| data.remove::<usize>(id)),
            "" => {
                ui.data_mut(|data| data.insert_temp(id, idx));
            }
            place => actions.push(Action::Go(Route::parse(place).0)),
        }
    }
    if let Some(entrance) = unfolded.and_then(|idx| entrances.get(idx)) {
        ui.add_space(tokens.space.xs);
        crate::widgets::card(ui, tokens, |ui| {
            for link in &entrance.links {
                ui.horizontal_wrapped(|ui| {
                    ui.label(RichText::new(link.title.get(lang)).font(tokens.font(Type::NoteStrong)).color(tokens.ink));
                    parts::label(ui, tokens, link.text.get(lang));
                });
                parts::chapter_line(app, ui, &link.chapter, &Localized::default(), actions);
            }
        });
    }
}
