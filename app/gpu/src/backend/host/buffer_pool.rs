//! LayerNorm and GELU in turn, their outputs in buffers of their own or taken from a pool that gets them back as soon as
//! nobody reads them.

use super::{Card, Input, Routine, Stage, Taken, refused, steps};
use crate::error::RunError;
use vramlab_alloc::MIB;
use vramlab_units::Text;

const STAGES: &str = "n_stages";
const BYTES: &str = "bytes";
const HOW: &str = "how";
/// Numbers of a row; the kernel's blocks have as many threads.
const ROW: u64 = 1024;
/// Rows of the result that are compared.
const COMPARED: usize = 2;

pub const BUFFER_POOL: Routine = Routine {
    id: "buffer_pool",
    about: Text::new(
        "LayerNorm 和 GELU 交替：缓冲区各占各的，还是用池复用",
        "LayerNorm and GELU in turn: buffers of their own, or reused through a pool",
    ),
    inputs: &[
        Input { name: STAGES, min: 1, max: 64, about: "pairs of LayerNorm and GELU" },
        Input { name: BYTES, min: ROW * 4, max: 1 << 32, about: "size of a buffer" },
        Input {
            name: HOW,
            min: 0,
            max: 2,
            about: "0 buffers of their own, 1 a pool, 2 a pool, with every output kept for a backward pass",
        },
    ],
    readings: &["held_mib", "reserved_mib"],
    checks: &["the result is that of the processor", "all memory is back at the end"],
    run,
};

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let before = stage.card.memory()?[0];
    let (mut taken, mut is_right) = (Taken::default(), true);
    let n_stages = stage.get(STAGES);
    for _ in 0..stage.n_samples {
        stage.cx.check()?;
        stage.card.open_pool(u64::MAX)?;
        let (chain, ns) = steps::once(|| chain(stage))?;
        taken.samples_ns.push(ns / (2 * n_stages) as f64);
        taken.read("held_mib", chain.held_bytes as f64 / MIB as f64);
        taken.read("reserved_mib", stage.card.pool_bytes()?.most_reserved as f64 / MIB as f64);
        is_right &= chain.is_right;
        stage.card.close_pool()?;
    }
    let is_back = stage.card.memory()?[0] + 16 * super::PAGE >= before;
    taken.checks = vec![is_right, is_back];
    Ok(taken)
}

struct Chain {
    /// The most that the buffers took together.
    held_bytes: u64,
    is_right: bool,
}

fn chain(stage: &mut Stage<'_>) -> Result<Chain, RunError> {
    let (n, bytes, how) = (2 * stage.get(STAGES), stage.get(BYTES) / (ROW * 4) * (ROW * 4), stage.get(HOW));
    let card = &mut *stage.card;
    let rows = u32::try_from(bytes / 4 / ROW).unwrap_or(u32::MAX);
    let mut live = vec![take(card, bytes)?];
    card.launch("ramp", rows, ROW as u32, &[live[0]])?;
    let separate: Vec<u64> =
        if how == 0 { (0..n).map(|_| take(card, bytes)).collect::<Result<_, _>>()? } else { Vec::new() };
    let mut held = if how == 0 { n + 1 } else { 1 };
    for step in 0..n {
        let from = live.last().copied().unwrap_or_default();
        let to = match separate.get(step as usize) {
            Some(own) => *own,
            None => take(card, bytes)?,
        };
        let entry = if step % 2 == 0 { "layer_norm" } else { "gelu" };
        card.launch(entry, rows, ROW as u32, &[from, to])?;
        live.push(to);
        if how != 0 {
            held = held.max(live.len() as u64);
        }
        if how == 1 {
            card.pool_free(live.remove(0))?;
        }
    }
    card.sync()?;
    let is_right = compare(card, live.last().copied().unwrap_or_default(), n)?;
    for address in live {
        card.pool_free(address)?;
    }
    card.sync()?;
    Ok(Chain { held_bytes: held * bytes, is_right })
}

fn take(card: &mut dyn Card, bytes: u64) -> Result<u64, RunError> {
    match card.pool_malloc(bytes)? {
        Some(address) => Ok(address),
        None => Err(refused(card, bytes)),
    }
}

/// The first rows of the result against the same arithmetic on the processor.
fn compare(card: &mut dyn Card, address: u64, n: u64) -> Result<bool, RunError> {
    let mut bytes = vec![0_u8; COMPARED * ROW as usize * 4];
    card.get(address, &mut bytes)?;
    let found: Vec<f32> =
        bytes.chunks_exact(4).map(|word| f32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    let expected = (0..COMPARED).flat_map(|row| reference(row, n));
    Ok(found.iter().zip(expected).all(|(found, expected)| (f64::from(*found) - expected).abs() < 1e-3))
}

/// One row through `n` steps, in double precision.
fn reference(row: usize, n: u64) -> Vec<f64> {
    let width = ROW as usize;
    let mut x: Vec<f64> = (0..width).map(|at| ((row * width + at) % 257) as f64 / 257.0).collect();
    for step in 0..n {
        if step % 2 == 0 {
            let mean = x.iter().sum::<f64>() / width as f64;
            let variance = x.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / width as f64;
            let scale = 1.0 / (variance + 1e-5).sqrt();
            x.iter_mut().for_each(|value| *value = (*value - mean) * scale);
        } else {
            x.iter_mut().for_each(|value| *value = 0.5 * *value * (1.0 + tanh_gelu(*value)));
        }
    }
    x
}

/// The inner part of GELU in its tanh form.
fn tanh_gelu(x: f64) -> f64 {
    (0.797_884_560_802_865_4 * (x + 0.044_715 * x * x * x)).tanh()
}
