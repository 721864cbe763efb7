//! Which metadata of a GGUF file correspond to which key of a configuration.
//! Source: `docs/gguf.md` of ggml ("Standardized key-value pairs"), and llama.cpp's `llama-arch.cpp` for later additions.

use super::reader::Found;
use crate::config::Lookup;
use crate::json::{Node, Value};

/// The part of a key after the architecture's name, and the key of a configuration.
const KEYS: &[(&str, &str)] = &[
    ("block_count", "num_hidden_layers"),
    ("embedding_length", "hidden_size"),
    ("attention.head_count", "num_attention_heads"),
    ("attention.head_count_kv", "num_key_value_heads"),
    ("attention.key_length", "head_dim"),
    ("attention.sliding_window", "sliding_window"),
    ("feed_forward_length", "intermediate_size"),
    ("vocab_size", "vocab_size"),
    ("context_length", "max_position_embeddings"),
    ("expert_count", "num_experts"),
    ("expert_used_count", "num_experts_per_tok"),
    ("expert_feed_forward_length", "moe_intermediate_size"),
    ("expert_shared_feed_forward_length", "shared_expert_intermediate_size"),
    ("expert_shared_count", "n_shared_experts"),
    ("leading_dense_block_count", "first_k_dense_replace"),
    ("attention.q_lora_rank", "q_lora_rank"),
    ("attention.kv_lora_rank", "kv_lora_rank"),
    ("rope.dimension_count", "rope.dimension_count"),
];

/// Names of architectures and the `model_type` that they stand for.
const TYPES: &[(&str, &str)] = &[
    ("qwen2moe", "qwen2_moe"),
    ("qwen3moe", "qwen3_moe"),
    ("gemma3", "gemma3_text"),
    ("deepseek2", "deepseek_v2"),
    ("gptneox", "gpt_neox"),
    ("command-r", "cohere"),
];

/// Fills `lookup`; returns the type as configurations call it.
pub fn fill(lookup: &mut Lookup, name: &str, metadata: &[(String, Found)]) -> String {
    let mut model_type = TYPES.iter().find(|(known, _)| *known == name).map_or(name, |(_, own)| *own);
    let number = |key: &str| {
        metadata.iter().find(|(known, _)| *known == format!("{name}.{key}")).and_then(|(_, found)| match found {
            Found::Number(value) => Some(*value),
            _ => None,
        })
    };
    let is_latent = number("attention.kv_lora_rank").is_some();
    if model_type == "llama" && number("expert_count").is_some_and(|n| n > 0.0) {
        model_type = "mixtral";
    }
    for (tail, key) in KEYS {
        let full = format!("{name}.{tail}");
        let Some((_, found)) = metadata.iter().find(|(known, _)| *known == full) else { continue };
        // Latent attention states the sizes of its compressed keys there.
        if is_latent && ["head_dim", "num_key_value_heads"].contains(key) {
            continue;
        }
        lookup.header(key, &full, node(found));
    }
    if is_latent {
        latent(lookup, name, &number);
    } else if let (Some(k), Some(v)) = (number("attention.key_length"), number("attention.value_length"))
        && (k - v).abs() > 0.5
    {
        lookup.header("v_head_dim", &format!("{name}.attention.value_length"), node(&Found::Number(v)));
    }
    if let Some((key, Found::Items(n))) = metadata.iter().find(|(key, _)| key == "tokenizer.ggml.tokens") {
        lookup.header("vocab_size", key, node(&Found::Number(*n as f64)));
    }
    model_type.to_owned()
}

/// Latent attention: `key_length` is rank + position (or a head's whole size in older files), positions take `rope`.
fn latent(lookup: &mut Lookup, name: &str, number: &impl Fn(&str) -> Option<f64>) {
    let mut put = |key: &str, tail: &str, value: Option<f64>| {
        if let Some(value) = value.filter(|value| *value > 0.0) {
            lookup.header(key, &format!("{name}.{tail}"), node(&Found::Number(value)));
        }
    };
    let rope = number("rope.dimension_count");
    put("qk_rope_head_dim", "rope.dimension_count", rope);
    let whole = number("attention.key_length_mla").map(|k| ("attention.key_length_mla", k));
    let whole = whole.or_else(|| {
        let k = number("attention.key_length")?;
        (Some(k) != number("attention.kv_lora_rank").zip(rope).map(|(a, b)| a + b))
            .then_some(("attention.key_length", k))
    });
    if let (Some((tail, k)), Some(rope)) = (whole, rope) {
        put("qk_nope_head_dim", tail, Some(k - rope));
    }
    put("v_head_dim", "attention.value_length_mla", number("attention.value_length_mla"));
}

fn node(found: &Found) -> Node {
    let of = |value: f64| {
        Value::Number(if value.fract() == 0.0 && value.abs() < 9e15 {
            format!("{value:.0}")
        } else {
            value.to_string()
        })
    };
    let value = match found {
        Found::Number(value) => of(*value),
        Found::Bool(flag) => Value::Bool(*flag),
        Found::Text(text) => Value::Text(text.clone()),
        Found::Numbers(values) => Value::List(values.iter().map(|value| Node { at: 0, value: of(*value) }).collect()),
        Found::Items(n) => Value::Number(n.to_string()),
    };
    Node { at: 0, value }
}
