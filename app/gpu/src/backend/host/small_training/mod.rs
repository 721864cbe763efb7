//! A small net trained on the card under a strategy, beside the same net that keeps everything.
//!
//! Both run one after the other, each in a pool of its own, whose counter says what was really in use. The gradient of
//! the first step is compared number by number, on request also with the processor's.

mod device;

use super::{Input, Routine, Stage, Taken, steps};
use crate::error::RunError;
use device::OnCard;
use vramlab_alloc::MIB;
use vramlab_train::arena::{Bytes, Owner};
use vramlab_train::compare::{Gap, SINGLE_BITS, tolerance};
use vramlab_train::cpu::Cpu;
use vramlab_train::device::{Device, Trouble};
use vramlab_train::net::{Dtype, Kind, Optimizer};
use vramlab_train::{Strategy, Trainer, Workload};
use vramlab_units::Text;

/// Losses may differ by this much when a batch is summed in parts.
const LOSS: f64 = 1e-4;

pub const SMALL_TRAINING: Routine = Routine {
    id: "small_training",
    about: Text::new(
        "在卡上训练一个小网络：一种省显存的策略，对照全部保留",
        "a small net trained on the card: a strategy that saves memory beside keeping everything",
    ),
    inputs: INPUTS,
    readings: &[
        "peak_mib",
        "counted_mib",
        "reserved_mib",
        "base_peak_mib",
        "parameters_mib",
        "gradients_mib",
        "optimizer_state_mib",
        "activations_mib",
        "workspace_mib",
        "host_mib",
        "moved_mib",
        "base_ns",
        "same_bits",
        "differ_share",
        "gap",
        "cpu_bits",
        "loss",
        "next_loss",
        "base_loss",
        "base_next_loss",
        "refused_mib",
    ],
    checks: &[
        "the loss is the baseline's",
        "the gradient is the baseline's, bit for bit or within the tolerance, as the strategy promises",
        "the driver's counter and the arena's agree",
        "all memory is back at the end",
    ],
    run,
};

const INPUTS: &[Input] = &[
    Input { name: "net", min: 0, max: 1, about: "0 layers of an MLP, 1 transformer blocks" },
    Input { name: "strategy", min: 0, max: 7, about: "the strategy, by number" },
    Input { name: "checkpoint_every", min: 0, max: 128, about: "with strategy 0: layers between checkpoints" },
    Input { name: "micro_batches", min: 1, max: 1024, about: "with strategy 0: parts of the batch" },
    Input { name: "is_offloaded", min: 0, max: 1, about: "with strategy 0: saved tensors wait on the host" },
    Input { name: "n_layers", min: 1, max: 128, about: "layers" },
    Input { name: "width", min: 1, max: 16_384, about: "width of a layer" },
    Input { name: "n_heads", min: 1, max: 128, about: "heads of the attention" },
    Input { name: "seq_len", min: 1, max: 8192, about: "rows of a sample" },
    Input { name: "batch", min: 1, max: 65_536, about: "samples of a step" },
    Input { name: "n_classes", min: 2, max: 262_144, about: "classes" },
    Input { name: "optimizer", min: 0, max: 1, about: "0 SGD, 1 AdamW" },
    Input { name: "seed", min: 0, max: 1 << 32, about: "the seed of parameters and data" },
    Input { name: "with_cpu", min: 0, max: 1, about: "1: compare with the processor too" },
    Input { name: "limit_mib", min: 0, max: 1 << 20, about: "the most it may take; 0 for no limit" },
];

/// The work and the strategy that the inputs name.
fn chosen(stage: &Stage<'_>) -> Result<(Workload, Strategy), RunError> {
    let size = |name: &str| stage.get(name) as usize;
    let work = Workload {
        net: if size("net") == 0 { Kind::Mlp } else { Kind::Block },
        n_layers: size("n_layers"),
        width: size("width"),
        n_heads: size("n_heads"),
        seq_len: size("seq_len"),
        batch: size("batch"),
        n_classes: size("n_classes"),
        dtype: Dtype::Fp32,
        optimizer: if size("optimizer") == 0 { Optimizer::Sgd } else { Optimizer::Adamw },
        seed: stage.get("seed"),
        n_steps: 2,
    };
    let content = |what: String| RunError::Content { what };
    work.check().map_err(|error| content(error.to_string()))?;
    let own = Strategy {
        checkpoint_every: size("checkpoint_every"),
        micro_batches: size("micro_batches"),
        is_offloaded: size("is_offloaded") == 1,
        is_undivided: false,
    };
    let strategy = match stage.get("strategy") {
        0 => own,
        number => Strategy::numbered(number).ok_or_else(|| content(format!("there is no strategy {number}")))?,
    };
    strategy.check(work.batch).map_err(|error| content(error.to_string()))?;
    Ok((work, strategy))
}

