//! From what NVML reports for a process down to its tensors: each step a difference of two figures, and what no figure covers
//! as unknown.
//!
//! Question: what NVML attributes to the process, what the framework's allocator has reserved, what of it is in blocks in
//! use, what was asked for, and optionally who owns it and what the context took. Answer: each part, and what stays
//! unexplained. Assumption: all figures are of one process, one device and one moment. Source: NVML's
//! `nvmlProcessInfo_t.usedGpuMemory`; PyTorch's `memory_stats` (`reserved_bytes`, `allocated_bytes`, `requested_bytes`).
//! Errors: figures that contradict each other, named by the field that is too large.

use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

/// The largest amount that is taken, bytes: a petabyte.
const MOST: i64 = 1 << 50;

/// Fields of owners, in the order in which they are drawn.
pub const OWNERS: [&str; 5] =
    ["parameters_bytes", "gradients_bytes", "optimizer_bytes", "activations_bytes", "other_bytes"];

/// Figures of one process at one moment, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    pub nvml_process: u64,
    pub reserved: u64,
    pub allocated: u64,
    pub requested: u64,
    /// What the process held beside its first allocation, where that was measured.
    pub context: Option<u64>,
    /// Allocations of the process that are none of the framework's segments, where they were recorded.
    pub libraries: Option<u64>,
    /// In the order of [`OWNERS`]; nothing where it is not known.
    pub owners: [Option<u64>; 5],
}

/// The parts of the bar; they add up to what NVML reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Outside the framework's allocator: NVML less reserved.
    pub outside: u64,
    pub context: u64,
    pub libraries: u64,
    /// Outside, less context and libraries: modules loaded later, local memory of kernels, what else the driver takes.
    pub unknown_outside: u64,
    pub cached: u64,
    pub rounding: u64,
    pub owned: u64,
    /// Asked for, and nobody says for what.
    pub unowned: u64,
}

impl Parts {
    pub fn unexplained(&self) -> u64 {
        self.unknown_outside + self.unowned
    }
}

