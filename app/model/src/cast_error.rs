//! How large the rounding errors of a shorter floating-point format are, as a histogram over powers of two.
//!
//! Question: the format, a bucket b. Answer: the share of numbers whose relative error lies from 2^−(b+1) up to 2^−b.
//! Derivation: a number 2^e·m has an absolute error of up to half a step, 2^e·2^−(p+1) with p fraction bits. For random
//! fractions the error is that times u, u uniform below 1, and m uniform from 1 to 2: the relative error is u/m · 2^−(p+1).
//! With T the bound in units of 2^−(p+1), P(u/m < T) = 3T/2 up to T = 1/2, and 2 − 1/(2T) − T/2 from there to 1.
//! Assumption: fractions random and longer than the format's; no number subnormal, none beyond the largest.
//! Source: the arithmetic above, from rounding to nearest (IEEE 754, section 4.3). Errors: none beyond the ranges.

use crate::fields::{answer, choice, number};
use crate::quantise::{BF16, E4M3, E5M2, FP16, Format};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub const FORMATS: &[&str] = &["fp16", "bf16", "e4m3", "e5m2"];

/// The format of a name in [`FORMATS`].
pub fn format(name: &str) -> Format {
    match name {
        "bf16" => BF16,
        "e4m3" => E4M3,
        "e5m2" => E5M2,
        _ => FP16,
    }
}

/// The share of numbers with a relative error below `bound`, for `p` fraction bits.
pub fn below(bound: f64, p: i32) -> f64 {
    let t = bound * 2.0_f64.powi(p + 1);
    if t <= 0.5 {
        1.5 * t
    } else if t < 1.0 {
        2.0 - 0.5 / t - 0.5 * t
    } else {
        1.0
    }
}

/// The share in a bucket.
pub fn share(p: i32, bucket: i32) -> f64 {
    below(2.0_f64.powi(-bucket), p) - below(2.0_f64.powi(-bucket - 1), p)
}

pub struct CastError;

impl Model for CastError {
    const ID: &'static str = "cast_error";
    const TITLE: Text = Text::new("舍入误差的分布", "How rounding errors are distributed");
    const ASSUMES: Text = Text::new(
        "尾数随机，都在正规数的范围里；就近舍入。",
        "Random fractions, all within the normal range; rounded to the nearest.",
    );
    const SOURCE: &'static str = "arithmetic from rounding to nearest, IEEE 754, section 4.3";
    const EXAMPLE: &'static str = r#"{"format": "bf16", "bucket": 9}"#;

    fn question() -> Vec<FieldSpec> {
        let bucket = Text::new("第 b 档：误差从 2^−(b+1) 到 2^−b", "Bucket b: errors from 2^−(b+1) up to 2^−b");
        vec![
            choice("format", "", FORMATS, Text::new("格式", "The format")).default_value("bf16"),
            FieldSpec::int("bucket", "1", 0, 60, bucket),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let share = |key, zh, en| FieldSpec::num(key, "%", 0.0, 1.0, Text::new(zh, en));
        vec![
            share("share", "落在这一档的份额", "Share of numbers in the bucket"),
            share("smaller", "误差更小的", "Share with a smaller error"),
            FieldSpec::num("largest_error", "1", 0.0, 1.0, Text::new("最大的相对误差", "The largest relative error")),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (p, bucket) = (format(args.text("format")).mantissa_bits, args.uint("bucket") as i32);
        Ok(answer([
            ("share", number(share(p, bucket))),
            ("smaller", number(below(2.0_f64.powi(-bucket - 1), p))),
            ("largest_error", number(2.0_f64.powi(-p - 1))),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantise::{Stored, quantise};

    /// A hundred thousand fractions in a row, rounded one by one.
    #[test]
    fn the_histogram_is_that_of_numbers_rounded_one_by_one() {
        const N: u32 = 100_000;
        for name in FORMATS {
            let rounded = format(name);
            let mut counts = [0_u32; 24];
            for at in 0..N {
                let x = 1.0 + (f64::from(at) + 0.37) / f64::from(N);
                let Stored::Number(stored) = quantise(x, rounded, true) else { panic!("{x}") };
                let error = ((stored - x) / x).abs();
                let bucket = (-error.log2().ceil()).clamp(0.0, 23.0) as usize;
                counts[bucket] += 1;
            }
            for bucket in rounded.mantissa_bits + 1..rounded.mantissa_bits + 5 {
                let found = f64::from(counts[bucket as usize]) / f64::from(N);
                let expected = share(rounded.mantissa_bits, bucket);
                assert!((found - expected).abs() < 0.005, "{name} {bucket}: {found} for {expected}");
            }
        }
    }

    /// By hand: a quarter, three eighths, then half of the last each time; all of them together are one.
    #[test]
    fn shares_are_those_by_hand() {
        let shares: Vec<f64> = (8..14).map(|bucket| share(7, bucket)).collect();
        assert_eq!(shares, [0.25, 0.375, 0.1875, 0.09375, 0.046_875, 0.023_437_5]);
        assert!(((0..60).map(|bucket| share(10, bucket)).sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
