//! How many requests of full length a card serves: what weights and activations leave is the pool of keys and values.
//!
//! Question: the card, the share of it that the server may take, weights, the activations' peak, what else is held; bytes
//! a token, tokens of a page, the longest request. Answer: the pool, its whole pages, their tokens, the requests.
//! Assumption: the share is of the whole card as CUDA reports it (an H200, sold with 141 GB, has 150.1), not of what is free,
//! and it covers everything; a page is whole; every request is as long as it may be.
//! Source: vLLM, `vllm/config/cache.py` (the meaning of `gpu_memory_utilization`, and 16 tokens a block), and its start-up
//! log in vllm-project/vllm issues 10517 and 12126.
//! Errors: weights and activations that leave nothing for the pool; fields out of range.

use crate::fields;
use crate::kv_waste::BLOCK_TOKENS;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text, Value};

const GB: f64 = 1.0e9;

/// The terms of the budget, in bytes but for the share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    pub total: f64,
    pub util: f64,
    pub weights: f64,
    pub act_peak: f64,
    pub other: f64,
}

/// What the pool holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pool {
    pub bytes: u64,
    pub blocks: u64,
    pub tokens: u64,
    /// Requests of the longest length, in part.
    pub concurrency: f64,
}

impl Budget {
    /// Whole bytes for the pool; below 0 what is missing.
    pub fn left(&self) -> f64 {
        (self.total * self.util - self.weights - self.act_peak - self.other).round()
    }

    /// The pool, or the bytes that are missing for one.
    pub fn pool(&self, token_bytes: u64, block_tokens: u64, max_len: u64) -> Result<Pool, f64> {
        let left = self.left();
        if left < 0.0 {
            return Err(-left);
        }
        let bytes = left as u64;
        let blocks = bytes / (token_bytes * block_tokens).max(1);
        let tokens = blocks * block_tokens;
        Ok(Pool { bytes, blocks, tokens, concurrency: tokens as f64 / max_len.max(1) as f64 })
    }
}

pub struct KvCapacity;

