//! A pair on this processor: the baseline and the candidate, a step of each in turn.

use super::predicted;
use crate::cli::fault::Fault;
use crate::cli::{Exit, interrupt};
use std::time::Instant;
use vramlab_gpu::backend::cpu;
use vramlab_train::compare::Gap;
use vramlab_train::cpu::{Cpu, Real};
use vramlab_train::device::Trouble;
use vramlab_train::net::Dtype;
use vramlab_train::project::{Device, Outcome, Run};
use vramlab_train::{Strategy, Trainer, Workload};

/// Tensors of the peak that are kept by name.
const HOLDERS: usize = 12;
/// The laboratory's processor half is for small nets: both of a pair stay below this.
const MOST_BYTES: u64 = 2 << 30;
/// Products and sums of one step; some ten seconds.
const MOST_FLOP: f64 = 1e11;

pub fn device() -> Device {
    let facts = cpu::facts();
    Device { backend: "cpu".to_owned(), name: facts.name, driver: facts.driver }
}

pub fn pair(work: Workload, strategy: Strategy, limit: Option<u64>, n_samples: u32) -> Result<Outcome, Fault> {
    let flop = 6.0 * work.n_params() as f64 * work.rows() as f64;
    let most = predicted(&work, Strategy::default())?.peak.total();
    if most > MOST_BYTES || flop > MOST_FLOP {
        let what =
            format!("this net is too large for a processor: {} MiB and {:.0} Gflop a step", most >> 20, flop / 1e9);
        return Err(Fault::usage(what).help("choose smaller sizes, or --backend cuda"));
    }
    match work.dtype {
        Dtype::Fp32 => typed::<f32>(work, strategy, limit, n_samples),
        Dtype::Fp64 => typed::<f64>(work, strategy, limit, n_samples),
    }
}

fn typed<R: Real>(work: Workload, strategy: Strategy, limit: Option<u64>, n_samples: u32) -> Result<Outcome, Fault> {
    match steps::<R>(work, strategy, limit, n_samples) {
        Ok(run) => Ok(Outcome::Ran(Box::new(run))),
        Err(Trouble::OverBudget { asked_bytes, live_bytes, budget_bytes, label, .. }) => {
            Ok(Outcome::OutOfMemory { needed_bytes: live_bytes + asked_bytes, limit_bytes: Some(budget_bytes), label })
        }
        Err(Trouble::Refused { asked_bytes, live_bytes }) => {
            Ok(Outcome::OutOfMemory { needed_bytes: live_bytes + asked_bytes, limit_bytes: None, label: String::new() })
        }
        Err(Trouble::Device(what)) if what == STOPPED => Err(Fault::new(Exit::Interrupted, what)),
        Err(trouble) => Err(Fault::new(Exit::Findings, trouble.to_string())),
    }
}

const STOPPED: &str = "interrupted";

fn steps<R: Real>(work: Workload, strategy: Strategy, limit: Option<u64>, n_samples: u32) -> Result<Run, Trouble> {
    let (mut here, mut there) = (Cpu::<R>::default(), Cpu::<R>::default());
    let mut candidate = Trainer::new(work, strategy, &mut here, limit)?;
    let mut baseline = Trainer::new(work, Strategy::default(), &mut there, None)?;
    let first = candidate.gradients_of_batch()?;
    let gradients = candidate.gradients()?;
    baseline.gradients_of_batch()?;
    let gap = Gap::between(&baseline.gradients()?, &gradients);
    candidate.update()?;
    baseline.update()?;
    let second = candidate.step()?;
    baseline.step()?;
    let (mut samples_ns, mut base_ns) = (Vec::new(), Vec::new());
    for _ in 0..n_samples {
        if interrupt::is_raised() {
            return Err(Trouble::Device(STOPPED.to_owned()));
        }
        for (trainer, samples) in [(&mut baseline, &mut base_ns), (&mut candidate, &mut samples_ns)] {
            let start = Instant::now();
            trainer.step()?;
            samples.push(start.elapsed().as_nanos().max(1) as f64);
        }
    }
    let peak = candidate.peak().clone();
    let [host_bytes, moved] = candidate.host_bytes();
    candidate.close()?;
    baseline.close()?;
    let predicted = vramlab_train::forecast(&work, strategy)?;
    Ok(Run {
        used_bytes: here.held_bytes()[1],
        owners: peak.bytes,
        predicted_bytes: predicted.peak.total(),
        phase: peak.phase,
        n_holders: peak.holders.len() as u64,
        holders: peak.holders.into_iter().take(HOLDERS).collect(),
        host_bytes,
        // All steps alike: two before the clock and the timed ones.
        moved_bytes: moved / (u64::from(n_samples) + 2),
        losses: vec![first, second],
        gap,
        samples_ns,
        base_ns,
    })
}
