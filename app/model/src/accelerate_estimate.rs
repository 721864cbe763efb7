//! What `accelerate estimate-memory` says: the weights in a dtype, the largest layer, four times the weights for Adam.
//!
//! Question: parameters, buffers, the largest layer, the dtype. Answer: bytes to load the model, of its largest layer, and to
//! train it with Adam. Assumption of the tool: parameters, gradients and two states in the dtype, no activations.
//! Source: Hugging Face accelerate, `docs/source/usage_guides/model_size_estimator.md`.

use crate::fields::{answer, choice, number};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub struct AccelerateEstimate;

const MOST_PARAMS: i64 = 1 << 48;
const MOST_BYTES: i64 = 1 << 62;

impl Model for AccelerateEstimate {
    const ID: &'static str = "accelerate_estimate";
    const TITLE: Text = Text::new("accelerate 的估计", "accelerate's estimate");
    const ASSUMES: Text = Text::new(
        "参数、梯度和两份状态都按同一精度；不算激活。原文印 MB、GB，算的是 MiB、GiB。",
        "Parameters, gradients and two states in one dtype; no activations. The source prints MB and GB and computes MiB and GiB.",
    );
    const SOURCE: &'static str = "huggingface/accelerate, docs/source/usage_guides/model_size_estimator.md";
    const EXAMPLE: &'static str =
        r#"{"n_params": 108310272, "buffer_bytes": 8192, "largest_layer_params": 22268928, "dtype": "float32"}"#;

    fn question() -> Vec<FieldSpec> {
        let count = |key, min, zh, en| FieldSpec::int(key, "1", min, MOST_PARAMS, Text::new(zh, en));
        vec![
            count("n_params", 1, "参数个数", "Parameters"),
            FieldSpec::int("buffer_bytes", "B", 0, MOST_PARAMS, Text::new("缓冲区的字节", "Bytes of buffers"))
                .default_value(0),
            count("largest_layer_params", 0, "最大一层的参数个数", "Parameters of the largest layer").default_value(0),
            choice(
                "dtype",
                "",
                &["float32", "float16", "int8", "int4"],
                Text::new("装入的精度", "Dtype it is loaded in"),
            )
            .default_value("float32"),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let bytes = |key, zh, en| FieldSpec::num(key, "B", 0.0, MOST_BYTES as f64, Text::new(zh, en));
        vec![
            bytes("total_bytes", "装入模型", "To load the model"),
            bytes("largest_layer_bytes", "最大一层", "Its largest layer"),
            bytes("adam_bytes", "用 Adam 训练", "To train it with Adam"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        // All sizes are those of float32, divided.
        let share = match args.text("dtype") {
            "float16" => 0.5,
            "int8" => 0.25,
            "int4" => 0.125,
            _ => 1.0,
        };
        let total = (4.0 * args.uint("n_params") as f64 + args.uint("buffer_bytes") as f64) * share;
        Ok(answer([
            ("total_bytes", number(total)),
            ("largest_layer_bytes", number(4.0 * args.uint("largest_layer_params") as f64 * share)),
            ("adam_bytes", number(4.0 * total)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    /// The page's table of bert-base-cased, to its two decimals: MiB, MiB, MiB.
    #[test]
    fn the_printed_table_of_bert() {
        for (dtype, layer, total, adam) in [
            ("float32", 84.95, 413.18, 1652.71),
            ("float16", 42.47, 206.59, 826.36),
            ("int8", 21.24, 103.29, 413.18),
            ("int4", 10.62, 51.65, 206.59),
        ] {
            let given = json!({"n_params": 108_310_272, "buffer_bytes": 8192, "largest_layer_params": 22_268_928, "dtype": dtype});
            let answer = eval("accelerate_estimate", &question(&given)).unwrap();
            let two = |key: &str| (answer[key].as_f64().unwrap() / 1_048_576.0 * 100.0).round() / 100.0;
            assert_eq!((two("largest_layer_bytes"), two("total_bytes")), (layer, total), "{dtype}");
            assert!((two("adam_bytes") - adam).abs() < 0.015, "{dtype}: {}", two("adam_bytes"));
            // The page prints the float32 figure as 1.61 GB.
            let gib = answer["adam_bytes"].as_f64().unwrap() / 1_073_741_824.0;
            assert!(dtype != "float32" || (gib * 100.0).round() == 161.0);
        }
    }
}
