//! Bytes of a quantised matrix, scales, zero points and indices included.
//!
//! Question: rows (outputs), columns (inputs, along which groups lie), format. Answer: bytes by what they hold, bits a weight.
//! Layouts and source: `vramlab_codec::size`. Errors: an axis that the format cannot cut, by name.

use crate::fields::{answer, choice, chosen, number};
use crate::registry::Model;
use vramlab_codec::gguf::Kind;
use vramlab_codec::size::{self, Shape, Size};
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub struct QuantSize;

const FORMATS: &[&str] = &[
    "int",
    "gptq",
    "awq",
    "q2_k",
    "q3_k",
    "q4_0",
    "q4_1",
    "q4_k",
    "q5_0",
    "q5_1",
    "q5_k",
    "q6_k",
    "q8_0",
    "iq4_xs",
    "nf4",
    "nf4_double",
    "mxfp8",
    "mxfp6",
    "mxfp4",
    "nvfp4",
];

fn of(args: &Args, shape: Shape) -> Result<Size, vramlab_codec::Problem> {
    let (bits, group) = (chosen(args, "bits"), args.uint("group"));
    match args.text("format") {
        "gptq" => size::gptq(shape.cols, shape.rows, bits, group),
        "awq" => size::awq(shape.cols, shape.rows, group),
        "nf4" => Ok(size::nf4(shape.n(), false)),
        "nf4_double" => Ok(size::nf4(shape.n(), true)),
        "mxfp8" => Ok(size::mx(shape, 8)),
        "mxfp6" => Ok(size::mx(shape, 6)),
        "mxfp4" => Ok(size::mx(shape, 4)),
        "nvfp4" => Ok(size::nvfp4(shape)),
        "q2_k" => size::blocks(shape, 256, 84, "q2_k"),
        "q3_k" => size::blocks(shape, 256, 110, "q3_k"),
        "iq4_xs" => size::blocks(shape, 256, 136, "iq4_xs"),
        name => match Kind::find(name) {
            Some(kind) => size::gguf(shape, kind),
            None => Ok(size::grouped(shape, bits, group, args.uint("scale_bits"), args.uint("zero_bits"))),
        },
    }
}

impl Model for QuantSize {
    const ID: &'static str = "quant_size";
    const TITLE: Text = Text::new("量化后的矩阵有多大", "Size of a quantised matrix");
    const ASSUMES: Text = Text::new(
        "组沿列（输入）方向，不跨行；文件头和对齐不算。",
        "Groups lie along the columns (inputs) and never cross a row; headers and alignment are left out.",
    );
    const SOURCE: &'static str = "GPTQ and AWQ checkpoints; ggml-common.h; OCP MX 1.0; QLoRA (arXiv 2305.14314)";
    const EXAMPLE: &'static str = r#"{"rows": 11008, "cols": 4096, "format": "gptq"}"#;

