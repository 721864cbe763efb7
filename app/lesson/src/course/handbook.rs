//! From a symptom to what to do, one question at a time: `lessons/handbook.toml`.

use super::{Known, Linker, ReadCourse, fields, id, join, listed, read};
use crate::read::text;
use crate::tree::Table;
use std::collections::BTreeSet;
use vramlab_units::Localized;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Handbook {
    pub symptoms: Vec<Symptom>,
    pub asks: Vec<Ask>,
    pub advice: Vec<Advice>,
}

/// What somebody sees who needs help.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Symptom {
    pub id: String,
    pub title: Localized,
    pub text: Localized,
    pub first: String,
}

/// One question, with the way to find its answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ask {
    pub id: String,
    pub ask: Localized,
    pub how: Localized,
    pub code: String,
    pub options: Vec<Answer>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    pub id: String,
    pub text: Localized,
    /// Id of a question or an advice.
    pub to: String,
}

/// Where the questions lead: why it happens, what to do, what to measure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Advice {
    pub id: String,
    pub title: Localized,
    pub text: Localized,
    pub measure: Localized,
    pub code: String,
    pub chapters: Vec<String>,
    pub runs: Vec<String>,
    pub task: String,
    pub source: Localized,
}

/// A walk through the questions: what was answered, and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Walk<'a> {
    pub symptom: &'a Symptom,
    /// Each question with the option that was taken.
    pub taken: Vec<(&'a Ask, &'a Answer)>,
    pub at: At<'a>,
    /// The first answer that no option has; the walk ends before it.
    pub unknown: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum At<'a> {
    Ask(&'a Ask),
    Advice(&'a Advice),
    /// The file points at nothing here; its problems say so.
    Nowhere,
}

impl Handbook {
    pub fn read(file: &str, source: &str, known: &Known, tasks: &[&str]) -> ReadCourse<Self> {
        read(file, source, fields::HANDBOOK, |linker, table| handbook(linker, table, tasks), known)
    }

    pub fn symptom(&self, id: &str) -> Option<&Symptom> {
        self.symptoms.iter().find(|symptom| symptom.id == id)
    }

    fn at(&self, id: &str) -> At<'_> {
        let ask = self.asks.iter().find(|ask| ask.id == id).map(At::Ask);
        ask.or_else(|| self.advice.iter().find(|advice| advice.id == id).map(At::Advice)).unwrap_or(At::Nowhere)
    }

    /// Follows answers from a symptom. `None` if there is no such symptom.
    pub fn walk(&self, symptom: &str, answers: &[String]) -> Option<Walk<'_>> {
        let symptom = self.symptom(symptom)?;
        let mut walk = Walk { symptom, taken: Vec::new(), at: self.at(&symptom.first), unknown: None };
        for answer in answers {
            let At::Ask(ask) = walk.at else {
                walk.unknown = Some(answer.clone());
                break;
            };
            let Some(option) = ask.options.iter().find(|option| option.id == *answer) else {
                walk.unknown = Some(answer.clone());
                break;
            };
            walk.taken.push((ask, option));
            walk.at = self.at(&option.to);
        }
        Some(walk)
    }

    /// The longest way from a place to an advice, in questions; `None` where the questions run in a circle.
    pub fn depth(&self, id: &str) -> Option<usize> {
        self.depth_within(id, self.asks.len() + 1)
    }

    fn depth_within(&self, id: &str, fuel: usize) -> Option<usize> {
        match self.at(id) {
            At::Ask(_) if fuel == 0 => None,
            At::Ask(ask) => {
                let deeper = ask.options.iter().map(|option| self.depth_within(&option.to, fuel - 1));
                deeper.collect::<Option<Vec<usize>>>().map(|all| 1 + all.into_iter().max().unwrap_or(0))
            }
            _ => Some(0),
        }
    }
}

