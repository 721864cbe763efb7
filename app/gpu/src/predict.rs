//! What the model says a point should measure. Predictions are never stored with a run: they are computed from the
//! run's own parameters and device facts by the models of today, for live and recorded runs alike.

use crate::manifest::{Experiment, Kernel, Predict};
use crate::vars::{PointVars, Vars, eval, eval_with, json_number};
use vramlab_trace::{DeviceFacts, Run};
use vramlab_units::{FieldKind, FieldSpec, Map, Value};

/// One prediction with the steps that led to it, for the card that shows the formula with the reader's own values.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    pub value: f64,
    /// The question put to the model, every formula resolved.
    pub question: Map,
    /// The model's whole answer.
    pub answer: Map,
}

/// Asks the model of a series about one point. The error is a sentence: a fact that the device does not tell, a
/// question outside the model's range, or a mistake in the experiment.
pub fn predict(predict: &Predict, vars: &Vars) -> Result<Prediction, String> {
    let specs = vramlab_model::find(&predict.model).map(|entry| (entry.question)()).unwrap_or_default();
    let mut question = Map::new();
    for (field, value) in &predict.set {
        let resolved = resolve(value, vars).map_err(|why| format!("predict.set.{field}: {why}"))?;
        question.insert(field.clone(), as_option(&specs, field, resolved));
    }
    let answer =
        vramlab_model::eval(&predict.model, &question).map_err(|error| format!("{}: {error}", predict.model))?;
    let taken = answer.get(&predict.take).and_then(Value::as_f64);
    let taken = taken.ok_or_else(|| format!("{}: {} has no value here", predict.model, predict.take))?;
    let value = match &predict.then {
        None => taken,
        Some(then) => {
            let number = |map: &Map, name: &str| map.get(name).and_then(Value::as_f64);
            let lookup = |name: &str| {
                number(&answer, name).or_else(|| number(&question, name)).or_else(|| vars.get(name).copied())
            };
            eval_with(then, &lookup).map_err(|why| format!("predict.then: {why}"))?
        }
    };
    Ok(Prediction { value, question, answer })
}

/// A number where the model wants one of some texts: the option that reads as that number, `9.0` for 9.
fn as_option(specs: &[FieldSpec], field: &str, value: Value) -> Value {
    let Some(number) = value.as_f64() else { return value };
    match specs.iter().find(|spec| spec.key == field).map(|spec| &spec.kind) {
        Some(FieldKind::Choice { options }) => {
            let found = options.iter().find(|option| option.parse::<f64>() == Ok(number));
            found.map_or(value, |option| option.as_ref().into())
        }
        _ => value,
    }
}

/// A value of `predict.set`: a number or truth value as it is, a text in quotes `'…'` taken literally, any other text a
/// formula, and lists of these.
fn resolve(value: &Value, vars: &Vars) -> Result<Value, String> {
    match value {
        Value::String(text) => match literal(text) {
            Some(inner) => Ok(inner.into()),
            None => eval(text, vars).map(json_number),
        },
        Value::Array(items) => items.iter().map(|item| resolve(item, vars)).collect(),
        other => Ok(other.clone()),
    }
}

/// The inside of `'…'`.
pub fn literal(text: &str) -> Option<&str> {
    text.strip_prefix('\'')?.strip_suffix('\'')
}

/// The prediction for parameters of one series on a device.
pub fn predict_point(
    experiment: &Experiment,
    kernel: &Kernel,
    series: &str,
    params: &Map,
    device: &DeviceFacts,
) -> Result<Prediction, String> {
    let found = experiment.series.iter().find(|known| known.id == series);
    let found = found.ok_or_else(|| format!("the experiment has no series \"{series}\""))?;
    predict(&found.predict, &PointVars::of(kernel, params, device).vars)
}

/// The predictions for every point of a run, live or recorded, in the run's order; `None` where the device does not
/// tell a fact that the model needs, or the manifest has changed since.
pub fn predict_run(run: &Run, experiment: &Experiment, kernel: &Kernel) -> Vec<Option<f64>> {
    let point = |point: &vramlab_trace::Point| {
        predict_point(experiment, kernel, &point.series, &point.params, &run.device).ok().map(|answer| answer.value)
    };
    run.points.iter().map(point).collect()
}
