//! Products with weights of few bits, or with two of four kept: every code decoded by `vramlab_codec`, sums in double
//! precision.
//!
//! A word of packed weights holds neighbours in its two halves (value 2i in the lower, 2i + 1 in the upper), so that a
//! kernel unpacks pairs. Scales of a group lie row after row, group after group.

use super::tally::Tally;
use super::words::{key_of, word_with_key};
use super::{Check, Entry, With, WithKind, input, output, sampled, whole};
use crate::manifest::Mask;
use vramlab_codec::float::{BF16, E2M1, E4M3, F16, Format, e8m0};
use vramlab_codec::sparse::Tile;
use vramlab_trace::OracleOutcome;
use vramlab_units::Text;

/// Terms recomputed a point.
const MAX_TERMS: u64 = 1 << 23;
/// Values of a group of integers.
const GROUP: u64 = 128;

pub const QUANT_MATMUL: Entry = Entry {
    id: "quant_matmul",
    about: Text::new(
        "x 乘几位权重的转置，逐码解开，在双精度里重算",
        "the product of x and the transpose of weights of few bits, each code decoded, in double precision",
    ),
    with: QUANT,
    run: quant_matmul,
};

/// `out[j · n + i] = Σ_q x[j, q] · w[i, q]`; an error may be `slack` of the sum of magnitudes.
const QUANT: &[With] = &[
    input("w", "packed weights, row after row"),
    input("scales", "scales: fp16 of groups of 128, E8M0 of blocks of 32, or a float a row"),
    input("x", "m × k bf16, or e4m3 where both sides are of 8 bits"),
    output("out", "m × n floats"),
    whole("m", None, "batch rows"),
    whole("n", None, "weight rows"),
    whole("k", None, "terms of a sum"),
    whole("format", None, "0 bf16, 1 int8, 2 int4 (code + 8), 3 e4m3, 4 mxfp4, 5 e4m3 times e4m3"),
    With { name: "slack", kind: WithKind::Number, default: Some("0"), about: "error over the sum of magnitudes" },
];

pub const SPARSE_MATMUL: Entry = Entry {
    id: "sparse_matmul",
    about: Text::new(
        "x 乘 2:4 剪过的权重的转置，按片段的次序存，逐位相同",
        "the product of x and the transpose of weights of which two in four are kept, stored by fragments, bit by bit",
    ),
    with: SPARSE,
    run: sparse_matmul,
};

/// As above; weights lie in the order in which the lanes of a warp take them.
const SPARSE: &[With] = &[
    input("w", "tiles of 16 rows × 64 columns: a piece of 16 bytes a lane for each step, kept values only if sparse"),
    input("meta", "a word a lane and tile: the places of two steps"),
    input("x", "m × k bf16"),
    output("out", "m × n floats"),
    whole("m", None, "batch rows"),
    whole("n", None, "weight rows"),
    whole("k", None, "terms of a sum"),
    whole("sparse", None, "1 if two of four are kept"),
];

/// A buffer of random words with chosen bits.
struct Words {
    key: u32,
    mask: Mask,
}

impl Words {
    fn of(check: &Check<'_>, entry: &[With], name: &str) -> Result<Self, String> {
        let key = key_of(check.seed(entry, name)?);
        let buffer = check.with(entry, name)?;
        let found = check.kernel.buffers.iter().find(|known| known.name == buffer);
        let mask = found.ok_or_else(|| format!("no buffer \"{buffer}\""))?.mask(check.vars)?;
        Ok(Self { key, mask })
    }

    fn word(&self, index: u64) -> u32 {
        self.mask.of(word_with_key(self.key, index))
    }

    fn half(&self, index: u64) -> u32 {
        self.word(index / 2) >> (index % 2 * 16) & 0xFFFF
    }

    fn byte(&self, index: u64) -> u32 {
        self.word(index / 4) >> (index % 4 * 8) & 0xFF
    }

    /// Value `index` of codes of `bits` bits whose pairs lie in the halves of a word.
    fn paired(&self, index: u64, bits: u64) -> u32 {
        let (each, half) = (32 / bits, 16 / bits);
        let at = index % each;
        self.word(index / each) >> ((at / 2 + at % 2 * half) * bits) & ((1 << bits) - 1)
    }
}

/// Every code of a format.
fn table(format: Format) -> Vec<f64> {
    (0..format.n_codes()).map(|code| format.decode(code)).collect()
}

struct Weights<'a> {
    codes: &'a Words,
    scales: &'a Words,
    format: u64,
    n: u64,
    k: u64,
    table: Vec<f64>,
}

