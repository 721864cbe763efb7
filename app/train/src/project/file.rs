//! What a project's file holds, and how it is read.

use super::decide::Decision;
use crate::arena::{Bytes, Holder};
use crate::compare::Gap;
use crate::device::Phase;
use crate::net::Workload;
use crate::strategy::Strategy;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The first line of every file: what it is, and the version of its format.
pub const SCHEMA: &str = "vramlab-project/1";
/// A larger file is not one of ours.
pub const MAX_BYTES: usize = 8 << 20;
/// Most candidates of a project.
const MAX_CANDIDATES: usize = 256;
/// Steps whose losses are compared.
const STEPS: usize = 2;

/// How sure a number is: a formula, a check on the processor, one matched run on a card, a repeated one with an interval
/// and an independent counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Evidence {
    E0,
    E1,
    E2,
    E3,
}

impl Evidence {
    pub fn id(self) -> &'static str {
        match self {
            Self::E0 => "E0",
            Self::E1 => "E1",
            Self::E2 => "E2",
            Self::E3 => "E3",
        }
    }
}

/// Where a run was made. A run on the processor stays the processor's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// `cpu` or `cuda`.
    pub backend: String,
    pub name: String,
    pub driver: String,
}

impl Device {
    pub fn is_cpu(&self) -> bool {
        self.backend == "cpu"
    }
}

/// What a candidate must keep.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// Largest relative difference of a loss.
    pub loss: f64,
    /// Largest difference of a gradient over the largest number of its tensor. Strategies that change no sum must keep
    /// every bit whatever stands here.
    pub gradient: f64,
}

/// What a finished run measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The most in use at once, by the device's own counter, and whom the arena says it belonged to.
    pub used_bytes: u64,
    pub owners: Bytes,
    /// What the tape had predicted.
    pub predicted_bytes: u64,
    pub phase: Phase,
    /// The largest tensors at the peak, and how many there were.
    pub holders: Vec<Holder>,
    pub n_holders: u64,
    /// The most that waited on the host, and what crossed the link in a step.
    pub host_bytes: u64,
    pub moved_bytes: u64,
    pub losses: Vec<f64>,
    /// Against the baseline's gradient; all zero for the baseline itself.
    pub gap: Gap,
    /// A step each, and the baseline's beside them, in turn.
    pub samples_ns: Vec<f64>,
    pub base_ns: Vec<f64>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome", deny_unknown_fields)]
pub enum Outcome {
    Ran(Box<Run>),
    /// It did not fit. That is a result and is kept as one.
    OutOfMemory {
        /// All that was in use, the refused request included.
        needed_bytes: u64,
        limit_bytes: Option<u64>,
        label: String,
    },
}

/// A run with all that must be equal beside another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub strategy: Strategy,
    pub work: Workload,
    pub device: Device,
    pub date: String,
    pub program: String,
    pub result: Outcome,
}

impl Entry {
    pub fn ran(&self) -> Option<&Run> {
        match &self.result {
            Outcome::Ran(run) => Some(run),
            Outcome::OutOfMemory { .. } => None,
        }
    }
}

/// The file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Project {
    pub schema: String,
    pub name: String,
    /// What its author expects, written before the first run.
    pub hypothesis: String,
    pub work: Workload,
    pub gate: Gate,
    pub baseline: Option<Entry>,
    pub candidates: Vec<Entry>,
    pub decision: Option<Decision>,
}

/// Why a file is no project, with the place in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    #[error("it holds {bytes} bytes; a project has at most {MAX_BYTES}")]
    TooLong { bytes: usize },
    #[error("line {line}, column {column}: {what}")]
    Text { line: usize, column: usize, what: String },
    #[error("its schema is {found}; this program reads \"{SCHEMA}\"")]
    Schema { found: String },
    #[error("{place}: {what}")]
    Value { place: String, what: String },
}

