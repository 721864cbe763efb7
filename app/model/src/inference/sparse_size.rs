//! Bytes of a sparse matrix: 2:4 with its metadata, or CSR.
//!
//! Question: shape, bits, layout, density. Answer: bytes, ratio to dense, the density below which CSR is smaller.
//! Layouts and source: `vramlab_codec::sparse`. Errors: columns that are no multiple of four under 2:4.

use super::coding;
use crate::fields::{answer, choice, chosen, number};
use crate::registry::Model;
use vramlab_codec::sparse::{csr_limit, size_2_4, size_csr};
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub struct SparseSize;

impl Model for SparseSize {
    const ID: &'static str = "sparse_size";
    const TITLE: Text = Text::new("稀疏矩阵有多大", "Size of a sparse matrix");
    const ASSUMES: Text = Text::new(
        "2:4 每个留下的值配 2 位；CSR 每个值配一个列号，每行配一个 4 字节的指针。",
        "Two bits for each value under 2:4; a column for each value and four bytes for each row under CSR.",
    );
    const SOURCE: &'static str = "NVIDIA PTX ISA, mma.sp; CSR as in cuSPARSE";
    const EXAMPLE: &'static str = r#"{"rows": 4096, "cols": 4096, "layout": "2:4"}"#;

    fn question() -> Vec<FieldSpec> {
        let count = |key, zh, en| FieldSpec::int(key, "1", 1, 1 << 24, Text::new(zh, en));
        vec![
            count("rows", "行数", "Rows"),
            count("cols", "列数", "Columns"),
            choice("layout", "", &["2:4", "csr"], Text::new("存法", "The layout")).default_value("2:4"),
            choice("bits", "bit", &["8", "16", "32"], Text::new("一个值的位数", "Bits of a value")).default_value("16"),
            choice("index_bytes", "B", &["2", "4"], Text::new("CSR 列号的字节数", "Bytes of a column in CSR"))
                .default_value("4"),
            FieldSpec::num("density", "1", 0.0, 1.0, Text::new("CSR 里非零的比例", "Share that is not zero, in CSR"))
                .default_value(0.1),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let bytes = |key, zh, en| FieldSpec::num(key, "B", 0.0, 1e18, Text::new(zh, en));
        vec![
            bytes("bytes", "合计", "In all"),
            bytes("value_bytes", "值", "Values"),
            bytes("index_bytes", "元数据或下标", "Metadata or indices"),
            bytes("dense_bytes", "稠密时", "Dense"),
            FieldSpec::num("ratio", "1", 0.0, 1e9, Text::new("稀疏 ÷ 稠密", "Sparse over dense")),
            FieldSpec::num(
                "csr_limit",
                "1",
                0.0,
                1.0,
                Text::new("密度低于它，CSR 才更小", "Density below which CSR is smaller"),
            ),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (rows, cols, bits) = (args.uint("rows"), args.uint("cols"), chosen(args, "bits"));
        let (value, index) = (bits / 8, chosen(args, "index_bytes"));
        let n = u128::from(rows) * u128::from(cols);
        let size = if args.text("layout") == "csr" {
            size_csr(rows, (n as f64 * args.num("density")) as u128, value, index)
        } else {
            size_2_4(rows, cols, bits).map_err(|problem| coding(&problem, &[]))?
        };
        let dense = n * u128::from(value);
        let bytes = |bytes: u128| number(bytes as f64);
        Ok(answer([
            ("bytes", bytes(size.bytes())),
            ("value_bytes", bytes(size.values)),
            ("index_bytes", bytes(size.indices)),
            ("dense_bytes", bytes(dense)),
            ("ratio", number(size.bytes() as f64 / dense as f64)),
            ("csr_limit", number(csr_limit(value, index))),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use serde_json::{Value, json};

    /// Brief 14, vectors 4 and 7; brief 21 on storage formats.
    #[test]
    fn the_vectors_of_the_brief() {
        let ask = |given: Value| crate::eval("sparse_size", &question(&given)).unwrap();
        let half = ask(json!({"rows": 4096, "cols": 4096}));
        assert_eq!(
            (&half["dense_bytes"], &half["bytes"], &half["ratio"]),
            (&json!(33_554_432), &json!(18_874_368), &json!(0.5625))
        );
        assert_eq!(ask(json!({"rows": 4096, "cols": 4096, "bits": 8}))["ratio"], 0.625);
        let csr = ask(json!({"rows": 4096, "cols": 4096, "layout": "csr"}));
        assert_eq!(csr["bytes"], 10_082_714);
        assert!((csr["csr_limit"].as_f64().unwrap() - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(ask(json!({"rows": 1, "cols": 4, "layout": "csr", "index_bytes": 2}))["csr_limit"], 0.5);
        let refused = crate::eval("sparse_size", &question(&json!({"rows": 4, "cols": 6}))).unwrap_err();
        assert_eq!(refused.field(), "cols");
    }
}
