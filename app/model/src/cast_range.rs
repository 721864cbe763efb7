//! What a shorter floating-point format loses at both ends: numbers that become zero, and numbers beyond the largest.
//!
//! Question: the format, the powers of two that the numbers span, a scale. Answer: the shares that become zero, that are
//! subnormal, that pass the largest number. Derivation: below half the smallest subnormal number the nearest is zero; from the
//! largest plus half a step on there is none. Assumption: every power of two as frequent as the others, fractions random.
//! Source: arithmetic from rounding to nearest; scaling a loss before backward: Micikevicius et al. 2018, "Mixed Precision
//! Training", section 3.2. Errors: none beyond the ranges.

use crate::cast_error::{FORMATS, format};
use crate::fields::{answer, choice, number};
use crate::quantise::Format;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

/// Shares of all numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shares {
    pub zero: f64,
    pub subnormal: f64,
    pub beyond: f64,
}

/// Numbers from 2^low on, over `n` powers of two.
pub fn shares(format: Format, low: i32, n: i32) -> Shares {
    let power = |exponent: i32| 2.0_f64.powi(exponent);
    let least = power(format.min_exponent - format.mantissa_bits);
    let step = power(format.largest.log2().floor() as i32 - format.mantissa_bits);
    let below = |bound: f64| {
        let part = |exponent: i32| ((bound - power(exponent)) / power(exponent)).clamp(0.0, 1.0);
        (low..low + n).map(part).sum::<f64>() / f64::from(n)
    };
    let zero = below(least / 2.0);
    Shares {
        zero,
        subnormal: (below(power(format.min_exponent)) - zero).max(0.0),
        beyond: 1.0 - below(format.largest + step / 2.0),
    }
}

pub struct CastRange;

impl Model for CastRange {
    const ID: &'static str = "cast_range";
    const TITLE: Text = Text::new("格式两头丢掉多少", "What a format loses at both ends");
    const ASSUMES: Text = Text::new(
        "各个 2 的幂一样多，尾数随机；就近舍入。",
        "Every power of two as frequent as the next, random fractions; rounded to the nearest.",
    );
    const SOURCE: &'static str =
        "arithmetic from rounding to nearest; Micikevicius et al. 2018, Mixed Precision Training, section 3.2";
    const EXAMPLE: &'static str = r#"{"format": "fp16", "low_exponent": -31, "n_exponents": 32, "scale_exponent": 8}"#;

    fn question() -> Vec<FieldSpec> {
        let int = |key, least, most, zh, en| FieldSpec::int(key, "1", least, most, Text::new(zh, en));
        vec![
            choice("format", "", FORMATS, Text::new("格式", "The format")).default_value("fp16"),
            int("low_exponent", -120, 120, "最小的数是 2 的几次方", "The smallest number is 2 to this"),
            int("n_exponents", 1, 128, "跨几个 2 的幂", "How many powers of two they span"),
            int("scale_exponent", -60, 60, "先乘 2 的几次方", "Multiplied by 2 to this first").default_value(0),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let share = |key, zh, en| FieldSpec::num(key, "%", 0.0, 1.0, Text::new(zh, en));
        vec![
            share("zero", "变成零的", "Share that becomes zero"),
            share("subnormal", "成了次正规数的", "Share that is subnormal"),
            share("beyond", "超过最大数的", "Share beyond the largest number"),
            share("lost", "两头一共丢掉的", "Share lost at both ends"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let low = (args.int("low_exponent") + args.int("scale_exponent")) as i32;
        let shares = shares(format(args.text("format")), low, args.int("n_exponents") as i32);
        Ok(answer([
            ("zero", number(shares.zero)),
            ("subnormal", number(shares.subnormal)),
            ("beyond", number(shares.beyond)),
            ("lost", number(shares.zero + shares.beyond)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantise::{Stored, quantise};

    /// Numbers rounded one by one, a thousand in each power of two.
    #[test]
    fn shares_are_those_of_numbers_rounded_one_by_one() {
        for (name, low, n) in
            [("fp16", -31, 32), ("e4m3", -31, 32), ("e4m3", -10, 24), ("fp16", -7, 32), ("bf16", -31, 32)]
        {
            let (mut zero, mut beyond) = (0_u32, 0_u32);
            for exponent in low..low + n {
                for at in 0..1000 {
                    let x = (1.0 + (f64::from(at) + 0.5) / 1000.0) * 2.0_f64.powi(exponent);
                    match quantise(x, format(name), false) {
                        Stored::Number(stored) => zero += u32::from(stored == 0.0),
                        Stored::Infinity | Stored::Nan => beyond += 1,
                    }
                }
            }
            let found = |count: u32| f64::from(count) / (1000.0 * f64::from(n));
            let expected = shares(format(name), low, n);
            assert!((found(zero) - expected.zero).abs() < 1e-4, "{name}: {zero} zeros, {expected:?}");
            assert!((found(beyond) - expected.beyond).abs() < 1e-4, "{name}: {beyond} beyond, {expected:?}");
        }
    }

    /// By hand: fp16 keeps 2⁻²⁵ and more (half of the smallest, 2⁻²⁴, rounds up beyond the tie): six powers of 32 are lost.
    #[test]
    fn half_precision_loses_six_powers_of_32() {
        assert_eq!(shares(format("fp16"), -31, 32), Shares { zero: 6.0 / 32.0, subnormal: 11.0 / 32.0, beyond: 0.0 });
        assert_eq!(shares(format("bf16"), -31, 32), Shares::default());
    }
}
