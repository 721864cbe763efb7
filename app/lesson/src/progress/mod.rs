//! What the reader has done: one versioned document, merged by step when two windows have it open.
//!
//! Order is a counter, never a clock: a clock jumps back, a counter only grows. Ids and fields that this version does
//! not know are kept. `merge.rs` brings two documents together; `store.rs` is the saving algorithm, `saver.rs` says when
//! to save.

mod merge;
mod saver;
mod store;

pub use merge::merge;
pub use saver::Saver;
pub use store::{BACKUP, Files, IsGood, Kept, Loaded, MAIN, Merge, SaveError, load, load_kept, save, save_kept};

use crate::answer::Given;
use crate::chapter::Verdict;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use vramlab_units::Map;

/// The version this program writes, and the newest it reads.
pub const VERSION: u32 = 1;

/// Largest progress file that is read.
pub const MAX_BYTES: usize = 64 << 20;

/// The whole document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// First in the file, and read before everything else.
    #[serde(rename = "vramlab_progress")]
    pub version: u32,
    /// Grows with every change; merged documents take the larger.
    #[serde(default)]
    pub counter: u64,
    /// The counter when this was last in step with the disk; what is stamped later has not been saved.
    #[serde(skip)]
    base: u64,
    #[serde(default)]
    pub chapters: BTreeMap<String, ChapterProgress>,
    /// Runs in the notebook, by their id; the samples lie in files of their own.
    #[serde(default)]
    pub runs: BTreeMap<String, RunEntry>,
    #[serde(flatten)]
    pub rest: Map,
}

/// One chapter, by its id. Nothing here is dropped when a chapter or step no longer exists.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChapterProgress {
    /// Entries older than this were reset by the reader.
    pub reset_at: u64,
    /// Where the reader was: the step's id, and when.
    pub last_step: Option<Stamped<String>>,
    pub steps: BTreeMap<String, StepProgress>,
    /// The reader's judgement of each audit.
    pub audits: BTreeMap<String, Stamped<Judgement>>,
    pub reviews: BTreeMap<String, Review>,
    /// By step id; the empty id is the chapter's own note.
    pub notes: BTreeMap<String, Stamped<String>>,
    #[serde(flatten)]
    pub rest: Map,
}

/// A value with the counter at which it was set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stamped<T> {
    pub at: u64,
    pub value: T,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StepProgress {
    pub at: u64,
    /// When it was done; stays when answers follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done_at: Option<u64>,
    /// When the truth of a prediction was shown; from then on the prediction stays as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revealed_at: Option<u64>,
    /// A prediction, or the last answer to a check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Given>,
    /// How often a check was answered.
    pub attempts: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_right: Option<bool>,
    /// Hints that were opened.
    pub hints: u32,
    #[serde(flatten)]
    pub rest: Map,
}

/// A judgement by the verdict's id, so that one of a later version is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Judgement(pub String);

impl Judgement {
    pub fn verdict(&self) -> Option<Verdict> {
        Verdict::ALL.into_iter().find(|verdict| verdict.id() == self.0)
    }
}

/// A review question. `schedule` is the spaced-repetition state, which `schedule.rs` reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Review {
    pub at: u64,
    pub n_seen: u64,
    pub n_right: u64,
    pub schedule: Map,
    #[serde(flatten)]
    pub rest: Map,
}

/// One run in the notebook's index.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunEntry {
    pub at: u64,
    pub chapter: String,
    pub step: String,
    pub experiment: String,
    /// Name of the file that holds the record.
    pub file: String,
    /// What the reader expected, in their words.
    pub hypothesis: String,
    /// True once the reader has thrown it away; kept so that another window does not bring it back.
    pub is_deleted: bool,
    #[serde(flatten)]
    pub rest: Map,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            version: VERSION,
            counter: 0,
            base: 0,
            chapters: BTreeMap::new(),
            runs: BTreeMap::new(),
            rest: Map::new(),
        }
    }
}

/// Why bytes are not a progress document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error("the file is empty")]
    Empty,
    #[error("the file holds nothing but zeros")]
    Zeros,
    #[error("the file has {0} bytes; {MAX_BYTES} are read at most")]
    TooLarge(usize),
    #[error("the file was written by a newer version ({0}); this program reads version {VERSION}")]
    Newer(u64),
    #[error("the file is damaged: {0}")]
    Damaged(String),
}

