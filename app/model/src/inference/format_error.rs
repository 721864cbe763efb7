//! The error that a format of few bits is expected to leave on normal values, by integration: no value is drawn.
//!
//! Question: format, how many values, an outlier. Answer: root mean square error over the values' own root mean square, the
//! outlier left out. A scale comes from the largest value, of the tensor or of a block: the distribution of the largest of n
//! normal values is (2Φ(x) − 1)ⁿ; the others are normal below it. Assumption: independent normal values, σ = 1; the largest
//! of a whole tensor is taken as its median. Source: order statistics (David and Nagaraja, section 2.1); formats as in
//! `vramlab_codec`. Errors: fields out of range.

use crate::fields::{answer, number};
use crate::registry::Model;
use vramlab_codec::entropy::erf;
use vramlab_codec::float::{E2M1, E4M3, E5M2, Format};
use vramlab_codec::nf4;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub struct FormatError;

/// Values that share a scale, and how one of them is rounded when the largest is `most`.
struct Rule {
    /// 0 is the whole tensor.
    block: usize,
    round: fn(f64, f64) -> f64,
}

fn int(bits: i32, x: f64, most: f64) -> f64 {
    let step = most / (2.0_f64.powi(bits - 1) - 1.0);
    step * (x / step).round_ties_even()
}

fn scaled(format: Format, x: f64, most: f64) -> f64 {
    let by = most / format.largest();
    by * format.round(x / by)
}

fn mx(format: Format, x: f64, most: f64) -> f64 {
    let by = 2.0_f64.powi(most.log2().floor() as i32 - format.max_exponent());
    by * format.round(x / by)
}

/// In the order of the field `format`.
const RULES: [Rule; 8] = [
    Rule { block: 0, round: |x, most| int(8, x, most) },
    Rule { block: 128, round: |x, most| int(8, x, most) },
    Rule { block: 128, round: |x, most| int(4, x, most) },
    Rule { block: 0, round: |x, most| scaled(E4M3, x, most) },
    Rule { block: 0, round: |x, most| scaled(E5M2, x, most) },
    Rule { block: 32, round: |x, most| mx(E4M3, x, most) },
    Rule { block: 32, round: |x, most| mx(E2M1, x, most) },
    Rule { block: nf4::BLOCK, round: |x, most| f64::from(nf4::CODES[usize::from(nf4::nearest(x / most))]) * most },
];

/// Places at which the largest of a block is taken, each as likely as the others.
const QUANTILES: usize = 48;
/// Places of the integral over one value.
const PLACES: usize = 1000;

/// The `share` quantile of the largest magnitude among `n` normal values.
fn largest(n: f64, share: f64) -> f64 {
    let wanted = share.powf(1.0 / n);
    let (mut low, mut high) = (0.0, 12.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if erf(middle / std::f64::consts::SQRT_2) < wanted { low = middle } else { high = middle }
    }
    high
}

/// Mean square error of normal values below `end` in magnitude, when the largest is `most`.
fn mean_square(rule: &Rule, end: f64, most: f64) -> f64 {
    let step = end / PLACES as f64;
    let (mut sum, mut weight) = (0.0, 0.0);
    for place in 0..PLACES {
        let x = (place as f64 + 0.5) * step;
        let density = (-0.5 * x * x).exp();
        // Both signs: NF4 has one number more below zero.
        let lost = [x, -x].map(|x| (x - (rule.round)(x, most)).powi(2));
        sum += density * f64::midpoint(lost[0], lost[1]);
        weight += density;
    }
    sum / weight
}

/// Over all blocks without an outlier.
fn of_blocks(rule: &Rule) -> f64 {
    let n = rule.block as f64;
    let at = |place: usize| {
        let most = largest(n, (place as f64 + 0.5) / QUANTILES as f64);
        let own = (most - (rule.round)(most, most)).powi(2);
        ((n - 1.0) * mean_square(rule, most, most) + own) / n
    };
    (0..QUANTILES).map(at).sum::<f64>() / QUANTILES as f64
}

/// Expected root mean square error of values with σ = 1.
fn expected(rule: &Rule, n: f64, outlier: f64) -> f64 {
    if rule.block == 0 {
        let most = if outlier > 0.0 { outlier } else { largest(n, 0.5) };
        return mean_square(rule, most.min(8.0), most).sqrt();
    }
    let blocks = (n / rule.block as f64).max(1.0);
    let plain = of_blocks(rule);
    if outlier == 0.0 {
        return plain.sqrt();
    }
    let hit = mean_square(rule, outlier.min(8.0), outlier);
    (plain + (hit - plain) / blocks).sqrt()
}

