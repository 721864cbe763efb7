//! Every exercise on the device, start and solution: compiled, run against the oracle, counted, and its goals by counters held against
//! those by addresses. The JSON table that the release notes quote.

use super::{Setup, client};
use crate::RunError;
use crate::bench::Bench;
use crate::client::{Client, ClientEvent, Target};
use crate::exercise::{Exercise, Metric, Try};
use crate::manifest::Kernel;
use crate::play::BUDGET;
use crate::protocol::{FromChild, Inspect};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use vramlab_trace::{Backend, DeviceFacts, OracleOutcome, Point};

/// How far a counter may lie from what the addresses say: wavefronts of shared memory wait for one another now and then.
const NEAR: f64 = 0.02;

/// Runs them all. Gives the table and whether everything is as it should be; the error is that of the device.
pub fn exercises(setup: &Setup) -> Result<(Value, bool), RunError> {
    let mut client = client()?;
    let facts = client.facts_blocking(Target::new(Backend::Cuda))?;
    let mut rows = Vec::new();
    let mut is_fine = true;
    for (slug, exercise) in &setup.library.exercises {
        let (Some(kernel), Some(sources)) = (setup.library.kernels.get(slug), setup.library.sources(slug)) else {
            continue;
        };
        for (name, is_solution) in [(&exercise.start, false), (&exercise.solution, true)] {
            let Some(source) = sources.get(name) else { continue };
            let one = One { exercise, kernel, source, facts: &facts, is_solution };
            let (row, is_right) = one.run(&mut client);
            (setup.say)(&format!("{} {slug}/{name}", if is_right { "ok  " } else { "FAIL" }));
            is_fine &= is_right;
            rows.push(row);
        }
    }
    let table = json!({
        "device": facts.name, "driver": facts.driver, "date": setup.date, "program": setup.program, "rows": rows,
        "is_fine": is_fine,
    });
    Ok((table, is_fine))
}

struct One<'a> {
    exercise: &'a Exercise,
    kernel: &'a Kernel,
    source: &'a str,
    facts: &'a DeviceFacts,
    is_solution: bool,
}

impl One<'_> {
    fn run(&self, client: &mut Client) -> (Value, bool) {
        let mut row = json!({ "exercise": self.exercise.slug, "is_solution": self.is_solution });
        let ran = self.measure(client, &mut row);
        let played = self.exercise.attempt(self.kernel, self.source, BUDGET);
        let (point, tried) = match (ran, played) {
            (Ok(point), Ok(tried)) => (point, tried),
            (Err(error), _) => {
                row["error"] = error.to_string().into();
                return (row, false);
            }
            (_, Err(error)) => {
                row["error"] = error.to_string().into();
                return (row, false);
            }
        };
        let is_right = matches!(point.oracle, Some(OracleOutcome::Passed { .. }));
        row["is_right"] = is_right.into();
        row["oracle"] = json!(point.oracle);
        row["median_ns"] = json!(point.median_ns());
        row["counters"] = json!(point.counters);
        let (goals, agrees, is_met) = self.goals(&point, &tried);
        row["goals"] = goals;
        row["agrees"] = agrees.into();
        // A start may be wrong on purpose, a race shows or not; what it must not do is meet its goals and be right.
        let is_solved = is_right && is_met && tried.is_right();
        let is_fine = if self.is_solution { is_solved && agrees } else { !is_solved };
        row["is_fine"] = is_fine.into();
        (row, is_fine)
    }

    fn measure(&self, client: &mut Client, row: &mut Value) -> Result<Point, RunError> {
        let mut counters = self.exercise.counters();
        counters.push(crate::bench::DRAM_READ.to_owned());
        counters.sort();
        counters.dedup();
        let bench =
            Bench { kernel: self.kernel, source: self.source, params: &self.exercise.params, facts: self.facts };
        let job = bench.job(counters, Inspect::AndRun).map_err(|what| RunError::Content { what })?;
        let points = client.run_blocking(Target::new(Backend::Cuda), job, |event| {
            match event {
                ClientEvent::Job(FromChild::Built { build, .. }) => {
                    row["build"] =
                        json!({ "arch": build.arch, "entries": build.entries, "ptx_bytes": build.ptx.len() });
                }
                ClientEvent::Job(FromChild::Rung { rung, why, .. }) => row["rung"] = json!([rung, why]),
                _ => {}
            }
            ControlFlow::Continue(())
        })?;
        points.into_iter().next().ok_or_else(|| RunError::Content { what: "no point came back".to_owned() })
    }

    /// The goals by both ways; whether they agree, and whether all are met by counters, or by addresses where no counter tells.
    fn goals(&self, point: &Point, tried: &Try) -> (Value, bool, bool) {
        let counted = self.exercise.by_counters(&point.counters, Some(&tried.played.reports));
        let (mut rows, mut agrees, mut is_met) = (Vec::new(), true, true);
        for (judged, counted) in tried.goals.iter().zip(&counted) {
            let metric = judged.goal.metric;
            let by_counter = counted.as_ref().map(|counted| counted.found);
            let is_near = by_counter.is_none_or(|found| near(metric, judged.found, found));
            agrees &= is_near;
            is_met &= counted.as_ref().map_or(judged.is_met, |counted| counted.is_met);
            rows.push(json!({
                "metric": metric.id(), "at_most": judged.goal.at_most, "at_least": judged.goal.at_least,
                "by_addresses": judged.found, "by_counters": by_counter, "agrees": is_near,
            }));
        }
        (Value::Array(rows), agrees, is_met)
    }
}

/// Sectors and requests are counted exactly; wavefronts nearly.
fn near(metric: Metric, expected: f64, found: f64) -> bool {
    let slack = if metric == Metric::ExcessWavefronts { NEAR } else { 1e-6 };
    (found - expected).abs() <= slack * expected.abs().max(1.0)
}
