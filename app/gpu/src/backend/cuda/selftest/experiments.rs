//! Every CUDA experiment in full, through the child process, judged as a page judges it.

use super::{Setup, Table, is_point};
use crate::client::{Client, Target};
use crate::hash;
use crate::manifest::{Experiment, Kernel};
use crate::plan::{self, Mode};
use crate::protocol::{FromChild, Job};
use crate::verdict::{self, Counters, Judged, Verdict};
use crate::{RunError, client::ClientEvent};
use std::ops::ControlFlow;
use std::time::Instant;
use vramlab_trace::{Backend, DeviceFacts, OracleOutcome, Run};
use vramlab_units::Map;

const GROUP: &str = "experiment";
const SEED: u64 = 0x5652_414D_4C41_4220;

pub fn run_all(setup: &Setup, client: &mut Client, facts: &DeviceFacts, table: &mut Table) -> Vec<Run> {
    let mut runs = Vec::new();
    for (id, experiment) in &setup.library.experiments {
        let Some((_, kernel)) = setup.library.get(id).filter(|_| experiment.backend == Backend::Cuda) else { continue };
        (setup.say)(&format!("{id} …"));
        let start = Instant::now();
        match run_one(setup, client, facts, experiment, kernel, Mode::Full) {
            Ok(run) => {
                let secs = start.elapsed().as_secs_f64();
                let judged = verdict::judge(&run, experiment, kernel);
                report(&run, experiment, &judged, secs, table);
                runs.push(run);
            }
            Err(error) => table.push(GROUP, id.as_str(), "runs", error.to_string().replace('\n', " "), false),
        }
    }
    conclude(setup, &runs, table);
    runs
}

/// The experiments called `ids`, on the graphics card or the processor, each in full; what was measured is told point by
/// point beside the prediction. An experiment that cannot run is told and left out.
pub fn record(setup: &Setup, client: &mut Client, ids: &[String]) -> Vec<Run> {
    let mut runs = Vec::new();
    for id in ids {
        let Some((experiment, kernel)) = setup.library.get(id) else {
            (setup.say)(&format!("there is no experiment {id}"));
            continue;
        };
        let start = Instant::now();
        let target = Target::new(experiment.backend);
        let run = client
            .facts_blocking(target)
            .and_then(|facts| run_one(setup, client, &facts, experiment, kernel, Mode::Full));
        match run {
            Ok(run) => {
                tell(setup, &run, &verdict::judge(&run, experiment, kernel), start.elapsed().as_secs_f64());
                runs.push(run);
            }
            Err(error) => (setup.say)(&format!("{id}: {error}")),
        }
    }
    runs
}

fn tell(setup: &Setup, run: &Run, judged: &Judged, secs: f64) {
    (setup.say)(&format!("{}: {}, {:?}, {secs:.1} s", run.experiment, judged.verdict.id(), judged.counters));
    for point in &judged.points {
        let percent = |share: Option<f64>| share.map_or("?".to_owned(), |share| format!("{:+.1} %", share * 100.0));
        let wrong = point.counters.iter().filter(|check| !check.agrees);
        let wrong: Vec<String> =
            wrong.map(|check| format!("{} {} ≠ {}", check.metric, check.counted, check.expected)).collect();
        let invalid = point.invalid.as_ref().map(|why| format!("{why:?}"));
        (setup.say)(&format!(
            "  {:9} {:>12} {:>12.4} against {:>12.4}, {:>8}, spread {:>7} {} {}",
            point.series,
            point.x.unwrap_or(f64::NAN),
            point.value.unwrap_or(f64::NAN),
            point.predicted.unwrap_or(f64::NAN),
            percent(point.rel_error),
            percent(point.spread),
            wrong.join("; "),
            invalid.unwrap_or_default(),
        ));
    }
}

