//! Visualizers, models and experiments: whether they exist, whether their parameters are legal, and whether the
//! numbers that the chapter states are those that the models compute.

use super::{Checker, runs};
use crate::answer::{self, Values};
use crate::chapter::{
    Answer, Equation, ExperimentStep, Form, ModelRef, Question, StepBody, SymbolSource, VisualizerStep,
};
use vramlab_units::{FieldError, Formula, show};

/// Most redraws of one question, and most slider positions of one equation, that are tried.
const MAX_TRIED: u64 = 200;

impl Checker<'_> {
    pub(super) fn asks(&mut self) {
        let chapter = self.chapter;
        for (idx, step) in chapter.steps.iter().enumerate() {
            let path = format!("step[{idx}]");
            match &step.body {
                StepBody::Prose { .. } | StepBody::Broken { .. } => {}
                StepBody::Equation(equation) => self.equation(equation, &path),
                StepBody::Visualizer(step) => self.visualizer(step, &path),
                StepBody::Figure(figure) => self.figure(figure, &path),
                StepBody::Predict(predict) => self.question(&predict.question, &path),
                StepBody::Experiment(step) => {
                    for (run, path) in runs(step, &path) {
                        self.experiment(run, &path);
                    }
                }
                StepBody::Check(question) => self.question(question, &path),
            }
        }
        for (idx, question) in chapter.reviews.iter().enumerate() {
            self.question(question, &format!("review[{idx}]"));
        }
    }

    /// An error about a field of the settings at `path`.
    fn field_error(&mut self, path: &str, error: &FieldError) {
        let (what, help) = match error {
            FieldError::Unknown { field, hint, known } => {
                let help = hint
                    .as_ref()
                    .map_or_else(|| format!("the fields are {known}"), |hint| format!("did you mean \"{hint}\"?"));
                (format!("there is no field \"{field}\""), Some(help))
            }
            _ => (error.to_string(), None),
        };
        let rule = match error {
            FieldError::Unknown { .. } => "unknown-field",
            FieldError::Missing { .. } => "missing-field",
            FieldError::Illegal { .. } => "out-of-range",
            FieldError::Conflict { .. } => "conflict",
        };
        self.error(rule, &format!("{path}.{}", error.field()), what, help);
    }

    fn visualizer(&mut self, step: &VisualizerStep, path: &str) {
        let registry = self.registry;
        let known = registry.visualizers();
        if !known.contains(&step.show.as_str()) {
            self.unknown("unknown-visualizer", &format!("{path}.show"), "visualizer", &step.show, &known);
        } else if let Err(error) = registry.check_visualizer(&step.show, &step.params) {
            self.field_error(&format!("{path}.params"), &error);
        }
    }

    fn experiment(&mut self, step: &ExperimentStep, path: &str) {
        let registry = self.registry;
        let known = registry.experiments();
        if !known.contains(&step.run.as_str()) {
            return self.unknown("unknown-experiment", &format!("{path}.run"), "experiment", &step.run, &known);
        }
        if let Err(error) = registry.check_experiment(&step.run, &step.set) {
            self.field_error(&format!("{path}.set"), &error);
        }
        if !registry.has_effect(&step.run) {
            let what = format!("the experiment \"{}\" does not say which effect it expects", step.run);
            let help = "declare the ratio in its experiment file: two equal bars and silence teach nothing";
            self.error("no-effect", &format!("{path}.run"), what, Some(help.to_owned()));
        }
    }

    pub(super) fn has_model(&mut self, from: &ModelRef, path: &str) -> bool {
        let known = self.registry.models();
        let is_known = known.contains(&from.model.as_str());
        if !is_known {
            self.unknown("unknown-model", &format!("{path}.model"), "model", &from.model, &known);
        }
        is_known
    }

    /// Asks a model; a refusal is noted. `when` says for which redraw or slider position.
    fn ask(&mut self, from: &ModelRef, values: &Values, path: &str) -> Option<f64> {
        let registry = self.registry;
        match answer::ask(from, values, &|id, set| registry.eval(id, set)) {
            Ok(value) => Some(value),
            Err(error) if error.field() == from.take && !from.set.contains_key(&from.take) => {
                let (what, help) = match &error {
                    FieldError::Unknown { known, hint, .. } => (
                        format!("the model {} gives no \"{}\"", from.model, from.take),
                        hint.as_ref()
                            .map_or_else(|| format!("it gives {known}"), |hint| format!("did you mean \"{hint}\"?")),
                    ),
                    _ => (error.to_string(), "take a field that holds a number".to_owned()),
                };
                self.error("unknown-field", &format!("{path}.take"), what, Some(help));
                None
            }
            Err(error) => {
                self.field_error(&format!("{path}.set"), &error);
                None
            }
        }
    }

    fn question(&mut self, question: &Question, path: &str) {
        self.names_of(question, path);
        let Form::Number { answer, unit, tolerance, min, max } = &question.form else { return };
        let at = format!("{path}.answer");
        match answer {
            Answer::Model(from) => {
                if self.has_model(from, &at) && self.answers(question, from, (*min, *max), &at) {
                    self.typed(question, from, *tolerance, &at);
                    self.unit_of(from, unit, &at, &format!("{path}.unit"));
                }
            }
            Answer::Typed { value, source } => {
                self.on_ruler(*value, (*min, *max), &Values::new(), &format!("{at}.value"));
                self.typed_source(source, &at);
            }
        }
    }

    /// Names in the text that nothing replaces, and redrawn parameters that nothing uses.
    fn names_of(&mut self, question: &Question, path: &str) {
        let Form::Number { answer, .. } = &question.form else {
            if let Some(name) = question.redraw.keys().next() {
                let what = "only a question for a number is drawn anew".to_owned();
                self.error("unused-name", &format!("{path}.redraw.{name}"), what, Some("delete `redraw`".to_owned()));
            }
            return;
        };
        for name in question.redraw.keys() {
            let word = format!("${name}");
            let is_asked = [&question.ask.zh, &question.ask.en].into_iter().flatten().all(|text| text.contains(&word));
            if !is_asked {
                let what = format!("{word} is drawn anew, but the question does not show it");
                self.error(
                    "unused-name",
                    &format!("{path}.redraw.{name}"),
                    what,
                    Some(format!("write {word} in `ask`")),
                );
            }
            let is_set = matches!(answer, Answer::Model(from) if vramlab_units::Value::Object(from.set.clone()).to_string().contains(&word));
            if !is_set {
                let what = format!("{word} is drawn anew, but the answer does not depend on it");
                self.error(
                    "unused-name",
                    &format!("{path}.redraw.{name}"),
                    what,
                    Some(format!("write \"{word}\" in `answer.set`")),
                );
            }
        }
    }

    /// Whether the model answers every redraw (the first refusal is noted), on the ruler.
    fn answers(&mut self, question: &Question, from: &ModelRef, ruler: (f64, f64), path: &str) -> bool {
        for n in 0..answer::n_draws(question).min(MAX_TRIED) {
            let values = answer::draw(question, n);
            let Some(value) = self.ask(from, &values, path) else { return false };
            if !self.on_ruler(value, ruler, &values, path) {
                break;
            }
        }
        true
    }

    fn on_ruler(&mut self, value: f64, (min, max): (f64, f64), values: &Values, path: &str) -> bool {
        let is_on = (min..=max).contains(&value);
        if !is_on {
            let when = described(values);
            let what =
                format!("the answer {}{when} is not on the ruler from {} to {}", exact(value), exact(min), exact(max));
            self.error("off-ruler", path, what, Some("move min or max".to_owned()));
        }
        is_on
    }

    /// L6: a value typed beside a model must be the model's.
    fn typed(&mut self, question: &Question, from: &ModelRef, tolerance: f64, path: &str) {
        let Some(typed) = self.parsed.typed.get(path).copied() else { return };
        let Some(computed) = self.ask(from, &answer::draw(question, 0), path) else { return };
        if !answer::is_close(typed, computed, tolerance) {
            let what = format!("the chapter says {}; the model {} says {}", exact(typed), from.model, exact(computed));
            let help = "delete `value`: what a model computes is not typed".to_owned();
            self.error("wrong-answer", &format!("{path}.value"), what, Some(help));
        }
    }

    fn typed_source(&mut self, source: &str, path: &str) {
        let named = self.registry.models().into_iter().find(|model| source.contains(*model)).map(str::to_owned);
        if let Some(model) = named {
            let what = format!("the source names the model {model}, yet the answer is typed");
            let help = format!("ask it: {{ model = \"{model}\", set = {{ … }}, take = \"…\" }}");
            self.warn("typed-answer", &format!("{path}.source"), what, Some(help));
        }
    }

    pub(super) fn unit_of(&mut self, from: &ModelRef, unit: &str, path: &str, unit_path: &str) {
        let Some(model_unit) = self.registry.answer_unit(&from.model, &from.take) else { return };
        if model_unit != unit && !(model_unit == "1" && unit == "%") {
            let what =
                format!("the unit is \"{unit}\"; the model {} gives {} in \"{model_unit}\"", from.model, from.take);
            let path = if self.parsed.spans.contains_key(unit_path) { unit_path } else { path };
            self.error("wrong-unit", path, what, Some(format!("write unit = \"{model_unit}\"")));
        }
    }

    fn equation(&mut self, equation: &Equation, path: &str) {
        if equation.result_unit.trim().is_empty() {
            self.no_unit(&equation.result, &format!("{path}.unit"));
        }
        let mut is_askable = true;
        for (idx, symbol) in equation.symbols.iter().enumerate() {
            let at = format!("{path}.symbol[{idx}]");
            if symbol.unit.trim().is_empty() {
                self.no_unit(&symbol.name, &format!("{at}.unit"));
            }
            if equation.symbols[..idx].iter().any(|earlier| earlier.name == symbol.name) {
                let what = format!("the symbol {} is declared twice", symbol.name);
                self.error("duplicate-id", &format!("{at}.name"), what, None);
                is_askable = false;
            }
            if !is_used(equation, &symbol.name) {
                let what = format!("the symbol {} is used neither in the formula nor by a model", symbol.name);
                self.warn("unused-name", &format!("{at}.name"), what, None);
            }
            if let SymbolSource::Model(from) = &symbol.source {
                let at = format!("{at}.from");
                if self.has_model(from, &at) {
                    self.unit_of(from, &symbol.unit, &at, &format!("{path}.symbol[{idx}].unit"));
                } else {
                    is_askable = false;
                }
            }
        }
        if is_askable {
            self.positions(equation, path);
        }
    }

    fn no_unit(&mut self, name: &str, path: &str) {
        self.error(
            "no-unit",
            path,
            format!("{name} has no unit"),
            Some("write unit = \"1\" if it has none".to_owned()),
        );
    }

    /// Moves each slider over its range, the others at their start: the first refusal is noted.
    fn positions(&mut self, equation: &Equation, path: &str) {
        let mut tried = vec![Values::new()];
        for symbol in &equation.symbols {
            if let SymbolSource::Slider { min, max, step, .. } = symbol.source {
                let n_steps = ((max - min) / step).floor().clamp(0.0, MAX_TRIED as f64);
                let step = step.max((max - min) / MAX_TRIED as f64);
                let positions = (0..=n_steps as u64).map(|n| min + n as f64 * step).filter(|at| *at < max).chain([max]);
                tried.extend(positions.map(|at| Values::from([(symbol.name.clone(), at)])));
            }
        }
        let registry = self.registry;
        for sliders in tried {
            if let Err(error) = answer::evaluate(equation, &sliders, &|id, set| registry.eval(id, set)) {
                let by_model = equation.symbols.iter().position(|symbol| {
                    matches!(&symbol.source, SymbolSource::Model(from) if from.set.contains_key(error.field()) || from.take == error.field())
                });
                let at = by_model.map_or_else(|| format!("{path}.value"), |idx| format!("{path}.symbol[{idx}].from"));
                let help = by_model.map(|_| "narrow the slider, or choose other settings".to_owned());
                return self.error("out-of-range", &at, format!("{error}{}", described(&sliders)), help);
            }
        }
    }
}

