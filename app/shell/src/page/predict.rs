//! A prediction, asked before anything is revealed. It is not graded: the gap is shown where the truth appears.

use crate::action::Action;
use crate::answers::{self, Given, Values};
use crate::app::App;
use crate::page::check;
use crate::page::prose::markdown_ui;
use crate::widgets;
use egui::{RichText, Ui};
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_lesson::{Chapter, Form, Predict, Question, Step};
use vramlab_units::{Lang, Text, show};

const PREDICT: Text = Text::new("先猜", "Predict first");
const KEPT: Text = Text::new("你的猜测", "Your prediction");
const REVEAL: Text = Text::new("揭晓", "Reveal");
const CHANGE: Text = Text::new("改一改", "Change it");
const GAP: Text = Text::new("模型 {truth}，你猜 {given}，相差 {ratio}", "model {truth}, you {given}: off by {ratio}");
const EXACT: Text = Text::new("和模型一致：{truth}", "as the model says: {truth}");
const SEE: Text = Text::new("往下看，实测会和它画在一起", "Read on: the measurement is drawn beside it");

pub fn ui(app: &mut App, ui: &mut Ui, chapter: &Chapter, step: &Step, predict: &Predict, actions: &mut Vec<Action>) {
    let tokens = app.tokens().clone();
    let lang = app.lang();
    let title = if step.title.is_empty() { PREDICT.get(lang) } else { step.title.get(lang) };
    let question = &predict.question;
    widgets::card(ui, &tokens, |ui| {
        widgets::card_header(ui, &tokens, title, PREDICT.get(lang), |_| {});
        markdown_ui(app, ui, &chapter.id, &question.ask, actions);
        ui.add_space(tokens.space.xs);
        let given = app.answer(&chapter.id, &step.id).cloned();
        let mut state = std::mem::take(app.steps.get(&chapter.id, &step.id));
        match given.filter(|_| !state.is_retrying) {
            None => {
                if let Some(given) = check::input_ui(ui, &tokens, lang, question, &mut state) {
                    state.is_retrying = false;
                    actions.push(Action::Predict { chapter: chapter.id.clone(), step: step.id.clone(), given });
                }
            }
            Some(given) => {
                kept_ui(ui, &tokens, lang, question, &given);
                if state.is_answered {
                    gap_ui(app, ui, &tokens, chapter, question, &given, actions);
                } else {
                    ui.horizontal(|ui| {
                        if widgets::primary(ui, &tokens, REVEAL.get(lang)).clicked() {
                            state.is_answered = true;
                        }
                        if widgets::secondary(ui, &tokens, CHANGE.get(lang)).clicked() {
                            state.is_retrying = true;
                        }
                    });
                    if predict.revealed_by.is_some() {
                        ui.label(RichText::new(SEE.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
                    }
                }
            }
        }
        *app.steps.get(&chapter.id, &step.id) = state;
    });
}

fn kept_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, question: &Question, given: &Given) {
    let text = match (given, &question.form) {
        (Given::Number { value }, Form::Number { unit, .. }) => show::with_unit(*value, unit),
        (Given::Order { items: order }, Form::Order { items }) => {
            let names: Vec<&str> = order.iter().filter_map(|idx| items.get(*idx)).map(|item| item.get(lang)).collect();
            names.join(" → ")
        }
        (Given::Options { chosen }, Form::Choice { options } | Form::Multi { options }) => {
            let names: Vec<&str> =
                chosen.iter().filter_map(|idx| options.get(*idx)).map(|option| option.text.get(lang)).collect();
            names.join("、")
        }
        _ => String::new(),
    };
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(format!("◇ {}", KEPT.get(lang))).font(tokens.font(Type::Note)).color(tokens.muted));
        ui.label(RichText::new(text).font(tokens.font(Type::BodyStrong)));
    });
}

/// The truth, and how far away the prediction was, in words.
fn gap_ui(
    app: &mut App,
    ui: &mut Ui,
    tokens: &Tokens,
    chapter: &Chapter,
    question: &Question,
    given: &Given,
    actions: &mut Vec<Action>,
) {
    let lang = app.lang();
    let judged = match answers::judge(question, given, &Values::new(), &app.library) {
        Ok(judged) => judged,
        Err(why) => {
            ui.label(RichText::new(why).color(tokens.bad));
            return;
        }
    };
    if let (Some(truth), Given::Number { value }, Form::Number { unit, min, max, .. }) =
        (judged.truth, given, &question.form)
    {
        widgets::ruler(ui, tokens, lang, *min, *max, unit, *value, truth);
        let truth_text = show::with_unit(truth, unit);
        let text = if judged.is_right {
            EXACT.get(lang).replace("{truth}", &truth_text)
        } else {
            let ratio = if truth != 0.0 && *value != 0.0 {
                format!("{}×", show::number((value / truth).max(truth / value).abs()))
            } else {
                show::with_unit((value - truth).abs(), unit)
            };
            GAP.get(lang)
                .replace("{truth}", &truth_text)
                .replace("{given}", &show::with_unit(*value, unit))
                .replace("{ratio}", &ratio)
        };
        widgets::finding(ui, tokens, &text);
    } else if let (Form::Choice { options } | Form::Multi { options }, Given::Options { chosen }) =
        (&question.form, given)
    {
        for (idx, option) in options.iter().enumerate() {
            if option.is_right || chosen.contains(&idx) {
                let sign = if option.is_right { "✓" } else { "◇" };
                let text = format!("{sign} {}: {}", option.text.get(lang), option.why.get(lang));
                ui.label(RichText::new(text).font(tokens.font(Type::Note)));
            }
        }
    } else if let (Form::Order { items }, _) = (&question.form, given) {
        let names: Vec<&str> = items.iter().map(|item| item.get(lang)).collect();
        ui.label(RichText::new(format!("✓ {}", names.join(" → "))).font(tokens.font(Type::Note)));
    }
    markdown_ui(app, ui, &chapter.id, &question.explain, actions);
}
