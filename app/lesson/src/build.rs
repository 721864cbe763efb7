//! Makes steps, audits and questions from validated tables. What the field tables cannot say is checked here: which
//! fields a form of question needs, and where a symbol's number comes from.

use crate::chapter::{
    Answer, Audit, Choice, Equation, ExperimentStep, Form, ModelRef, Predict, Question, Sketch, StepBody, Symbol,
    SymbolSource, Verdict, VisualizerStep,
};
use crate::fields::{self, KINDS};
use crate::read::{Reader, inner, is_true, number, params, redraw, shorten, tables, text};
use crate::tree::{Data, Item, Span, Table};
use std::collections::BTreeMap;
use std::sync::Arc;
use vramlab_units::field::did_you_mean;
use vramlab_units::{Formula, Map};

type Typed = BTreeMap<String, f64>;

pub fn step(reader: &mut Reader<'_>, typed: &mut Typed, item: &Item, path: &str) -> Option<StepBody> {
    let table = &item.table;
    let Some(node) = table.get("kind") else {
        reader.check(table, &[fields::STEP], "the step", path, &item.header);
        return None;
    };
    let name = text(table, "kind").unwrap_or_default();
    let Some(kind) = KINDS.iter().find(|kind| kind.id == name) else {
        let known: Vec<&str> = KINDS.iter().map(|kind| kind.id).collect();
        let what = format!("there is no kind of step \"{}\"", shorten(&name));
        let help = did_you_mean(&name, known.iter().copied())
            .map_or_else(|| format!("the kinds are {}", known.join(", ")), |hint| format!("did you mean \"{hint}\"?"));
        reader.fail("unknown-kind", &node.span, what, Some(help));
        return None;
    };
    let called = format!("a step of kind \"{}\"", kind.id);
    reader.check(table, kind.fields, &called, path, &item.header);
    match kind.id {
        "prose" => Some(StepBody::Prose { text: reader.localized(table, "text") }),
        "equation" => equation(reader, item, path).map(StepBody::Equation),
        "figure" => crate::figure::build::figure(reader, item, path).map(|figure| StepBody::Figure(Arc::new(figure))),
        "visualizer" => Some(StepBody::Visualizer(VisualizerStep {
            show: text(table, "show")?,
            params: params(table, "params"),
            text: reader.localized(table, "text"),
            alt: reader.localized(table, "alt"),
        })),
        "predict" => {
            let question = question(reader, typed, item, path)?;
            Some(StepBody::Predict(Predict {
                question,
                revealed_by: text(table, "revealed_by"),
                at_x: number(table, "at"),
            }))
        }
        "experiment" => {
            let mut first = run(reader, table)?;
            first.also = tables(table, "also").into_iter().filter_map(|also| run(reader, also)).collect();
            Some(StepBody::Experiment(first))
        }
        _ => question(reader, typed, item, path).map(StepBody::Check),
    }
}

fn run(reader: &mut Reader<'_>, table: &Table) -> Option<ExperimentStep> {
    Some(ExperimentStep {
        run: text(table, "run")?,
        text: reader.localized(table, "text"),
        explain: reader.localized(table, "explain"),
        set: params(table, "set"),
        alt: reader.localized(table, "alt"),
        name: reader.localized(table, "name"),
        also: Vec::new(),
    })
}

pub fn audit(reader: &mut Reader<'_>, item: &Item, path: &str) -> Option<Audit> {
    let table = &item.table;
    reader.check(table, &[fields::AUDIT], "an audit", path, &item.header);
    let verdict = text(table, "verdict")?;
    Some(Audit {
        id: text(table, "id")?,
        claim: reader.localized(table, "claim"),
        source: reader.localized(table, "source"),
        verdict: Verdict::ALL.into_iter().find(|known| known.id() == verdict)?,
        why: reader.localized(table, "why"),
        test: text(table, "test"),
    })
}

