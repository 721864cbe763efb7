//! The kind of each layer: what it keeps of a token, and whether it has experts.

use super::lookup::{Entry, Lookup};
use super::table::{self, Pattern, Spec};
use crate::arch::{Architecture, Attention, Layer};
use crate::field::Field;
use crate::json::{Node, Value};
use crate::problem::Problem;

pub fn find(arch: &mut Architecture, lookup: &Lookup, spec: Option<&Spec>) -> Result<(), Problem> {
    let Some(n) = arch.get(Field::Layers) else { return Ok(()) };
    let attention = match lookup.find("layer_types") {
        Some(entry) => listed(arch, entry, n)?,
        None => match spec {
            Some(spec) => Some(pattern(arch, lookup, spec.pattern, n)),
            None => unlisted(arch, lookup, n),
        },
    };
    let Some(attention) = attention else {
        arch.family = None;
        return Ok(());
    };
    let experts = experts(arch, lookup, spec, n);
    arch.layers =
        attention.into_iter().zip(experts).map(|(attention, has_experts)| Layer { attention, has_experts }).collect();
    if arch.layers.iter().any(|layer| layer.attention == Attention::Recurrent) {
        arch.lacks(
            "recurrent_state",
            "循环层用固定大小的状态代替 KV 缓存，状态的字节数没有算进来",
            "recurrent layers keep a state of fixed size instead of a cache; the bytes of that state are not counted",
        );
    }
    Ok(())
}

/// The list that newer configurations carry; one word stands for all layers.
fn listed(arch: &mut Architecture, entry: &Entry, n: u64) -> Result<Option<Vec<Attention>>, Problem> {
    let words: Vec<&Node> = match &entry.node.value {
        Value::Text(_) => vec![&entry.node; n as usize],
        Value::List(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    if words.len() as u64 != n {
        let key = &entry.key;
        return Err(entry.at(Problem::new(
            format!("{key} 列出 {} 层，层数却是 {n}", words.len()),
            format!("{key} lists {} layers, and the model has {n}", words.len()),
        )
        .field(key.clone())));
    }
    let mut out = Vec::with_capacity(words.len());
    for word in words {
        let kind = match word.text().unwrap_or_default() {
            "full_attention" | "attention" | "global" => Attention::Full,
            "sliding_attention" | "chunked_attention" | "local" => match arch.get(Field::Window) {
                Some(window) => Attention::Sliding { window },
                None => {
                    let problem = crate::arch::missing(Field::Window);
                    arch.unknown.push(crate::arch::Unknown { what: Field::Window.id().to_owned(), why: problem.text });
                    return Ok(None);
                }
            },
            "linear_attention" | "mamba" | "mamba2" | "recurrent" | "conv" => Attention::Recurrent,
            _ => {
                let seen = word.shown();
                arch.lacks(
                    "layer_types",
                    format!("不认识的层 {seen}：它存什么不知道"),
                    format!("{seen} is no known kind of layer; what it keeps is not known"),
                );
                return Ok(None);
            }
        };
        out.push(kind);
    }
    Ok(Some(out))
}

fn pattern(arch: &Architecture, lookup: &Lookup, pattern: Pattern, n: u64) -> Vec<Attention> {
    let window = arch.get(Field::Window);
    let sliding = |is_sliding: bool| match window {
        Some(window) if is_sliding => Attention::Sliding { window },
        _ => Attention::Full,
    };
    let uses_window = lookup.flag("use_sliding_window") == Some(true);
    let from = arch.get(Field::WindowFrom).unwrap_or(0);
    let every = arch.get(Field::WindowEvery).unwrap_or(1);
    (0..n)
        .map(|idx| match pattern {
            Pattern::Dense => Attention::Full,
            Pattern::Window => sliding(true),
            Pattern::WindowFrom => sliding(uses_window && idx >= from),
            Pattern::Alternating => sliding(idx % 2 == 0),
            Pattern::OneInSome => sliding((idx + 1) % every != 0),
        })
        .collect()
}

/// A type that is not counted: only what the file or the table says about its layers, never a dense formula by default.
fn unlisted(arch: &mut Architecture, lookup: &Lookup, n: u64) -> Option<Vec<Attention>> {
    if let Some(every) = arch.get(Field::FullEvery) {
        let kind = |idx: u64| if (idx + 1).is_multiple_of(every) { Attention::Full } else { Attention::Recurrent };
        return Some((0..n).map(kind).collect());
    }
    let is_plain = arch.get(Field::Window).is_none() && !super::is_latent(arch);
    if table::has_dense_cache(&arch.model_type) && is_plain {
        return Some(vec![Attention::Full; n as usize]);
    }
    let mixed =
        ["cross_attention_layers", "layers_block_type", "block_types", "attn_layer_indices", "hybrid_override_pattern"]
            .iter()
            .find_map(|key| lookup.find(key));
    match mixed {
        Some(entry) => arch.lacks(
            "layer_types",
            format!("层不是同一种（{}）：每层存什么要逐层列出", entry.key),
            format!("its layers differ ({}); what each keeps has to be listed", entry.key),
        ),
        None => arch.lacks(
            "layer_types",
            "不知道每一层存什么；若都存全部 K 和 V：--set layer_types=full_attention",
            "what each layer keeps is not known; if all keep every key and value: --set layer_types=full_attention",
        ),
    }
    None
}

fn experts(arch: &Architecture, lookup: &Lookup, spec: Option<&Spec>, n: u64) -> Vec<bool> {
    let may = spec.is_none_or(|spec| spec.has_experts) && arch.get(Field::Experts).is_some();
    let dense: Vec<u64> = lookup
        .find("mlp_only_layers")
        .and_then(|entry| entry.node.list())
        .map(|items| items.iter().filter_map(Node::uint).collect())
        .unwrap_or_default();
    let (first, every) = (arch.get(Field::FirstDense).unwrap_or(0), arch.get(Field::MoeEvery).unwrap_or(1));
    // DeepSeek counts its period from the first layer, Qwen from the end of each period.
    let is_from_start = spec.is_some_and(|spec| spec.family == crate::arch::Family::DeepSeek);
    let is_due = |idx: u64| if is_from_start { idx.is_multiple_of(every) } else { (idx + 1).is_multiple_of(every) };
    (0..n).map(|idx| may && idx >= first && is_due(idx) && !dense.contains(&idx)).collect()
}
