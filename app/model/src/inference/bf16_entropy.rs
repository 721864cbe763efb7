//! How far bfloat16 weights can be packed at best without loss.
//!
//! Question: the standard deviation of normal values. Answer: bits of the exponent, the ratio that no codec beats which takes
//! fields apart. Assumption: independent normal values; sign and mantissa are random, all but the mantissa's slight slope.
//! Source: Shannon 1948; `vramlab_codec::entropy`. Errors: fields out of range.

use crate::fields::{answer, number};
use crate::registry::Model;
use vramlab_codec::entropy::normal_exponent;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub struct Bf16Entropy;

impl Model for Bf16Entropy {
    const ID: &'static str = "bf16_entropy";
    const TITLE: Text = Text::new("bf16 权重最多能无损压多少", "How far bf16 weights can be packed");
    const ASSUMES: Text = Text::new(
        "互不相关的正态值；符号和尾数当作完全随机。",
        "Independent normal values; sign and mantissa are taken as random.",
    );
    const SOURCE: &'static str = "Shannon 1948; probability of each exponent by the normal distribution";
    const EXAMPLE: &'static str = r#"{"sigma": 0.02}"#;

    fn question() -> Vec<FieldSpec> {
        vec![FieldSpec::num("sigma", "1", 1e-9, 1e9, Text::new("标准差", "Standard deviation")).default_value(0.02)]
    }

    fn answer() -> Vec<FieldSpec> {
        let bits = |key, zh, en| FieldSpec::num(key, "bit", 0.0, 16.0, Text::new(zh, en));
        vec![
            bits("exponent_bits", "指数的熵", "Entropy of the exponent"),
            bits("rest_bits", "符号和尾数", "Sign and mantissa"),
            FieldSpec::num("ceiling", "1", 1.0, 16.0, Text::new("压缩比的上限", "Ratio at best")),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let exponent = normal_exponent(args.num("sigma"));
        Ok(answer([
            ("exponent_bits", number(exponent)),
            ("rest_bits", number(8.0)),
            ("ceiling", number(16.0 / (8.0 + exponent))),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use serde_json::json;

    /// Brief 25: 2.545 bits and 1.517.
    #[test]
    fn the_bound_of_the_brief() {
        let got = crate::eval("bf16_entropy", &question(&json!({}))).unwrap();
        assert!((got["exponent_bits"].as_f64().unwrap() - 2.545).abs() < 0.01, "{got:?}");
        assert!((got["ceiling"].as_f64().unwrap() - 1.517).abs() < 0.002);
    }
}
