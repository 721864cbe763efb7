//! Two halves of a row made one: the running maximum and sum of a softmax, and the count, mean and squares of a variance.
//!
//! Question: both halves. Answer: the whole. Softmax: m = max(m1, m2), d = d1·e^(m1−m) + d2·e^(m2−m). Variance: δ = μb − μa,
//! μ = μa + δ·nb/n, M2 = M2a + M2b + δ²·na·nb/n. Any order of merging gives the same but for rounding, which is why a tree may do it.
//! Assumption: float64. Source: Milakov and Gimelshein 2018, equation 4; Chan, Golub and LeVeque 1979. Errors: a sum below 0, no values.

use crate::fields::{answer, number};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

/// The count, mean and sum of squared deviations of some values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    pub n: f64,
    pub mean: f64,
    pub m2: f64,
}

/// The maximum and the sum of exponentials of two halves.
pub fn softmax(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    let m = a.0.max(b.0);
    (m, a.1 * (a.0 - m).exp() + b.1 * (b.0 - m).exp())
}

impl Moments {
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        let (n, delta) = (self.n + other.n, other.mean - self.mean);
        Self { n, mean: self.mean + delta * other.n / n, m2: self.m2 + other.m2 + delta * delta * self.n * other.n / n }
    }
}

pub struct MergeHalves;

impl Model for MergeHalves {
    const ID: &'static str = "merge_halves";
    const TITLE: Text = Text::new("两半合成一行：softmax 与方差", "Two halves made one: softmax and variance");
    const ASSUMES: Text = Text::new("float64。", "Float64.");
    const SOURCE: &'static str = "Milakov and Gimelshein 2018; Chan, Golub and LeVeque 1979";
    const EXAMPLE: &'static str = r#"{"max_a": 2, "sum_a": 1.3678794411714423, "max_b": 3, "sum_b": 1.0497870683678638, "n_a": 2, "mean_a": 1.5, "m2_a": 0.5, "n_b": 2, "mean_b": 3.5, "m2_b": 0.5}"#;

    fn question() -> Vec<FieldSpec> {
        let num = |key, min, zh, en| FieldSpec::num(key, "1", min, 1e6, Text::new(zh, en));
        let (max_zh, max_en) = ("一半里最大的分数", "The largest score of a half");
        let (sum_zh, sum_en) = ("以它为基准的指数之和", "Sum of exponentials relative to it");
        let half = |max, sum| [num(max, -1e6, max_zh, max_en), num(sum, 0.0, sum_zh, sum_en)];
        let counts = |n, mean, m2| {
            [
                FieldSpec::int(n, "1", 1, 1 << 40, Text::new("一半的个数", "Values of a half")).default_value(1),
                num(mean, -1e6, "一半的均值", "Mean of a half").default_value(0),
                num(m2, 0.0, "一半里离均差的平方和", "Sum of squared deviations of a half").default_value(0),
            ]
        };
        let softmax = half("max_a", "sum_a").into_iter().chain(half("max_b", "sum_b"));
        softmax.chain(counts("n_a", "mean_a", "m2_a")).chain(counts("n_b", "mean_b", "m2_b")).collect()
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, zh, en| FieldSpec::num(key, "1", -1e30, 1e30, Text::new(zh, en));
        vec![
            num("max", "整行最大的分数", "The largest score of the row"),
            num("sum", "整行的指数之和", "Sum of exponentials of the row"),
            num("n", "个数", "Values"),
            num("mean", "均值", "Mean"),
            num("m2", "离均差的平方和", "Sum of squared deviations"),
            num("variance", "方差，除以 n", "Variance, divided by n"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (max, sum) = softmax((args.num("max_a"), args.num("sum_a")), (args.num("max_b"), args.num("sum_b")));
        let half =
            |n: &str, mean: &str, m2: &str| Moments { n: args.uint(n) as f64, mean: args.num(mean), m2: args.num(m2) };
        let whole = half("n_a", "mean_a", "m2_a").merge(half("n_b", "mean_b", "m2_b"));
        Ok(answer([
            ("max", number(max)),
            ("sum", number(sum)),
            ("n", number(whole.n)),
            ("mean", number(whole.mean)),
            ("m2", number(whole.m2)),
            ("variance", number(whole.m2 / whole.n)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Brief 04, vectors 5 and 6.
    #[test]
    fn worked_cases() {
        let (m, d) = softmax((2.0, 1.367_879_441_171_442_3), (3.0, 1.049_787_068_367_863_8));
        assert!(m == 3.0 && (d - 1.553_001_792_775_919).abs() < 1e-12, "{m} {d}");
        let whole = Moments { n: 2.0, mean: 1.5, m2: 0.5 }.merge(Moments { n: 2.0, mean: 3.5, m2: 0.5 });
        assert_eq!(whole, Moments { n: 4.0, mean: 2.5, m2: 5.0 });
    }

    /// Merged in any order the moments are those of the definition.
    #[test]
    fn any_tree_gives_the_same() {
        let values: Vec<f64> = (0..37).map(|at| f64::from((at * 29) % 41) - 17.0).collect();
        let one = |value: &f64| Moments { n: 1.0, mean: *value, m2: 0.0 };
        let left = values.iter().map(one).reduce(Moments::merge).unwrap();
        let right = values.iter().rev().map(one).reduce(|a, b| b.merge(a)).unwrap();
        let mean = values.iter().sum::<f64>() / 37.0;
        let m2: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        for found in [left, right] {
            assert!((found.mean - mean).abs() < 1e-12 && (found.m2 - m2).abs() < 1e-9, "{found:?}");
        }
    }
}
