//! How many activations a chain of equal layers holds when only every k-th is kept.
//!
//! Question: layers n, segment k. Answer: slots ⌈n/k⌉ + k, the best k, the time. Assumption: equal layers; a slot is one layer's
//! activation; backward takes twice as long as forward, and every layer is computed once more. Weights, gradients, states, logits
//! and the optimizer's temporaries are not in it, so the peak of a step may fall by much less, or not at all.
//! Source: Chen et al. 2016, "Training Deep Nets with Sublinear Memory Cost". Errors: a segment longer than the chain.

use crate::fields::{answer, number};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub struct CheckpointSlots;

impl Model for CheckpointSlots {
    const ID: &'static str = "checkpoint_slots";
    const TITLE: Text = Text::new("隔 k 层存一次，要几份激活", "Keeping every k-th activation");
    const ASSUMES: Text = Text::new(
        "各层一样大；反向是前向的两倍时间；只算激活。",
        "Equal layers; backward takes twice the time of forward; activations only.",
    );
    const SOURCE: &'static str = "Chen et al. 2016, Training Deep Nets with Sublinear Memory Cost";
    const EXAMPLE: &'static str = r#"{"layers": 64, "segment": 8}"#;

    fn question() -> Vec<FieldSpec> {
        vec![
            FieldSpec::int("layers", "1", 1, 100_000, Text::new("层数 n", "Layers, n")),
            FieldSpec::int("segment", "1", 1, 100_000, Text::new("一段几层，k", "Layers of a segment, k"))
                .default_value(1),
            FieldSpec::num(
                "recomputed",
                "1",
                0.0,
                1.0,
                Text::new("前向里重算的份额", "Share of forward that is computed again"),
            )
            .default_value(1),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let count = |key, zh, en| FieldSpec::int(key, "1", 0, 1 << 40, Text::new(zh, en));
        vec![
            count("slots", "同时在场的激活", "Activations alive at once"),
            count("kept", "其中存下的段首", "Kept inputs of segments among them"),
            count("best_segment", "最省的 k", "The best k"),
            count("best_slots", "那时的份数", "Activations at the best k"),
            FieldSpec::num(
                "time_ratio",
                "1",
                1.0,
                2.0,
                Text::new("时间 ÷ 不重算的", "Time ÷ that without recomputation"),
            ),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (layers, segment) = (args.uint("layers"), args.uint("segment"));
        if segment > layers {
            return Err(FieldError::conflict("segment", format!("segment = {segment} is more than layers = {layers}")));
        }
        let best = best_segment(layers);
        Ok(answer([
            ("slots", slots(layers, segment).into()),
            ("kept", layers.div_ceil(segment).into()),
            ("best_segment", best.into()),
            ("best_slots", slots(layers, best).into()),
            ("time_ratio", number((3.0 + args.num("recomputed")) / 3.0)),
        ]))
    }
}

/// Inputs of all segments, and one segment alive.
pub fn slots(layers: u64, segment: u64) -> u64 {
    layers.div_ceil(segment.max(1)) + segment
}

/// The segment with the fewest slots, the shortest of equals.
pub fn best_segment(layers: u64) -> u64 {
    (1..=layers.max(1)).min_by_key(|segment| slots(layers, *segment)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    /// Brief 05, vector 4.
    #[test]
    fn the_best_segment_is_near_the_root() {
        for (layers, best, fewest) in [(1, 1, 2), (16, 4, 8), (17, 3, 9), (64, 8, 16), (100, 10, 20)] {
            assert_eq!((best_segment(layers), slots(layers, best)), (best, fewest), "{layers}");
        }
        let answer = eval("checkpoint_slots", &question(&json!({"layers": 144, "segment": 12}))).unwrap();
        assert_eq!((answer["slots"].as_u64(), answer["best_slots"].as_u64()), (Some(24), Some(24)));
        assert!((answer["time_ratio"].as_f64().unwrap() - 4.0 / 3.0).abs() < 1e-12);
        let error = eval("checkpoint_slots", &question(&json!({"layers": 4, "segment": 5}))).unwrap_err();
        assert_eq!(error.field(), "segment");
    }
}
