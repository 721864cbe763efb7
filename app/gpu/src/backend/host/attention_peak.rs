//! Attention over a few heads, in three kernels or in tiles: what it takes beside its inputs and its output, by the pool's own
//! high-water mark.

use super::{Card, Input, Routine, Stage, Taken, refused};
use crate::error::RunError;
use vramlab_alloc::MIB;
use vramlab_units::Text;

const TOKENS: &str = "n_tokens";
const HEADS: &str = "n_heads";
const TILED: &str = "is_tiled";
/// Size of a head, and factor of the scores, as in the kernels.
const D: u64 = 64;
const SCALE: f64 = 0.75;
/// A block: 16 rows × 16 lanes.
const ROWS: u64 = 16;
const THREADS: u32 = 256;
/// Scores of up to 8 in bf16 are off by up to 1/64, probabilities and results by 1/256; held to the largest of a row.
const ERROR: f64 = 0.03;

pub const ATTENTION_PEAK: Routine = Routine {
    id: "attention_peak",
    about: Text::new(
        "几个头的注意力，三个内核或者分块：除了输入和输出还占多少",
        "attention over a few heads, in three kernels or in tiles: what it takes beside inputs and output",
    ),
    inputs: &[
        Input { name: TOKENS, min: 16, max: 65_536, about: "tokens of the sequence, a multiple of 16" },
        Input { name: HEADS, min: 1, max: 128, about: "heads" },
        Input { name: TILED, min: 0, max: 1, about: "0 takes three kernels, 1 goes by tiles" },
    ],
    readings: &["extra_mib", "reserved_mib"],
    checks: &["rows of the output are those of the processor", "all memory is back at the end"],
    run,
};

/// Addresses of Q, K, V and the output, and the numbers that every launch needs.
#[derive(Clone, Copy)]
struct Layer {
    q: u64,
    k: u64,
    v: u64,
    out: u64,
    n: u64,
    heads: u64,
    is_tiled: bool,
}

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let before = stage.card.memory()?[0];
    let (n, heads) = (stage.get(TOKENS) / ROWS * ROWS, stage.get(HEADS));
    let bytes = 2 * n * heads * D;
    let [q, k, v, out] = [stage.must(bytes)?, stage.must(bytes)?, stage.must(bytes)?, stage.must(bytes)?];
    let layer = Layer { q, k, v, out, n, heads, is_tiled: stage.get(TILED) == 1 };
    for (seed, address) in [(1, q), (7_000_003, k), (90_000_049, v)] {
        let n_blocks = blocks((bytes / 2).div_ceil(u64::from(THREADS)));
        stage.card.launch("fill", n_blocks, THREADS, &[address, bytes / 2, seed])?;
    }
    let (mut taken, mut is_right) = (Taken::default(), true);
    for _ in 0..stage.n_samples {
        stage.cx.check()?;
        stage.card.set(out, 0xFF, bytes)?;
        layer.sample(stage.card, &mut taken)?;
        is_right &= layer.is_right(stage.card)?;
    }
    for address in [q, k, v, out] {
        stage.card.free(address)?;
    }
    stage.card.sync()?;
    let is_back = stage.card.memory()?[0] + 16 * super::PAGE >= before;
    taken.checks = vec![is_right, is_back];
    Ok(taken)
}

fn blocks(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl Layer {
    /// One pass in a pool of its own.
    fn sample(self, card: &mut dyn Card, taken: &mut Taken) -> Result<(), RunError> {
        card.open_pool(u64::MAX)?;
        card.start_clock()?;
        if self.is_tiled {
            self.in_tiles(card)?
        } else {
            self.in_three(card)?
        }
        let ns = card.stop_clock()?;
        card.sync()?;
        let pool = card.pool_bytes()?;
        card.close_pool()?;
        taken.samples_ns.push(ns.max(1.0));
        taken.read("extra_mib", pool.most_used as f64 / MIB as f64);
        taken.read("reserved_mib", pool.most_reserved as f64 / MIB as f64);
        Ok(())
    }

    /// The scores of every head lie in memory until the product is done.
    fn in_three(self, card: &mut dyn Card) -> Result<(), RunError> {
        let Self { q, k, v, out, n, heads, .. } = self;
        let side = n / ROWS;
        let scores = take(card, 2 * n * n * heads)?;
        card.launch("scores", blocks(side * side * heads), THREADS, &[q, k, scores, n])?;
        card.launch("softmax", blocks(side * heads), THREADS, &[scores, n])?;
        card.launch("product", blocks(side * heads), THREADS, &[scores, v, out, n])?;
        card.pool_free(scores)
    }

    /// One float a row, for the backward pass.
    fn in_tiles(self, card: &mut dyn Card) -> Result<(), RunError> {
        let Self { q, k, v, out, n, heads, .. } = self;
        let lse = take(card, 4 * n * heads)?;
        card.launch("tiled", blocks(n / ROWS * heads), THREADS, &[q, k, v, out, lse, n])?;
        card.pool_free(lse)
    }

    /// A few rows of the first and the last head, in double precision.
    fn is_right(self, card: &mut dyn Card) -> Result<bool, RunError> {
        for head in [0, self.heads - 1] {
            let first = head * self.n * D;
            let keys = halves(card, self.k, first, self.n * D)?;
            let values = halves(card, self.v, first, self.n * D)?;
            for row in [0, self.n / 2 + 1, self.n - 1] {
                let query = halves(card, self.q, first + row * D, D)?;
                let found = halves(card, self.out, first + row * D, D)?;
                let wanted = attend(&query, &keys, &values);
                let most = wanted.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
                // A NaN is never near.
                let is_near = |(found, wanted): (&f64, &f64)| (found - wanted).abs() <= ERROR * most;
                if most == 0.0 || !found.iter().zip(&wanted).all(is_near) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

fn take(card: &mut dyn Card, bytes: u64) -> Result<u64, RunError> {
    match card.pool_malloc(bytes)? {
        Some(address) => Ok(address),
        None => Err(refused(card, bytes)),
    }
}

/// bf16 numbers of the card.
fn halves(card: &mut dyn Card, address: u64, first: u64, n: u64) -> Result<Vec<f64>, RunError> {
    let mut bytes = vec![0_u8; 2 * n as usize];
    card.get(address + 2 * first, &mut bytes)?;
    let wide = |two: &[u8]| f64::from(f32::from_bits(u32::from(two[0]) << 16 | u32::from(two[1]) << 24));
    Ok(bytes.chunks_exact(2).map(wide).collect())
}

/// One row: values weighed by the softmax of the scaled scores.
fn attend(query: &[f64], keys: &[f64], values: &[f64]) -> Vec<f64> {
    let score = |key: &[f64]| query.iter().zip(key).map(|(q, k)| q * k).sum::<f64>() * SCALE;
    let scores: Vec<f64> = keys.chunks_exact(query.len()).map(score).collect();
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
    let total: f64 = weights.iter().sum();
    let mut out = vec![0.0; query.len()];
    for (weight, value) in weights.iter().zip(values.chunks_exact(query.len())) {
        out.iter_mut().zip(value).for_each(|(sum, v)| *sum += weight / total * v);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Brief 16, vector 4: scores 1, 2, 3, 4 and values 10, 20, 30, 40.
    #[test]
    fn a_row_is_that_of_the_worked_example() {
        let keys = [1.0, 2.0, 3.0, 4.0].map(|score| score / SCALE);
        let out = attend(&[1.0], &keys, &[10.0, 20.0, 30.0, 40.0]);
        assert!((out[0] - 34.926_527_345_9).abs() < 1e-9, "{out:?}");
    }
}
