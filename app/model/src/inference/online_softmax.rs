//! The softmax of a row of scores, block by block, with what is kept between blocks.
//!
//! Question: scores, values, the size of a block, after how many blocks to look. Answer: largest score m, sum l, output o, and
//! o ÷ l with the log-sum-exp. Per block: m' = max(m, x); α = e^(m − m'); l = lα + Σ e^(x − m'); o = oα + Σ e^(x − m') v.
//! Assumption: float64; a score of −inf is masked, a row without any other gives 0 and no log-sum-exp.
//! Source: Milakov and Gimelshein 2018 (arXiv 1805.02867), algorithm 3; FlashAttention, algorithm 1. Errors: lists of unequal
//! length, +inf or NaN.

use super::{numbers, text};
use crate::fields::{answer, number};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text, Value};

pub struct OnlineSoftmax;

/// What is kept between blocks. `m` is −∞ before the first score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Running {
    pub m: f64,
    pub l: f64,
    pub o: f64,
}

impl Running {
    pub const START: Self = Self { m: f64::NEG_INFINITY, l: 0.0, o: 0.0 };

    /// The state after one more block.
    #[must_use]
    pub fn block(self, scores: &[f64], values: &[f64]) -> Self {
        let m = scores.iter().copied().fold(self.m, f64::max);
        if m == f64::NEG_INFINITY {
            return self;
        }
        // The first block's α is e^(−∞) = 0.
        let alpha = (self.m - m).exp();
        let weights = || scores.iter().map(|score| (score - m).exp());
        Self {
            m,
            l: self.l * alpha + weights().sum::<f64>(),
            o: self.o * alpha + weights().zip(values).map(|(weight, value)| weight * value).sum::<f64>(),
        }
    }

    /// What the block between this state and `after` did: the factor of the old sums, and what was added to l and to o.
    /// None if everything so far is masked.
    pub fn change(self, after: Self) -> Option<[f64; 3]> {
        let alpha = (self.m - after.m).exp();
        (after.m > f64::NEG_INFINITY).then_some([alpha, after.l - self.l * alpha, after.o - self.o * alpha])
    }

    /// The output; 0 of a row that is masked as a whole.
    pub fn result(self) -> f64 {
        if self.l > 0.0 { self.o / self.l } else { 0.0 }
    }

    pub fn log_sum_exp(self) -> Option<f64> {
        (self.l > 0.0).then(|| self.m + self.l.ln())
    }
}

impl Model for OnlineSoftmax {
    const ID: &'static str = "online_softmax";
    const TITLE: Text = Text::new("一块一块地做 softmax", "Softmax, block by block");
    const ASSUMES: Text = Text::new(
        "float64；-inf 表示被掩码；整行都被掩码时输出 0。",
        "Float64; -inf is masked; a row that is masked as a whole gives 0.",
    );
    const SOURCE: &'static str = "Milakov and Gimelshein 2018, algorithm 3; FlashAttention, algorithm 1";
    const EXAMPLE: &'static str = r#"{"scores": "1 2 3 4", "values": "10 20 30 40", "block": 2}"#;

