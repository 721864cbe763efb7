//! What a configuration says of attention and its cache, as the numbers that the cache is made of.
//!
//! Question: the text of a `config.json`. Answer: layers and heads, ranks, windows, the longest sequence, parameters, and the
//! bytes that a token leaves at 16 bits. What the file does not say is left out of the answer.
//! Assumption: those of `vramlab_modelfile`: nothing is guessed; parameters are counted for known layouts only.
//! Source: the file itself; sizes as in the model `kv_cache`. Errors: a text that is no configuration, or one whose layers are
//! not known.

use super::shown;
use crate::fields::answer;
use crate::kv_cache::{architecture, config};
use crate::registry::Model;
use vramlab_modelfile::kv::Cache;
use vramlab_modelfile::{Attention, Dtype, Field, parts};
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text, Value};

pub struct KvConfig;

impl Model for KvConfig {
    const ID: &'static str = "kv_config";
    const TITLE: Text = Text::new("从 config.json 读注意力", "Attention as a config.json has it");
    const ASSUMES: Text = Text::new(
        "文件没写的不猜；只有认得的结构才数参数。",
        "What the file does not say is not guessed; parameters are counted for known layouts only.",
    );
    const SOURCE: &'static str = "the configuration itself; sizes as in the model kv_cache";
    const EXAMPLE: &'static str = r#"{"config": "{\"model_type\": \"llama\", \"num_hidden_layers\": 32, \"num_attention_heads\": 32, \"num_key_value_heads\": 8, \"hidden_size\": 4096, \"intermediate_size\": 14336, \"vocab_size\": 128256, \"tie_word_embeddings\": false, \"max_position_embeddings\": 8192}"}"#;

    fn question() -> Vec<FieldSpec> {
        let mut config = config();
        config.is_optional = false;
        vec![config]
    }