/// What one run of the net gave.
#[derive(Default)]
struct Ran {
    samples_ns: Vec<f64>,
    gradients: Vec<Vec<f64>>,
    /// Before the first and the second update.
    losses: [f64; 2],
    owners: Bytes,
    counted: u64,
    pool_used: u64,
    pool_reserved: u64,
    host: [u64; 2],
    /// What did not fit, with all that was in use.
    refused: Option<u64>,
}

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let (work, strategy) = chosen(stage)?;
    let limit = Some(stage.get("limit_mib") * MIB).filter(|limit| *limit > 0);
    let before = stage.card.memory()?[0];
    let base = train(stage, work, Strategy::default(), None)?;
    let ran = train(stage, work, strategy, limit)?;
    let gap = Gap::between(&base.gradients, &ran.gradients);
    let cpu_bits = if stage.get("with_cpu") == 1 { on_cpu(work, &base.gradients)?.bits(SINGLE_BITS) } else { 0.0 };
    let is_back = stage.card.memory()?[0] + 16 * super::PAGE >= before;
    let mut taken = readings(&base, &ran, gap, cpu_bits);
    let is_refused = ran.refused.is_some();
    let same_loss =
        base.losses.iter().zip(ran.losses).all(|(base, ran)| (base - ran).abs() <= LOSS * base.abs().max(1.0));
    let keeps = if strategy.is_undivided {
        gap.relative > 0.5
    } else if strategy.is_exact() {
        gap.is_equal()
    } else {
        !gap.is_broken && gap.relative < tolerance(4)
    };
    taken.checks =
        vec![is_refused || strategy.is_undivided || same_loss, is_refused || keeps, is_refused || agree(&ran), is_back];
    Ok(taken)
}

/// The pool rounds each tensor up to 512 bytes.
fn agree(ran: &Ran) -> bool {
    ran.pool_used >= ran.counted && ran.pool_used as f64 <= 1.01 * ran.counted as f64 + 65_536.0
}

fn readings(base: &Ran, ran: &Ran, gap: Gap, cpu_bits: f64) -> Taken {
    let mut taken = Taken { samples_ns: ran.samples_ns.clone(), ..Taken::default() };
    let mib = |bytes: u64| bytes as f64 / MIB as f64;
    for at in 0..ran.samples_ns.len() {
        taken.read("peak_mib", mib(ran.pool_used));
        taken.read("counted_mib", mib(ran.counted));
        taken.read("reserved_mib", mib(ran.pool_reserved));
        taken.read("base_peak_mib", mib(base.pool_used));
        for (name, owner) in [
            ("parameters_mib", Owner::Parameters),
            ("gradients_mib", Owner::Gradients),
            ("optimizer_state_mib", Owner::OptimizerState),
            ("activations_mib", Owner::Activations),
            ("workspace_mib", Owner::Workspace),
        ] {
            taken.read(name, mib(ran.owners.of(owner)));
        }
        taken.read("host_mib", mib(ran.host[0]));
        taken.read("moved_mib", mib(ran.host[1]));
        taken.read("base_ns", base.samples_ns.get(at).copied().unwrap_or(1.0));
        taken.read("same_bits", gap.bits(SINGLE_BITS));
        taken.read("differ_share", gap.n_differ as f64 / gap.n.max(1) as f64);
        taken.read("gap", gap.relative);
        taken.read("cpu_bits", cpu_bits);
        taken.read("loss", ran.losses[0]);
        taken.read("next_loss", ran.losses[1]);
        taken.read("base_loss", base.losses[0]);
        taken.read("base_next_loss", base.losses[1]);
        taken.read("refused_mib", mib(ran.refused.unwrap_or_default()));
    }
    taken
}

/// Trains in a pool of its own: a first step whose gradient is kept, then timed ones.
fn train(stage: &mut Stage<'_>, work: Workload, strategy: Strategy, limit: Option<u64>) -> Result<Ran, RunError> {
    stage.card.open_pool(u64::MAX)?;
    let (n_samples, cx) = (stage.n_samples, stage.cx);
    let mut ran = Ran::default();
    let mut device = OnCard::new(&mut *stage.card);
    let (done, ns) = steps::once(|| Ok(steps_of(work, strategy, &mut device, limit, n_samples, cx, &mut ran)))?;
    let fault = device.fault.take();
    drop(device);
    match done {
        Ok(()) => {}
        Err(Trouble::OverBudget { live_bytes, asked_bytes, .. } | Trouble::Refused { live_bytes, asked_bytes }) => {
            ran.refused = Some(live_bytes + asked_bytes);
            ran.samples_ns = vec![ns; n_samples];
        }
        Err(Trouble::Device(what)) => return Err(fault.unwrap_or(RunError::Content { what })),
    }
    stage.card.sync()?;
    let pool = stage.card.pool_bytes()?;
    (ran.pool_used, ran.pool_reserved) = (pool.most_used, pool.most_reserved);
    stage.card.close_pool()?;
    Ok(ran)
}

