//! The least time of one decoded token: every weight and every kept key and value is read once.
//!
//! Question: bytes of the weights, keys and values of a sequence, sequences decoded together, the memory's bandwidth.
//! Answer: the least time of a step, the tokens a second that are then the most, and the share of weights in what is read.
//! Assumption: weights are read once a step however many sequences are decoded; caches are read once each; nothing comes
//! from a cache of the chip, and arithmetic is hidden.
//! Source: bytes over bandwidth (S. Williams et al., "Roofline", CACM 52(4), 2009).
//! Errors: nothing to read; fields out of range.

use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

const GB: f64 = 1.0e9;

/// Milliseconds that `bytes` take at `gb_per_s`.
pub fn floor_ms(bytes: f64, gb_per_s: f64) -> f64 {
    bytes / (gb_per_s * GB) * 1.0e3
}

pub struct DecodeFloor;

impl Model for DecodeFloor {
    const ID: &'static str = "decode_floor";
    const TITLE: Text = Text::new("解码一个 token 的下限", "Floor of decoding a token");
    const ASSUMES: Text = Text::new(
        "权重每步读一遍，与一起解码几条无关；每条的 KV 各读一遍；没有东西来自片上缓存，计算都藏得住。",
        "Weights are read once a step, however many sequences are decoded together, and each sequence's keys and values \
         once; nothing comes from a cache of the chip, and arithmetic is hidden.",
    );
    const SOURCE: &'static str = "bytes over bandwidth: Roofline (Williams, Waterman, Patterson; CACM 52(4), 2009)";
    const EXAMPLE: &'static str = r#"{"weight_bytes": 16060000000, "kv_bytes": 1073741824, "bw_gb_per_s": 4800}"#;

    fn question() -> Vec<FieldSpec> {
        let bytes = |key, zh, en| FieldSpec::num(key, "B", 0.0, 1.0e15, Text::new(zh, en));
        let batch = Text::new("一起解码几条", "Sequences decoded together");
        let rate = Text::new("显存带宽", "Bandwidth of the memory");
        vec![
            bytes("weight_bytes", "权重的字节", "Bytes of the weights"),
            bytes("kv_bytes", "一条的 KV 字节", "Keys and values of one sequence").default_value(0),
            FieldSpec::int("batch", "1", 1, 65_536, batch).default_value(1),
            FieldSpec::num("bw_gb_per_s", "GB/s", 0.1, 1.0e6, rate),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, unit, zh, en| FieldSpec::num(key, unit, 0.0, f64::MAX, Text::new(zh, en));
        vec![
            num("step_ms", "ms", "一步至少多久", "Least time of a step"),
            num("tokens_per_s", "token/s", "每秒至多几个 token", "Most tokens a second"),
            num("bytes", "B", "一步读多少", "Bytes read in a step"),
            FieldSpec::num("weight_share", "%", 0.0, 1.0, Text::new("其中权重占", "Share of weights in it")),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (weights, batch) = (args.num("weight_bytes"), args.uint("batch") as f64);
        let bytes = weights + batch * args.num("kv_bytes");
        if bytes == 0.0 {
            return Err(FieldError::conflict("weight_bytes", "nothing is read, so there is no floor"));
        }
        let step = floor_ms(bytes, args.num("bw_gb_per_s"));
        Ok(fields::answer([
            ("step_ms", fields::number(step)),
            ("tokens_per_s", fields::number(batch / step * 1.0e3)),
            ("bytes", fields::number(bytes)),
            ("weight_share", fields::number(weights / bytes)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use serde_json::{Value, json};

    fn ask(more: &Value) -> vramlab_units::Map {
        let mut given = question(&json!({"weight_bytes": 16.06e9, "bw_gb_per_s": 4800}));
        given.extend(question(more));
        crate::eval("decode_floor", &given).unwrap()
    }

    /// 16.06 GB at 4.8 TB/s; a cache of 8192 tokens at 131,072 B adds 0.2237 ms.
    #[test]
    fn bytes_over_bandwidth() {
        let step = |more: &Value| ask(more)["step_ms"].as_f64().unwrap();
        assert!((step(&json!({})) - 3.345_833_333).abs() < 1e-8);
        assert!((step(&json!({"kv_bytes": 8192 * 131_072})) - 3.569_529_547).abs() < 1e-8);
        // 64 sequences without caches take no longer than one.
        assert!((step(&json!({"batch": 64})) - step(&json!({}))).abs() < 1e-12);
        let error =
            crate::eval("decode_floor", &question(&json!({"weight_bytes": 0, "bw_gb_per_s": 100}))).unwrap_err();
        assert_eq!(error.field(), "weight_bytes");
    }
}
