//! JSON by its keys. A whole small file is parsed; of a large or cut one the keys are looked for in the text.

use crate::kind::{shown, size};
use crate::{Head, Kind, Sniffed};
use serde_json::{Map, Value};

pub fn sniff(head: Head<'_>, text: &str) -> Option<Sniffed> {
    let start = text.trim_start();
    if !start.starts_with('{') && !start.starts_with('[') {
        return None;
    }
    if head.is_whole() && head.bytes.len() <= crate::text::WINDOW {
        return Some(match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(map)) => of_object(&map),
            Ok(_) => Sniffed::plain(Kind::Json),
            Err(error) => broken(text, &error),
        });
    }
    Some(Sniffed::plain(by_words(text)))
}

fn broken(text: &str, error: &serde_json::Error) -> Sniffed {
    let (line, column) = (error.line(), error.column());
    let zh = format!("JSON 在第 {line} 行第 {column} 列断了");
    Sniffed::plain(by_words(text)).warn(zh, format!("the JSON breaks at line {line}, column {column}"))
}

/// Keys and what they mean, most telling first.
const WORDS: &[(&str, Kind)] = &[
    ("\"vramlab_progress\"", Kind::Progress),
    ("\"vramlab_profile\"", Kind::Profile),
    ("\"vramlab-project/", Kind::Project),
    ("\"traceEvents\"", Kind::TorchTrace),
    ("\"weight_map\"", Kind::SafetensorsIndex),
    ("\"peft_type\"", Kind::Adapter),
    ("\"model_type\"", Kind::HfConfig),
    ("\"num_hidden_layers\"", Kind::HfConfig),
];

fn by_words(text: &str) -> Kind {
    WORDS.iter().find(|(word, _)| text.contains(word)).map_or(Kind::Json, |(_, kind)| *kind)
}

fn of_object(map: &Map<String, Value>) -> Sniffed {
    let has = |key: &str| map.contains_key(key);
    if has("vramlab_progress") {
        let n = map.get("chapters").and_then(Value::as_object).map_or(0, Map::len);
        return Sniffed::plain(Kind::Progress).fact("章节数", "chapters", n.to_string());
    }
    if map.get("schema").and_then(Value::as_str).is_some_and(|schema| schema.starts_with("vramlab-project/")) {
        let name = map.get("name").and_then(Value::as_str).map(shown).unwrap_or_default();
        return Sniffed::plain(Kind::Project).fact("名称", "name", name);
    }
    if has("vramlab_profile") {
        return profile(map);
    }
    if map.get("entries").is_some_and(Value::is_array) && has("next_n") {
        let n = map.get("entries").and_then(Value::as_array).map_or(0, Vec::len);
        return Sniffed::plain(Kind::Notebook).fact("运行数", "runs", n.to_string());
    }
    if has("traceEvents") {
        let n = map.get("traceEvents").and_then(Value::as_array).map_or(0, Vec::len);
        return Sniffed::plain(Kind::TorchTrace).fact("事件数", "events", n.to_string());
    }
    if let Some(files) = map.get("weight_map").and_then(Value::as_object) {
        return index(map, files);
    }
    if has("peft_type") {
        return adapter(map);
    }
    if is_config(map) { config(map) } else { Sniffed::plain(Kind::Json) }
}

fn profile(map: &Map<String, Value>) -> Sniffed {
    let words = map.get("command").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let command = shown(&words.collect::<Vec<_>>().join(" "));
    Sniffed::plain(Kind::Profile).fact("命令", "command", command)
}

fn index(map: &Map<String, Value>, files: &Map<String, Value>) -> Sniffed {
    let sniffed = Sniffed::plain(Kind::SafetensorsIndex).fact("张量数", "tensors", files.len().to_string());
    match map.get("metadata").and_then(|metadata| metadata.get("total_size")).and_then(Value::as_u64) {
        Some(bytes) => sniffed.fact("总大小", "total size", size(bytes)),
        None => sniffed,
    }
}

fn adapter(map: &Map<String, Value>) -> Sniffed {
    let text = |key: &str| map.get(key).and_then(Value::as_str).map(shown).unwrap_or_default();
    let sniffed = Sniffed::plain(Kind::Adapter).fact("方法", "method", text("peft_type"));
    let sniffed = match map.get("r").and_then(Value::as_u64) {
        Some(rank) => sniffed.fact("秩 r", "rank r", rank.to_string()),
        None => sniffed,
    };
    match text("base_model_name_or_path") {
        base if base.is_empty() => sniffed,
        base => sniffed.fact("基础模型", "base model", base),
    }
}

/// `model_type` alone also stands in files of tokenizers and image processors; a config has layers or an architecture.
fn is_config(map: &Map<String, Value>) -> bool {
    let has = |key: &str| map.contains_key(key);
    let layers =
        ["num_hidden_layers", "n_layer", "num_layers", "text_config", "llm_config", "hidden_size", "n_embd", "d_model"];
    (has("model_type") || has("architectures")) && (layers.iter().any(|key| has(key)) || has("architectures"))
        || has("num_hidden_layers") && has("num_attention_heads")
}

fn config(map: &Map<String, Value>) -> Sniffed {
    let inner = ["text_config", "llm_config", "language_config"].iter().find_map(|key| map.get(*key)?.as_object());
    let number = |keys: &[&str]| {
        let find = |map: &Map<String, Value>| keys.iter().find_map(|key| map.get(*key)?.as_u64());
        find(map).or_else(|| inner.and_then(find))
    };
    let mut sniffed = Sniffed::plain(Kind::HfConfig);
    if let Some(model) = map.get("model_type").and_then(Value::as_str) {
        sniffed = sniffed.fact("模型", "model", shown(model));
    }
    for (zh, en, keys) in [
        ("层数", "layers", &["num_hidden_layers", "n_layer", "num_layers"][..]),
        ("隐藏宽度", "hidden size", &["hidden_size", "n_embd", "d_model"]),
        ("注意力头", "attention heads", &["num_attention_heads", "n_head"]),
        ("KV 头", "KV heads", &["num_key_value_heads", "n_head_kv"]),
        ("词表", "vocabulary", &["vocab_size"]),
    ] {
        if let Some(value) = number(keys) {
            sniffed = sniffed.fact(zh, en, value.to_string());
        }
    }
    let dtype = ["torch_dtype", "dtype"].iter().find_map(|key| map.get(*key)?.as_str());
    match dtype {
        Some(dtype) => sniffed.fact("dtype", "dtype", shown(dtype)),
        None => sniffed,
    }
}
