//! A record beside the tape's figures.

use crate::configs::plan_of;
use serde_json::Value;
use vramlab_ledger::{Figures, Place, Start, figures, record};

const MIB: f64 = 1_048_576.0;

/// One figure of one step.
#[derive(Debug)]
pub struct Row {
    pub step: usize,
    pub key: &'static str,
    pub ours: u64,
    pub measured: u64,
    pub is_within: bool,
}

/// All figures of a record. `others` is what `reserved` holds besides the base.
pub fn rows(one: &Value, is_apart: bool, start: Start, others: u64) -> Vec<Row> {
    let run = record(&plan_of(one, is_apart)).expect("a plan");
    let (after_model, steps) = figures(&run.tape, start, |_, _, _| {});
    let of = |value: &Value| value.as_u64().expect("a figure");
    // PyTorch counts the bytes of a packed matrix.
    if one["base"] != "nf4" {
        assert_eq!(run.n_params, of(&one["params"]), "{one}");
    }
    assert_eq!(run.n_trained, one["trained"].as_u64().unwrap_or(run.n_trained), "{one}");
    let row = |step, key, ours: u64, measured: u64, share: f64, mib: f64| {
        let gap = (ours as f64 - measured as f64).abs();
        Row { step, key, ours, measured, is_within: gap <= (share * measured as f64).max(mib * MIB) }
    };
    let mut out = vec![row(0, "after_model", after_model, of(&one["after_model"]), 0.01, 16.0)];
    let reserved_band = if one["net"] == "resnet50" && one["dtype"] == "fp32" { 0.10 } else { 0.05 };
    for (step, ours) in steps.iter().enumerate() {
        let Figures { after_forward, peak_forward, after_backward, peak_backward, after_step, peak_step, reserved } =
            *ours;
        for (key, ours, share, mib) in [
            ("after_forward", after_forward, 0.01, 16.0),
            ("peak_forward", peak_forward, 0.01, 16.0),
            ("after_backward", after_backward, 0.015, 16.0),
            ("peak_backward", peak_backward, 0.01, 16.0),
            ("after_step", after_step, 0.015, 16.0),
            ("peak_step", peak_step, 0.01, 16.0),
            ("reserved", reserved + others, reserved_band, 128.0),
        ] {
            out.push(row(step, key, ours, of(&one["steps"][step][key]), share, mib));
        }
    }
    out
}

/// The process of a record, from what it held before the model.
pub fn start_of(one: &Value) -> Start {
    let base = one["base_allocated"].as_u64().expect("base_allocated") >> 20;
    Start { n_small: (base % 32) as u32, n_large: (base / 32) as u32, place: Place::Fresh }
}
