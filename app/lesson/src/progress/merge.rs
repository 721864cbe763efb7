//! Two documents into one: done beats not done, the later counter wins, nothing is lost that was not reset.
//!
//! `merge` is commutative, associative and idempotent (tested by properties), so the order in which windows save does
//! not matter.

use super::{ChapterProgress, Progress, Review, RunEntry, Stamped, StepProgress};
use serde::Serialize;
use std::collections::BTreeMap;
use vramlab_units::Map;

/// Brings two documents together.
pub fn merge(a: Progress, b: Progress) -> Progress {
    Progress {
        version: a.version.max(b.version),
        counter: a.counter.max(b.counter),
        base: a.base.max(b.base),
        chapters: maps(a.chapters, b.chapters, chapter),
        runs: maps(a.runs, b.runs, run),
        rest: rest(a.rest, b.rest),
    }
}

pub(super) fn chapter(a: ChapterProgress, b: ChapterProgress) -> ChapterProgress {
    let reset_at = a.reset_at.max(b.reset_at);
    let mut out = ChapterProgress {
        reset_at,
        last_step: options(a.last_step, b.last_step),
        steps: maps(steps(a.steps, reset_at), steps(b.steps, reset_at), step),
        audits: maps(kept(a.audits, reset_at), kept(b.audits, reset_at), later),
        reviews: maps(kept(a.reviews, reset_at), kept(b.reviews, reset_at), review),
        notes: maps(a.notes, b.notes, later), // a reset leaves notes alone
        rest: rest(a.rest, b.rest),
    };
    out.last_step = out.last_step.filter(|last| last.at >= reset_at);
    out
}

/// Steps as they stand after a reset.
fn steps(map: BTreeMap<String, StepProgress>, reset_at: u64) -> BTreeMap<String, StepProgress> {
    let mut out = kept(map, reset_at);
    for step in out.values_mut() {
        step.done_at = step.done_at.filter(|at| *at >= reset_at);
        step.revealed_at = step.revealed_at.filter(|at| *at >= reset_at);
    }
    out
}

/// Entries that were set after the last reset.
fn kept<T: At>(map: BTreeMap<String, T>, reset_at: u64) -> BTreeMap<String, T> {
    map.into_iter().filter(|(_, entry)| entry.at() >= reset_at).collect()
}

/// Everything but `done_at` and `revealed_at` comes from one side whole; otherwise what a reset removed could come back
/// through the other.
fn step(a: StepProgress, b: StepProgress) -> StepProgress {
    let done_at = a.done_at.max(b.done_at);
    let revealed_at = a.revealed_at.max(b.revealed_at);
    let own = |step: &StepProgress| StepProgress { done_at: None, revealed_at: None, ..step.clone() };
    StepProgress { done_at, revealed_at, ..later_by(a, b, own) }
}

fn review(a: Review, b: Review) -> Review {
    later_by(a, b, Review::clone)
}

fn run(a: RunEntry, b: RunEntry) -> RunEntry {
    let is_deleted = a.is_deleted || b.is_deleted;
    let rest = rest(a.rest.clone(), b.rest.clone());
    let own = |run: &RunEntry| RunEntry { is_deleted: false, rest: Map::new(), ..run.clone() };
    RunEntry { is_deleted, rest, ..later_by(a, b, own) }
}

trait At {
    fn at(&self) -> u64;
}

impl At for StepProgress {
    fn at(&self) -> u64 {
        self.at
    }
}

impl At for Review {
    fn at(&self) -> u64 {
        self.at
    }
}

impl At for RunEntry {
    fn at(&self) -> u64 {
        self.at
    }
}

impl<T> At for Stamped<T> {
    fn at(&self) -> u64 {
        self.at
    }
}

/// The one with the larger counter. Two windows can reach the same count; then the text of `own`, the part that is
/// taken from one side whole, decides, so that both windows decide alike.
fn later_by<T: At, S: Serialize>(a: T, b: T, own: impl Fn(&T) -> S) -> T {
    let text = |of: &T| serde_json::to_string(&own(of)).unwrap_or_default();
    let is_a = a.at() > b.at() || (a.at() == b.at() && text(&a) >= text(&b));
    if is_a { a } else { b }
}

fn later<T: Serialize + Clone>(a: Stamped<T>, b: Stamped<T>) -> Stamped<T> {
    later_by(a, b, |stamped| stamped.value.clone())
}

fn options<T: Serialize + Clone>(a: Option<Stamped<T>>, b: Option<Stamped<T>>) -> Option<Stamped<T>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(later(a, b)),
        (a, b) => a.or(b),
    }
}

fn maps<T>(a: BTreeMap<String, T>, b: BTreeMap<String, T>, both: impl Fn(T, T) -> T) -> BTreeMap<String, T> {
    let mut out = a;
    for (key, value) in b {
        let merged = match out.remove(&key) {
            Some(existing) => both(existing, value),
            None => value,
        };
        out.insert(key, merged);
    }
    out
}

