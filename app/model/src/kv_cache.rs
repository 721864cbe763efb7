//! What tokens leave in the cache of keys and values.
//!
//! Question: a configuration, or the numbers of it (layers, KV heads, the same in all layers or listed, head size, ranks,
//! windows); number format by name or by its bytes with scales for groups of values; tokens, requests, cards.
//! Answer: bytes a token, a request, all requests, on one card, and on all cards with what they hold twice.
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
            by_layer(),
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
            FieldSpec::num(
                "bytes_per_value",
                "B",
                0.125,
                8.0,
                Text::new("一个值的字节数，给了就不看格式的名字", "Bytes of a value, in the place of a format's name"),
            )
            .optional(),
            count("kv_group", "1", 1, 65_536, "一头里几个值共用一份缩放", "Values of a head that share scales")
                .optional(),
            count("kv_meta_bytes", "B", 0, 64, "这份缩放和零点的字节数", "Bytes of these scales and zero points")
                .default_value(0),
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
            bytes("bytes_all_cards", "所有卡上合计，重复存的也算", "On all cards, with what they hold twice"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let caches = caches(args)?;
        let dtype = dtype(args)?;
        let (tokens, cards) = (args.uint("tokens"), args.uint("cards"));
        let sum_of = |of: &dyn Fn(&Cache) -> u128| caches.iter().map(of).fold(0, u128::saturating_add);
        let requests = u128::from(args.uint("requests"));
        let request = sum_of(&|cache| cache.bytes(tokens, dtype));
        let card = sum_of(&|cache| {
            let (part, whole) = cache.share(cards);
            let all = cache.bytes(tokens, dtype).saturating_mul(requests);
            all.saturating_mul(part.into()).div_ceil(whole.into())
        });
        let sum = |value: u128| -> Result<Value, FieldError> {
            let bytes = i64::try_from(value).ok().filter(|bytes| *bytes <= MOST_BYTES);
            bytes.map(Value::from).ok_or_else(|| FieldError::conflict("tokens", "the cache exceeds 2^62 bytes"))
        };
        Ok(answer([
            ("bytes_per_token", sum(sum_of(&|cache| cache.bytes_per_token(dtype)))?),
            ("growth_bytes", sum(sum_of(&|cache| cache.growth(dtype)))?),
            ("bytes_per_request", sum(request)?),
            ("bytes", sum(request.saturating_mul(requests))?),
            ("bytes_per_card", sum(card)?),
            ("bytes_all_cards", sum(card.saturating_mul(cards.into()))?),
        ]))
    }
}

/// KV heads layer by layer.
fn by_layer() -> FieldSpec {
    let kind = FieldKind::IntList { min_len: 1, max_len: 4_096, min: 1, max: 65_536 };
    let doc = Text::new(
        "逐层的 KV 头数，代替 layers 和 kv_heads",
        "KV heads layer by layer, in the place of layers and kv_heads",
    );
    FieldSpec::new("kv_heads_by_layer", "1", kind, doc).optional()
}

/// The number format: by name, or by the bytes of a value, with the scales of its groups.
fn dtype(args: &Args) -> Result<Dtype, FieldError> {
    let named = Dtype::from_name(args.text("kv_dtype")).unwrap_or(Dtype::BF16);
    let (group, meta) = (if args.has("kv_group") { args.uint("kv_group") } else { 8 }, args.uint("kv_meta_bytes"));
    if meta > 0 && !args.has("kv_group") {
        let legal = "an integer from 1 to 65536, as kv_meta_bytes is not 0".to_owned();
        return Err(FieldError::Missing { field: "kv_group".to_owned(), legal });
    }
    if !args.has("bytes_per_value") && !args.has("kv_group") {
        return Ok(named);
    }
    let each = if args.has("bytes_per_value") { args.num("bytes_per_value") } else { named.bits() / 8.0 };
    let bytes = each * group as f64;
    if bytes.fract() != 0.0 {
        let reason = format!("{group} values of {each} B are no whole number of bytes");
        return Err(FieldError::conflict(if args.has("kv_group") { "kv_group" } else { "bytes_per_value" }, reason));
    }
    if args.has("kv_group") && args.has("head_dim") && !args.uint("head_dim").is_multiple_of(group) {
        let reason = format!("a head of {} values cannot be cut into groups of {group}", args.uint("head_dim"));
        return Err(FieldError::conflict("kv_group", reason));
    }
    Ok(Dtype { name: "grouped", values: group, bytes: bytes as u64 + meta })
}

