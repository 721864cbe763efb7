//! The roofline as a model of flat fields: units converted, levels paired, times judged.

use super::{Bound, Level, MOST_UTILISATION, Question, run, utilisation};
use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text, Value};

const TERA: f64 = 1e12;
const GIGA: f64 = 1e9;
const MICRO: f64 = 1e-6;

pub struct Roofline;

impl Model for Roofline {
    const ID: &'static str = "roofline";
    const TITLE: Text = Text::new("屋顶线（roofline）", "Roofline");
    const ASSUMES: Text = Text::new(
        "计算和各级传输完全重叠，各自始终跑满上限；在途字节不够的内核到不了任何一条线。没有字节的一级不设限。",
        "Work and transfers overlap fully and each runs at its ceiling; a kernel with too few bytes in flight stays below \
         every roof. A level without bytes sets no limit.",
    );
    const SOURCE: &'static str = "Williams, Waterman, Patterson, \"Roofline\", CACM 52(4), 2009; levels: Yang, Kurth, \
                                  Williams, \"Hierarchical Roofline Analysis for GPUs\", Concurrency and Computation \
                                  32(20), 2020";
    const EXAMPLE: &'static str =
        r#"{"flops": 2e9, "hbm_bytes": 12e9, "peak_tflops": 66.9, "hbm_gb_per_s": 4800, "time_us": 2700}"#;