    fn question() -> Vec<FieldSpec> {
        let count = |key, unit, min, max, zh, en| FieldSpec::int(key, unit, min, max, Text::new(zh, en));
        vec![
            count("rows", "1", 1, 1 << 34, "行数，即输出", "Rows: outputs"),
            count("cols", "1", 1, 1 << 24, "列数，即输入，组沿这个方向", "Columns: inputs, along which groups lie"),
            choice("format", "", FORMATS, Text::new("格式", "The format")).default_value("int"),
            choice("bits", "bit", &["2", "3", "4", "8"], Text::new("int 和 GPTQ 的位数", "Bits of int and GPTQ"))
                .default_value("4"),
            count("group", "1", 1, 1 << 24, "int、GPTQ、AWQ 的组长", "Group of int, GPTQ, AWQ").default_value(128),
            count("scale_bits", "bit", 0, 64, "int 每组的缩放", "Scale of a group of int").default_value(16),
            count("zero_bits", "bit", 0, 64, "int 每组的零点", "Zero point of a group of int").default_value(0),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let bytes = |key, zh, en| FieldSpec::num(key, "B", 0.0, 1e20, Text::new(zh, en));
        let ratio = |key, unit, zh, en| FieldSpec::num(key, unit, 0.0, 1e6, Text::new(zh, en));
        vec![
            bytes("bytes", "合计", "In all"),
            bytes("value_bytes", "数值；块格式里连缩放一起", "Values; blocks with their scales"),
            bytes("scale_bytes", "缩放", "Scales"),
            bytes("zero_bytes", "零点", "Zero points"),
            bytes("index_bytes", "下标", "Indices"),
            ratio("bits_per_value", "bit", "每个权重的位数", "Bits of a weight"),
            ratio("ratio", "1", "16 位的几分之几", "Over 16 bits each"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let shape = Shape { rows: args.uint("rows"), cols: args.uint("cols") };
        let size = of(args, shape).map_err(|problem| super::coding(&problem, &[]))?;
        let bits = size.bits_per_value(shape.n());
        let bytes = |bytes: u128| number(bytes as f64);
        Ok(answer([
            ("bytes", bytes(size.bytes())),
            ("value_bytes", bytes(size.values)),
            ("scale_bytes", bytes(size.scales)),
            ("zero_bytes", bytes(size.zeros)),
            ("index_bytes", bytes(size.indices)),
            ("bits_per_value", number(bits)),
            ("ratio", number(bits / 16.0)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use serde_json::{Value, json};

    fn bytes(given: &Value) -> Value {
        crate::eval("quant_size", &question(given)).unwrap_or_else(|error| panic!("{error}"))["bytes"].clone()
    }

    /// Brief 14, vectors 1 to 3 and 8.
    #[test]
    fn the_vectors_of_the_brief() {
        let matrix = |more: Value| {
            let mut given = question(&json!({"rows": 4096, "cols": 11_008}));
            given.extend(question(&more));
            bytes(&Value::Object(given))
        };
        assert_eq!(matrix(json!({"zero_bits": 4})), 23_425_024);
        assert_eq!(matrix(json!({})), 23_248_896);
        assert_eq!(matrix(json!({"zero_bits": 4, "group": 32})), 26_066_944);
        assert_eq!(matrix(json!({"bits": 8})), 45_793_280);
        let gptq =
            crate::eval("quant_size", &question(&json!({"rows": 11_008, "cols": 4096, "format": "gptq"}))).unwrap();
        let parts =
            ["value_bytes", "zero_bytes", "scale_bytes", "index_bytes", "bytes"].map(|key| gptq[key].as_u64().unwrap());
        assert_eq!(parts, [22_544_384, 176_128, 704_512, 16_384, 23_441_408]);
        assert!((gptq["bits_per_value"].as_f64().unwrap() - 4.159_157).abs() < 1e-6);
        let seven = |format: &str| bytes(&json!({"rows": 27_343_750, "cols": 256, "format": format}));
        for (format, expected) in [("q4_0", 3_937_500_000_u64), ("q4_k", 3_937_500_000), ("q8_0", 7_437_500_000)] {
            assert_eq!(seven(format), expected, "{format}");
        }
        for (format, bits) in
            [("q2_k", 2.625), ("q3_k", 3.4375), ("q6_k", 6.5625), ("iq4_xs", 4.25), ("mxfp4", 4.25), ("q5_1", 6.0)]
        {
            assert_eq!(seven(format).as_f64().unwrap() * 8.0 / 7e9, bits, "{format}");
        }
        let refused = |given: Value| crate::eval("quant_size", &question(&given)).unwrap_err().field().to_owned();
        assert_eq!(refused(json!({"rows": 8, "cols": 100, "format": "gptq"})), "cols");
        assert_eq!(refused(json!({"rows": 8, "cols": 100, "format": "q4_0"})), "cols");
        assert_eq!(refused(json!({"rows": 9, "cols": 128, "format": "awq"})), "rows");
        assert_eq!(refused(json!({"rows": 8, "cols": 128, "bits": 5})), "bits");
    }
}