    fn question() -> Vec<FieldSpec> {
        let count = |key, zh, en| FieldSpec::int(key, "1", 1, 8192, Text::new(zh, en));
        vec![
            text("scores", "一行分数，空格隔开；-inf 是被掩码的", "A row of scores, apart by blanks; -inf is masked"),
            text("values", "对应的值", "The values that belong to them"),
            count("block", "一块多少个分数", "Scores of a block").default_value(2),
            count("after_blocks", "看第几块之后；不给就看全部", "After how many blocks to look; all, if not given")
                .optional(),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, zh, en| FieldSpec::num(key, "1", -1e60, 1e60, Text::new(zh, en));
        vec![
            num("m", "到此为止最大的分数", "The largest score so far").optional(),
            num("l", "指数之和", "Sum of the exponentials"),
            num("o", "没有除以 l 的输出", "The output, not yet divided by l"),
            num("result", "o ÷ l", "o over l"),
            num("log_sum_exp", "m + ln l", "m + ln l").optional(),
            FieldSpec::int("n_blocks", "1", 0, 8192, Text::new("算过的块", "Blocks that were computed")),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (scores, values) = (numbers(args, "scores")?, numbers(args, "values")?);
        if scores.len() != values.len() {
            let reason = format!("{} values for {} scores", values.len(), scores.len());
            return Err(FieldError::conflict("values", reason));
        }
        if scores.iter().any(|score| score.is_nan() || *score == f64::INFINITY) {
            return Err(FieldError::conflict("scores", "a score is neither a number nor -inf"));
        }
        if values.iter().any(|value| !value.is_finite()) {
            return Err(FieldError::conflict("values", "a value is not finite"));
        }
        let size = args.uint("block") as usize;
        let all = scores.len().div_ceil(size);
        let n = if args.has("after_blocks") { (args.uint("after_blocks") as usize).min(all) } else { all };
        let blocks = scores.chunks(size).zip(values.chunks(size)).take(n);
        let end = blocks.fold(Running::START, |state, (scores, values)| state.block(scores, values));
        Ok(answer([
            ("m", Some(end.m).filter(|m| m.is_finite()).map_or(Value::Null, number)),
            ("l", number(end.l)),
            ("o", number(end.o)),
            ("result", number(end.result())),
            ("log_sum_exp", end.log_sum_exp().map_or(Value::Null, number)),
            ("n_blocks", n.into()),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use serde_json::json;

    #[track_caller]
    fn near(got: &Value, expected: f64) {
        let got = got.as_f64().unwrap();
        assert!((got - expected).abs() < 1e-10, "{got} and not {expected}");
    }

    fn ask(scores: &str, values: &str, block: u64, after: Option<u64>) -> Map {
        let given = json!({"scores": scores, "values": values, "block": block, "after_blocks": after});
        crate::eval("online_softmax", &question(&given)).unwrap()
    }

    /// By hand: 1 2 | 3 4 scales the first block by e⁻² and adds 1 + e⁻¹, which is the first block again.
    #[test]
    fn a_block_scales_and_adds() {
        let first = Running::START.block(&[1.0, 2.0], &[10.0, 20.0]);
        let [alpha, l, o] = first.change(first.block(&[3.0, 4.0], &[30.0, 40.0])).unwrap();
        let e = std::f64::consts::E;
        assert!((alpha - 1.0 / (e * e)).abs() < 1e-12 && (l - first.l).abs() < 1e-12);
        assert!((o - (40.0 + 30.0 / e)).abs() < 1e-12);
        assert_eq!(Running::START.change(Running::START), None);
        assert_eq!(Running::START.change(first).unwrap()[0], 0.0);
    }

    /// Brief 16, vector 4.
    #[test]
    fn the_vector_of_the_brief() {
        let (scores, values) = ("1 2 3 4", "10 20 30 40");
        let first = ask(scores, values, 2, Some(1));
        for (key, expected) in [("m", 2.0), ("l", 1.367_879_441_2), ("o", 23.678_794_411_7)] {
            near(&first[key], expected);
        }
        for block in [1, 2, 3, 4] {
            let whole = ask(scores, values, block, None);
            let expected = [
                ("m", 4.0),
                ("l", 1.553_001_792_8),
                ("o", 54.240_959_583_6),
                ("result", 34.926_527_345_9),
                ("log_sum_exp", 4.440_189_698_6),
            ];
            for (key, expected) in expected {
                near(&whole[key], expected);
            }
        }
        near(&ask("1000 1001", "1 0", 1, None)["result"], 0.268_941_421_4);
        let masked = ask("-inf -inf 3", "1 2 5", 2, Some(1));
        assert_eq!((&masked["result"], &masked["log_sum_exp"], &masked["m"]), (&json!(0), &json!(null), &json!(null)));
        near(&ask("-inf -inf 3", "1 2 5", 2, None)["result"], 5.0);
        let refused = |scores: &str, values: &str| {
            crate::eval("online_softmax", &question(&json!({"scores": scores, "values": values}))).unwrap_err()
        };
        assert_eq!(refused("1 2", "1").field(), "values");
        assert_eq!(refused("inf", "1").field(), "scores");
        assert_eq!(refused("", "1").field(), "scores");
    }
}
