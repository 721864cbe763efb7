//! The card that says what is due today, for the start page.

use super::{Due, chapter_name, due, when};
use crate::action::Action;
use crate::app::App;
use crate::route::{Page, Route};
use crate::widgets;
use egui::{RichText, Ui};
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_units::{Lang, Text};

const TITLE: Text = Text::new("今天复习", "Due today");
const DUE: Text = Text::new("{n} 题到期", "{n} due");
const NEW: Text = Text::new("{n} 题还没做过", "{n} not asked before");
const START: Text = Text::new("开始复习", "Start");
const GO_ON: Text = Text::new("接着复习", "Go on");
const NOTHING: Text =
    Text::new("今天没有到期的题；下一次：{when}", "Nothing is due today; the next question comes {when}");

/// What is due, by chapter, with the way to it. Paints nothing for a reader who has no reviews yet.
pub fn due_ui(app: &App, ui: &mut Ui, tokens: &Tokens, actions: &mut Vec<Action>) {
    let due = due(app);
    let lang = app.lang();
    if due.n_all() == 0 && due.next.is_none() {
        return;
    }
    widgets::card(ui, tokens, |ui| {
        widgets::card_header(ui, tokens, TITLE.get(lang), "", |ui| {
            if due.n_all() > 0 {
                let is_open = app.study.session.as_ref().is_some_and(|session| session.current().is_some());
                let label = if is_open { GO_ON } else { START };
                if widgets::primary(ui, tokens, label.get(lang)).clicked() {
                    actions.push(Action::Go(Route { page: Page::Review, ..Route::default() }));
                }
            }
        });
        ui.label(RichText::new(words(app, &due, lang)).font(tokens.font(Type::Body)).color(tokens.ink));
        for (chapter, n) in &due.by_chapter {
            ui.horizontal_wrapped(|ui| {
                let name = chapter_name(app, chapter, lang);
                ui.label(RichText::new(name).font(tokens.font(Type::Note)).color(tokens.muted));
                let n = format!("× {n}");
                ui.label(RichText::new(n).font(tokens.font(Type::MonoSmall)).color(tokens.muted));
            });
        }
    });
}

/// `4 due, 2 not asked before`, or when the next one comes.
pub(super) fn words(app: &App, due: &Due, lang: Lang) -> String {
    let part = |text: Text, n: usize| (n > 0).then(|| text.get(lang).replace("{n}", &n.to_string()));
    let parts: Vec<String> = [part(DUE, due.n_due), part(NEW, due.n_new)].into_iter().flatten().collect();
    match due.next {
        Some(day) if parts.is_empty() => NOTHING.get(lang).replace("{when}", &when(day, app.today(), lang)),
        _ => parts.join(if lang == Lang::Zh { "，" } else { ", " }),
    }
}
