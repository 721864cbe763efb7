//! What tokens leave in the cache of keys and values.
//!
//! Question: a configuration, or the numbers of it (layers, KV heads, head size, ranks, windows); number format, tokens,
//! requests, cards. Answer: bytes a token, a request, all requests, and on one card.
//! Assumption: every layer keeps what it needs and nothing twice; blocks of a paged cache round up beyond this; a recurrent
//! layer's state is not counted.
//! Source: 2 · layers · KV heads · head size · bytes for attention with heads (PagedAttention, section 3); rank + position
//! for latent attention (DeepSeek-V2, section 2.1).
//! Errors: neither numbers nor a configuration that has them; sums beyond 2⁶².

use crate::fields::{answer, choice};
use crate::registry::Model;
use vramlab_modelfile::kv::{Cache, Group};
use vramlab_modelfile::{Dtype, Head, Problem, read};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

/// Longest configuration that is taken as text.
pub(crate) const MAX_CONFIG: usize = 65_536;
const MOST_BYTES: i64 = 1 << 62;
const FORMATS: &[&str] = &["f32", "bf16", "f16", "f8_e4m3", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl"];

/// A configuration as a field of a question.
pub(crate) fn config() -> FieldSpec {
    let doc =
        Text::new("config.json 的全文；给了它就不必给各个数", "The text of a config.json, instead of the numbers");
    FieldSpec::new("config", "", FieldKind::Text { max_len: MAX_CONFIG }, doc).optional()
}

/// The architecture in that field.
pub(crate) fn architecture(args: &Args) -> Result<vramlab_modelfile::Architecture, FieldError> {
    let blame = |problem: &Problem| FieldError::conflict("config", problem.to_string());
    read(Head::whole(args.text("config").as_bytes()), &[]).map(|model| model.arch).map_err(|problem| blame(&problem))
}

pub struct KvCache;

impl Model for KvCache {
    const ID: &'static str = "kv_cache";
    const TITLE: Text = Text::new("KV 缓存有多大", "Size of the KV cache");
    const ASSUMES: Text = Text::new(
        "每层只存自己要的；分页缓存按块取整，会再多一点；循环层的状态不算。",
        "Each layer keeps what it needs and nothing twice; pages round up beyond this; states of recurrent layers are left out.",
    );
    const SOURCE: &'static str = "PagedAttention (Kwon et al. 2023), section 3; DeepSeek-V2 report, section 2.1";
    const EXAMPLE: &'static str = r#"{"layers": 32, "kv_heads": 8, "head_dim": 128, "tokens": 8192, "requests": 16}"#;

    fn question() -> Vec<FieldSpec> {
        let count = |key, unit, min, max, zh, en| FieldSpec::int(key, unit, min, max, Text::new(zh, en));
        vec![
            config(),
            count("layers", "1", 1, 4_096, "存 K 和 V 的层数", "Layers that keep keys and values").optional(),
            count("kv_heads", "1", 1, 65_536, "KV 头数", "KV heads").optional(),
            count("head_dim", "1", 1, 65_536, "每头的维度", "Size of a head").optional(),
            count("v_head_dim", "1", 1, 65_536, "value 的维度，与 key 不同时才给", "Size of a value, where it differs")
                .optional(),
            count("kv_rank", "1", 1, 1 << 20, "MLA：K 和 V 的秩", "MLA: rank of keys and values").optional(),
            count("rope_dim", "1", 1, 65_536, "MLA：带位置的维度", "MLA: size of the part with position").optional(),
            count("window", "token", 1, 1 << 30, "滑动窗口", "Sliding window").optional(),
            count("window_layers", "1", 0, 4_096, "其中多少层只看窗口", "How many of the layers see the window only")
                .default_value(0),
            choice("kv_dtype", "", FORMATS, Text::new("缓存的数值格式", "Number format of the cache"))
                .default_value("bf16"),
            count("tokens", "token", 1, 1 << 30, "每个请求的 token 数", "Tokens of a request").default_value(1),
            count("requests", "1", 1, 1 << 24, "请求数", "Requests").default_value(1),
            count("cards", "1", 1, 65_536, "张量并行的卡数", "Cards of tensor parallelism").default_value(1),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let bytes = |key, zh, en| FieldSpec::int(key, "B", 0, MOST_BYTES, Text::new(zh, en));
        vec![
            bytes("bytes_per_token", "窗口未满时一个 token", "A token while no window is full"),
            bytes("growth_bytes", "窗口都满后再来一个 token", "One more token once every window is full"),
            bytes("bytes_per_request", "一个请求", "A request"),
            bytes("bytes", "全部请求", "All requests"),
            bytes("bytes_per_card", "其中每张卡上", "Of these on each card"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let cache = cache(args)?;
        let dtype = Dtype::from_name(args.text("kv_dtype")).unwrap_or(Dtype::BF16);
        let request = cache.bytes(args.uint("tokens"), dtype);
        let all = request.saturating_mul(args.uint("requests").into());
        let (part, whole) = cache.share(args.uint("cards"));
        let card = all.saturating_mul(part.into()).div_ceil(whole.into());
        let sum = |value: u128| -> Result<Value, FieldError> {
            let bytes = i64::try_from(value).ok().filter(|bytes| *bytes <= MOST_BYTES);
            bytes.map(Value::from).ok_or_else(|| FieldError::conflict("tokens", "the cache exceeds 2^62 bytes"))
        };
        Ok(answer([
            ("bytes_per_token", sum(cache.bytes_per_token(dtype))?),
            ("growth_bytes", sum(cache.growth(dtype))?),
            ("bytes_per_request", sum(request)?),
            ("bytes", sum(all)?),
            ("bytes_per_card", sum(card)?),
        ]))
    }
}

fn cache(args: &Args) -> Result<Cache, FieldError> {
    if args.has("config") {
        let blame = |problem: Problem| FieldError::conflict("config", problem.to_string());
        return Cache::of(&architecture(args)?).map_err(blame);
    }
    let need = |key: &str, legal: &str| -> Result<u64, FieldError> {
        let missing = || FieldError::Missing { field: key.to_owned(), legal: legal.to_owned() };
        args.has(key).then(|| args.uint(key)).ok_or_else(missing)
    };
    let layers = need("layers", "an integer from 1 to 4096, unless config is given")?;
    let is_latent = args.has("kv_rank");
    let (values, kv_heads) = if is_latent {
        (args.uint("kv_rank") + need("rope_dim", "an integer from 1 to 65536 beside kv_rank")?, 1)
    } else {
        let heads = need("kv_heads", "an integer from 1 to 65536, unless kv_rank or config is given")?;
        let size = need("head_dim", "an integer from 1 to 65536, unless kv_rank or config is given")?;
        let v_size = if args.has("v_head_dim") { args.uint("v_head_dim") } else { size };
        (heads * (size + v_size), heads)
    };
    let windowed = args.uint("window_layers");
    if windowed > layers {
        return Err(FieldError::conflict(
            "window_layers",
            format!("{windowed} of {layers} layers cannot have a window"),
        ));
    }
    if windowed > 0 && !args.has("window") {
        let legal = "an integer from 1 to 1073741824, as window_layers is not 0".to_owned();
        return Err(FieldError::Missing { field: "window".to_owned(), legal });
    }
    let window = (windowed > 0).then(|| args.uint("window"));
    let group = |n_layers, window| Group { n_layers, values, window };
    let groups = [group(layers - windowed, None), group(windowed, window)];
    let groups = groups.into_iter().filter(|group| group.n_layers > 0).collect();
    Ok(Cache { groups, n_recurrent: 0, is_latent, kv_heads })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use serde_json::json;

    #[track_caller]
    fn ask(given: &Value) -> Map {
        crate::eval("kv_cache", &question(given)).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Published figures: Llama 2 and 3 a token, DeepSeek V3's latent cache in q8_0 at 32,768 tokens (1166.62 MiB).
    #[test]
    fn published_caches() {
        let token = |layers: u64, kv_heads: u64| ask(&json!({"layers": layers, "kv_heads": kv_heads, "head_dim": 128}));
        for ((layers, heads), bytes) in
            [((32, 32), 524_288), ((40, 40), 819_200), ((32, 8), 131_072), ((80, 8), 327_680), ((126, 8), 516_096)]
        {
            assert_eq!(token(layers, heads)["bytes_per_token"], bytes);
        }
        let latent = ask(
            &json!({"layers": 61, "kv_rank": 512, "rope_dim": 64, "kv_dtype": "q8_0", "tokens": 32768, "cards": 8}),
        );
        assert_eq!(format!("{:.2}", latent["bytes"].as_f64().unwrap() / 1_048_576.0), "1166.62");
        assert_eq!(latent["bytes_per_card"], latent["bytes"], "cards do not share a latent vector");
    }

    /// Gemma 3 4B: 29 of 34 layers keep 1024 tokens.
    #[test]
    fn windows_and_cards() {
        let got = ask(
            &json!({"layers": 34, "kv_heads": 4, "head_dim": 256, "window": 1024, "window_layers": 29, "tokens": 32768, "cards": 2}),
        );
        assert_eq!(got["bytes"], 4096 * (5 * 32_768 + 29 * 1024));
        assert_eq!(got["growth_bytes"], 5 * 4096);
        assert_eq!(got["bytes_per_card"], 2048 * (5 * 32_768 + 29 * 1024));
    }

    #[test]
    fn a_configuration_takes_the_place_of_the_numbers() {
        let config = r#"{"model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
            "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256}"#;
        assert_eq!(ask(&json!({"config": config}))["bytes_per_token"], 131_072);
        let error = crate::eval(
            "kv_cache",
            &question(&json!({"config": "{\"model_type\": \"nobody\", \"num_hidden_layers\": 2}"})),
        );
        assert!(error.unwrap_err().to_string().contains("layer_types=full_attention"));
        assert_eq!(crate::eval("kv_cache", &Map::new()).unwrap_err().field(), "layers");
    }
}
