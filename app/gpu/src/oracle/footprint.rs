//! What walks an array tile by tile, modulo the number of tiles: sums of warps, and arrays written by every block.

use super::words::{key_of, unit_f32_at, word_with_key};
use super::{Check, Entry, With, WithKind, input, output, sampled, tally::Tally, whole, word};
use vramlab_trace::OracleOutcome;
use vramlab_units::Text;

/// Words recomputed a point: these experiments have many points.
const MAX_WORDS: u64 = 1 << 21;
/// Word i of a written array is i times this odd number.
const WRITTEN: u32 = 0x9E37_79B1;

pub const FOOTPRINT: Entry = Entry {
    id: "footprint",
    about: Text::new(
        "按块轮流走过数组：读（每个 warp 一个和）、写、拷贝或 a = b + s · c",
        "walks arrays tile by tile: reads (one sum a warp), writes, copies, or a = b + s · c",
    ),
    with: WITH,
    run,
};

/// `op` 0: `sums[w]` is the wrapping sum of the words that warp w read; 1: `a[i] = i · 0x9E3779B1`; 2: `a[i] = b[i]`;
/// 3: `a[i] = fma(scalar, c[i], b[i])`. `b` and `c` are floats in [0, 1), whose bits 0 and 2 take as words.
const WITH: &[With] = &[
    input("b", "floats, filled with unit_f32"),
    input("c", "floats, filled with unit_f32"),
    output("a", "the array written"),
    output("sums", "one word a warp, for reads"),
    whole("op", None, "0 read, 1 write, 2 copy, 3 triad"),
    whole("n", None, "words of an array"),
    whole("n_warps", None, "warps of the launch"),
    whole("n_tiles", None, "tiles of an array"),
    whole("block", None, "threads of a block"),
    whole("unroll", None, "pieces of 16 bytes that a thread has of a tile"),
    whole("rounds", None, "tiles that a block works on, one after the other"),
    With { name: "scalar", kind: WithKind::Number, default: Some("0.4"), about: "the factor s" },
];

fn run(check: &Check<'_>) -> Result<OracleOutcome, String> {
    let check = &check.at_most(MAX_WORDS);
    let (op, n) = (check.whole(WITH, "op")?, check.whole(WITH, "n")?);
    if op == 0 {
        return sums(check);
    }
    let (seed_b, seed_c) = (check.seed(WITH, "b")?, check.seed(WITH, "c")?);
    let scalar = check.number(WITH, "scalar")? as f32;
    let a = check.output(WITH, "a", n * 4)?;
    let mut tally = Tally::default();
    for i in sampled(n, check.step(n, 2)) {
        let expected = match op {
            1 => (i as u32).wrapping_mul(WRITTEN),
            2 => unit_f32_at(seed_b, i).to_bits(),
            _ => scalar.mul_add(unit_f32_at(seed_c, i), unit_f32_at(seed_b, i)).to_bits(),
        };
        tally.word(i, expected, word(a, i));
    }
    Ok(tally.outcome())
}

fn sums(check: &Check<'_>) -> Result<OracleOutcome, String> {
    let get = |name: &str| check.whole(WITH, name);
    let (n_warps, n_tiles, block) = (get("n_warps")?, get("n_tiles")?.max(1), get("block")?.max(32));
    let (unroll, rounds) = (get("unroll")?, get("rounds")?);
    let key = key_of(check.seed(WITH, "b")?);
    let sums = check.output(WITH, "sums", n_warps * 4)?;
    let mut tally = Tally::default();
    for warp in sampled(n_warps, check.step(n_warps, rounds * unroll * 128)) {
        let (block_idx, first) = (warp / (block / 32), warp % (block / 32) * 32);
        let mut sum = 0u32;
        for round in 0..rounds {
            let tile = (block_idx * rounds + round) % n_tiles;
            for k in 0..unroll {
                let words = (tile * unroll * block + k * block + first) * 4;
                // A float of [0, 1) is the upper 24 bits of its word.
                let bits = (words..words + 128).map(|i| float_bits(word_with_key(key, i)));
                sum = bits.fold(sum, u32::wrapping_add);
            }
        }
        tally.word(warp, sum, word(sums, warp));
    }
    Ok(tally.outcome())
}

fn float_bits(word: u32) -> u32 {
    ((word >> 8) as f32 * (1.0 / 16_777_216.0)).to_bits()
}
