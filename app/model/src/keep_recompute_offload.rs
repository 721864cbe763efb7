//! A buffer that is wanted again after some layers: kept, computed again, or sent to the host and fetched.
//!
//! Question: its bytes, the arithmetic of a layer, layers in between, the three ceilings. Answer: the time that each way adds, and
//! the way that adds least while the memory is free. Derivation: a layer takes t = max(2·bytes/BW, FLOP/F); recomputing adds t;
//! offloading adds 2·bytes/link on one stream; beside the layers each half of them hides one crossing, so that
//! 2·max(0, bytes/link − n·t/2) stay to be seen.
//! Assumption: equal layers that read and write a buffer of this size; copies slow no kernel down. The second holds nearly: a link
//! takes about a hundredth of the bandwidth of device memory.
//! Source: the roofline (Williams, Waterman, Patterson, CACM 52(4), 2009) and the arithmetic above. Errors: fields out of range.

use crate::fields::{answer, choice, number};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text};

pub const WAYS: &[&str] = &["keep", "recompute", "offload", "beside"];

/// Milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    pub layer: f64,
    pub crossing: f64,
    pub recompute: f64,
    pub offload: f64,
    pub beside: f64,
}

pub fn times(bytes: f64, flop: f64, n_between: f64, gb_per_s: [f64; 2], peak_tflops: f64) -> Times {
    let [memory, link] = gb_per_s;
    let layer = (2.0 * bytes / (memory * 1e6)).max(flop / (peak_tflops * 1e9));
    let crossing = bytes / (link * 1e6);
    let beside = 2.0 * (crossing - n_between * layer / 2.0).max(0.0);
    Times { layer, crossing, recompute: layer, offload: 2.0 * crossing, beside }
}

pub struct KeepRecomputeOffload;

impl Model for KeepRecomputeOffload {
    const ID: &'static str = "keep_recompute_offload";
    const TITLE: Text = Text::new("留着、重算，还是卸载", "Keep, recompute or offload");
    const ASSUMES: Text = Text::new(
        "各层一样，读一块写一块；拷贝不拖慢内核。",
        "Equal layers that read one buffer and write one; copies slow no kernel down.",
    );
    const SOURCE: &'static str = "arithmetic from Williams, Waterman, Patterson, \"Roofline\", CACM 52(4), 2009";
    const EXAMPLE: &'static str = r#"{"buffer_mib": 96, "fma_per_elem": 256, "n_between": 8, "hbm_gb_per_s": 4800,
        "peak_tflops": 66.9, "link_gb_per_s": 53, "way": "recompute"}"#;

    fn question() -> Vec<FieldSpec> {
        let num = |key, unit, least, most, zh, en| FieldSpec::num(key, unit, least, most, Text::new(zh, en));
        vec![
            num("buffer_mib", "MiB", 0.001, 1e6, "缓冲区", "The buffer"),
            num(
                "fma_per_elem",
                "FMA",
                0.0,
                1e6,
                "一层对每个 fp32 元素做几次乘加",
                "Multiply-adds of a layer on each fp32 element",
            ),
            FieldSpec::int("n_between", "1", 0, 10_000, Text::new("中间隔几层", "Layers in between")).default_value(8),
            num("hbm_gb_per_s", "GB/s", 0.001, 1e6, "显存带宽", "Bandwidth of device memory"),
            num("peak_tflops", "TFLOP/s", 1e-6, 1e6, "计算上限", "Compute ceiling"),
            num("link_gb_per_s", "GB/s", 0.001, 1e5, "主机链路", "The host link"),
            choice("way", "", WAYS, Text::new("哪一种办法", "The way")).default_value("keep"),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let ms = |key, zh, en| FieldSpec::num(key, "ms", 0.0, 1e25, Text::new(zh, en));
        vec![
            ms("layer_ms", "一层的时间", "Time of a layer"),
            ms("recompute_ms", "重算多花", "What recomputing adds"),
            ms("offload_ms", "卸载多花，不重叠", "What offloading adds, not overlapped"),
            ms("beside_ms", "卸载多花，与计算重叠", "What offloading adds beside the layers"),
            ms("extra_ms", "这种办法多花", "What this way adds"),
            ms("stretch_ms", "到缓冲区又在手，一共", "All of the time until the buffer is there again"),
            FieldSpec::new(
                "cheapest",
                "",
                FieldKind::Text { max_len: 16 },
                Text::new("腾出显存的办法里最快的", "The fastest way that frees the memory"),
            ),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let bytes = args.num("buffer_mib") * 1_048_576.0;
        let flop = 2.0 * args.num("fma_per_elem") * bytes / 4.0;
        let n_between = args.uint("n_between") as f64;
        let rates = [args.num("hbm_gb_per_s"), args.num("link_gb_per_s")];
        let times = times(bytes, flop, n_between, rates, args.num("peak_tflops"));
        let extra = match args.text("way") {
            "recompute" => times.recompute,
            "offload" => times.offload,
            "beside" => times.beside,
            _ => 0.0,
        };
        let cheapest = if times.recompute <= times.beside { "recompute" } else { "beside" };
        Ok(answer([
            ("layer_ms", number(times.layer)),
            ("recompute_ms", number(times.recompute)),
            ("offload_ms", number(times.offload)),
            ("beside_ms", number(times.beside)),
            ("extra_ms", number(extra)),
            ("stretch_ms", number(n_between * times.layer + extra)),
            ("cheapest", cheapest.into()),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    /// By hand, 100 MB at 1000 GB/s, a link of 50 GB/s: a layer of one multiply-add takes 0.2 ms, a crossing 2 ms. Eight layers
    /// take 1.6 ms, so that 2 · (2 − 0.8) ms of the crossings are seen beside them.
    #[test]
    fn the_three_ways_by_hand() {
        let ask = |fmas: f64, way: &str| {
            let given = json!({"buffer_mib": 1e8 / 1_048_576.0, "fma_per_elem": fmas, "n_between": 8, "hbm_gb_per_s": 1000,
                "peak_tflops": 10, "link_gb_per_s": 50, "way": way});
            eval("keep_recompute_offload", &question(&given)).unwrap()
        };
        let near = |found: &serde_json::Value, wanted: f64| {
            assert!((found.as_f64().unwrap() - wanted).abs() < 1e-9, "{found}")
        };
        let few = ask(1.0, "beside");
        near(&few["layer_ms"], 0.2);
        near(&few["recompute_ms"], 0.2);
        near(&few["offload_ms"], 4.0);
        near(&few["beside_ms"], 2.4);
        near(&few["stretch_ms"], 4.0);
        assert_eq!(few["cheapest"], "recompute");
        // 25 M elements · 2 · 1000 FLOP at 10 TFLOP/s are 5 ms: the crossings hide, and recomputing costs more than they do.
        let many = ask(1000.0, "recompute");
        near(&many["layer_ms"], 5.0);
        near(&many["beside_ms"], 0.0);
        near(&many["stretch_ms"], 45.0);
        assert_eq!(many["cheapest"], "beside");
    }
}
