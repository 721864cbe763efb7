//! A normal tensor with one outlier, in several formats: who pays for it.
//!
//! Question: values, size of the outlier, bits, group, seed. Answer: root mean square error of all other values, by how scales
//! are shared and by format. Assumption: normal values with σ = 1, one value replaced, symmetric integers, ties to even.
//! Rules and source: `vramlab_codec`. Errors: a group that does not divide.

use super::coding;
use crate::fields::{answer, choice, chosen, number};
use crate::registry::Model;
use vramlab_codec::error::with_outlier;
use vramlab_codec::float::{E2M1, E4M3};
use vramlab_codec::int::{Grouping, Scheme, quantise};
use vramlab_codec::{Problem, mx, nf4};
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub struct OutlierError;

/// A block and what comes back of it.
type Coder<'a> = &'a dyn Fn(&[f64]) -> Result<Vec<f64>, Problem>;

/// Root mean square error of everything but the value at `except`.
fn rms(values: &[f64], stored: &[f64], except: usize) -> f64 {
    let square = |(at, (x, y)): (usize, (&f64, &f64))| if at == except { 0.0 } else { (x - y).powi(2) };
    let sum: f64 = values.iter().zip(stored).enumerate().map(square).sum();
    (sum / (values.len() - 1).max(1) as f64).sqrt()
}

fn in_blocks(values: &[f64], size: usize, block: Coder<'_>) -> Result<Vec<f64>, Problem> {
    values.chunks(size).map(block).collect::<Result<Vec<_>, _>>().map(|blocks| blocks.concat())
}

impl Model for OutlierError {
    const ID: &'static str = "outlier_error";
    const TITLE: Text = Text::new("一个离群值让谁付代价", "Who pays for an outlier");
    const ASSUMES: Text = Text::new(
        "正态分布，σ = 1，换掉其中一个值；误差不计那个值自己。",
        "Normal values with σ = 1, one of them replaced; the error leaves that one out.",
    );
    const SOURCE: &'static str =
        "Dettmers et al. 2022, LLM.int8() (arXiv 2208.07339), on outliers; formats as in codec";
    const EXAMPLE: &'static str = r#"{"outlier": 100}"#;

    fn question() -> Vec<FieldSpec> {
        vec![
            FieldSpec::num(
                "outlier",
                "1",
                0.0,
                1e6,
                Text::new("离群值，以 σ 计；0 表示没有", "The outlier in σ; 0 is none"),
            ),
            choice("n", "1", &["256", "1024", "4096", "16384"], Text::new("多少个值", "Values")).default_value("4096"),
            choice("bits", "bit", &["2", "3", "4", "8"], Text::new("整数的位数", "Bits of the integers"))
                .default_value("8"),
            choice("group", "1", &["32", "64", "128", "256"], Text::new("组长", "Values of a group"))
                .default_value("128"),
            FieldSpec::int("seed", "1", 0, 1 << 53, Text::new("随机种子", "Seed")).default_value(1),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, zh, en| FieldSpec::num(key, "1", 0.0, 1e7, Text::new(zh, en));
        vec![
            num("tensor_rms", "整个张量一个缩放", "One scale for the tensor"),
            num("group_rms", "每组一个缩放", "A scale for each group"),
            num("clean_rms", "没有离群值，整个张量一个缩放", "One scale for the tensor, without the outlier"),
            num("e4m3_rms", "E4M3，整个张量一个缩放", "E4M3, one scale for the tensor"),
            num("mxfp8_rms", "MXFP8", "MXFP8"),
            num("mxfp4_rms", "MXFP4", "MXFP4"),
            num("nf4_rms", "NF4", "NF4"),
            num("blow_up", "离群值让误差变成几倍", "Times that the outlier enlarges the error"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (n, bits, group) =
            (chosen(args, "n") as usize, chosen(args, "bits") as u32, chosen(args, "group") as usize);
        let (outlier, seed) = (args.num("outlier"), args.uint("seed"));
        let (values, clean) = (with_outlier(n, outlier, seed), with_outlier(n, 0.0, seed));
        let at = n / 2;
        let blame = |problem: Problem| coding(&problem, &[("values", "outlier")]);
        let ints = |values: &[f64], grouping| {
            let got = quantise(values, 1, bits, Scheme::Symmetric, grouping).map_err(blame)?;
            Ok::<_, FieldError>(rms(values, &got.decode(), at))
        };
        let (tensor, grouped) = (ints(&values, Grouping::Tensor)?, ints(&values, Grouping::Group(group))?);
        let plain = ints(&clean, Grouping::Tensor)?;
        let scale = values.iter().fold(0.0_f64, |most, value| most.max(value.abs())) / 448.0;
        let fp8: Vec<f64> = values.iter().map(|value| scale * E4M3.round(value / scale)).collect();
        let blocks = |size, block: Coder<'_>| {
            in_blocks(&values, size, block).map(|stored| rms(&values, &stored, at)).map_err(blame)
        };
        Ok(answer([
            ("tensor_rms", number(tensor)),
            ("group_rms", number(grouped)),
            ("clean_rms", number(plain)),
            ("e4m3_rms", number(rms(&values, &fp8, at))),
            ("mxfp8_rms", number(blocks(32, &|part| mx::encode(part, E4M3).map(|block| block.decode()))?)),
            ("mxfp4_rms", number(blocks(32, &|part| mx::encode(part, E2M1).map(|block| block.decode()))?)),
            ("nf4_rms", number(blocks(64, &|part| nf4::encode(part).map(|block| block.decode()))?)),
            ("blow_up", number(if plain > 0.0 { tensor / plain } else { 0.0 })),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use serde_json::json;

    /// A uniform error of step s has an rms of s ÷ √12: 100 ÷ 127 ÷ √12 with an outlier of 100 σ.
    #[test]
    fn the_tensor_pays_for_one_value() {
        let got = crate::eval("outlier_error", &question(&json!({"outlier": 100}))).unwrap();
        let of = |key: &str| got[key].as_f64().unwrap();
        assert!((of("tensor_rms") / (100.0 / 127.0 / 12.0_f64.sqrt()) - 1.0).abs() < 0.05);
        assert!(of("blow_up") > 20.0 && of("group_rms") < of("tensor_rms") / 4.0);
        assert!(of("mxfp8_rms") < of("mxfp4_rms") && of("e4m3_rms") < of("tensor_rms"));
    }
}
