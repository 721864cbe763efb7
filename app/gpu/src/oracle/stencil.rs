//! Windows over a matrix.

use super::words::{key_of, word_with_key};
use super::{Check, Entry, With, input, output, sampled, tally::Tally, whole, word};
use vramlab_trace::OracleOutcome;
use vramlab_units::Text;

pub const BOX_SUM: Entry = Entry {
    id: "box_sum",
    about: Text::new(
        "每个输出是它周围一个方框里所有字的和",
        "each output is the wrapping sum of the words in a square around it",
    ),
    with: BOX,
    run: box_sum,
};

/// `out[y * n + x] = Σ in[(y + dy) * (n + 2r) + x + dx]`, dy and dx from 0 to 2r: the input has a rim of r words.
const BOX: &[With] = &[
    input("input", "(n + 2r)² random words"),
    output("out", "n² words"),
    whole("n", None, "rows and columns of the output"),
    whole("radius", None, "r, words from the middle to the edge"),
    whole("most", Some("2 ^ 40"), "input words recomputed at most"),
];

fn box_sum(check: &Check<'_>) -> Result<OracleOutcome, String> {
    let (n, radius) = (check.whole(BOX, "n")?, check.whole(BOX, "radius")?);
    let (width, window) = (n + 2 * radius, 2 * radius + 1);
    let key = key_of(check.seed(BOX, "input")?);
    let out = check.output(BOX, "out", n * n * 4)?;
    let mut tally = Tally::default();
    for place in sampled(n * n, check.at_most(check.whole(BOX, "most")?).step(n * n, window * window)) {
        let (y, x) = (place / n, place % n);
        let row = |dy: u64| (0..window).map(move |dx| (y + dy) * width + x + dx);
        let sum = (0..window).flat_map(row).fold(0_u32, |sum, at| sum.wrapping_add(word_with_key(key, at)));
        tally.word(place, sum, word(out, place));
    }
    Ok(tally.outcome())
}