/// Fields of a later version: all are kept; where both have one, the larger text, having nothing better to go by.
fn rest(a: Map, b: Map) -> Map {
    let mut all: BTreeMap<String, serde_json::Value> = a.into_iter().collect();
    for (key, value) in b {
        let rank = |value: &serde_json::Value| value.to_string();
        if all.get(&key).is_none_or(|existing| rank(existing) < rank(&value)) {
            all.insert(key, value);
        }
    }
    all.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Given;
    use crate::chapter::Verdict;
    use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};

    /// A few windows' worth of edits on few ids, so that they collide.
    fn progress() -> impl Strategy<Value = Progress> {
        let edit = (0..9_u8, 0..2_u8, 0..3_u8, any::<bool>());
        let start = prop_oneof![Just(0_u64), 0..6_u64];
        (start, proptest::collection::vec(edit, 0..12)).prop_map(|(counter, edits)| {
            let mut out = Progress { counter, ..Progress::default() };
            for (what, chapter, step, flag) in edits {
                let (chapter, step) = (format!("c{chapter}"), format!("s{step}"));
                let given = Given::Number { value: f64::from(what) };
                match what {
                    0 => out.set_done(&chapter, &step),
                    1 => out.answer(&chapter, &step, given, flag),
                    2 => out.judge(&chapter, &step, if flag { Verdict::True } else { Verdict::False }),
                    3 => out.set_note(&chapter, &step, if flag { "x" } else { "" }),
                    4 => drop(out.reset(&chapter)),
                    5 => out.review(&chapter, &step, flag, Map::from_iter([("due".to_owned(), counter.into())])),
                    6 => out.add_run(&step, RunEntry { chapter, ..RunEntry::default() }),
                    7 => out.reveal(&chapter, &step),
                    _ => out.visit(&chapter, &step),
                }
            }
            out
        })
    }

    proptest! {
        #[test]
        fn p5_merging_does_not_depend_on_order(a in progress(), b in progress(), c in progress()) {
            let ab = merge(a.clone(), b.clone());
            assert_eq!(ab, merge(b.clone(), a.clone()));
            assert_eq!(merge(ab.clone(), ab.clone()), ab);
            assert_eq!(merge(merge(a.clone(), b.clone()), c.clone()), merge(a, merge(b, c)));
        }

        #[test]
        fn a_document_survives_its_file(a in progress()) {
            assert_eq!(Progress::from_bytes(&a.to_bytes()), Ok(a));
        }
    }

    #[test]
    fn p5_done_beats_not_done_and_the_later_answer_wins() {
        let mut start = Progress::default();
        start.visit("02", "puzzle");
        let (mut one, mut two) = (start.clone(), start);
        one.answer("02", "check", Given::Number { value: 8.0 }, true);
        one.set_done("03", "only-in-one");
        two.visit("02", "map");
        two.answer("02", "check", Given::Number { value: 7.0 }, false);
        let both = merge(one, two);
        let check = both.step("02", "check").unwrap();
        assert!(check.done_at.is_some(), "done in one window is done");
        assert_eq!(check.answer, Some(Given::Number { value: 7.0 }), "the later answer is shown");
        assert!(both.is_done("03", "only-in-one"), "no lost chapter");
        assert_eq!(both.resume(), Some(("02", "map")));
    }

    #[test]
    fn p6_order_is_the_counter() {
        // Nothing in the document knows a time, so a clock that jumps back has nothing to jump over.
        let mut a = Progress::default();
        a.set_note("02", "", "first");
        let mut b = a.clone();
        b.set_note("02", "", "second");
        assert_eq!(merge(a.clone(), b.clone()).note("02", ""), "second");
        assert_eq!(merge(b, a.clone()).note("02", ""), "second");
        assert!(!String::from_utf8(a.to_bytes()).unwrap().contains("time"));
    }

    #[test]
    fn a_reset_holds_against_the_other_window_and_can_be_undone() {
        let mut one = Progress::default();
        one.set_done("02", "map");
        one.set_note("02", "map", "mine");
        let two = one.clone();
        let was = one.reset("02");
        let merged = merge(one.clone(), two.clone());
        assert_eq!(merged.step("02", "map"), None);
        assert_eq!(merged.note("02", "map"), "mine");
        one.restore("02", was);
        assert!(merge(one, two).is_done("02", "map"));
    }

    /// Found by the property test: what a reset removed came back through a third window.
    #[test]
    fn a_reset_holds_against_a_third_window() {
        let answer = |counter| {
            let mut out = Progress { counter, ..Progress::default() };
            out.answer("02", "check", Given::Number { value: 1.0 }, counter == 0);
            out
        };
        let (right, wrong_later) = (answer(0), answer(5));
        let mut reset = Progress { counter: 2, ..Progress::default() };
        reset.set_done("02", "x");
        reset.reset("02");
        let merged = merge(merge(right, wrong_later), reset);
        assert!(!merged.is_done("02", "check"), "{merged:?}");
    }

    #[test]
    fn p7_unknown_ids_and_fields_are_kept() {
        let text = r#"{"vramlab_progress": 1, "counter": 9, "mood": "good", "chapters": {"renamed_long_ago": {
            "steps": {"gone": {"at": 3, "done_at": 3, "ink": [1, 2]}},
            "audits": {"a": {"at": 4, "value": "verdict-of-2031"}}, "sketches": {"s": 1}}}}"#;
        let mut read = Progress::from_bytes(text.as_bytes()).unwrap();
        read.set_done("02", "map");
        let written = String::from_utf8(merge(read, Progress::default()).to_bytes()).unwrap();
        for kept in ["renamed_long_ago", "gone", "\"ink\"", "verdict-of-2031", "\"sketches\"", "\"mood\""] {
            assert!(written.contains(kept), "{kept} is lost");
        }
    }
}