/// The difference of two figures, or the field that is too large.
fn rest(whole: u64, part: u64, (key, what): (&'static str, &str)) -> Result<u64, FieldError> {
    whole.checked_sub(part).ok_or_else(|| FieldError::conflict(key, format!("{part} is more than {what} = {whole}")))
}

/// Splits what NVML reports.
pub fn split(figures: &Figures) -> Result<Parts, FieldError> {
    let outside = rest(figures.nvml_process, figures.reserved, ("reserved_bytes", "nvml_process_bytes"))?;
    let cached = rest(figures.reserved, figures.allocated, ("allocated_bytes", "reserved_bytes"))?;
    let rounding = rest(figures.allocated, figures.requested, ("requested_bytes", "allocated_bytes"))?;
    let owned = figures.owners.iter().flatten().sum();
    let last = OWNERS.iter().zip(figures.owners).rev().find(|(_, bytes)| bytes.is_some());
    let key = last.map_or("other_bytes", |(key, _)| key);
    let unowned = figures.requested.checked_sub(owned).ok_or_else(|| {
        let requested = figures.requested;
        FieldError::conflict(key, format!("the owners together, {owned}, are more than requested_bytes = {requested}"))
    })?;
    let context = figures.context.unwrap_or_default();
    let libraries = figures.libraries.unwrap_or_default();
    let left = rest(outside, context, ("context_bytes", "nvml_process_bytes less reserved_bytes"))?;
    let unknown_outside =
        rest(left, libraries, ("libraries_bytes", "what lies outside the allocator and the context"))?;
    Ok(Parts { outside, context, libraries, unknown_outside, cached, rounding, owned, unowned })
}

pub struct Reconcile;

impl Model for Reconcile {
    const ID: &'static str = "reconcile";
    const TITLE: Text = Text::new("从 NVML 到张量的对账", "Reconciling NVML with the tensors");
    const ASSUMES: Text = Text::new(
        "所有数字属于同一个进程、同一张卡、同一时刻；没有数字覆盖的部分是未知，不摊给谁。",
        "All figures are of one process, one device and one moment; what no figure covers is unknown and given to nobody.",
    );
    const SOURCE: &'static str = "NVIDIA NVML API reference, nvmlProcessInfo_t.usedGpuMemory; pytorch/pytorch, \
         torch/cuda/memory.py, memory_stats";
    const EXAMPLE: &'static str = r#"{"nvml_process_bytes": 4102029312, "reserved_bytes": 3294625792, "allocated_bytes": 2709468160, "requested_bytes": 2707365960, "context_bytes": 555745280, "libraries_bytes": 134532616}"#;

    fn question() -> Vec<FieldSpec> {
        let bytes = |key, zh, en| FieldSpec::int(key, "B", 0, MOST, Text::new(zh, en));
        vec![
            bytes("nvml_process_bytes", "NVML 记在进程上的显存", "What NVML attributes to the process"),
            bytes(
                "reserved_bytes",
                "框架分配器保留的（各段之和）",
                "Reserved by the framework's allocator: its segments",
            ),
            bytes("allocated_bytes", "其中在用的块", "Of it, blocks in use"),
            bytes("requested_bytes", "这些块实际申请的", "What was asked for in those blocks"),
            bytes(
                "context_bytes",
                "第一次分配时，进程在它之外已占的",
                "What the process held beside its first allocation",
            )
            .optional(),
            bytes("libraries_bytes", "库自己的 cudaMalloc", "What libraries allocated by themselves").optional(),
            bytes("parameters_bytes", "参数", "Parameters").optional(),
            bytes("gradients_bytes", "梯度", "Gradients").optional(),
            bytes("optimizer_bytes", "优化器状态", "Optimizer state").optional(),
            bytes("activations_bytes", "激活", "Activations").optional(),
            bytes("other_bytes", "其他已知的主人", "Other known owners").optional(),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let bytes = |key, zh, en| FieldSpec::int(key, "B", 0, MOST, Text::new(zh, en));
        vec![
            bytes("outside_bytes", "分配器之外：NVML 减保留", "Outside the allocator: NVML less reserved"),
            bytes(
                "unknown_outside_bytes",
                "其中上下文和库都解释不了的",
                "Of it, what neither context nor libraries explain",
            ),
            bytes("cached_bytes", "缓存：保留减在用", "Cached: reserved less in use"),
            bytes("rounding_bytes", "取整：在用减申请", "Rounding: in use less asked for"),
            bytes("owned_bytes", "有主人的申请", "Asked for, with an owner"),
            bytes("unowned_bytes", "没有主人的申请", "Asked for, without one"),
            bytes("explained_bytes", "解释得了的", "Explained"),
            bytes("unexplained_bytes", "解释不了的", "Unexplained"),
            FieldSpec::num("explained_share", "%", 0.0, 1.0, Text::new("解释得了的占比", "Share that is explained")),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let figures = figures(args);
        let parts = split(&figures)?;
        let explained = figures.nvml_process - parts.unexplained();
        // A process without memory has nothing unexplained.
        let share = if figures.nvml_process == 0 { 1.0 } else { explained as f64 / figures.nvml_process as f64 };
        Ok(fields::answer([
            ("outside_bytes", parts.outside.into()),
            ("unknown_outside_bytes", parts.unknown_outside.into()),
            ("cached_bytes", parts.cached.into()),
            ("rounding_bytes", parts.rounding.into()),
            ("owned_bytes", parts.owned.into()),
            ("unowned_bytes", parts.unowned.into()),
            ("explained_bytes", explained.into()),
            ("unexplained_bytes", parts.unexplained().into()),
            ("explained_share", share.into()),
        ]))
    }
}

/// The figures of a checked question.
pub fn figures(args: &Args) -> Figures {
    let known = |key: &str| args.map().get(key).and_then(serde_json::Value::as_u64);
    Figures {
        nvml_process: args.uint("nvml_process_bytes"),
        reserved: args.uint("reserved_bytes"),
        allocated: args.uint("allocated_bytes"),
        requested: args.uint("requested_bytes"),
        context: known("context_bytes"),
        libraries: known("libraries_bytes"),
        owners: OWNERS.map(known),
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::{Value, json};

    fn ask(given: Value) -> Result<Value, String> {
        eval("reconcile", &question(&given)).map(Value::Object).map_err(|error| error.to_string())
    }

    /// By hand: 1000 = 200 context + 100 unknown + 50 cached + 10 rounding + 600 parameters + 40 nobody's.
    #[test]
    fn the_parts_add_up_to_what_nvml_reports() {
        let answer = ask(json!({"nvml_process_bytes": 1000, "reserved_bytes": 700, "allocated_bytes": 650,
            "requested_bytes": 640, "context_bytes": 200, "parameters_bytes": 600}))
        .unwrap();
        assert_eq!(answer["outside_bytes"], json!(300));
        assert_eq!((&answer["unknown_outside_bytes"], &answer["cached_bytes"]), (&json!(100), &json!(50)));
        assert_eq!((&answer["rounding_bytes"], &answer["unowned_bytes"]), (&json!(10), &json!(40)));
        assert_eq!((&answer["unexplained_bytes"], &answer["explained_share"]), (&json!(140), &json!(0.86)));
    }

    /// `train_peaks.json`, six configurations on an H200: the card's used memory less what PyTorch had reserved is the same
    /// for five of them to the byte, whatever the model, and 2 MiB less for the first: it is the context and the libraries.
    #[test]
    fn what_lies_outside_the_allocator_does_not_depend_on_the_model() {
        let rows: [(u64, u64); 4] = [
            (8_458_665_984, 7_577_010_176),
            (14_972_420_096, 14_088_667_136),
            (20_001_390_592, 19_117_637_632),
            (10_071_375_872, 9_187_622_912),
        ];
        let outside = rows.map(|(used, reserved)| {
            let answer = ask(json!({"nvml_process_bytes": used, "reserved_bytes": reserved, "allocated_bytes": 0,
                "requested_bytes": 0}))
            .unwrap();
            answer["outside_bytes"].as_u64().unwrap()
        });
        assert_eq!(outside, [881_655_808, 883_752_960, 883_752_960, 883_752_960]);
    }

    /// A GPT that trains on an H200, watched by `vramlab profile` with a snapshot beside it (`assets/profiles`): CUPTI saw each
    /// of the 56 segments allocated, and ten calls more, five for each of two cuBLAS handles (1,024, 131,072, 67,108,864,
    /// 25,344 and 4 bytes). What is left over are modules that were loaded after the first allocation.
    #[test]
    fn a_recorded_run_leaves_what_was_loaded_later() {
        let handle: u64 = 1_024 + 131_072 + 67_108_864 + 25_344 + 4;
        let answer = ask(json!({"nvml_process_bytes": 4_102_029_312_u64, "reserved_bytes": 3_294_625_792_u64,
            "allocated_bytes": 2_709_468_160_u64, "requested_bytes": 2_707_365_960_u64, "context_bytes": 530 << 20,
            "libraries_bytes": 2 * handle}))
        .unwrap();
        assert_eq!(answer["outside_bytes"], json!(807_403_520));
        assert_eq!(answer["unknown_outside_bytes"], json!(117_125_624));
        assert_eq!((&answer["cached_bytes"], &answer["rounding_bytes"]), (&json!(585_157_632), &json!(2_102_200)));
    }

    #[test]
    fn contradictions_are_named() {
        let base =
            [("nvml_process_bytes", 100), ("reserved_bytes", 80), ("allocated_bytes", 60), ("requested_bytes", 50)];
        for (key, value, field) in [
            ("reserved_bytes", 101, "reserved_bytes"),
            ("allocated_bytes", 81, "allocated_bytes"),
            ("requested_bytes", 61, "requested_bytes"),
            ("context_bytes", 21, "context_bytes"),
            ("libraries_bytes", 21, "libraries_bytes"),
            ("gradients_bytes", 51, "gradients_bytes"),
        ] {
            let mut given: serde_json::Map<String, Value> =
                base.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
            given.insert(key.to_owned(), json!(value));
            let error = ask(Value::Object(given)).unwrap_err();
            assert!(error.starts_with(field), "{error}");
        }
        let nothing =
            ask(json!({"nvml_process_bytes": 0, "reserved_bytes": 0, "allocated_bytes": 0, "requested_bytes": 0}));
        assert_eq!(nothing.unwrap()["explained_share"], json!(1.0));
    }
}
