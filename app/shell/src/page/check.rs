//! A question with its answer: number, choice, multi-select, order. Used for checks, predictions and reviews; what
//! differs is whether the truth is shown at once.

use crate::action::Action;
use crate::answers::{self, Given, Values};
use crate::app::App;
use crate::page::StepState;
use crate::page::prose::markdown_ui;
use crate::widgets;
use egui::{Label, RichText, TextEdit, Ui};
use vramlab_kit::tokens::{Tokens, Type, Verdict};
use vramlab_lesson::schedule::{Effort, Grade};
use vramlab_lesson::{Chapter, Choice, Form, Question};
use vramlab_units::typed::{self, TypedError};
use vramlab_units::{Lang, Localized, Text, show};

const CHECK: Text = Text::new("提交", "Check");
const AGAIN: Text = Text::new("再试一次", "Try again");
const HINT: Text = Text::new("提示 {n}/{all}", "Hint {n}/{all}");
const RIGHT: Text = Text::new("对", "Right");
const WRONG: Text = Text::new("还不对", "Not yet");
const NOT_A_NUMBER: Text =
    Text::new("“{}”不是数字；请输入 {min} 到 {max} 之间的数", "\"{}\" is not a number; enter one from {min} to {max}");
const OTHER_UNIT: Text = Text::new(
    "“{}”换算不成 {unit}；请输入 {min} 到 {max} 之间的数",
    "\"{}\" cannot be turned into {unit}; enter a number from {min} to {max}",
);
const OUT_OF_RANGE: Text =
    Text::new("{} 超出范围；请输入 {min} 到 {max} 之间的数", "{} is out of range; enter a number from {min} to {max}");
const TRUTH: Text = Text::new("答案", "Answer");
const UP: Text = Text::new("上移", "Move up");
const DOWN: Text = Text::new("下移", "Move down");
const QUESTION: Text = Text::new("自测", "Check");

/// A check step.
pub fn ui(
    app: &mut App,
    ui: &mut Ui,
    chapter: &Chapter,
    key: &str,
    title: &str,
    question: &Question,
    actions: &mut Vec<Action>,
) {
    let tokens = app.tokens().clone();
    let lang = app.lang();
    let title = if title.is_empty() { QUESTION.get(lang) } else { title };
    widgets::card(ui, &tokens, |ui| {
        widgets::card_header(ui, &tokens, title, "", |_| {});
        body_ui(app, ui, chapter, key, question, &Values::new(), Keeps::Check, actions);
    });
}

/// What becomes of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// A step of the chapter: the answer is kept and shown again.
    Check,
    /// A question of a review deck: the answer moves its schedule; what is shown is this sitting's.
    Review,
}

