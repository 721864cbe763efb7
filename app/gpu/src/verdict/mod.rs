//! What a run shows: the measured value of every point beside its prediction, which numbers may not be printed, whether
//! the effect showed and if not why.
//!
//! `point.rs` is one point, `effect.rs` the ratio and its causes, `compare.rs` refuses to set unlike runs side by side,
//! `change.rs` sets like ones side by side, `lens.rs` shows another observable of a run, `level.rs` how strong its
//! evidence is.
//! A number that is faster than the hardware allows, wrong, unchecked or too short to time is marked invalid and has no
//! value: it cannot be printed by mistake.

mod change;
mod compare;
mod effect;
mod floor;
mod lens;
mod level;
mod point;
pub mod stats;

pub use change::{Compared, DRIFT, Overall, PointChange, Side, compare, intervals};
pub use compare::{Difference, comparable, comparable_through};
pub use effect::{FAR_OFF, Verdict};
pub use floor::floor_ns;
pub use lens::{missing, through};
pub use level::{Evidence, Level, level};
pub use point::{CounterCheck, JudgedPoint};

use crate::manifest::{Experiment, Kernel};
use vramlab_trace::Run;

/// Names that formulas over measured points may use beside `vars.rs`.
pub mod names {
    /// The sensors around a point.
    pub const SENSORS: &[&str] = &["sm_clock_mhz", "mem_clock_mhz", "power_w", "temperature_c"];
    /// What is known of a judged point, for causes: its value, its prediction, MAD over median of its samples (without
    /// `larger.` or `smaller.` the greater spread of the two).
    pub const JUDGED: &[&str] = &["value", "predicted", "spread"];
    /// What is known of the pair, for causes: the ratio measured and expected, the limit (1 if a sensor reported a
    /// reason that limited the clock) and the most other processes on the device.
    pub const PAIR: &[&str] = &["ratio", "expected", "throttled", "other_processes"];
}

/// A run, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// In the run's order.
    pub points: Vec<JudgedPoint>,
    pub verdict: Verdict,
    pub counters: Counters,
}

/// What the hardware counters say of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counters {
    /// None was read.
    NotRead,
    /// All of them agree: evidence of its own.
    Agree {
        n_checked: usize,
    },
    Differ {
        n_wrong: usize,
        n_checked: usize,
    },
}

/// Judges a run, live or recorded, by the experiment of today. Points that are still to come make the verdict
/// [`Verdict::Incomplete`].
pub fn judge(run: &Run, experiment: &Experiment, kernel: &Kernel) -> Judged {
    let judge_point = |point| point::judge(point, run, experiment, kernel);
    let points: Vec<JudgedPoint> = run.points.iter().map(judge_point).collect();
    let verdict = effect::verdict(run, experiment, &points);
    let checks = points.iter().flat_map(|point| &point.counters);
    let n_checked = checks.clone().count();
    let n_wrong = checks.filter(|check| !check.agrees).count();
    let counters = match (n_checked, n_wrong) {
        (0, _) => Counters::NotRead,
        (n_checked, 0) => Counters::Agree { n_checked },
        (n_checked, n_wrong) => Counters::Differ { n_wrong, n_checked },
    };
    Judged { points, verdict, counters }
}

/// A profiler's metric as formulas spell it: every character that is no letter or digit becomes `_`.
pub fn metric_name(metric: &str) -> String {
    metric.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests;
