//! A few operators that kernels may run apart or as one: y = gelu(x · w + b) + r.

use super::{Check, Entry, With, input, output, sampled, tally::Tally, unit_f32_at, whole, word};
use vramlab_trace::OracleOutcome;
use vramlab_units::Text;

/// Elements recomputed a point.
const MAX_ELEMENTS: u64 = 1 << 23;

pub const BIAS_GELU: Entry = Entry {
    id: "bias_gelu",
    about: Text::new(
        "gelu(x · w + b) + r，gelu 取 tanh 的形式，在双精度里重算",
        "gelu(x · w + b) + r with the gelu of tanh, recomputed in double precision",
    ),
    with: GELU,
    run: bias_gelu,
};

/// Floats filled with unit_f32, so that nothing is negative and sums do not cancel.
const GELU: &[With] = &[
    input("x", "n floats, row after row"),
    input("w", "a factor a column"),
    input("b", "a summand a column"),
    input("r", "n floats"),
    output("out", "n floats"),
    whole("n", None, "elements"),
    whole("columns", None, "elements of a row"),
];

/// The form with tanh: 0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³))).
fn gelu(x: f64) -> f64 {
    0.5 * x * (1.0 + (std::f64::consts::FRAC_2_PI.sqrt() * (x + 0.044_715 * x * x * x)).tanh())
}

fn bias_gelu(check: &Check<'_>) -> Result<OracleOutcome, String> {
    let check = &check.at_most(MAX_ELEMENTS);
    let (n, columns) = (check.whole(GELU, "n")?, check.whole(GELU, "columns")?.max(1));
    let [x, w, b, r] = ["x", "w", "b", "r"].map(|name| check.seed(GELU, name));
    let (x, w, b, r) = (x?, w?, b?, r?);
    let out = check.output(GELU, "out", n * 4)?;
    let value = |seed, at| f64::from(unit_f32_at(seed, at));
    let mut tally = Tally::default();
    for at in sampled(n, check.step(n, 2)) {
        let column = at % columns;
        let expected = gelu(value(x, at) * value(w, column) + value(b, column)) + value(r, at);
        let found = f64::from(f32::from_bits(word(out, at)));
        tally.close(at, expected, found, check.kernel.oracle.tolerance);
    }
    Ok(tally.outcome())
}

#[cfg(test)]
mod tests {
    use super::gelu;

    /// `torch.nn.functional.gelu(x, approximate='tanh')` in double precision.
    #[test]
    fn known_values() {
        for (x, expected) in [(0.0, 0.0), (1.0, 0.841_191_990_608_276_8), (-1.0, -0.158_808_009_391_723_24)] {
            assert!((gelu(x) - expected).abs() < 1e-12, "{x}: {}", gelu(x));
        }
    }
}
