//! The same gradient, round after round: which of its entries go, and what is owed.
//!
//! Question: a gradient, k, rounds. Answer: places that were sent, their sum, the residual. Rules and source:
//! `vramlab_codec::topk`. Errors: k outside of 1 to the length.

use super::{coding, ints, join, list, numbers, shown, text};
use crate::fields::{answer, number};
use crate::registry::Model;
use vramlab_codec::topk::send;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub struct TopkFeedback;

impl Model for TopkFeedback {
    const ID: &'static str = "topk_feedback";
    const TITLE: Text = Text::new("只传最大的几个，其余记账", "The largest go, the rest is owed");
    const ASSUMES: Text = Text::new(
        "每轮的梯度相同；一样大取下标小的。",
        "The gradient is the same in each round; of equals the lower index goes.",
    );
    const SOURCE: &'static str = "Stich et al. 2018; Karimireddy et al. 2019";
    const EXAMPLE: &'static str = r#"{"gradient": "0.5 -0.4 0.3 -0.2", "k": 1, "rounds": 6}"#;

    fn question() -> Vec<FieldSpec> {
        let count = |key, max, zh, en| FieldSpec::int(key, "1", 0, max, Text::new(zh, en));
        vec![
            text("gradient", "梯度，空格隔开", "The gradient, apart by blanks"),
            count("k", 4096, "每轮传几个", "Entries of a round").default_value(1),
            count("rounds", 64, "几轮", "Rounds").default_value(1),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        vec![
            list("places", "1", "先后传的下标", "Indices in the order in which they went"),
            shown("sent", "传出的总和", "Sum of what was sent"),
            shown("residual", "还欠的", "What is owed"),
            FieldSpec::num(
                "owed_share",
                "1",
                0.0,
                1e9,
                Text::new("欠的 ÷ 全部，按绝对值之和", "Owed over all, by magnitude"),
            ),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let gradient = numbers(args, "gradient")?;
        let n = gradient.len();
        let (mut residual, mut sent, mut places) = (vec![0.0; n], vec![0.0; n], Vec::new());
        for _ in 0..args.uint("rounds") {
            let round = send(&gradient, &mut residual, args.uint("k") as usize)
                .map_err(|problem| coding(&problem, &[("values", "gradient")]))?;
            places.extend(round.places.iter().map(|place| *place as u32));
            sent.iter_mut().zip(round.values).for_each(|(sum, value)| *sum += value);
        }
        let size = |values: &[f64]| values.iter().map(|value| value.abs()).sum::<f64>();
        let all = size(&gradient) * args.uint("rounds") as f64;
        Ok(answer([
            ("places", ints(&places)),
            ("sent", join(sent)),
            ("residual", join(residual.iter().copied())),
            ("owed_share", number(if all > 0.0 { size(&residual) / all } else { 0.0 })),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use serde_json::json;

    /// Brief 25, fourth vector.
    #[test]
    fn the_vector_of_the_brief() {
        let got = crate::eval("topk_feedback", &serde_json::from_str(TopkFeedback::EXAMPLE).unwrap()).unwrap();
        assert_eq!(got["places"], json!([0, 1, 0, 2, 1, 0]));
        let list = |key: &str| -> Vec<f64> {
            got[key].as_str().unwrap().split(' ').map(|word| word.parse().unwrap()).collect()
        };
        for (key, expected) in [("sent", [3.0, -2.0, 1.2, 0.0]), ("residual", [0.0, -0.4, 0.6, -1.2])] {
            assert!(
                list(key).iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 1e-9),
                "{key}: {}",
                got[key]
            );
        }
        for k in [0, 5] {
            let given = question(&json!({"gradient": "0.5 -0.4 0.3 -0.2", "k": k}));
            assert_eq!(crate::eval("topk_feedback", &given).unwrap_err().field(), "k");
        }
    }
}