/// Plans and runs one experiment on its device.
fn run_one(
    setup: &Setup,
    client: &mut Client,
    facts: &DeviceFacts,
    experiment: &Experiment,
    kernel: &Kernel,
    mode: Mode,
) -> Result<Run, RunError> {
    let job = job(setup, facts, experiment, kernel, mode)?;
    let mut rung = String::new();
    let points = client.run_blocking(Target::new(experiment.backend), job, |event| {
        if let ClientEvent::Job(FromChild::Rung { rung: id, why, .. }) = event {
            rung.clone_from(id);
            (setup.say)(&format!("  counters: {id}: {why}"));
        }
        ControlFlow::Continue(())
    })?;
    Ok(Run {
        experiment: experiment.id.clone(),
        backend: experiment.backend,
        date: setup.date.clone(),
        device: facts.clone(),
        content_hash: hash::content_hash(experiment, kernel, &sources(setup, kernel)),
        program: setup.program.clone(),
        mode: mode.id().to_owned(),
        settings: Map::new(),
        counter_rung: rung,
        points,
    })
}

fn sources(setup: &Setup, kernel: &Kernel) -> std::collections::BTreeMap<String, String> {
    setup.library.sources(&kernel.slug).cloned().unwrap_or_default()
}

fn job(
    setup: &Setup,
    facts: &DeviceFacts,
    experiment: &Experiment,
    kernel: &Kernel,
    mode: Mode,
) -> Result<Job, RunError> {
    let budget_bytes = plan::default_budget(facts);
    let plan = plan::plan(experiment, kernel, facts, mode, budget_bytes, &Map::new())
        .map_err(|why| RunError::Content { what: why.to_string() })?;
    let counters = experiment.counters.iter().map(|counter| counter.metric.clone()).collect();
    Ok(Job {
        id: 0,
        kernel: kernel.clone(),
        sources: sources(setup, kernel),
        plan,
        counters,
        seed: SEED,
        inspect: None,
    })
}

/// One row for the experiment: oracle, effect, time; one for its counters.
fn report(run: &Run, experiment: &Experiment, judged: &Judged, secs: f64, table: &mut Table) {
    let n = run.points.len();
    let n_right = run.points.iter().filter(|point| matches!(point.oracle, Some(OracleOutcome::Passed { .. }))).count();
    let n_invalid = judged.points.iter().filter(|point| point.value.is_none()).count();
    let effect = match &judged.verdict {
        Verdict::Shown { ratio, .. } => format!("effect shown, ratio {ratio:.2}"),
        Verdict::Hidden { ratio, cause, .. } => {
            let cause = cause.as_ref().map_or("no listed cause", |cause| cause.id.as_str());
            format!("effect hidden, ratio {ratio:.2} ({cause})")
        }
        other => format!("effect {}", other.id()),
    };
    let found = format!("{n_right} of {n} right, {n_invalid} without a value, {effect}, {secs:.1} s");
    let is_known = match &judged.verdict {
        Verdict::Shown { .. } => true,
        Verdict::Hidden { cause, .. } => cause.is_some(),
        _ => false,
    };
    let is_met = n_right == n && n_invalid == 0 && is_known && secs <= experiment.time_secs.min(20.0);
    let goal = format!("all right, effect shown or its cause named, ≤ {} s", experiment.time_secs);
    table.push(GROUP, experiment.id.as_str(), &goal, found, is_met);
    let found = match judged.counters {
        Counters::Agree { n_checked } => format!("{n_checked} of {n_checked} agree ({})", run.counter_rung),
        Counters::Differ { n_wrong, n_checked } => {
            let wrong = judged.points.iter().flat_map(|point| {
                let wrong = point.counters.iter().filter(|check| !check.agrees);
                wrong.map(move |check| {
                    format!("{}@{:?} {} {} ≠ {}", point.series, point.x, check.metric, check.counted, check.expected)
                })
            });
            format!("{n_wrong} of {n_checked} differ: {}", wrong.take(4).collect::<Vec<_>>().join("; "))
        }
        Counters::NotRead if experiment.counters.is_empty() => return,
        Counters::NotRead => format!("not read ({})", run.counter_rung),
    };
    let is_met = matches!(judged.counters, Counters::Agree { .. });
    table.push("counters", experiment.id.as_str(), "equal to the model, DRAM bytes within 1 %", found, is_met);
}

