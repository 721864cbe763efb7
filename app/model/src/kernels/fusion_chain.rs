//! A chain of element-wise operations, fused and not: bytes, and how long a tensor must be before bytes matter at all.
//!
//! Question: operations k, elements n, bytes of one, bandwidth, cost of a launch. Answer: 2·k·n·s bytes apart, 2·n·s fused, the
//! ratio, the times, and the elements n* = L·BW ÷ (2·s) at which a pass takes as long as its launch.
//! Assumption: every operation reads one tensor and writes one; no cache helps; a launch costs the same whatever it launches.
//! Source: arithmetic over passes. Errors: no operation.

use crate::fields::{self, answer, choice, chosen, number};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub struct FusionChain;

/// Elements at which one pass over them takes as long as its launch.
pub fn break_even(launch_us: f64, gb_per_s: f64, value: u64) -> f64 {
    launch_us * gb_per_s * 1e3 / (2 * value) as f64
}

impl Model for FusionChain {
    const ID: &'static str = "fusion_chain";
    const TITLE: Text = Text::new("一串逐元素算子，合并与否", "A chain of element-wise operations, fused and not");
    const ASSUMES: Text = Text::new(
        "每个算子读一个张量、写一个张量；缓存不帮忙；每次启动开销一样。",
        "Each operation reads one tensor and writes one; no cache helps; every launch costs the same.",
    );
    const SOURCE: &'static str = "arithmetic over passes";
    const EXAMPLE: &'static str =
        r#"{"operations": 4, "elements": 67108864, "value_bytes": "4", "peak_gb_per_s": 4800, "launch_us": 2.5}"#;

    fn question() -> Vec<FieldSpec> {
        vec![
            FieldSpec::int("operations", "1", 1, 1024, Text::new("算子个数 k", "Operations, k")),
            FieldSpec::int("elements", "1", 1, 1 << 40, Text::new("元素个数 n", "Elements, n")),
            choice("value_bytes", "B", &["1", "2", "4", "8"], Text::new("一个元素的字节", "Bytes of an element"))
                .default_value("4"),
            fields::peak(),
            FieldSpec::num("launch_us", "µs", 0.0, 1e6, Text::new("一次启动的开销", "Cost of a launch"))
                .default_value(2.5),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, unit, zh, en| FieldSpec::num(key, unit, 0.0, 1e18, Text::new(zh, en));
        vec![
            num("apart_bytes", "B", "分开做搬的字节", "Bytes moved by separate kernels"),
            num("fused_bytes", "B", "合成一个搬的字节", "Bytes moved by one kernel"),
            num("saved_bytes", "B", "少搬的字节", "Bytes saved"),
            num("byte_ratio", "1", "字节之比", "Ratio of the bytes"),
            num("apart_us", "µs", "分开做的时间", "Time of separate kernels"),
            num("fused_us", "µs", "合成一个的时间", "Time of one kernel"),
            num(
                "break_even_elements",
                "1",
                "一遍的时间等于启动开销时的元素数",
                "Elements at which a pass takes as long as its launch",
            ),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (k, n) = (args.uint("operations") as f64, args.uint("elements") as f64);
        let (value, peak, launch) = (chosen(args, "value_bytes"), args.num("peak_gb_per_s"), args.num("launch_us"));
        let fused = 2.0 * n * value as f64;
        // A pass is never shorter than its launch: the next one is queued while it runs.
        let pass = (fused / peak / 1e3).max(launch);
        Ok(answer([
            ("apart_bytes", number(fused * k)),
            ("fused_bytes", number(fused)),
            ("saved_bytes", number(fused * (k - 1.0))),
            ("byte_ratio", number(k)),
            ("apart_us", number(pass * k)),
            ("fused_us", number(pass)),
            ("break_even_elements", number(break_even(launch, peak, value))),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    /// Brief 04, vectors 1, 2 and 8.
    #[test]
    fn worked_cases() {
        let ask = |k: u64| {
            let given = json!({"operations": k, "elements": 67_108_864, "value_bytes": "4", "peak_gb_per_s": 4800});
            eval("fusion_chain", &question(&given))
        };
        let four = ask(4).unwrap();
        assert_eq!(
            (four["apart_bytes"].as_u64(), four["fused_bytes"].as_u64()),
            (Some(2_147_483_648), Some(536_870_912))
        );
        assert_eq!((four["byte_ratio"].as_u64(), four["break_even_elements"].as_u64()), (Some(4), Some(1_500_000)));
        assert_eq!(ask(1).unwrap()["byte_ratio"].as_u64(), Some(1));
        assert_eq!(ask(0).unwrap_err().field(), "operations");
        assert!((break_even(2.5, 4800.0, 4) - 1.5e6).abs() < 1e-6);
        // Brief 04, check question 1.
        let halves = json!({"operations": 6, "elements": 16_777_216, "value_bytes": "2", "peak_gb_per_s": 4800});
        assert_eq!(eval("fusion_chain", &question(&halves)).unwrap()["saved_bytes"].as_u64(), Some(335_544_320));
        // A tensor of four elements: each pass is as long as its launch.
        let given = json!({"operations": 4, "elements": 4, "peak_gb_per_s": 4800, "launch_us": 2.5});
        let tiny = eval("fusion_chain", &question(&given)).unwrap();
        assert_eq!((tiny["apart_us"].as_f64(), tiny["fused_us"].as_f64()), (Some(10.0), Some(2.5)));
    }
}
