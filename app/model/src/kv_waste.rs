//! Slots of a cache of keys and values that nobody uses: a place for the longest request kept for each, or pages.
//!
//! Question: how long the requests are, tokens of a page, the longest that is allowed. Answer: slots used and kept both
//! ways, and the unused share of each.
//! Assumption: a request holds whole pages, so only its last one has unused slots; a reservation holds the longest length
//! from the first token on; requests share no pages.
//! Source: Kwon et al., "Efficient Memory Management for Large Language Model Serving with PagedAttention", SOSP 2023,
//! sections 3.1 and 4.3.
//! Errors: a request that is longer than the longest allowed; an empty list; fields out of range.

use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

/// Tokens of a page, where nothing else is said: vLLM's default.
pub const BLOCK_TOKENS: u64 = 16;

/// Pages that hold `tokens`.
pub fn blocks(tokens: u64, block_tokens: u64) -> u64 {
    tokens.div_ceil(block_tokens.max(1))
}

/// The share of `kept` that is not `used`; nothing is wasted of nothing.
pub fn waste(used: u64, kept: u64) -> f64 {
    if kept == 0 { 0.0 } else { 1.0 - used as f64 / kept as f64 }
}

pub struct KvWaste;

impl Model for KvWaste {
    const ID: &'static str = "kv_waste";
    const TITLE: Text = Text::new("KV 缓存空占多少", "Slots of the KV cache that nobody uses");
    const ASSUMES: Text = Text::new(
        "每个请求拿整页，只有最后一页有空位；预留从第一个 token 起就占满最长的长度；请求之间不共享页。",
        "A request holds whole pages, and only its last has room left; a reservation holds the longest length from the \
         first token on; requests share no pages.",
    );
    const SOURCE: &'static str = "PagedAttention (Kwon et al. 2023), sections 3.1 and 4.3";
    const EXAMPLE: &'static str = r#"{"tokens": [100, 500, 1000, 40], "max_len": 2048}"#;

    fn question() -> Vec<FieldSpec> {
        let list = FieldKind::IntList { min_len: 1, max_len: 4096, min: 0, max: 1 << 30 };
        let page = Text::new("一页几个 token；vLLM 缺省 16", "Tokens of a page; vLLM's default is 16");
        let longest = Text::new("允许的最长请求，预留按它", "The longest request allowed, which a reservation goes by");
        vec![
            FieldSpec::new("tokens", "token", list, Text::new("各请求的长度", "Lengths of the requests")),
            FieldSpec::int("block_tokens", "token", 1, 65_536, page).default_value(BLOCK_TOKENS),
            FieldSpec::int("max_len", "token", 1, 1 << 30, longest),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let slots = |key, zh, en| FieldSpec::int(key, "token", 0, 1 << 42, Text::new(zh, en));
        let share = |key, zh, en| FieldSpec::num(key, "%", 0.0, 1.0, Text::new(zh, en));
        vec![
            slots("used", "真有 token 的位置", "Slots that hold a token"),
            FieldSpec::int("blocks", "1", 0, 1 << 42, Text::new("分页时的页数", "Pages, when paged")),
            slots("paged_slots", "分页时占的位置", "Slots held, when paged"),
            share("paged_waste", "分页时空占的份额", "Share of them unused"),
            slots("reserved_slots", "预留时占的位置", "Slots held, when reserved"),
            share("reserved_waste", "预留时空占的份额", "Share of them unused"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (page, longest) = (args.uint("block_tokens"), args.uint("max_len"));
        let lengths: Vec<u64> = args.ints("tokens").into_iter().map(|n| u64::try_from(n).unwrap_or_default()).collect();
        if let Some(over) = lengths.iter().find(|length| **length > longest) {
            let reason = format!("a request of {over} tokens is longer than max_len = {longest}");
            return Err(FieldError::conflict("tokens", reason));
        }
        let used: u64 = lengths.iter().sum();
        let pages: u64 = lengths.iter().map(|length| blocks(*length, page)).sum();
        let reserved = longest * lengths.len() as u64;
        Ok(fields::answer([
            ("used", used.into()),
            ("blocks", pages.into()),
            ("paged_slots", (pages * page).into()),
            ("paged_waste", Value::from(waste(used, pages * page))),
            ("reserved_slots", reserved.into()),
            ("reserved_waste", Value::from(waste(used, reserved))),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use serde_json::json;

    #[test]
    fn pages_are_whole() {
        assert_eq!([0, 1, 16, 17, 1000].map(|tokens| blocks(tokens, 16)), [0, 1, 1, 2, 63]);
        let unused = [0, 1, 16, 17, 1000].map(|tokens| blocks(tokens, 16) * 16 - tokens);
        assert_eq!(unused, [0, 15, 0, 15, 8]);
    }

    /// By hand: 1640 of 4 · 2048 = 8192 and of (7 + 32 + 63 + 3) · 16 = 1680.
    #[test]
    fn reserving_wastes_most_and_paging_the_rest_of_a_page() {
        let asked = question(&json!({"tokens": [100, 500, 1000, 40], "max_len": 2048}));
        let answer = crate::eval("kv_waste", &asked).unwrap();
        assert_eq!(
            (&answer["used"], &answer["paged_slots"], &answer["blocks"]),
            (&json!(1640), &json!(1680), &json!(105))
        );
        assert!((answer["reserved_waste"].as_f64().unwrap() - 0.799_804_687_5).abs() < 1e-12);
        assert!((answer["paged_waste"].as_f64().unwrap() - 0.023_809_523_809_523_836).abs() < 1e-12);
        let none = crate::eval("kv_waste", &question(&json!({"tokens": [0], "max_len": 8}))).unwrap();
        assert_eq!((&none["paged_waste"], &none["reserved_waste"]), (&json!(0.0), &json!(1.0)));
    }

    /// Llama-2-13B: 40 layers, 40 KV heads of 128, two bytes, at 1024 and 2048 tokens, one request, three and 32.
    #[test]
    fn bytes_of_whole_requests() {
        let bytes = |tokens: u64, requests: u64| {
            let given = json!({"layers": 40, "kv_heads": 40, "head_dim": 128, "tokens": tokens, "requests": requests});
            crate::eval("kv_cache", &question(&given)).unwrap()["bytes"].clone()
        };
        assert_eq!([bytes(2048, 1), bytes(1024, 1)], [json!(1_677_721_600_u64), json!(838_860_800)]);
        assert_eq!([bytes(1024, 3), bytes(1024, 32)], [json!(2_516_582_400_u64), json!(26_843_545_600_u64)]);
    }

    #[test]
    fn a_request_beyond_the_limit_is_refused() {
        let error = crate::eval("kv_waste", &question(&json!({"tokens": [9, 17], "max_len": 16}))).unwrap_err();
        assert_eq!(error.to_string(), "tokens: a request of 17 tokens is longer than max_len = 16");
        assert_eq!(
            crate::eval("kv_waste", &question(&json!({"tokens": [], "max_len": 16}))).unwrap_err().field(),
            "tokens"
        );
    }
}
