//! Answers the reader gives, and how they are judged. The truth is asked of the models at that moment.

use serde::{Deserialize, Serialize};
use vramlab_lesson::{Answer, Form, ModelRef, Question, Registry, Verdict};
use vramlab_units::{Map, Value};

/// What the reader answered. Indices refer to the order in the chapter, not to the order on screen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Given {
    Number(f64),
    Choice(usize),
    Multi(Vec<usize>),
    Order(Vec<usize>),
    /// Judgement of an audit, by verdict id.
    Verdict(String),
}

/// A judged answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    pub is_right: bool,
    /// The true number, for number questions.
    pub truth: Option<f64>,
    /// Relative error of a number, signed.
    pub relative_error: Option<f64>,
}

/// The true number of a number question, with `draw` put in for `$name`.
pub fn truth(question: &Question, draw: &Map, registry: &dyn Registry) -> Result<Option<f64>, String> {
    match &question.form {
        Form::Number { answer: Answer::Typed { value, .. }, .. } => Ok(Some(*value)),
        Form::Number { answer: Answer::Model(model), .. } => ask(model, draw, registry).map(Some),
        _ => Ok(None),
    }
}

/// Asks a model; `"$name"` values are taken from `draw`.
pub fn ask(model: &ModelRef, draw: &Map, registry: &dyn Registry) -> Result<f64, String> {
    let mut set = Map::new();
    for (key, value) in &model.set {
        set.insert(key.clone(), substituted(value, draw));
    }
    let answer = registry.eval(&model.model, &set).map_err(|error| error.to_string())?;
    answer
        .get(&model.take)
        .and_then(Value::as_f64)
        .ok_or_else(|| format!("{} gives no number `{}`", model.model, model.take))
}

fn substituted(value: &Value, draw: &Map) -> Value {
    match value.as_str().and_then(|text| text.strip_prefix('$')) {
        Some(name) => draw.get(name).cloned().unwrap_or_else(|| value.clone()),
        None => value.clone(),
    }
}

/// Judges `given`. An answer of another kind than the question asks for is wrong.
pub fn judge(question: &Question, given: &Given, draw: &Map, registry: &dyn Registry) -> Result<Judged, String> {
    let truth = truth(question, draw, registry)?;
    let mut judged = Judged { is_right: false, truth, relative_error: None };
    match (&question.form, given) {
        (Form::Number { tolerance, .. }, Given::Number(value)) => {
            let truth = truth.unwrap_or_default();
            let error = if truth == 0.0 { *value } else { (value - truth) / truth };
            judged.relative_error = Some(error);
            // Exact questions allow for the rounding of what can be typed.
            judged.is_right = error.abs() <= tolerance.max(1e-9);
        }
        (Form::Choice { options }, Given::Choice(idx)) => {
            judged.is_right = options.get(*idx).is_some_and(|option| option.is_right);
        }
        (Form::Multi { options }, Given::Multi(chosen)) => {
            judged.is_right =
                options.iter().enumerate().all(|(idx, option)| option.is_right == chosen.contains(&idx));
        }
        (Form::Order { items }, Given::Order(order)) => {
            judged.is_right = order.len() == items.len() && order.iter().enumerate().all(|(at, idx)| at == *idx);
        }
        _ => {}
    }
    Ok(judged)
}

/// Whether a judgement of an audit is right.
pub fn judge_audit(verdict: Verdict, given: &Given) -> bool {
    matches!(given, Given::Verdict(id) if id == verdict.id())
}

/// `text` with `$name` replaced by the drawn values.
pub fn fill_in(text: &str, draw: &Map) -> String {
    let mut out = text.to_owned();
    // Longer names first, so that `$stride_elems` is not eaten by `$stride`.
    let mut names: Vec<&String> = draw.keys().collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    for name in names {
        let value = match &draw[name] {
            Value::String(text) => text.clone(),
            other => vramlab_units::show::number(other.as_f64().unwrap_or_default()),
        };
        out = out.replace(&format!("${name}"), &value);
    }
    out
}

/// Draws the parameters of a question for the `n`-th time: the same question differs from review to review, and is
/// the same for everybody who is at the same review.
pub fn draw(question: &Question, n: u64) -> Map {
    let mut out = Map::new();
    for (idx, (name, values)) in question.redraw.iter().enumerate() {
        if values.is_empty() {
            continue;
        }
        // A small integer hash: neighbouring reviews and neighbouring names differ.
        let mixed = (n + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(17 + idx as u32 * 7) ^ (idx as u64 * 0x85EB);
        let value = values[(mixed % values.len() as u64) as usize];
        let number = if value.fract() == 0.0 { Value::from(value as i64) } else { Value::from(value) };
        out.insert(name.clone(), number);
    }
    out
}
