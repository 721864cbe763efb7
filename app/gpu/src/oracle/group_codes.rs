//! Values quantised in groups: codes and scales bit by bit against `vramlab_codec::int`.

use super::tally::Tally;
use super::words::{key_of, mix32, word_with_key};
use super::{Check, Entry, With, input, output, sampled, whole};
use vramlab_codec::int::{Grouping, Scheme, quantise};
use vramlab_trace::OracleOutcome;
use vramlab_units::Text;

/// Values recomputed a point.
const MAX_VALUES: u64 = 1 << 22;

pub const GROUP_CODES: Entry = Entry {
    id: "group_codes",
    about: Text::new("分组量化：码和缩放逐位相同", "values quantised in groups, codes and scales bit by bit"),
    with: CODES,
    run: group_codes,
};

/// `codes[i]` and `scales[i / group]` of the values that the words of `input` make; no error was beyond half a step.
const CODES: &[With] = &[
    input("input", "random words, a value each"),
    output("codes", "a signed byte a value"),
    output("scales", "a double a group"),
    output("wrong", "errors beyond half a step, a count a block"),
    whole("n", None, "values"),
    whole("n_blocks", None, "blocks"),
    whole("group", None, "values of a group"),
    whole("bits", None, "bits of a code"),
    whole("every", None, "one value in so many is an outlier, a power of two; 0 is none"),
    whole("outlier", None, "its magnitude"),
];

/// Nearly normal: the sum of four 16-bit numbers around zero, in steps of 2^-16, with σ = 0.577; an outlier has a magnitude
/// of its own.
pub fn value(word: u32, every: u32, outlier: f64) -> f64 {
    let (a, b) = (mix32(word ^ 0x9E37_79B9), mix32(word ^ 0x85EB_CA6B));
    let sum = (a & 0xFFFF) + (a >> 16) + (b & 0xFFFF) + (b >> 16);
    let x = (f64::from(sum) - 131_070.0) / 65_536.0;
    let is_outlier = every > 0 && mix32(word ^ 0xC2B2_AE35) & (every - 1) == 0;
    if is_outlier { outlier * if x < 0.0 { -1.0 } else { 1.0 } } else { x }
}

fn group_codes(check: &Check<'_>) -> Result<OracleOutcome, String> {
    let check = &check.at_most(MAX_VALUES);
    let get = |name: &str| check.whole(CODES, name);
    let (n, group, bits) = (get("n")?, get("group")?.max(1), get("bits")? as u32);
    let (every, outlier) = (get("every")? as u32, get("outlier")? as f64);
    let key = key_of(check.seed(CODES, "input")?);
    let n_groups = n / group;
    let (codes, scales) = (check.output(CODES, "codes", n)?, check.output(CODES, "scales", n_groups * 8)?);
    let wrong = check.output(CODES, "wrong", get("n_blocks")? * 8)?;
    let mut tally = Tally::default();
    for at in 0..2 * get("n_blocks")? {
        tally.word(at, 0, super::word(wrong, at));
    }
    for at in sampled(n_groups, check.step(n_groups, 2 * group)) {
        let first = at * group;
        let values: Vec<f64> =
            (first..first + group).map(|index| value(word_with_key(key, index), every, outlier)).collect();
        let expected =
            quantise(&values, 1, bits, Scheme::Symmetric, Grouping::Row).map_err(|problem| problem.to_string())?;
        for (index, code) in (first..).zip(&expected.codes) {
            tally.word(index, *code as u8 as u32, codes[index as usize].into());
        }
        let found = f64::from_le_bytes(scales[at as usize * 8..][..8].try_into().unwrap_or_default());
        tally.close(first, expected.scales[0], found, 0.0);
    }
    Ok(tally.outcome())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the sum of four uniform values of width 1: σ² = 4 ÷ 12; one in `every` is an outlier.
    #[test]
    fn values_have_the_spread_of_four_uniform_ones() {
        let n = 1 << 18;
        let all: Vec<f64> = (0..n).map(|index| value(word_with_key(5, index), 0, 16.0)).collect();
        let mean = all.iter().sum::<f64>() / n as f64;
        let variance = all.iter().map(|x| x * x).sum::<f64>() / n as f64;
        assert!(mean.abs() < 0.004 && (variance - 1.0 / 3.0).abs() < 0.003, "{mean} {variance}");
        let outliers = (0..n).filter(|index| value(word_with_key(5, *index), 256, 16.0).abs() == 16.0).count();
        assert!((880..1170).contains(&outliers), "{outliers} of 1024");
    }
}
