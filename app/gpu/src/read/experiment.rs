//! `experiment.toml` and `NAME.experiment.toml`.

use super::kernel::point_names;
use super::lens::{self, LensNames};
use super::names::{Names, formula};
use super::tree::{Doc, Table, hint, json};
use crate::lens::LensKind;
use crate::manifest::{
    Cause, Counter, Effect, Experiment, Formulas, Kernel, Mark, Measure, Need, Param, Predict, Series, Sweep,
};
use crate::plan::split_reference;
use crate::predict::literal;
use crate::verdict::{metric_name, names as verdict_names};
use std::collections::BTreeMap;
use vramlab_model::Entry as Model;
use vramlab_trace::Backend;
use vramlab_units::{Localized, Map, Value};

/// Longest a full run may take, in seconds.
pub const MAX_SECS: f64 = 12.0;
const MAX_SAMPLES: f64 = 1_000.0;
const MAX_POINTS: usize = 512;
const SCALES: [&str; 3] = ["log2", "linear", "category"];

/// Reads the experiment `id` over its kernel. What was wrong is in `doc`.
pub fn read(doc: &Doc<'_>, id: &str, kernel: &Kernel) -> Option<Experiment> {
    let root = doc.parse()?;
    let span = 0..doc.text.find('\n').unwrap_or(doc.text.len());
    let table = Table::new(doc, root.get_ref(), span);
    let names = point_names(kernel);
    let backend = backend(&table, kernel);
    let sweep = sweep(&table, kernel);
    let series = all_series(&table, kernel, &names, &sweep);
    let plan = plan(&table, kernel, &sweep);
    let needs = needs(&table, &names);
    let counters = counters(&table, &names, &series);
    let cycles = kernel.cuda.as_ref().map(|cuda| cuda.cycles.as_slice()).unwrap_or_default();
    let reads_freely = backend == Backend::Cpu || kernel.cuda_host.is_some();
    let measured = measured_names(&names, cycles, reads_freely, &counters);
    let measure = measure(&table, &names, &measured);
    let effect = effect(&table, &measured, &sweep, &series);
    let cx = LensNames { names: &names, measured: &measured, answer: shared_answer(&series) };
    let (lenses, absent) = lens::read(&table, &cx, measure.lens);
    let experiment = Experiment {
        schema: table.schema(),
        id: id.to_owned(),
        title: table.localized("title"),
        asks: table.localized("asks"),
        backend,
        sweep,
        series,
        plan,
        needs,
        measure,
        marks: marks(&table),
        effect,
        time_secs: time_secs(&table),
        samples: samples(&table),
        counters,
        lenses,
        absent,
    };
    table.finish();
    Some(experiment)
}

fn backend(table: &Table<'_, '_>, kernel: &Kernel) -> Backend {
    let word = table.text("backend");
    let complain = |what: String, help: Option<String>| {
        table.doc.problem("unknown-id", table.span_of("backend"), what, help);
    };
    let (backend, has_part) = match word.as_str() {
        "cuda" => (Backend::Cuda, kernel.runs_on_cuda()),
        "cpu" => (Backend::Cpu, kernel.cpu.is_some()),
        _ => {
            if table.get("backend").is_some() {
                complain(format!("there is no back end \"{word}\""), hint(&word, ["cuda", "cpu"]));
            }
            return Backend::Cpu;
        }
    };
    if !has_part {
        let what = format!("kernel \"{}\" has no [{word}] part", kernel.slug);
        complain(what, Some(format!("write [{word}] in its kernel.toml")));
    }
    backend
}

fn sweep(table: &Table<'_, '_>, kernel: &Kernel) -> Sweep {
    let empty = Sweep {
        param: String::new(),
        title: Localized::default(),
        values: vec![],
        quick: vec![],
        scale: String::new(),
        labels: vec![],
    };
    let Some(item) = table.need_table("sweep") else { return empty };
    item.need("values");
    let sweep = Sweep {
        param: item.text("param"),
        title: item.opt_table("title").map(label).unwrap_or_default(),
        values: item.opt_numbers("values"),
        quick: item.opt_numbers("quick"),
        scale: item.opt_text("scale").unwrap_or_default(),
        labels: item.tables("labels").into_iter().map(label).collect(),
    };
    check_sweep(&item, &sweep, kernel);
    item.finish();
    sweep
}

