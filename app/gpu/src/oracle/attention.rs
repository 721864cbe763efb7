//! Attention, forward: whole rows of the output against double precision on the processor.

use super::{Check, Entry, With, WithKind, input, output, sampled, tally::Tally, unit_bf16_at, unit_f32_at, whole};
use std::collections::BTreeSet;
use vramlab_trace::OracleOutcome;
use vramlab_units::Text;

/// Multiply-adds for each input word that a check may recompute; rows that share a head share its keys and values.
const ADDS_PER_WORD: u64 = 4;
/// Rows of a head: at least, at most.
const ROWS: [u64; 2] = [4, 64];
/// Relative error of a log-sum-exp of floats.
const LSE_ERROR: f64 = 1e-4;

const fn number(name: &'static str, default: Option<&'static str>, about: &'static str) -> With {
    With { name, kind: WithKind::Number, default, about }
}

pub const ATTENTION: Entry = Entry {
    id: "attention",
    about: Text::new("注意力前向，整行在双精度里重算", "the forward pass of attention, whole rows in double precision"),
    with: WITH,
    run,
};

/// `out[h][i] = Σ_j p_j v[h / group][j]` with p = softmax of `scale · Σ q k` over the keys (those up to i, if causal). Every
/// input is positive, so that sums do not cancel, and each element is held to a relative error.
const WITH: &[With] = &[
    input("q", "queries, [head][token][d]"),
    input("k", "keys, [KV head][token][d]"),
    input("v", "values, as the keys"),
    output("out", "as the queries"),
    output("lse", "a float a row: the natural logarithm of the sum of exponentials"),
    whole("n", None, "tokens"),
    whole("d", None, "size of a head"),
    whole("heads", None, "query heads"),
    whole("kv_heads", None, "KV heads"),
    whole("causal", Some("0"), "1 if a row sees no later keys"),
    whole("bf16", Some("1"), "1 if values are bf16 (filled with unit_bf16), 0 if they are floats (unit_f32)"),
    whole("stored", Some("0"), "1 if scores are stored as bf16 on the way, and no log-sum-exp is written"),
    number("scale", None, "factor of the scores"),
    number("error", None, "largest relative error of an element"),
];

struct Shape {
    n: u64,
    d: u64,
    heads: u64,
    group: u64,
    is_causal: bool,
    is_bf16: bool,
    is_stored: bool,
    scale: f64,
    error: f64,
}

fn run(check: &Check<'_>) -> Result<OracleOutcome, String> {
    let get = |name: &str| check.whole(WITH, name);
    let shape = Shape {
        n: get("n")?,
        d: get("d")?,
        heads: get("heads")?,
        group: get("heads")? / get("kv_heads")?.max(1),
        is_causal: get("causal")? == 1,
        is_bf16: get("bf16")? == 1,
        is_stored: get("stored")? == 1,
        scale: check.number(WITH, "scale")?,
        error: check.number(WITH, "error")?,
    };
    let Shape { n, d, heads, .. } = shape;
    let width = if shape.is_bf16 { 2 } else { 4 };
    let out = check.output(WITH, "out", heads * n * d * width)?;
    let lse = check.output(WITH, "lse", if shape.is_stored { 0 } else { heads * n * 4 })?;
    let seeds = [check.seed(WITH, "q")?, check.seed(WITH, "k")?, check.seed(WITH, "v")?];
    let chosen = BTreeSet::from([0, heads / 2, heads.saturating_sub(1)]);
    let adds = check.max_words.min(1 << 26) * ADDS_PER_WORD;
    let n_rows = (adds / (chosen.len() as u64 * 2 * n * d).max(1)).clamp(ROWS[0], ROWS[1]);
    let mut tally = Tally::default();
    for head in chosen {
        let held = Head::of(&shape, seeds, head);
        // An odd step: rows of every place in a tile take their turn.
        for i in sampled(n, (n / n_rows).max(1) | 1) {
            let (row, sum) = held.row(&shape, i);
            let at = head * n + i;
            for (c, expected) in (0_u64..).zip(&row) {
                let found = if shape.is_bf16 { short(out, at * d + c) } else { float(out, at * d + c) };
                tally.close(at * d + c, *expected, found.into(), shape.error);
            }
            if !shape.is_stored {
                tally.close(heads * n * d + at, sum, float(lse, at).into(), LSE_ERROR);
            }
        }
    }
    Ok(tally.outcome())
}

