//! Asking models on behalf of a chapter: `$name` replaced in settings and texts, equations evaluated, answers graded.
//! The caller passes the models in as a function, so that this crate knows none.

use crate::chapter::{Answer, Equation, Form, ModelRef, Question, SymbolSource};
use std::collections::BTreeMap;
use vramlab_units::field::did_you_mean;
use vramlab_units::{FieldError, Formula, Localized, Map, Value, show};

/// Answers a model's question: `(id, set)`.
pub type Eval<'a> = &'a dyn Fn(&str, &Map) -> Result<Map, FieldError>;

/// Values by name: symbols of an equation, or redrawn parameters.
pub type Values = BTreeMap<String, f64>;

/// A number as JSON; whole ones as integers, because most fields count something.
pub fn json(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9.0e15 { Value::from(value as i64) } else { Value::from(value) }
}

/// `set` with every `"$name"` replaced. A name without a value is an error.
pub fn resolve(set: &Map, values: &Values) -> Result<Map, FieldError> {
    set.iter().map(|(key, value)| Ok((key.clone(), resolve_value(key, value, values)?))).collect()
}

fn resolve_value(key: &str, value: &Value, values: &Values) -> Result<Value, FieldError> {
    match value {
        Value::String(text) => match text.strip_prefix('$') {
            None => Ok(value.clone()),
            Some(name) => values.get(name).map(|value| json(*value)).ok_or_else(|| {
                let hint = did_you_mean(name, values.keys().map(String::as_str));
                let hint = hint.map(|hint| format!("; did you mean ${hint}?")).unwrap_or_default();
                FieldError::conflict(key, format!("${name} has no value here{hint}"))
            }),
        },
        Value::Array(list) => {
            list.iter().map(|item| resolve_value(key, item, values)).collect::<Result<_, _>>().map(Value::Array)
        }
        _ => Ok(value.clone()),
    }
}

/// One number from a model.
pub fn ask(from: &ModelRef, values: &Values, eval: Eval<'_>) -> Result<f64, FieldError> {
    let answer = eval(&from.model, &resolve(&from.set, values)?)?;
    match answer.get(&from.take) {
        Some(Value::Bool(flag)) => Ok(f64::from(u8::from(*flag))),
        Some(value) => value
            .as_f64()
            .ok_or_else(|| FieldError::conflict(&from.take, format!("the model {} gives {value}", from.model))),
        None => Err(FieldError::Unknown {
            field: from.take.clone(),
            hint: did_you_mean(&from.take, answer.keys().map(String::as_str)).map(str::to_owned),
            known: answer.keys().cloned().collect::<Vec<_>>().join(", "),
        }),
    }
}

/// The right number of an answer, for the redrawn `values`.
pub fn value_of(answer: &Answer, values: &Values, eval: Eval<'_>) -> Result<f64, FieldError> {
    match answer {
        Answer::Model(from) => ask(from, values, eval),
        Answer::Typed { value, .. } => Ok(*value),
    }
}

/// The parameters of a question for its `n`-th appearance: each list is walked in its order, the first list fastest.
pub fn draw(question: &Question, n: u64) -> Values {
    let mut n = n;
    let mut out = Values::new();
    for (name, list) in &question.redraw {
        let len = list.len().max(1) as u64;
        if let Some(value) = list.get((n % len) as usize) {
            out.insert(name.clone(), *value);
        }
        n /= len;
    }
    out
}

/// How many different draws a question has, at most `u64::MAX`.
pub fn n_draws(question: &Question) -> u64 {
    question.redraw.values().fold(1_u64, |n, list| n.saturating_mul(list.len().max(1) as u64))
}