    fn question() -> Vec<FieldSpec> {
        let bytes = |key, zh, en| FieldSpec::num(key, "B", 0.0, 1e18, Text::new(zh, en));
        let rate = |key, zh, en| FieldSpec::num(key, "GB/s", 1e-3, 1e6, Text::new(zh, en));
        vec![
            FieldSpec::num("flops", "FLOP", 0.0, 1e24, Text::new("浮点运算数", "Floating-point operations")),
            bytes("hbm_bytes", "进出显存的字节", "Bytes to and from device memory"),
            FieldSpec::num(
                "peak_tflops",
                "TFLOP/s",
                1e-6,
                1e6,
                Text::new("计算上限；稀疏峰值不算", "Compute ceiling, dense rather than sparse"),
            ),
            rate("hbm_gb_per_s", "显存带宽上限", "Ceiling of device memory"),
            bytes("l2_bytes", "进出 L2 的字节", "Bytes between L2 and the SMs").optional(),
            rate("l2_gb_per_s", "L2 带宽上限", "Ceiling of L2").optional(),
            bytes("l1_bytes", "进出 L1 或共享内存的字节", "Bytes through L1 or shared memory").optional(),
            rate("l1_gb_per_s", "L1 带宽上限", "Ceiling of L1").optional(),
            FieldSpec::num(
                "t0_us",
                "µs",
                0.0,
                1e9,
                Text::new("再小的内核也要花的时间", "Time that even the smallest launch takes"),
            )
            .default_value(0),
            FieldSpec::num("time_us", "µs", 1e-6, 1e15, Text::new("实测时间", "Measured time")).optional(),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let tflops = |key, zh, en| FieldSpec::num(key, "TFLOP/s", 0.0, 1e18, Text::new(zh, en));
        let per_byte = |key, zh, en| FieldSpec::num(key, "FLOP/B", 0.0, 1e24, Text::new(zh, en));
        vec![
            per_byte(
                "intensity_flop_per_byte",
                "算术强度，按显存字节；没有字节时为空",
                "Intensity by bytes of device memory; null without bytes",
            )
            .optional(),
            tflops("attainable_tflops", "最多能到的速率", "The best rate possible"),
            fields::choice(
                "bound",
                "",
                &Bound::ALL.map(Bound::id),
                Text::new("哪个上限在约束", "The ceiling that binds"),
            ),
            per_byte(
                "ridge_flop_per_byte",
                "脊点：显存斜线与计算上限相交处",
                "Ridge: where the slope of device memory meets the compute ceiling",
            ),
            tflops("hbm_tflops", "只看显存时最多多少", "Best rate under device memory alone").optional(),
            per_byte("l2_intensity_flop_per_byte", "按 L2 字节的强度", "Intensity by bytes of L2").optional(),
            tflops("l2_tflops", "只看 L2 时最多多少", "Best rate under L2 alone").optional(),
            per_byte("l1_intensity_flop_per_byte", "按 L1 字节的强度", "Intensity by bytes of L1").optional(),
            tflops("l1_tflops", "只看 L1 时最多多少", "Best rate under L1 alone").optional(),
            FieldSpec::num("t_floor_us", "µs", 0.0, 1e27, Text::new("最短时间", "Shortest possible time")),
            FieldSpec::num(
                "floor_gb_per_s",
                "GB/s",
                0.0,
                1e18,
                Text::new("按最短时间算的显存带宽", "Rate of device memory at the shortest time"),
            ),
            tflops("achieved_tflops", "按实测时间算的速率", "Rate at the measured time").optional(),
            FieldSpec::num(
                "achieved_gb_per_s",
                "GB/s",
                0.0,
                1e18,
                Text::new("按实测时间算的显存带宽", "Rate of device memory at the measured time"),
            )
            .optional(),
            FieldSpec::num(
                "utilisation",
                "1",
                0.0,
                MOST_UTILISATION,
                Text::new("最短时间 ÷ 实测时间", "Shortest time ÷ measured time"),
            )
            .optional(),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let question = question_from_args(args)?;
        let Some(found) = run(&question) else {
            return Err(FieldError::conflict("flops", "there is nothing to do: no FLOP, no byte and no launch floor"));
        };
        let (flops, hbm) = (question.flops, question.hbm);
        let measured = measured_secs(args, found.floor_secs)?;
        let tflops = |level: Option<Level>| optional(level.and_then(|level| level.flop_per_s(flops)), 1.0 / TERA);
        let intensity = |level: Option<Level>| optional(level.and_then(|level| level.intensity(flops)), 1.0);
        let per_time = |amount: f64, unit: f64| optional(measured.map(|secs| amount / secs), 1.0 / unit);
        Ok(fields::answer([
            ("intensity_flop_per_byte", intensity(Some(hbm))),
            ("attainable_tflops", fields::number(found.attainable_flop_per_s / TERA)),
            ("bound", found.bound.id().into()),
            ("ridge_flop_per_byte", fields::number(found.ridge)),
            ("hbm_tflops", tflops(Some(hbm))),
            ("l2_intensity_flop_per_byte", intensity(question.l2)),
            ("l2_tflops", tflops(question.l2)),
            ("l1_intensity_flop_per_byte", intensity(question.l1)),
            ("l1_tflops", tflops(question.l1)),
            ("t_floor_us", fields::number(found.floor_secs / MICRO)),
            ("floor_gb_per_s", fields::number(hbm.bytes / found.floor_secs / GIGA)),
            ("achieved_tflops", per_time(flops, TERA)),
            ("achieved_gb_per_s", per_time(hbm.bytes, GIGA)),
            ("utilisation", optional(measured.map(|secs| utilisation(found.floor_secs, secs)), 1.0)),
        ]))
    }
}

fn optional(value: Option<f64>, scale: f64) -> Value {
    value.map_or(Value::Null, |value| fields::number(value * scale))
}

fn question_from_args(args: &Args) -> Result<Question, FieldError> {
    let hbm = Level { bytes: bytes(args, "hbm_bytes")?, bytes_per_s: args.num("hbm_gb_per_s") * GIGA };
    let flops = args.num("flops");
    if flops > 0.0 && flops < 1.0 {
        return Err(FieldError::illegal("flops", &flops.into(), "0, or at least 1"));
    }
    Ok(Question {
        flops,
        flop_per_s: args.num("peak_tflops") * TERA,
        hbm,
        l2: level(args, "l2_bytes", "l2_gb_per_s")?,
        l1: level(args, "l1_bytes", "l1_gb_per_s")?,
        floor_secs: args.num("t0_us") * MICRO,
    })
}

/// Bytes are whole things: none, or at least one.
fn bytes(args: &Args, key: &str) -> Result<f64, FieldError> {
    let bytes = args.num(key);
    if bytes > 0.0 && bytes < 1.0 {
        return Err(FieldError::illegal(key, &bytes.into(), "0, or at least 1"));
    }
    Ok(bytes)
}

/// A level is its bytes and its ceiling, both or neither.
fn level(args: &Args, bytes_key: &str, rate_key: &str) -> Result<Option<Level>, FieldError> {
    let missing = |field: &str, other: &str, legal: &str| FieldError::Missing {
        field: field.to_owned(),
        legal: format!("{legal}, because {other} is given"),
    };
    match (args.has(bytes_key), args.has(rate_key)) {
        (false, false) => Ok(None),
        (true, true) => Ok(Some(Level { bytes: bytes(args, bytes_key)?, bytes_per_s: args.num(rate_key) * GIGA })),
        (true, false) => Err(missing(rate_key, bytes_key, "a number from 0.001 to 1000000")),
        (false, true) => Err(missing(bytes_key, rate_key, "a number from 0 to 1e18")),
    }
}

fn measured_secs(args: &Args, floor_secs: f64) -> Result<Option<f64>, FieldError> {
    if !args.has("time_us") {
        return Ok(None);
    }
    let secs = args.num("time_us") * MICRO;
    let share = utilisation(floor_secs, secs);
    if share > MOST_UTILISATION {
        let reason = format!(
            "utilisation would be {share:.2}: the ceilings allow no less than {:.4} µs, so a counter or a ceiling is wrong",
            floor_secs / MICRO
        );
        return Err(FieldError::conflict("time_us", reason));
    }
    Ok(Some(secs))
}
