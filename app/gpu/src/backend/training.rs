//! What both halves of the training laboratory share: the work that inputs name, the steps that are run, the readings
//! and the checks.

use super::PointCx;
use crate::error::RunError;
use std::collections::BTreeMap;
use std::time::Instant;
use vramlab_alloc::MIB;
use vramlab_train::arena::{Bytes, Owner};
use vramlab_train::compare::{Gap, SINGLE_BITS, tolerance};
use vramlab_train::device::{Device, Trouble};
use vramlab_train::net::{Dtype, Kind, Optimizer};
use vramlab_train::{Strategy, Trainer, Workload};

/// Losses may differ by this much when a batch is summed in parts.
const LOSS: f64 = 1e-4;

pub const READINGS: &[&str] = &[
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
];

pub const CHECKS: &[&str] = &[
    "the loss is the baseline's",
    "the gradient is the baseline's, bit for bit or within the tolerance, as the strategy promises",
    "the device's own counter and the arena's agree",
    "all memory is back at the end",
];

/// Name, least, most and meaning of what both routines are told.
pub const INPUTS: [(&str, u64, u64, &str); 14] = [
    ("net", 0, 1, "0 layers of an MLP, 1 transformer blocks"),
    ("strategy", 0, 7, "the strategy, by number"),
    ("checkpoint_every", 0, 128, "with strategy 0: layers between checkpoints"),
    ("micro_batches", 1, 1024, "with strategy 0: parts of the batch"),
    ("is_offloaded", 0, 1, "with strategy 0: saved tensors wait on the host"),
    ("n_layers", 1, 128, "layers"),
    ("width", 1, 16_384, "width of a layer"),
    ("n_heads", 1, 128, "heads of the attention"),
    ("seq_len", 1, 8192, "rows of a sample"),
    ("batch", 1, 65_536, "samples of a step"),
    ("n_classes", 2, 262_144, "classes"),
    ("optimizer", 0, 1, "0 SGD, 1 AdamW"),
    ("seed", 0, 1 << 32, "the seed of parameters and data"),
    ("limit_mib", 0, 1 << 20, "the most it may take; 0 for no limit"),
];

/// The work, the strategy and the limit that the inputs name.
pub fn chosen(inputs: &BTreeMap<&'static str, u64>) -> Result<(Workload, Strategy, Option<u64>), RunError> {
    let get = |name: &str| inputs.get(name).copied().unwrap_or_default();
    let size = |name: &str| get(name) as usize;
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
        seed: get("seed"),
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
    let strategy = match get("strategy") {
        0 => own,
        number => Strategy::numbered(number).ok_or_else(|| content(format!("there is no strategy {number}")))?,
    };
    strategy.check(work.batch).map_err(|error| content(error.to_string()))?;
    Ok((work, strategy, Some(get("limit_mib") * MIB).filter(|limit| *limit > 0)))
}

/// What one run of the net gave.
#[derive(Default)]
pub struct Ran {
    pub samples_ns: Vec<f64>,
    pub gradients: Vec<Vec<f64>>,
    /// Before the first and the second update.
    pub losses: [f64; 2],
    pub owners: Bytes,
    pub counted: u64,
    /// By the device's own counter.
    pub used: u64,
    pub reserved: u64,
    pub host: [u64; 2],
    /// What did not fit, with all that was in use.
    pub refused: Option<u64>,
}

/// A first step whose gradient is kept, a second one that warms up, then timed ones. What does not fit is a result.
pub fn train(
    (work, strategy, limit): (Workload, Strategy, Option<u64>),
    device: &mut dyn Device,
    n_samples: usize,
    cx: &PointCx,
) -> Result<Ran, Trouble> {
    let mut ran = Ran::default();
    let start = Instant::now();
    match steps((work, strategy, limit), device, n_samples, cx, &mut ran) {
        Ok(()) => Ok(ran),
        Err(Trouble::OverBudget { live_bytes, asked_bytes, .. } | Trouble::Refused { live_bytes, asked_bytes }) => {
            ran.refused = Some(live_bytes + asked_bytes);
            ran.samples_ns = vec![start.elapsed().as_nanos().max(1) as f64; n_samples];
            Ok(ran)
        }
        Err(trouble) => Err(trouble),
    }
}

