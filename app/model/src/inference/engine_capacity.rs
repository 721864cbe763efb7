//! Blocks, tokens and concurrency as a serving engine prints them when it starts.
//!
//! Question: card, utilisation, what is taken before the pool (or the pool itself), bytes a token, block size. Answer: pool,
//! blocks on card and host, tokens, concurrency. Rules and source: `vramlab_serve::capacity`. Errors: nothing is left.

use crate::fields::{answer, choice, number};
use crate::registry::Model;
use vramlab_serve::capacity::{Card, Pool, Reserve};
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub struct EngineCapacity;

const GIB: f64 = 1_073_741_824.0;

fn reserve(id: &str) -> Reserve {
    match id {
        "rest" => Reserve::Rest,
        "start" => Reserve::Start,
        "grows" => Reserve::Grows,
        _ => Reserve::Card,
    }
}

impl Model for EngineCapacity {
    const ID: &'static str = "engine_capacity";
    const TITLE: Text = Text::new("推理引擎打印的容量", "Capacity as serving engines print it");
    const ASSUMES: Text = Text::new(
        "引擎先占下可用的部分，减去权重、PyTorch 之外的显存和激活峰值，剩下的切成块。",
        "The engine takes its part of the card; what weights, memory outside of PyTorch and the activation peak leave is cut \
         into blocks.",
    );
    const SOURCE: &'static str = "vLLM: determine_num_available_blocks (0.6), get_num_blocks (V1)";
    const EXAMPLE: &'static str = r#"{"total_gib": 23.58, "weights_gib": 15.34, "non_torch_gib": 0.35, "activation_gib": 1.72, "swap_gib": 4, "bytes_per_token": 131072, "max_len": 20000}"#;

