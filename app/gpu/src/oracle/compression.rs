//! What compression does on the card: counts of exponents with their entropy, and the largest magnitudes with their places.

use super::tally::Tally;
use super::words::{key_of, word_with_key};
use super::{Check, Entry, With, input, output, whole, word};
use vramlab_codec::entropy;
use vramlab_trace::OracleOutcome;
use vramlab_units::Text;

pub const EXPONENT_COUNTS: Entry = Entry {
    id: "exponent_counts",
    about: Text::new("bf16 张量的指数计数和熵", "counts of the exponents of a bf16 tensor, and their entropy"),
    with: COUNTS,
    run: exponent_counts,
};

const COUNTS: &[With] = &[
    output("values", "the tensor"),
    output("counts", "256 counts of 64 bits"),
    output("entropy", "entropy in units of 2^-40 bits"),
    whole("n", None, "values"),
];

fn exponent_counts(check: &Check<'_>) -> Result<OracleOutcome, String> {
    let n = check.whole(COUNTS, "n")?;
    let values = check.output(COUNTS, "values", 2 * n)?;
    let (counts, found) = (check.output(COUNTS, "counts", 2048)?, check.output(COUNTS, "entropy", 8)?);
    let mut expected = vec![0_u64; 256];
    for value in values[..2 * n as usize].chunks_exact(2) {
        expected[usize::from(u16::from_le_bytes([value[0], value[1]]) >> 7 & 255)] += 1;
    }
    let mut tally = Tally::default();
    for (index, (expected, found)) in expected.iter().zip(counts.chunks_exact(8)).enumerate() {
        tally.close(index as u64, *expected as f64, whole_of(found) as f64, 0.0);
    }
    let bits = entropy::of_counts(&expected);
    tally.close(256, bits, whole_of(found) as f64 / 2.0_f64.powi(40), 1e-9);
    Ok(tally.outcome())
}

fn whole_of(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).rev().fold(0, |all, byte| all << 8 | u64::from(*byte))
}

pub const TOP_K: Entry = Entry {
    id: "top_k",
    about: Text::new("绝对值最大的 k 个和它们的位置", "the k largest magnitudes and their places"),
    with: LARGEST,
    run: top_k,
};

/// Of numbers equal to the k-th all are taken; the order is free.
const LARGEST: &[With] = &[
    input("input", "floats"),
    output(
        "state",
        "word 4096 the number of entries, 4098 and 4099 the bin of the k-th by its upper 11 bits and its rank in it",
    ),
    output("out", "places and floats"),
    whole("n", None, "floats"),
    whole("k", None, "how many are wanted"),
    whole("all", None, "0 if only the bin was looked for"),
];

fn top_k(check: &Check<'_>) -> Result<OracleOutcome, String> {
    let get = |name: &str| check.whole(LARGEST, name);
    let (n, k) = (get("n")?, get("k")?);
    let key = key_of(check.seed(LARGEST, "input")?);
    let buffer = check.with(LARGEST, "input")?;
    let mask = check.kernel.buffers.iter().find(|known| known.name == buffer).map(|known| known.mask(check.vars));
    let mask = mask.ok_or("no input")??;
    let magnitude = |index: u64| mask.of(word_with_key(key, index)) & 0x7FFF_FFFF;
    let mut counts = vec![0_u64; 2048];
    (0..n).for_each(|index| counts[(magnitude(index) >> 20) as usize] += 1);
    let mut above = 0;
    let bin = (0..2048).rev().find(|bin| {
        above += counts[*bin as usize];
        above >= k
    });
    let bin: u32 = bin.ok_or("k is beyond the number of floats")?;
    above -= counts[bin as usize];
    let state = check.output(LARGEST, "state", 4 * 4100)?;
    let mut tally = Tally::default();
    tally.word(0, bin, word(state, 4098));
    tally.word(1, (k - above) as u32, word(state, 4099));
    if get("all")? == 0 {
        return Ok(tally.outcome());
    }
    let mut inside: Vec<u32> = (0..n).map(magnitude).filter(|size| size >> 20 == bin).collect();
    let rank = (k - above) as usize - 1;
    let (_, least, _) = inside.select_nth_unstable_by(rank, |a, b| b.cmp(a));
    let least = *least;
    let n_taken = above + inside.iter().filter(|size| **size >= least).count() as u64;
    let n_found = word(state, 4096);
    tally.word(2, n_taken as u32, n_found);
    let out = check.output(LARGEST, "out", 8 * n_taken)?;
    let mut places: Vec<u32> = Vec::with_capacity(n_taken as usize);
    for at in 0..n_taken.min(n_found.into()) {
        let (place, value) = (word(out, 2 * at), word(out, 2 * at + 1));
        let expected = if u64::from(place) < n { mask.of(word_with_key(key, place.into())) } else { !value };
        tally.word(3 + at, expected, value);
        tally.word(3 + at, 1, (value & 0x7FFF_FFFF >= least).into());
        places.push(place);
    }
    // No place twice: then all that belong here are here.
    places.sort_unstable();
    tally.word(3, 0, places.windows(2).filter(|pair| pair[0] == pair[1]).count() as u32);
    Ok(tally.outcome())
}

#[cfg(test)]
#[path = "compression_test.rs"]
mod tests;