    fn answer() -> Vec<FieldSpec> {
        let most = 1 << 53;
        let count = |key, unit, zh, en| FieldSpec::int(key, unit, 0, most, Text::new(zh, en)).optional();
        vec![
            shown("model_type", "模型的种类", "The kind of model"),
            count("layers", "1", "层数", "Layers"),
            count("attention_layers", "1", "其中做注意力的", "Layers that attend"),
            count("q_heads", "1", "query 头数", "Query heads"),
            count("kv_heads", "1", "KV 头数", "KV heads"),
            count("head_dim", "1", "每头的维度", "Size of a head"),
            count("kv_rank", "1", "MLA 的秩", "Rank of MLA"),
            count("rope_dim", "1", "MLA 带位置的维度", "Size of MLA's part with position"),
            count("window", "token", "滑动窗口", "Sliding window"),
            count("window_layers", "1", "只看窗口的层数", "Layers that see the window only"),
            count("context", "token", "最长的序列", "Longest sequence"),
            count("n_params", "1", "参数量", "Parameters"),
            count("active_params", "1", "每个 token 用到的参数", "Parameters that a token uses"),
            FieldSpec::int("bytes_per_token", "B", 0, 1 << 62, Text::new("一个 token，16 位", "A token, at 16 bits")),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let arch = architecture(args)?;
        let blame = |problem: vramlab_modelfile::Problem| FieldError::conflict("config", problem.to_string());
        let cache = Cache::of(&arch).map_err(blame)?;
        let get = |field| arch.get(field).map_or(Value::Null, Value::from);
        let count = |is: &dyn Fn(Attention) -> bool| arch.layers.iter().filter(|layer| is(layer.attention)).count();
        let windowed = count(&|attention| matches!(attention, Attention::Sliding { .. }));
        let window = cache.groups.iter().filter_map(|group| group.window).max();
        let list = parts::parts(&arch).ok();
        let whole = |n: u128| i64::try_from(n).ok().filter(|n| *n <= 1 << 53).map_or(Value::Null, Value::from);
        let bytes = i64::try_from(cache.bytes_per_token(Dtype::BF16)).ok().filter(|bytes| *bytes <= 1 << 62);
        let bytes = bytes.ok_or_else(|| FieldError::conflict("config", "a token leaves more than 2^62 bytes"))?;
        Ok(answer([
            ("model_type", arch.model_type.as_str().into()),
            ("layers", arch.layers.len().into()),
            ("attention_layers", count(&|attention| attention != Attention::Recurrent).into()),
            ("q_heads", get(Field::Heads)),
            ("kv_heads", get(Field::KvHeads)),
            ("head_dim", get(Field::HeadDim)),
            ("kv_rank", get(Field::KvRank)),
            ("rope_dim", get(Field::RopeDim)),
            ("window", window.map_or(Value::Null, Value::from)),
            ("window_layers", windowed.into()),
            ("context", get(Field::Positions)),
            ("n_params", list.as_deref().map_or(Value::Null, |list| whole(parts::n_params(list)))),
            ("active_params", list.as_deref().map_or(Value::Null, |list| whole(parts::n_active(list, &arch)))),
            ("bytes_per_token", bytes.into()),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use serde_json::json;

    fn ask(name: &str) -> vramlab_units::Map {
        let path = format!("{}/../../tests/data/configs/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        crate::eval("kv_config", &question(&json!({"config": text}))).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The table of brief 16, each number from the model's own file: layers, KV heads, bytes of a token in bf16.
    #[test]
    fn the_table_of_the_brief_from_the_files() {
        for (name, layers, kv_heads, bytes) in [
            ("llama-2-7b", 32, 32, 524_288),
            ("llama-2-13b", 40, 40, 819_200),
            ("llama-2-70b", 80, 8, 327_680),
            ("llama-3-70b", 80, 8, 327_680),
            ("qwen2.5-72b", 80, 8, 327_680),
            ("llama-3-8b", 32, 8, 131_072),
            ("mistral-7b-v0.1", 32, 8, 131_072),
            ("llama-3.1-405b", 126, 8, 516_096),
            ("qwen2.5-7b", 28, 4, 57_344),
            ("qwen3-8b", 36, 8, 147_456),
            ("qwen3-32b", 64, 8, 262_144),
            ("qwen3-30b-a3b", 48, 4, 98_304),
            ("qwen3-235b-a22b", 94, 4, 192_512),
        ] {
            let got = ask(name);
            assert_eq!((&got["layers"], &got["kv_heads"]), (&json!(layers), &json!(kv_heads)), "{name}");
            assert_eq!((&got["head_dim"], &got["bytes_per_token"]), (&json!(128), &json!(bytes)), "{name}");
        }
        for (name, layers, bytes) in [("deepseek-v2", 60, 69_120), ("deepseek-v3", 61, 70_272)] {
            let got = ask(name);
            assert_eq!((&got["kv_rank"], &got["rope_dim"]), (&json!(512), &json!(64)), "{name}");
            assert_eq!((&got["layers"], &got["bytes_per_token"]), (&json!(layers), &json!(bytes)), "{name}");
        }
    }

    /// Mistral 7B v0.1 looks back 4096 tokens in every layer; Gemma 3 4B 1024 in 29 of 34.
    #[test]
    fn windows_are_told() {
        let of = |name| {
            let got = ask(name);
            (got["window"].clone(), got["window_layers"].clone())
        };
        assert_eq!(of("mistral-7b-v0.1"), (json!(4096), json!(32)));
        assert_eq!(of("gemma-3-4b"), (json!(1024), json!(29)));
        assert_eq!(of("llama-3-8b"), (json!(null), json!(0)));
    }

    #[test]
    fn what_is_no_configuration_is_refused() {
        for text in ["", "{", "<html>", "{\"model_type\": \"mamba_of_mine\", \"num_hidden_layers\": 3}"] {
            let wrong = crate::eval("kv_config", &question(&json!({"config": text}))).unwrap_err();
            assert_eq!(wrong.field(), "config", "{text}");
        }
    }
}
