//! How much normal numbers lose as integers in groups, with and without outliers.
//!
//! Question: bits, group, size of an outlier, one in how many. Answer: root mean square error of the ordinary numbers, the
//! step, the share of groups that an outlier stretches. Assumption: independent normal numbers with σ = 1, symmetric
//! codes, ties anywhere; in a group of g the largest magnitude has the distribution (2Φ(m) − 1)^g, whose quantiles are
//! summed over; under a step s a number errs by its distance to the nearest multiple. Source: order statistics (David and
//! Nagaraja 2003, section 2.1); Widrow and Kollár 2008 on uniform noise, s² ÷ 12 where s is small against σ.
//! Errors: none beyond ranges.

use crate::fields::{answer, choice, chosen, number};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub struct QuantNoise;

/// Quantiles of the largest magnitude, and places in a range under a coarse step.
const N_QUANTILES: usize = 48;
const N_PLACES: usize = 1200;
/// Below this the error is uniform to a thousandth.
const FINE: f64 = 0.5;

/// The share of a normal distribution above x ≥ 0: a series near 0, a continued fraction far out.
fn tail(x: f64) -> f64 {
    if x > 3.0 {
        let mut fraction = x;
        for k in (1..40).rev() {
            fraction = x + f64::from(k) / fraction;
        }
        return density(x) / fraction;
    }
    let (mut term, mut sum) = (x, x);
    for k in 1..60 {
        term *= x * x / f64::from(2 * k + 1);
        sum += term;
    }
    0.5 - density(x) * sum
}

fn density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt()
}

