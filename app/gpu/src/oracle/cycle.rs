//! Pointer chases: a random cycle that needs no memory to be known. Position p of the walk is line [`place`] of p; each
//! line points to the line of the next position. Where a walk of so many hops must end is therefore one evaluation.

use super::{Check, Entry, With, WithKind, output, sampled, tally::Tally, whole, word};
use vramlab_trace::OracleOutcome;
use vramlab_units::Text;

/// A permutation of 0 … n − 1: the bits of `position` are mixed reversibly below 2^`bits`, again while the result is not
/// below n. `bits` is the fewest that number n lines. Word for word what the kernels compute.
pub const fn place(position: u32, n: u32, bits: u32) -> u32 {
    let mask = if bits >= 32 { u32::MAX } else { (1 << bits) - 1 };
    let shift = if bits / 2 > 0 { bits / 2 } else { 1 };
    let mut at = position;
    loop {
        at = at.wrapping_mul(0x9E37_79B1).wrapping_add(0x7F4A_7C15) & mask;
        at ^= at >> shift;
        at = at.wrapping_mul(0x85EB_CA6B) & mask;
        at ^= at >> shift;
        at = at.wrapping_mul(0xC2B2_AE35) & mask;
        if at < n {
            return at;
        }
    }
}

/// Bits that number `n` lines.
pub const fn bits_of(n: u32) -> u32 {
    match n {
        0 | 1 => 1,
        n => 32 - (n - 1).leading_zeros(),
    }
}

pub const CHASE: Entry = Entry {
    id: "chase",
    about: Text::new(
        "沿一个随机环走若干步，输出最后所在的行",
        "follows a random cycle for some hops and writes the line where it ends",
    ),
    with: WITH,
    run: chase,
};

/// `out[0] = place(hops mod n)`; with `chain`, also `chain[place(p) · line_words] = place(p + 1) · line_words` for all p.
const WITH: &[With] = &[
    output("out", "one word: the line where the walk ends"),
    whole("n", None, "lines of the cycle"),
    whole("hops", None, "hops of a launch that starts at position 0"),
    With {
        name: "chain",
        kind: WithKind::Output,
        default: Some(""),
        about: "the cycle itself, if it is stored as word indices",
    },
    whole("line_words", Some("16"), "words of a line"),
];

fn chase(check: &Check<'_>) -> Result<OracleOutcome, String> {
    let (n, hops) = (check.whole(WITH, "n")?, check.whole(WITH, "hops")?);
    let n = u32::try_from(n).ok().filter(|n| *n > 0).ok_or_else(|| format!("oracle.with.n is {n}"))?;
    let bits = bits_of(n);
    let line_of = |position: u64| u64::from(place((position % u64::from(n)) as u32, n, bits));
    let mut tally = Tally::default();
    tally.word(0, line_of(hops) as u32, word(check.output(WITH, "out", 4)?, 0));
    if check.kernel.oracle.with.contains_key("chain") {
        let line_words = check.whole(WITH, "line_words")?;
        let chain = check.output(WITH, "chain", u64::from(n) * line_words * 4)?;
        for position in sampled(n.into(), check.step(n.into(), 2)) {
            let at = line_of(position) * line_words;
            tally.word(at, (line_of(position + 1) * line_words) as u32, word(chain, at));
        }
    }
    Ok(tally.outcome())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every line once: otherwise a walk would close before it has met the whole footprint.
    #[test]
    fn every_line_has_one_position() {
        for n in [1, 2, 3, 32, 33, 1000, 4096, 40_961] {
            let mut seen = vec![false; n as usize];
            (0..n).for_each(|position| seen[place(position, n, bits_of(n)) as usize] = true);
            assert!(seen.iter().all(|seen| *seen), "{n} lines");
        }
    }

    /// Neighbouring positions are not neighbouring lines, or a prefetcher would guess the next one.
    #[test]
    fn neighbours_lie_apart() {
        let n = 1 << 16;
        let line = |position| i64::from(place(position, n, 16));
        let near = (1..n).filter(|position| (line(*position) - line(position - 1)).abs() <= 4).count();
        assert!(near < 40, "{near} of {n}");
        let repeats = (2..n).filter(|p| line(*p) - line(p - 1) == line(p - 1) - line(p - 2)).count();
        assert!(repeats < n as usize / 100, "{repeats} equal strides of {n}");
    }

    #[test]
    fn lines_are_numbered_by_the_fewest_bits() {
        assert_eq!([1, 2, 3, 32, 33].map(bits_of), [1, 1, 2, 5, 6]);
        assert_eq!(bits_of(1 << 23), 23);
    }
}
