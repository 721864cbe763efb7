//! What DeepSpeed's estimator says of model states: parameters, gradients, Adam's states, no activations.
//!
//! Question: parameters, the largest layer, the cluster, the ZeRO stage, what is offloaded. Answer: bytes a GPU and bytes of
//! host memory a node, as `estimate_zero2_/estimate_zero3_model_states_mem_needs` print them (in GiB, under the name GB).
//! Assumption: fp16 or bf16 training with Adam; 18 bytes a parameter, 16 without the half-precision copy.
//! Source: DeepSpeed, `docs/code-docs/source/memory.rst`.

use crate::fields::{answer, choice, number};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text};

pub struct ZeroEstimate;

const GIB: f64 = 1_073_741_824.0;
const MOST_PARAMS: i64 = 1 << 44;
const MOST_BYTES: i64 = 1 << 62;

impl Model for ZeroEstimate {
    const ID: &'static str = "zero_estimate";
    const TITLE: Text = Text::new("DeepSpeed 对模型状态的估计", "DeepSpeed's estimate of model states");
    const ASSUMES: Text = Text::new(
        "半精度加 Adam；不算激活和临时张量。原文印 GB，算的是 GiB。",
        "Half precision with Adam; no activations, no temporaries. The source prints GB and computes GiB.",
    );
    const SOURCE: &'static str = "deepspeedai/DeepSpeed, docs/code-docs/source/memory.rst";
    const EXAMPLE: &'static str =
        r#"{"n_params": 2851000000, "largest_layer_params": 32000000, "gpus_per_node": 8, "stage": 3}"#;