impl Progress {
    /// Reads a document, the version before anything else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        if bytes.len() > MAX_BYTES {
            return Err(ReadError::TooLarge(bytes.len()));
        }
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(ReadError::Empty);
        }
        if bytes.iter().all(|byte| *byte == 0) {
            return Err(ReadError::Zeros);
        }
        let damaged = |error: serde_json::Error| ReadError::Damaged(error.to_string());
        let value: serde_json::Value = serde_json::from_slice(bytes).map_err(damaged)?;
        match value.get("vramlab_progress").and_then(serde_json::Value::as_u64) {
            Some(version) if version > u64::from(VERSION) => Err(ReadError::Newer(version)),
            Some(version) if version == u64::from(VERSION) => serde_json::from_value(value).map_err(damaged),
            _ => Err(ReadError::Damaged("it does not say its version".to_owned())),
        }
    }

    /// The document as it is stored and exported.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    fn tick(&mut self) -> u64 {
        self.counter = self.counter.saturating_add(1);
        self.counter
    }

    /// Changes a step, creating it if need be, and stamps it. `is_done` marks it done; nothing but a reset undoes that.
    pub fn edit_step(&mut self, chapter: &str, step: &str, is_done: bool, edit: impl FnOnce(&mut StepProgress)) {
        let at = self.tick();
        let entry = self.chapters.entry(chapter.to_owned()).or_default().steps.entry(step.to_owned()).or_default();
        edit(entry);
        entry.at = at;
        if is_done {
            entry.done_at = Some(at);
        }
    }

    pub fn step(&self, chapter: &str, step: &str) -> Option<&StepProgress> {
        self.chapters.get(chapter)?.steps.get(step)
    }

    pub fn is_done(&self, chapter: &str, step: &str) -> bool {
        self.step(chapter, step).is_some_and(|step| step.done_at.is_some())
    }

    pub fn set_done(&mut self, chapter: &str, step: &str) {
        if !self.is_done(chapter, step) {
            self.edit_step(chapter, step, true, |_| {});
        }
    }

    /// A prediction is done once it is made; it is not graded. Once its truth has been shown it is not changed any more.
    pub fn predict(&mut self, chapter: &str, step: &str, given: Given) {
        if !self.is_revealed(chapter, step) {
            self.edit_step(chapter, step, true, |step| step.answer = Some(given));
        }
    }

    /// The truth of a prediction is shown from now on.
    pub fn reveal(&mut self, chapter: &str, step: &str) {
        if !self.is_revealed(chapter, step) {
            let at = self.counter.saturating_add(1);
            self.edit_step(chapter, step, false, |step| step.revealed_at = Some(at));
        }
    }

    pub fn is_revealed(&self, chapter: &str, step: &str) -> bool {
        self.step(chapter, step).is_some_and(|step| step.revealed_at.is_some())
    }

    /// An answer to a check; a right one is done for good.
    pub fn answer(&mut self, chapter: &str, step: &str, given: Given, is_right: bool) {
        self.edit_step(chapter, step, is_right, |step| {
            step.answer = Some(given);
            step.attempts = step.attempts.saturating_add(1);
            step.is_right = Some(is_right);
        });
    }

    pub fn visit(&mut self, chapter: &str, step: &str) {
        let entry = self.chapters.get(chapter).and_then(|chapter| chapter.last_step.as_ref());
        if entry.is_none_or(|last| last.value != step) {
            let last = Stamped { at: self.tick(), value: step.to_owned() };
            self.chapters.entry(chapter.to_owned()).or_default().last_step = Some(last);
        }
    }

    /// The chapter and step visited last, for resuming.
    pub fn resume(&self) -> Option<(&str, &str)> {
        let visited = self.chapters.iter().filter_map(|(id, chapter)| Some((id, chapter.last_step.as_ref()?)));
        let last = visited.max_by_key(|(_, last)| last.at);
        last.map(|(id, last)| (id.as_str(), last.value.as_str()))
    }

    pub fn judge(&mut self, chapter: &str, audit: &str, verdict: Verdict) {
        let judged = Stamped { at: self.tick(), value: Judgement(verdict.id().to_owned()) };
        self.chapters.entry(chapter.to_owned()).or_default().audits.insert(audit.to_owned(), judged);
    }

    pub fn judgement(&self, chapter: &str, audit: &str) -> Option<Verdict> {
        self.chapters.get(chapter)?.audits.get(audit)?.value.verdict()
    }

    pub fn review(&mut self, chapter: &str, question: &str, is_right: bool, schedule: Map) {
        let at = self.tick();
        let reviews = &mut self.chapters.entry(chapter.to_owned()).or_default().reviews;
        let review = reviews.entry(question.to_owned()).or_default();
        review.at = at;
        review.n_seen += 1;
        review.n_right += u64::from(is_right);
        review.schedule = schedule;
    }

    /// A note at a step, or at the chapter if `step` is empty. An empty note is kept as such: it was emptied on purpose.
    pub fn set_note(&mut self, chapter: &str, step: &str, text: &str) {
        let note = Stamped { at: self.tick(), value: text.to_owned() };
        self.chapters.entry(chapter.to_owned()).or_default().notes.insert(step.to_owned(), note);
    }

    pub fn note(&self, chapter: &str, step: &str) -> &str {
        let note = self.chapters.get(chapter).and_then(|chapter| chapter.notes.get(step));
        note.map(|note| note.value.as_str()).unwrap_or_default()
    }

    pub fn add_run(&mut self, id: &str, entry: RunEntry) {
        let at = self.tick();
        self.runs.insert(id.to_owned(), RunEntry { at, ..entry });
    }

    pub fn delete_run(&mut self, id: &str) {
        let at = self.tick();
        if let Some(run) = self.runs.get_mut(id) {
            run.at = at;
            run.is_deleted = true;
        }
    }

    /// Forgets a chapter, notes apart, and returns what it was, for Undo.
    pub fn reset(&mut self, chapter: &str) -> ChapterProgress {
        let reset_at = self.tick();
        let Some(entry) = self.chapters.get_mut(chapter) else { return ChapterProgress::default() };
        let (notes, rest) = (entry.notes.clone(), entry.rest.clone());
        std::mem::replace(entry, ChapterProgress { reset_at, notes, rest, ..ChapterProgress::default() })
    }

    /// Undoes [`Self::reset`]: everything counts as set now, so that it outlives the reset in every window.
    pub fn restore(&mut self, chapter: &str, was: ChapterProgress) {
        let at = self.tick();
        let mut was = ChapterProgress { reset_at: 0, notes: BTreeMap::new(), ..was };
        was.each_stamp(&mut |stamp| *stamp = at);
        let now = self.chapters.remove(chapter).unwrap_or_default();
        was.reset_at = now.reset_at;
        self.chapters.insert(chapter.to_owned(), merge::chapter(was, now));
    }
}

