//! The textbook formula for the activations of transformer layers.
//!
//! Question: sequence, batch, width, heads, layers, how they are split and what is recomputed. Answer: bytes a layer and in all,
//! for one GPU. Assumption: 16-bit activations, dropout, attention written out (the 5·a·s/h term), a 4·h feed-forward; with
//! `selective` the attention matrices are computed again (as flash attention never keeps them), with `full` only a layer's
//! input is kept. Source: Korthikanti et al. 2022, "Reducing Activation Recomputation in Large Transformer Models", table 2.
//! Errors: heads that do not divide the width, a split that does not divide the heads.

use crate::fields::{answer, choice, number};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text};

pub struct ActivationFormula;

impl Model for ActivationFormula {
    const ID: &'static str = "activation_formula";
    const TITLE: Text = Text::new("激活显存的教科书公式", "The textbook formula for activations");
    const ASSUMES: Text = Text::new(
        "16 位激活，有 dropout，注意力逐步写出，前馈宽 4·hidden；嵌入、logits、临时张量不算。",
        "16-bit activations, dropout, attention written out, a feed-forward of 4·hidden; embeddings, logits and temporaries left out.",
    );
    const SOURCE: &'static str =
        "Korthikanti et al. 2022, Reducing Activation Recomputation in Large Transformer Models, table 2";
    const EXAMPLE: &'static str = r#"{"seq_len": 2048, "batch": 1, "hidden": 12288, "heads": 96}"#;

    fn question() -> Vec<FieldSpec> {
        let count = |key, max, zh, en| FieldSpec::int(key, "1", 1, max, Text::new(zh, en));
        vec![
            count("seq_len", 1 << 24, "序列长度 s", "Length of a sequence, s"),
            count("batch", 1 << 20, "微批大小 b", "Micro-batch, b"),
            count("hidden", 1 << 20, "隐藏维 h", "Width, h"),
            count("heads", 1 << 14, "注意力头数 a", "Heads, a"),
            count("layers", 1 << 14, "层数 L", "Layers, L").default_value(1),
            count("tensor_parallel", 1 << 14, "张量并行 t", "Tensor parallel, t").default_value(1),
            FieldSpec::new(
                "sequence_parallel",
                "",
                FieldKind::Bool,
                Text::new("其余部分按序列切分", "The rest is split along the sequence"),
            )
            .default_value(false),
            choice(
                "recompute",
                "",
                &["none", "selective", "full"],
                Text::new(
                    "重算：不算；只算注意力矩阵；整层",
                    "Recomputed: nothing; the attention matrices; whole layers",
                ),
            )
            .default_value("none"),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let bytes = |key, zh, en| FieldSpec::num(key, "B", 0.0, 1.0e30, Text::new(zh, en));
        vec![bytes("layer_bytes", "一层", "A layer"), bytes("total_bytes", "全部层", "All layers")]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let of = |key: &str| args.uint(key) as f64;
        if !args.uint("hidden").is_multiple_of(args.uint("heads")) {
            return Err(FieldError::conflict("heads", "heads must divide hidden"));
        }
        if !args.uint("heads").is_multiple_of(args.uint("tensor_parallel")) {
            return Err(FieldError::conflict("tensor_parallel", "the split must divide heads"));
        }
        let layer = layer_bytes(
            [of("seq_len"), of("batch"), of("hidden"), of("heads"), of("tensor_parallel")],
            args.flag("sequence_parallel"),
            args.text("recompute"),
        );
        Ok(answer([("layer_bytes", number(layer)), ("total_bytes", number(layer * of("layers")))]))
    }
}

/// `s·b·h·(10 + 24/t + 5·a·s/(h·t))`, all of it divided by t with sequence parallelism.
fn layer_bytes([s, b, h, a, t]: [f64; 5], is_sequence_parallel: bool, recompute: &str) -> f64 {
    if recompute == "full" {
        return 2.0 * s * b * h;
    }
    let scores = if recompute == "selective" { 0.0 } else { 5.0 * a * s / h };
    let whole = if is_sequence_parallel { 10.0 / t } else { 10.0 };
    s * b * h * (whole + 24.0 / t) + s * b * h * scores / t
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::{Value, json};

    #[track_caller]
    fn check(given: &Value, layer: f64) {
        let answer = eval("activation_formula", &question(given)).unwrap();
        assert_eq!(answer["layer_bytes"].as_f64().unwrap(), layer, "{given}");
    }

    /// Brief 05, vectors 2 and 3.
    #[test]
    fn layers_of_the_brief() {
        let of = |more: Value| {
            let mut given = json!({"seq_len": 2048, "batch": 1, "hidden": 12_288, "heads": 96});
            for (key, value) in more.as_object().unwrap() {
                given[key] = value.clone();
            }
            given
        };
        check(&of(json!({})), 2_868_903_936.0);
        check(&of(json!({"tensor_parallel": 8})), 578_813_952.0);
        check(&of(json!({"tensor_parallel": 8, "sequence_parallel": true})), 358_612_992.0);
        check(&of(json!({"tensor_parallel": 8, "sequence_parallel": true, "recompute": "selective"})), 106_954_752.0);
        check(&of(json!({"recompute": "selective"})), 855_638_016.0);
        check(&of(json!({"recompute": "full"})), 50_331_648.0);
        let wide = json!({"seq_len": 2048, "batch": 32, "hidden": 4096, "heads": 32});
        check(&wide, 30_601_641_984.0);
        let mut selective = wide;
        selective["recompute"] = json!("selective");
        check(&selective, 9_126_805_504.0);
    }

    /// The Ultra-Scale Playbook's tables: 34·s·b·h·L for the shape of Llama-3-8B, and of a 1B model, in GiB.
    #[test]
    fn tables_of_the_playbook() {
        for (seq_len, hidden, heads, layers, gib) in [
            (1024, 4096, 32, 32, 4.25),
            (4096, 4096, 32, 32, 17.0),
            (16_384, 4096, 32, 32, 68.0),
            (1024, 2048, 32, 16, 1.0625),
        ] {
            let given = json!({"seq_len": seq_len, "batch": 1, "hidden": hidden, "heads": heads, "layers": layers,
                "recompute": "selective"});
            let answer = eval("activation_formula", &question(&given)).unwrap();
            assert_eq!(answer["total_bytes"].as_f64().unwrap() / 1_073_741_824.0, gib);
        }
    }

    #[test]
    fn heads_are_whole() {
        let refused = |given: Value| eval("activation_formula", &question(&given)).unwrap_err();
        let given = json!({"seq_len": 1, "batch": 1, "hidden": 10, "heads": 3});
        assert_eq!(refused(given).field(), "heads");
        let given = json!({"seq_len": 1, "batch": 1, "hidden": 12, "heads": 3, "tensor_parallel": 2});
        assert_eq!(refused(given).field(), "tensor_parallel");
    }
}
