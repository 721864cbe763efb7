//! What looks at a row, a neighbourhood or all that came before: softmax and LayerNorm of rows, sums over windows, prefix sums,
//! one sum of everything. Words are compared bit by bit, floats to the manifest's relative tolerance.

use super::words::{key_of, word_with_key};
use super::{Check, Entry, With, input, output, sampled, tally::Tally, unit_f32_at, whole, word};
use vramlab_trace::OracleOutcome;
use vramlab_units::Text;

pub const ROW_SOFTMAX: Entry = Entry {
    id: "row_softmax",
    about: Text::new("每一行的 softmax，在双精度里重算", "the softmax of every row, recomputed in double precision"),
    with: ROWS,
    // A row sums to 1, so that its numbers are about 1/columns.
    run: |check| by_row(check, softmax, |columns| 1.0 / columns as f64),
};

pub const ROW_LAYER_NORM: Entry = Entry {
    id: "row_layer_norm",
    about: Text::new(
        "每一行减均值、除标准差（方差加 1e-5），在双精度里重算",
        "every row less its mean, over its standard deviation (1e-5 added to the variance), recomputed in double precision",
    ),
    with: ROWS,
    // The standard deviation of a normalised row is 1.
    run: |check| by_row(check, layer_norm, |_| 1.0),
};

/// Elements recomputed a point: powers in double precision cost the processor more than the device.
const MAX_OF_ROWS: u64 = 1 << 23;

/// Rows of floats, filled with unit_f32.
const ROWS: &[With] = &[
    input("input", "floats, filled with unit_f32"),
    output("out", "as large"),
    whole("rows", None, "rows"),
    whole("columns", None, "elements of a row"),
];

fn softmax(row: &[f64]) -> Vec<f64> {
    let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = row.iter().map(|value| (value - most).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.into_iter().map(|power| power / sum).collect()
}

fn layer_norm(row: &[f64]) -> Vec<f64> {
    let n = row.len() as f64;
    let mean = row.iter().sum::<f64>() / n;
    let variance = row.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / n;
    row.iter().map(|value| (value - mean) / (variance + 1e-5).sqrt()).collect()
}

fn by_row(check: &Check<'_>, answer: fn(&[f64]) -> Vec<f64>, unit: fn(u64) -> f64) -> Result<OracleOutcome, String> {
    let check = &check.at_most(MAX_OF_ROWS);
    let (rows, columns) = (check.whole(ROWS, "rows")?, check.whole(ROWS, "columns")?);
    let seed = check.seed(ROWS, "input")?;
    let out = check.output(ROWS, "out", rows * columns * 4)?;
    let mut tally = Tally::default();
    for row in sampled(rows, check.step(rows, columns)) {
        let first = row * columns;
        let values: Vec<f64> = (first..first + columns).map(|at| f64::from(unit_f32_at(seed, at))).collect();
        for (at, expected) in (first..).zip(answer(&values)) {
            let found = f64::from(f32::from_bits(word(out, at)));
            // A value may be near 0: the error is held against the row's unit.
            tally.sum(at, expected, found, expected.abs().max(unit(columns)), check.kernel.oracle.tolerance);
        }
    }
    Ok(tally.outcome())
}

pub const WINDOW_SUM: Entry = Entry {
    id: "window_sum",
    about: Text::new("每个输出是相邻若干个字的和", "each output is the wrapping sum of neighbouring words"),
    with: WINDOW,
    run: window_sum,
};

/// `out[i] = Σ in[i + d]`, d below `width`.
const WINDOW: &[With] = &[
    input("input", "n + width − 1 random words"),
    output("out", "n words"),
    whole("n", None, "outputs"),
    whole("width", None, "words of a window"),
];

fn window_sum(check: &Check<'_>) -> Result<OracleOutcome, String> {
    let (n, width) = (check.whole(WINDOW, "n")?, check.whole(WINDOW, "width")?);
    let key = key_of(check.seed(WINDOW, "input")?);
    let out = check.output(WINDOW, "out", n * 4)?;
    let mut tally = Tally::default();
    for i in sampled(n, check.step(n, width)) {
        let sum = (i..i + width).fold(0_u32, |sum, at| sum.wrapping_add(word_with_key(key, at)));
        tally.word(i, sum, word(out, i));
    }
    Ok(tally.outcome())
}

pub const PREFIX_SUM: Entry = Entry {
    id: "prefix_sum",
    about: Text::new("每个输出是到它为止所有字的和", "each output is the wrapping sum of all words up to its own"),
    with: WHOLE,
    run: prefix_sum,
};

pub const TOTAL: Entry = Entry {
    id: "total",
    about: Text::new("第一个输出是所有字的和", "the first output is the wrapping sum of all words"),
    with: WHOLE,
    run: total,
};

const WHOLE: &[With] =
    &[input("input", "random words"), output("out", "words; `total` writes the first"), whole("n", None, "words")];

/// Every word is recomputed: the last output needs them all.
fn prefix_sum(check: &Check<'_>) -> Result<OracleOutcome, String> {
    let n = check.whole(WHOLE, "n")?;
    let key = key_of(check.seed(WHOLE, "input")?);
    let out = check.output(WHOLE, "out", n * 4)?;
    let mut tally = Tally::default();
    let mut sum = 0_u32;
    for i in 0..n {
        sum = sum.wrapping_add(word_with_key(key, i));
        tally.word(i, sum, word(out, i));
    }
    Ok(tally.outcome())
}

fn total(check: &Check<'_>) -> Result<OracleOutcome, String> {
    let n = check.whole(WHOLE, "n")?;
    let key = key_of(check.seed(WHOLE, "input")?);
    let out = check.output(WHOLE, "out", 4)?;
    let mut tally = Tally::default();
    tally.word(0, (0..n).fold(0_u32, |sum, at| sum.wrapping_add(word_with_key(key, at))), word(out, 0));
    Ok(tally.outcome())
}
