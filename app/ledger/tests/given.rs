//! The six configurations that the course's authors measured on an H200, within their bands.

mod common;

use serde_json::Value;
use vramlab_ledger::{Figures, Start, figures, record};

const MIB: f64 = 1_048_576.0;
/// What the process of the records held before, less the 68 MiB of library workspaces.
const OTHERS: u64 = 564 << 20;

fn check(what: &str, ours: u64, measured: u64, share: f64, mib: f64) -> bool {
    let gap = ours as f64 - measured as f64;
    let band = (share * measured as f64).max(mib * MIB);
    println!("{what}: {ours} against {measured}, {gap:+} ({:+.3} %)", 100.0 * gap / measured as f64);
    gap.abs() <= band
}

#[test]
fn the_given_records_hold() {
    let records: Value =
        serde_json::from_str(include_str!("../../../tests/data/train_peaks/given.json")).expect("JSON");
    let mut bad = Vec::new();
    let mut n_exact = 0;
    for (idx, one) in records.as_array().expect("a list").iter().enumerate() {
        let run = record(&common::plan_of(one, false)).expect("a plan");
        let (after_model, steps) = figures(&run.tape, Start{place:if std::env::var("PL").as_deref()==Ok("b") {vramlab_ledger::Place::Below} else if std::env::var("PL").as_deref()==Ok("u") {vramlab_ledger::Place::Used} else {vramlab_ledger::Place::Fresh},..Start::default()}, |_, _, _| {});
        assert_eq!(run.n_params, one["params"].as_u64().expect("params"));
        assert_eq!(after_model, one["after_model"].as_u64().expect("after_model"), "case {}", idx + 1);
        for (step, ours) in steps.iter().enumerate() {
            let measured = &one["steps"][step];
            let of = |key: &str| measured[key].as_u64().expect("a figure");
            let Figures { after_forward, peak_forward, after_backward, peak_backward, after_step, peak_step, reserved } =
                *ours;
            for (key, ours, theirs, share, mib) in [
                ("after_forward", after_forward, of("after_forward"), 0.01, 16.0),
                ("peak_forward", peak_forward, of("peak_forward"), 0.01, 16.0),
                ("after_backward", after_backward, of("after_backward"), 0.015, 16.0),
                ("peak_backward", peak_backward, of("peak_backward"), 0.01, 16.0),
                ("after_step", after_step, of("after_step"), 0.015, 16.0),
                ("peak_step", peak_step, of("peak_step"), 0.01, 16.0),
                ("reserved", reserved, of("reserved") - OTHERS, 0.05, 128.0),
            ] {
                let name = format!("case {} step {step} {key}", idx + 1);
                n_exact += usize::from(ours == theirs);
                if !check(&name, ours, theirs, share, mib) {
                    bad.push(name);
                }
            }
        }
    }
    println!("{n_exact} of 84 exact");
    assert!(bad.is_empty(), "{bad:?}");
}
