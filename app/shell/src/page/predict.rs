//! A prediction, asked before anything is revealed. It is not graded: the gap is shown where the truth appears. A number
//! is set on a ruler, a curve is drawn on the empty plot (`sketch.rs`), all else is asked as in a check.

use crate::action::Action;
use crate::answers::{self, Given, Values};
use crate::app::App;
use crate::page::prose::markdown_ui;
use crate::page::{StepState, check, order_gap, sketch};
use crate::widgets;
use egui::{RichText, TextEdit, Ui};
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_kit::widgets::ruler::{Ruler, Scale, Truth};
use vramlab_lesson::calibration::is_seen;
use vramlab_lesson::gap::{self, NumberGap};
use vramlab_lesson::{Chapter, Choice, Form, Predict, Step};
use vramlab_units::{Lang, Text, show, typed};

const PREDICT: Text = Text::new("先猜", "Predict first");
const COMMIT: Text = Text::new("就这么猜", "Commit to it");
const RULER: Text = Text::new("标尺", "ruler");
const KEPT: Text = Text::new("你的猜测", "Your prediction");
const REVEAL: Text = Text::new("揭晓", "Reveal");
const CHANGE: Text = Text::new("改一改", "Change it");
const MODEL: Text = Text::new("模型", "model");
const YOU: Text = Text::new("你", "you");
const SET_IT: Text = Text::new("在标尺上拖动，或者直接输入", "Drag on the ruler, or type");
const HIGH: Text = Text::new(
    "模型 {truth}，你猜 {given}：偏高，是模型的 {ratio} 倍",
    "model {truth}, you {given}: too high by a factor of {ratio}",
);
const LOW: Text = Text::new(
    "模型 {truth}，你猜 {given}：偏低，模型是你的 {ratio} 倍",
    "model {truth}, you {given}: too low by a factor of {ratio}",
);
const BY: Text = Text::new("模型 {truth}，你猜 {given}，相差 {ratio}", "model {truth}, you {given}: off by {ratio}");
const EXACT: Text = Text::new("和模型一致：{truth}", "as the model says: {truth}");
const SEE: Text = Text::new("往下看，实测会和它画在一起", "Read on: the measurement is drawn beside it");

pub fn ui(app: &mut App, ui: &mut Ui, chapter: &Chapter, step: &Step, predict: &Predict, actions: &mut Vec<Action>) {
    let tokens = app.tokens().clone();
    let lang = app.lang();
    let title = if step.title.is_empty() { PREDICT.get(lang) } else { step.title.get(lang) };
    widgets::card(ui, &tokens, |ui| {
        widgets::card_header(ui, &tokens, title, PREDICT.get(lang), |_| {});
        markdown_ui(app, ui, &chapter.id, &predict.question.ask, actions);
        ui.add_space(tokens.space.xs);
        let given = app.answer(&chapter.id, &step.id).filter(|given| fits(&predict.question.form, given)).cloned();
        let is_seen = is_seen(&app.progress, chapter, &step.id, predict);
        let mut state = std::mem::take(app.steps.get(&chapter.id, &step.id));
        match given.filter(|_| is_seen || !state.is_retrying) {
            None => {
                if let Some(given) = input_ui(app, ui, chapter, predict, &mut state) {
                    state.is_retrying = false;
                    actions.push(Action::Predict { chapter: chapter.id.clone(), step: step.id.clone(), given });
                }
                check::hints_ui(app, ui, &tokens, chapter, &predict.question, &Values::new(), &mut state, actions);
            }
            Some(given) => {
                kept_ui(app, ui, &tokens, chapter, predict, &given);
                if is_seen {
                    gap_ui(app, ui, &tokens, chapter, predict, &given, actions);
                } else {
                    reveal_ui(ui, &tokens, lang, (chapter, step, predict), &mut state, actions);
                }
            }
        }
        *app.steps.get(&chapter.id, &step.id) = state;
    });
}