fn steps_of(
    work: Workload,
    strategy: Strategy,
    device: &mut dyn Device,
    limit: Option<u64>,
    n_samples: usize,
    cx: &crate::backend::PointCx,
    ran: &mut Ran,
) -> Result<(), Trouble> {
    let mut trainer = Trainer::new(work, strategy, device, limit)?;
    ran.losses[0] = trainer.gradients_of_batch()?;
    ran.gradients = trainer.gradients()?;
    trainer.update()?;
    // One step more before the clock runs: the first one grew the pool.
    ran.losses[1] = trainer.step()?;
    for _ in 0..n_samples {
        cx.check().map_err(|error| Trouble::Device(error.to_string()))?;
        let start = std::time::Instant::now();
        trainer.step()?;
        ran.samples_ns.push(start.elapsed().as_nanos().max(1) as f64);
    }
    ran.host = trainer.host_bytes();
    ran.owners = trainer.peak().bytes;
    ran.counted = ran.owners.total();
    trainer.close()
}

/// The gradient of the same step on the processor.
fn on_cpu(work: Workload, gradients: &[Vec<f64>]) -> Result<Gap, RunError> {
    let content = |error: Trouble| RunError::Content { what: error.to_string() };
    let mut cpu = Cpu::<f32>::default();
    let mut trainer = Trainer::new(work, Strategy::default(), &mut cpu, None).map_err(content)?;
    trainer.gradients_of_batch().map_err(content)?;
    Ok(Gap::between(gradients, &trainer.gradients().map_err(content)?))
}

#[cfg(test)]
mod tests {
    use crate::backend::PointCx;
    use crate::backend::host::sim::Sim;
    use crate::backend::host::{Card as _, Stage};
    use std::collections::BTreeMap;
    use vramlab_train::forecast;

    fn inputs(strategy: u64) -> BTreeMap<&'static str, u64> {
        let sizes = [("net", 1), ("n_layers", 8), ("width", 128), ("n_heads", 4), ("seq_len", 64), ("batch", 8)];
        let rest = [("n_classes", 128), ("optimizer", 1), ("seed", 1), ("with_cpu", 0), ("limit_mib", 0)];
        let own = [("strategy", strategy), ("checkpoint_every", 0), ("micro_batches", 1), ("is_offloaded", 0)];
        sizes.into_iter().chain(rest).chain(own).collect()
    }

    /// The simulated driver's own counter shows the peak that the tape predicts, and nothing stays behind.
    #[test]
    fn the_drivers_counter_shows_the_predicted_peak() {
        for strategy in 0..=7 {
            let mut card = Sim::new(4 << 30);
            let before = card.memory().unwrap();
            let cx = PointCx::alone();
            let mut stage = Stage { inputs: inputs(strategy), card: &mut card, n_samples: 3, cx: &cx };
            let (work, way) = super::chosen(&stage).unwrap();
            let taken = super::run(&mut stage).unwrap();
            let predicted = forecast(&work, way).unwrap();
            let mib = predicted.peak.total() as f64 / 1_048_576.0;
            assert_eq!(taken.readings["counted_mib"], [mib; 3], "strategy {strategy}");
            let used = taken.readings["peak_mib"][0];
            assert!((mib..mib * 1.01 + 0.0625).contains(&used), "strategy {strategy}: {used} for {mib}");
            assert_eq!(taken.readings["activations_mib"][0], predicted.peak.activations as f64 / 1_048_576.0);
            assert_eq!(taken.readings["refused_mib"][0], 0.0);
            assert!(taken.checks[2] && taken.checks[3], "strategy {strategy}: {:?}", taken.checks);
            assert_eq!(card.memory().unwrap(), before, "strategy {strategy}");
        }
    }

    /// A limit one step too low is a reading, and all memory is back all the same.
    #[test]
    fn what_does_not_fit_is_a_result() {
        let mut card = Sim::new(4 << 30);
        let before = card.memory().unwrap();
        let cx = PointCx::alone();
        let mut inputs = inputs(0);
        inputs.insert("limit_mib", 40);
        let mut stage = Stage { inputs, card: &mut card, n_samples: 3, cx: &cx };
        let taken = super::run(&mut stage).unwrap();
        assert!(taken.readings["refused_mib"][0] > 40.0, "{:?}", taken.readings["refused_mib"]);
        assert!(taken.checks.iter().all(|holds| *holds), "{:?}", taken.checks);
        assert_eq!(card.memory().unwrap(), before);
    }
}