fn label(item: Table<'_, '_>) -> Localized {
    let text = Localized { zh: item.opt_text("zh"), en: item.opt_text("en") };
    if text.zh.is_none() || text.en.is_none() {
        item.doc.warning("missing-translation", item.span.clone(), "a label misses a language", None);
    }
    item.finish();
    text
}

fn check_sweep(item: &Table<'_, '_>, sweep: &Sweep, kernel: &Kernel) {
    let complain = |rule, field: &str, what: String, help: Option<String>| {
        item.doc.problem(rule, item.span_of(field), what, help);
    };
    match find_param(kernel, &sweep.param) {
        Some(param) => {
            for value in sweep.values.iter().filter(|value| !param.allows(**value)) {
                let what = format!("sweep: {} = {value} must be {}", param.key, param.legal());
                complain("bad-range", "values", what, None);
            }
        }
        None if item.get("param").is_some() => {
            let what = format!("the kernel has no parameter \"{}\"", sweep.param);
            complain("unknown-name", "param", what, hint(&sweep.param, param_keys(kernel)));
        }
        None => {}
    }
    let is_sorted = |list: &[f64]| list.windows(2).all(|pair| pair[0] < pair[1]);
    if !is_sorted(&sweep.values) || (sweep.values.is_empty() && item.get("values").is_some()) {
        complain("bad-range", "values", "sweep.values must rise and hold at least one value".into(), None);
    }
    if !is_sorted(&sweep.quick) || sweep.quick.iter().any(|value| !sweep.values.contains(value)) {
        complain("bad-range", "quick", "sweep.quick must rise and hold only values of sweep.values".into(), None);
    }
    if !sweep.scale.is_empty() && !SCALES.contains(&sweep.scale.as_str()) {
        let what = format!("there is no scale \"{}\"", sweep.scale);
        complain("unknown-id", "scale", what, hint(&sweep.scale, SCALES));
    }
    if sweep.scale == "log2" && sweep.values.iter().any(|value| *value <= 0.0) {
        complain("bad-range", "scale", "a log2 axis needs positive values".into(), None);
    }
    if !sweep.labels.is_empty() && sweep.labels.len() != sweep.values.len() {
        let what = format!("{} labels for {} values", sweep.labels.len(), sweep.values.len());
        complain("bad-range", "labels", what, None);
    }
}

fn find_param<'a>(kernel: &'a Kernel, key: &str) -> Option<&'a Param> {
    kernel.params.iter().find(|param| param.key == key)
}

fn param_keys(kernel: &Kernel) -> impl Iterator<Item = &str> {
    kernel.params.iter().map(|param| param.key.as_str())
}

fn all_series(table: &Table<'_, '_>, kernel: &Kernel, names: &Names, sweep: &Sweep) -> Vec<Series> {
    table.need("series");
    let mut out: Vec<Series> = Vec::new();
    for item in table.tables("series") {
        let id = item.text("id");
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        if id.is_empty() || !id.chars().all(is_plain) || out.iter().any(|known| known.id == id) {
            let what = format!("\"{id}\" is not a new series id; use letters, digits, _ and -");
            item.doc.problem("bad-name", item.span_of("id"), what, None);
        }
        let set = series_set(&item, kernel, sweep);
        let title = item.localized("title");
        let predict = item.need_table("predict").map(|predict| read_predict(predict, names));
        item.finish();
        if let Some(predict) = predict {
            out.push(Series { id, title, set, predict });
        }
    }
    if out.len() * sweep.values.len() > MAX_POINTS {
        let what = format!("{} points; an experiment may have {MAX_POINTS}", out.len() * sweep.values.len());
        table.doc.problem("bad-range", table.span_of("series"), what, None);
    }
    out
}

fn series_set(item: &Table<'_, '_>, kernel: &Kernel, sweep: &Sweep) -> Map {
    let mut out = Map::new();
    let Some(set) = item.opt_table("set") else { return out };
    for (key, span, node) in set.entries() {
        let value = super::tree::number(node.get_ref());
        match (find_param(kernel, &key), value) {
            (None, _) => {
                let what = format!("the kernel has no parameter \"{key}\"");
                item.doc.problem("unknown-name", span, what, hint(&key, param_keys(kernel)));
            }
            (Some(_), _) if key == sweep.param => {
                item.doc.problem("bad-name", span, format!("\"{key}\" is the x axis; a series cannot fix it"), None);
            }
            (Some(param), Some(value)) if param.allows(value) => {
                out.insert(key, crate::vars::json_number(value));
            }
            (Some(param), _) => {
                item.doc.problem("bad-range", node.span(), format!("{key} must be {}", param.legal()), None);
            }
        }
    }
    out
}

