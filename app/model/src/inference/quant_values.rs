//! Numbers as integers with a scale, code by code, and what was lost.
//!
//! Question: values, rows, bits, scheme, group. Answer: codes, scales, zero points, the numbers that come back, errors.
//! Rules and source: `vramlab_codec::int`. Errors: rows or groups that do not divide, by name; numbers that are not finite or too small.

use super::{coding, ints, join, list, numbers, shown, text};
use crate::fields::{answer, choice, chosen, number};
use crate::registry::Model;
use vramlab_codec::error::loss;
use vramlab_codec::int::{Grouping, Scheme, quantise};
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text, Value};

pub struct QuantValues;

/// Smaller numbers have scales, or squares of errors, that a double cannot hold in full.
const LEAST: f64 = 1e-20;

impl Model for QuantValues {
    const ID: &'static str = "quant_values";
    const TITLE: Text = Text::new("整数量化，一个一个看", "Quantisation to integers, value by value");
    const ASSUMES: Text = Text::new(
        "就近舍入，一半取偶；组不跨行；非对称时范围总含 0。",
        "Rounded to the nearest, ties to even; groups never cross rows; an asymmetric range always holds 0.",
    );
    const SOURCE: &'static str = "Jacob et al. 2018 (arXiv 1712.05877), section 2.1; groups as in GPTQ and AWQ";
    const EXAMPLE: &'static str = r#"{"values": "1 -2 0.5 0.01", "bits": 8}"#;

    fn question() -> Vec<FieldSpec> {
        let count = |key, min, zh, en| FieldSpec::int(key, "1", min, 4096, Text::new(zh, en));
        let scheme = Text::new("对称，或带零点", "Symmetric, or with a zero point");
        vec![
            text("values", "要量化的数，空格隔开", "The values, apart by blanks"),
            count("rows", 1, "分成几行", "Rows that they make").default_value(1),
            choice("bits", "bit", &["2", "3", "4", "8"], Text::new("位数", "Bits")).default_value("8"),
            choice("scheme", "", &["symmetric", "asymmetric"], scheme).default_value("symmetric"),
            count("group", 0, "几个值共用一个缩放；0 是整个张量", "Values that share a scale; 0 is the tensor")
                .default_value(0),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, unit, min, zh, en| FieldSpec::num(key, unit, min, 1e300, Text::new(zh, en));
        vec![
            list("codes", "1", "码", "The codes"),
            num("scale", "1", 0.0, "第一组的缩放", "Scale of the first group"),
            shown("scales", "各组的缩放", "Scale of each group"),
            list("zeros", "1", "各组的零点", "Zero point of each group"),
            shown("decoded", "还原的数", "The numbers that come back"),
            num("max_error", "1", 0.0, "最大误差", "Largest error"),
            num("rms_error", "1", 0.0, "均方根误差", "Root mean square error"),
            num("snr_db", "dB", -1e3, "信噪比", "Signal to noise").optional(),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let values = numbers(args, "values")?;
        if values.iter().any(|x| *x != 0.0 && x.abs() < LEAST) {
            return Err(FieldError::conflict("values", format!("each number must be 0 or at least {LEAST:e} in size")));
        }
        let scheme = if args.text("scheme") == "symmetric" { Scheme::Symmetric } else { Scheme::Asymmetric };
        let grouping = match args.uint("group") {
            0 => Grouping::Tensor,
            group => Grouping::Group(group as usize),
        };
        let got = quantise(&values, args.uint("rows") as usize, chosen(args, "bits") as u32, scheme, grouping)
            .map_err(|problem| coding(&problem, &[]))?;
        let decoded = got.decode();
        let lost = loss(&values, &decoded);
        Ok(answer([
            ("codes", ints(&got.codes)),
            ("scale", number(got.scales[0])),
            ("scales", join(got.scales.iter().copied())),
            ("zeros", ints(&got.zeros)),
            ("decoded", join(decoded)),
            ("max_error", number(lost.most)),
            ("rms_error", number(lost.rms)),
            ("snr_db", lost.snr_db.map_or(Value::Null, number)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use serde_json::json;

    /// Brief 14, vectors 5, 6 and 8.
    #[test]
    fn the_vectors_of_the_brief() {
        let ask = |given: Value| crate::eval("quant_values", &question(&given)).unwrap();
        let eight = ask(json!({"values": "1 -2 0.5 0.01"}));
        assert_eq!(eight["codes"], json!([64, -127, 32, 1]));
        assert!((eight["scale"].as_f64().unwrap() - 0.015_748_031_5).abs() < 1e-10);
        assert_eq!(ask(json!({"values": "0 0 0"}))["scale"], 0);
        let four = ask(json!({"values": "-1 0 0.5 2", "bits": 4, "scheme": "asymmetric"}));
        assert_eq!(
            (&four["codes"], &four["zeros"], &four["decoded"]),
            (&json!([0, 5, 7, 15]), &json!([5]), &json!("-1 0 0.4 2"))
        );
        let refused = |given: Value| crate::eval("quant_values", &question(&given)).unwrap_err().field().to_owned();
        assert_eq!(refused(json!({"values": "1 2 3", "group": 2})), "group");
        assert_eq!(refused(json!({"values": "1 nan"})), "values");
        assert_eq!(refused(json!({"values": "1e-320 5e-324"})), "values");
        assert_eq!(ask(json!({"values": "1e-20 -2e-20 0"}))["codes"], json!([64, -127, 0]));
        assert_eq!(refused(json!({"values": "1 2", "bits": 6})), "bits");
        assert_eq!(refused(json!({"values": "1 2 3", "rows": 2})), "rows");
    }
}