    fn question() -> Vec<FieldSpec> {
        let gib = |key, zh, en| FieldSpec::num(key, "GiB", 0.0, 1e5, Text::new(zh, en)).default_value(0);
        vec![
            FieldSpec::num("total_gib", "GiB", 0.1, 1e5, Text::new("显存总量", "Memory of the card")).optional(),
            FieldSpec::num("utilisation", "1", 0.01, 1.0, Text::new("引擎可用的比例", "Share that the engine may use"))
                .default_value(0.9),
            choice(
                "reserve",
                "",
                &["card", "rest", "start", "grows"],
                Text::new(
                    "比例是谁的：整张卡（vLLM）、权重和激活之后空着的（TensorRT-LLM）、装载前空着的（SGLang）、不预留（Transformers）",
                    "Share of what: the card (vLLM), what weights and activations leave (TensorRT-LLM), what was free before \
                     loading (SGLang), nothing (Transformers)",
                ),
            )
            .default_value("card"),
            gib("weights_gib", "权重", "Weights"),
            gib("non_torch_gib", "PyTorch 之外的显存", "Memory outside of PyTorch"),
            gib("activation_gib", "激活峰值", "Peak of activations"),
            gib("graphs_gib", "CUDA Graph，事先计入时", "CUDA graphs, where they are counted beforehand"),
            FieldSpec::num("pool_gib", "GiB", 0.0, 1e5, Text::new("直接给出池的大小", "The pool itself, instead"))
                .optional(),
            gib("swap_gib", "主机上的交换空间", "Swap space on the host"),
            FieldSpec::num("bytes_per_token", "B", 0.1, 1e9, Text::new("一个 token 的缓存", "Cache of a token")),
            FieldSpec::int("block_tokens", "token", 1, 4096, Text::new("一块的 token 数", "Tokens of a block"))
                .default_value(16),
            FieldSpec::int("max_len", "token", 1, 1 << 30, Text::new("最长的请求", "The longest request"))
                .default_value(8192),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let count = |key, unit, zh, en| FieldSpec::int(key, unit, 0, i64::MAX, Text::new(zh, en));
        vec![
            FieldSpec::num("pool_gib", "GiB", 0.0, 1e5, Text::new("KV 池", "The pool")),
            FieldSpec::num("block_bytes", "B", 0.0, 1e13, Text::new("一块的字节数", "Bytes of a block")),
            count("gpu_blocks", "1", "卡上的块", "Blocks on the card"),
            count("cpu_blocks", "1", "主机上的块", "Blocks on the host"),
            count("tokens", "token", "池里能放的 token", "Tokens of the pool"),
            FieldSpec::num(
                "concurrency",
                "1",
                0.0,
                1e15,
                Text::new("最长的请求能同时放几个", "Longest requests at once"),
            ),
            count("requests", "1", "其中完整的请求，各自按块取整", "Whole ones, each rounded up to blocks"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let pool = if args.has("pool_gib") {
            args.num("pool_gib") * GIB
        } else {
            if !args.has("total_gib") {
                let legal = "a number from 0.1 to 100000, unless pool_gib is given".to_owned();
                return Err(FieldError::Missing { field: "total_gib".to_owned(), legal });
            }
            let gib = |key| args.num(key) * GIB;
            Card {
                total: gib("total_gib"),
                utilisation: args.num("utilisation"),
                weights: gib("weights_gib"),
                non_torch: gib("non_torch_gib"),
                activation_peak: gib("activation_gib"),
                graphs: gib("graphs_gib"),
            }
            .pool_by(reserve(args.text("reserve")))
        };
        if pool < 0.0 {
            let reason = format!("nothing is left for a pool: {:.2} GiB are missing", -pool / GIB);
            return Err(FieldError::conflict("weights_gib", reason));
        }
        let (block_tokens, max_len) = (args.uint("block_tokens"), args.uint("max_len"));
        let pool_blocks = Pool::new(pool, args.num("swap_gib") * GIB, args.num("bytes_per_token"), block_tokens)
            .map_err(|problem| super::serving(&problem, &[]))?;
        Ok(answer([
            ("pool_gib", number(pool / GIB)),
            ("block_bytes", number(pool_blocks.block_bytes)),
            ("gpu_blocks", pool_blocks.gpu_blocks.into()),
            ("cpu_blocks", pool_blocks.cpu_blocks.into()),
            ("tokens", pool_blocks.tokens.into()),
            ("concurrency", number(pool_blocks.concurrency(max_len))),
            ("requests", pool_blocks.requests(max_len, block_tokens).into()),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use serde_json::{Value, json};

    fn ask(given: &Value) -> Map {
        crate::eval("engine_capacity", &question(given)).unwrap_or_else(|error| panic!("{error}"))
    }

    fn within_three(got: &Value, blocks: u64) {
        assert!(got.as_u64().unwrap().abs_diff(blocks) <= 3, "{got} and not {blocks}");
    }

    /// Rows 4, 6 and 8 of public start-up lines: vllm-project/vllm#10517, #12126, #13596; capacity of brief 21.
    #[test]
    fn lines_of_vllm() {
        let four = ask(&json!({"pool_gib": 3.81, "swap_gib": 4, "bytes_per_token": 131_072, "max_len": 20_000}));
        within_three(&four["gpu_blocks"], 1952);
        assert_eq!((&four["cpu_blocks"], &four["block_bytes"]), (&json!(2048), &json!(2_097_152)));
        assert_eq!(format!("{:.2}", four["concurrency"].as_f64().unwrap()), "1.56");
        let terms =
            ask(&json!({"total_gib": 79.22, "weights_gib": 19.86, "non_torch_gib": 0.16, "activation_gib": 36.63,
            "swap_gib": 4, "bytes_per_token": 163_840}));
        assert!((terms["pool_gib"].as_f64().unwrap() - 14.648).abs() < 1e-9);
        within_three(&terms["gpu_blocks"], 6001);
        assert_eq!((&terms["cpu_blocks"], &terms["block_bytes"]), (&json!(1638), &json!(2_621_440)));
        // Row 8: 127,626 blocks; a pool of half a block more.
        let gib = 127_626.5 * 16.0 * 1024.0 / GIB;
        let eight = ask(&json!({"pool_gib": gib, "bytes_per_token": 1024, "max_len": 2048}));
        assert_eq!((&eight["gpu_blocks"], &eight["tokens"]), (&json!(127_626), &json!(2_042_016)));
        assert_eq!(format!("{:.2}", eight["concurrency"].as_f64().unwrap()), "997.08");
        let brief = ask(
            &json!({"total_gib": 141e9 / GIB, "weights_gib": 16.06e9 / GIB, "bytes_per_token": 131_072, "max_len": 8192}),
        );
        assert_eq!(brief["requests"], 103);
    }

    #[test]
    fn what_does_not_go() {
        let refused = |given: Value| crate::eval("engine_capacity", &question(&given)).unwrap_err();
        assert_eq!(refused(json!({"bytes_per_token": 1})).field(), "total_gib");
        let full = refused(json!({"total_gib": 24, "weights_gib": 30, "bytes_per_token": 1}));
        assert_eq!(full.to_string(), "weights_gib: nothing is left for a pool: 8.40 GiB are missing");
    }
}
