//! Makes a [`Figure`] from a validated table: names, formulas and units checked, every limit held. The drawings are in
//! `parts.rs`, `graph.rs` and `sheet.rs`. What needs the models is asked later, by the checker.

use super::fields::DRAWINGS;
use super::scope::Scope;
use super::{
    Case, Drawing, Figure, MAX_CASES, MAX_MODELS, MAX_SLIDERS, MAX_VALUES, NamedValue, Slider, ValueSource, graph,
    n_values, names_in, parts, sheet,
};
use crate::build::model_ref;
use crate::read::{Reader, inner, is_true, number, tables, text};
use crate::tree::{Data, Item, Table};
use vramlab_units::{Localized, Unit};

/// Largest magnitude of a slider's end, and most positions of one.
const MAX_END: f64 = 1e15;
const MAX_POSITIONS: f64 = 1e6;
/// Most values that one caption names, and that one question to a model holds.
const MAX_NAMES: usize = 64;
const MAX_SET: usize = 512;

pub fn figure(reader: &mut Reader<'_>, item: &Item, path: &str) -> Option<Figure> {
    let table = &item.table;
    let (text_above, alt) = (reader.localized(table, "text"), reader.localized(table, "alt"));
    let caption = reader.localized(table, "caption");
    let values = tables(table, "value");
    let later = values.iter().filter_map(|value| text(value, "name")).collect();
    let mut scope = Scope::new(reader, item.header.clone(), later);
    let n_fatal = scope.reader.n_fatal;
    let sliders = sliders(&mut scope, table, path);
    let values = named_values(&mut scope, &values, path);
    let drawing = drawing(&mut scope, table, path, &sliders);
    let cases = cases(&mut scope, table, path);
    captions(&mut scope, &caption, &format!("{path}.caption"));
    let key = keys(&mut scope, table, path);
    (scope.reader.n_fatal == n_fatal).then_some(())?;
    Some(Figure { text: text_above, alt, caption, cases, sliders, values, key, drawing: drawing? })
}

fn sliders(scope: &mut Scope<'_, '_>, table: &Table, path: &str) -> Vec<Slider> {
    let list = tables(table, "slider");
    scope.is_short(list.len(), MAX_SLIDERS, "sliders", &format!("{path}.slider"));
    let mut out = Vec::new();
    for (idx, from) in list.into_iter().enumerate().take(MAX_SLIDERS) {
        let path = format!("{path}.slider[{idx}]");
        scope.declare(from, &path);
        out.extend(slider(scope, from, &path));
    }
    out
}

fn slider(scope: &mut Scope<'_, '_>, table: &Table, path: &str) -> Option<Slider> {
    let slider = Slider {
        name: text(table, "name")?,
        means: scope.reader.localized(table, "means"),
        unit: text(table, "unit")?,
        min: number(table, "min")?,
        max: number(table, "max")?,
        step: number(table, "step")?,
        start: number(table, "start")?,
        is_log: is_true(table, "log"),
    };
    let Slider { name, min, max, step, start, .. } = &slider;
    let (key, what) = if max <= min {
        ("max", format!("the slider {name} ends at {max} and begins at {min}"))
    } else if min.abs() > MAX_END || max.abs() > MAX_END {
        ("max", format!("the slider {name} reaches {max:e}; its ends may be up to {MAX_END:e}"))
    } else if *step <= 0.0 {
        ("step", format!("the step of {name} is {step}; it must be more than 0"))
    } else if (max - min) / step > MAX_POSITIONS {
        ("step", format!("the slider {name} has more than {MAX_POSITIONS} positions"))
    } else if !(min..=max).contains(&start) {
        ("start", format!("the slider {name} starts at {start}, outside {min} to {max}"))
    } else if slider.is_log && *min <= 0.0 {
        ("min", format!("a logarithmic slider begins above 0; {name} begins at {min}"))
    } else {
        return Some(slider);
    };
    scope.fail("out-of-range", &format!("{path}.{key}"), what, Some("min < max, step > 0, start between the two"));
    None
}

fn named_values(scope: &mut Scope<'_, '_>, list: &[&Table], path: &str) -> Vec<NamedValue> {
    scope.is_short(list.len(), MAX_VALUES, "values", &format!("{path}.value"));
    let mut out: Vec<NamedValue> = Vec::new();
    for (idx, from) in list.iter().enumerate().take(MAX_VALUES) {
        let path = format!("{path}.value[{idx}]");
        let source = value_source(scope, from, &path);
        scope.declare(from, &path);
        if let (Some(source), Some(name), Some(unit)) = (source, text(from, "name"), text(from, "unit")) {
            out.push(NamedValue { name, means: scope.reader.localized(from, "means"), unit, source });
        }
    }
    let models: Vec<usize> = (0..out.len()).filter(|idx| matches!(out[*idx].source, ValueSource::Model(_))).collect();
    if let Some(idx) = models.get(MAX_MODELS) {
        let what = format!("{} values ask a model; a figure may have {MAX_MODELS}", models.len());
        scope.fail(
            "too-costly",
            &format!("{path}.value[{idx}]"),
            what,
            Some("take several numbers from one answer less"),
        );
    }
    out
}

