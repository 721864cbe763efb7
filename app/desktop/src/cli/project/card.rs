//! A pair on the card, in the runner's child: the routine of `small_training` with the project's sizes.

use super::predicted;
use crate::cli::Exit;
use crate::cli::drive::Driver;
use crate::cli::fault::Fault;
use vramlab_gpu::client::Target;
use vramlab_gpu::plan::{Mode, default_budget};
use vramlab_gpu::protocol::Job;
use vramlab_trace::{Backend, DeviceFacts, OracleOutcome, Point};
use vramlab_train::arena::Bytes;
use vramlab_train::compare::Gap;
use vramlab_train::net::{Dtype, Kind, Optimizer};
use vramlab_train::project::{Device, Outcome, Run};
use vramlab_train::{Strategy, Workload};
use vramlab_units::{Map, Value};

const EXPERIMENT: &str = "small_training/peak";
const HOLDERS: usize = 12;
/// A pair of a few hundred steps at most.
const DEADLINE_SECS: f64 = 120.0;
const MIB: f64 = 1_048_576.0;

fn facts(driver: &mut Driver<'_>) -> Result<DeviceFacts, Fault> {
    let lang = driver.lang();
    driver.facts(Target::new(Backend::Cuda)).map_err(|error| Fault::of_run(&error, lang))
}

pub fn device(driver: &mut Driver<'_>) -> Result<Device, Fault> {
    let facts = facts(driver)?;
    Ok(Device { backend: "cuda".to_owned(), name: facts.name, driver: facts.driver })
}

pub fn pair(
    driver: &mut Driver<'_>,
    work: Workload,
    strategy: Strategy,
    limit: Option<u64>,
    n_samples: u32,
) -> Result<Outcome, Fault> {
    if work.dtype != Dtype::Fp32 {
        let what = format!("dtype {} runs on the processor only", work.dtype.id());
        return Err(Fault::usage(what).help("`vramlab project new --dtype fp32`, or --backend cpu"));
    }
    let facts = facts(driver)?;
    let budget = default_budget(&facts);
    let forecast = predicted(&work, strategy)?;
    let needed = predicted(&work, Strategy::default())?.peak.total();
    if needed > budget {
        let what = format!("the baseline takes {} MiB, above the budget of {} MiB", needed >> 20, budget >> 20);
        return Err(Fault::usage(what).help("choose smaller sizes"));
    }
    let job = driver.library.job_with(EXPERIMENT, &facts, Mode::Quick, budget, &Map::new());
    let mut job = job.map_err(|error| Fault::new(Exit::Findings, error.to_string()))?;
    fit(&mut job, work, strategy, limit, n_samples)?;
    let point = driver.points(Backend::Cuda, job)?.into_iter().next();
    let point = point.ok_or_else(|| Fault::new(Exit::Runner, "the card gave no result"))?;
    outcome(&point, work, limit, &forecast)
}

/// The job's one point, with the project's numbers in place of the experiment's.
fn fit(job: &mut Job, work: Workload, strategy: Strategy, limit: Option<u64>, n_samples: u32) -> Result<(), Fault> {
    job.plan.points.truncate(1);
    job.plan.deadline_secs = DEADLINE_SECS;
    let point = job.plan.points.first_mut().ok_or_else(|| Fault::new(Exit::Findings, "the plan is empty"))?;
    point.n_samples = n_samples;
    let numbers = [
        ("net", u64::from(work.net == Kind::Block)),
        ("strategy", 0),
        ("checkpoint_every", strategy.checkpoint_every as u64),
        ("micro_batches", strategy.micro_batches as u64),
        ("is_offloaded", u64::from(strategy.is_offloaded)),
        ("n_layers", work.n_layers as u64),
        ("width", work.width as u64),
        ("n_heads", work.n_heads as u64),
        ("seq_len", work.seq_len as u64),
        ("batch", work.batch as u64),
        ("n_classes", work.n_classes as u64),
        ("optimizer", u64::from(work.optimizer == Optimizer::Adamw)),
        ("seed", work.seed),
        ("with_cpu", 0),
        ("limit_mib", limit.map_or(0, |limit| limit.div_ceil(1 << 20))),
    ];
    for (name, value) in numbers {
        point.vars.insert(name.to_owned(), value as f64);
        point.params.insert(name.to_owned(), Value::from(value));
    }
    Ok(())
}

fn outcome(
    point: &Point,
    work: Workload,
    limit: Option<u64>,
    forecast: &vramlab_train::Forecast,
) -> Result<Outcome, Fault> {
    let last = |name: &str| point.readings.get(name).and_then(|values| values.last()).copied().unwrap_or_default();
    let bytes = |name: &str| (last(name) * MIB).round() as u64;
    if last("refused_mib") > 0.0 {
        let needed_bytes = bytes("refused_mib");
        return Ok(Outcome::OutOfMemory { needed_bytes, limit_bytes: limit, label: forecast.at.clone() });
    }
    if let Some(OracleOutcome::Failed { .. }) = &point.oracle
        && point.readings.is_empty()
    {
        return Err(Fault::new(Exit::Runner, "the card's checks failed"));
    }
    let owners = Bytes {
        parameters: bytes("parameters_mib"),
        gradients: bytes("gradients_mib"),
        optimizer_state: bytes("optimizer_state_mib"),
        activations: bytes("activations_mib"),
        workspace: bytes("workspace_mib"),
    };
    let n = work.n_params() as u64;
    let gap = Gap {
        n,
        n_differ: ((last("differ_share") * n as f64).round() as u64).min(n),
        relative: last("gap"),
        is_broken: last("same_bits") <= 0.0,
    };
    Ok(Outcome::Ran(Box::new(Run {
        used_bytes: bytes("peak_mib"),
        owners,
        predicted_bytes: forecast.peak.total(),
        phase: forecast.phase,
        n_holders: forecast.holders.len() as u64,
        holders: forecast.holders.iter().take(HOLDERS).cloned().collect(),
        host_bytes: bytes("host_mib"),
        moved_bytes: bytes("moved_mib"),
        losses: vec![last("loss"), last("next_loss")],
        gap,
        samples_ns: point.samples_ns.clone(),
        base_ns: point.readings.get("base_ns").cloned().unwrap_or_default(),
    })))
}