/// The magnitude that a share `q` of groups of `g` numbers stay below.
fn largest(q: f64, g: f64) -> f64 {
    // 1 − (2Φ(m) − 1) = 2Q(m); kept apart from 1 so that large groups lose no digits.
    let outside = -(q.ln() / g).exp_m1();
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if 2.0 * tail(middle) > outside { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// Mean square error of numbers within ±`most` under a step.
fn square(step: f64, most: f64) -> f64 {
    if step < FINE && most > 3.0 {
        return step * step / 12.0;
    }
    let most = most.min(9.0);
    let (mut sum, mut weight) = (0.0, 0.0);
    for at in 0..N_PLACES {
        let x = most * (at as f64 + 0.5) / N_PLACES as f64;
        let (error, share) = (x - step * (x / step).round(), density(x));
        sum += share * error * error;
        weight += share;
    }
    sum / weight
}

impl Model for QuantNoise {
    const ID: &'static str = "quant_noise";
    const TITLE: Text = Text::new("整数量化丢多少：组长与离群值", "What integers lose: groups and outliers");
    const ASSUMES: Text = Text::new(
        "各数独立、正态，σ = 1；对称量化；误差只计普通的数，不计离群值自己。",
        "Independent normal numbers with σ = 1; symmetric codes; the error leaves outliers themselves out.",
    );
    const SOURCE: &'static str =
        "Order statistics (David and Nagaraja 2003); quantisation noise (Widrow and Kollár 2008)";
    const EXAMPLE: &'static str = r#"{"bits": 4, "group": 128}"#;

    fn question() -> Vec<FieldSpec> {
        let group = Text::new("几个数共用一个缩放", "Numbers that share a scale");
        let outlier = Text::new("离群值有多大，以 σ 计", "Size of an outlier in σ");
        let one_in = Text::new("多少个数里有一个离群值；0 是没有", "One number in so many is an outlier; 0 is none");
        vec![
            choice("bits", "bit", &["2", "3", "4", "8"], Text::new("位数", "Bits")).default_value("4"),
            FieldSpec::int("group", "1", 1, 1 << 20, group),
            FieldSpec::num("outlier", "1", 0.0, 1e6, outlier).default_value(0.0),
            FieldSpec::int("one_in", "1", 0, 1 << 40, one_in).default_value(0),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, zh, en| FieldSpec::num(key, "1", 0.0, 1e7, Text::new(zh, en));
        vec![
            num("rms", "均方根误差，以 σ 计", "Root mean square error, in σ"),
            num("step", "没有离群值的组的平均步长", "Mean step of a group without an outlier"),
            num("stretched_step", "有离群值的组的步长", "Step of a group with an outlier"),
            num(
                "share_hit",
                "普通的数里，组内有离群值的占几成",
                "Share of ordinary numbers whose group has an outlier",
            ),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let codes = f64::from((1_u32 << (chosen(args, "bits") as u32 - 1)) - 1);
        let (group, outlier, one_in) = (args.uint("group") as f64, args.num("outlier"), args.uint("one_in"));
        // An ordinary number has group − 1 others beside it.
        let hit = if one_in == 0 { 0.0 } else { -((group - 1.0) * (-1.0 / one_in as f64).ln_1p()).exp_m1() };
        let (mut plain, mut stretched, mut step) = (0.0, 0.0, 0.0);
        for at in 0..N_QUANTILES {
            let most = largest((at as f64 + 0.5) / N_QUANTILES as f64, group);
            let far = most.max(outlier);
            // The largest of a group is a code itself and errs by nothing.
            plain += square(most / codes, most) * (group - 1.0) / group;
            stretched += square(far / codes, most);
            step += most / codes;
        }
        let n = N_QUANTILES as f64;
        // One in one: no ordinary number is left, and the limit stands for it.
        let hit = if hit.is_nan() { 1.0 } else { hit };
        Ok(answer([
            ("rms", number(((1.0 - hit) * plain / n + hit * stretched / n).max(0.0).sqrt())),
            ("step", number(step / n)),
            ("stretched_step", number(outlier / codes)),
            ("share_hit", number(hit)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use serde_json::{Value, json};
    use vramlab_codec::Random;
    use vramlab_codec::int::{Grouping, Scheme, quantise};

    fn of(given: &Value, key: &str) -> f64 {
        crate::eval("quant_noise", &question(given)).unwrap_or_else(|error| panic!("{error}"))[key].as_f64().unwrap()
    }

    /// Q(1) and Q(4) from tables; the median of the largest of two.
    #[test]
    fn the_tail_of_the_normal_distribution() {
        for (x, expected) in [(0.0, 0.5), (1.0, 0.158_655_253_9), (3.0, 1.349_898e-3), (4.0, 3.167_124e-5)] {
            assert!((tail(x) / expected - 1.0).abs() < 1e-6, "{x}: {}", tail(x));
        }
        assert!((largest(0.5, 1.0) - 0.674_489_75).abs() < 1e-6);
        assert!((2.0 * tail(largest(0.5, 2.0)) - (1.0 - 0.5_f64.sqrt())).abs() < 1e-9);
    }

    /// Against numbers that are drawn and quantised.
    #[test]
    fn numbers_that_are_really_quantised_err_as_much() {
        let mut random = Random::new(4);
        for (bits, group, outlier, one_in) in
            [(8, 128, 0, 0), (4, 32, 0, 0), (4, 4096, 0, 0), (4, 128, 40, 512), (8, 1024, 100, 2048), (2, 64, 0, 0)]
        {
            let (mut values, mut is_far) = (Vec::new(), Vec::new());
            for _ in 0..1 << 20 {
                let value = random.normal();
                let far = one_in > 0 && random.word().is_multiple_of(one_in);
                values.push(if far { f64::from(outlier) } else { value });
                is_far.push(far);
            }
            let got = quantise(&values, 64, bits, Scheme::Symmetric, Grouping::Group(group)).unwrap().decode();
            let plain = values.iter().zip(&got).zip(&is_far).filter(|(_, far)| !**far);
            let squares: Vec<f64> = plain.map(|((x, y), _)| (x - y).powi(2)).collect();
            let rms = (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
            let given = json!({"bits": bits.to_string(), "group": group, "outlier": outlier, "one_in": one_in});
            let told = of(&given, "rms");
            // How many groups are hit is drawn too: a few per cent of a thousand.
            let within = if one_in == 0 { 0.02 } else { 0.05 };
            assert!((told / rms - 1.0).abs() < within, "{given}: {told} for {rms}");
        }
    }

    /// A step far beyond all numbers rounds each to 0: the error is σ itself.
    #[test]
    fn a_step_beyond_everything_loses_everything() {
        let rms = of(&json!({"bits": "4", "group": 4096, "outlier": 1e5, "one_in": 1}), "rms");
        assert!((rms - 1.0).abs() < 0.01, "{rms}");
        assert_eq!(of(&json!({"bits": "8", "group": 1}), "rms"), 0.0);
    }
}
