//! When packing pays over a link: ratio, link speed, decoder speed.
//!
//! Question: rate of the link, ratio, rate of the decoder. Answer: the decoder that a gain needs, plain bytes a second when
//! opening follows the transfer and when both overlap. Formulas and source: `vramlab_codec::payoff`. Errors: fields out of range.

use crate::fields::{answer, number};
use crate::registry::Model;
use vramlab_codec::payoff::Link;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text, Value};

pub struct CodecPayoff;

impl Model for CodecPayoff {
    const ID: &'static str = "codec_payoff";
    const TITLE: Text = Text::new("压缩在多慢的链路上才划算", "On which links packing pays");
    const ASSUMES: Text = Text::new(
        "只算传输和解码；压缩事先做好；比值是原大小 ÷ 压缩后。",
        "Transfer and decoding only, packed beforehand; the ratio is plain over packed.",
    );
    const SOURCE: &'static str = "1 ÷ (r · link) + 1 ÷ decoder < 1 ÷ link";
    const EXAMPLE: &'static str = r#"{"link_gb_per_s": 55, "ratio": 1.43, "decoder_gb_per_s": 300}"#;

    fn question() -> Vec<FieldSpec> {
        let rate = |key, zh, en| FieldSpec::num(key, "GB/s", 1e-3, 1e6, Text::new(zh, en));
        vec![
            rate("link_gb_per_s", "链路", "The link"),
            FieldSpec::num("ratio", "1", 0.1, 1e4, Text::new("压缩比", "Ratio, plain over packed")),
            rate("decoder_gb_per_s", "解码器吐出原数据的速度", "Plain bytes that the decoder gives").default_value(300),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, unit, zh, en| FieldSpec::num(key, unit, 0.0, 1e15, Text::new(zh, en));
        vec![
            num(
                "least_decoder_gb_per_s",
                "GB/s",
                "先传后解要赚，解码至少多快",
                "Decoder that a gain needs, one after the other",
            )
            .optional(),
            num("serial_gb_per_s", "GB/s", "先传后解，每秒原数据", "Plain bytes a second, one after the other"),
            num("overlapped_gb_per_s", "GB/s", "边传边解", "Both at the same time"),
            num("serial_gain", "1", "先传后解快几倍", "Gain, one after the other"),
            num("overlapped_gain", "1", "边传边解快几倍", "Gain at the same time"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let rate = args.num("link_gb_per_s");
        let link = Link { rate, ratio: args.num("ratio"), decoder: args.num("decoder_gb_per_s") };
        Ok(answer([
            ("least_decoder_gb_per_s", link.least_decoder().map_or(Value::Null, number)),
            ("serial_gb_per_s", number(link.serial())),
            ("overlapped_gb_per_s", number(link.overlapped())),
            ("serial_gain", number(link.serial() / rate)),
            ("overlapped_gain", number(link.overlapped() / rate)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use serde_json::json;

    /// Brief 25: r = 1.43 over PCIe and over HBM.
    #[test]
    fn the_vectors_of_the_brief() {
        let ask = |link: f64, ratio: f64| {
            crate::eval("codec_payoff", &question(&json!({"link_gb_per_s": link, "ratio": ratio}))).unwrap()
        };
        let least = |link: f64| ask(link, 1.43)["least_decoder_gb_per_s"].as_f64().unwrap();
        assert_eq!(format!("{:.1} {:.2}", least(55.0), least(4800.0) / 1000.0), "182.9 15.96");
        assert_eq!(ask(55.0, 0.996)["least_decoder_gb_per_s"], json!(null));
        let got = ask(55.0, 1.43);
        assert!(got["serial_gain"].as_f64().unwrap() > 1.0 && ask(4800.0, 1.43)["serial_gain"].as_f64().unwrap() < 1.0);
    }
}
