//! A number in a floating-point format of 16 bits and fewer.
//!
//! Question: a number, a format, what happens beyond its range. Answer: its code, the nearest number of the format (ties to
//! even, subnormals kept), or that there is none, and the relative error. Assumption: the scale is exact, no stochastic rounding.
//! Source: IEEE 754 (binary16); bfloat16 as the upper half of binary32; E4M3 and E5M2: Micikevicius et al. 2022, "FP8 Formats for
//! Deep Learning", table 1. Errors: none beyond the ranges.

use crate::fields::{answer, choice, number};
use crate::registry::Model;
use vramlab_codec::float;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

pub struct Quantise;

const FORMATS: &[&str] = &["fp16", "bf16", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1"];

/// A binary format with what oracles and models ask of it; the codes are `vramlab_codec`'s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Format {
    pub mantissa_bits: i32,
    /// Exponent of the smallest normal number.
    pub min_exponent: i32,
    pub largest: f64,
    /// Beyond the largest: infinity, or only a NaN.
    pub has_infinity: bool,
    codes: float::Format,
}

const fn of(codes: float::Format, largest: f64) -> Format {
    Format {
        mantissa_bits: codes.mantissa_bits as i32,
        min_exponent: 1 - codes.bias,
        largest,
        has_infinity: matches!(codes.top, float::Top::Ieee),
        codes,
    }
}

pub const FP16: Format = of(float::F16, 65_504.0);
/// 2¹²⁷ · (2 − 2⁻⁷)
pub const BF16: Format = of(float::BF16, 3.389_531_389_251_535_5e38);
pub const E4M3: Format = of(float::E4M3, 448.0);
pub const E5M2: Format = of(float::E5M2, 57_344.0);

/// What a number becomes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stored {
    Number(f64),
    Infinity,
    Nan,
}

/// Rounds to the nearest, ties to even.
pub fn quantise(x: f64, format: Format, saturates: bool) -> Stored {
    match format.codes.store(x, saturates) {
        float::Stored::Number(value) => Stored::Number(value),
        float::Stored::Infinity(_) => Stored::Infinity,
        float::Stored::Nan => Stored::Nan,
    }
}

impl Model for Quantise {
    const ID: &'static str = "quantise";
    const TITLE: Text = Text::new("一个数在少位数的格式里", "A number in a format of few bits");
    const ASSUMES: Text = Text::new(
        "就近舍入，一半取偶；保留次正规数；缩放本身不舍入。",
        "Rounded to the nearest, ties to even; subnormals kept; the scale itself is exact.",
    );
    const SOURCE: &'static str =
        "IEEE 754 binary16; bfloat16; Micikevicius et al. 2022, FP8 Formats for Deep Learning, table 1; OCP MX 1.0";
    const EXAMPLE: &'static str = r#"{"x": 0.1, "format": "e4m3"}"#;