fn handbook(linker: &mut Linker<'_, '_>, table: &Table, tasks: &[&str]) -> Handbook {
    let reader = &linker.reader;
    let symptoms = listed(table, "symptom", "").into_iter().map(|(table, _)| Symptom {
        id: id(table),
        title: reader.localized(table, "title"),
        text: reader.localized(table, "text"),
        first: text(table, "first").unwrap_or_default(),
    });
    let asks = listed(table, "ask", "").into_iter().map(|(table, path)| Ask {
        id: id(table),
        ask: reader.localized(table, "ask"),
        how: reader.localized(table, "how"),
        code: text(table, "code").unwrap_or_default(),
        options: listed(table, "option", &path)
            .into_iter()
            .map(|(table, _)| Answer {
                id: id(table),
                text: reader.localized(table, "text"),
                to: text(table, "to").unwrap_or_default(),
            })
            .collect(),
    });
    let mut handbook = Handbook { symptoms: symptoms.collect(), asks: asks.collect(), advice: Vec::new() };
    for (table, path) in listed(table, "advice", "") {
        let advice = advice(linker, table, &path, tasks);
        handbook.advice.push(advice);
    }
    check_ways(linker, table, &handbook);
    handbook
}

fn advice(linker: &mut Linker<'_, '_>, table: &Table, path: &str, tasks: &[&str]) -> Advice {
    let (chapters, runs) = linker.links(table, path);
    let task = text(table, "task").unwrap_or_default();
    if !task.is_empty() && !tasks.contains(&task.as_str()) {
        linker.nothing("no task", &task, &join(path, "task"), tasks);
    }
    let reader = &linker.reader;
    Advice {
        id: id(table),
        title: reader.localized(table, "title"),
        text: reader.localized(table, "text"),
        measure: reader.localized(table, "measure"),
        code: text(table, "code").unwrap_or_default(),
        chapters,
        runs,
        task,
        source: reader.localized(table, "source"),
    }
}

/// Ids are unique, every way leads on, none leads in a circle, and everything is reached.
fn check_ways(linker: &mut Linker<'_, '_>, table: &Table, handbook: &Handbook) {
    let ids_of = |list: &str| -> Vec<(String, String)> {
        listed(table, list, "").iter().map(|(table, path)| (id(table), join(path, "id"))).collect()
    };
    linker.unique(&ids_of("symptom"));
    linker.unique(&[ids_of("ask"), ids_of("advice")].concat());
    let known: Vec<&str> = handbook
        .asks
        .iter()
        .map(|ask| ask.id.as_str())
        .chain(handbook.advice.iter().map(|advice| advice.id.as_str()))
        .collect();
    let mut reached = BTreeSet::new();
    for (table, path) in listed(table, "symptom", "") {
        let first = text(table, "first").unwrap_or_default();
        follow(linker, &first, &join(&path, "first"), &known, &mut reached);
        if handbook.depth(&first).is_none() {
            let span = linker.span(&join(&path, "first"));
            linker.reader.note("circle", &span, "these questions lead in a circle".to_owned(), None);
        }
    }
    for (table, path) in listed(table, "ask", "") {
        let options = listed(table, "option", &path);
        let ids: Vec<(String, String)> = options.iter().map(|(table, path)| (id(table), join(path, "id"))).collect();
        linker.unique(&ids);
        for (table, path) in &options {
            follow(linker, &text(table, "to").unwrap_or_default(), &join(path, "to"), &known, &mut reached);
        }
    }
    for (id, path) in [ids_of("ask"), ids_of("advice")].concat() {
        if !reached.contains(&id) {
            let span = linker.span(&path);
            linker.reader.note("unreached", &span, format!("no answer leads to \"{id}\""), None);
        }
    }
}

fn follow(linker: &mut Linker<'_, '_>, to: &str, path: &str, known: &[&str], reached: &mut BTreeSet<String>) {
    if known.contains(&to) {
        reached.insert(to.to_owned());
    } else {
        linker.nothing("no question or advice", to, path, known);
    }
}
