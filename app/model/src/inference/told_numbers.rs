//! A deployment as somebody tells it, against what its model and requests must take.
//!
//! Question: model, requests, cards, and the figures that were told (weights, activations, cache, the rest, what nvidia-smi
//! showed). Answer: what weights and cache must be, whether the told figures add up, how many requests the told cache would
//! hold, and how many fit after a change of format, cache or cards. Assumption: attention with heads, no paging waste, a tenth
//! of each card left alone. Source: 2 · layers · heads · size (PagedAttention, section 3); told figures are the reader's.
//! Errors: fields out of range.

use crate::fields::{answer, number};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

pub struct ToldNumbers;

/// The part of a card that is used.
const USED: f64 = 0.9;

impl Model for ToldNumbers {
    const ID: &'static str = "told_numbers";
    const TITLE: Text = Text::new("别人报的数字对得上吗", "Whether told numbers add up");
    const ASSUMES: Text = Text::new(
        "按头存的 KV，不计分页的零头；每张卡留一成不用；权重和缓存由用到的卡均分。",
        "Keys and values by heads, without the waste of pages; a tenth of each card is left alone; the cards that are used share \
         weights and cache.",
    );
    const SOURCE: &'static str = "PagedAttention (Kwon et al. 2023), section 3; weights by parameters times bits";
    const EXAMPLE: &'static str = r#"{"params_b": 13, "layers": 40, "kv_heads": 40, "told_activations_gb": 8, "told_kv_gb": 4, "told_other_gb": 6, "told_weights_gb": 26, "told_used_gb": 38}"#;

