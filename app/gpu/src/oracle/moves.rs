//! What only moves words: copies, transposes, fills. Compared bit by bit.

use super::words::{key_of, word_with_key};
use super::{Check, Entry, With, input, output, sampled, tally::Tally, whole, word};
use vramlab_trace::OracleOutcome;
use vramlab_units::Text;

pub const COPY: Entry = Entry {
    id: "copy",
    about: Text::new("输出与输入逐位相同", "the output equals the input, bit by bit"),
    with: COPY_WITH,
    run: copy,
};

/// `out[i] = in[i]`, 32-bit words.
const COPY_WITH: &[With] =
    &[input("input", "filled with random words"), output("out", "as large"), whole("n", None, "words")];

fn copy(check: &Check<'_>) -> Result<OracleOutcome, String> {
    let n = check.whole(COPY_WITH, "n")?;
    let key = key_of(check.seed(COPY_WITH, "input")?);
    let out = check.output(COPY_WITH, "out", n * 4)?;
    let mut tally = Tally::default();
    for i in sampled(n, check.step(n, 1)) {
        tally.word(i, word_with_key(key, i), word(out, i));
    }
    Ok(tally.outcome())
}

pub const TRANSPOSE: Entry = Entry {
    id: "transpose",
    about: Text::new("输出是输入的转置，逐位相同", "the output is the input transposed, bit by bit"),
    with: TRANSPOSE_WITH,
    run: transpose,
};

/// `out[col * rows + row] = in[row * cols + col]`, 32-bit words.
const TRANSPOSE_WITH: &[With] = &[
    input("input", "rows × cols random words, row after row"),
    output("out", "cols × rows words"),
    whole("rows", None, "rows of the input"),
    whole("cols", None, "columns of the input"),
];

fn transpose(check: &Check<'_>) -> Result<OracleOutcome, String> {
    let (rows, cols) = (check.whole(TRANSPOSE_WITH, "rows")?, check.whole(TRANSPOSE_WITH, "cols")?);
    let n = rows * cols;
    let key = key_of(check.seed(TRANSPOSE_WITH, "input")?);
    let out = check.output(TRANSPOSE_WITH, "out", n * 4)?;
    let mut tally = Tally::default();
    for place in sampled(n, check.step(n, 1)) {
        let (col, row) = (place / rows, place % rows);
        tally.word(place, word_with_key(key, row * cols + col), word(out, place));
    }
    Ok(tally.outcome())
}

pub const FILL: Entry = Entry {
    id: "fill",
    about: Text::new("每个位置都写入了同一个数", "every place holds one and the same number"),
    with: FILL_WITH,
    run: fill,
};

/// `out[i * stride] = value`, 32-bit words; with a stride, also the counters of a false-sharing experiment.
const FILL_WITH: &[With] = &[
    output("out", "the words written"),
    whole("n", None, "places"),
    whole("value", None, "the number, modulo 2³²"),
    whole("stride", Some("1"), "words from one place to the next"),
];

fn fill(check: &Check<'_>) -> Result<OracleOutcome, String> {
    let get = |name: &str| check.whole(FILL_WITH, name);
    let (n, value, stride) = (get("n")?, get("value")? as u32, get("stride")?);
    let out = check.output(FILL_WITH, "out", n.saturating_sub(1) * stride * 4 + 4 * n.min(1))?;
    let mut tally = Tally::default();
    for i in sampled(n, check.step(n, 1)) {
        tally.word(i * stride, value, word(out, i * stride));
    }
    Ok(tally.outcome())
}
