//! An experiment for the device at hand: sizes, launches and predictions, computed before anything runs.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use vramlab_units::Map;

/// Quick runs answer in seconds; full runs are what `record` writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    #[default]
    Quick,
    Full,
}

/// One point to run, with everything resolved to numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointPlan {
    pub series: String,
    /// Value of the sweep's parameter.
    pub x: f64,
    /// Kernel parameters, sizes of the plan included.
    pub params: Map,
    /// Every number a later formula may name: parameters, derived quantities, `work.*`, `bytes.BUFFER` (size of a
    /// buffer), `device.*` facts, `budget_bytes`, `est_ns`. Launch shapes, oracles and routines need no other lookup.
    pub vars: BTreeMap<String, f64>,
    /// What the model predicts, in the unit of the measure; nothing if the device does not tell a fact that it needs.
    pub predicted: Option<f64>,
    pub n_samples: u32,
}

/// A runnable experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub experiment: String,
    pub mode: Mode,
    pub points: Vec<PointPlan>,
    /// Largest sum of buffers of one point.
    pub peak_bytes: u64,
    /// Longest the run may take before it is ended.
    pub deadline_secs: f64,
}
