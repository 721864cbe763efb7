//! The sixteen bit lanes of a bfloat16 tensor: how many bits of information each lane, field and byte holds, and what
//! LZ4 makes of it.
//!
//! Question: what the tensor holds, how many values, seed. Answer: entropies of lanes and fields, ratios that they allow, what
//! LZ4 really gives. Assumption: independent values; a ceiling is for a codec that takes those parts apart. Rules and source:
//! `vramlab_codec::{entropy, tensors, lossless}`. Errors: fields out of range.

use super::{ints, join, list, shown};
use crate::fields::{answer, choice, chosen, number};
use crate::registry::Model;
use vramlab_codec::entropy::{Fields, ideal_ratio, of_bytes, of_lanes, split_ratio};
use vramlab_codec::lossless::{lz4_encode, ratio, shuffle};
use vramlab_codec::tensors::{self, Kind};
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text, Value};

pub struct BitLanes;

pub const TENSORS: &[&str] = &["bf16_normal", "bf16_relu", "bf16_int8", "bf16_sparse", "bf16_uniform"];

impl Model for BitLanes {
    const ID: &'static str = "bit_lanes";
    const TITLE: Text = Text::new("十六位里哪几位有信息", "Which of sixteen bits carry information");
    const ASSUMES: Text = Text::new(
        "各值互不相关；上限是对把各部分分开编码的编码器说的。",
        "Independent values; ceilings are for a codec that takes those parts one by one.",
    );
    const SOURCE: &'static str =
        "Shannon 1948; bfloat16 as the upper half of binary32; LZ4 block format, run by lz4_flex";
    const EXAMPLE: &'static str = r#"{"tensor": "bf16_normal"}"#;

    fn question() -> Vec<FieldSpec> {
        vec![
            choice("tensor", "", TENSORS, Text::new("张量", "The tensor")).default_value("bf16_normal"),
            choice("n", "1", &["4096", "16384", "65536"], Text::new("多少个值", "Values")).default_value("65536"),
            FieldSpec::int("seed", "1", 0, 1 << 53, Text::new("随机种子", "Seed")).default_value(1),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let bits = |key, zh, en| FieldSpec::num(key, "bit", 0.0, 16.0, Text::new(zh, en));
        let times = |key, zh, en| FieldSpec::num(key, "1", 0.0, 1e6, Text::new(zh, en));
        vec![
            shown("lane_bits", "每一位的熵，从符号位起", "Entropy of each bit, the sign first"),
            bits("sign_bits", "符号的熵", "Entropy of the sign"),
            bits("exponent_bits", "指数的熵", "Entropy of the exponent"),
            bits("mantissa_bits", "尾数的熵", "Entropy of the mantissa"),
            bits("field_bits", "三个字段合计", "All three fields"),
            bits("high_bits", "高字节的熵", "Entropy of the high byte"),
            bits("low_bits", "低字节的熵", "Entropy of the low byte"),
            times("field_ratio", "按字段的压缩比上限", "Ratio at best, field by field").optional(),
            times("byte_ratio", "字节原样的上限", "Ratio at best, bytes as they lie").optional(),
            times("split_ratio", "字节拆开的上限", "Ratio at best, bytes split").optional(),
            times("lz4_ratio", "LZ4，原样", "LZ4 as it lies"),
            times("split_lz4_ratio", "LZ4，拆开", "LZ4 after the split"),
            FieldSpec::int("first_exponent", "1", 0, 255, Text::new("最小的指数码", "Least exponent code")),
            list("exponents", "1", "从它起，每个指数码出现几次", "How often each exponent code occurs, from there on"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let tensor = tensors::find(args.text("tensor")).unwrap_or(Kind::Bf16Normal);
        let bytes = tensor.bytes(chosen(args, "n") as usize, args.uint("seed"));
        let words = tensors::words(&bytes);
        let fields = Fields::of(&words);
        let times = |ratio: Option<f64>| ratio.map_or(Value::Null, number);
        let packed = |bytes: &[u8]| times(ratio(bytes.len(), lz4_encode(bytes).len()));
        let (first, exponents) = histogram(&words);
        Ok(answer([
            ("lane_bits", join(of_lanes(&words))),
            ("sign_bits", number(fields.sign)),
            ("exponent_bits", number(fields.exponent)),
            ("mantissa_bits", number(fields.mantissa)),
            ("field_bits", number(fields.sign + fields.exponent + fields.mantissa)),
            ("high_bits", number(fields.high_byte)),
            ("low_bits", number(fields.low_byte)),
            ("field_ratio", times(fields.ceiling())),
            ("byte_ratio", times(ideal_ratio(8.0, of_bytes(&bytes)))),
            ("split_ratio", times(split_ratio(&bytes, 2))),
            ("lz4_ratio", packed(&bytes)),
            ("split_lz4_ratio", packed(&shuffle(&bytes, 2))),
            ("first_exponent", first.into()),
            ("exponents", ints(&exponents)),
        ]))
    }
}

/// Counts of exponent codes, from the least that occurs to the largest.
fn histogram(words: &[u16]) -> (u32, Vec<u32>) {
    let mut counts = [0_u32; 256];
    words.iter().for_each(|word| counts[usize::from(word >> 7 & 255)] += 1);
    let first = counts.iter().position(|n| *n > 0).unwrap_or(0);
    let last = counts.iter().rposition(|n| *n > 0).unwrap_or(0);
    (first as u32, counts[first..=last].to_vec())
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use serde_json::json;

    /// Brief 25: 2.545 bits of exponent, a ceiling of 1.517, LZ4 0.996 and 1.188.
    #[test]
    fn the_tensor_of_the_brief() {
        let got = crate::eval("bit_lanes", &question(&json!({}))).unwrap();
        let of = |key: &str| got[key].as_f64().unwrap();
        assert!((of("exponent_bits") - 2.545).abs() < 0.02 && (of("field_ratio") - 1.517).abs() < 0.01, "{got:?}");
        assert!((of("lz4_ratio") - 0.996).abs() < 0.003 && (of("split_lz4_ratio") - 1.188).abs() < 0.03);
        let lanes: Vec<f64> = got["lane_bits"].as_str().unwrap().split(' ').map(|bits| bits.parse().unwrap()).collect();
        // σ = 0.02 is below 1: the top bits of the exponent are 0111…; the low mantissa is a coin.
        assert!(lanes.len() == 16 && lanes[0] > 0.999 && lanes[1] < 1e-9 && lanes[15] > 0.999, "{lanes:?}");
        let counts: i64 = got["exponents"].as_array().unwrap().iter().map(|n| n.as_i64().unwrap()).sum();
        assert_eq!(counts, 65_536);
    }

    /// A coin a bit: nothing to gain, and LZ4 grows.
    #[test]
    fn coins() {
        let got = crate::eval("bit_lanes", &question(&json!({"tensor": "bf16_uniform"}))).unwrap();
        assert!((got["field_ratio"].as_f64().unwrap() - 1.0).abs() < 0.001);
        assert!(got["lz4_ratio"].as_f64().unwrap() < 1.0);
    }
}
