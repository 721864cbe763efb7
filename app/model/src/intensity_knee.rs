//! How much arithmetic an element needs before memory stops limiting it.
//!
//! Question: bytes that an element moves, operations of one step, the two ceilings. Answer: the ridge, and the
//! operations and steps an element takes to reach it.
//! Assumption: as in `roofline`: traffic and work overlap fully. Near the knee neither hides the other, so a
//! measurement turns more gently.
//! Source: arithmetic from the roofline (Williams, Waterman, Patterson, CACM 52(4), 2009).
//! Errors: fields out of range.

use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

/// Operations for each element at the ridge.
pub fn flops_per_elem(ridge: f64, bytes_per_elem: f64) -> f64 {
    ridge * bytes_per_elem
}

pub struct IntensityKnee;

impl Model for IntensityKnee {
    const ID: &'static str = "intensity_knee";
    const TITLE: Text = Text::new("强度的拐点", "The knee of intensity");
    const ASSUMES: Text = Text::new(
        "搬运和运算完全重叠；拐点附近谁也藏不住谁，实测的拐角更圆。",
        "Traffic and work overlap fully; near the knee neither hides the other, and a measured corner is rounder.",
    );
    const SOURCE: &'static str = "arithmetic from Williams, Waterman, Patterson, \"Roofline\", CACM 52(4), 2009";
    const EXAMPLE: &'static str = r#"{"bytes_per_elem": 8, "peak_tflops": 66.9, "hbm_gb_per_s": 4800}"#;

    fn question() -> Vec<FieldSpec> {
        let step = Text::new("一步几次运算；乘加（FMA）是 2", "Operations of one step; 2 for a fused multiply-add");
        vec![
            FieldSpec::num(
                "bytes_per_elem",
                "B",
                1.0,
                1e6,
                Text::new("每个元素搬的字节", "Bytes that an element moves"),
            ),
            FieldSpec::num("flops_per_step", "FLOP", 1.0, 1e6, step).default_value(2),
            FieldSpec::num("peak_tflops", "TFLOP/s", 1e-6, 1e6, Text::new("计算上限", "Compute ceiling")),
            FieldSpec::num("hbm_gb_per_s", "GB/s", 1e-3, 1e6, Text::new("显存带宽上限", "Ceiling of device memory")),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, unit, zh, en| FieldSpec::num(key, unit, 0.0, 1e18, Text::new(zh, en));
        vec![
            num("ridge_flop_per_byte", "FLOP/B", "脊点", "The ridge"),
            num("flops_per_elem", "FLOP", "脊点上每个元素的运算数", "Operations an element takes at the ridge"),
            num("steps_per_elem", "1", "脊点上每个元素的步数", "Steps an element takes at the ridge"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let ridge = args.num("peak_tflops") * 1000.0 / args.num("hbm_gb_per_s");
        let flops = flops_per_elem(ridge, args.num("bytes_per_elem"));
        Ok(fields::answer([
            ("ridge_flop_per_byte", fields::number(ridge)),
            ("flops_per_elem", fields::number(flops)),
            ("steps_per_elem", fields::number(flops / args.num("flops_per_step"))),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    /// Brief 12, experiment 2: 4 bytes read, 4 written, 2 operations an FMA: the knee is near 56 where 2k/8 = 13.94.
    #[test]
    fn the_knee_of_the_intensity_ramp() {
        let given = json!({"bytes_per_elem": 8, "peak_tflops": 66.9, "hbm_gb_per_s": 4800});
        let answer = eval("intensity_knee", &question(&given)).unwrap();
        assert!((answer["steps_per_elem"].as_f64().unwrap() - 55.75).abs() < 1e-9, "{answer:?}");
        assert!((answer["flops_per_elem"].as_f64().unwrap() - 111.5).abs() < 1e-9);
        let attainable = |flops: f64| {
            let given = json!({"flops": flops, "hbm_bytes": 8, "peak_tflops": 66.9, "hbm_gb_per_s": 4800});
            eval("roofline", &question(&given)).unwrap()["bound"].clone()
        };
        assert_eq!((attainable(111.0), attainable(112.0)), (json!("hbm"), json!("compute")));
    }
}
