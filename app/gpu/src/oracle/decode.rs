//! Attention of one new token over a cache, in double precision: whole heads of some sequences are worked out anew.

use super::words::{bf16_unit, key_of, shuffled, word_with_key};
use super::{Check, Entry, With, WithKind, input, output, sampled, tally::Tally, whole, word};
use vramlab_trace::OracleOutcome;
use vramlab_units::Text;

/// Numbers of a head, as in the kernel.
const HEAD: u64 = 128;
/// Input words recomputed a point: each costs the processor about two nanoseconds.
const MAX_WORDS: u64 = 1 << 25;

pub const DECODE_ATTENTION: Entry = Entry {
    id: "decode_attention",
    about: Text::new(
        "解码时的注意力：每个头在双精度里重算",
        "attention of a new token over its cache, each head in double precision",
    ),
    with: DECODE,
    run: decode_attention,
};

/// `out[h] = Σ_t softmax_t(scale · (q_h − ½) · k_t) · v_t` over 128 places. Keys of all rows come first, then values; row
/// of token t: `(seq · n_kv + head) · length + t`, or, where `block` is above 0, `(table[(seq · length + t) div block] ·
/// n_kv + head) · block + t mod block`.
const DECODE: &[With] = &[
    input("q", "queries, filled with unit_bf16"),
    input("kv16", "a cache of 16-bit numbers, filled with unit_bf16"),
    input("kv8", "a cache of 8-bit numbers: random words of which 0x37373737 is kept"),
    input("scales", "scales of int8, from 1/128 to 1/64, keys first: random words, keep 0x7FFFFF, set 0x3C000000"),
    output("out", "floats, 128 a query head"),
    whole("format", None, "0 bf16, 1 E4M3, 2 int8"),
    whole("n_seqs", None, "sequences"),
    whole("length", None, "tokens of each"),
    whole("n_kv", None, "KV heads"),
    whole("group", None, "query heads that share one"),
    whole("block", None, "tokens of a block, 0 for one piece a sequence"),
    whole("is_shuffled", None, "1 if the table is in random order"),
    With { name: "scale", kind: WithKind::Number, default: None, about: "of the scores" },
];

struct Cache {
    keys: [u32; 4],
    format: u64,
    length: u64,
    n_kv: u64,
    block: u64,
    n_blocks: u64,
    is_shuffled: bool,
    n_rows: u64,
}

impl Cache {
    fn row(&self, seq: u64, head: u64, token: u64) -> u64 {
        if self.block == 0 {
            return (seq * self.n_kv + head) * self.length + token;
        }
        let at = (seq * self.length + token) / self.block;
        let block = if self.is_shuffled { shuffled(self.keys[3], at, self.n_blocks) } else { at };
        (block * self.n_kv + head) * self.block + token % self.block
    }

    /// The 128 numbers of a row; values lie behind all keys.
    fn read(&self, is_value: bool, row: u64, to: &mut [f64; HEAD as usize]) {
        let row = row + if is_value { self.n_rows } else { 0 };
        let per_word = if self.format == 0 { 2 } else { 4 };
        let first = row * HEAD / per_word;
        let scale = if self.format == 2 { self.scale(row) } else { 1.0 };
        for (at, numbers) in (first..).zip(to.chunks_exact_mut(per_word as usize)) {
            let word = word_with_key(self.keys[if self.format == 0 { 0 } else { 1 }], at);
            for (number, part) in numbers.iter_mut().zip(0..) {
                *number = match self.format {
                    0 => f64::from(bf16_unit(word, part)),
                    1 => e4m3(word >> (8 * part) & 0x37),
                    _ => f64::from(word >> (8 * part) & 0x37) * scale,
                };
            }
        }
    }

    fn scale(&self, row: u64) -> f64 {
        f64::from(f32::from_bits(word_with_key(self.keys[2], row) & 0x007F_FFFF | 0x3C00_0000))
    }
}

/// A positive E4M3 number below one.
fn e4m3(byte: u32) -> f64 {
    let (exponent, fraction) = (byte >> 3, f64::from(byte & 7));
    if exponent == 0 { fraction / 512.0 } else { (8.0 + fraction) * f64::from(exponent as i32 - 10).exp2() }
}

