//! The products of `batch_gemm` beside PyTorch's, in the same start: microseconds of one product, theirs over ours.
//! PyTorch reaches the tensor cores of a Hopper through wgmma, our kernel through mma.sync, which is why large batches
//! are far apart.

use super::{Setup, Table};
use serde_json::Value;
use std::process::Command;
use vramlab_trace::Run;

const GROUP: &str = "peer";

/// A series beside one of PyTorch's types.
struct Pair {
    experiment: &'static str,
    series: &'static str,
    dtype: &'static str,
    /// Batches, each with the least ratio.
    batches: &'static [(u64, f64)],
}

const PAIRS: &[Pair] = &[
    Pair {
        experiment: "batch_gemm/main",
        series: "bf16",
        dtype: "bfloat16",
        batches: &[(1, 0.95), (16, 0.95), (64, 0.95), (1024, 0.45)],
    },
    Pair {
        experiment: "batch_gemm_f32/main",
        series: "f32",
        dtype: "float32",
        batches: &[(1, 0.95), (8, 0.95), (1024, 0.8)],
    },
];

pub fn compare(setup: &Setup, runs: &[Run], table: &mut Table) {
    (setup.say)("products …");
    let script = setup.peers.join("gemm.py");
    let answers = match Command::new("python3").arg(script).output() {
        Ok(output) => String::from_utf8_lossy(&output.stdout).into_owned(),
        Err(error) => return table.push(GROUP, "products", "runs", format!("python3 does not start: {error}"), false),
    };
    let answers: Vec<Value> = answers.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    for Pair { experiment, series, dtype, batches } in PAIRS {
        for (m, least) in *batches {
            let what = format!("{dtype} product, batch {m}: PyTorch's time ÷ ours");
            let theirs = answers.iter().find(|answer| answer["what"] == *dtype && answer["m"] == *m);
            let theirs = theirs.and_then(|answer| answer["us"].as_f64());
            let (Some(ours), Some(theirs)) = (ours_us(runs, experiment, series, *m), theirs) else {
                table.push(GROUP, what, &format!("≥ {least}"), "no number".to_owned(), false);
                continue;
            };
            let ratio = theirs / ours;
            let found = format!("{ratio:.3}: {ours:.2} against {theirs:.2} µs");
            table.push(GROUP, what, &format!("≥ {least}"), found, ratio >= *least);
        }
    }
}

/// Microseconds of one product in what was just recorded.
fn ours_us(runs: &[Run], experiment: &str, series: &str, m: u64) -> Option<f64> {
    let run = runs.iter().find(|run| run.experiment == experiment)?;
    let number = |point: &vramlab_trace::Point, key: &str| point.params.get(key).and_then(Value::as_f64);
    let point = run.points.iter().find(|point| point.series == series && number(point, "m") == Some(m as f64))?;
    Some(point.median_ns()? / number(point, "n_mat")? / 1e3)
}
