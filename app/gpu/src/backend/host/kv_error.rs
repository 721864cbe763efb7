//! What a cache of fewer bits does to attention: the same numbers stored as bf16, E4M3 or int8, the result against fp64.

use super::{Card, Input, Routine, Stage, Taken};
use crate::error::RunError;
use vramlab_units::Text;

const FORMAT: &str = "format";
const HEADS: &str = "n_heads";
const LENGTH: &str = "length";
const HEAD: usize = 128;
/// The largest E4M3 number.
const E4M3_MOST: f64 = 448.0;
/// Of the card's fp32 against fp64 over the numbers as they were stored.
const TOLERANCE: f64 = 1e-4;
const KEYS: [u32; 3] = [0x1357_9BDF, 0x2468_ACE0, 0x0F1E_2D3C];

pub const KV_ERROR: Routine = Routine {
    id: "kv_error",
    about: Text::new(
        "换一种格式存 KV 缓存，注意力的结果差多少",
        "the error of attention over a cache in another format",
    ),
    inputs: &[
        Input { name: FORMAT, min: 0, max: 2, about: "0 bf16, 1 E4M3 with one scale, 2 int8 with a scale a row" },
        Input { name: HEADS, min: 1, max: 256, about: "heads, one query each" },
        Input { name: LENGTH, min: 16, max: 8192, about: "tokens" },
    ],
    readings: &["error_pct", "value_error_pct"],
    checks: &["the card's result is that of the numbers as stored", "all memory is back at the end"],
    run,
};

/// Addresses of the card's buffers.
struct Bench {
    n_heads: u64,
    length: u64,
    format: u64,
    q: u64,
    /// Keys and values: originals, what is stored, scales.
    exact: [u64; 2],
    cache: [u64; 2],
    scales: [u64; 2],
    out: u64,
}

/// Query, keys and values on the host.
struct Numbers {
    q: Vec<f64>,
    kv: [Vec<f64>; 2],
}

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let before = stage.card.memory()?[0];
    let bench = Bench::open(stage)?;
    let exact = bench.fill(stage.card)?;
    for side in 0..2 {
        bench.store(stage.card, side, &exact.kv[side])?;
    }
    stage.card.sync()?;
    let stored = Numbers { q: exact.q.clone(), kv: [bench.stored(stage.card, 0)?, bench.stored(stage.card, 1)?] };
    let [expected, near] = [&exact, &stored].map(|numbers| bench.attention(numbers));
    let mut taken = Taken::default();
    let mut is_right = true;
    for _ in 0..stage.n_samples {
        stage.cx.check()?;
        stage.card.set(bench.out, 0xFF, bench.n_heads * HEAD as u64 * 4)?;
        let ns = bench.attend(stage.card)?;
        let found = floats(stage.card, bench.out, expected.len())?;
        is_right &= off(&found, &near) <= TOLERANCE;
        taken.samples_ns.push(ns.max(1.0));
        taken.read("error_pct", 100.0 * off(&found, &expected).min(1e6));
        taken.read("value_error_pct", 100.0 * off(&stored.kv[1], &exact.kv[1]).min(1e6));
    }
    bench.close(stage.card)?;
    taken.checks = vec![is_right, stage.card.memory()?[0] + 16 * super::PAGE >= before];
    Ok(taken)
}

impl Bench {
    fn open(stage: &mut Stage<'_>) -> Result<Self, RunError> {
        let (n_heads, length) = (stage.get(HEADS), stage.get(LENGTH));
        let rows = n_heads * length;
        let bytes = rows * HEAD as u64 * 4;
        Ok(Self {
            n_heads,
            length,
            format: stage.get(FORMAT),
            q: stage.must(n_heads * HEAD as u64 * 4)?,
            exact: [stage.must(bytes)?, stage.must(bytes)?],
            cache: [stage.must(bytes)?, stage.must(bytes)?],
            scales: [stage.must(rows * 4)?, stage.must(rows * 4)?],
            out: stage.must(n_heads * HEAD as u64 * 4)?,
        })
    }

    fn close(&self, card: &mut dyn Card) -> Result<(), RunError> {
        let pairs = [self.exact, self.cache, self.scales].concat();
        pairs.into_iter().chain([self.q, self.out]).try_for_each(|address| card.free(address))
    }

    fn rows(&self) -> usize {
        (self.n_heads * self.length) as usize
    }

    /// Normal numbers, made on the card and brought back.
    fn fill(&self, card: &mut dyn Card) -> Result<Numbers, RunError> {
        let n_q = self.n_heads as usize * HEAD;
        let sizes = [(self.q, n_q), (self.exact[0], self.rows() * HEAD), (self.exact[1], self.rows() * HEAD)];
        for ((address, n), key) in sizes.into_iter().zip(KEYS) {
            card.launch("normal", n.div_ceil(256) as u32, 256, &[address, n as u64, key.into()])?;
        }
        card.sync()?;
        let mut read = |(address, n)| floats(card, address, n);
        Ok(Numbers { q: read(sizes[0])?, kv: [read(sizes[1])?, read(sizes[2])?] })
    }

