//! The course around the chapters, as data: routes, tasks and entrances (`routes.rs`, out of `lessons/routes.toml`), and
//! the handbook that leads from a symptom to a chapter (`handbook.rs`, out of `lessons/handbook.toml`).
//!
//! Both are read by field tables as chapters are, with every problem at its line and column. What they point at is held
//! against [`Known`]: a chapter must be in the curriculum, an experiment and a step must exist.

mod fields;
mod handbook;
mod routes;
#[cfg(test)]
mod tests;

pub use handbook::{Advice, Answer, Ask, At, Handbook, Symptom, Walk};
pub use routes::{Chapters, Course, Entrance, Evidence, Link, Needs, Route, Task};

use crate::fields::Field;
use crate::problem::{MAX_PROBLEMS, Problem, cut_list, sort};
use crate::read::{Reader, Spans, shorten};
use crate::source::Source;
use crate::tree::{self, Data, Node, Span, Table};
use std::collections::BTreeMap;
use vramlab_units::field::did_you_mean;

/// Files of the course itself at the top of `lessons/`: no chapters.
pub const FILES: [&str; 3] = ["curriculum.toml", "handbook.toml", "routes.toml"];
/// Largest accepted file.
pub const MAX_BYTES: usize = 1 << 20;

/// The chapters of `curriculum.toml`, written or not: id and title in the order of the course.
pub fn planned(text: &str) -> Vec<(String, vramlab_units::Localized)> {
    let (table, _) = tree::whole(text);
    let source = Source::new("curriculum.toml", text);
    let reader = Reader::new(&source);
    listed(&table, "chapter", "").iter().map(|(table, _)| (id(table), reader.localized(table, "title"))).collect()
}

/// What links of these files may point at.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Every chapter of the curriculum, written or not.
    pub planned: Vec<String>,
    /// Steps of the chapters that are written.
    pub steps: BTreeMap<String, Vec<String>>,
    pub experiments: Vec<String>,
}

/// A file that was read: what it says, and everything that is wrong with it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadCourse<T> {
    pub content: T,
    pub problems: Vec<Problem>,
}

/// Reads a file of the course by its field table; `build` fills the types and holds the links against what is known.
fn read<T: Default>(
    file: &str,
    text: &str,
    root: &'static [Field],
    build: impl FnOnce(&mut Linker<'_, '_>, &Table) -> T,
    known: &Known,
) -> ReadCourse<T> {
    let source = Source::new(file, if text.len() > MAX_BYTES { "" } else { text });
    let mut reader = Reader::new(&source);
    if text.len() > MAX_BYTES {
        let what = format!("the file has {} bytes; it may have {MAX_BYTES} (1 MiB)", text.len());
        reader.note("too-large", &(0..0), what, None);
        return ReadCourse { content: T::default(), problems: reader.problems };
    }
    let (table, errors) = tree::whole(source.text());
    for error in errors.iter().take(MAX_PROBLEMS) {
        reader.note("syntax", &error.span, error.what.clone(), error.help.clone());
    }
    // After a slip in the syntax the rest of the file is not what its author meant.
    let content = if errors.is_empty() {
        reader.check(&table, &[root], "the file", "", &(0..0));
        build(&mut Linker { reader: &mut reader, known }, &table)
    } else {
        T::default()
    };
    let (mut problems, n_dropped) = (reader.problems, reader.n_dropped);
    sort(&mut problems);
    cut_list(&mut problems, n_dropped);
    ReadCourse { content, problems }
}

/// Notes links that lead nowhere, each at its place.
struct Linker<'a, 's> {
    reader: &'a mut Reader<'s>,
    known: &'a Known,
}

impl Linker<'_, '_> {
    fn spans(&self) -> &Spans {
        &self.reader.spans
    }

    fn span(&self, path: &str) -> Span {
        self.spans().get(path).cloned().unwrap_or_default()
    }

    fn nothing(&mut self, what: &str, id: &str, path: &str, known: &[&str]) {
        let span = self.span(path);
        let help = did_you_mean(id, known.iter().copied()).map(|hint| format!("did you mean \"{hint}\"?"));
        self.reader.note("dead-link", &span, format!("{what} is called \"{}\"", shorten(id)), help);
    }

    fn chapter(&mut self, id: &str, path: &str) {
        if !self.known.planned.iter().any(|known| known == id) {
            let known = self.known.planned.clone();
            self.nothing("no chapter", id, path, &known.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }

    fn experiment(&mut self, id: &str, path: &str) {
        if !self.known.experiments.iter().any(|known| known == id) {
            let known = self.known.experiments.clone();
            self.nothing("no experiment", id, path, &known.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }

    /// `CHAPTER/STEP` of a chapter that is written.
    fn step(&mut self, address: &str, path: &str) {
        let (chapter, step) = address.split_once('/').unwrap_or((address, ""));
        match self.known.steps.get(chapter) {
            Some(steps) if steps.iter().any(|known| known == step) => {}
            Some(steps) => {
                let steps = steps.clone();
                let what = format!("no step of {chapter}");
                self.nothing(&what, step, path, &steps.iter().map(String::as_str).collect::<Vec<_>>());
            }
            None => {
                let written: Vec<String> = self.known.steps.keys().cloned().collect();
                let known: Vec<&str> = written.iter().map(String::as_str).collect();
                self.nothing("no chapter that is written", chapter, path, &known);
            }
        }
    }

    /// Every chapter and experiment that a table names.
    fn links(&mut self, table: &Table, path: &str) -> (Vec<String>, Vec<String>) {
        let (chapters, runs) = (crate::read::texts(table, "chapters"), crate::read::texts(table, "runs"));
        for (idx, id) in chapters.iter().enumerate() {
            self.chapter(id, &format!("{path}.chapters[{idx}]"));
        }
        for (idx, id) in runs.iter().enumerate() {
            self.experiment(id, &format!("{path}.runs[{idx}]"));
        }
        (chapters, runs)
    }

    /// Notes an id that a list holds twice.
    fn unique(&mut self, ids: &[(String, String)]) {
        for (idx, (id, path)) in ids.iter().enumerate() {
            if ids[..idx].iter().any(|(known, _)| known == id) {
                let span = self.span(path);
                self.reader.note("duplicate-id", &span, format!("the id \"{id}\" is taken"), None);
            }
        }
    }
}

/// The tables of a list with their paths.
fn listed<'t>(table: &'t Table, key: &str, path: &str) -> Vec<(&'t Table, String)> {
    let Some(Node { data: Data::List(nodes), .. }) = table.get(key) else { return Vec::new() };
    let tables = nodes.iter().enumerate().filter_map(|(idx, node)| match &node.data {
        Data::Table(inner) => Some((inner, join(path, &format!("{key}[{idx}]")))),
        _ => None,
    });
    tables.collect()
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn id(table: &Table) -> String {
    crate::read::text(table, "id").unwrap_or_default()
}
