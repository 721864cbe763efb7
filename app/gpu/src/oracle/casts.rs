//! Numbers rounded to a shorter format, bit by bit against the model that rounds one.

use super::words::{key_of, word_with_key};
use super::{Check, Entry, With, WithKind, input, output, sampled, tally::Tally, whole};
use vramlab_model::quantise::{BF16, E4M3, FP16, Format, Stored, quantise};
use vramlab_trace::OracleOutcome;
use vramlab_units::Text;

/// Numbers rounded a point: each costs some arithmetic in double precision.
const MAX_CASTS: u64 = 1 << 22;

pub const CAST: Entry = Entry {
    id: "cast",
    about: Text::new("每个数按格式就近舍入，逐位相同", "each number rounded to the nearest of its format, bit by bit"),
    with: CAST_WITH,
    run: cast,
};

/// `out[i]` is the number made of word i, times `factor`, in the format: 0 fp32, 1 fp16, 2 bf16, 3 e4m3 that saturates.
const CAST_WITH: &[With] = &[
    input("input", "random words; a word's exponent is reduced to `span` values from `low` on"),
    output("out", "numbers of 4, 2, 2 or 1 bytes"),
    whole("n", None, "numbers"),
    whole("format", None, "0 fp32, 1 fp16, 2 bf16, 3 e4m3"),
    With { name: "low", kind: WithKind::Number, default: None, about: "the smallest exponent" },
    whole("span", Some("32"), "powers of two, itself one"),
    With {
        name: "factor",
        kind: WithKind::Number,
        default: Some("1"),
        about: "a power of two by which all are scaled",
    },
];

fn cast(check: &Check<'_>) -> Result<OracleOutcome, String> {
    let check = &check.at_most(MAX_CASTS);
    let (n, format) = (check.whole(CAST_WITH, "n")?, check.whole(CAST_WITH, "format")?);
    let (low, factor) = (check.number(CAST_WITH, "low")? as i32, check.number(CAST_WITH, "factor")? as f32);
    let mask = check.whole(CAST_WITH, "span")?.clamp(1, 32) as u32 - 1;
    let key = key_of(check.seed(CAST_WITH, "input")?);
    let width = [4, 2, 2, 1].get(format as usize).copied().ok_or_else(|| format!("format {format} is not known"))?;
    let out = check.output(CAST_WITH, "out", n * width)?;
    let mut tally = Tally::default();
    for at in sampled(n, check.step(n, 8)) {
        let x = shaped(word_with_key(key, at), low, mask) * factor;
        let start = (at * width) as usize;
        let found =
            out[start..start + width as usize].iter().rev().fold(0_u32, |all, byte| all << 8 | u32::from(*byte));
        tally.word(at, bits(x, format), found);
    }
    Ok(tally.outcome())
}

/// The number that the kernel makes of a word.
fn shaped(word: u32, low: i32, mask: u32) -> f32 {
    let exponent = (low + 127) as u32 + (word >> 23 & mask);
    f32::from_bits(word & 0x807F_FFFF | exponent << 23)
}

/// The bits of `x` in the format, by the model.
fn bits(x: f32, format: u64) -> u32 {
    match format {
        1 => encode(x, FP16, 5, false),
        2 => encode(x, BF16, 8, false),
        3 => encode(x, E4M3, 4, true),
        _ => x.to_bits(),
    }
}

fn encode(x: f32, format: Format, exponent_bits: u32, saturates: bool) -> u32 {
    let fraction_bits = format.mantissa_bits as u32;
    let sign = (x.to_bits() >> 31) << (exponent_bits + fraction_bits);
    let all_ones = (1 << exponent_bits) - 1;
    let size = match quantise(x.into(), format, saturates) {
        Stored::Number(stored) => stored.abs(),
        Stored::Infinity => return sign | all_ones << fraction_bits,
        Stored::Nan => return sign | ((1 << (exponent_bits + fraction_bits)) - 1),
    };
    let least = 2.0_f64.powi(format.min_exponent);
    if size < least {
        // Zero and the subnormal numbers count in steps of the smallest.
        return sign | (size / least * f64::from(1 << fraction_bits)) as u32;
    }
    let exponent = (size.to_bits() >> 52) as i32 - 1023;
    let fraction = (size.to_bits() >> (52 - fraction_bits)) as u32 & ((1 << fraction_bits) - 1);
    sign | ((exponent - format.min_exponent + 1) as u32) << fraction_bits | fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes from IEEE 754 (binary16: 1 = 3C00, 65504 = 7BFF, smallest 0001), from the definition of bf16 (1 = 3F80), and
    /// from table 1 of Micikevicius et al. 2022 (E4M3: 448 = 1111.110, smallest normal 0001.000, smallest 0000.001).
    #[test]
    fn bits_are_those_of_the_formats() {
        for (x, format, code) in [
            (1.0, 1, 0x3C00),
            (-2.0, 1, 0xC000),
            (65_519.0, 1, 0x7BFF),
            (65_520.0, 1, 0x7C00),
            (2.0_f32.powi(-24), 1, 0x0001),
            (2.0_f32.powi(-14), 1, 0x0400),
            (-1e-9, 1, 0x8000),
            (1.0, 2, 0x3F80),
            (257.0, 2, 0x4380),
            (1.0, 3, 0x38),
            (448.0, 3, 0x7E),
            (1e9, 3, 0x7E),
            (-1e9, 3, 0xFE),
            (2.0_f32.powi(-6), 3, 0x08),
            (2.0_f32.powi(-9), 3, 0x01),
            (2.0_f32.powi(-10), 3, 0x00),
            (3.5 * 2.0_f32.powi(-9), 3, 0x04),
        ] {
            assert_eq!(bits(x, format), code, "{x} in format {format}");
        }
    }

    /// Every bf16 number, and every fp16 and e4m3 one, is its own code.
    #[test]
    fn what_a_format_has_keeps_its_code() {
        for code in 0..0x7F80_u32 {
            assert_eq!(bits(f32::from_bits(code << 16), 2), code);
        }
        for code in 0..0x7E_u32 {
            let (exponent, fraction) = ((code >> 3) as i32, f64::from(code & 7));
            let value = if exponent == 0 {
                fraction * 2.0_f64.powi(-9)
            } else {
                (1.0 + fraction / 8.0) * 2.0_f64.powi(exponent - 7)
            };
            assert_eq!(bits(value as f32, 3), code);
        }
    }
}
