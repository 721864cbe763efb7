//! The batch at which a linear layer leaves the slope of memory and reaches the compute ceiling.
//!
//! Question: side of the square weights, bytes of an element, the two ceilings. Answer: the ridge and the batch.
//! Assumption: n × n weights, an m × n input and an m × n output move once each, so I(m) = 2mn/((2m + n)·e); setting it
//! to the ridge r gives m* = e·r·n/(2(n − e·r)), with two-byte elements r·n/(n − 2r). Ceilings as in `roofline`.
//! Source: arithmetic from the roofline (Williams, Waterman, Patterson, CACM 52(4), 2009).
//! Errors: weights so small that their input and output alone keep the product under the slope, whatever the batch:
//! n must be larger than e·r.

use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

/// FLOP per byte of a product of an m × n input and n × n weights.
pub fn intensity(m: f64, n: f64, elem_bytes: f64) -> f64 {
    2.0 * m * n / ((2.0 * m + n) * elem_bytes)
}

/// The batch whose intensity is `ridge`; `None` if none is.
pub fn run(n: f64, ridge: f64, elem_bytes: f64) -> Option<f64> {
    let least = ridge * elem_bytes;
    (n > least).then(|| least * n / (2.0 * (n - least)))
}

pub struct BatchKnee;

impl Model for BatchKnee {
    const ID: &'static str = "batch_knee";
    const TITLE: Text = Text::new("批大小的拐点", "The knee of the batch");
    const ASSUMES: Text = Text::new(
        "权重是 n × n 的方阵；权重、输入、输出各搬一次，别的都不搬。",
        "Square weights, n × n; weights, input and output move once each and nothing else does.",
    );
    const SOURCE: &'static str = "arithmetic from Williams, Waterman, Patterson, \"Roofline\", CACM 52(4), 2009";
    const EXAMPLE: &'static str = r#"{"n": 4096, "peak_tflops": 989.4, "hbm_gb_per_s": 4800}"#;

    fn question() -> Vec<FieldSpec> {
        vec![
            FieldSpec::int("n", "1", 1, 10_000_000, Text::new("方阵权重的边长", "Side of the square weights")),
            fields::choice(
                "elem_bytes",
                "B",
                &["1", "2", "4", "8"],
                Text::new("一个元素的字节数", "Bytes of one element"),
            )
            .default_value("2"),
            FieldSpec::num("peak_tflops", "TFLOP/s", 1e-6, 1e6, Text::new("计算上限", "Compute ceiling")),
            FieldSpec::num("hbm_gb_per_s", "GB/s", 1e-3, 1e6, Text::new("显存带宽上限", "Ceiling of device memory")),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let batch = Text::new("从这个批大小起，计算上限说了算", "The first whole batch on the compute ceiling");
        vec![
            FieldSpec::num("ridge_flop_per_byte", "FLOP/B", 0.0, 1e12, Text::new("脊点", "The ridge")),
            FieldSpec::num(
                "batch_knee",
                "1",
                0.0,
                1e15,
                Text::new("强度等于脊点的批大小", "Batch whose intensity is the ridge"),
            ),
            FieldSpec::num("batch_first", "1", 1.0, 1e15, batch),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (n, elem_bytes) = (args.uint("n") as f64, fields::chosen(args, "elem_bytes") as f64);
        let ridge = args.num("peak_tflops") * 1000.0 / args.num("hbm_gb_per_s");
        let Some(knee) = run(n, ridge, elem_bytes) else {
            let least = ridge * elem_bytes;
            let reason = format!(
                "no batch reaches the ridge of {ridge:.2} FLOP/B: with {elem_bytes}-byte elements n must be larger than {least:.1}"
            );
            return Err(FieldError::conflict("n", reason));
        };
        if knee >= 1e15 {
            return Err(FieldError::conflict("n", "the batch at the ridge is beyond 1e15"));
        }
        Ok(fields::answer([
            ("ridge_flop_per_byte", fields::number(ridge)),
            ("batch_knee", fields::number(knee)),
            ("batch_first", fields::number(knee.ceil().max(1.0))),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    /// Vector 4 of the brief: n = 4096, two bytes, 989.4 TFLOP/s over 4.8 TB/s: m* = 229.19.
    #[test]
    fn the_knee_of_the_brief() {
        let given = json!({"n": 4096, "peak_tflops": 989.4, "hbm_gb_per_s": 4800});
        let answer = eval("batch_knee", &question(&given)).unwrap();
        assert!((answer["batch_knee"].as_f64().unwrap() - 229.19).abs() < 0.005, "{answer:?}");
        assert_eq!(answer["batch_first"], 230);
        assert!((answer["ridge_flop_per_byte"].as_f64().unwrap() - 206.125).abs() < 1e-9);
    }

    /// At the knee the intensity is the ridge, for every width of element.
    #[test]
    fn the_knee_has_the_intensity_of_the_ridge() {
        for (n, ridge, elem) in [(4096.0, 206.125, 2.0), (8192.0, 412.3, 1.0), (1024.0, 13.94, 4.0)] {
            let knee = run(n, ridge, elem).unwrap();
            assert!((intensity(knee, n, elem) / ridge - 1.0).abs() < 1e-12);
        }
    }

    /// n > 2r: with 412 columns and a ridge of 206.125 there is no knee; with 413 there is.
    #[test]
    fn small_weights_have_no_knee() {
        let given = |n: u64| json!({"n": n, "peak_tflops": 989.4, "hbm_gb_per_s": 4800});
        assert_eq!(eval("batch_knee", &question(&given(412))).unwrap_err().field(), "n");
        assert!(eval("batch_knee", &question(&given(413))).is_ok());
    }
}
