//! Arithmetic on doubles, compared to the manifest's relative tolerance: a fused multiply-add rounds once, the
//! reference too.

use super::{Check, Entry, With, WithKind, input, output, sampled, tally::Tally, unit_f64_at, whole};
use vramlab_trace::OracleOutcome;
use vramlab_units::Text;

pub const TRIAD: Entry = Entry {
    id: "triad",
    about: Text::new("a[i] = b[i] + s · c[i]，双精度", "a[i] = b[i] + s · c[i] on doubles"),
    with: TRIAD_WITH,
    run: triad,
};

/// `out[i] = b[i] + scalar * c[i]`.
const TRIAD_WITH: &[With] = &[
    input("b", "doubles, filled with unit_f64"),
    input("c", "doubles, filled with unit_f64"),
    output("out", "doubles"),
    whole("n", None, "elements"),
    With { name: "scalar", kind: WithKind::Number, default: Some("0.4"), about: "the factor s" },
];

fn triad(check: &Check<'_>) -> Result<OracleOutcome, String> {
    let (n, scalar) = (check.whole(TRIAD_WITH, "n")?, check.number(TRIAD_WITH, "scalar")?);
    let (seed_b, seed_c) = (check.seed(TRIAD_WITH, "b")?, check.seed(TRIAD_WITH, "c")?);
    let out = check.output(TRIAD_WITH, "out", n * 8)?;
    let mut tally = Tally::default();
    for i in sampled(n, check.step(n, 2)) {
        let expected = scalar.mul_add(unit_f64_at(seed_c, i), unit_f64_at(seed_b, i));
        let at = i as usize * 8;
        let found = f64::from_le_bytes(out[at..at + 8].try_into().unwrap_or_default());
        tally.close(i, expected, found, check.kernel.oracle.tolerance);
    }
    Ok(tally.outcome())
}
