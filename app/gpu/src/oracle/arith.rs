//! Arithmetic beyond one operation: chains of fused multiply-adds, bit by bit, and matrix products.

use super::{Check, Entry, With, WithKind, input, output, sampled, tally::Tally, unit_bf16_at, unit_f32_at, whole};
use vramlab_trace::OracleOutcome;
use vramlab_units::Text;

/// Operations recomputed a point: a chain costs the processor as much as the device.
const MAX_FMAS: u64 = 1 << 23;
const MAX_PRODUCTS: u64 = 1 << 24;

const fn number(name: &'static str, about: &'static str) -> With {
    With { name, kind: WithKind::Number, default: None, about }
}

pub const FMA_CHAIN: Entry = Entry {
    id: "fma_chain",
    about: Text::new("x ← a · x + b 做若干次，单精度", "x ← a · x + b some times over, in single precision"),
    with: CHAIN,
    run: fma_chain,
};

/// `out[i]` is `input[i]` after `turns` times x = fma(x, a, b), each rounded once; with `fused` 0, the product is rounded
/// before the sum.
const CHAIN: &[With] = &[
    input("input", "floats, filled with unit_f32"),
    output("out", "as large"),
    whole("n", None, "elements"),
    whole("turns", None, "multiply-adds an element"),
    whole("fused", Some("1"), "1 if product and sum are rounded together"),
    number("a", "the factor"),
    number("b", "the summand"),
];

fn fma_chain(check: &Check<'_>) -> Result<OracleOutcome, String> {
    let check = &check.at_most(MAX_FMAS);
    let (n, turns) = (check.whole(CHAIN, "n")?, check.whole(CHAIN, "turns")?);
    let (a, b) = (check.number(CHAIN, "a")? as f32, check.number(CHAIN, "b")? as f32);
    let is_fused = check.whole(CHAIN, "fused")? != 0;
    let seed = check.seed(CHAIN, "input")?;
    let out = check.output(CHAIN, "out", n * 4)?;
    let mut tally = Tally::default();
    for i in sampled(n, check.step(n, turns + 1)) {
        let step = |x: f32| if is_fused { x.mul_add(a, b) } else { x * a + b };
        let expected = (0..turns).fold(unit_f32_at(seed, i), |x, _| step(x));
        tally.close(i, expected.into(), float(out, i).into(), 0.0);
    }
    Ok(tally.outcome())
}

pub const MATMUL: Entry = Entry {
    id: "matmul",
    about: Text::new(
        "矩阵乘积，x 乘 w 的转置，每个元素在双精度里重算",
        "the product of x and the transpose of w, each element in double precision",
    ),
    with: PRODUCT,
    run: matmul,
};

/// `out[j · n + i] = Σ_q x[j · k + q] · w[(i mod w_rows) · k + q]` (`w[q · n + i]` with `by_rows`), to the manifest's relative tolerance: everything is positive, so
/// sums do not cancel.
const PRODUCT: &[With] = &[
    input("w", "n × k weights, row after row"),
    input("x", "m × k, row after row"),
    output("out", "m × n"),
    whole("m", None, "batch rows"),
    whole("n", None, "weight rows"),
    whole("k", None, "terms of a sum"),
    whole("w_rows", Some("2 ^ 40"), "weight rows that are there; further rows are these again"),
    whole("by_rows", Some("0"), "1 if w lies the other way round: k rows of n, as in A · B"),
    whole("bf16", Some("0"), "1 if all three are bf16 (filled with unit_bf16), 0 if they are floats (unit_f32)"),
];

fn matmul(check: &Check<'_>) -> Result<OracleOutcome, String> {
    let check = &check.at_most(MAX_PRODUCTS);
    let get = |name: &str| check.whole(PRODUCT, name);
    let (m, n, k, is_bf16) = (get("m")?, get("n")?.max(1), get("k")?, get("bf16")? == 1);
    let w_rows = get("w_rows")?.max(1);
    let (step_i, step_q) = if get("by_rows")? == 1 { (1, n) } else { (k, 1) };
    let (seed_w, seed_x) = (check.seed(PRODUCT, "w")?, check.seed(PRODUCT, "x")?);
    let value: fn(u64, u64) -> f32 = if is_bf16 { unit_bf16_at } else { unit_f32_at };
    let out = check.output(PRODUCT, "out", m * n * if is_bf16 { 2 } else { 4 })?;
    let mut tally = Tally::default();
    for at in sampled(m * n, check.step(m * n, 2 * k)) {
        let (j, i) = (at / n, at % n % w_rows);
        let term = |q| f64::from(value(seed_x, j * k + q)) * f64::from(value(seed_w, i * step_i + q * step_q));
        let expected = (0..k).map(term).sum();
        let found = if is_bf16 { short_float(out, at) } else { float(out, at) };
        tally.close(at, expected, found.into(), check.kernel.oracle.tolerance);
    }
    Ok(tally.outcome())
}

fn float(bytes: &[u8], index: u64) -> f32 {
    f32::from_bits(super::word(bytes, index))
}

/// A bf16 number: the upper half of a float.
fn short_float(bytes: &[u8], index: u64) -> f32 {
    let at = index as usize * 2;
    f32::from_bits(u32::from(u16::from_le_bytes([bytes[at], bytes[at + 1]])) << 16)
}
