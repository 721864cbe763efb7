//! How many activations a chain of equal layers holds when only every k-th is kept.
//!
//! Question: layers n, segment k. Answer: slots ⌈n/k⌉ + k, the best k, the time, and the exact count where kept inputs go early.
//!
//! A layer needs its input for backward. Kept are the inputs of the ⌈n/k⌉ segments; while one goes back, the k − 1 inputs after
//! its own are there again, and so is one gradient: ⌈n/k⌉ + k, if the kept inputs stay to the end of the step. If each goes as soon
//! as its segment is through, the short last segment is gone before a full one is alive, and the count is ⌊n/k⌋ + k: the same
//! where k divides n, one fewer elsewhere. The last layer of a segment is not computed again, so the recomputed share is
//! 1 − ⌈n/k⌉/n, and k = 1 recomputes nothing. Both counts are measured in `kernels/checkpoint_chain`.
//!
//! Assumption: equal layers; a slot is one layer's activation. Weights, gradients of weights, states, logits and the optimizer's
//! temporaries are not in it, so the peak of a step may fall by much less, or not at all.
//! Source: Chen et al. 2016, "Training Deep Nets with Sublinear Memory Cost". Errors: a segment longer than the chain.

use crate::fields::{answer, number};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub struct CheckpointSlots;

impl Model for CheckpointSlots {
    const ID: &'static str = "checkpoint_slots";
    const TITLE: Text = Text::new("隔 k 层存一次，要几份激活", "Keeping every k-th activation");
    const ASSUMES: Text = Text::new(
        "各层一样大，反向只要层的输入；slots 里段首留到最后，alive 里用完就放；只算激活和一份梯度。",
        "Equal layers, each of which needs its input in backward. In `slots` kept inputs stay to the end, in `alive` they go \
         once used. Activations and one gradient only.",
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
            FieldSpec::num(
                "backward_ratio",
                "1",
                0.0,
                100.0,
                Text::new("反向的时间 ÷ 前向的", "Time of backward ÷ that of forward"),
            )
            .default_value(2),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let count = |key, zh, en| FieldSpec::int(key, "1", 0, 1 << 40, Text::new(zh, en));
        vec![
            count("slots", "同时在场的激活，段首留到最后", "Activations alive at once, kept inputs held to the end"),
            count("alive", "同时在场的激活，段首用完就放", "Activations alive at once, kept inputs freed once used"),
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
            ("alive", alive(layers, segment).into()),
            ("kept", layers.div_ceil(segment).into()),
            ("best_segment", best.into()),
            ("best_slots", slots(layers, best).into()),
            ("time_ratio", number(1.0 + args.num("recomputed") / (1.0 + args.num("backward_ratio")))),
        ]))
    }
}

/// The most alive at once when a kept input goes as soon as its segment is through.
pub fn alive(layers: u64, segment: u64) -> u64 {
    layers / segment.max(1) + segment
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

    /// A step walked layer by layer: what is alive after each allocation, the gradient included.
    fn walked(layers: u64, segment: u64, is_held: bool) -> u64 {
        let (mut alive, mut most) = (1, 1);
        for layer in 0..layers {
            alive += 1;
            most = most.max(alive);
            alive -= u64::from(layer % segment != 0);
        }
        for first in (0..layers.div_ceil(segment)).rev().map(|at| at * segment) {
            let others = segment.min(layers - first) - 1;
            alive += others;
            most = most.max(alive);
            alive -= others + u64::from(!is_held);
        }
        most
    }

    /// Both counts are those of a walk through every chain of up to 60 layers.
    #[test]
    fn slots_are_those_of_a_walk() {
        for layers in 1..=60 {
            for segment in 1..=layers {
                assert_eq!(alive(layers, segment), walked(layers, segment, false), "{layers} by {segment}");
                assert_eq!(slots(layers, segment), walked(layers, segment, true), "{layers} by {segment}, held");
            }
        }
    }

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