fn value_source(scope: &mut Scope<'_, '_>, table: &Table, path: &str) -> Option<ValueSource> {
    let given = ["constant", "formula", "from"].iter().filter(|key| table.get(key).is_some()).count();
    if given != 1 {
        let name = text(table, "name").unwrap_or_default();
        let what = format!("the value {name} needs exactly one of constant, formula and from; it has {given}");
        scope.fail("missing-field", path, what, None);
        return None;
    }
    if let Some(value) = number(table, "constant") {
        return Some(ValueSource::Constant(value));
    }
    if let Some(from) = inner(table, "from").and_then(model_ref) {
        if n_values(&from) > MAX_SET {
            let what = format!("a question to a model may hold {MAX_SET} values");
            scope.fail("too-large", &format!("{path}.from"), what, None);
            return None;
        }
        let mut is_known = true;
        for name in names_in(&from) {
            let whole = scope.span(&format!("{path}.from"));
            let span = scope.reader.source.find_within(&whole, &format!("${name}"));
            is_known &= scope.use_name(&name, &span);
        }
        return is_known.then_some(ValueSource::Model(from));
    }
    let expr = scope.expr(table, "formula", path)?;
    let (unit, name) = (text(table, "unit")?, text(table, "name")?);
    let (has, wants) = (Unit::parse(&expr.unit).ok()?, Unit::parse(&unit).ok()?);
    if has != wants {
        let what = format!("the formula of {name} gives {has}, and its unit is {unit}");
        scope.is_doubtful = true;
        let factor = wants.clone().times(&has, -1);
        let help = format!("write unit = \"{has}\", or multiply by a constant in {factor}");
        scope.fail("unlike-units", &format!("{path}.formula"), what, Some(&help));
        return None;
    }
    Some(ValueSource::Formula(expr.formula))
}

fn drawing(scope: &mut Scope<'_, '_>, table: &Table, path: &str, sliders: &[Slider]) -> Option<Drawing> {
    let draw = text(table, "draw")?;
    let (_, own) = DRAWINGS.iter().find(|(name, _)| *name == draw)?;
    for entry in &table.entries {
        let owner = DRAWINGS.iter().find(|(_, fields)| fields.contains(&entry.key.as_str()));
        if let Some((owner, _)) = owner.filter(|_| !own.contains(&entry.key.as_str())) {
            let what = format!("a figure with draw = \"{draw}\" has no field \"{}\"", entry.key);
            let help = format!("it belongs to draw = \"{owner}\"; here there are {}", own.join(", "));
            scope.reader.fail("unknown-field", &entry.key_span, what, Some(help));
        }
    }
    match draw.as_str() {
        "line" => parts::lines(scope, table, path, sliders).map(Drawing::Line),
        "bar" => parts::bars(scope, table, path).map(Drawing::Bar),
        "bytes" => parts::bytes(scope, table, path).map(Drawing::Bytes),
        "gantt" => parts::gantt(scope, table, path).map(Drawing::Gantt),
        "graph" => graph::graph(scope, table, path).map(Drawing::Graph),
        _ => sheet::sheet(scope, table, path, sliders).map(Drawing::Table),
    }
}

fn cases(scope: &mut Scope<'_, '_>, table: &Table, path: &str) -> Vec<Case> {
    let list = tables(table, "case");
    scope.is_short(list.len(), MAX_CASES, "cases", &format!("{path}.case"));
    let mut out = Vec::new();
    for (idx, from) in list.into_iter().enumerate().take(MAX_CASES) {
        let path = format!("{path}.case[{idx}]");
        let caption = scope.reader.localized(from, "caption");
        captions(scope, &caption, &format!("{path}.caption"));
        out.extend(scope.expr(from, "when", &path).map(|when| Case { when, caption }));
    }
    out
}

/// Every `$name` of a caption must be a name of the figure.
fn captions(scope: &mut Scope<'_, '_>, caption: &Localized, path: &str) {
    for (code, words) in [("zh", &caption.zh), ("en", &caption.en)] {
        let Some(words) = words else { continue };
        let path = match scope.reader.spans.contains_key(&format!("{path}.{code}")) {
            true => format!("{path}.{code}"),
            false => path.to_owned(),
        };
        if dollar_names(words).nth(MAX_NAMES).is_some() {
            let what = format!("the caption names more than {MAX_NAMES} values");
            scope.fail("too-large", &path, what, Some("say less at once"));
        }
        for name in dollar_names(words).take(MAX_NAMES) {
            let span = scope.reader.source.find_within(&scope.span(&path), &format!("${name}"));
            scope.use_name(name, &span);
        }
    }
}

/// Names behind a `$`; an amount such as `$5` is none.
fn dollar_names(words: &str) -> impl Iterator<Item = &str> {
    words.split('$').skip(1).filter_map(|after| {
        let len = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
        Some(&after[..len]).filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
    })
}

fn keys(scope: &mut Scope<'_, '_>, table: &Table, path: &str) -> Vec<String> {
    let Some(Data::List(list)) = table.get("key").map(|node| &node.data) else { return Vec::new() };
    scope.is_short(list.len(), 8, "key numbers", &format!("{path}.key"));
    let mut out = Vec::new();
    for node in list {
        if let Data::Text(name) = &node.data
            && scope.use_name(name, &node.span)
        {
            out.push(name.clone());
        }
    }
    out
}
