//! A prose step: Markdown, and a badge where only the other language exists.

use crate::action::Action;
use crate::app::App;
use egui::{RichText, Ui};
use vramlab_kit::tokens::Type;
use vramlab_lesson::{Chapter, Step};
use vramlab_units::Localized;

pub fn ui(app: &mut App, ui: &mut Ui, chapter: &Chapter, step: &Step, text: &Localized, actions: &mut Vec<Action>) {
    let tokens = app.tokens().clone();
    let lang = app.lang();
    crate::widgets::card(ui, &tokens, |ui| {
        if !step.title.is_empty() {
            ui.label(RichText::new(step.title.get(lang)).font(tokens.font(Type::Card)).color(tokens.ink));
            ui.add_space(tokens.space.xs);
        }
        markdown_ui(app, ui, &chapter.id, text, actions);
    });
    if ui.is_rect_visible(ui.min_rect()) {
        seen(app, chapter, step, actions);
    }
}

/// Lesson text in the reader's language, with links turned into actions.
pub fn markdown_ui(app: &mut App, ui: &mut Ui, _chapter: &str, text: &Localized, actions: &mut Vec<Action>) {
    let tokens = app.tokens().clone();
    let lang = app.lang();
    if text.is_empty() {
        return;
    }
    if text.lang_shown(lang) != lang {
        let badge = crate::text::SHOWN_IN_OTHER.get(lang);
        ui.label(RichText::new(badge).font(tokens.font(Type::Small)).color(tokens.caution));
    }
    for url in vramlab_kit::md::markdown(ui, &tokens, text.get(lang)) {
        actions.push(Action::OpenUrl(url));
    }
}

/// A step that asks nothing counts as done once it has been on screen.
pub fn seen(app: &App, chapter: &Chapter, step: &Step, actions: &mut Vec<Action>) {
    if !app.progress.is_done(&chapter.id, &step.id) {
        actions.push(Action::StepDone { chapter: chapter.id.clone(), step: step.id.clone() });
    }
}