/// Question, inputs, hints, judgement. `draw` holds redrawn parameters.
#[expect(clippy::too_many_arguments, reason = "three call sites, borrowed from one frame")]
pub fn body_ui(
    app: &mut App,
    ui: &mut Ui,
    chapter: &Chapter,
    key: &str,
    question: &Question,
    draw: &Values,
    keeps: Keeps,
    actions: &mut Vec<Action>,
) {
    let tokens = app.tokens().clone();
    let lang = app.lang();
    let ask = answers::substitute_both(&question.ask, draw);
    markdown_ui(app, ui, &chapter.id, &ask, actions);
    ui.add_space(tokens.space.xs);
    let mut state = std::mem::take(app.steps.get(&chapter.id, key));
    // A deck lies below its chapter: the clock starts when the question is in sight.
    if state.asked_at.is_none() && ui.clip_rect().y_range().contains(ui.cursor().top()) {
        state.asked_at = Some(app.now_secs);
    }
    let asked_at = state.asked_at.unwrap_or(app.now_secs);
    let last = if keeps == Keeps::Check { app.answer(&chapter.id, key).cloned() } else { None };
    let given = if state.is_answered || state.draft.is_empty() && state.chosen.is_empty() { last } else { None };
    let given = given.filter(|_| !state.is_retrying);
    let mut submitted = None;
    match (&given, state.is_answered) {
        (Some(given), _) => judged_ui(app, ui, &tokens, chapter, question, given, draw, keeps, &mut state, actions),
        (None, true) if state.last_given.is_some() => {
            let given = state.last_given.clone().unwrap_or(Given::Number { value: 0.0 });
            judged_ui(app, ui, &tokens, chapter, question, &given, draw, keeps, &mut state, actions);
        }
        _ => submitted = input_ui(ui, &tokens, lang, question, &mut state, CHECK),
    }
    hints_ui(app, ui, &tokens, chapter, question, draw, &mut state, actions);
    if let Some(given) = submitted {
        state.is_answered = true;
        state.is_retrying = false;
        state.last_given = Some(given.clone());
        let is_right = answers::judge(question, &given, draw, &app.library).is_ok_and(|judged| judged.is_right);
        let effort = Effort {
            n_hints: state.n_hints,
            secs: (app.now_secs - asked_at).max(0.0),
            is_guessable: matches!(question.form, Form::Choice { .. } | Form::Multi { .. }),
        };
        let chapter = chapter.id.clone();
        actions.push(match keeps {
            Keeps::Check => Action::Answer { chapter, step: key.to_owned(), given, is_right },
            Keeps::Review => {
                Action::Review { chapter, question: question.id.clone(), grade: Grade::of(is_right, effort) }
            }
        });
    }
    *app.steps.get(&chapter.id, key) = state;
}

/// The inputs of a question; an answer when it was submitted and could be read. `commit` is the button's label.
pub fn input_ui(
    ui: &mut Ui,
    tokens: &Tokens,
    lang: Lang,
    question: &Question,
    state: &mut StepState,
    commit: Text,
) -> Option<Given> {
    match &question.form {
        Form::Number { unit, min, max, .. } => number_ui(ui, tokens, lang, state, unit, [*min, *max], commit),
        Form::Choice { options } => {
            for (idx, option) in options.iter().enumerate() {
                let is_chosen = state.chosen.first() == Some(&idx);
                if widgets::option(ui, tokens, is_chosen, false, option.text.get(lang)).clicked() {
                    return Some(Given::Options { chosen: vec![idx] });
                }
            }
            None
        }
        Form::Multi { options } => {
            for (idx, option) in options.iter().enumerate() {
                let is_chosen = state.chosen.contains(&idx);
                if widgets::option(ui, tokens, is_chosen, true, option.text.get(lang)).clicked() {
                    if is_chosen {
                        state.chosen.retain(|chosen| *chosen != idx);
                    } else {
                        state.chosen.push(idx);
                    }
                }
            }
            widgets::primary(ui, tokens, commit.get(lang))
                .clicked()
                .then(|| Given::Options { chosen: state.chosen.clone() })
        }
        Form::Order { items } => order_ui(ui, tokens, lang, state, items, commit),
        Form::Sketch(_) => None, // drawn by `predict`, which knows the experiment
    }
}

fn number_ui(
    ui: &mut Ui,
    tokens: &Tokens,
    lang: Lang,
    state: &mut StepState,
    unit: &str,
    range: [f64; 2],
    commit: Text,
) -> Option<Given> {
    let mut submitted = None;
    ui.horizontal(|ui| {
        let edit = TextEdit::singleline(&mut state.draft)
            .desired_width(tokens.px(140.0))
            .font(tokens.font(Type::Mono))
            .margin(egui::vec2(10.0, 7.0));
        let response = ui.add(edit);
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, unit));
        ui.label(RichText::new(if unit == "1" { "" } else { unit }).font(tokens.font(Type::Mono)).color(tokens.muted));
        let entered = response.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
        if widgets::primary(ui, tokens, commit.get(lang)).clicked() || (entered && !state.draft.trim().is_empty()) {
            submitted = submit_number(state, lang, unit, range);
        }
    });
    if let Some(error) = &state.error {
        ui.label(RichText::new(error).font(tokens.font(Type::Note)).color(tokens.bad));
    }
    submitted
}