    fn question() -> Vec<FieldSpec> {
        let flag = |key, zh, en| FieldSpec::new(key, "", FieldKind::Bool, Text::new(zh, en));
        let count = |key, max, zh, en| FieldSpec::int(key, "1", 1, max, Text::new(zh, en));
        vec![
            count("n_params", MOST_PARAMS, "参数个数", "Parameters"),
            count(
                "largest_layer_params",
                MOST_PARAMS,
                "最大一层的参数个数；ZeRO-3",
                "Parameters of the largest layer; ZeRO-3",
            )
            .default_value(1),
            count("gpus_per_node", 1024, "一个节点的 GPU 数", "GPUs of a node").default_value(1),
            count("nodes", 65_536, "节点数", "Nodes").default_value(1),
            choice("stage", "", &["2", "3"], Text::new("ZeRO 的级别", "Stage of ZeRO")).default_value("3"),
            flag("offload_optimizer", "优化器状态放到主机", "Optimizer states on the host").default_value(false),
            flag(
                "offload_params",
                "参数也放到主机；要先放优化器",
                "Parameters on the host too; needs the optimizer there",
            )
            .default_value(false),
            flag("zero_init", "建模型时就切分", "Partitioned while it is built").default_value(true),
            FieldSpec::num("buffer_factor", "1", 1.0, 10.0, Text::new("主机内存的余量", "Allowance on host memory"))
                .default_value(1.5),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let bytes = |key, zh, en| FieldSpec::int(key, "B", 0, MOST_BYTES, Text::new(zh, en));
        let gib = |key, zh, en| FieldSpec::num(key, "GiB", 0.0, 1.0e10, Text::new(zh, en));
        vec![
            bytes("gpu_bytes", "每个 GPU", "Of a GPU"),
            bytes("cpu_bytes", "每个节点的主机内存", "Host memory of a node"),
            bytes("largest_layer_bytes", "其中聚齐最大一层", "Of which to gather the largest layer"),
            gib("gpu_gib", "每个 GPU", "Of a GPU"),
            gib("cpu_gib", "每个节点的主机内存", "Host memory of a node"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        if args.flag("offload_params") && !args.flag("offload_optimizer") {
            return Err(FieldError::conflict(
                "offload_params",
                "parameters go to the host after the optimizer; set offload_optimizer",
            ));
        }
        let (gpu, cpu, largest) = if args.text("stage") == "2" { stage_2(args) } else { stage_3(args) };
        Ok(answer([
            ("gpu_bytes", (gpu as u64).into()),
            ("cpu_bytes", (cpu as u64).into()),
            ("largest_layer_bytes", (largest as u64).into()),
            ("gpu_gib", number(gpu / GIB)),
            ("cpu_gib", number(cpu / GIB)),
        ]))
    }
}

/// GPU, host, largest layer.
fn stage_2(args: &Args) -> (f64, f64, f64) {
    let (params, per_node) = (args.uint("n_params") as f64, args.uint("gpus_per_node") as f64);
    let n_gpus = per_node * args.uint("nodes") as f64;
    let factor = args.num("buffer_factor");
    if args.flag("offload_optimizer") {
        return (2.0 * params, params * (4.0 * per_node).max(16.0) * factor, 0.0);
    }
    (4.0 * params + (16.0 * params / n_gpus).trunc(), params * 4.0 * per_node * factor, 0.0)
}

fn stage_3(args: &Args) -> (f64, f64, f64) {
    let (params, layer) = (args.uint("n_params") as f64, args.uint("largest_layer_params") as f64);
    let (per_node, nodes) = (args.uint("gpus_per_node") as f64, args.uint("nodes") as f64);
    let (n_gpus, factor) = (per_node * nodes, args.num("buffer_factor"));
    let largest = 4.0 * layer;
    // Bytes of a parameter on the host, and what a GPU keeps of it.
    let (host, kept) = match (args.flag("offload_optimizer"), args.flag("offload_params")) {
        (true, true) => (18.0 / nodes, 0.0),
        (true, false) => (16.0 / nodes, 2.0),
        (false, _) => (0.0, 18.0),
    };
    let cpu = match (args.flag("zero_init"), args.flag("offload_optimizer")) {
        (true, true) => params * host,
        (true, false) => layer * 4.0 * per_node,
        (false, true) => params * host.max(4.0 * per_node),
        (false, false) => params * 4.0 * per_node,
    };
    (largest + (kept * params / n_gpus).trunc(), cpu * factor, largest)
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::{Value, json};

    fn ask(given: &Value) -> vramlab_units::Map {
        eval("zero_estimate", &question(given)).unwrap()
    }

    /// DeepSpeed's own table for 2851e6 parameters on 8 GPUs, to its two decimals.
    #[test]
    fn the_printed_table_of_zero_3() {
        let rows = [
            (true, true, true, 71.69, 0.12),
            (true, true, false, 127.45, 0.12),
            (true, false, true, 63.72, 0.78),
            (true, false, false, 127.45, 0.78),
            (false, false, true, 1.43, 6.09),
            (false, false, false, 127.45, 6.09),
        ];
        for (optimizer, params, init, cpu, gpu) in rows {
            let answer = ask(&json!({"n_params": 2_851_000_000_u64, "largest_layer_params": 32_000_000,
                "gpus_per_node": 8, "offload_optimizer": optimizer, "offload_params": params, "zero_init": init}));
            let two = |key: &str| (answer[key].as_f64().unwrap() * 100.0).round() / 100.0;
            assert_eq!((two("cpu_gib"), two("gpu_gib")), (cpu, gpu), "{optimizer} {params} {init}");
        }
    }

    #[test]
    fn the_printed_table_of_zero_2() {
        for (optimizer, gpu) in [(true, 5.31), (false, 15.93)] {
            let answer = ask(&json!({"n_params": 2_851_000_000_u64, "gpus_per_node": 8, "stage": 2,
                "offload_optimizer": optimizer}));
            let two = |key: &str| (answer[key].as_f64().unwrap() * 100.0).round() / 100.0;
            assert_eq!((two("cpu_gib"), two("gpu_gib")), (127.45, gpu));
        }
    }

    /// t5-large on 4 GPUs: whole MiB, as the page prints them with `>> 20`.
    #[test]
    fn t5_large() {
        for (optimizer, params, mib) in [(false, false, 3291), (true, true, 125), (true, false, 477)] {
            let answer = ask(&json!({"n_params": 737_670_000_u64, "largest_layer_params": 32_900_000,
                "gpus_per_node": 4, "offload_optimizer": optimizer, "offload_params": params}));
            assert_eq!(answer["gpu_bytes"].as_u64().unwrap() >> 20, mib);
            assert_eq!(answer["largest_layer_bytes"].as_u64().unwrap() >> 20, 125);
        }
    }

    #[test]
    fn parameters_alone_are_not_offloaded() {
        let error = eval("zero_estimate", &question(&json!({"n_params": 1, "offload_params": true}))).unwrap_err();
        assert_eq!(error.field(), "offload_params");
    }
}
