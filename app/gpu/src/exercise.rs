//! `exercise.toml`: a task about how a kernel treats memory. The folder's `kernel.toml` says what the kernel must compute and how it is
//! launched; here stand the task, a starting point that fails its own goals, a solution that meets them, hints, and the goals: bounds
//! on what the accesses come to, judged by their addresses, never by time.

use crate::play::{PlayError, Played, play};
use serde::{Deserialize, Serialize};
use vramlab_simt::{Act, Report, Space};
use vramlab_trace::OracleOutcome;
use vramlab_units::{Localized, Map, Text};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exercise {
    pub schema: u32,
    /// The folder's name; filled in by the reader.
    #[serde(default)]
    pub slug: String,
    pub title: Localized,
    /// What to do, in a few sentences.
    pub task: Localized,
    /// Files in the folder.
    pub start: String,
    pub solution: String,
    /// What the kernel is played with: small enough for the processor.
    #[serde(default)]
    pub params: Map,
    #[serde(rename = "goal")]
    pub goals: Vec<Goal>,
    #[serde(default, rename = "hint")]
    pub hints: Vec<Localized>,
}

/// A bound on one number of the accesses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    pub metric: Metric,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
}

/// What is counted over all launches of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Sectors of a load from global memory, on average.
    SectorsPerLoad,
    /// Sectors of a store to global memory, on average.
    SectorsPerStore,
    /// Sectors of loads beyond what the bytes asked for would fill.
    WastedLoadSectors,
    WastedStoreSectors,
    /// Requests of warps to global memory, loads and stores.
    GlobalRequests,
    /// Bytes of all sectors between SM and L2.
    L2Bytes,
    /// Least bytes of DRAM, read and written.
    DramBytes,
    /// Wavefronts of shared memory beyond the fewest.
    ExcessWavefronts,
    /// Requests to shared memory.
    SharedRequests,
    /// Atomic requests, on global and shared memory.
    Atomics,
    /// Branches at which a warp went both ways.
    DivergentBranches,
    Barriers,
    /// Pairs of lines that touch shared memory without a barrier between.
    Races,
}

impl Metric {
    pub const ALL: &[Self] = &[
        Self::SectorsPerLoad,
        Self::SectorsPerStore,
        Self::WastedLoadSectors,
        Self::WastedStoreSectors,
        Self::GlobalRequests,
        Self::L2Bytes,
        Self::DramBytes,
        Self::ExcessWavefronts,
        Self::SharedRequests,
        Self::Atomics,
        Self::DivergentBranches,
        Self::Barriers,
        Self::Races,
    ];

    /// Its name in `exercise.toml`.
    pub fn id(self) -> String {
        serde_json::to_value(self).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
    }

    pub fn name(self) -> Text {
        match self {
            Self::SectorsPerLoad => Text::new("每次读的扇区", "sectors a load"),
            Self::SectorsPerStore => Text::new("每次写的扇区", "sectors a store"),
            Self::WastedLoadSectors => Text::new("读时多搬的扇区", "wasted sectors of loads"),
            Self::WastedStoreSectors => Text::new("写时多搬的扇区", "wasted sectors of stores"),
            Self::GlobalRequests => Text::new("显存请求", "requests to global memory"),
            Self::L2Bytes => Text::new("SM 与 L2 之间的字节", "bytes between SM and L2"),
            Self::DramBytes => Text::new("显存至少搬的字节", "least bytes of DRAM"),
            Self::ExcessWavefronts => Text::new("共享内存多出的 wavefront", "excess wavefronts of shared memory"),
            Self::SharedRequests => Text::new("共享内存请求", "requests to shared memory"),
            Self::Atomics => Text::new("原子操作请求", "atomic requests"),
            Self::DivergentBranches => Text::new("warp 内分岔的分支", "branches that split a warp"),
            Self::Barriers => Text::new("barrier", "barriers"),
            Self::Races => Text::new("数据竞争", "races"),
        }
    }

