//! The time of a step that copies its input in and then works: memory, arithmetic, launches, and the host link.
//!
//! Question: what the step takes of each of the four, how fast the machine does each, and whether the copy runs beside
//! the work. Answer: the four times, the step, and which of them is the longest.
//! Rule: `busy = max(bytes ÷ bandwidth, FLOP ÷ rate, launches × launch)`; the step is `busy + copy`, or the longer of the
//! two where the copy runs beside the work.
//! Assumption: while the card works its bytes, arithmetic and launches overlap perfectly; nothing else waits.
//! Source: the three ceilings of S. Williams, A. Waterman, D. Patterson, CACM 52(4), 2009, with launches and a link.
//! Errors: fields out of range; a step that takes nothing.

use crate::bottleneck::{self, BOUNDS, Machine, Work};
use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text};

/// The times of a step in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    pub memory_ms: f64,
    pub compute_ms: f64,
    pub launch_ms: f64,
    pub copy_ms: f64,
    /// The longest of the first three.
    pub busy_ms: f64,
    pub step_ms: f64,
}

/// See the module's docs.
pub fn step(work: &Work, machine: &Machine, is_overlapped: bool) -> Timing {
    let memory_ms = work.bytes / (machine.peak_gb_per_s * 1.0e6); // 1 GB/s moves a million bytes in a millisecond
    let compute_ms = work.flop / (machine.peak_tflop_per_s * 1.0e9);
    let launch_ms = work.launches * machine.launch_us / 1.0e3;
    let copy_ms = work.link_bytes / (machine.link_gb_per_s * 1.0e6);
    let busy_ms = memory_ms.max(compute_ms).max(launch_ms);
    let step_ms = if is_overlapped { busy_ms.max(copy_ms) } else { busy_ms + copy_ms };
    Timing { memory_ms, compute_ms, launch_ms, copy_ms, busy_ms, step_ms }
}

/// The fields of a workload, shared with the planner.
pub(crate) fn workload() -> Vec<FieldSpec> {
    let num = |key, unit, zh, en| FieldSpec::num(key, unit, 0.0, 1.0e18, Text::new(zh, en));
    let rate = |key, unit, max, zh, en| FieldSpec::num(key, unit, 1.0e-3, max, Text::new(zh, en));
    vec![
        num("bytes", "B", "搬运的显存字节", "Bytes of device memory that are moved"),
        num("flop", "FLOP", "运算次数，乘加算 2 次", "Operations; a multiply-add is 2").default_value(0.0),
        num("launches", "1", "启动的内核数", "Kernels launched").default_value(1.0),
        num("link_bytes", "B", "主机与卡之间拷的字节", "Bytes copied over the host link").default_value(0.0),
        rate("peak_gb_per_s", "GB/s", 1.0e6, "显存带宽", "Bandwidth of the memory").default_value(4800.0),
        rate("peak_tflop_per_s", "TFLOP/s", 1.0e6, "算力", "Rate of arithmetic").default_value(989.5),
        FieldSpec::num("launch_us", "µs", 0.0, 1.0e6, Text::new("一次启动的时间", "Time of a launch"))
            .default_value(2.5),
        rate("link_gb_per_s", "GB/s", 1.0e6, "链路带宽", "Bandwidth of the link").default_value(55.0),
    ]
}

/// What [`workload`] was given.
pub(crate) fn work_of(args: &Args) -> (Work, Machine) {
    let work = Work {
        bytes: args.num("bytes"),
        flop: args.num("flop"),
        launches: args.num("launches"),
        link_bytes: args.num("link_bytes"),
    };
    let machine = Machine {
        peak_gb_per_s: args.num("peak_gb_per_s"),
        peak_tflop_per_s: args.num("peak_tflop_per_s"),
        launch_us: args.num("launch_us"),
        link_gb_per_s: args.num("link_gb_per_s"),
    };
    (work, machine)
}

pub struct PipelineStep;

