//! Measured configurations as plans.

use serde_json::Value;
use vramlab_ledger::{Attention, Extras, Net, Norm, Optimizer, Plan, Precision, Update};

/// A record's configuration. `is_apart`: its attention is a function of its own.
pub fn plan_of(record: &Value, is_apart: bool) -> Plan {
    let int = |key: &str, default: u64| record[key].as_u64().unwrap_or(default);
    let text = |key: &str| record[key].as_str().unwrap_or_default();
    let is_true = |key: &str| record[key].as_bool() == Some(true);
    let heads = int("a", 1);
    Plan {
        net: match text("net") {
            "llama" => Net::Llama,
            "moe" => Net::Moe,
            "resnet50" => Net::Resnet50,
            _ => Net::Gpt,
        },
        layers: int("L", 1),
        hidden: int("h", 1),
        heads,
        kv_heads: int("g", heads),
        ffn: int("f", 1),
        vocab: int("V", 1),
        seq_len: int("T", 1),
        batch: int("b", 1),
        attention: if text("attn") == "math" { Attention::Math } else { Attention::Flash },
        is_attention_apart: is_apart,
        head_size: int("hd", 0),
        extras: Extras {
            has_qkv_bias: is_true("qkvb"),
            has_head_norms: is_true("qkn"),
            has_post_norms: is_true("post"),
            is_scaled: is_true("scaled"),
            is_capped: record["cap"].as_f64().unwrap_or(0.0) > 0.0,
        },
        norm: if text("norm") == "fused" { Norm::Fused } else { Norm::Plain },
        precision: match text("dtype") {
            "amp" => Precision::Amp,
            "bf16" => Precision::Bf16,
            _ => Precision::Fp32,
        },
        optimizer: match text("opt") {
            "sgd" => Optimizer::Sgd,
            "sgdm" => Optimizer::Sgdm,
            "adamw8" => Optimizer::AdamW8bit,
            _ => Optimizer::AdamW,
        },
        update: match (record["foreach"].as_bool(), record["fused"].as_bool()) {
            (_, Some(true)) => Update::Fused,
            (Some(false), _) => Update::Loop,
            _ => Update::Foreach,
        },
        checkpoint_every: if is_true("ckpt") { int("every", 1) } else { 0 },
        is_tied: is_true("tied"),
        has_dropout: record["drop"].as_f64().unwrap_or(0.0) > 0.0,
        lora_rank: int("lora", 0),
        is_nf4: text("base") == "nf4",
        experts: int("E", 8),
        top_k: int("k", 2),
        capacity_factor: record["c"].as_f64().unwrap_or(1.25),
        accumulation: int("accum", 1),
        sets_grads_to_none: text("zero") != "fill",
        has_masters: is_true("master"),
        is_channels_last: text("layout") == "channels_last",
    }
}
