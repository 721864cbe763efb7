//! Faults made on purpose: an endless kernel, one that writes out of bounds, an allocation that no device can hold. Each
//! must come back as its own error, and the next run must work.

use super::{Setup, Table};
use crate::RunError;
use crate::client::{Client, Target};
use crate::manifest::Kernel;
use crate::plan::{Mode, Plan, PointPlan};
use crate::protocol::Job;
use crate::read;
use crate::vars::PointVars;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Instant;
use vramlab_trace::{Backend, DeviceFacts, OracleOutcome, Point};
use vramlab_units::Map;

const GROUP: &str = "fault";

/// What every drill's kernel has in common; the source decides what goes wrong.
const MANIFEST: &str = r#"
schema = 1
title = { zh = "演习", en = "Drill" }
about = { zh = "故意出错的内核", en = "A kernel that goes wrong on purpose" }
safety = { zh = "只在自检里运行", en = "Run by the self-test alone" }
[[param]]
key = "n_bytes"
unit = "B"
min = 4
max = 1e15
default = 4096
means = { zh = "数组的字节数", en = "bytes of the array" }
[work]
bytes_moved = "n_bytes"
[[buffer]]
name = "out"
bytes = "n_bytes"
fill = "poison"
[oracle]
id = "fill"
with = { out = "out", n = "1", value = "7" }
[cuda]
source = "drill.cu"
entry = "drill"
grid = "1"
block = "32"
args = ["ptr:out"]
"#;

const SOUND: &str = "extern \"C\" __global__ void drill(unsigned* out) { out[0] = 7; }";
const ENDLESS: &str = "extern \"C\" __global__ void drill(volatile unsigned* out) { while (out[0] != 7) { } }";
const OUT_OF_BOUNDS: &str =
    "extern \"C\" __global__ void drill(unsigned* out) { out[(1ull << 40) + threadIdx.x] = 7; }";
const MISALIGNED: &str =
    "extern \"C\" __global__ void drill(unsigned char* out) { *(unsigned*)(out + 1 + threadIdx.x * 4) = 7; }";

pub fn drill(setup: &Setup, client: &mut Client, table: &mut Table) {
    (setup.say)("faults on purpose …");
    let mut try_one = |what: &str,
                       goal: &str,
                       source: &str,
                       n_bytes: f64,
                       budget: Option<u64>,
                       is_right: fn(&RunError) -> bool| {
        // The crash counter must not turn the runner off in the middle of a drill.
        client.reset();
        let start = Instant::now();
        let error = run(client, source, n_bytes, budget).err();
        let fault_secs = start.elapsed().as_secs_f64();
        let again = Instant::now();
        let next = run(client, SOUND, 4096.0, None);
        let is_next_right = next.as_ref().is_ok_and(|points| {
            points.iter().all(|point| matches!(point.oracle, Some(OracleOutcome::Passed { .. }))) && !points.is_empty()
        });
        let next = match next {
            Ok(_) if is_next_right => format!("the next run is right after {:.1} s", again.elapsed().as_secs_f64()),
            Ok(points) => format!("the next run is wrong: {:?}", points.first().and_then(|point| point.oracle.clone())),
            Err(error) => format!("the next run fails: {error}"),
        };
        let told = error.as_ref().map_or_else(|| "no error".to_owned(), |error| error.to_string().replace('\n', " "));
        let found = format!("“{told}” after {fault_secs:.1} s; {next}");
        table.push(GROUP, what, goal, found, error.as_ref().is_some_and(is_right) && is_next_right);
    };
    let is_deadline = |error: &RunError| matches!(error, RunError::Deadline { .. });
    try_one("endless kernel, deadline 3 s", "ended at the deadline", ENDLESS, 4096.0, None, is_deadline);
    let is_700 = |error: &RunError| matches!(error, RunError::Device { code: 700, is_fatal: true, .. });
    try_one("write out of bounds", "error 700 with the kernel's name", OUT_OF_BOUNDS, 4096.0, None, is_700);
    let is_716 = |error: &RunError| matches!(error, RunError::Device { code: 716, is_fatal: true, .. });
    try_one("misaligned store", "error 716 with the kernel's name", MISALIGNED, 4096.0, None, is_716);
    let is_oom = |error: &RunError| matches!(error, RunError::OutOfMemory { .. });
    try_one("allocation of 4 TB", "asked, free and total are named", SOUND, 4e12, Some(1 << 50), is_oom);
    let is_over = |error: &RunError| matches!(error, RunError::OverBudget { .. });
    try_one("4 TB against the default budget", "refused before allocating", SOUND, 4e12, None, is_over);
    let is_compile = |error: &RunError| matches!(error, RunError::Compile { .. });
    try_one("a mistake in the source", "the compiler's log", "not a kernel", 4096.0, None, is_compile);
}

fn run(client: &mut Client, source: &str, n_bytes: f64, budget_bytes: Option<u64>) -> Result<Vec<Point>, RunError> {
    let target = Target { backend: Backend::Cuda, budget_bytes };
    client.run_blocking(target, job(source, n_bytes)?, |_| ControlFlow::Continue(()))
}

fn job(source: &str, n_bytes: f64) -> Result<Job, RunError> {
    let (kernel, problems) = read::read_kernel("drill/kernel.toml", "drill", MANIFEST);
    let kernel: Kernel = kernel.ok_or_else(|| RunError::Content { what: format!("{problems:?}") })?;
    let mut params = Map::new();
    params.insert("n_bytes".to_owned(), n_bytes.into());
    let vars = PointVars::of(&kernel, &params, &DeviceFacts::default()).vars;
    let point = PointPlan { series: "drill".to_owned(), x: 0.0, params, vars, predicted: None, n_samples: 3 };
    let plan = Plan {
        experiment: "drill/main".to_owned(),
        mode: Mode::Quick,
        points: vec![point],
        peak_bytes: n_bytes as u64,
        deadline_secs: 3.0,
    };
    let sources = BTreeMap::from([("drill.cu".to_owned(), source.to_owned())]);
    Ok(Job { id: 0, kernel, sources, plan, counters: Vec::new(), seed: 1, inspect: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drill_is_a_legal_kernel() {
        let job = job(SOUND, 4096.0).unwrap();
        assert_eq!(job.plan.points[0].vars["bytes.out"], 4096.0);
    }
}
