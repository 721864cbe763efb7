//! What a project's file holds, and how it is read.

use super::decide::Decision;
use super::rules::compare;
use crate::arena::{Bytes, Holder};
use crate::compare::Gap;
use crate::device::Phase;
use crate::net::Workload;
use crate::strategy::Strategy;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use vramlab_units::Localized;

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
    Value {
        place: String,
        what: String,
        /// The same in Chinese.
        zh: String,
    },
}

impl ReadError {
    /// The error in both languages; the English words are those of the error itself.
    pub fn told(&self) -> Localized {
        let zh = match self {
            Self::TooLong { bytes } => format!("有 {bytes} 字节；项目文件最多 {MAX_BYTES}"),
            Self::Text { line, column, what } if what.starts_with("EOF") => {
                format!("第 {line} 行第 {column} 列：文件到这里断了")
            }
            Self::Text { line, column, what } => format!("第 {line} 行第 {column} 列不是项目文件的写法（{what}）"),
            Self::Schema { found } => {
                let found = if found == "missing" { "没有写" } else { found.as_str() };
                format!("schema：{found}；这个程序读的是 \"{SCHEMA}\"")
            }
            Self::Value { place, zh, .. } => format!("{place}：{zh}"),
        };
        Localized::both(zh, self.to_string())
    }
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

fn wrong(place: &str, zh: impl Into<String>, what: impl Into<String>) -> ReadError {
    ReadError::Value { place: place.to_owned(), what: what.into(), zh: zh.into() }
}

fn check(project: &Project) -> Result<(), ReadError> {
    check_work("work", &project.work)?;
    for (name, value) in [("gate.loss", project.gate.loss), ("gate.gradient", project.gate.gradient)] {
        if !(0.0..=1.0).contains(&value) {
            return Err(wrong(name, format!("{value} 不在 0 到 1 之间"), format!("{value} is not from 0 to 1")));
        }
    }
    let n = project.candidates.len();
    if n > MAX_CANDIDATES {
        return Err(wrong(
            "candidates",
            format!("有 {n} 个，最多 {MAX_CANDIDATES}"),
            format!("there are {n}, at most {MAX_CANDIDATES}"),
        ));
    }
    if project.baseline.is_none() && !project.candidates.is_empty() {
        return Err(wrong("candidates", "有候选却没有基线", "they stand here without a baseline"));
    }
    if let Some(baseline) = &project.baseline {
        check_entry("baseline", baseline)?;
        if baseline.strategy != Strategy::default() {
            return Err(wrong("baseline.strategy", "基线什么都留着", "the baseline keeps everything"));
        }
    }
    for (idx, candidate) in project.candidates.iter().enumerate() {
        check_entry(&format!("candidates[{idx}]"), candidate)?;
    }
    check_alike(project)
}

/// What was measured must be of the work that stands at the top, and all of it comparable: whoever edits one of the two has
/// another project.
fn check_alike(project: &Project) -> Result<(), ReadError> {
    let Some(baseline) = &project.baseline else { return Ok(()) };
    let fixed = Entry { work: project.work, ..baseline.clone() };
    if let Some(other) = compare(baseline, &fixed).first() {
        let what = format!(
            "not comparable: {} is {}, and the baseline was measured with {}",
            other.field, other.candidate, other.baseline
        );
        let zh = format!("不可比：{} 是 {}，基线是用 {} 测的", other.field, other.candidate, other.baseline);
        return Err(wrong("work", zh, what));
    }
    for (idx, candidate) in project.candidates.iter().enumerate() {
        if let Some(other) = compare(baseline, candidate).first() {
            let what = format!("not comparable: {} {} vs {}", other.field, other.baseline, other.candidate);
            let zh = format!("不可比：{} 一个是 {}，一个是 {}", other.field, other.baseline, other.candidate);
            return Err(wrong(&format!("candidates[{idx}]"), zh, what));
        }
    }
    Ok(())
}

fn check_work(place: &str, work: &Workload) -> Result<(), ReadError> {
    work.check().map_err(|error| wrong(place, error.to_string(), error.to_string()))?;
    if work.n_steps != STEPS {
        let (n, zh) = (work.n_steps, format!("n_steps 是 {}；项目比较 {STEPS} 步", work.n_steps));
        return Err(wrong(place, zh, format!("n_steps is {n}; a project compares {STEPS}")));
    }
    Ok(())
}

/// What a device's counter may show beside the arena's books: nothing on the processor, a rounding on a card.
fn beside(device: &Device, total: u64) -> u64 {
    if device.is_cpu() { 0 } else { total / 100 + 65_536 }
}

fn check_entry(place: &str, entry: &Entry) -> Result<(), ReadError> {
    check_work(&format!("{place}.work"), &entry.work)?;
    let strategy = entry.strategy;
    strategy
        .check(entry.work.batch)
        .map_err(|error| wrong(&format!("{place}.strategy"), error.to_string(), error.to_string()))?;
    if !["cpu", "cuda"].contains(&entry.device.backend.as_str()) {
        let other = &entry.device.backend;
        let (zh, what) = (format!("\"{other}\" 既不是 cpu 也不是 cuda"), format!("\"{other}\" is not cpu or cuda"));
        return Err(wrong(&format!("{place}.device.backend"), zh, what));
    }
    let Outcome::Ran(run) = &entry.result else { return Ok(()) };
    let of = |field: &str| format!("{place}.result.{field}");
    if run.owners.checked_total().is_none() {
        return Err(wrong(&of("owners"), "加起来比任何显存都大", "their sum is larger than any memory"));
    }
    let (used, total) = (run.used_bytes, run.owners.total());
    if used < total || used > total.saturating_add(beside(&entry.device, total)) {
        let what = format!("{used} is not what its owners hold together, {total}");
        return Err(wrong(&of("used_bytes"), format!("{used} 和各归属之和 {total} 对不上"), what));
    }
    if run.losses.len() != STEPS {
        let n = run.losses.len();
        return Err(wrong(&of("losses"), format!("有 {n} 个，不是 {STEPS} 个"), format!("there are {n}, not {STEPS}")));
    }
    if run.samples_ns.is_empty() || run.samples_ns.len() != run.base_ns.len() {
        return Err(wrong(
            &of("samples_ns"),
            "每个样本要有旁边基线的一个",
            "it needs a sample of the baseline for each of its own",
        ));
    }
    if run.samples_ns.iter().chain(&run.base_ns).any(|ns| *ns <= 0.0) {
        return Err(wrong(&of("samples_ns"), "一步总要花时间", "a step takes time"));
    }
    if !(0.0..=f64::MAX).contains(&run.gap.relative) || run.gap.n_differ > run.gap.n {
        return Err(wrong(
            &of("gap"),
            "不同的数比总数还多，或差得比零还少",
            "more numbers differ than there are, or by less than nothing",
        ));
    }
    Ok(())
}
