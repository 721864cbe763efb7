//! A number in a 16- or 8-bit floating-point format.
//!
//! Question: a number, a format, what happens beyond its range. Answer: the nearest number of the format (ties to even,
//! subnormals kept), or that there is none, and the relative error. Assumption: scale 1, no stochastic rounding.
//! Source: IEEE 754 (binary16); bfloat16 as the upper half of binary32; E4M3 and E5M2: Micikevicius et al. 2022, "FP8 Formats for
//! Deep Learning", table 1. Errors: none beyond the ranges.

use crate::fields::{answer, choice, number};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

pub struct Quantise;

/// A binary format without what it does beyond its range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Format {
    pub mantissa_bits: i32,
    /// Exponent of the smallest normal number.
    pub min_exponent: i32,
    pub largest: f64,
    /// Beyond the largest: infinity, or only a NaN.
    pub has_infinity: bool,
}

pub const FP16: Format = Format { mantissa_bits: 10, min_exponent: -14, largest: 65_504.0, has_infinity: true };
/// 2¹²⁷ · (2 − 2⁻⁷)
pub const BF16: Format =
    Format { mantissa_bits: 7, min_exponent: -126, largest: 3.389_531_389_251_535_5e38, has_infinity: true };
pub const E4M3: Format = Format { mantissa_bits: 3, min_exponent: -6, largest: 448.0, has_infinity: false };
pub const E5M2: Format = Format { mantissa_bits: 2, min_exponent: -14, largest: 57_344.0, has_infinity: true };

/// What a number becomes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stored {
    Number(f64),
    Infinity,
    Nan,
}

/// Rounds to the nearest, ties to even.
pub fn quantise(x: f64, format: Format, saturates: bool) -> Stored {
    if x == 0.0 {
        return Stored::Number(0.0);
    }
    let exponent = (x.abs().log2().floor() as i32).max(format.min_exponent);
    // `log2` may be a hair off at powers of two; the step is then half or twice, and the rounding below the same.
    let exponent =
        if x.abs() < 2.0_f64.powi(exponent) && exponent > format.min_exponent { exponent - 1 } else { exponent };
    let step = 2.0_f64.powi(exponent - format.mantissa_bits);
    let rounded = (x.abs() / step).round_ties_even() * step;
    let signed = rounded.copysign(x);
    if rounded <= format.largest {
        Stored::Number(signed)
    } else if saturates {
        Stored::Number(format.largest.copysign(x))
    } else if format.has_infinity {
        Stored::Infinity
    } else {
        Stored::Nan
    }
}

fn of(name: &str) -> Format {
    match name {
        "bf16" => BF16,
        "e4m3" => E4M3,
        "e5m2" => E5M2,
        _ => FP16,
    }
}

impl Model for Quantise {
    const ID: &'static str = "quantise";
    const TITLE: Text = Text::new("一个数在 16 位、8 位格式里", "A number in a 16- or 8-bit format");
    const ASSUMES: Text = Text::new(
        "就近舍入，一半取偶；保留次正规数；缩放为 1。",
        "Rounded to the nearest, ties to even; subnormals kept; a scale of 1.",
    );
    const SOURCE: &'static str =
        "IEEE 754 binary16; bfloat16; Micikevicius et al. 2022, FP8 Formats for Deep Learning, table 1";
    const EXAMPLE: &'static str = r#"{"x": 0.1, "format": "e4m3"}"#;

    fn question() -> Vec<FieldSpec> {
        vec![
            FieldSpec::num("x", "1", -1.0e30, 1.0e30, Text::new("要存的数", "The number")),
            choice("format", "", &["fp16", "bf16", "e4m3", "e5m2"], Text::new("格式", "The format"))
                .default_value("bf16"),
            FieldSpec::new(
                "saturate",
                "",
                FieldKind::Bool,
                Text::new("超出范围就取最大值", "Beyond the range: the largest number"),
            )
            .default_value(false),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        vec![
            FieldSpec::num("stored", "1", -1.0e39, 1.0e39, Text::new("存下的数", "What is stored")).optional(),
            FieldSpec::new(
                "kind",
                "",
                FieldKind::Text { max_len: 16 },
                Text::new("number、infinity 或 nan", "number, infinity or nan"),
            ),
            FieldSpec::num("relative_error", "1", 0.0, 1.0, Text::new("相对误差", "Relative error")).optional(),
            FieldSpec::num("largest", "1", 0.0, 1.0e39, Text::new("最大的数", "The largest number")),
            FieldSpec::num("smallest", "1", 0.0, 1.0, Text::new("最小的正数", "The smallest positive number")),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (x, format) = (args.num("x"), of(args.text("format")));
        let stored = quantise(x, format, args.flag("saturate"));
        let (value, kind) = match stored {
            Stored::Number(value) => (Some(value), "number"),
            Stored::Infinity => (None, "infinity"),
            Stored::Nan => (None, "nan"),
        };
        let error = value.filter(|_| x != 0.0).map(|value| ((value - x) / x).abs().min(1.0));
        let or_null = |value: Option<f64>| value.map_or(Value::Null, number);
        Ok(answer([
            ("stored", or_null(value)),
            ("kind", kind.into()),
            ("relative_error", or_null(error)),
            ("largest", number(format.largest)),
            ("smallest", number(2.0_f64.powi(format.min_exponent - format.mantissa_bits))),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(x: f64, format: Format, stored: f64) {
        assert_eq!(quantise(x, format, false), Stored::Number(stored), "{x}");
    }

    /// Brief 05, vector 5.
    #[test]
    fn half_and_brain() {
        check(2049.0, FP16, 2048.0);
        check(2051.0, FP16, 2052.0);
        check(65_519.0, FP16, 65_504.0);
        assert_eq!(quantise(65_520.0, FP16, false), Stored::Infinity);
        check(1e-8, FP16, 0.0);
        check(3e-8, FP16, 5.960_464_477_539_063e-8);
        check(1.0 + 2.0_f64.powi(-8), BF16, 1.0);
        check(1.0 + 3.0 * 2.0_f64.powi(-8), BF16, 1.015_625);
        check(257.0, BF16, 256.0);
    }

    /// Brief 05, vector 6.
    #[test]
    fn eight_bits() {
        for (x, stored) in [(17.0, 16.0), (19.0, 20.0), (0.1, 0.101_562_5), (500.0, 448.0), (-3.3, -3.25)] {
            assert_eq!(quantise(x, E4M3, true), Stored::Number(stored), "{x}");
        }
        check(2.0_f64.powi(-10), E4M3, 0.0);
        assert_eq!(quantise(500.0, E4M3, false), Stored::Nan);
        check(0.1, E5M2, 0.093_75);
        assert_eq!(quantise(61_440.0, E5M2, false), Stored::Infinity);
        check(2.0_f64.powi(-17), E5M2, 0.0);
    }

    /// Powers of two and largest numbers stay what they are.
    #[test]
    fn what_a_format_has_is_kept() {
        for format in [FP16, BF16, E4M3, E5M2] {
            for power in format.min_exponent - format.mantissa_bits..=6 {
                check(2.0_f64.powi(power), format, 2.0_f64.powi(power));
            }
            check(format.largest, format, format.largest);
        }
    }
}