/// Reads a project; everything in it is checked.
pub fn read(bytes: &[u8]) -> Result<Project, ReadError> {
    if bytes.len() > MAX_BYTES {
        return Err(ReadError::TooLong { bytes: bytes.len() });
    }
    let at = |error: &serde_json::Error| {
        let what = error.to_string();
        let what = what.split(" at line ").next().unwrap_or(&what).to_owned();
        ReadError::Text { line: error.line(), column: error.column(), what }
    };
    let value: Value = serde_json::from_slice(bytes).map_err(|error| at(&error))?;
    match value.get("schema") {
        Some(Value::String(schema)) if schema == SCHEMA => {}
        found => {
            return Err(ReadError::Schema { found: found.map_or_else(|| "missing".to_owned(), Value::to_string) });
        }
    }
    let project: Project = serde_json::from_slice(bytes).map_err(|error| at(&error))?;
    check(&project)?;
    Ok(project)
}

/// The file's text.
pub fn write(project: &Project) -> Result<String, String> {
    let mut text = serde_json::to_string_pretty(project).map_err(|error| error.to_string())?;
    text.push('\n');
    Ok(text)
}

fn wrong(place: &str, what: impl Into<String>) -> ReadError {
    ReadError::Value { place: place.to_owned(), what: what.into() }
}

fn check(project: &Project) -> Result<(), ReadError> {
    check_work("work", &project.work)?;
    for (name, value) in [("gate.loss", project.gate.loss), ("gate.gradient", project.gate.gradient)] {
        if !(0.0..=1.0).contains(&value) {
            return Err(wrong(name, format!("{value} is not from 0 to 1")));
        }
    }
    if project.candidates.len() > MAX_CANDIDATES {
        return Err(wrong("candidates", format!("there are {}, at most {MAX_CANDIDATES}", project.candidates.len())));
    }
    if project.baseline.is_none() && !project.candidates.is_empty() {
        return Err(wrong("candidates", "they stand here without a baseline"));
    }
    if let Some(baseline) = &project.baseline {
        check_entry("baseline", baseline)?;
        if baseline.strategy != Strategy::default() {
            return Err(wrong("baseline.strategy", "the baseline keeps everything"));
        }
    }
    for (idx, candidate) in project.candidates.iter().enumerate() {
        check_entry(&format!("candidates[{idx}]"), candidate)?;
    }
    Ok(())
}

fn check_work(place: &str, work: &Workload) -> Result<(), ReadError> {
    work.check().map_err(|error| wrong(place, error.to_string()))?;
    if work.n_steps != STEPS {
        return Err(wrong(place, format!("n_steps is {}; a project compares {STEPS}", work.n_steps)));
    }
    Ok(())
}

fn check_entry(place: &str, entry: &Entry) -> Result<(), ReadError> {
    check_work(&format!("{place}.work"), &entry.work)?;
    let strategy = entry.strategy;
    strategy.check(entry.work.batch).map_err(|error| wrong(&format!("{place}.strategy"), error.to_string()))?;
    if !["cpu", "cuda"].contains(&entry.device.backend.as_str()) {
        let what = format!("\"{}\" is not cpu or cuda", entry.device.backend);
        return Err(wrong(&format!("{place}.device.backend"), what));
    }
    let Outcome::Ran(run) = &entry.result else { return Ok(()) };
    let of = |field: &str| format!("{place}.result.{field}");
    if run.owners.checked_total().is_none() {
        return Err(wrong(&of("owners"), "their sum is larger than any memory"));
    }
    if run.used_bytes < run.owners.total() {
        let what = format!("{} is less than its owners' sum of {}", run.used_bytes, run.owners.total());
        return Err(wrong(&of("used_bytes"), what));
    }
    if run.losses.len() != STEPS {
        return Err(wrong(&of("losses"), format!("there are {}, not {STEPS}", run.losses.len())));
    }
    if run.samples_ns.is_empty() || run.samples_ns.len() != run.base_ns.len() {
        return Err(wrong(&of("samples_ns"), "it needs a sample of the baseline for each of its own"));
    }
    if run.samples_ns.iter().chain(&run.base_ns).any(|ns| *ns <= 0.0) {
        return Err(wrong(&of("samples_ns"), "a step takes time"));
    }
    if !(0.0..=f64::MAX).contains(&run.gap.relative) || run.gap.n_differ > run.gap.n {
        return Err(wrong(&of("gap"), "more numbers differ than there are, or by less than nothing"));
    }
    Ok(())
}
