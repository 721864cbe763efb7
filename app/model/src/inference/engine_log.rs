//! A pasted start-up log of a serving engine: the numbers in it, and whether they agree with each other.
//!
//! Question: the log. Answer: each known number, bytes a token, sums that were checked and those that disagree.
//! Wordings and source: `vramlab_serve::log`. Errors: a text in which no line is known.

use super::shown;
use crate::fields::number;
use crate::registry::Model;
use vramlab_serve::log::{Key, Unit, explain, read};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

pub struct EngineLog;

const MAX_LOG: usize = 262_144;

const KEYS: &[(Key, Text)] = &[
    (Key::Total, Text::new("显存总量", "Memory of the card")),
    (Key::Utilisation, Text::new("引擎可用的比例", "Share that the engine may use")),
    (Key::Usable, Text::new("引擎可用的显存", "Memory that the engine may use")),
    (Key::Weights, Text::new("权重", "Weights")),
    (Key::NonTorch, Text::new("PyTorch 之外", "Outside of PyTorch")),
    (Key::Consumed, Text::new("权重加 PyTorch 之外", "Weights and what is outside of PyTorch")),
    (Key::ActivationPeak, Text::new("激活峰值", "Peak of activations")),
    (Key::TorchPeak, Text::new("PyTorch 的峰值，含权重", "PyTorch's peak, weights included")),
    (Key::Graphs, Text::new("CUDA Graph", "CUDA graphs")),
    (Key::Pool, Text::new("KV 池", "The pool")),
    (Key::GpuBlocks, Text::new("卡上的块", "Blocks on the card")),
    (Key::CpuBlocks, Text::new("主机上的块", "Blocks on the host")),
    (Key::BlockTokens, Text::new("一块的 token 数", "Tokens of a block")),
    (Key::Tokens, Text::new("池里能放的 token", "Tokens of the pool")),
    (Key::Concurrency, Text::new("最长的请求能同时放几个", "Longest requests at once")),
    (Key::MaxLen, Text::new("最长的请求", "The longest request")),
    (Key::Needed, Text::new("一个最长的请求要多少", "What one of the longest needs")),
    (Key::EstimatedLen, Text::new("放得下的最长请求", "The longest that fits")),
    (Key::MostTokens, Text::new("缓存最多放的 token", "Tokens that the cache holds at most")),
    (Key::KeyBytes, Text::new("K 的池", "The pool of keys")),
    (Key::ValueBytes, Text::new("V 的池", "The pool of values")),
    (Key::Cards, Text::new("张量并行的卡数", "Cards of tensor parallelism")),
];

impl Model for EngineLog {
    const ID: &'static str = "engine_log";
    const TITLE: Text = Text::new("读懂推理引擎的启动日志", "Reading a serving engine's start-up log");
    const ASSUMES: Text = Text::new(
        "日志没写块长时按 16 个 token；多张卡各打各的时，池取最小，占用取最大。",
        "Blocks have 16 tokens where the log does not say; of several cards the smallest pool and the largest use count.",
    );
    const SOURCE: &'static str = "start-up lines of vLLM 0.2 to V1, SGLang and TensorRT-LLM in their public issues";
    const EXAMPLE: &'static str =
        r##"{"log": "# GPU blocks: 127626\nMaximum concurrency for 2048 tokens per request: 997.08x"}"##;

    fn question() -> Vec<FieldSpec> {
        let doc = Text::new("粘贴的日志", "The log, pasted");
        vec![FieldSpec::new("log", "", FieldKind::Text { max_len: MAX_LOG }, doc)]
    }

    fn answer() -> Vec<FieldSpec> {
        let count = |key, zh, en| FieldSpec::int(key, "1", 0, 1 << 40, Text::new(zh, en));
        let mut fields = vec![
            shown("engine", "哪个引擎", "Which engine"),
            count("n_found", "认出的数", "Numbers that were found"),
            count("n_unknown", "没认出的行", "Lines that are unknown"),
            count("n_checks", "能验算的式子", "Sums that could be checked"),
            count("n_disagree", "验算对不上的", "Sums that disagree"),
            shown("checks", "每个式子", "Each sum"),
            FieldSpec::num(
                "bytes_per_token",
                "B",
                0.0,
                1e18,
                Text::new("一张卡上一个 token 的缓存", "Cache of a token on one card"),
            )
            .optional(),
        ];
        fields.extend(KEYS.iter().map(|(key, doc)| {
            let unit = match key.unit() {
                Unit::Bytes => "B",
                Unit::Count | Unit::Ratio => "1",
            };
            FieldSpec::num(key.name(), unit, 0.0, 1e30, *doc).optional()
        }));
        fields
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let log = read(args.text("log")).map_err(|problem| super::serving(&problem, &[]))?;
        let checks = explain(&log);
        let shown: Vec<String> = checks
            .iter()
            .map(|check| {
                let sign = if check.agrees() { "=" } else { "≠" };
                format!("{} {sign} {}", check.of.name(), check.formula)
            })
            .collect();
        let or_null = |value: Option<f64>| value.map_or(Value::Null, number);
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| drop(map.insert(key.to_owned(), value));
        put("engine", log.engine().map_or("", |engine| engine.name()).into());
        put("n_found", log.found.len().into());
        put("n_unknown", (log.unknown.len() + log.n_unknown_more).into());
        put("n_checks", checks.len().into());
        put("n_disagree", checks.iter().filter(|check| !check.agrees()).count().into());
        put("checks", shown.join("\n").into());
        put("bytes_per_token", or_null(log.bytes_per_token()));
        for (key, _) in KEYS {
            put(key.name(), or_null(log.value(*key)));
        }
        Ok(map)
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use serde_json::json;

    /// Row 6: vllm-project/vllm#12126, pasted as it is.
    #[test]
    fn a_pasted_log() {
        let log = "INFO 01-16 09:40:00 worker.py:238] the current vLLM instance can use total_gpu_memory (79.22GiB) x \
                   gpu_memory_utilization (0.90) = 71.29GiB\nINFO 01-16 09:40:00 worker.py:238] model weights take 19.86GiB; \
                   non_torch_memory takes 0.16GiB; PyTorch activation peak memory takes 36.63GiB; the rest of the memory \
                   reserved for KV Cache is 14.65GiB.\nINFO 01-16 09:40:00 executor_base.py:95] # CUDA blocks: 6001, # CPU \
                   blocks: 1638\nINFO server started";
        let got = crate::eval("engine_log", &question(&json!({"log": log}))).unwrap();
        assert_eq!(
            (&got["engine"], &got["gpu_blocks"], &got["cpu_blocks"]),
            (&json!("vLLM"), &json!(6001), &json!(1638))
        );
        assert_eq!((&got["n_checks"], &got["n_disagree"], &got["n_unknown"]), (&json!(2), &json!(0), &json!(1)));
        assert!((got["bytes_per_token"].as_f64().unwrap() / 163_840.0 - 1.0).abs() < 0.001);
        assert_eq!(got["pool_tokens"], json!(null));
        let error = crate::eval("engine_log", &question(&json!({"log": "hello"}))).unwrap_err();
        assert_eq!(error.field(), "log");
    }
}