/// One cache, or one for each number of heads where layers differ.
fn caches(args: &Args) -> Result<Vec<Cache>, FieldError> {
    if !args.has("kv_heads_by_layer") {
        return cache(args).map(|cache| vec![cache]);
    }
    let clash = ["config", "layers", "kv_heads", "kv_rank", "rope_dim", "window"].into_iter().find(|key| args.has(key));
    if let Some(key) = clash.or((args.uint("window_layers") > 0).then_some("window_layers")) {
        return Err(FieldError::conflict(
            "kv_heads_by_layer",
            format!("give either {key} or kv_heads_by_layer, not both"),
        ));
    }
    let size = if args.has("head_dim") { args.uint("head_dim") } else { 0 };
    if size == 0 {
        let legal = "an integer from 1 to 65536 beside kv_heads_by_layer".to_owned();
        return Err(FieldError::Missing { field: "head_dim".to_owned(), legal });
    }
    let v_size = if args.has("v_head_dim") { args.uint("v_head_dim") } else { size };
    let mut layers = std::collections::BTreeMap::<u64, u64>::new();
    for heads in args.ints("kv_heads_by_layer") {
        *layers.entry(heads.unsigned_abs()).or_default() += 1;
    }
    let of = |(kv_heads, n_layers): (u64, u64)| Cache {
        groups: vec![Group { n_layers, values: kv_heads * (size + v_size), window: None }],
        n_recurrent: 0,
        is_latent: false,
        kv_heads,
    };
    Ok(layers.into_iter().map(of).collect())
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

    /// Brief 14, vector 7: scales for groups of a head; brief 16, check question 3: 16 cards for 8 heads hold them twice.
    #[test]
    fn scales_and_copies() {
        let eight = |more: Value| {
            let mut given = question(&json!({"layers": 32, "kv_heads": 8, "head_dim": 128}));
            given.extend(question(&more));
            crate::eval("kv_cache", &given)
        };
        let token = |more: Value| eight(more).unwrap()["bytes_per_token"].clone();
        assert_eq!(token(json!({"bytes_per_value": 2})), 131_072);
        assert_eq!(token(json!({"bytes_per_value": 1, "kv_group": 128, "kv_meta_bytes": 2})), 66_560);
        assert_eq!(token(json!({"bytes_per_value": 0.5, "kv_group": 32, "kv_meta_bytes": 4})), 40_960);
        assert_eq!(token(json!({"bytes_per_value": 0.25, "kv_group": 32, "kv_meta_bytes": 4})), 24_576);
        assert_eq!(token(json!({"kv_dtype": "f8_e4m3"})), 65_536);
        let cards = eight(json!({"cards": 16})).unwrap();
        assert_eq!((&cards["bytes_per_card"], &cards["bytes_all_cards"]), (&json!(16_384), &json!(2 * 131_072)));
        assert_eq!(eight(json!({"cards": 4})).unwrap()["bytes_all_cards"], 131_072);
        let refused = |more: Value| eight(more).unwrap_err().field().to_owned();
        assert_eq!(refused(json!({"kv_meta_bytes": 2})), "kv_group");
        assert_eq!(refused(json!({"kv_group": 48})), "kv_group");
        assert_eq!(refused(json!({"bytes_per_value": 0.3})), "bytes_per_value");
    }

    /// The table of brief 16: layers, KV heads, head size.
    #[test]
    fn the_table_of_the_brief() {
        for (layers, heads, bytes) in [
            (32, 32, 524_288),
            (40, 40, 819_200),
            (80, 8, 327_680),
            (32, 8, 131_072),
            (126, 8, 516_096),
            (28, 4, 57_344),
            (36, 8, 147_456),
            (64, 8, 262_144),
            (48, 4, 98_304),
            (94, 4, 192_512),
        ] {
            let given = json!({"layers": layers, "kv_heads": heads, "head_dim": 128, "bytes_per_value": 2});
            assert_eq!(ask(&given)["bytes_per_token"], bytes, "{layers} layers, {heads} heads");
        }
        let latent =
            |layers: u64| ask(&json!({"layers": layers, "kv_rank": 512, "rope_dim": 64}))["bytes_per_token"].clone();
        assert_eq!((latent(60), latent(61)), (json!(69_120), json!(70_272)));
        // Each head's key of 192 and value of 128 in the place of the latent vector: 71.11 times as much.
        let heads = ask(&json!({"layers": 61, "kv_heads": 128, "head_dim": 192, "v_head_dim": 128}));
        assert_eq!(heads["bytes_per_token"], 4_997_120);
        assert_eq!(format!("{:.2}", 4_997_120.0 / 70_272.0), "71.11");
        let thirteen = ask(&json!({"layers": 40, "kv_heads": 40, "head_dim": 128, "tokens": 1024, "requests": 32}));
        assert_eq!(
            (&thirteen["bytes_per_request"], &thirteen["bytes"]),
            (&json!(838_860_800), &json!(26_843_545_600_u64))
        );
    }

    /// Rows 2, 3, 12 and 16 of public figures.
    #[test]
    fn public_rows() {
        let mib = |layers: u64, heads: u64| {
            let given =
                json!({"layers": layers, "kv_heads": heads, "head_dim": 128, "kv_dtype": "f16", "tokens": 2048});
            ask(&given)["bytes"].as_u64().unwrap() as f64 / 1_048_576.0
        };
        // llama.cpp's logs: Mixtral, Llama 3 8B and 70B, Qwen1.5 32B, Yi 1.5 34B, Command R.
        for (layers, heads, expected) in
            [(32, 8, 256.0), (32, 8, 256.0), (80, 8, 640.0), (64, 8, 512.0), (60, 8, 480.0), (40, 64, 2560.0)]
        {
            assert_eq!(mib(layers, heads), expected, "{layers} {heads}");
        }
        let gib = |layers: u64, tokens: u64| {
            let given = json!({"layers": layers, "kv_heads": 8, "head_dim": 128, "tokens": tokens});
            ask(&given)["bytes"].as_u64().unwrap() as f64 / 1_073_741_824.0
        };
        // huggingface/blog#2345 says GB and means GiB; of two halves it rounds one up and cuts the other.
        for (layers, tokens, printed) in [
            (32, 1024, "0.125"),
            (32, 16_000, "1.95"),
            (32, 128_000, "15.62"),
            (80, 1024, "0.313"),
            (80, 16_000, "4.88"),
            (80, 128_000, "39.06"),
        ] {
            let digits = printed.len() - printed.find('.').unwrap() - 1;
            let off = (gib(layers, tokens) - printed.parse::<f64>().unwrap()).abs();
            assert!(off <= 0.5001 * 0.1_f64.powi(digits as i32), "{layers} {tokens}: {}", gib(layers, tokens));
        }
        let hybrid =
            ask(&json!({"layers": 16, "kv_heads": 4, "head_dim": 256, "bytes_per_value": 1, "tokens": 302_921}));
        assert_eq!(hybrid["bytes_per_token"], 32 * 1024);
        assert_eq!(format!("{:.2}", hybrid["bytes"].as_f64().unwrap() / 1_073_741_824.0), "9.24");
        let opt = ask(&json!({"layers": 40, "kv_heads": 40, "head_dim": 128, "tokens": 2048}));
        // PagedAttention, section 3: 800 KB a token, 1.6 GB for 2048; both binary.
        assert_eq!(opt["bytes_per_token"], 800 * 1024);
        assert_eq!(format!("{:.1}", opt["bytes"].as_f64().unwrap() / 1_073_741_824.0), "1.6");
    }

    /// Layers with one, two and four KV heads, as elastic models have them.
    #[test]
    fn heads_layer_by_layer() {
        let got = ask(&json!({"kv_heads_by_layer": [1, 2, 2, 4], "head_dim": 64, "cards": 2}));
        assert_eq!(got["bytes_per_token"], 9 * 2 * 64 * 2);
        assert_eq!(got["bytes_per_card"], (1 + 1 + 1 + 2) * 2 * 64 * 2);
        let refused = |given: Value| crate::eval("kv_cache", &question(&given)).unwrap_err().field().to_owned();
        assert_eq!(refused(json!({"kv_heads_by_layer": [1], "layers": 2, "head_dim": 64})), "kv_heads_by_layer");
        assert_eq!(refused(json!({"kv_heads_by_layer": [1]})), "head_dim");
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