impl Model for FormatError {
    const ID: &'static str = "format_error";
    const TITLE: Text = Text::new("一种格式该有多大误差", "The error to expect of a format");
    const ASSUMES: Text = Text::new(
        "互不相关的正态值，σ = 1；误差不计离群值自己；积分得出，没有抽样。",
        "Independent normal values, σ = 1; the outlier itself is left out; integrated, nothing is drawn.",
    );
    const SOURCE: &'static str =
        "David and Nagaraja, Order Statistics, section 2.1; formats as OCP, QLoRA and GPTQ have them";
    const EXAMPLE: &'static str = r#"{"format": 6}"#;

    fn question() -> Vec<FieldSpec> {
        let formats = Text::new(
            "0 int8，1 int8 每 128 个，2 int4 每 128 个，3 E4M3，4 E5M2，5 MXFP8，6 MXFP4，7 NF4",
            "0 int8, 1 int8 by 128, 2 int4 by 128, 3 E4M3, 4 E5M2, 5 MXFP8, 6 MXFP4, 7 NF4",
        );
        let outlier = Text::new("离群值，以 σ 计；0 表示没有", "The outlier in σ; 0 is none");
        vec![
            FieldSpec::int("format", "1", 0, 7, formats),
            FieldSpec::int("n", "1", 128, 1 << 30, Text::new("多少个值", "Values")).default_value(16_384),
            FieldSpec::num("outlier", "1", 0.0, 1e4, outlier).default_value(0),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        vec![
            FieldSpec::num("error_pct", "%", 0.0, 1e4, Text::new("均方根误差 ÷ σ", "Root mean square error over σ")),
            FieldSpec::num("snr_db", "dB", -100.0, 300.0, Text::new("信噪比", "Signal to noise")),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let rule = &RULES[args.uint("format") as usize % RULES.len()];
        let error = expected(rule, args.uint("n") as f64, args.num("outlier"));
        Ok(answer([("error_pct", number(100.0 * error)), ("snr_db", number(-20.0 * error.max(1e-12).log10()))]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use serde_json::json;
    use vramlab_codec::Random;
    use vramlab_codec::mx::encode;

    /// Against values that were drawn: 200,000 through the real MX encoder.
    #[test]
    fn integration_and_a_draw_agree() {
        let mut random = Random::new(5);
        let values: Vec<f64> = (0..200_000 / 32 * 32).map(|_| random.normal()).collect();
        for (rule, format) in [(5, E4M3), (6, E2M1)] {
            let stored: Vec<f64> =
                values.chunks(32).flat_map(|block| encode(block, format).unwrap().decode()).collect();
            let drawn = vramlab_codec::error::loss(&values, &stored).rms;
            let got = expected(&RULES[rule], 1e5, 0.0);
            assert!((got / drawn - 1.0).abs() < 0.02, "{rule}: {got} {drawn}");
        }
    }

    /// A uniform error of step s has an rms of s ÷ √12; the largest of 32 normal values is 2.3 in the median.
    #[test]
    fn known_numbers() {
        let ask = |given| crate::eval("format_error", &question(&given)).unwrap()["error_pct"].as_f64().unwrap();
        let stretched = ask(json!({"format": 0, "outlier": 100}));
        assert!((stretched / (100.0 * 100.0 / 127.0 / 12.0_f64.sqrt()) - 1.0).abs() < 0.02, "{stretched}");
        // Φ⁻¹: 0.5^(1/32) of the mass lies within 2.30.
        assert!((largest(32.0, 0.5) - 2.30).abs() < 0.02, "{}", largest(32.0, 0.5));
        // E4M3 has three bits of mantissa: between 2⁻⁵ and 2⁻⁴ at worst, some 2.6 % on the whole; E5M2 twice that.
        let (e4m3, e5m2) = (ask(json!({"format": 3})), ask(json!({"format": 4})));
        assert!((2.2..3.1).contains(&e4m3) && (1.9..2.1).contains(&(e5m2 / e4m3)), "{e4m3} {e5m2}");
    }
}