/// Whether a number in the unit `given` may stand where `wanted` is: counts go by many names, sizes and times by one.
pub(super) fn units_meet(given: &str, wanted: &str) -> bool {
    const COUNTS: &[&str] =
        &["", "1", "element", "word", "thread", "lane", "warp", "block", "token", "layer", "step", "request", "bank"];
    given == wanted || (COUNTS.contains(&given) && COUNTS.contains(&wanted)) || (given == "%" && wanted == "1")
}

fn is_used(equation: &Equation, name: &str) -> bool {
    let in_formula = Formula::parse(&equation.value).is_ok_and(|formula| formula.names().contains(&name));
    let word = serde_json::Value::from(format!("${name}")).to_string();
    in_formula
        || equation.symbols.iter().any(|symbol| match &symbol.source {
            SymbolSource::Model(from) => vramlab_units::Value::Object(from.set.clone()).to_string().contains(&word),
            _ => false,
        })
}

pub(super) fn described(values: &Values) -> String {
    let parts: Vec<String> = values.iter().map(|(name, value)| format!("{name} = {}", exact(*value))).collect();
    if parts.is_empty() { String::new() } else { format!(" at {}", parts.join(", ")) }
}

/// Unrounded, for comparing by eye.
fn exact(value: f64) -> String {
    if value.is_finite() { format!("{value}") } else { show::number(value) }
}