pub fn review(reader: &mut Reader<'_>, typed: &mut Typed, item: &Item, path: &str) -> Option<Question> {
    reader.check(&item.table, fields::REVIEW, "a review question", path, &item.header);
    question(reader, typed, item, path)
}

fn equation(reader: &mut Reader<'_>, item: &Item, path: &str) -> Option<Equation> {
    let table = &item.table;
    let value = text(table, "value")?;
    let mut symbols = Vec::new();
    for (idx, from) in tables(table, "symbol").into_iter().enumerate() {
        let span = span_of(reader, &format!("{path}.symbol[{idx}]"), &item.header);
        symbols.extend(symbol(reader, from, &span));
    }
    let at = span_of(reader, &format!("{path}.value"), &item.header);
    match Formula::parse(&value) {
        Err(error) => {
            let here = value.get(error.at..).and_then(|rest| rest.chars().next()).map(String::from).unwrap_or_default();
            let span = reader.source.find_within(&at, &value);
            let start = (span.start + error.at).min(at.end);
            reader.fail(
                "bad-formula",
                &(start..start + here.len()),
                format!("the formula cannot be read: {error}"),
                None,
            );
        }
        Ok(formula) => {
            for name in formula.names() {
                if !symbols.iter().any(|symbol: &Symbol| symbol.name == name) {
                    let span = reader.source.find_within(&at, name);
                    let what = format!("the formula uses \"{name}\", which is not among its symbols");
                    let help = did_you_mean(name, symbols.iter().map(|symbol| symbol.name.as_str()));
                    let help = help.map_or_else(
                        || "add a [[step.symbol]] for it".to_owned(),
                        |hint| format!("did you mean \"{hint}\"?"),
                    );
                    reader.fail("unknown-symbol", &span, what, Some(help));
                }
            }
        }
    }
    Some(Equation {
        result: text(table, "result")?,
        result_unit: text(table, "unit")?,
        value,
        symbols,
        text: reader.localized(table, "text"),
    })
}

fn symbol(reader: &mut Reader<'_>, table: &Table, span: &Span) -> Option<Symbol> {
    let name = text(table, "name")?;
    let slider = inner(table, "slider").and_then(|slider| {
        let (min, max) = (number(slider, "min")?, number(slider, "max")?);
        Some(SymbolSource::Slider { min, max, step: number(slider, "step")?, start: number(slider, "start")? })
    });
    if let Some(SymbolSource::Slider { min, max, step, start }) = slider
        && !(min < max && step > 0.0 && (min..=max).contains(&start))
    {
        let what = format!("the slider of {name} goes from {min} to {max} by {step}, starting at {start}");
        let help = "min must be less than max, step more than 0, and start between the two".to_owned();
        reader.fail("out-of-range", span, what, Some(help));
    }
    let constant = number(table, "constant").map(SymbolSource::Constant);
    let model = inner(table, "from").and_then(model_ref).map(SymbolSource::Model);
    let given = ["constant", "slider", "from"].iter().filter(|key| table.get(key).is_some()).count();
    if given != 1 {
        let what = format!("the symbol {name} needs exactly one of constant, slider and from; it has {given}");
        reader.fail("missing-field", span, what, None);
    }
    Some(Symbol {
        name,
        shown: text(table, "shown"),
        unit: text(table, "unit")?,
        means: reader.localized(table, "means"),
        source: constant.or(slider).or(model)?,
    })
}

pub(crate) fn model_ref(table: &Table) -> Option<ModelRef> {
    Some(ModelRef { model: text(table, "model")?, set: params(table, "set"), take: text(table, "take")? })
}

fn question(reader: &mut Reader<'_>, typed: &mut Typed, item: &Item, path: &str) -> Option<Question> {
    let table = &item.table;
    let form = form(reader, typed, item, path);
    Some(Question {
        id: text(table, "id")?,
        ask: reader.localized(table, "ask"),
        form: form?,
        explain: reader.localized(table, "explain"),
        hints: reader.localized_list(table, "hints"),
        redraw: redraw(table, "redraw"),
    })
}