/// Keys and values of one head, and where its queries come from.
struct Head {
    seed_q: u64,
    head: u64,
    keys: Vec<f32>,
    values: Vec<f32>,
}

impl Head {
    fn of(shape: &Shape, [seed_q, seed_k, seed_v]: [u64; 3], head: u64) -> Self {
        let size = shape.n * shape.d;
        let first = head / shape.group.max(1) * size;
        let all = |seed: u64| (first..first + size).map(|at| shape.element(seed, at)).collect();
        Self { seed_q, head, keys: all(seed_k), values: all(seed_v) }
    }

    /// Row `i` of the output, and its log-sum-exp.
    fn row(&self, shape: &Shape, i: u64) -> (Vec<f64>, f64) {
        let d = shape.d as usize;
        let first = (self.head * shape.n + i) * shape.d;
        let query: Vec<f64> = (first..first + shape.d).map(|at| shape.element(self.seed_q, at).into()).collect();
        let n_keys = if shape.is_causal { i + 1 } else { shape.n } as usize;
        let dot = |key: &[f32]| query.iter().zip(key).map(|(q, k)| q * f64::from(*k)).sum::<f64>();
        let score = |key: &[f32]| shape.stored(dot(key) * shape.scale);
        let mut weights: Vec<f64> = self.keys.chunks_exact(d).take(n_keys).map(score).collect();
        let most = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        weights.iter_mut().for_each(|weight| *weight = (*weight - most).exp());
        let total: f64 = weights.iter().sum();
        let mut row = vec![0.0; d];
        for (weight, value) in weights.iter().zip(self.values.chunks_exact(d)) {
            row.iter_mut().zip(value).for_each(|(sum, v)| *sum += weight / total * f64::from(*v));
        }
        (row, most + total.ln())
    }
}

impl Shape {
    fn element(&self, seed: u64, at: u64) -> f32 {
        if self.is_bf16 { unit_bf16_at(seed, at) } else { unit_f32_at(seed, at) }
    }

    /// A score as it lies in memory where the scores do.
    fn stored(&self, score: f64) -> f64 {
        if !self.is_stored {
            return score;
        }
        let bits = (score as f32).to_bits();
        f64::from(f32::from_bits((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF_0000))
    }
}

fn float(bytes: &[u8], index: u64) -> f32 {
    f32::from_bits(super::word(bytes, index))
}

fn short(bytes: &[u8], index: u64) -> f32 {
    let at = index as usize * 2;
    f32::from_bits(u32::from(u16::from_le_bytes([bytes[at], bytes[at + 1]])) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(n: u64, d: u64, is_causal: bool) -> Shape {
        Shape { n, d, heads: 1, group: 1, is_causal, is_bf16: true, is_stored: false, scale: 1.0, error: 0.0 }
    }

    /// The worked example of brief 16: scores 1, 2, 3, 4 and values 10, 20, 30, 40 give 34.9265273459 and a log-sum-exp of
    /// 4.4401896986; a causal mask leaves the first row its own value, the second scores 1 and 2.
    #[test]
    fn rows_are_those_of_the_worked_example() {
        // The query is element 0 of the generator at seed 3; keys are scores over it.
        let q = f64::from(unit_bf16_at(3, 0));
        assert!(q > 0.0, "another seed is needed");
        let keys = [1.0, 2.0, 3.0, 4.0].map(|score| (score / q) as f32).to_vec();
        let head = Head { seed_q: 3, head: 0, keys, values: vec![10.0, 20.0, 30.0, 40.0] };
        let (row, lse) = head.row(&shape(4, 1, false), 0);
        assert!((row[0] - 34.926_527_345_9).abs() < 1e-5 && (lse - 4.440_189_698_6).abs() < 1e-6, "{row:?} {lse}");
        let (row, lse) = head.row(&shape(4, 1, true), 0);
        assert!((row[0] - 10.0).abs() < 1e-12 && (lse - 1.0).abs() < 1e-6, "{row:?} {lse}");
    }

    #[test]
    fn stored_scores_are_rounded_to_bf16() {
        let stored = Shape { is_stored: true, ..shape(1, 1, false) };
        // Between 32 and 64 bf16 counts in quarters; halves go to the even one.
        assert_eq!([42.13, 42.12, 42.125, 42.375].map(|score| stored.stored(score)), [42.25, 42.0, 42.0, 42.5]);
        assert_eq!(shape(1, 1, false).stored(42.13), 42.13);
    }
}