fn read_predict(item: Table<'_, '_>, names: &Names) -> Predict {
    let id = item.text("model");
    let model = vramlab_model::find(&id);
    if model.is_none() && item.get("model").is_some() {
        let known = vramlab_model::MODELS.iter().map(|entry| entry.id);
        item.doc.problem("unknown-id", item.span_of("model"), format!("there is no model \"{id}\""), hint(&id, known));
    }
    let mut set = BTreeMap::new();
    if let Some(table) = item.opt_table("set") {
        for (field, span, node) in table.entries() {
            if let Some(model) = model {
                check_question_field(&item, model, &field, span);
            }
            let value = question_value(&item, model, &field, node, names);
            set.insert(field, value);
        }
    }
    let take = item.text("take");
    if let Some(model) = model {
        check_answer(&item, model, &set, &take);
    }
    let fields = model.map(model_fields).unwrap_or_default();
    let then = item.opt_formula("then", &names.clone().with(fields));
    item.finish();
    Predict { model: id, set, take, then }
}

/// Every field of a model's question and answer.
fn model_fields(model: &Model) -> Vec<String> {
    (model.answer)().into_iter().chain((model.question)()).map(|field| field.key.to_string()).collect()
}

fn check_question_field(item: &Table<'_, '_>, model: &Model, field: &str, span: std::ops::Range<usize>) {
    let question = (model.question)();
    if !question.iter().any(|spec| spec.key == field) {
        let what = format!("model \"{}\" asks for no \"{field}\"", model.id);
        item.doc.problem("unknown-field", span, what, hint(field, question.iter().map(|spec| spec.key.as_ref())));
    }
}

fn question_value(
    item: &Table<'_, '_>,
    model: Option<&Model>,
    field: &str,
    node: &toml::Spanned<toml::de::DeValue<'_>>,
    names: &Names,
) -> Value {
    let path = format!("predict.set.{field}");
    let text = node.get_ref().as_str();
    if text.is_some_and(|text| literal(text).is_none()) {
        return formula(item.doc, &path, node, names).into();
    }
    let Some(value) = json(node.get_ref()) else {
        item.doc.problem("wrong-kind", node.span(), format!("{path} must be a number, a text or a list"), None);
        return Value::Null;
    };
    // Constants are held against the model's own range at once.
    let constant = text.and_then(literal).map_or_else(|| value.clone(), Value::from);
    let spec = model.and_then(|model| (model.question)().into_iter().find(|spec| spec.key == field));
    if let Some(Err(error)) = spec.filter(|_| !value.is_array()).map(|spec| spec.check(&constant)) {
        item.doc.problem("bad-range", node.span(), format!("{path}: {error}"), None);
    }
    value
}

fn check_answer(item: &Table<'_, '_>, model: &Model, set: &BTreeMap<String, Value>, take: &str) {
    for spec in (model.question)() {
        if spec.default.is_none() && !spec.is_optional && !set.contains_key(spec.key.as_ref()) {
            let what = format!("model \"{}\" needs set.{}: {}", model.id, spec.key, spec.doc.en);
            item.doc.problem("missing-field", item.span.clone(), what, None);
        }
    }
    let answer = (model.answer)();
    if item.get("take").is_some() && !answer.iter().any(|spec| spec.key == take) {
        let what = format!("model \"{}\" answers no \"{take}\"", model.id);
        let known = answer.iter().map(|spec| spec.key.as_ref());
        item.doc.problem("unknown-field", item.span_of("take"), what, hint(take, known));
    }
}