/// An answer of another form, of a later version or of an earlier chapter, is kept and not shown.
fn fits(form: &Form, given: &Given) -> bool {
    match (form, given) {
        (Form::Number { .. }, Given::Number { .. })
        | (Form::Sketch(_), Given::Sketch { .. })
        | (Form::Choice { .. } | Form::Multi { .. }, Given::Options { .. }) => true,
        (Form::Order { items }, Given::Order { items: order }) => order.len() == items.len(),
        _ => false,
    }
}

fn input_ui(app: &App, ui: &mut Ui, chapter: &Chapter, predict: &Predict, state: &mut StepState) -> Option<Given> {
    let (tokens, lang) = (app.tokens(), app.lang());
    match &predict.question.form {
        Form::Number { unit, min, max, .. } => match Scale::new(*min, *max) {
            Some(scale) => number_ui(ui, tokens, lang, state, unit, scale, [*min, *max]),
            None => check::input_ui(ui, tokens, lang, &predict.question, state, COMMIT),
        },
        Form::Sketch(form) => sketch::input_ui(app, ui, chapter, predict, form, state, COMMIT.get(lang)),
        _ => check::input_ui(ui, tokens, lang, &predict.question, state, COMMIT),
    }
}

/// The ruler and the field under it say the same number; whichever was moved last leads.
fn number_ui(
    ui: &mut Ui,
    tokens: &Tokens,
    lang: Lang,
    state: &mut StepState,
    unit: &str,
    scale: Scale,
    range: [f64; 2],
) -> Option<Given> {
    if Ruler::new(RULER.get(lang), unit, scale, &mut state.guess).you(YOU.get(lang)).show(ui, tokens).changed() {
        state.draft = state.guess.map(|value| plain(value, unit)).unwrap_or_default();
        state.error = None;
    }
    let mut submitted = None;
    ui.horizontal_wrapped(|ui| {
        let edit = TextEdit::singleline(&mut state.draft)
            .desired_width(tokens.px(120.0))
            .font(tokens.font(Type::Mono))
            .margin(egui::vec2(10.0, 7.0));
        let response = ui.add(edit);
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, unit));
        if unit != "1" {
            // An empty label would break the row.
            ui.label(RichText::new(unit).font(tokens.font(Type::Mono)).color(tokens.muted));
        }
        if response.changed() {
            state.guess = typed::read(&state.draft, unit).ok().filter(|value| (range[0]..=range[1]).contains(value));
        }
        let is_entered = response.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
        let is_filled = !state.draft.trim().is_empty();
        let is_clicked = widgets::primary(ui, tokens, COMMIT.get(lang)).clicked();
        if is_filled && (is_clicked || is_entered) {
            submitted = check::submit_number(state, lang, unit, range);
        } else if is_clicked {
            state.error = Some(SET_IT.get(lang).to_owned());
        }
    });
    if let Some(error) = &state.error {
        ui.label(RichText::new(error).font(tokens.font(Type::Note)).color(tokens.bad));
    } else if state.guess.is_none() && state.draft.is_empty() {
        ui.label(RichText::new(SET_IT.get(lang)).font(tokens.font(Type::Small)).color(tokens.muted));
    }
    submitted
}

/// A value as it is typed into the field beside its unit.
fn plain(value: f64, unit: &str) -> String {
    show::number(if unit == "%" { value * 100.0 } else { value })
}

fn reveal_ui(
    ui: &mut Ui,
    tokens: &Tokens,
    lang: Lang,
    (chapter, step, predict): (&Chapter, &Step, &Predict),
    state: &mut StepState,
    actions: &mut Vec<Action>,
) {
    ui.horizontal_wrapped(|ui| {
        if matches!(predict.question.form, Form::Sketch(_)) {
            sketch::link_ui(ui, tokens, lang, chapter, predict, actions);
        } else if widgets::primary(ui, tokens, REVEAL.get(lang)).clicked() {
            actions.push(Action::Reveal { chapter: chapter.id.clone(), step: step.id.clone() });
        }
        if widgets::secondary(ui, tokens, CHANGE.get(lang)).clicked() {
            state.is_retrying = true;
        }
    });
    if predict.revealed_by.is_some() {
        ui.label(RichText::new(SEE.get(lang)).font(tokens.font(Type::Note)).color(tokens.muted));
    }
}

