//! The answers: the trace played through every chosen allocator, and the moment that is looked at. Kept between frames.

use super::question::{Engine, MOST_EVENTS, Question};
use std::ops::Range;
use vramlab_alloc::MIB;
use vramlab_alloc::replay::frame::{self, Frame};
use vramlab_alloc::replay::{self, Kind, Step};
use vramlab_alloc::trace::Trace;
use vramlab_units::FieldError;

/// One allocator on the trace.
#[derive(Clone, Debug)]
pub struct Run {
    pub engine: Engine,
    kind: Kind,
    pub steps: Vec<Step>,
    /// The most bytes and strips of any moment.
    pub extent: (u64, usize),
    pub frame: Frame,
}

impl Run {
    /// Whether some request fails for lack of memory.
    pub fn has_oom(&self) -> bool {
        self.steps.iter().any(is_oom)
    }
}

/// A request that failed for lack of memory.
pub fn is_oom(step: &Step) -> bool {
    step.refusal.as_ref().is_some_and(|refusal| refusal.is_oom)
}

/// The trace and what each allocator does with it.
#[derive(Clone, Debug)]
pub struct Answered {
    pub trace: Trace,
    /// The words of the trace as they were typed.
    pub words: Vec<String>,
    pub runs: Vec<Run>,
    pub capacity_bytes: u64,
}

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// A word of the trace, by its place in the text.
    Word {
        at: Range<usize>,
        number: usize,
        word: String,
        reason: String,
    },
    Setting(FieldError),
}

impl Problem {
    pub fn into_field_error(self) -> FieldError {
        match self {
            Self::Word { number, word, reason, .. } => {
                FieldError::conflict("trace", format!("word {number} ({word}): {reason}"))
            }
            Self::Setting(error) => error,
        }
    }
}

/// Where each word of a trace stands, as the parser splits them.
pub fn words_of(text: &str) -> Vec<Range<usize>> {
    let is_gap = |c: char| c.is_whitespace() || c == ',' || c == ';';
    let mut out = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices() {
        match (is_gap(c), start) {
            (true, Some(from)) => {
                out.push(from..at);
                start = None;
            }
            (false, None) => start = Some(at),
            _ => {}
        }
    }
    out.extend(start.map(|from| from..text.len()));
    out
}

impl Answered {
    /// Everything, at the moment after `done` events.
    pub fn new(question: &Question, done: usize) -> Result<Self, Problem> {
        let text = question.trace.as_str();
        let places = words_of(text);
        let trace = Trace::parse(text).map_err(|error| {
            let at = places.get(error.event).cloned().unwrap_or(0..text.len());
            Problem::Word { number: error.event + 1, word: text[at.clone()].to_owned(), at, reason: error.reason }
        })?;
        if let Some(first) = places.get(MOST_EVENTS) {
            let reason = format!("a figure shows at most {MOST_EVENTS} events");
            let word = text[first.clone()].to_owned();
            return Err(Problem::Word { at: first.clone(), number: MOST_EVENTS + 1, word, reason });
        }
        let capacity_bytes = question.capacity_mib * MIB;
        let run = |engine: &Engine| -> Result<Run, FieldError> {
            let kind = question.kind(*engine)?;
            Ok(Run {
                engine: *engine,
                steps: replay::run(&trace, &kind, capacity_bytes),
                extent: frame::extent(&trace, &kind, capacity_bytes),
                frame: frame::frame(&trace, &kind, capacity_bytes, done),
                kind,
            })
        };
        let runs = question.engines.iter().map(run).collect::<Result<Vec<_>, _>>().map_err(Problem::Setting)?;
        let words = places.into_iter().map(|at| text[at].to_owned()).collect();
        Ok(Self { trace, words, runs, capacity_bytes })
    }

    /// Looks at another moment.
    pub fn seek(&mut self, done: usize) {
        for run in &mut self.runs {
            if run.frame.done != done.min(run.steps.len()) {
                run.frame = frame::frame(&self.trace, &run.kind, self.capacity_bytes, done);
            }
        }
    }

    pub fn n_events(&self) -> usize {
        self.words.len()
    }

    /// Whether an event failed for lack of memory in any of the allocators.
    pub fn fails_at(&self, event_idx: usize) -> bool {
        self.runs.iter().any(|run| run.steps.get(event_idx).is_some_and(is_oom))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocator_strips::presets::PRESETS;

    #[test]
    fn a_wrong_word_is_found_where_it_stands() {
        let mut question = Question::of(&PRESETS[0]);
        question.trace = "a:9M,\n  -b c:1M".to_owned();
        let Err(Problem::Word { at, number, word, reason }) = Answered::new(&question, 0) else { panic!() };
        assert_eq!((at, number, word.as_str()), (8..10, 2, "-b"));
        assert!(reason.contains("never requested"));
    }

    #[test]
    fn every_preset_plays_and_says_what_its_name_promises() {
        let last = |id: &str| {
            let question = Question::of(PRESETS.iter().find(|preset| preset.id == id).unwrap());
            question.check().unwrap();
            let answered = Answered::new(&question, usize::MAX).unwrap();
            let mib = |run: &Run| (run.frame.after.reserved_bytes as f64 / MIB as f64, run.frame.miss.is_some());
            answered.runs.iter().map(mib).collect::<Vec<_>>()
        };
        // Brief 11, vectors 4 to 8, 10 and 12.
        assert_eq!(last("holes"), [(40.0, true), (60.0, false)]);
        assert!(last("alternating").iter().all(|(_, is_miss)| *is_miss));
        assert_eq!(last("nine_mib"), [(20.0, false)]);
        assert_eq!(last("flush"), [(60.0, false)]);
        assert_eq!(last("growing_batch"), [(118.0, false), (60.0, false)]);
        assert_eq!(last("max_split"), [(104.0, false)]);
        assert_eq!(last("unsplit"), [(12.0, false)]);
        assert_eq!(last("gc"), [(40.0, false)]);
        assert_eq!(last("grow_tail"), [(40.0, false), (40.0, false)]);
        assert_eq!(last("remap"), [(60.0, false)]);
        assert_eq!(last("private_pool"), [(0.0, false)]);
        for preset in PRESETS {
            assert!(Answered::new(&Question::of(preset), 1).is_ok(), "{}", preset.id);
        }
    }
}