/// `[plan]`: sizes over the device's facts, the budget and the parameters; each key is a parameter of the kernel.
fn plan(table: &Table<'_, '_>, kernel: &Kernel, sweep: &Sweep) -> Formulas {
    let names = Names::device().with(param_keys(kernel)).with(["budget_bytes"]);
    let Some(item) = table.opt_table("plan") else { return Formulas::default() };
    let mut out = Formulas::default();
    for (key, span, node) in item.entries() {
        if find_param(kernel, &key).is_none() || key == sweep.param {
            let what = format!("plan.{key}: only a parameter of the kernel that is not swept can be planned");
            item.doc.problem("unknown-name", span, what, hint(&key, param_keys(kernel)));
        }
        let text = formula(item.doc, &format!("plan.{key}"), node, &names);
        out.0.push((key, text));
    }
    out
}

fn needs(table: &Table<'_, '_>, names: &Names) -> Vec<Need> {
    let names = names.clone().with(["budget_bytes"]);
    let need = |item: Table<'_, '_>| {
        let need = Need { holds: item.formula("holds", &names), says: item.localized("says") };
        item.finish();
        need
    };
    table.tables("needs").into_iter().map(need).collect()
}

fn marks(table: &Table<'_, '_>) -> Vec<Mark> {
    let mark = |item: Table<'_, '_>| {
        let mark = Mark { from: item.number("from"), to: item.number("to"), says: item.localized("says") };
        if mark.from >= mark.to {
            let what = format!("a mark goes from a smaller to a larger value, not from {} to {}", mark.from, mark.to);
            item.doc.problem("bad-range", item.span.clone(), what, None);
        }
        item.finish();
        mark
    };
    table.tables("mark").into_iter().map(mark).collect()
}

/// Names of a measured point: what it is known by, its time, its readings and counters.
fn measured_names(names: &Names, cycles: &[String], reads_freely: bool, counters: &[Counter]) -> Names {
    let mut out = names.clone().with(verdict_names::SENSORS.iter().copied()).with(["time_ns"]);
    out = out.with(cycles.iter().flat_map(|name| [name.clone(), format!("reading.{name}")]));
    out = out.with(counters.iter().map(|counter| format!("counter.{}", metric_name(&counter.metric))));
    // A routine names its readings itself.
    if reads_freely { out.family("reading.") } else { out }
}

fn measure(table: &Table<'_, '_>, names: &Names, measured: &Names) -> Measure {
    let Some(item) = table.need_table("measure") else {
        let (value, unit, scale, lens) = Default::default();
        return Measure { value, unit, title: Localized::default(), at_most: None, at_least: None, scale, lens };
    };
    let lens = if item.get("lens").is_some() { lens::kind(&item, "lens") } else { None };
    let measure = Measure { lens: lens.unwrap_or_default(), ..read_measure(&item, names, measured) };
    item.finish();
    measure
}

/// The fields that a measure and a lens share.
pub fn read_measure(item: &Table<'_, '_>, names: &Names, measured: &Names) -> Measure {
    let limit = names.clone().with(verdict_names::SENSORS.iter().copied());
    let measure = Measure {
        value: item.formula("value", measured),
        unit: item.text("unit"),
        title: item.localized("title"),
        at_most: item.opt_formula("at_most", &limit),
        at_least: item.opt_formula("at_least", &limit),
        scale: item.opt_text("scale").unwrap_or_default(),
        lens: LensKind::default(),
    };
    if item.get("unit").is_some() && measure.unit.trim().is_empty() {
        let what = "measure has no unit; a plain count has unit \"1\"";
        item.doc.problem("missing-unit", item.span_of("unit"), what, None);
    }
    if !measure.scale.is_empty() && !["log2", "log10", "linear"].contains(&measure.scale.as_str()) {
        let what = format!("there is no scale \"{}\"", measure.scale);
        item.doc.problem("unknown-id", item.span_of("scale"), what, hint(&measure.scale, ["log2", "log10", "linear"]));
    }
    measure
}

fn effect(table: &Table<'_, '_>, measured: &Names, sweep: &Sweep, series: &[Series]) -> Effect {
    let Some(item) = table.need_table("effect") else {
        let (larger, smaller) = Default::default();
        return Effect { larger, smaller, at_least: 1.0, sentence: Localized::default(), causes: vec![] };
    };
    // Bare names are the larger point's.
    let judged = measured.clone().with(verdict_names::JUDGED.iter().copied());
    let when = judged.prefixed(&["larger.", "smaller."]).with(verdict_names::PAIR.iter().copied());
    let effect = Effect {
        larger: item.text("larger"),
        smaller: item.text("smaller"),
        at_least: item.number("at_least"),
        sentence: item.localized("sentence"),
        causes: item.tables("hidden_by").into_iter().map(|cause| read_cause(cause, &when)).collect(),
    };
    for (field, reference) in [("larger", &effect.larger), ("smaller", &effect.smaller)] {
        check_reference(&item, field, reference, sweep, series);
    }
    if item.get("at_least").is_some() && effect.at_least <= 0.0 {
        let what = format!("at_least = {}; a ratio is above 0", effect.at_least);
        item.doc.problem("bad-range", item.span_of("at_least"), what, None);
    }
    item.finish();
    effect
}