fn form(reader: &mut Reader<'_>, typed: &mut Typed, item: &Item, path: &str) -> Option<Form> {
    let table = &item.table;
    let inferred = ["answer", "items"].into_iter().find(|key| table.get(key).is_some());
    let form = text(table, "form").unwrap_or_else(|| match inferred {
        Some("answer") => "number".to_owned(),
        Some(_) => "order".to_owned(),
        None => "choice".to_owned(),
    });
    match form.as_str() {
        "number" => number_form(reader, typed, item, path),
        "choice" | "multi" => choice_form(reader, item, form == "multi"),
        "order" => {
            let items = reader.localized_list(table, "items");
            if items.len() < 2 {
                let what = "a question of form \"order\" needs `items`, at least two of them in the right order";
                reader.fail("missing-field", &item.header, what.to_owned(), None);
            }
            Some(Form::Order { items })
        }
        "sketch" => sketch_form(reader, item, path).map(Form::Sketch),
        _ => None,
    }
}

/// A curve has no answer of its own: the run that reveals it is the truth.
fn sketch_form(reader: &mut Reader<'_>, item: &Item, path: &str) -> Option<Sketch> {
    let table = &item.table;
    if text(table, "kind").as_deref() != Some("predict") {
        let span = span_of(reader, &format!("{path}.form"), &item.header);
        let what = "a curve is drawn in a step of kind \"predict\" only".to_owned();
        reader.fail("wrong-form", &span, what, Some("ask for a number, a choice or an order here".to_owned()));
    }
    for (key, help) in [
        ("revealed_by", "the id of the experiment step on whose axes the curve is drawn"),
        ("min", "the lower end of the y axis"),
        ("max", "the upper end of the y axis"),
    ] {
        if table.get(key).is_none() {
            let what = format!("a prediction of form \"sketch\" needs the field \"{key}\"");
            reader.fail("missing-field", &item.header, what, Some(help.to_owned()));
        }
    }
    for key in ["answer", "unit", "tolerance", "at", "option", "items", "redraw"] {
        if table.get(key).is_some() {
            let span = span_of(reader, &format!("{path}.{key}"), &item.header);
            let what = format!("a prediction of form \"sketch\" has no use for \"{key}\"");
            let help = "the truth, its unit and its places come from the experiment".to_owned();
            reader.note("unknown-field", &span, what, Some(help));
        }
    }
    let (min, max) = (number(table, "min")?, number(table, "max")?);
    if min >= max {
        let span = span_of(reader, &format!("{path}.max"), &item.header);
        reader.fail("out-of-range", &span, format!("the y axis ends at {max} and begins at {min}"), None);
    }
    Some(Sketch { run: text(table, "run"), series: text(table, "series"), min, max })
}

