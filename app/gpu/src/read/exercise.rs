//! `exercise.toml`: the task over a kernel.

use super::tree::{Doc, Table, hint, json};
use crate::exercise::{Exercise, Goal, Metric};
use crate::manifest::Kernel;
use vramlab_units::{Localized, Map, Value};

/// Reads the exercise of folder `slug`. What was wrong is in `doc`; `files` are the names beside it.
pub fn read(doc: &Doc<'_>, slug: &str, kernel: &Kernel, files: &[&str]) -> Option<Exercise> {
    let root = doc.parse()?;
    let table = Table::new(doc, root.get_ref(), 0..doc.text.find('\n').unwrap_or(doc.text.len()));
    let exercise = Exercise {
        schema: table.schema(),
        slug: slug.to_owned(),
        title: table.localized("title"),
        task: table.localized("task"),
        start: source(&table, "start", files),
        solution: source(&table, "solution", files),
        params: params(&table, kernel),
        goals: table.tables("goal").into_iter().filter_map(goal).collect(),
        hints: table.tables("hint").into_iter().map(said).collect(),
    };
    if exercise.goals.is_empty() && !doc.has_errors() {
        doc.problem("no-goal", table.span_of("goal"), "an exercise needs at least one [[goal]]", None);
    }
    table.finish();
    Some(exercise)
}

fn source(table: &Table<'_, '_>, key: &'static str, files: &[&str]) -> String {
    let name = table.text(key);
    if !name.is_empty() && !files.contains(&name.as_str()) {
        let what = format!("there is no file \"{name}\" beside it");
        table.doc.problem("missing-file", table.span_of(key), what, hint(&name, files.iter().copied()));
    }
    name
}

fn params(table: &Table<'_, '_>, kernel: &Kernel) -> Map {
    let mut out = Map::new();
    let Some(given) = table.opt_table("params") else { return out };
    for (key, span, node) in given.entries() {
        let value = json(node.get_ref());
        let param = kernel.params.iter().find(|param| param.key == key);
        match (param, value.as_ref().and_then(Value::as_f64)) {
            (None, _) => {
                let known = kernel.params.iter().map(|param| param.key.as_str());
                let what = format!("the kernel has no parameter {key}");
                table.doc.problem("unknown-name", span, what, hint(&key, known));
            }
            (Some(param), Some(number)) if param.allows(number) => {
                out.extend(value.map(|value| (key, value)));
            }
            (Some(param), _) => {
                table.doc.problem("out-of-range", span, format!("{key} must be {}", param.legal()), None);
            }
        }
    }
    out
}

fn said(table: Table<'_, '_>) -> Localized {
    let text = table.localized("text");
    table.finish();
    text
}

fn goal(table: Table<'_, '_>) -> Option<Goal> {
    let name = table.text("metric");
    let names: Vec<String> = Metric::ALL.iter().map(|metric| metric.id()).collect();
    let metric = Metric::ALL.iter().copied().find(|metric| metric.id() == name);
    if metric.is_none() {
        let what = format!("there is no metric \"{name}\"; there are {}", names.join(", "));
        let known = names.iter().map(String::as_str);
        table.doc.problem("unknown-name", table.span_of("metric"), what, hint(&name, known));
    }
    let (at_most, at_least) = (table.opt_number("at_most"), table.opt_number("at_least"));
    if at_most.is_none() && at_least.is_none() {
        table.doc.problem("no-bound", table.span_of("metric"), "a goal needs at_most or at_least", None);
    }
    table.finish();
    Some(Goal { metric: metric?, at_most, at_least })
}
