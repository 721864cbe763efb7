//! How often a row-wise or a prefix operation passes over its data, by the way it is written.
//!
//! Question: operation, rows, columns, bytes of a value, bandwidth. Answer: for each way its passes (reads and writes of every
//! element), bytes and least time.
//! Softmax: five separate operators 8, three safe passes 4, online 3, row kept on chip 2. LayerNorm: mean, variance and output apart
//! 4, Welford in one pass 3, row on chip 2. Scan: scan then add 4, reduce then scan 3, one pass with look-back 2.
//! Assumption: nothing but the data moves, and no cache keeps them between passes.
//! Source: Milakov and Gimelshein 2018 (softmax); Merrill and Garland 2016, "Single-pass Parallel Prefix Scan with Decoupled
//! Look-back" (scan). Errors: none beyond the fields'.

use crate::fields::{self, answer, choice, chosen, number};
use crate::inference::shown;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

/// A way to write an operation, and its reads and writes of every element.
pub type Way = (&'static str, u64);

/// The ways of an operation, most passes first.
pub fn ways(operation: &str) -> &'static [Way] {
    match operation {
        "layer_norm" => &[("three_pass", 4), ("welford", 3), ("on_chip", 2)],
        "scan" => &[("scan_then_add", 4), ("reduce_then_scan", 3), ("look_back", 2)],
        _ => &[("five_operators", 8), ("three_pass", 4), ("online", 3), ("on_chip", 2)],
    }
}

pub struct RowPasses;

impl Model for RowPasses {
    const ID: &'static str = "row_passes";
    const TITLE: Text = Text::new("softmax、LayerNorm、前缀和要过几遍数据", "Passes of softmax, LayerNorm and scan");
    const ASSUMES: Text =
        Text::new("只有数据在搬，两遍之间缓存留不住。", "Only the data move, and no cache keeps them between passes.");
    const SOURCE: &'static str = "Milakov and Gimelshein 2018; Merrill and Garland 2016";
    const EXAMPLE: &'static str = r#"{"operation": "softmax", "rows": 4096, "columns": 4096, "value_bytes": "4", "peak_gb_per_s": 4800, "way": "online"}"#;

    fn question() -> Vec<FieldSpec> {
        let count = |key, zh, en| FieldSpec::int(key, "1", 1, 1 << 31, Text::new(zh, en));
        let all = [
            "five_operators",
            "three_pass",
            "online",
            "welford",
            "on_chip",
            "scan_then_add",
            "reduce_then_scan",
            "look_back",
        ];
        vec![
            choice("operation", "", &["softmax", "layer_norm", "scan"], Text::new("哪种运算", "The operation")),
            choice("way", "", &all, Text::new("怎么写", "The way it is written")),
            count("rows", "行数", "Rows").default_value(1),
            count("columns", "一行的元素数", "Elements of a row"),
            choice("value_bytes", "B", &["1", "2", "4", "8"], Text::new("一个数的字节", "Bytes of a value"))
                .default_value("4"),
            fields::peak(),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, unit, zh, en| FieldSpec::num(key, unit, 0.0, 1e22, Text::new(zh, en));
        vec![
            num("passes", "1", "每个元素读写几次", "Reads and writes of each element"),
            num("bytes", "B", "搬的字节", "Bytes moved"),
            num("us", "µs", "至少要多久", "Least time"),
            num("least_us", "µs", "只读一次、写一次要多久", "Time of one read and one write"),
            num("slowdown", "1", "是最少的几倍", "Times the least"),
            shown("others", "这种运算的各种写法", "The ways of this operation"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (operation, way) = (args.text("operation"), args.text("way"));
        let ways = ways(operation);
        let listed = || ways.iter().map(|(name, passes)| format!("{name} {passes}")).collect::<Vec<_>>().join(", ");
        let Some((_, passes)) = ways.iter().find(|(name, _)| *name == way) else {
            return Err(FieldError::conflict("way", format!("{operation} has no way {way}; it has {}", listed())));
        };
        let each = args.uint("rows") as f64 * args.uint("columns") as f64 * chosen(args, "value_bytes") as f64;
        let us = |passes: u64| passes as f64 * each / args.num("peak_gb_per_s") / 1e3;
        Ok(answer([
            ("passes", (*passes).into()),
            ("bytes", number(*passes as f64 * each)),
            ("us", number(us(*passes))),
            ("least_us", number(us(2))),
            ("slowdown", number(*passes as f64 / 2.0)),
            ("others", listed().into()),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    /// Brief 04, vector 4, and experiment C's floors.
    #[test]
    fn worked_cases() {
        let ask = |operation: &str, way: &str, rows: u64, columns: u64| {
            let given =
                json!({"operation": operation, "way": way, "rows": rows, "columns": columns, "peak_gb_per_s": 4800});
            eval("row_passes", &question(&given))
        };
        for (way, bytes, us) in [
            ("five_operators", 536_870_912, 111.848),
            ("three_pass", 268_435_456, 55.924),
            ("online", 201_326_592, 41.943),
            ("on_chip", 134_217_728, 27.962),
        ] {
            let found = ask("softmax", way, 4096, 4096).unwrap();
            assert_eq!(found["bytes"].as_u64(), Some(bytes), "{way}");
            assert!((found["us"].as_f64().unwrap() - us).abs() < 1e-3, "{way}: {}", found["us"]);
        }
        for (way, us) in [("look_back", 447.4), ("reduce_then_scan", 671.1)] {
            let found = ask("scan", way, 1, 1 << 28).unwrap();
            assert!((found["us"].as_f64().unwrap() - us).abs() < 0.05, "{way}: {}", found["us"]);
        }
        let error = ask("scan", "online", 1, 4).unwrap_err();
        assert!(error.field() == "way" && error.to_string().contains("look_back 2"), "{error}");
    }
}