/// `text` with every `$name` that has a value replaced by the number as it is read.
pub fn substitute(text: &str, values: &Values) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let (before, after) = (&rest[..at], &rest[at + 1..]);
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let name_len = after.find(|c| !is_name(c)).unwrap_or(after.len());
        out.push_str(before);
        match values.get(&after[..name_len]) {
            Some(value) => {
                out.push_str(&show::number(*value));
                rest = &after[name_len..];
            }
            None => {
                out.push('$');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// [`substitute`] in both languages.
pub fn substitute_both(text: &Localized, values: &Values) -> Localized {
    let each = |text: &Option<String>| text.as_ref().map(|text| substitute(text, values));
    Localized { zh: each(&text.zh), en: each(&text.en) }
}

/// An equation with numbers in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evaluated {
    /// In the order of the equation's symbols.
    pub symbols: Vec<(String, f64)>,
    pub result: f64,
}

/// Evaluates an equation. `sliders` holds what the reader has set; a slider that is not in it stands at its start.
pub fn evaluate(equation: &Equation, sliders: &Values, eval: Eval<'_>) -> Result<Evaluated, FieldError> {
    let mut values = Values::new();
    let mut symbols = Vec::new();
    for symbol in &equation.symbols {
        let value = match &symbol.source {
            SymbolSource::Constant(value) => *value,
            SymbolSource::Slider { start, .. } => sliders.get(&symbol.name).copied().unwrap_or(*start),
            SymbolSource::Model(from) => ask(from, &values, eval)?,
        };
        values.insert(symbol.name.clone(), value);
        symbols.push((symbol.name.clone(), value));
    }
    let wrong = |error: vramlab_units::FormulaError| FieldError::conflict(&equation.result, error.what);
    let formula = Formula::parse(&equation.value).map_err(wrong)?;
    let result = formula.eval(&|name| values.get(name).copied()).map_err(wrong)?;
    Ok(Evaluated { symbols, result })
}

/// What a reader answered.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case", tag = "form")]
pub enum Given {
    Number {
        value: f64,
    },
    /// Indices of the options chosen; of a choice, one.
    Options {
        chosen: Vec<usize>,
    },
    /// Indices of the items in the order in which the reader put them.
    Order {
        items: Vec<usize>,
    },
    /// A curve drawn on the plot: places of the sweep with the value drawn there, in ascending order of places.
    Sketch {
        points: Vec<(f64, f64)>,
    },
    /// A form of a later version: kept as it is, so that a newer window loses nothing to an older one.
    #[serde(untagged)]
    Later(Map),
}

/// Whether an answer is right. `right` is the number that [`value_of`] gave; other forms do not look at it.
pub fn is_right(form: &Form, given: &Given, right: f64) -> bool {
    match (form, given) {
        (Form::Number { tolerance, .. }, Given::Number { value }) => is_close(*value, right, *tolerance),
        (Form::Choice { options } | Form::Multi { options }, Given::Options { chosen }) => {
            options.iter().enumerate().all(|(idx, option)| option.is_right == chosen.contains(&idx))
                && chosen.iter().all(|idx| *idx < options.len())
        }
        (Form::Order { items }, Given::Order { items: given }) => given.iter().copied().eq(0..items.len()),
        _ => false,
    }
}

/// Equal within the relative `tolerance`, and never stricter than what a decimal fraction can be typed to.
pub fn is_close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance.max(1e-9) * a.abs().max(b.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chapter::Choice;

    fn values(pairs: &[(&str, f64)]) -> Values {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
    }

    #[test]
    fn names_in_settings_and_texts_are_replaced() {
        let set: Map = serde_json::from_str(r#"{"stride_bytes": "$stride", "elem_bytes": 4, "kind": "x"}"#).unwrap();
        let out = resolve(&set, &values(&[("stride", 8.0)])).unwrap();
        assert_eq!(Value::Object(out).to_string(), r#"{"stride_bytes":8,"elem_bytes":4,"kind":"x"}"#);
        let error = resolve(&set, &values(&[("strides", 8.0)])).unwrap_err().to_string();
        assert!(error.contains("did you mean $strides?"), "{error}");
        assert_eq!(substitute("步长 $stride B，$5 和 $stride.", &values(&[("stride", 12.0)])), "步长 12 B，$5 和 12.");
    }

    #[test]
    fn draws_visit_every_combination_once() {
        let question = Question {
            id: "q".to_owned(),
            ask: Localized::default(),
            form: Form::Order { items: Vec::new() },
            explain: Localized::default(),
            hints: Vec::new(),
            redraw: BTreeMap::from([("a".to_owned(), vec![1.0, 2.0]), ("b".to_owned(), vec![5.0, 6.0, 7.0])]),
        };
        assert_eq!(n_draws(&question), 6);
        let seen: std::collections::BTreeSet<String> = (0..6).map(|n| format!("{:?}", draw(&question, n))).collect();
        assert_eq!(seen.len(), 6);
        assert_eq!(draw(&question, 6), draw(&question, 0));
    }

    /// A newer version may know forms that this one does not.
    #[test]
    fn forms_of_answers_are_kept_known_or_not() {
        let read = |text: &str| serde_json::from_str::<Given>(text).unwrap();
        let sketch = Given::Sketch { points: vec![(1.0, 4600.0), (2.0, 2300.5)] };
        assert_eq!(read(r#"{"form": "sketch", "points": [[1, 4600], [2.0, 2300.5]]}"#), sketch);
        assert_eq!(read(&serde_json::to_string(&sketch).unwrap()), sketch);
        let later = r#"{"form":"hummed","notes":[1,2]}"#;
        assert_eq!(serde_json::to_string(&read(later)).unwrap(), later);
        assert!(!is_right(&Form::Order { items: Vec::new() }, &read(later), 0.0));
    }

    #[test]
    fn grading() {
        let number = |tolerance| Form::Number {
            answer: Answer::Typed { value: 0.0, source: String::new() },
            unit: "1".to_owned(),
            tolerance,
            min: 0.0,
            max: 1.0,
        };
        let given = |value| Given::Number { value };
        assert!(is_right(&number(0.05), &given(104.0), 100.0) && !is_right(&number(0.05), &given(106.0), 100.0));
        assert!(is_right(&number(0.0), &given(0.1 + 0.2), 0.3) && !is_right(&number(0.0), &given(0.31), 0.3));
        assert!(!is_right(&number(1.0), &given(f64::NAN), 1.0));
        let option = |is_right| Choice { text: Localized::default(), is_right, why: Localized::default() };
        let multi = Form::Multi { options: vec![option(true), option(false), option(true)] };
        let chosen = |chosen: &[usize]| Given::Options { chosen: chosen.to_vec() };
        assert!(is_right(&multi, &chosen(&[2, 0]), 0.0));
        assert!(!is_right(&multi, &chosen(&[0]), 0.0) && !is_right(&multi, &chosen(&[0, 2, 9]), 0.0));
        let order = Form::Order { items: vec![Localized::default(); 3] };
        assert!(is_right(&order, &Given::Order { items: vec![0, 1, 2] }, 0.0));
        assert!(!is_right(&order, &Given::Order { items: vec![0, 1] }, 0.0));
    }
}
