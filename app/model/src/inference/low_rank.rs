//! A matrix as the product of two thin ones: bytes, sums, and the rank above which nothing is saved.
//!
//! Question: rows, columns, rank, bytes a value. Answer: bytes of both, ratio, sums of one token, break-even rank.
//! m · n values become r · (m + n). Assumption: both factors in the same format; what is lost is another question.
//! Source: LoRA (Hu et al. 2021, arXiv 2106.09685), section 4.1; Eckart and Young 1936. Errors: a rank beyond the smaller side.

use crate::fields::{answer, number};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub struct LowRank;

impl Model for LowRank {
    const ID: &'static str = "low_rank";
    const TITLE: Text = Text::new("拆成两个窄矩阵", "A matrix as two thin ones");
    const ASSUMES: Text = Text::new(
        "两个因子用同一种格式；丢了多少精度不在这里算。",
        "Both factors have the same format; what is lost is not counted here.",
    );
    const SOURCE: &'static str = "Hu et al. 2021, LoRA (arXiv 2106.09685), section 4.1";
    const EXAMPLE: &'static str = r#"{"rows": 4096, "cols": 4096, "rank": 16}"#;

    fn question() -> Vec<FieldSpec> {
        let count = |key, zh, en| FieldSpec::int(key, "1", 1, 1 << 24, Text::new(zh, en));
        vec![
            count("rows", "行数", "Rows"),
            count("cols", "列数", "Columns"),
            count("rank", "秩", "Rank"),
            FieldSpec::num("bytes_per_value", "B", 0.125, 8.0, Text::new("一个值的字节数", "Bytes of a value"))
                .default_value(2),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, unit, zh, en| FieldSpec::num(key, unit, 0.0, 1e18, Text::new(zh, en));
        vec![
            num("dense_bytes", "B", "原矩阵", "The matrix"),
            num("factor_bytes", "B", "两个因子", "Both factors"),
            num("ratio", "1", "因子 ÷ 原矩阵", "Factors over the matrix"),
            num("dense_flop", "FLOP", "原矩阵，一个 token 的计算量", "Sums of a token with the matrix"),
            num("factor_flop", "FLOP", "两个因子，一个 token 的计算量", "Sums of a token with the factors"),
            num("break_even_rank", "1", "秩到这里就不省了", "Rank from which on nothing is saved"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let [rows, cols, rank] = ["rows", "cols", "rank"].map(|key| args.uint(key));
        if rank > rows.min(cols) {
            let reason = format!("a matrix of {rows} × {cols} has no rank of {rank}");
            return Err(FieldError::conflict("rank", reason));
        }
        let (dense, factors) = (rows as f64 * cols as f64, rank as f64 * (rows + cols) as f64);
        let each = args.num("bytes_per_value");
        Ok(answer([
            ("dense_bytes", number(dense * each)),
            ("factor_bytes", number(factors * each)),
            ("ratio", number(factors / dense)),
            ("dense_flop", number(2.0 * dense)),
            ("factor_flop", number(2.0 * factors)),
            ("break_even_rank", number(dense / (rows + cols) as f64)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use serde_json::json;

    /// 4096²: 16,777,216 values; rank 16 has 131,072, 1 ÷ 128; half the side is where both are equal.
    #[test]
    fn a_square_matrix() {
        let ask = |rank: u64| crate::eval("low_rank", &question(&json!({"rows": 4096, "cols": 4096, "rank": rank})));
        let got = ask(16).unwrap();
        assert_eq!((&got["factor_bytes"], &got["ratio"]), (&json!(262_144), &json!(0.007_812_5)));
        assert_eq!(got["break_even_rank"], 2048);
        assert_eq!(ask(2048).unwrap()["ratio"], 1);
        assert_eq!(ask(5000).unwrap_err().field(), "rank");
    }
}
