//! The checker: what the parser cannot know, because it needs the registries, the fonts and the rest of the pack.
//!
//! `asks.rs` holds what is asked of visualizers, models and experiments, `figures.rs` of author's figures, `sketch.rs` of
//! curves that are predicted, `reveals.rs` of numbers that are; `texts.rs` what is asked of words, links and pictures;
//! `units.rs` finds units that can be read in two ways; `steps.rs` counts the steps.

mod asks;
mod figures;
mod reveals;
mod sketch;
mod steps;
mod texts;
mod units;

use crate::chapter::{Chapter, ExperimentStep, Registry, StepBody};
use crate::parse::Parsed;
use crate::problem::{MAX_COLLECTED, Problem, Severity, cut_list, sort};
use crate::tree::Span;
use std::collections::BTreeSet;
use vramlab_units::field::did_you_mean;

/// The steps of another chapter, for links; `None` if its steps are not known.
pub type StepsOf<'a> = &'a dyn Fn(&str) -> Option<Vec<String>>;

/// Every problem of a chapter file: the parser's and the checker's, in the order of the file.
pub fn check(parsed: &Parsed, registry: &dyn Registry) -> Vec<Problem> {
    check_in_pack(parsed, registry, &|_| None)
}

/// As [`check`], with the steps of the other chapters at hand.
pub fn check_in_pack(parsed: &Parsed, registry: &dyn Registry, steps_of: StepsOf<'_>) -> Vec<Problem> {
    let mut problems = parsed.problems.clone();
    if let Some(chapter) = &parsed.chapter {
        let mut checker = Checker {
            parsed,
            chapter,
            registry,
            steps_of,
            undrawn: BTreeSet::new(),
            problems: Vec::new(),
            n_dropped: 0,
        };
        checker.steps();
        checker.texts();
        checker.asks();
        checker.references();
        checker.sketches();
        checker.reveals();
        let (mut found, n_dropped) = (checker.problems, checker.n_dropped);
        sort(&mut found);
        cut_list(&mut found, n_dropped);
        problems.append(&mut found);
    }
    sort(&mut problems);
    problems
}

/// Every run of a card with its place: `step[3]`, `step[3].also[0]`.
fn runs<'a>(step: &'a ExperimentStep, path: &str) -> impl Iterator<Item = (&'a ExperimentStep, String)> {
    let also = |idx: usize| if idx == 0 { path.to_owned() } else { format!("{path}.also[{}]", idx - 1) };
    step.all().enumerate().map(move |(idx, run)| (run, also(idx))).collect::<Vec<_>>().into_iter()
}

struct Checker<'a> {
    parsed: &'a Parsed,
    chapter: &'a Chapter,
    registry: &'a dyn Registry,
    steps_of: StepsOf<'a>,
    /// Characters without a glyph that have been reported.
    undrawn: BTreeSet<char>,
    problems: Vec<Problem>,
    /// Problems beyond what is collected.
    n_dropped: usize,
}

impl Checker<'_> {
    /// Where `path` stands; the nearest enclosing thing if it is not written.
    fn span(&self, path: &str) -> Span {
        let mut path = path;
        loop {
            if let Some(span) = self.parsed.spans.get(path) {
                return span.clone();
            }
            match path.rfind(['.', '[']) {
                Some(at) => path = &path[..at],
                None => return 0..0,
            }
        }
    }

    fn note_at(&mut self, severity: Severity, rule: &'static str, span: &Span, what: String, help: Option<String>) {
        if self.problems.len() >= MAX_COLLECTED {
            self.n_dropped += 1;
            return;
        }
        let place = self.parsed.source.place(span);
        self.problems.push(Problem { severity, rule, what, place, help });
    }

    fn error(&mut self, rule: &'static str, path: &str, what: String, help: Option<String>) {
        self.note_at(Severity::Error, rule, &self.span(path), what, help);
    }

    fn warn(&mut self, rule: &'static str, path: &str, what: String, help: Option<String>) {
        self.note_at(Severity::Warning, rule, &self.span(path), what, help);
    }

    /// An id that no registry knows.
    fn unknown(&mut self, rule: &'static str, path: &str, noun: &str, id: &str, known: &[&str]) {
        let id = crate::read::shorten(id);
        let help = match did_you_mean(&id, known.iter().copied()) {
            Some(hint) => format!("did you mean \"{hint}\"?"),
            None if known.is_empty() => format!("there is no {noun} at all"),
            None if known.len() > 12 => format!("`vramlab list {noun}s` prints the {} that exist", known.len()),
            None => format!("there are {}", known.join(", ")),
        };
        self.error(rule, path, format!("no {noun} is called \"{id}\""), Some(help));
    }

    /// Steps that other parts of the chapter name.
    fn references(&mut self) {
        let chapter = self.chapter;
        for (idx, step) in chapter.steps.iter().enumerate() {
            let StepBody::Predict(predict) = &step.body else { continue };
            let Some(revealed_by) = &predict.revealed_by else { continue };
            let path = format!("step[{idx}].revealed_by");
            if !self.has_step(&path, revealed_by) {
                continue;
            }
            if !chapter.steps[idx + 1..].iter().any(|later| later.id == *revealed_by) {
                let what = format!("the step \"{revealed_by}\" stands before the prediction that it reveals");
                self.error("revealed-early", &path, what, Some("move the prediction up".to_owned()));
            }
        }
        for (idx, audit) in chapter.audits.iter().enumerate() {
            if let Some(test) = &audit.test {
                self.has_step(&format!("audit[{idx}].test"), test);
            }
        }
    }

    fn has_step(&mut self, path: &str, id: &str) -> bool {
        let chapter = self.chapter;
        let known: Vec<&str> = chapter.steps.iter().map(|step| step.id.as_str()).collect();
        let is_known = known.contains(&id);
        if !is_known {
            self.unknown("dead-link", path, "step", id, &known);
        }
        is_known
    }
}