fn number_form(reader: &mut Reader<'_>, typed: &mut Typed, item: &Item, path: &str) -> Option<Form> {
    let table = &item.table;
    for (key, help) in [
        ("answer", "answer = { model = \"coalescing\", set = { stride_bytes = 8 }, take = \"sectors\" }"),
        ("unit", "a number needs its unit; write unit = \"1\" if it has none"),
        ("min", "the left end of the ruler on which the number is guessed"),
        ("max", "the right end of the ruler on which the number is guessed"),
    ] {
        if table.get(key).is_none() {
            let rule = if key == "unit" { "no-unit" } else { "missing-field" };
            let what = format!("a question of form \"number\" needs the field \"{key}\"");
            reader.fail(rule, &item.header, what, Some(help.to_owned()));
        }
    }
    let unit = text(table, "unit");
    if unit.as_deref().is_some_and(|unit| unit.trim().is_empty()) {
        let span = span_of(reader, &format!("{path}.unit"), &item.header);
        let what = "a number needs its unit".to_owned();
        reader.fail("no-unit", &span, what, Some("write unit = \"1\" if it has none".to_owned()));
    }
    let tolerance = number(table, "tolerance").unwrap_or(0.0);
    if !(0.0..=1.0).contains(&tolerance) {
        let span = span_of(reader, &format!("{path}.tolerance"), &item.header);
        let what = format!("tolerance = {tolerance} is not allowed; it is relative and must be from 0 to 1");
        reader.fail("out-of-range", &span, what, Some("5 % is written 0.05".to_owned()));
    }
    let (min, max) = (number(table, "min"), number(table, "max"));
    if let (Some(min), Some(max)) = (min, max)
        && min >= max
    {
        let span = span_of(reader, &format!("{path}.max"), &item.header);
        reader.fail("out-of-range", &span, format!("the ruler ends at {max} and begins at {min}"), None);
    }
    let answer = answer(reader, typed, item, path);
    Some(Form::Number { answer: answer?, unit: unit?, tolerance, min: min?, max: max? })
}

fn answer(reader: &mut Reader<'_>, typed: &mut Typed, item: &Item, path: &str) -> Option<Answer> {
    let table = inner(&item.table, "answer")?;
    let path = format!("{path}.answer");
    let span = span_of(reader, &path, &item.header);
    let value = number(table, "value");
    if table.get("model").is_some() {
        if table.get("take").is_none() {
            let what = "an answer from a model needs the field \"take\"".to_owned();
            reader.fail(
                "missing-field",
                &span,
                what,
                Some("take = \"sectors\" names a field of its answer".to_owned()),
            );
        }
        typed.extend(value.map(|value| (path, value)));
        return Some(Answer::Model(ModelRef {
            model: text(table, "model")?,
            set: set_of(table),
            take: text(table, "take")?,
        }));
    }
    for key in ["set", "take"].into_iter().filter(|key| table.get(key).is_some()) {
        reader.fail("missing-field", &span, format!("an answer with \"{key}\" needs the field \"model\""), None);
    }
    let source = text(table, "source").filter(|source| !source.trim().is_empty());
    if value.is_none() || source.is_none() {
        let what = "an answer is either { model, set, take } or { value, source }".to_owned();
        let help = "a number that no model computes needs its source".to_owned();
        reader.fail("missing-field", &span, what, Some(help));
    }
    Some(Answer::Typed { value: value?, source: source? })
}

fn set_of(table: &Table) -> Map {
    params(table, "set")
}

fn choice_form(reader: &mut Reader<'_>, item: &Item, is_multi: bool) -> Option<Form> {
    let table = &item.table;
    let options: Vec<Choice> = tables(table, "option")
        .into_iter()
        .map(|option| Choice {
            text: reader.localized(option, "text"),
            is_right: is_true(option, "right"),
            why: reader.localized(option, "why"),
        })
        .collect();
    let n_right = options.iter().filter(|option| option.is_right).count();
    let span = match table.get("option") {
        Some(node) if !matches!(node.data, Data::List(_)) => return None,
        _ => item.header.clone(),
    };
    if options.len() < 2 {
        let what = format!("a question with options needs at least two; it has {}", options.len());
        let help = "write [[step.option]] for each, or `answer` for a number, or `items` for an order";
        reader.fail("missing-field", &span, what, Some(help.to_owned()));
    } else if n_right == 0 || (n_right > 1 && !is_multi) {
        let what = format!("{n_right} options are marked `right = true`; a choice has one");
        reader.fail("wrong-options", &span, what, Some("form = \"multi\" allows several".to_owned()));
    }
    Some(if is_multi { Form::Multi { options } } else { Form::Choice { options } })
}

fn span_of(reader: &Reader<'_>, path: &str, otherwise: &Span) -> Span {
    reader.spans.get(path).unwrap_or(otherwise).clone()
}
