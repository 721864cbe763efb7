//! What a step will take, before it runs: the tape is walked on a device without memory.

use crate::arena::{Bytes, Holder};
use crate::device::{Phase, Trouble};
use crate::dry::Dry;
use crate::net::{Kind, Workload};
use crate::step::Trainer;
use crate::strategy::Strategy;
use std::collections::BTreeMap;

/// A predicted peak.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    pub peak: Bytes,
    pub phase: Phase,
    /// What was being allocated.
    pub at: String,
    pub holders: Vec<Holder>,
    /// The most of each phase.
    pub phases: BTreeMap<Phase, u64>,
    /// The most that waits on the host, and what crosses the link in a step.
    pub host_bytes: u64,
    pub moved_bytes: u64,
    /// Multiplications and additions over those of the baseline.
    pub flop_ratio: f64,
}

/// The second of two steps: gradients are gone between steps, states stay.
pub fn forecast(work: &Workload, strategy: Strategy) -> Result<Forecast, Trouble> {
    let mut dry = Dry::new(work.dtype.bytes());
    let mut trainer = Trainer::new(*work, strategy, &mut dry, None)?;
    trainer.step()?;
    let peak = trainer.peak().clone();
    let [host_bytes, moved_bytes] = trainer.host_bytes();
    Ok(Forecast {
        peak: peak.bytes,
        phase: peak.phase,
        at: peak.label,
        holders: peak.holders,
        phases: trainer.phases().clone(),
        host_bytes,
        moved_bytes,
        flop_ratio: flop_ratio(work, strategy),
    })
}

/// Products of a forward pass; the backward pass does twice as many, and a checkpoint one forward pass of the layers more.
fn flop_ratio(work: &Workload, strategy: Strategy) -> f64 {
    let (rows, d) = (work.rows() as f64, work.width as f64);
    let layer = match work.net {
        Kind::Mlp => 2.0 * rows * d * d,
        Kind::Block => 24.0 * rows * d * d + 4.0 * rows * work.seq_len as f64 * d,
    };
    let layers = layer * work.n_layers as f64;
    let head = 2.0 * rows * d * work.n_classes as f64;
    let again = if strategy.checkpoint_every > 0 { layers } else { 0.0 };
    1.0 + again / (3.0 * (layers + head))
}
