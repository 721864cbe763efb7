//! A seeded tensor through LZ4, as it lies and with its bytes split, beside the bound of its entropy.
//!
//! Question: what the tensor holds, how many values, seed. Answer: entropy, the ratio that no codec of single bytes beats, and
//! what LZ4 really makes of it: both ratios are run, never typed in. Assumption: independent values; a large block.
//! Rules and source: `vramlab_codec::{entropy, lossless}`. Errors: fields out of range.

use crate::fields::{answer, choice, chosen, number};
use crate::registry::Model;
use vramlab_codec::entropy::{Fields, ideal_ratio, of_bytes, split_ratio};
use vramlab_codec::lossless::{lz4_encode, ratio, shuffle};
use vramlab_codec::tensors::{self, Kind};
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text, Value};

pub struct LosslessRatio;

const TENSORS: &[&str] = &[
    "bf16_normal",
    "fp32_normal",
    "int8_normal",
    "sparse_fp32",
    "uniform",
    "constant",
    "e4m3_normal",
    "bf16_relu",
    "bf16_int8",
    "bf16_sparse",
    "bf16_even",
];

/// Kinds that experiments name by number.
const DRAWN: [&str; 7] =
    ["bf16_normal", "fp32_normal", "int8_normal", "e4m3_normal", "uniform", "bf16_even", "bf16_sparse"];

impl Model for LosslessRatio {
    const ID: &'static str = "lossless_ratio";
    const TITLE: Text = Text::new("无损压缩真能压多少", "What lossless packing really gives");
    const ASSUMES: Text = Text::new(
        "各值互不相关；LZ4 块格式，当场压缩得出。",
        "Independent values; LZ4's block format, run on the spot.",
    );
    const SOURCE: &'static str = "Shannon 1948; LZ4 block format; the encoder is lz4_flex";
    const EXAMPLE: &'static str = r#"{"tensor": "bf16_normal"}"#;

    fn question() -> Vec<FieldSpec> {
        vec![
            choice("tensor", "", TENSORS, Text::new("张量", "The tensor")).default_value("bf16_normal"),
            FieldSpec::int(
                "number",
                "1",
                -1,
                6,
                Text::new(
                    "按编号：0 bf16，1 fp32，2 int8，3 E4M3，4 随机字节，5 均匀的 bf16，6 剩百分之一的 bf16；−1 看 tensor",
                    "By number: 0 bf16, 1 fp32, 2 int8, 3 E4M3, 4 random bytes, 5 even bf16, 6 bf16 of which one in a hundred is left; −1 takes tensor",
                ),
            )
            .default_value(-1),
            choice("n", "1", &["4096", "16384", "65536"], Text::new("多少个值", "Values")).default_value("65536"),
            FieldSpec::int("seed", "1", 0, 1 << 53, Text::new("随机种子", "Seed")).default_value(1),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, unit, zh, en| FieldSpec::num(key, unit, 0.0, 1e9, Text::new(zh, en));
        vec![
            num("bytes", "B", "原大小", "Plain bytes"),
            num("entropy_bits", "bit", "每字节的熵", "Entropy of a byte"),
            num(
                "ideal_ratio",
                "1",
                "逐字节编码的压缩比上限；常数没有上限",
                "Ratio at best, byte by byte; none for a constant",
            )
            .optional(),
            num("exponent_bits", "bit", "bf16 指数的熵", "Entropy of a bf16 exponent").optional(),
            num("split_ideal_ratio", "1", "字节拆开后的上限", "Ratio at best after the bytes are split").optional(),
            num("lz4_ratio", "1", "LZ4 压缩比", "Ratio of LZ4"),
            num("split_lz4_ratio", "1", "字节拆开后的 LZ4 压缩比", "Ratio of LZ4 after the bytes are split"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let kind = match args.int("number") {
            number @ 0..=6 => DRAWN[number as usize],
            _ => args.text("tensor"),
        };
        let tensor = tensors::find(kind).unwrap_or(Kind::Bf16Normal);
        let (bytes, width) = (tensor.bytes(chosen(args, "n") as usize, args.uint("seed")), tensor.width());
        let bits = of_bytes(&bytes);
        let packed = |bytes: &[u8]| ratio(bytes.len(), lz4_encode(bytes).len()).map_or(Value::Null, number);
        let exponent = kind.starts_with("bf16").then(|| Fields::of(&tensors::words(&bytes)).exponent);
        Ok(answer([
            ("bytes", bytes.len().into()),
            ("entropy_bits", number(bits)),
            ("ideal_ratio", ideal_ratio(8.0, bits).map_or(Value::Null, number)),
            ("exponent_bits", exponent.map_or(Value::Null, number)),
            ("split_ideal_ratio", split_ratio(&bytes, width).map_or(Value::Null, number)),
            ("lz4_ratio", packed(&bytes)),
            ("split_lz4_ratio", packed(&shuffle(&bytes, width))),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use serde_json::json;

    /// Brief 25: measured there on 4 Mi values 0.996 and 1.188, int8 7.05 bits; a constant has no bound.
    #[test]
    fn tensors_of_the_brief() {
        let ask = |tensor: &str| crate::eval("lossless_ratio", &question(&json!({"tensor": tensor}))).unwrap();
        let of = |tensor: &str, key: &str| ask(tensor)[key].as_f64().unwrap();
        assert!((of("bf16_normal", "lz4_ratio") - 0.996).abs() < 0.003);
        assert!((of("bf16_normal", "split_lz4_ratio") - 1.188).abs() < 0.03);
        assert!((of("bf16_normal", "exponent_bits") - 2.545).abs() < 0.02);
        assert!((of("fp32_normal", "lz4_ratio") - 0.996).abs() < 0.003);
        assert!((of("int8_normal", "entropy_bits") - 7.05).abs() < 0.03);
        assert!((of("uniform", "ideal_ratio") - 1.0).abs() < 0.001);
        assert_eq!((&ask("constant")["entropy_bits"], &ask("constant")["ideal_ratio"]), (&json!(0), &json!(null)));
        assert!(of("sparse_fp32", "lz4_ratio") > 10.0);
        // Bytes as they come: Zstd-3 reached 1.282 of this bound there, 1.405 after the split; fp32 1.079, int8 1.123.
        for (tensor, key, zstd) in [
            ("bf16_normal", "ideal_ratio", 1.282),
            ("bf16_normal", "split_ideal_ratio", 1.405),
            ("fp32_normal", "ideal_ratio", 1.079),
            ("int8_normal", "ideal_ratio", 1.123),
        ] {
            let bound = of(tensor, key);
            assert!(zstd < bound && bound < 1.08 * zstd, "{tensor} {key}: {bound}");
        }
    }
}
