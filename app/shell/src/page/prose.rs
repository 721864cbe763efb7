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
    let card = crate::widgets::card(ui, &tokens, |ui| {
        if !step.title.is_empty() {
            ui.label(RichText::new(step.title.get(lang)).font(tokens.font(Type::Card)).color(tokens.ink));
            ui.add_space(tokens.space.xs);
        }
        markdown_ui(app, ui, &chapter.id, text, actions);
    });
    seen(app, ui, card.response.rect, chapter, step, actions);
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

/// How long the end of a step must have been on screen before the step counts as read.
const READ_SECS: f64 = 1.5;

/// A step that asks nothing counts as done once its end has been on screen for a moment; `rect` is its card.
pub fn seen(app: &mut App, ui: &Ui, rect: egui::Rect, chapter: &Chapter, step: &Step, actions: &mut Vec<Action>) {
    if app.progress.is_done(&chapter.id, &step.id) {
        return;
    }
    let end = rect.left_bottom() - egui::vec2(0.0, 12.0);
    let now = ui.input(|input| input.time);
    let state = app.steps.get(&chapter.id, &step.id);
    if !ui.clip_rect().contains(end + egui::vec2(1.0, 0.0)) {
        state.seen_since = None;
        return;
    }
    let left = READ_SECS - (now - *state.seen_since.get_or_insert(now));
    if left <= 0.0 {
        actions.push(Action::StepDone { chapter: chapter.id.clone(), step: step.id.clone() });
    } else {
        ui.ctx().request_repaint_after(std::time::Duration::from_secs_f64(left));
    }
}
