//! The error to expect of integers in groups when a few values are outliers.
//!
//! Question: bits, values of a group, one outlier in how many, its magnitude. Answer: root mean square error, the step of a group
//! without outliers, the share of groups that have one. Assumption: values are the sum of four uniform ones of width 1 around
//! zero (nearly normal, σ = 0.577); an outlier is larger than all of them; the largest of a group is exact; rounding errors are
//! uniform over a step. The largest of g values: E[M²] = ∫ 2m (1 − F(m)^g) dm. Source: Bennett 1948 (s² ÷ 12); order
//! statistics by their definition. Errors: fields out of range.

use crate::fields::{answer, choice, chosen, number};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub struct GroupError;

/// Probability that the sum of four uniform values of width 1 lies within `m` of its centre.
fn within(m: f64) -> f64 {
    let cumulated = |s: f64| {
        let term = |(k, binomial): (usize, &f64)| binomial * (s - k as f64).max(0.0).powi(4);
        [1.0, -4.0, 6.0, -4.0, 1.0].iter().enumerate().map(term).sum::<f64>() / 24.0
    };
    if m >= 2.0 { 1.0 } else { (2.0 * cumulated(2.0 + m) - 1.0).clamp(0.0, 1.0) }
}

/// Expected square of the largest magnitude of `n`, by Simpson's rule.
fn largest_square(n: f64) -> f64 {
    const N: usize = 4096;
    let f = |m: f64| 2.0 * m * (1.0 - within(m).powf(n));
    let width = 2.0 / N as f64;
    let inner: f64 = (1..N).map(|i| f(i as f64 * width) * if i % 2 == 1 { 4.0 } else { 2.0 }).sum();
    (f(0.0) + inner + f(2.0)) * width / 3.0
}

impl Model for GroupError {
    const ID: &'static str = "group_error";
    const TITLE: Text = Text::new("混进离群值，分组量化的误差", "Error of groups with a few outliers");
    const ASSUMES: Text = Text::new(
        "近似正态的值，标准差 0.577；离群值比其余的都大，自己没有误差。",
        "Nearly normal values with a standard deviation of 0.577; an outlier is larger than the rest and exact itself.",
    );
    const SOURCE: &'static str = "W. R. Bennett 1948, Spectra of quantized signals: s² ÷ 12; order statistics";
    const EXAMPLE: &'static str = r#"{"group": 128, "one_in": 4096}"#;

    fn question() -> Vec<FieldSpec> {
        vec![
            choice("bits", "bit", &["2", "3", "4", "8"], Text::new("位数", "Bits")).default_value("8"),
            FieldSpec::int("group", "1", 1, 1 << 24, Text::new("组长", "Values of a group")),
            FieldSpec::int(
                "one_in",
                "1",
                0,
                1 << 40,
                Text::new("多少个里有一个离群值；0 没有", "One outlier in so many; 0 is none"),
            )
            .default_value(0),
            FieldSpec::num("outlier", "1", 2.0, 1e6, Text::new("离群值的大小", "Magnitude of an outlier"))
                .default_value(16),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, zh, en| FieldSpec::num(key, "1", 0.0, 1e7, Text::new(zh, en));
        vec![
            num("rms", "误差的均方根", "Root mean square error"),
            num("clean_rms", "没有离群值时", "Without outliers"),
            num("step", "没有离群值的组，一步多大", "Step of a group without outliers"),
            num("outlier_step", "有离群值的组", "Step of a group with one"),
            FieldSpec::num(
                "outlier_groups",
                "1",
                0.0,
                1.0,
                Text::new("有离群值的组占多少", "Share of groups that have one"),
            ),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let limit = f64::from((1_u32 << (chosen(args, "bits") - 1)) - 1);
        let (group, outlier) = (args.uint("group") as f64, args.num("outlier"));
        let share = match args.uint("one_in") {
            0 => 0.0,
            one_in => 1.0 / one_in as f64,
        };
        let (square, large) = (largest_square(group) / limit / limit, (outlier / limit).powi(2));
        // The largest of a group is exact. Whether a value pays for an outlier is up to the others of its group.
        let (inexact, spared) = (square * (1.0 - 1.0 / group), (1.0 - share).powf(group - 1.0));
        let rms = ((1.0 - share) * (spared * inexact + (1.0 - spared) * large) / 12.0).sqrt();
        Ok(answer([
            ("rms", number(rms)),
            ("clean_rms", number((inexact / 12.0).sqrt())),
            ("step", number(square.sqrt())),
            ("outlier_step", number(large.sqrt())),
            ("outlier_groups", number(1.0 - (1.0 - share).powf(group))),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use serde_json::json;
    use vramlab_codec::int::{Grouping, Scheme, quantise};
    use vramlab_units::Random;

    /// σ² of four uniform values is 4 ÷ 12, which is E[M²] for a group of one; two halves of the distribution by hand:
    /// P(|x| ≤ 1) = 11/12 of the cubic spline.
    #[test]
    fn the_distribution_is_that_of_four_uniform_values() {
        assert!((largest_square(1.0) - 1.0 / 3.0).abs() < 1e-9, "{}", largest_square(1.0));
        assert!((within(1.0) - 11.0 / 12.0).abs() < 1e-12 && within(2.0) == 1.0 && within(0.0).abs() < 1e-12);
    }

    /// Against drawn values that are really quantised.
    #[test]
    fn drawn_values_have_the_error() {
        let mut random = Random::new(4);
        for (group, one_in) in [(32, 0), (512, 0), (32, 256), (512, 1024)] {
            let n = 1 << 18;
            let values: Vec<f64> = (0..n)
                .map(|_| {
                    let x: f64 = (0..4).map(|_| random.unit()).sum::<f64>() - 2.0;
                    let is_outlier = one_in > 0 && random.unit() * (one_in as f64) < 1.0;
                    if is_outlier { 16.0_f64.copysign(x) } else { x }
                })
                .collect();
            let stored = quantise(&values, 1, 8, Scheme::Symmetric, Grouping::Group(group)).unwrap().decode();
            let drawn = vramlab_codec::error::loss(&values, &stored).rms;
            let given = question(&json!({"group": group, "one_in": one_in}));
            let expected = crate::eval("group_error", &given).unwrap()["rms"].as_f64().unwrap();
            let bound = if one_in == 0 { 0.005 } else { 0.05 };
            assert!((drawn / expected - 1.0).abs() < bound, "{group} {one_in}: {drawn} {expected}");
        }
    }
}