/// What all runs together say: spread of long launches, conflict cycles, the worst DRAM counter.
fn conclude(setup: &Setup, runs: &[Run], table: &mut Table) {
    let mut spread: (f64, String) = (0.0, "no launch of 0.5 ms".to_owned());
    let mut cycles: (f64, String) = (0.0, "not measured".to_owned());
    let mut dram: (f64, String) = (0.0, "not counted".to_owned());
    for run in runs {
        let Some((experiment, kernel)) = setup.library.get(&run.experiment) else { continue };
        let judged = verdict::judge(run, experiment, kernel);
        // What a kernel times itself rests on its own readings, not on the launch around them; work on the host is no launch.
        let reads_itself = kernel.cuda.as_ref().is_none_or(|cuda| !cuda.cycles.is_empty());
        for (point, judged) in run.points.iter().zip(&judged.points) {
            let at = format!("{} {}@{}", run.experiment, point.series, judged.x.unwrap_or(f64::NAN));
            let (median, mad) = (point.median_ns().unwrap_or_default(), point.mad_ns().unwrap_or_default());
            if median >= 500_000.0 && !reads_itself {
                raise(&mut spread, mad / median, &at);
            }
            if let Some(error) = judged.rel_error.filter(|_| kernel.slug == "shared_banks") {
                raise(&mut cycles, error.abs(), &at);
            }
            let is_exact = |metric: &str| {
                experiment.counters.iter().any(|counter| counter.metric == metric && counter.tolerance <= 0.01)
            };
            let checks = judged.counters.iter().filter(|check| check.metric.starts_with("dram__"));
            for check in checks.filter(|check| is_exact(&check.metric)) {
                raise(&mut dram, (check.counted / check.expected - 1.0).abs(), &at);
            }
        }
    }
    let percent = |(worst, at): &(f64, String)| format!("worst {:.3} % ({at})", worst * 100.0);
    table.push(
        "method",
        "MAD ÷ median of launches ≥ 0.5 ms",
        "≤ 0.2 %",
        percent(&spread),
        spread.0 <= 0.002 && spread.0 > 0.0,
    );
    table.push(
        "method",
        "cycles of a warp load against the model",
        "within 1 %",
        percent(&cycles),
        cycles.0 <= 0.01 && cycles.0 > 0.0,
    );
    table.push(
        "counters",
        "DRAM bytes against 64-byte pieces",
        "within 1 %",
        percent(&dram),
        dram.0 <= 0.01 && dram.0 > 0.0,
    );
}

fn raise(worst: &mut (f64, String), value: f64, at: &str) {
    if value > worst.0 {
        *worst = (value, at.to_owned());
    }
}

/// From the click to the first number on a warm context, and a whole quick sweep; then the same from a cold process.
pub fn first_number(setup: &Setup, client: &mut Client, facts: &DeviceFacts, table: &mut Table) {
    let cold = super::client().map(|mut cold| click(setup, &mut cold, facts));
    let warm = click(setup, client, facts);
    let mut put = |what: &str, goal: &str, limit: f64, found: Result<f64, RunError>| match found {
        Ok(secs) => table.push("time", what, goal, format!("{secs:.2} s"), secs <= limit),
        Err(error) => table.push("time", what, goal, error.to_string(), false),
    };
    put("click to first number, warm context", "≤ 0.5 s", 0.5, warm.clone().map(|(first, _)| first));
    put("quick stride sweep, warm context", "≤ 5 s", 5.0, warm.map(|(_, all)| all));
    put("click to first number, cold process", "≤ 1.2 s", 1.2, cold.and_then(|cold| cold).map(|(first, _)| first));
}

/// Seconds to the first point and to the end of a quick stride sweep.
fn click(setup: &Setup, client: &mut Client, facts: &DeviceFacts) -> Result<(f64, f64), RunError> {
    let missing = || RunError::Content { what: "there is no experiment strided_read/stride".to_owned() };
    let (experiment, kernel) = setup.library.get("strided_read/stride").ok_or_else(missing)?;
    let start = Instant::now();
    let job = job(setup, facts, experiment, kernel, Mode::Quick)?;
    let mut first = None;
    client.run_blocking(Target::new(Backend::Cuda), job, |event| {
        if is_point(event) {
            first.get_or_insert_with(|| start.elapsed().as_secs_f64());
        }
        ControlFlow::Continue(())
    })?;
    let all = start.elapsed().as_secs_f64();
    Ok((first.unwrap_or(all), all))
}
