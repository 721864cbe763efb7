//! A block of numbers under a shared scale: MX, NVFP4, NF4 or a GGUF block, code by code.
//!
//! Question: the values of one block, the format. Answer: scale, codes or bytes, the numbers that come back, errors, bits a value.
//! Rules and source: `vramlab_codec::{mx, nf4, gguf}`. Errors: a block of the wrong length, numbers that are not finite.

use super::{coding, ints, join, list, numbers, shown, text};
use crate::fields::{answer, choice, number};
use crate::registry::Model;
use vramlab_codec::error::loss;
use vramlab_codec::float::{E2M1, E2M3, E3M2, E4M3, E5M2, Format};
use vramlab_codec::gguf::{self, Kind};
use vramlab_codec::{Problem, mx, nf4};
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub struct FpBlock;

const FORMATS: &[&str] = &[
    "mxfp4",
    "mxfp6_e2m3",
    "mxfp6_e3m2",
    "mxfp8_e4m3",
    "mxfp8_e5m2",
    "nvfp4",
    "nf4",
    "q4_0",
    "q4_1",
    "q5_0",
    "q5_1",
    "q8_0",
];

/// What a block became.
struct Coded {
    scale: f64,
    codes: Vec<u8>,
    decoded: Vec<f64>,
    bits: f64,
}

fn of_mx(values: &[f64], element: Format) -> Result<Coded, Problem> {
    let block = mx::encode(values, element)?;
    let decoded = block.decode();
    Ok(Coded { scale: block.scale_value(), codes: block.codes, decoded, bits: f64::from(element.bits()) + 8.0 / 32.0 })
}

fn of_nvfp4(values: &[f64]) -> Result<Coded, Problem> {
    let largest = values.iter().fold(0.0_f64, |most, value| most.max(value.abs())) as f32;
    let tensor = mx::nv_tensor_scale(largest);
    let block = mx::nv_encode(values, tensor)?;
    let decoded = block.decode(tensor);
    let scale = E4M3.decode(block.scale.into()) * f64::from(tensor);
    Ok(Coded { scale, codes: block.codes, decoded, bits: 4.5 })
}

fn of_gguf(values: &[f64], kind: Kind) -> Result<Coded, Problem> {
    let values: Vec<f32> = values.iter().map(|value| *value as f32).collect();
    let bytes = gguf::encode(kind, &values)?;
    let decoded = gguf::decode(kind, &bytes)?.into_iter().map(f64::from).collect();
    let (n, size) = kind.size();
    let scale = vramlab_codec::float::F16.decode(u32::from(bytes[0]) | u32::from(bytes[1]) << 8);
    Ok(Coded { scale, codes: bytes, decoded, bits: size as f64 * 8.0 / n as f64 })
}

fn code(values: &[f64], format: &str) -> Result<Coded, Problem> {
    match format {
        "mxfp4" => of_mx(values, E2M1),
        "mxfp6_e2m3" => of_mx(values, E2M3),
        "mxfp6_e3m2" => of_mx(values, E3M2),
        "mxfp8_e4m3" => of_mx(values, E4M3),
        "mxfp8_e5m2" => of_mx(values, E5M2),
        "nvfp4" => of_nvfp4(values),
        "nf4" => {
            let block = nf4::encode(values)?;
            let decoded = block.decode();
            Ok(Coded { scale: block.scale.into(), codes: block.codes, decoded, bits: 4.5 })
        }
        name => of_gguf(values, Kind::find(name).unwrap_or(Kind::Q8_0)),
    }
}

impl Model for FpBlock {
    const ID: &'static str = "fp_block";
    const TITLE: Text = Text::new("共用缩放的一块数", "A block under a shared scale");
    const ASSUMES: Text = Text::new(
        "就近舍入，一半取偶码；超出范围取最大；NVFP4 的张量缩放取自这一块。",
        "Rounded to the nearest, ties to the even code, saturated; NVFP4's tensor scale is this block's.",
    );
    const SOURCE: &'static str =
        "OCP Microscaling Formats 1.0; QLoRA, appendix E; ggml-quants.c; NVFP4 as NVIDIA's cuTile describes it";
    const EXAMPLE: &'static str = r#"{"values": "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1 1.1 1.2 1.3 1.4 1.5 1.6 1.7 1.8 1.9 2 2.1 2.2 2.3 2.4 2.5 2.6 2.7 2.8 2.9 3 3.1"}"#;