    fn question() -> Vec<FieldSpec> {
        let count = |key, unit, max, zh, en| FieldSpec::int(key, unit, 1, max, Text::new(zh, en));
        let told = |key, zh, en| FieldSpec::num(key, "GB", 0.0, 1e5, Text::new(zh, en)).default_value(0);
        let num = |key, unit, min, max, zh, en| FieldSpec::num(key, unit, min, max, Text::new(zh, en));
        vec![
            num("params_b", "1e9", 1e-3, 1e5, "参数，十亿", "Parameters, 10⁹"),
            num("weight_bits", "bit", 1.0, 64.0, "每个参数的位数", "Bits of a parameter").default_value(16),
            count("layers", "1", 4096, "层数", "Layers"),
            count("kv_heads", "1", 65_536, "KV 头数", "KV heads"),
            count("head_dim", "1", 4096, "每头的维度", "Size of a head").default_value(128),
            num("kv_bytes", "B", 0.125, 8.0, "缓存里一个值的字节数", "Bytes of a value in the cache").default_value(2),
            count("tokens", "token", 1 << 30, "每个请求的 token 数", "Tokens of a request").default_value(1024),
            count("requests", "1", 1 << 24, "请求数", "Requests").default_value(3),
            num("card_gb", "GB", 0.1, 1e5, "一张卡", "A card").default_value(40),
            count("cards_used", "1", 65_536, "真正用到的卡", "Cards that are really used").default_value(1),
            told("told_weights_gb", "报的权重", "Weights, as told"),
            told("told_activations_gb", "报的激活", "Activations, as told"),
            told("told_kv_gb", "报的 KV 缓存", "Cache, as told"),
            told("told_other_gb", "报的其余，例如碎片", "The rest, as told, say fragmentation"),
            told("told_used_gb", "报的 nvidia-smi 读数", "What nvidia-smi showed, as told"),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let gb = |key, zh, en| FieldSpec::num(key, "GB", -1e12, 1e30, Text::new(zh, en));
        vec![
            gb("weights_gb", "权重必有多大", "What the weights must take"),
            gb("kv_request_gb", "一个请求的缓存", "Cache of a request"),
            gb("kv_gb", "所有请求的缓存", "Cache of all requests"),
            gb("told_sum_gb", "报的各项之和", "Sum of what was told"),
            gb("told_gap_gb", "和 − 读数；不为 0 就对不上", "Sum less what was shown; anything but 0 does not add up")
                .optional(),
            FieldSpec::new("adds_up", "", FieldKind::Bool, Text::new("对得上，差在 1 GB 内", "Adds up within 1 GB"))
                .optional(),
            FieldSpec::num(
                "told_kv_requests",
                "1",
                0.0,
                1e15,
                Text::new("报的缓存够几个请求", "Requests that the told cache would hold"),
            ),
            gb("room_gb", "用到的卡上，权重之后剩多少", "Left beside the weights on the cards that are used"),
            FieldSpec::int("fits_requests", "1", 0, 1 << 53, Text::new("放得下几个请求", "Requests that fit")),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let [told_weights, told_activations, told_kv, told_other, used] =
            ["told_weights_gb", "told_activations_gb", "told_kv_gb", "told_other_gb", "told_used_gb"]
                .map(|key| args.num(key));
        let weights = args.num("params_b") * args.num("weight_bits") / 8.0;
        let sizes = ["layers", "kv_heads", "head_dim", "tokens"].map(|key| args.uint(key) as f64);
        let request = 2.0 * args.num("kv_bytes") * sizes.iter().product::<f64>() / 1e9;
        let sum = told_weights + told_activations + told_kv + told_other;
        // Without a ledger and a reading there is nothing to hold against each other.
        let gap = (sum > 0.0 && used > 0.0).then_some(sum - used);
        let room = args.num("card_gb") * USED * args.uint("cards_used") as f64 - weights;
        Ok(answer([
            ("weights_gb", number(weights)),
            ("kv_request_gb", number(request)),
            ("kv_gb", number(request * args.uint("requests") as f64)),
            ("told_sum_gb", number(sum)),
            ("told_gap_gb", gap.map_or(Value::Null, number)),
            ("adds_up", gap.map_or(Value::Null, |gap| (gap.abs() <= 1.0).into())),
            ("told_kv_requests", number(told_kv / request)),
            ("room_gb", number(room)),
            ("fits_requests", ((room.max(0.0) / request).floor() as i64).min(1 << 53).into()),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use serde_json::json;

    fn ask(more: Value) -> Map {
        let mut given = question(&serde_json::from_str(ToldNumbers::EXAMPLE).unwrap());
        given.extend(question(&more));
        crate::eval("told_numbers", &given).unwrap()
    }

    /// Audits of briefs 16 and 21: 8 + 4 + 6 + 26 is 44 and not 38; three requests are 2.52 GB, 4 GB are 4.8 of them.
    #[test]
    fn the_story_of_the_briefs() {
        let got = ask(json!({}));
        assert_eq!((&got["weights_gb"], &got["told_sum_gb"], &got["told_gap_gb"]), (&json!(26), &json!(44), &json!(6)));
        assert_eq!(got["adds_up"], false);
        let of = |key: &str| got[key].as_f64().unwrap();
        assert!((of("kv_gb") - 2.516_582_4).abs() < 1e-9 && (of("told_kv_requests") - 4.77).abs() < 0.01);
        // 36 GB of one card leave 10 beside 26: eleven requests.
        assert_eq!(got["fits_requests"], 11);
        // 8-bit weights: 13 GB, and 23 for 27 requests; 32 of them would be 26.84 GB.
        let eight = ask(json!({"weight_bits": 8, "requests": 32}));
        assert_eq!((&eight["weights_gb"], &eight["fits_requests"]), (&json!(13), &json!(27)));
        assert!((eight["kv_gb"].as_f64().unwrap() - 26.843_545_6).abs() < 1e-9);
        assert_eq!(ask(json!({"cards_used": 4}))["fits_requests"], 140);
    }

    /// What nobody told is not checked; 26 + 8 + 4 and a reading of 38 agree.
    #[test]
    fn nothing_told_is_nothing_checked() {
        let silent = question(&json!({"params_b": 13, "layers": 40, "kv_heads": 40}));
        let got = crate::eval("told_numbers", &silent).unwrap();
        assert_eq!((&got["told_gap_gb"], &got["adds_up"]), (&Value::Null, &Value::Null));
        assert_eq!(ask(json!({"told_used_gb": 0}))["adds_up"], Value::Null);
        let exact = ask(json!({"told_other_gb": 0}));
        assert_eq!((&exact["told_gap_gb"], &exact["adds_up"]), (&json!(0), &json!(true)));
    }
}