/// The number in the field, or what is wrong with it under the field.
pub fn submit_number(state: &mut StepState, lang: Lang, unit: &str, [min, max]: [f64; 2]) -> Option<Given> {
    let (text, found) = match typed::read(&state.draft, unit) {
        Ok(value) if (min..=max).contains(&value) => {
            state.error = None;
            return Some(Given::Number { value });
        }
        Ok(_) => (OUT_OF_RANGE, state.draft.trim()),
        Err(TypedError::NotANumber(_)) => (NOT_A_NUMBER, state.draft.trim()),
        Err(TypedError::OtherUnit { .. }) => (OTHER_UNIT, state.draft.trim()),
    };
    let text =
        text.get(lang).replace("{min}", &show::with_unit(min, unit)).replace("{max}", &show::with_unit(max, unit));
    state.error = Some(text.replace("{unit}", unit).replace("{}", found));
    None
}

/// Items in an order the reader changes with buttons; keyboard and touch work alike.
fn order_ui(
    ui: &mut Ui,
    tokens: &Tokens,
    lang: Lang,
    state: &mut StepState,
    items: &[Localized],
    commit: Text,
) -> Option<Given> {
    if state.order.len() != items.len() {
        // A fixed shuffle: reversed halves, never the right order for two items or more.
        state.order = (0..items.len()).rev().collect();
        if items.len() > 3 {
            state.order.swap(0, items.len() / 2);
        }
    }
    let mut moved = None;
    for (at, idx) in state.order.iter().enumerate() {
        ui.horizontal(|ui| {
            if ui.add_enabled(at > 0, egui::Button::new("▲")).on_hover_text(UP.get(lang)).clicked() {
                moved = Some((at, at - 1));
            }
            if ui.add_enabled(at + 1 < items.len(), egui::Button::new("▼")).on_hover_text(DOWN.get(lang)).clicked() {
                moved = Some((at, at + 1));
            }
            // A row of buttons and a label does not wrap by itself, and would widen the page.
            ui.add(Label::new(RichText::new(items[*idx].get(lang)).font(tokens.font(Type::Body))).wrap());
        });
    }
    if let Some((from, to)) = moved {
        state.order.swap(from, to);
    }
    widgets::primary(ui, tokens, commit.get(lang)).clicked().then(|| Given::Order { items: state.order.clone() })
}

#[expect(clippy::too_many_arguments, reason = "one call site, borrowed from one frame")]
fn judged_ui(
    app: &mut App,
    ui: &mut Ui,
    tokens: &Tokens,
    chapter: &Chapter,
    question: &Question,
    given: &Given,
    draw: &Values,
    keeps: Keeps,
    state: &mut StepState,
    actions: &mut Vec<Action>,
) {
    let lang = app.lang();
    let judged = match answers::judge(question, given, draw, &app.library) {
        Ok(judged) => judged,
        Err(why) => {
            ui.label(RichText::new(why).color(tokens.bad));
            return;
        }
    };
    // A review ends with the answer, right or wrong; a check is tried again until it is found.
    let tells = judged.is_right || keeps == Keeps::Review;
    given_ui(ui, tokens, lang, question, given, judged.truth.filter(|_| tells));
    let (verdict, word) = if judged.is_right { (Verdict::Good, RIGHT) } else { (Verdict::Caution, WRONG) };
    widgets::verdict(ui, tokens, verdict, word.get(lang));
    if tells && !judged.is_right {
        truth_ui(ui, tokens, lang, question);
    }
    if tells {
        let explain = answers::substitute_both(&question.explain, draw);
        markdown_ui(app, ui, &chapter.id, &explain, actions);
    }
    if keeps == Keeps::Check && widgets::secondary(ui, tokens, AGAIN.get(lang)).clicked() {
        let kept = state.n_hints;
        *state = StepState { n_hints: kept, is_retrying: true, draw_n: state.draw_n, ..StepState::default() };
    }
}