fn read_cause(item: Table<'_, '_>, names: &Names) -> Cause {
    let cause = Cause { id: item.text("id"), when: item.formula("when", names), says: item.localized("says") };
    item.finish();
    cause
}

/// `series@x` must be a point that quick runs measure, too.
fn check_reference(item: &Table<'_, '_>, field: &'static str, reference: &str, sweep: &Sweep, series: &[Series]) {
    if item.get(field).is_none() {
        return;
    }
    let complain = |what: String, help: Option<String>| item.doc.problem("bad-point", item.span_of(field), what, help);
    let Some((id, x)) = split_reference(reference) else {
        return complain(format!("{field} = \"{reference}\" is not SERIES@X"), Some("e.g. \"stride@8\"".into()));
    };
    if !series.iter().any(|known| known.id == id) {
        let known = series.iter().map(|known| known.id.as_str());
        complain(format!("{field}: there is no series \"{id}\""), hint(id, known));
    }
    if !sweep.values.contains(&x) {
        complain(format!("{field}: {x} is not among sweep.values"), None);
    } else if !sweep.quick.is_empty() && !sweep.quick.contains(&x) {
        complain(format!("{field}: {x} is not among sweep.quick, so a quick run could not show the effect"), None);
    }
}

fn time_secs(table: &Table<'_, '_>) -> f64 {
    let secs = table.number("time_secs");
    if table.get("time_secs").is_some() && !(secs > 0.0 && secs <= MAX_SECS) {
        let what = format!("time_secs = {secs} must be above 0 and at most {MAX_SECS}");
        table.doc.problem("bad-range", table.span_of("time_secs"), what, None);
    }
    secs
}

fn samples(table: &Table<'_, '_>) -> [u32; 2] {
    let default = [9, 31];
    let given = table.opt_numbers("samples");
    if table.get("samples").is_none() {
        return default;
    }
    let is_count = |n: &f64| n.fract() == 0.0 && (3.0..=MAX_SAMPLES).contains(n);
    match given[..] {
        [quick, full] if is_count(&quick) && is_count(&full) && quick <= full => [quick as u32, full as u32],
        _ => {
            let what = format!("samples must be [quick, full], whole numbers from 3 to {MAX_SAMPLES}");
            table.doc.problem("bad-range", table.span_of("samples"), what, None);
            default
        }
    }
}

/// Fields of the answer that every series' model gives.
fn shared_answer(series: &[Series]) -> Vec<String> {
    let answers = |series: &Series| -> Vec<String> {
        let model = vramlab_model::find(&series.predict.model);
        model.map(|model| (model.answer)().iter().map(|spec| spec.key.to_string()).collect()).unwrap_or_default()
    };
    let mut shared = series.first().map(answers).unwrap_or_default();
    for other in series.iter().skip(1).map(answers) {
        shared.retain(|field| other.contains(field));
    }
    shared
}

/// `[[counter]]`: `equals` may use `model.FIELD`, a field of the answer that every series' model gives.
fn counters(table: &Table<'_, '_>, names: &Names, series: &[Series]) -> Vec<Counter> {
    let names = names.clone().with(shared_answer(series).iter().map(|field| format!("model.{field}")));
    let counter = |item: Table<'_, '_>| {
        let counter = Counter {
            metric: item.text("metric"),
            equals: item.formula("equals", &names),
            tolerance: item.opt_number("tolerance").unwrap_or(0.0),
            means: item.localized("means"),
        };
        if !(0.0..1.0).contains(&counter.tolerance) {
            let what = "tolerance must be from 0 to below 1";
            item.doc.problem("bad-range", item.span_of("tolerance"), what, None);
        }
        item.finish();
        counter
    };
    table.tables("counter").into_iter().map(counter).collect()
}
