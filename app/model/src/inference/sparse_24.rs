//! Two of four values, with their metadata.
//!
//! Question: a row of values. Answer: what is kept, where, the nibbles, the pruned row, the share of energy that is lost.
//! Rules and source: `vramlab_codec::sparse`. Errors: a row that is no whole number of fours.

use super::{coding, ints, join, list, numbers, shown, text};
use crate::fields::{answer, number};
use crate::registry::Model;
use vramlab_codec::sparse::prune;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub struct Sparse24;

impl Model for Sparse24 {
    const ID: &'static str = "sparse_24";
    const TITLE: Text = Text::new("四个里留两个", "Two of four");
    const ASSUMES: Text = Text::new(
        "留绝对值最大的两个，一样大取靠前的；按位置的顺序存。",
        "The two largest magnitudes stay, the lower place of equals; stored in the order of their places.",
    );
    const SOURCE: &'static str = "NVIDIA PTX ISA, mma.sp; Mishra et al. 2021 (arXiv 2104.08378)";
    const EXAMPLE: &'static str = r#"{"values": "1 -3 0.5 2"}"#;

    fn question() -> Vec<FieldSpec> {
        vec![text("values", "一行数，个数是 4 的倍数", "A row of values, a multiple of four")]
    }

    fn answer() -> Vec<FieldSpec> {
        vec![
            shown("kept", "留下的值", "The values that stay"),
            list("places", "1", "各在四个里的第几个，从 0 数", "Their places among four, from 0"),
            list("nibbles", "1", "每四个一个元数据", "Metadata, one for each four"),
            shown("pruned", "剪过的一行", "The row after pruning"),
            FieldSpec::num(
                "lost_energy",
                "1",
                0.0,
                1.0,
                Text::new("丢掉的平方和占比", "Share of the sum of squares that is lost"),
            ),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let values = numbers(args, "values")?;
        let tiles = prune(&values).map_err(|problem| coding(&problem, &[("cols", "values")]))?;
        let kept: Vec<f64> = tiles.iter().flat_map(|tile| tile.values).collect();
        let places: Vec<u8> = tiles.iter().flat_map(|tile| tile.places).collect();
        let nibbles: Vec<u8> = tiles.iter().map(|tile| tile.nibble()).collect();
        let largest = values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        // Scaled, so that no square overflows.
        let energy = |values: &[f64]| values.iter().map(|value| (value / largest).powi(2)).sum::<f64>();
        let lost = if largest > 0.0 { (1.0 - energy(&kept) / energy(&values)).clamp(0.0, 1.0) } else { 0.0 };
        Ok(answer([
            ("kept", join(kept.iter().copied())),
            ("places", ints(&places)),
            ("nibbles", ints(&nibbles)),
            ("pruned", join(tiles.iter().flat_map(|tile| tile.decode()))),
            ("lost_energy", number(lost)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use serde_json::json;

    /// Brief 14, vectors 4 and 8.
    #[test]
    fn the_vectors_of_the_brief() {
        let ask = |values: &str| crate::eval("sparse_24", &question(&json!({"values": values})));
        let got = ask("1 -3 0.5 2  5 5 5 5  0 0 7 0").unwrap();
        assert_eq!(got["kept"], "-3 2 5 5 0 7");
        assert_eq!(got["places"], json!([1, 3, 0, 1, 0, 2]));
        assert_eq!(got["nibbles"], json!([13, 4, 8]));
        assert_eq!(got["pruned"], "0 -3 0 2 5 5 0 0 0 0 7 0");
        assert!(ask("1 2 3").unwrap_err().to_string().contains("no whole number of fours"));
        assert_eq!(ask("1 2 3 nan").unwrap_err().field(), "values");
    }
}