/// What was answered, with the reason beside each option chosen or right.
fn given_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, question: &Question, given: &Given, truth: Option<f64>) {
    match (&question.form, given) {
        (Form::Number { unit, .. }, Given::Number { value }) => {
            ui.horizontal_wrapped(|ui| {
                ui.label(RichText::new(show::with_unit(*value, unit)).font(tokens.font(Type::Number)));
                if let Some(truth) = truth {
                    let text = format!("{} {}", TRUTH.get(lang), show::with_unit(truth, unit));
                    ui.label(RichText::new(text).font(tokens.font(Type::Note)).color(tokens.muted));
                }
            });
        }
        (Form::Choice { options }, Given::Options { chosen }) => options_ui(ui, tokens, lang, options, chosen, false),
        (Form::Multi { options }, Given::Options { chosen }) => options_ui(ui, tokens, lang, options, chosen, true),
        (Form::Order { items }, Given::Order { items: order }) => {
            for (at, idx) in order.iter().enumerate() {
                let Some(item) = items.get(*idx) else { continue };
                let color = if at == *idx { tokens.good } else { tokens.caution };
                let sign = if at == *idx { "✓" } else { "✗" };
                ui.label(RichText::new(format!("{sign} {}. {}", at + 1, item.get(lang))).color(color));
            }
        }
        _ => {}
    }
}

/// The right options or the right order, after a wrong answer to a review.
fn truth_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, question: &Question) {
    let names: Vec<&str> = match &question.form {
        Form::Choice { options } | Form::Multi { options } => {
            options.iter().filter(|option| option.is_right).map(|option| option.text.get(lang)).collect()
        }
        Form::Order { items } => items.iter().map(|item| item.get(lang)).collect(),
        Form::Number { .. } | Form::Sketch(_) => return,
    };
    let joint = match question.form {
        Form::Order { .. } => " → ",
        _ if lang == Lang::Zh => "；",
        _ => "; ",
    };
    let text = format!("{} · {}", TRUTH.get(lang), names.join(joint));
    ui.label(RichText::new(text).font(tokens.font(Type::Note)).color(tokens.ink));
}

fn options_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, options: &[Choice], chosen: &[usize], is_multi: bool) {
    for (idx, option) in options.iter().enumerate() {
        let is_chosen = chosen.contains(&idx);
        widgets::option(ui, tokens, is_chosen, is_multi, option.text.get(lang));
        if is_chosen && !option.why.is_empty() {
            let color = if option.is_right { tokens.good } else { tokens.caution };
            ui.indent(idx, |ui| {
                ui.label(RichText::new(option.why.get(lang)).font(tokens.font(Type::Note)).color(color));
            });
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "two call sites, borrowed from one frame")]
pub fn hints_ui(
    app: &mut App,
    ui: &mut Ui,
    tokens: &Tokens,
    chapter: &Chapter,
    question: &Question,
    draw: &Values,
    state: &mut StepState,
    actions: &mut Vec<Action>,
) {
    let lang = app.lang();
    for hint in question.hints.iter().take(state.n_hints) {
        markdown_ui(app, ui, &chapter.id, &answers::substitute_both(hint, draw), actions);
    }
    let is_right = state
        .last_given
        .as_ref()
        .is_some_and(|given| answers::judge(question, given, draw, &app.library).is_ok_and(|j| j.is_right));
    if state.n_hints < question.hints.len() && !is_right {
        let label = HINT.get(lang).replace("{n}", &(state.n_hints + 1).to_string());
        let label = label.replace("{all}", &question.hints.len().to_string());
        if widgets::link(ui, tokens, &label).clicked() {
            state.n_hints += 1;
        }
    }
}
