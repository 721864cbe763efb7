//! Model states of mixed-precision Adam, and what ZeRO leaves of them on one of N ranks.
//!
//! Question: parameters, ranks, stage, bytes a parameter of weights, gradients and optimizer. Answer: bytes a rank, by owner, and
//! the traffic of a step against plain data parallelism. Assumption: everything divides evenly; activations and temporaries are
//! not in it, and ZeRO does not touch them. Source: Rajbhandari et al. 2020, "ZeRO: Memory Optimizations Toward Training
//! Trillion Parameter Models", section 5 and table 1. Errors: none beyond the ranges.

use crate::fields::{answer, choice, number};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub struct ZeroStates;

impl Model for ZeroStates {
    const ID: &'static str = "zero_states";
    const TITLE: Text = Text::new("ZeRO 各级的模型状态", "Model states under ZeRO");
    const ASSUMES: Text = Text::new(
        "均匀切分；激活和临时张量不在内，ZeRO 也不动它们。",
        "An even split; activations and temporaries are not in it, and ZeRO does not touch them.",
    );
    const SOURCE: &'static str =
        "Rajbhandari et al. 2020, ZeRO: Memory Optimizations Toward Training Trillion Parameter Models, section 5";
    const EXAMPLE: &'static str = r#"{"n_params": 7500000000, "ranks": 64, "stage": 1}"#;

    fn question() -> Vec<FieldSpec> {
        let bytes = |key, zh, en| FieldSpec::num(key, "B", 0.0, 64.0, Text::new(zh, en));
        vec![
            FieldSpec::num("n_params", "1", 1.0, 1.0e15, Text::new("参数个数 Ψ", "Parameters, Ψ")),
            FieldSpec::int("ranks", "1", 1, 1 << 20, Text::new("数据并行的卡数 N", "Ranks of data parallelism, N"))
                .default_value(1),
            choice(
                "stage",
                "",
                &["0", "1", "2", "3"],
                Text::new("ZeRO 的级别，0 不切", "Stage of ZeRO; 0 splits nothing"),
            )
            .default_value("0"),
            bytes("weight_bytes", "每个参数的权重", "Weights, a parameter").default_value(2),
            bytes("gradient_bytes", "每个参数的梯度", "Gradients, a parameter").default_value(2),
            bytes("optimizer_bytes", "每个参数的优化器：主副本、m、v", "Optimizer, a parameter: master copy, m, v")
                .default_value(12),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let gb = |key, zh, en| FieldSpec::num(key, "GB", 0.0, 1.0e9, Text::new(zh, en));
        vec![
            gb("weights_gb", "权重", "Weights"),
            gb("gradients_gb", "梯度", "Gradients"),
            gb("optimizer_gb", "优化器状态", "Optimizer state"),
            gb("total_gb", "一张卡上合计", "All of it on one rank"),
            FieldSpec::num("bytes_per_param", "B", 0.0, 256.0, Text::new("摊到每个参数", "For each parameter")),
            FieldSpec::num(
                "traffic",
                "1",
                1.0,
                1.5,
                Text::new("通信量 ÷ 数据并行的", "Traffic ÷ that of data parallelism"),
            ),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (params, ranks) = (args.num("n_params"), args.uint("ranks") as f64);
        let stage: u32 = args.text("stage").parse().unwrap_or_default();
        // Each stage splits one thing more: the optimizer's state, the gradients, the weights.
        let share = |from: u32| if stage >= from { 1.0 / ranks } else { 1.0 };
        let weights = args.num("weight_bytes") * share(3);
        let gradients = args.num("gradient_bytes") * share(2);
        let optimizer = args.num("optimizer_bytes") * share(1);
        let all = weights + gradients + optimizer;
        let gb = |bytes: f64| number(bytes * params / 1.0e9);
        Ok(answer([
            ("weights_gb", gb(weights)),
            ("gradients_gb", gb(gradients)),
            ("optimizer_gb", gb(optimizer)),
            ("total_gb", gb(all)),
            ("bytes_per_param", number(all)),
            ("traffic", number(if stage == 3 && ranks > 1.0 { 1.5 } else { 1.0 })),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    /// Brief 05, vector 1; the first row is the paper's own.
    #[test]
    fn rows_of_the_paper() {
        for (params, ranks, expected) in [
            (7.5e9, 64, [120.0, 31.406_25, 16.640_625, 1.875]),
            (7.0e9, 8, [112.0, 38.5, 26.25, 14.0]),
            (1.0e9, 1, [16.0, 16.0, 16.0, 16.0]),
        ] {
            for (stage, gb) in expected.into_iter().enumerate() {
                let given = json!({"n_params": params, "ranks": ranks, "stage": stage.to_string()});
                let answer = eval("zero_states", &question(&given)).unwrap();
                assert!((answer["total_gb"].as_f64().unwrap() - gb).abs() < 1e-9, "{given}: {answer:?}");
            }
        }
    }

    /// Megatron-LM keeps gradients in float32: 18 bytes, or 6 + 12/N with its distributed optimizer.
    #[test]
    fn megatron_counts_eighteen() {
        let given = json!({"n_params": 1e9, "gradient_bytes": 4, "ranks": 8, "stage": "1"});
        assert_eq!(eval("zero_states", &question(&given)).unwrap()["bytes_per_param"].as_f64(), Some(7.5));
        for given in [json!({"n_params": 1, "ranks": 0}), json!({"n_params": 1, "stage": "4"})] {
            assert!(eval("zero_states", &question(&given)).is_err());
        }
    }
}