fn kept_ui(app: &App, ui: &mut Ui, tokens: &Tokens, chapter: &Chapter, predict: &Predict, given: &Given) {
    let lang = app.lang();
    let text = match (given, &predict.question.form) {
        (Given::Number { value }, Form::Number { unit, .. }) => show::with_unit(*value, unit),
        (Given::Order { items: order }, Form::Order { items }) => {
            let names: Vec<&str> = order.iter().filter_map(|idx| items.get(*idx)).map(|item| item.get(lang)).collect();
            names.join(" → ")
        }
        (Given::Options { chosen }, Form::Choice { options } | Form::Multi { options }) => {
            let names: Vec<&str> =
                chosen.iter().filter_map(|idx| options.get(*idx)).map(|option| option.text.get(lang)).collect();
            names.join(if lang == Lang::Zh { "、" } else { ", " })
        }
        _ => String::new(),
    };
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(format!("◇ {}", KEPT.get(lang))).font(tokens.font(Type::Note)).color(tokens.muted));
        ui.label(RichText::new(text).font(tokens.font(Type::BodyStrong)));
    });
    if let (Given::Sketch { points }, Form::Sketch(form)) = (given, &predict.question.form) {
        sketch::kept_ui(app, ui, chapter, predict, form, points);
    }
}

/// The truth, and how far away the prediction was, drawn and in words.
fn gap_ui(
    app: &mut App,
    ui: &mut Ui,
    tokens: &Tokens,
    chapter: &Chapter,
    predict: &Predict,
    given: &Given,
    actions: &mut Vec<Action>,
) {
    let lang = app.lang();
    let question = &predict.question;
    let judged = match answers::judge(question, given, &Values::new(), &app.library) {
        Ok(judged) => judged,
        Err(why) => {
            ui.label(RichText::new(why).color(tokens.bad));
            return;
        }
    };
    match (&question.form, given) {
        (Form::Number { unit, min, max, tolerance, .. }, Given::Number { value }) => {
            let truth = judged.truth.unwrap_or(f64::NAN);
            if let Some(scale) = Scale::new(*min, *max) {
                let truth = Truth { name: MODEL.get(lang), value: truth };
                Ruler::new("", unit, scale, &mut Some(*value)).you(YOU.get(lang)).truth(truth).show(ui, tokens);
            }
            widgets::finding(ui, tokens, &number_words(*value, truth, *tolerance, unit, lang));
        }
        (Form::Choice { options } | Form::Multi { options }, Given::Options { chosen }) => {
            options_ui(ui, tokens, lang, options, chosen);
        }
        (Form::Order { items }, Given::Order { items: order }) => order_gap::ui(ui, tokens, lang, items, order),
        (Form::Sketch(_), _) => sketch::link_ui(ui, tokens, lang, chapter, predict, actions),
        _ => {}
    }
    markdown_ui(app, ui, &chapter.id, &question.explain, actions);
}

/// The gap of a number: by which factor, and to which side.
pub fn number_words(given: f64, truth: f64, tolerance: f64, unit: &str, lang: Lang) -> String {
    let (text, ratio) = match gap::number(given, truth, tolerance) {
        NumberGap::None => (EXACT, String::new()),
        NumberGap::TooHigh { factor } => (HIGH, show::number(factor)),
        NumberGap::TooLow { factor } => (LOW, show::number(factor)),
        NumberGap::By { difference } => (BY, show::with_unit(difference.abs(), unit)),
    };
    text.get(lang)
        .replace("{truth}", &show::with_unit(truth, unit))
        .replace("{given}", &show::with_unit(given, unit))
        .replace("{ratio}", &ratio)
}

fn options_ui(ui: &mut Ui, tokens: &Tokens, lang: Lang, options: &[Choice], chosen: &[usize]) {
    for (idx, option) in options.iter().enumerate() {
        if option.is_right || chosen.contains(&idx) {
            let sign = if option.is_right { "✓" } else { "◇" };
            let colon = if lang == Lang::Zh { "：" } else { ": " };
            let text = format!("{sign} {}{colon}{}", option.text.get(lang), option.why.get(lang));
            ui.label(RichText::new(text).font(tokens.font(Type::Note)));
        }
    }
}