impl Weights<'_> {
    fn at(&self, row: u64, col: u64) -> f64 {
        let index = row * self.k + col;
        let group = col / GROUP * self.n + row;
        let by_group = || F16.decode(self.scales.half(group));
        let by_row = || f64::from(f32::from_bits(self.scales.word(row)));
        match self.format {
            0 => BF16.decode(self.codes.half(index)),
            1 => f64::from(self.codes.paired(index, 8) as u8 as i8) * by_group(),
            2 => (f64::from(self.codes.paired(index, 4)) - 8.0) * by_group(),
            3 => self.table[self.codes.paired(index, 8) as usize] * by_row(),
            4 => {
                let scale = self.scales.byte(group * 4 + col % GROUP / 32);
                self.table[self.codes.paired(index, 4) as usize] * e8m0(scale as u8)
            }
            _ => self.table[self.codes.byte(index) as usize] * by_row(),
        }
    }
}

fn quant_matmul(check: &Check<'_>) -> Result<OracleOutcome, String> {
    let check = &check.at_most(MAX_TERMS);
    let get = |name: &str| check.whole(QUANT, name);
    let (m, n, k, format) = (get("m")?, get("n")?.max(1), get("k")?, get("format")?);
    let slack = check.number(QUANT, "slack")?;
    let (codes, scales, x) =
        (Words::of(check, QUANT, "w")?, Words::of(check, QUANT, "scales")?, Words::of(check, QUANT, "x")?);
    let decoded = table(if format == 4 { E2M1 } else { E4M3 });
    let inputs = |j: u64, q: u64| match format {
        5 => E4M3.decode(x.byte(j * k + q)),
        _ => BF16.decode(x.half(j * k + q)),
    };
    let weights = Weights { codes: &codes, scales: &scales, format, n, k, table: decoded };
    let out = check.output(QUANT, "out", m * n * 4)?;
    let mut tally = Tally::default();
    for at in sampled(m * n, check.step(m * n, 2 * k)) {
        let (j, i) = (at / n, at % n);
        let (mut sum, mut size) = (0.0, 0.0);
        for q in 0..k {
            let term = inputs(j, q) * weights.at(i, q);
            sum += term;
            size += f64::abs(term);
        }
        let found = f32::from_bits(super::word(out, at));
        tally.sum(at, sum, found.into(), size, slack);
    }
    Ok(tally.outcome())
}

/// Where value `col` of a row of a step lies: word of a piece's 128, and which half.
fn fragment(row: u64, col: u64) -> (u64, u64) {
    let lane = row % 8 * 4 + col % 8 / 2;
    (lane * 4 + row % 16 / 8 + col / 8 * 2, col % 2)
}

/// The weight at a place of a matrix stored by fragments.
fn dense_at(codes: &Words, k: u64, row: u64, col: u64) -> f64 {
    let step = row / 16 * (k / 16) + col / 16;
    let (word, half) = fragment(row, col % 16);
    BF16.decode(codes.half((step * 128 + word) * 2 + half))
}

/// The same of a pruned one.
fn sparse_at(codes: &Words, meta: &Words, k: u64, row: u64, col: u64) -> f64 {
    let (tile, step) = (row / 16 * (k / 64) + col / 64, row / 16 * (k / 32) + col / 32);
    // Two steps share a word a lane: lanes 0 and 1 of four hold the first, 16 columns each, lanes 2 and 3 the second.
    let lane = row % 8 * 4 + col % 64 / 16;
    let nibble = meta.word(tile * 32 + lane) >> (row % 16 / 8 * 16 + col % 16 / 4 * 4) & 15;
    let kept = |which: u64| {
        let (word, half) = fragment(row, col % 32 / 4 * 2 + which);
        BF16.decode(codes.half((step * 128 + word) * 2 + half))
    };
    let tile = Tile { values: [kept(0), kept(1)], places: [nibble as u8 & 3, nibble as u8 >> 2] };
    tile.decode()[(col % 4) as usize]
}

fn sparse_matmul(check: &Check<'_>) -> Result<OracleOutcome, String> {
    let check = &check.at_most(MAX_TERMS);
    let get = |name: &str| check.whole(SPARSE, name);
    let (m, n, k, is_sparse) = (get("m")?, get("n")?.max(1), get("k")?, get("sparse")? == 1);
    let (codes, meta, x) =
        (Words::of(check, SPARSE, "w")?, Words::of(check, SPARSE, "meta")?, Words::of(check, SPARSE, "x")?);
    let out = check.output(SPARSE, "out", m * n * 4)?;
    let mut tally = Tally::default();
    for at in sampled(m * n, check.step(m * n, 2 * k)) {
        let (j, i) = (at / n, at % n);
        let weight = |q| if is_sparse { sparse_at(&codes, &meta, k, i, q) } else { dense_at(&codes, k, i, q) };
        let expected: f64 = (0..k).map(|q| BF16.decode(x.half(j * k + q)) * weight(q)).sum();
        tally.close(at, expected, f32::from_bits(super::word(out, at)).into(), check.kernel.oracle.tolerance);
    }
    Ok(tally.outcome())
}

#[cfg(test)]
#[path = "quantised_test.rs"]
mod tests;
