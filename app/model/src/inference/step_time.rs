//! How long one step of a model takes: reads or sums, whichever is longer.
//!
//! Question: tokens of the step, tokens of cache that it reads, model and card. Answer: milliseconds, what bounds it, the knee.
//! Assumption and source: `vramlab_serve::step_time`. Errors: fields out of range.

use crate::fields::{answer, number};
use crate::registry::Model;
use vramlab_serve::step_time::{Bound, StepTime};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text};

pub struct StepTimeModel;

/// The fields of a model on a card.
pub(crate) fn card_fields() -> Vec<FieldSpec> {
    let num = |key, unit, min, max, zh, en| FieldSpec::num(key, unit, min, max, Text::new(zh, en));
    vec![
        num("weight_gb", "GB", 1e-3, 1e5, "权重", "Weights").default_value(16.06),
        num("params_b", "1e9", 1e-4, 1e5, "一个 token 要过的参数，十亿", "Parameters that a token passes, 10⁹")
            .default_value(8.03),
        num("kv_bytes_per_token", "B", 0.0, 1e9, "一个 token 的 KV 缓存", "Cache of a token").default_value(131_072),
        num("gb_per_s", "GB/s", 1.0, 1e6, "显存带宽", "Memory bandwidth").default_value(4800),
        num("tflop_per_s", "TFLOP/s", 0.1, 1e6, "矩阵乘的速度", "Rate of matrix products").default_value(989),
        num("launch_us", "µs", 0.0, 1e6, "每步的启动开销", "Launch time of a step").default_value(0),
        num("link_gb_per_s", "GB/s", 0.1, 1e6, "到主机的带宽", "Bandwidth to the host").default_value(55),
    ]
}

pub(crate) fn card(args: &Args) -> StepTime {
    StepTime {
        weight_bytes: args.num("weight_gb") * 1e9,
        kv_bytes_per_token: args.num("kv_bytes_per_token"),
        bytes_per_s: args.num("gb_per_s") * 1e9,
        n_params: args.num("params_b") * 1e9,
        flop_per_s: args.num("tflop_per_s") * 1e12,
        launch_s: args.num("launch_us") * 1e-6,
        link_bytes_per_s: args.num("link_gb_per_s") * 1e9,
    }
}

impl Model for StepTimeModel {
    const ID: &'static str = "step_time";
    const TITLE: Text = Text::new("一步要多久", "How long a step takes");
    const ASSUMES: Text = Text::new(
        "读取和计算重叠；注意力自己的计算不算。",
        "Reads and sums overlap; attention's own sums are left out.",
    );
    const SOURCE: &'static str = "roofline of one forward pass; Williams, Waterman, Patterson 2009";
    const EXAMPLE: &'static str = r#"{"tokens": 64, "context_tokens": 131072}"#;

    fn question() -> Vec<FieldSpec> {
        let count = |key, max, zh, en| FieldSpec::int(key, "token", 0, max, Text::new(zh, en));
        let mut fields = vec![
            count("tokens", 1 << 24, "这一步算多少 token", "Tokens that the step computes"),
            count("context_tokens", 1 << 40, "这一步读多少 token 的缓存", "Tokens whose cache it reads")
                .default_value(0),
            count("swapped_tokens", 1 << 32, "这一步换进换出多少 token", "Tokens that it swaps").default_value(0),
        ];
        fields.extend(card_fields());
        fields
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, unit, zh, en| FieldSpec::num(key, unit, 0.0, 1e18, Text::new(zh, en));
        vec![
            num("ms", "ms", "一步的时间", "Time of the step"),
            FieldSpec::new(
                "bound",
                "",
                FieldKind::Text { max_len: 16 },
                Text::new("memory 或 compute", "memory or compute"),
            ),
            num("knee_tokens", "token", "从多少 token 起由计算决定", "Tokens from which on sums decide"),
            num("tokens_per_s", "token/s", "每秒 token", "Tokens a second"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let card = card(args);
        let [tokens, context, swapped] =
            ["tokens", "context_tokens", "swapped_tokens"].map(|key| args.uint(key) as f64);
        let seconds = card.seconds(tokens, context, swapped);
        let bound = if card.bound(tokens, context) == Bound::Memory { "memory" } else { "compute" };
        Ok(answer([
            ("ms", number(seconds * 1e3)),
            ("bound", bound.into()),
            ("knee_tokens", number(card.knee_tokens())),
            ("tokens_per_s", number(tokens / seconds)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use serde_json::json;

    /// Brief 21: flat while m < F ÷ BW ≈ 206.
    #[test]
    fn batching_is_free_at_first() {
        let ask = |tokens: u64| crate::eval("step_time", &question(&json!({"tokens": tokens}))).unwrap();
        assert_eq!(format!("{:.0}", ask(1)["knee_tokens"].as_f64().unwrap()), "206");
        assert_eq!(ask(1)["ms"], ask(200)["ms"]);
        assert_eq!((&ask(206)["bound"], &ask(207)["bound"]), (&json!("memory"), &json!("compute")));
    }
}