fn steps(
    (work, strategy, limit): (Workload, Strategy, Option<u64>),
    device: &mut dyn Device,
    n_samples: usize,
    cx: &PointCx,
    ran: &mut Ran,
) -> Result<(), Trouble> {
    let mut trainer = Trainer::new(work, strategy, device, limit)?;
    ran.losses[0] = trainer.gradients_of_batch()?;
    ran.gradients = trainer.gradients()?;
    trainer.update()?;
    ran.losses[1] = trainer.step()?;
    for _ in 0..n_samples {
        cx.check().map_err(|error| Trouble::Device(error.to_string()))?;
        let start = Instant::now();
        trainer.step()?;
        ran.samples_ns.push(start.elapsed().as_nanos().max(1) as f64);
    }
    ran.host = trainer.host_bytes();
    ran.owners = trainer.peak().bytes;
    ran.counted = ran.owners.total();
    trainer.close()
}

/// In the order of [`CHECKS`], without the last. The counter may round each tensor up, to 512 bytes on a card.
pub fn checks(strategy: Strategy, base: &Ran, ran: &Ran) -> Vec<bool> {
    if ran.refused.is_some() {
        return vec![true; 3];
    }
    let gap = Gap::between(&base.gradients, &ran.gradients);
    let near = |(base, ran): (&f64, f64)| (base - ran).abs() <= LOSS * base.abs().max(1.0);
    let keeps = if strategy.is_undivided {
        gap.relative > 0.5
    } else if strategy.is_exact() {
        gap.is_equal()
    } else {
        !gap.is_broken && gap.relative < tolerance(4)
    };
    vec![
        strategy.is_undivided || base.losses.iter().zip(ran.losses).all(near),
        keeps,
        ran.used >= ran.counted && ran.used as f64 <= 1.01 * ran.counted as f64 + 65_536.0,
    ]
}

/// Every reading, once a sample.
pub fn readings(base: &Ran, ran: &Ran, cpu_bits: f64) -> BTreeMap<String, Vec<f64>> {
    let gap = Gap::between(&base.gradients, &ran.gradients);
    let mib = |bytes: u64| bytes as f64 / MIB as f64;
    let n = ran.samples_ns.len();
    let of = |owner| mib(ran.owners.of(owner));
    let constant = [
        ("peak_mib", mib(ran.used)),
        ("counted_mib", mib(ran.counted)),
        ("reserved_mib", mib(ran.reserved)),
        ("base_peak_mib", mib(base.used)),
        ("parameters_mib", of(Owner::Parameters)),
        ("gradients_mib", of(Owner::Gradients)),
        ("optimizer_state_mib", of(Owner::OptimizerState)),
        ("activations_mib", of(Owner::Activations)),
        ("workspace_mib", of(Owner::Workspace)),
        ("host_mib", mib(ran.host[0])),
        // All steps alike: the two before the clock and the timed ones.
        ("moved_mib", mib(ran.host[1] / (n as u64 + 2))),
        ("same_bits", gap.bits(SINGLE_BITS)),
        ("differ_share", gap.n_differ as f64 / gap.n.max(1) as f64),
        ("gap", gap.relative),
        ("cpu_bits", cpu_bits),
        ("loss", ran.losses[0]),
        ("next_loss", ran.losses[1]),
        ("base_loss", base.losses[0]),
        ("base_next_loss", base.losses[1]),
        ("refused_mib", mib(ran.refused.unwrap_or_default())),
    ];
    let mut all: BTreeMap<String, Vec<f64>> =
        constant.into_iter().map(|(name, value)| (name.to_owned(), vec![value; n])).collect();
    all.insert("base_ns".to_owned(), base.samples_ns.iter().copied().take(n).collect());
    all
}
