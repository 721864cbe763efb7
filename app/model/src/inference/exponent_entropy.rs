//! Bits that the exponents of a bfloat16 tensor need, for tensors of several kinds.
//!
//! Question: the kind, the standard deviation of normal values. Answer: entropy of the exponent, exponents that occur, the ratio
//! that no codec beats which keeps sign and fraction. Assumption: independent values. Source: Shannon 1948; the probability of
//! each exponent by the distribution, with the rounding that lifts what lies just below a power of two. Errors: fields out of
//! range.

use crate::fields::{answer, number};
use crate::registry::Model;
use vramlab_codec::entropy::normal_exponent;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub struct ExponentEntropy;

fn bits(shares: impl IntoIterator<Item = f64>) -> f64 {
    shares.into_iter().filter(|p| *p > 0.0).map(|p| -p * p.log2()).sum()
}

/// Uniform from −1 to 1: half of the values above 1/2, half of the rest above 1/4, …; a hair rounds up to 1.
fn uniform() -> f64 {
    let lifted = 2.0_f64.powi(-9);
    bits((1..60).map(|j| (1.0 - lifted) * 2.0_f64.powi(-j)).chain([lifted]))
}

/// P(|x| < a) of normal values with σ = 1, by Simpson's rule over the density.
fn normal_within(a: f64) -> f64 {
    const N: usize = 400;
    let width = a / N as f64;
    let density = |x: f64| (-x * x / 2.0).exp() * (2.0 / std::f64::consts::PI).sqrt();
    let inner: f64 = (1..N).map(|i| density(i as f64 * width) * if i % 2 == 1 { 4.0 } else { 2.0 }).sum();
    (density(0.0) + inner + density(a)) * width / 3.0
}

/// Normal values rounded to whole steps of σ ÷ 32, within ±127: zero, 1, 2–3, 4–7, …, 64–127.
fn int8() -> f64 {
    let below = |code: f64| if code > 127.0 { 1.0 } else { normal_within((code - 0.5) / 32.0) };
    let class = |exponent: i32| below(2.0_f64.powi(exponent + 1)) - below(2.0_f64.powi(exponent));
    bits((0..7).map(class).chain([below(1.0)]))
}

impl Model for ExponentEntropy {
    const ID: &'static str = "exponent_entropy";
    const TITLE: Text = Text::new("指数需要几位", "Bits that exponents need");
    const ASSUMES: Text = Text::new(
        "互不相关的值；int8 的一步是标准差的 1/32。",
        "Independent values; a step of int8 is 1/32 of the standard deviation.",
    );
    const SOURCE: &'static str = "Shannon 1948; probability of each exponent by the distribution";
    const EXAMPLE: &'static str = r#"{"kind": 0}"#;

    fn question() -> Vec<FieldSpec> {
        let kinds = Text::new(
            "0 正态；1 均匀；2 正态，负的变成 0；3 正态，舍入成 int8",
            "0 normal; 1 uniform; 2 normal, negative ones become 0; 3 normal, rounded to int8",
        );
        vec![
            FieldSpec::int("kind", "1", 0, 3, kinds),
            FieldSpec::num("sigma", "1", 1e-9, 1e9, Text::new("正态值的标准差", "Standard deviation of normal values"))
                .default_value(0.02),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        vec![
            FieldSpec::num("exponent_bits", "bit", 0.0, 8.0, Text::new("指数的熵", "Entropy of the exponent")),
            FieldSpec::num("ceiling", "1", 1.0, 2.0, Text::new("压缩比的上限", "Ratio at best")),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let normal = || normal_exponent(args.num("sigma"));
        let exponent = match args.uint("kind") {
            0 => normal(),
            1 => uniform(),
            // One bit says whether it is zero.
            2 => 1.0 + normal() / 2.0,
            _ => int8(),
        };
        Ok(answer([("exponent_bits", number(exponent)), ("ceiling", number(16.0 / (8.0 + exponent)))]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use serde_json::json;
    use vramlab_codec::entropy::Fields;
    use vramlab_codec::float::BF16;
    use vramlab_units::Random;

    /// Brief 25 for normal values; drawn ones for the rest.
    #[test]
    fn drawn_tensors_have_the_entropy() {
        let mut random = Random::new(8);
        for kind in 0..4 {
            let words: Vec<u16> = (0..1 << 19)
                .map(|_| {
                    let x = match kind {
                        0 => 0.02 * random.normal(),
                        1 => 2.0 * random.unit() - 1.0,
                        2 => (0.02 * random.normal()).max(0.0),
                        _ => (32.0 * random.normal()).round().clamp(-127.0, 127.0),
                    };
                    BF16.encode(x, false) as u16
                })
                .collect();
            let given = question(&json!({"kind": kind}));
            let expected = crate::eval("exponent_entropy", &given).unwrap()["exponent_bits"].as_f64().unwrap();
            let drawn = Fields::of(&words).exponent;
            assert!((drawn - expected).abs() < 0.006, "kind {kind}: {drawn} {expected}");
            assert!(kind != 0 || (expected - 2.545).abs() < 0.01);
        }
        assert!((normal_within(1.0) - 0.682_689_492_137).abs() < 1e-9);
    }
}