impl Model for PipelineStep {
    const ID: &'static str = "pipeline_step";
    const TITLE: Text = Text::new("一步的时间", "The time of a step");
    const ASSUMES: Text = Text::new(
        "卡在干活时，访存、运算和启动完全重叠，取最长的一项；拷贝要么排在前面，要么完全和它重叠。",
        "While the card works, its memory traffic, arithmetic and launches overlap perfectly and the longest counts; the \
         copy either goes first or runs wholly beside it.",
    );
    const SOURCE: &'static str =
        "S. Williams, A. Waterman, D. Patterson, CACM 52(4), 2009, with launches and a link added";
    const EXAMPLE: &'static str = r#"{"bytes": 4.8e9, "flop": 9.895e10, "launches": 1000, "link_bytes": 5.5e7}"#;

    fn question() -> Vec<FieldSpec> {
        let overlapped = Text::new("拷贝和计算同时进行", "The copy runs beside the work");
        let mut out = workload();
        out.push(FieldSpec::new("is_overlapped", "", FieldKind::Bool, overlapped).default_value(false));
        out
    }

    fn answer() -> Vec<FieldSpec> {
        let ms = |key, zh, en| FieldSpec::num(key, "ms", 0.0, 1.0e24, Text::new(zh, en));
        vec![
            ms("memory_ms", "访存要的时间", "Time of the memory traffic"),
            ms("compute_ms", "运算要的时间", "Time of the arithmetic"),
            ms("launch_ms", "启动要的时间", "Time of the launches"),
            ms("copy_ms", "拷贝要的时间", "Time of the copy"),
            ms("busy_ms", "卡在干活的时间", "Time in which the card works"),
            ms("step_ms", "一步的时间", "Time of the step"),
            fields::choice("bound", "", &BOUNDS, Text::new("最长的一项", "The longest of the four")),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (work, machine) = work_of(args);
        let found = bottleneck::run(&work, &machine).ok_or_else(|| {
            FieldError::conflict("bytes", "the step takes nothing; give it bytes, FLOP, launches or a copy")
        })?;
        let timing = step(&work, &machine, args.flag("is_overlapped"));
        Ok(fields::answer([
            ("memory_ms", fields::number(timing.memory_ms)),
            ("compute_ms", fields::number(timing.compute_ms)),
            ("launch_ms", fields::number(timing.launch_ms)),
            ("copy_ms", fields::number(timing.copy_ms)),
            ("busy_ms", fields::number(timing.busy_ms)),
            ("step_ms", fields::number(timing.step_ms)),
            ("bound", found.bound_id().into()),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::{Value, json};

    #[track_caller]
    fn check(more: Value, step_ms: f64, bound: &str) {
        let mut given = question(&json!({"bytes": 4.8e9, "flop": 9.895e10, "launches": 1000, "link_bytes": 5.5e7}));
        given.extend(question(&more));
        let answer = eval("pipeline_step", &given).unwrap();
        let found = answer["step_ms"].as_f64().unwrap();
        assert!((found - step_ms).abs() < 1e-9 * step_ms, "{found} is not {step_ms}");
        assert_eq!(answer["bound"], bound);
    }

    /// Brief 10, vectors 3 to 6: memory 1.0, compute 0.1, copy 1.0, launches 2.5 ms.
    #[test]
    fn one_change_at_a_time() {
        check(json!({}), 3.5, "launches");
        check(json!({"bytes": 2.4e9, "launches": 250}), 1.625, "link");
        check(json!({"bytes": 2.4e9, "launches": 250, "is_overlapped": true}), 1.0, "link");
        check(json!({"bytes": 2.4e9, "launches": 1, "is_overlapped": true}), 1.0, "link");
        check(json!({"launches": 1}), 2.0, "memory+link");
        check(json!({"is_overlapped": true}), 2.5, "launches");
    }

    #[test]
    fn a_step_of_nothing_is_refused() {
        let given = question(&json!({"bytes": 0, "launches": 0}));
        assert_eq!(eval("pipeline_step", &given).unwrap_err().field(), "bytes");
    }
}