fn decode_attention(check: &Check<'_>) -> Result<OracleOutcome, String> {
    let check = &check.at_most(MAX_WORDS);
    let get = |name: &str| check.whole(DECODE, name);
    let key = |name: &str| check.seed(DECODE, name).map(key_of);
    let (n_seqs, length, group) = (get("n_seqs")?, get("length")?, get("group")?);
    let (n_kv, block) = (get("n_kv")?, get("block")?);
    let cache = Cache {
        keys: [key("kv16")?, key("kv8")?, key("scales")?, table_key(check)?],
        format: get("format")?,
        length,
        n_kv,
        block,
        n_blocks: n_seqs * length / block.max(1),
        is_shuffled: get("is_shuffled")? == 1,
        n_rows: n_seqs * length * n_kv,
    };
    let (queries, scale) = (key("q")?, check.number(DECODE, "scale")?);
    let n_heads = n_seqs * n_kv * group;
    let out = check.output(DECODE, "out", 4 * n_heads * HEAD)?;
    let mut tally = Tally::default();
    let words = 2 * length * HEAD / if cache.format == 0 { 2 } else { 4 };
    for head in sampled(n_heads, check.step(n_heads, words)) {
        let q: Vec<f64> = (0..HEAD)
            .map(|at| head * HEAD + at)
            .map(|at| f64::from(bf16_unit(word_with_key(queries, at / 2), (at % 2) as u32)) - 0.5)
            .collect();
        let expected = attend(&cache, head / group / n_kv, head / group % n_kv, &q, scale);
        for (at, value) in (head * HEAD..).zip(expected) {
            tally.close(at, value, f32::from_bits(word(out, at)).into(), check.kernel.oracle.tolerance);
        }
    }
    Ok(tally.outcome())
}

/// The table has no name in `with`: an input that no other formula needs.
fn table_key(check: &Check<'_>) -> Result<u32, String> {
    let position = check.kernel.buffers.iter().position(|buffer| buffer.name == "table");
    position.map(|at| key_of(super::buffer_seed(check.job_seed, at))).ok_or_else(|| "no buffer \"table\"".to_owned())
}

/// All values are positive, so that nothing cancels.
fn attend(cache: &Cache, seq: u64, head: u64, q: &[f64], scale: f64) -> [f64; HEAD as usize] {
    let mut numbers = [0.0; HEAD as usize];
    let scores: Vec<f64> = (0..cache.length)
        .map(|token| {
            cache.read(false, cache.row(seq, head, token), &mut numbers);
            scale * q.iter().zip(&numbers).map(|(q, k)| q * k).sum::<f64>()
        })
        .collect();
    let most = scores.iter().copied().fold(f64::MIN, f64::max);
    let (mut sum, mut total) = ([0.0; HEAD as usize], 0.0);
    for (token, score) in (0..).zip(&scores) {
        let weight = (score - most).exp();
        total += weight;
        cache.read(true, cache.row(seq, head, token), &mut numbers);
        sum.iter_mut().zip(&numbers).for_each(|(sum, value)| *sum += weight * value);
    }
    sum.map(|sum| sum / total)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The format's corners, from its definition: 2^-9, 2^-6, 1 − 1/16.
    #[test]
    fn short_numbers_are_those_of_the_format() {
        assert_eq!([0x00, 0x01, 0x07, 0x10, 0x37].map(e4m3), [0.0, 1.0 / 512.0, 7.0 / 512.0, 1.0 / 32.0, 15.0 / 16.0]);
    }

    fn cache(format: u64, block: u64) -> Cache {
        let (length, n_kv) = (64, 2);
        let n_blocks = 2 * length / block.max(1);
        Cache {
            keys: [1, 2, 3, 4],
            format,
            length,
            n_kv,
            block,
            n_blocks,
            is_shuffled: true,
            n_rows: 2 * length * n_kv,
        }
    }

    #[test]
    fn every_row_is_somebodys() {
        for block in [0, 1, 16, 64] {
            let cache = cache(0, block);
            let rows = (0..2).flat_map(|seq| (0..2).map(move |head| (seq, head)));
            let mut rows: Vec<u64> = rows
                .flat_map(|(seq, head)| (0..64).map(move |token| (seq, head, token)))
                .map(|(s, h, t)| cache.row(s, h, t))
                .collect();
            rows.sort_unstable();
            assert!(rows.iter().copied().eq(0..256), "block {block}");
        }
    }

    /// With equal scores the result is the mean of the values.
    #[test]
    fn a_query_of_nothing_gives_the_mean() {
        for format in 0..3 {
            let cache = cache(format, 16);
            let found = attend(&cache, 1, 0, &[0.0; HEAD as usize], 1.0);
            let (mut sum, mut numbers) = ([0.0; HEAD as usize], [0.0; HEAD as usize]);
            for token in 0..64 {
                cache.read(true, cache.row(1, 0, token), &mut numbers);
                sum.iter_mut().zip(&numbers).for_each(|(sum, value)| *sum += value / 64.0);
            }
            assert!(found.iter().zip(&sum).all(|(a, b)| (a - b).abs() < 1e-12), "format {format}");
            assert!(numbers.iter().all(|value| (0.0..1.01).contains(value)), "format {format}");
        }
    }
}
