//! A small kernel and experiment for the tests of this crate, as an author would write them.

use crate::manifest::{Experiment, Kernel};
use crate::plan::{Mode, plan};
use crate::read::{read_experiment, read_kernel};
use std::collections::BTreeMap;
use vramlab_trace::{Backend, DeviceFacts, OracleOutcome, Point, Run, Telemetry};
use vramlab_units::Map;

pub const KERNEL: &str = include_str!("kernel.toml");
pub const EXPERIMENT: &str = include_str!("stride.experiment.toml");

#[track_caller]
pub fn kernel() -> Kernel {
    let (kernel, problems) = read_kernel("read/kernel.toml", "read", KERNEL);
    assert!(problems.is_empty(), "{problems:?}");
    kernel.unwrap()
}

#[track_caller]
pub fn experiment() -> Experiment {
    let (experiment, problems) = read_experiment("read/stride.experiment.toml", "read/stride", EXPERIMENT, &kernel());
    assert!(problems.is_empty(), "{problems:?}");
    experiment.unwrap()
}

/// A made-up data-centre card with round numbers.
pub fn card() -> DeviceFacts {
    DeviceFacts {
        name: "Round Card".into(),
        driver: "1".into(),
        cc: Some(90.0),
        sm_count: Some(100.0),
        peak_gb_per_s: Some(1000.0),
        l2_bytes: Some(f64::from(32 << 20)),
        total_bytes: Some(f64::from(1 << 30) * 16.0),
        free_bytes: Some(f64::from(1 << 30) * 12.0),
        shared_per_block_bytes: Some(101_376.0),
        has_kernel_timeout: Some(0.0),
        ..DeviceFacts::default()
    }
}

/// A full run on [`card`] whose launches take `factor(stride)` times what the bytes and the peak give.
pub fn run(factor: impl Fn(f64) -> f64) -> Run {
    let plan = plan(&experiment(), &kernel(), &card(), Mode::Full, 6 << 30, &Map::new()).unwrap();
    let point = |point: &crate::plan::PointPlan| {
        let time_ns = point.vars["est_ns"] * factor(point.x);
        Point {
            series: point.series.clone(),
            params: point.params.clone(),
            samples_ns: vec![time_ns * 0.99, time_ns, time_ns * 1.01],
            readings: BTreeMap::new(),
            counters: BTreeMap::new(),
            telemetry: Telemetry::default(),
            oracle: Some(OracleOutcome::Passed { n_checked: 1, worst_error: 0.0 }),
            invalid: None,
        }
    };
    Run {
        experiment: "read/stride".into(),
        backend: Backend::Cuda,
        date: "2026-11-30".into(),
        device: card(),
        content_hash: "sha256:0".into(),
        program: "0.1.0".into(),
        mode: "full".into(),
        settings: Map::new(),
        counter_rung: "none".into(),
        points: plan.points.iter().map(point).collect(),
    }
}