impl Progress {
    /// Moves what has not been saved behind everything that another window has saved meanwhile: who saves later, is
    /// later. Without it a window that slept would lose its answers to a reset it never saw.
    fn move_behind(&mut self, counter: u64) {
        let (base, by) = (self.base, counter.saturating_sub(self.base));
        let mut shift = |stamp: &mut u64| {
            if *stamp > base {
                *stamp = stamp.saturating_add(by);
            }
        };
        shift(&mut self.counter);
        self.chapters.values_mut().for_each(|chapter| chapter.each_stamp(&mut shift));
        self.runs.values_mut().for_each(|run| shift(&mut run.at));
    }

    fn in_step(self) -> Self {
        Self { base: self.counter, ..self }
    }
}

impl ChapterProgress {
    fn each_stamp(&mut self, edit: &mut dyn FnMut(&mut u64)) {
        edit(&mut self.reset_at);
        self.last_step.iter_mut().for_each(|last| edit(&mut last.at));
        for step in self.steps.values_mut() {
            edit(&mut step.at);
            step.done_at.iter_mut().chain(&mut step.revealed_at).for_each(&mut *edit);
        }
        self.audits.values_mut().for_each(|audit| edit(&mut audit.at));
        self.reviews.values_mut().for_each(|review| edit(&mut review.at));
        self.notes.values_mut().for_each(|note| edit(&mut note.at));
    }
}