    fn store(&self, card: &mut dyn Card, side: usize, exact: &[f64]) -> Result<(), RunError> {
        let most = exact.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let scale = (most / E4M3_MOST) as f32;
        let (from, to, scales) = (self.exact[side], self.cache[side], self.scales[side]);
        let args = [from, to, scales, self.rows() as u64, self.format, u64::from(scale.to_bits())];
        card.launch("store", self.rows().div_ceil(4) as u32, 128, &args)
    }

    /// Nanoseconds of the kernel.
    fn attend(&self, card: &mut dyn Card) -> Result<f64, RunError> {
        let ([keys, values], [k_scales, v_scales]) = (self.cache, self.scales);
        card.busy(40)?;
        card.start_clock()?;
        let args = [self.q, keys, values, k_scales, v_scales, self.out, self.length, self.format];
        card.launch("attend", self.n_heads as u32, 128, &args)?;
        card.stop_clock()
    }

    /// What the card stored, as the format defines it.
    fn stored(&self, card: &mut dyn Card, side: usize) -> Result<Vec<f64>, RunError> {
        let n = self.rows() * HEAD;
        let mut bytes = vec![0; n * if self.format == 0 { 2 } else { 1 }];
        card.get(self.cache[side], &mut bytes)?;
        if self.format == 0 {
            let wide = |pair: &[u8]| f32::from_bits(u32::from(pair[0]) << 16 | u32::from(pair[1]) << 24);
            return Ok(bytes.chunks_exact(2).map(|pair| wide(pair).into()).collect());
        }
        let scales = floats(card, self.scales[side], self.rows())?;
        let number = |byte: u8| if self.format == 1 { e4m3(byte) } else { f64::from(byte as i8) };
        Ok(bytes.iter().enumerate().map(|(at, byte)| number(*byte) * scales[at / HEAD]).collect())
    }

    /// All heads in double precision.
    fn attention(&self, numbers: &Numbers) -> Vec<f64> {
        let (length, [keys, values]) = (self.length as usize, &numbers.kv);
        let head = |(head, q): (usize, &[f64])| {
            let rows = head * length * HEAD..(head + 1) * length * HEAD;
            let score = |k: &[f64]| q.iter().zip(k).map(|(q, k)| q * k).sum::<f64>() / (HEAD as f64).sqrt();
            let scores: Vec<f64> = keys[rows.clone()].chunks_exact(HEAD).map(score).collect();
            let most = scores.iter().copied().fold(f64::MIN, f64::max);
            let (mut sum, mut total) = (vec![0.0; HEAD], 0.0);
            for (score, v) in scores.iter().zip(values[rows].chunks_exact(HEAD)) {
                let weight = (score - most).exp();
                total += weight;
                sum.iter_mut().zip(v).for_each(|(sum, v)| *sum += weight * v);
            }
            sum.into_iter().map(move |sum| sum / total).collect::<Vec<f64>>()
        };
        numbers.q.chunks_exact(HEAD).enumerate().flat_map(head).collect()
    }
}

fn floats(card: &mut dyn Card, address: u64, n: usize) -> Result<Vec<f64>, RunError> {
    let mut bytes = vec![0; 4 * n];
    card.get(address, &mut bytes)?;
    Ok(bytes.chunks_exact(4).map(|word| f32::from_le_bytes([word[0], word[1], word[2], word[3]]).into()).collect())
}

/// A number of one sign bit, four exponent bits with bias 7, three fraction bits.
fn e4m3(byte: u8) -> f64 {
    let (exponent, fraction) = (byte >> 3 & 15, f64::from(byte & 7));
    let size =
        if exponent == 0 { fraction / 512.0 } else { (8.0 + fraction) * f64::from(i32::from(exponent) - 10).exp2() };
    if byte & 0x80 == 0 { size } else { -size }
}

/// Root mean square difference over the root mean square of what is expected; 1 where both are nothing.
fn off(found: &[f64], expected: &[f64]) -> f64 {
    let square = |of: &dyn Fn(usize) -> f64| (0..expected.len()).map(|at| of(at).powi(2)).sum::<f64>();
    let size = square(&|at| expected[at]);
    let off = (square(&|at| found[at] - expected[at]) / size).sqrt();
    if off.is_finite() { off } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Largest 448, smallest 2^-9, one: from the format's definition.
    #[test]
    fn e4m3_numbers() {
        assert_eq!([0x7E, 0x01, 0x38, 0xB8, 0x08].map(e4m3), [448.0, 1.0 / 512.0, 1.0, -1.0, 1.0 / 64.0]);
    }

    #[test]
    fn differences_are_relative() {
        assert!((off(&[3.0, 4.4], &[3.0, 4.0]) - 0.08).abs() < 1e-12);
        assert_eq!(off(&[0.0], &[0.0]), 1.0);
    }
}