impl Model for KvCapacity {
    const ID: &'static str = "kv_capacity";
    const TITLE: Text = Text::new("一张卡能服务几个请求", "How many requests a card serves");
    const ASSUMES: Text = Text::new(
        "份额按整张卡算，包住权重、激活和其他，剩下的才是 KV 池；池按整页分；每个请求都用到最长。",
        "The share is of the whole card and covers weights, activations and the rest; what is left is the pool. Pages are \
         whole, and every request is as long as it may be.",
    );
    const SOURCE: &'static str =
        "vllm-project/vllm, vllm/config/cache.py (main, 2026); start-up logs in its issues 10517 and 12126";
    const EXAMPLE: &'static str = r#"{"total_gb": 150.1, "util": 0.92, "weights_gb": 16.06, "act_peak_gb": 2, "other_gb": 1,
        "token_bytes": 131072, "max_len": 8192}"#;

    fn question() -> Vec<FieldSpec> {
        let gb = |key, zh, en| FieldSpec::num(key, "GB", 0.0, 100_000.0, Text::new(zh, en));
        let count = |key, unit, max, zh, en| FieldSpec::int(key, unit, 1, max, Text::new(zh, en));
        let share = Text::new(
            "这个进程最多占整卡的多少；vLLM 新版缺省 0.92，旧版 0.9",
            "Share of the card that the process may take; vLLM's default is 0.92 today and was 0.9",
        );
        vec![
            gb(
                "total_gb",
                "整张卡，按 CUDA 报的：H200 是 150.1",
                "The whole card as CUDA reports it: 150.1 for an H200",
            ),
            FieldSpec::num("util", "1", 0.01, 1.0, share).default_value(0.92),
            gb("weights_gb", "权重", "Weights"),
            gb("act_peak_gb", "激活的峰值", "Peak of the activations").default_value(0),
            gb("other_gb", "上下文和其他", "Context and others").default_value(0),
            count("token_bytes", "B", 1 << 40, "一个 token 的 KV", "Keys and values of a token"),
            count("block_tokens", "token", 65_536, "一页几个 token", "Tokens of a page").default_value(BLOCK_TOKENS),
            count("max_len", "token", 1 << 30, "允许的最长请求", "The longest request allowed"),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let int = |key, unit, zh, en| FieldSpec::int(key, unit, 0, i64::MAX, Text::new(zh, en));
        vec![
            int("kv_bytes", "B", "KV 池", "The pool"),
            int("blocks", "1", "整页的页数", "Whole pages"),
            int("tokens", "token", "装得下的 token", "Tokens that fit"),
            int("requests", "1", "都用到最长时的请求数", "Requests, each of the longest length"),
            FieldSpec::num("concurrency", "1", 0.0, f64::MAX, Text::new("同上，带小数", "The same, not rounded down")),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let gb = |key: &str| args.num(key) * GB;
        let budget = Budget {
            total: gb("total_gb"),
            util: args.num("util"),
            weights: gb("weights_gb"),
            act_peak: gb("act_peak_gb"),
            other: gb("other_gb"),
        };
        let pool = budget.pool(args.uint("token_bytes"), args.uint("block_tokens"), args.uint("max_len"));
        let pool = pool.map_err(|missing| {
            let over = vramlab_units::show::number(missing / GB);
            FieldError::conflict("weights_gb", format!("weights + activations exceed budget by {over} GB"))
        })?;
        Ok(fields::answer([
            ("kv_bytes", pool.bytes.into()),
            ("blocks", pool.blocks.into()),
            ("tokens", pool.tokens.into()),
            ("requests", Value::from(pool.concurrency.floor() as u64)),
            ("concurrency", fields::number(pool.concurrency)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use serde_json::{Value, json};

    const GIB: f64 = 1_073_741_824.0;

    fn ask(given: &Value) -> vramlab_units::Map {
        crate::eval("kv_capacity", &question(given)).unwrap_or_else(|error| panic!("{error}"))
    }

    fn llama(util: f64) -> vramlab_units::Map {
        ask(&json!({"total_gb": 141, "util": util, "weights_gb": 16.06, "act_peak_gb": 2, "other_gb": 1,
            "token_bytes": 131_072, "max_len": 8192}))
    }

    /// By hand: 126.9 − 19.06 = 107.84 GB are 51,422 pages of 2 MiB.
    #[test]
    fn two_hundredths_of_a_card_are_three_requests() {
        let at = llama(0.9);
        assert_eq!((&at["kv_bytes"], &at["tokens"]), (&json!(107_840_000_000_u64), &json!(822_752)));
        assert_eq!(at["requests"], 100);
        let at = llama(0.92);
        assert_eq!((&at["kv_bytes"], &at["tokens"]), (&json!(110_660_000_000_u64), &json!(844_256)));
        assert_eq!(at["requests"], 103);
    }

    /// What CUDA reports of an H200, 150,109,880,320 B: 0.9 of it less 19.06 GB are 55,331 pages, 0.92 are 56,763.
    #[test]
    fn the_share_is_of_what_cuda_reports() {
        let of = |util: f64| {
            ask(
                &json!({"total_gb": 150.109_880_320, "util": util, "weights_gb": 16.06, "act_peak_gb": 2, "other_gb": 1,
                "token_bytes": 131_072, "max_len": 8192}),
            )
        };
        assert_eq!(
            [of(0.9), of(0.92)].map(|at| (at["blocks"].clone(), at["requests"].clone())),
            [(json!(55_331), json!(108)), (json!(56_763), json!(110))]
        );
    }

    /// Start-up logs of vLLM. The pools are printed to two digits in GiB, so blocks agree within that rounding.
    #[test]
    fn published_logs() {
        let pool = |gib: f64, token_bytes: u64, max_len: u64| {
            ask(
                &json!({"total_gb": gib * GIB / 1e9, "util": 1, "weights_gb": 0, "token_bytes": token_bytes, "max_len": max_len}),
            )
        };
        let rtx = pool(3.81, 131_072, 20_000);
        assert!(rtx["blocks"].as_i64().unwrap().abs_diff(1952) <= 3, "{rtx:?}");
        assert_eq!(format!("{:.2}", rtx["concurrency"].as_f64().unwrap()), "1.56");
        assert_eq!(pool(4.0, 131_072, 20_000)["blocks"], 2048);
        let vision = ask(&json!({"total_gb": 79.22 * GIB / 1e9, "util": 0.9, "weights_gb": 19.86 * GIB / 1e9,
            "act_peak_gb": 36.63 * GIB / 1e9, "other_gb": 0.16 * GIB / 1e9, "token_bytes": 163_840, "max_len": 8192}));
        assert!((vision["kv_bytes"].as_f64().unwrap() / GIB - 14.65).abs() < 0.011, "{vision:?}");
        assert!(vision["blocks"].as_i64().unwrap().abs_diff(6001) <= 5, "{vision:?}");
        assert_eq!(pool(4.0, 163_840, 8192)["blocks"], 1638);
    }

    /// The log of 127,626 blocks and 2048 tokens: 997.08 times.
    #[test]
    fn concurrency_is_tokens_over_the_longest() {
        let gb = 127_626.0 * 2_097_152.0 / 1e9;
        let at = ask(&json!({"total_gb": gb, "util": 1, "weights_gb": 0, "token_bytes": 131_072, "max_len": 2048}));
        assert_eq!((&at["blocks"], &at["tokens"]), (&json!(127_626), &json!(2_042_016)));
        assert_eq!(format!("{:.2}", at["concurrency"].as_f64().unwrap()), "997.08");
    }

    /// 24 · 0.9 − 26 − 1 = −5.4.
    #[test]
    fn weights_beyond_the_budget_are_an_error() {
        let given = json!({"total_gb": 24, "util": 0.9, "weights_gb": 26, "act_peak_gb": 1, "token_bytes": 819_200, "max_len": 2048});
        let error = crate::eval("kv_capacity", &question(&given)).unwrap_err();
        assert_eq!(error.to_string(), "weights_gb: weights + activations exceed budget by 5.4 GB");
    }
}