    fn question() -> Vec<FieldSpec> {
        vec![
            text("values", "一块的数，空格隔开", "The values of a block, apart by blanks"),
            choice("format", "", FORMATS, Text::new("格式", "The format")).default_value("mxfp4"),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, unit, min, zh, en| FieldSpec::num(key, unit, min, 1e300, Text::new(zh, en));
        vec![
            num("scale", "1", -1e300, "缩放", "The scale"),
            FieldSpec::int(
                "scale_exponent",
                "1",
                -2048,
                2048,
                Text::new("缩放是 2 的几次方", "The scale as a power of two"),
            )
            .optional(),
            list("codes", "1", "码；GGUF 是整块的字节", "The codes; of GGUF the bytes of the block"),
            shown("decoded", "还原的数", "The numbers that come back"),
            num("mse", "1", 0.0, "均方误差", "Mean square error"),
            num("max_error", "1", 0.0, "最大误差", "Largest error"),
            num("bits_per_value", "bit", 0.0, "每个值的位数，含缩放", "Bits of a value, the scale included"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let values = numbers(args, "values")?;
        let coded = code(&values, args.text("format")).map_err(|problem| coding(&problem, &[]))?;
        if coded.decoded.iter().any(|value| !value.is_finite()) {
            return Err(FieldError::conflict("values", "the scale of this block is beyond its format"));
        }
        let lost = loss(&values, &coded.decoded);
        let power = coded.scale.abs().log2();
        let exponent = (power.fract() == 0.0 && power.abs() < 2048.0).then_some(power as i64);
        Ok(answer([
            ("scale", number(coded.scale)),
            ("scale_exponent", exponent.into()),
            ("codes", ints(&coded.codes)),
            ("decoded", join(coded.decoded.iter().copied())),
            ("mse", number(lost.rms * lost.rms)),
            ("max_error", number(lost.most)),
            ("bits_per_value", number(coded.bits)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use serde_json::json;

    /// Brief 25, third vector.
    #[test]
    fn the_vectors_of_the_brief() {
        let ask = |values: &str| crate::eval("fp_block", &question(&json!({"values": values})));
        let ramp = crate::eval("fp_block", &serde_json::from_str(FpBlock::EXAMPLE).unwrap()).unwrap();
        assert_eq!((&ramp["scale_exponent"], &ramp["bits_per_value"]), (&json!(-1), &json!(4.25)));
        assert_eq!(
            ramp["decoded"],
            "0 0 0.25 0.25 0.5 0.5 0.5 0.75 0.75 1 1 1 1 1.5 1.5 1.5 1.5 1.5 2 2 2 2 2 2 2 2 3 3 3 3 3 3"
        );
        assert!((ramp["mse"].as_f64().unwrap() - 0.034_687_5).abs() < 1e-9);
        let outlier = |rest: &str| ask(&format!("{}7", format!("{rest} ").repeat(31))).unwrap();
        assert_eq!(outlier("1")["decoded"], format!("{}6", "1 ".repeat(31)));
        assert_eq!(
            (&outlier("1")["scale_exponent"], outlier("0.01")["decoded"].as_str().unwrap()),
            (&json!(0), &*format!("{}6", "0 ".repeat(31)))
        );
        assert!(ask(&"0 ".repeat(32)).unwrap()["decoded"].as_str().unwrap().starts_with("0 0 0"));
        assert_eq!(ask(&"1 ".repeat(31)).unwrap_err().to_string(), "values: MX block must hold 32 values, got 31");
        assert!(
            ask(&format!("{}inf", "1 ".repeat(31))).unwrap_err().to_string().contains("block holds a non-finite value")
        );
    }
}