    fn question() -> Vec<FieldSpec> {
        vec![
            FieldSpec::num("x", "1", -1.0e30, 1.0e30, Text::new("要存的数", "The number")),
            choice("format", "", FORMATS, Text::new("格式", "The format")).default_value("bf16"),
            FieldSpec::new(
                "saturate",
                "",
                FieldKind::Bool,
                Text::new("超出范围就取最大值", "Beyond the range: the largest number"),
            )
            .default_value(false),
            FieldSpec::num(
                "scale",
                "1",
                1.0e-30,
                1.0e30,
                Text::new("缩放：存 x ÷ s，读回乘 s", "Scale: x ÷ s is stored"),
            )
            .default_value(1),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        vec![
            FieldSpec::num("stored", "1", -1.0e70, 1.0e70, Text::new("存下的数", "What is stored")).optional(),
            FieldSpec::new(
                "kind",
                "",
                FieldKind::Text { max_len: 16 },
                Text::new("number、infinity 或 nan", "number, infinity or nan"),
            ),
            FieldSpec::num("relative_error", "1", 0.0, 1.0, Text::new("相对误差", "Relative error")).optional(),
            FieldSpec::num("largest", "1", 0.0, 1.0e39, Text::new("最大的数", "The largest number")),
            FieldSpec::num("smallest", "1", 0.0, 1.0, Text::new("最小的正数", "The smallest positive number")),
            FieldSpec::int("code", "1", 0, 65_535, Text::new("位模式", "The bits, as a whole number")),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (x, format) = (args.num("x"), float::find(args.text("format")).unwrap_or(float::BF16));
        let (scale, saturates) = (args.num("scale"), args.flag("saturate"));
        let code = format.encode(x / scale, saturates);
        let (value, kind) = match format.store(x / scale, saturates) {
            // A zero is shown without its sign; the code has it.
            float::Stored::Number(value) => (Some(value * scale + 0.0), "number"),
            float::Stored::Infinity(_) => (None, "infinity"),
            float::Stored::Nan => (None, "nan"),
        };
        let error = value.filter(|_| x != 0.0).map(|value| ((value - x) / x).abs().min(1.0));
        let or_null = |value: Option<f64>| value.map_or(Value::Null, number);
        Ok(answer([
            ("stored", or_null(value)),
            ("kind", kind.into()),
            ("relative_error", or_null(error)),
            ("largest", number(format.largest())),
            ("smallest", number(format.smallest())),
            ("code", code.into()),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use serde_json::json;

    fn ask(x: f64, format: &str, saturate: bool) -> Map {
        crate::eval("quantise", &question(&json!({"x": x, "format": format, "saturate": saturate}))).unwrap()
    }

    #[track_caller]
    fn check(x: f64, format: &str, stored: f64) {
        assert_eq!(ask(x, format, false)["stored"].as_f64(), Some(stored), "{x}");
    }

    /// Brief 05, vector 5.
    #[test]
    fn half_and_brain() {
        check(2049.0, "fp16", 2048.0);
        check(2051.0, "fp16", 2052.0);
        check(65_519.0, "fp16", 65_504.0);
        assert_eq!(ask(65_520.0, "fp16", false)["kind"], "infinity");
        check(1e-8, "fp16", 0.0);
        check(3e-8, "fp16", 5.960_464_477_539_063e-8);
        check(1.0 + 2.0_f64.powi(-8), "bf16", 1.0);
        check(1.0 + 3.0 * 2.0_f64.powi(-8), "bf16", 1.015_625);
        check(257.0, "bf16", 256.0);
    }

    /// What the formats say of themselves is what their codes have.
    #[test]
    fn formats_are_their_codes() {
        for format in [FP16, BF16, E4M3, E5M2] {
            assert_eq!(format.largest, format.codes.largest());
            assert_eq!(format.min_exponent, format.codes.min_exponent());
            for power in format.min_exponent - format.mantissa_bits..=6 {
                let value = 2.0_f64.powi(power);
                assert_eq!(quantise(value, format, false), Stored::Number(value));
            }
        }
    }

    /// Brief 05, vector 6; brief 25, first vector.
    #[test]
    fn eight_bits_and_four() {
        for (x, stored) in
            [(17.0, 16.0), (19.0, 20.0), (0.1, 0.101_562_5), (500.0, 448.0), (-3.3, -3.25), (465.0, 448.0)]
        {
            assert_eq!(ask(x, "e4m3", true)["stored"].as_f64(), Some(stored), "{x}");
        }
        for (x, stored) in
            [(0.3, 0.3125), (1.0625, 1.0), (1.1875, 1.25), (300.0, 288.0), (449.0, 448.0), (464.0, 448.0)]
        {
            check(x, "e4m3", stored);
        }
        check(2.0_f64.powi(-10), "e4m3", 0.0);
        assert_eq!(
            (&ask(465.0, "e4m3", false)["kind"], &ask(-0.0009, "e4m3", false)["code"]),
            (&json!("nan"), &json!(128))
        );
        check(0.1, "e5m2", 0.093_75);
        check(500.0, "e5m2", 512.0);
        check(61_439.0, "e5m2", 57_344.0);
        assert_eq!(ask(61_440.0, "e5m2", false)["kind"], "infinity");
        check(2.0_f64.powi(-17), "e5m2", 0.0);
        check(100.0, "e2m1", 6.0);
        check(2.5, "e2m1", 2.0);
        // Scaled by amax ÷ 448 = 2.
        let scaled = |x: f64| {
            let given = json!({"x": x, "format": "e4m3", "scale": 2});
            crate::eval("quantise", &question(&given)).unwrap()["stored"].as_f64().unwrap()
        };
        assert_eq!([0.001, -0.5, 3.0, 896.0].map(scaled), [0.0, -0.5, 3.0, 896.0]);
    }
}