    /// Its value over the launches of a kernel.
    pub fn of(self, reports: &[Report]) -> f64 {
        let sum = |act, of: fn(&vramlab_simt::Site) -> u64, space| {
            reports.iter().map(|report| of(&report.sum(space, act))).sum::<u64>() as f64
        };
        let global = |act, of| sum(act, of, Space::Global);
        let shared = |act, of| sum(act, of, Space::Shared);
        let each = |moved: f64, requests: f64| if requests > 0.0 { moved / requests } else { 0.0 };
        let total = |of: fn(&Report) -> u64| reports.iter().map(of).sum::<u64>() as f64;
        match self {
            Self::SectorsPerLoad => each(global(Act::Load, |site| site.moved), global(Act::Load, |site| site.requests)),
            Self::SectorsPerStore => {
                each(global(Act::Store, |site| site.moved), global(Act::Store, |site| site.requests))
            }
            Self::WastedLoadSectors => global(Act::Load, |site| site.moved - site.least),
            Self::WastedStoreSectors => global(Act::Store, |site| site.moved - site.least),
            Self::GlobalRequests => global(Act::Load, |site| site.requests) + global(Act::Store, |site| site.requests),
            Self::L2Bytes => 32.0 * (global(Act::Load, |site| site.moved) + global(Act::Store, |site| site.moved)),
            Self::DramBytes => total(|report| report.dram_read_bytes + report.dram_write_bytes),
            Self::ExcessWavefronts => {
                let excess = |act| shared(act, |site| site.moved - site.least);
                excess(Act::Load) + excess(Act::Store)
            }
            Self::SharedRequests => shared(Act::Load, |site| site.requests) + shared(Act::Store, |site| site.requests),
            Self::Atomics => global(Act::Atomic, |site| site.requests) + shared(Act::Atomic, |site| site.requests),
            Self::DivergentBranches => total(|report| report.divergent),
            Self::Barriers => total(|report| report.barriers),
            Self::Races => total(|report| report.races.len() as u64),
        }
    }
}

/// A goal with the number that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    pub goal: Goal,
    pub found: f64,
    pub is_met: bool,
}

/// A try at an exercise.
#[derive(Clone, Debug)]
pub struct Try {
    pub played: Played,
    pub goals: Vec<Judged>,
}

impl Try {
    /// The results are right, the threads in order, and every goal is met.
    pub fn is_solved(&self) -> bool {
        self.is_right() && self.goals.iter().all(|goal| goal.is_met)
    }

    /// The results are what the oracle says, and no two warps touched the same word of shared memory unordered.
    pub fn is_right(&self) -> bool {
        let is_ordered = |report: &Report| report.races.is_empty() && report.unwritten.is_empty();
        matches!(self.played.oracle, OracleOutcome::Passed { .. }) && self.played.reports.iter().all(is_ordered)
    }
}

impl Goal {
    pub fn judge(&self, reports: &[Report]) -> Judged {
        self.judge_value(self.metric.of(reports))
    }

    /// Judges a value that was found elsewhere, by counters.
    pub fn judge_value(&self, found: f64) -> Judged {
        // Averages of many requests: a billionth is rounding.
        let is_met = self.at_most.is_none_or(|most| found <= most * (1.0 + 1e-9))
            && self.at_least.is_none_or(|least| found >= least * (1.0 - 1e-9));
        Judged { goal: self.clone(), found, is_met }
    }
}

impl Exercise {
    /// Plays `source` and judges it.
    pub fn attempt(&self, kernel: &crate::manifest::Kernel, source: &str, budget: u64) -> Result<Try, PlayError> {
        Ok(self.judge(play(kernel, source, &self.params, budget)?))
    }

    /// Judges what was played.
    pub fn judge(&self, played: Played) -> Try {
        let goals = self.goals.iter().map(|goal| goal.judge(&played.reports)).collect();
        Try { played, goals }
    }
}
