//! The numbers that a short format has, under the scale of a block, and what 32 values become there.
//!
//! Question: format, an outlier, how far the scale is off MX's rule, seed. Answer: the grid, the values, what is stored of
//! them, how many became zero or hit the end. Rules and source: `vramlab_codec::{float, mx}`; the scale's rule is section 6.3
//! of OCP Microscaling Formats 1.0. Assumption: normal values with σ = 1; the last is replaced by the outlier; saturation.
//! Errors: fields out of range.

use super::{join, shown};
use crate::fields::{answer, choice, number};
use crate::registry::Model;
use vramlab_codec::error::loss;
use vramlab_codec::float::{E4M3, Format, find};
use vramlab_codec::mx::{self, BLOCK};
use vramlab_codec::{Problem, Random};
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub struct NumberLine;

/// Formats that MX has of 8, 6 and 4 bits.
pub const FORMATS: &[&str] = &["e4m3", "e5m2", "e3m2", "e2m3", "e2m1"];

impl Model for NumberLine {
    const ID: &'static str = "number_line";
    const TITLE: Text = Text::new("短格式的数轴", "The numbers of a short format");
    const ASSUMES: Text = Text::new(
        "32 个正态值，σ = 1，最后一个换成离群值；就近舍入，一半取偶码，超出取最大。",
        "32 normal values with σ = 1, the last replaced by the outlier; nearest, ties to the even code, saturated.",
    );
    const SOURCE: &'static str =
        "OCP Microscaling Formats 1.0, section 6.3; Micikevicius et al. 2022 (arXiv 2209.05433)";
    const EXAMPLE: &'static str = r#"{"format": "e2m1", "outlier": 16}"#;

    fn question() -> Vec<FieldSpec> {
        vec![
            choice("format", "", FORMATS, Text::new("元素的格式", "The element's format")).default_value("e4m3"),
            FieldSpec::num(
                "outlier",
                "1",
                0.0,
                256.0,
                Text::new("离群值，以 σ 计；0 表示没有", "The outlier in σ; 0 is none"),
            )
            .default_value(0),
            FieldSpec::int(
                "shift",
                "1",
                -8,
                8,
                Text::new("缩放比规则大 2 的几次方", "Powers of two by which the scale is off"),
            )
            .default_value(0),
            FieldSpec::int("seed", "1", 0, 1 << 53, Text::new("随机种子", "Seed")).default_value(1),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, zh, en| FieldSpec::num(key, "1", 0.0, 1e12, Text::new(zh, en));
        let count = |key, max, zh, en| FieldSpec::int(key, "1", 0, max, Text::new(zh, en));
        vec![
            FieldSpec::int(
                "scale_exponent",
                "1",
                -127,
                127,
                Text::new("缩放是 2 的几次方", "The scale as a power of two"),
            ),
            shown("grid", "非负的格点，已乘缩放", "Numbers from 0 up, times the scale"),
            shown("values", "块里的值", "The values of the block"),
            shown("stored", "存下的值", "What is stored"),
            count("n_zero", 32, "变成 0 的", "Values that became zero"),
            count("n_cut", 32, "超出格点、被截的", "Values beyond the last number"),
            count("n_distinct", 32, "不同的存值", "Different numbers among what is stored"),
            num("rms_error", "均方根误差，离群值除外", "Root mean square error without the outlier"),
            num("largest", "最大的格点", "The largest number"),
            num("smallest", "最小的正格点", "The least number above zero"),
            FieldSpec::num(
                "bits_per_value",
                "bit",
                4.0,
                9.0,
                Text::new("每个值几位，含缩放", "Bits a value, scale included"),
            ),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let format = find(args.text("format")).unwrap_or(E4M3);
        let values = block(args.num("outlier"), args.uint("seed"));
        let rule = mx::encode(&values, format).map_err(|problem: Problem| super::coding(&problem, &[]))?;
        let exponent = (i32::from(rule.scale) - 127 + args.int("shift") as i32).clamp(-127, 127);
        let by = 2.0_f64.powi(exponent);
        let stored: Vec<f64> = values.iter().map(|value| by * format.round(value / by)).collect();
        let most = by * format.largest();
        let count = |is: &dyn Fn(&f64, &f64) -> bool| values.iter().zip(&stored).filter(|(x, y)| is(x, y)).count();
        let mut distinct: Vec<u64> = stored.iter().map(|value| (value + 0.0).to_bits()).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let rest = if args.num("outlier") > 0.0 { BLOCK - 1 } else { BLOCK };
        Ok(answer([
            ("scale_exponent", exponent.into()),
            ("grid", join(grid(format, by))),
            ("values", join(values.iter().copied())),
            ("stored", join(stored.iter().map(|value| value + 0.0))),
            ("n_zero", count(&|x, y| *x != 0.0 && *y == 0.0).into()),
            ("n_cut", count(&|x, _| x.abs() > most).into()),
            ("n_distinct", distinct.len().into()),
            ("rms_error", number(loss(&values[..rest], &stored[..rest]).rms)),
            ("largest", number(most)),
            ("smallest", number(by * format.smallest())),
            ("bits_per_value", number(f64::from(format.bits()) + 8.0 / BLOCK as f64)),
        ]))
    }
}

/// Normal values to three digits, so that what is read is what is stored; the last one is the outlier if there is one.
fn block(outlier: f64, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    let mut values: Vec<f64> = (0..BLOCK).map(|_| (random.normal() * 1000.0).round() / 1000.0).collect();
    if outlier > 0.0 {
        values[BLOCK - 1] = outlier;
    }
    values
}

/// From zero up.
fn grid(format: Format, by: f64) -> Vec<f64> {
    let codes = 0..format.n_codes() / 2;
    codes.map(|code| by * format.decode(code)).take_while(|value| value.is_finite()).collect()
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use serde_json::{Value, json};
    use vramlab_units::Map;

    fn ask(given: Value) -> Map {
        crate::eval("number_line", &question(&given)).unwrap()
    }

    fn list(got: &Map, key: &str) -> Vec<f64> {
        got[key].as_str().unwrap().split(' ').map(|word| word.parse().unwrap()).collect()
    }

    /// OCP MX 1.0: E2M1 has 0, 0.5, 1, 1.5, 2, 3, 4, 6; E4M3 ends at 448 and has 126 numbers above zero.
    #[test]
    fn grids_of_the_standard() {
        // 7 lies in [4, 8): ⌊log₂ 7⌋ − 2 = 0.
        let four = ask(json!({"format": "e2m1", "outlier": 7}));
        assert_eq!(
            (&four["scale_exponent"], &four["n_cut"], &four["bits_per_value"]),
            (&json!(0), &json!(1), &json!(4.25))
        );
        assert_eq!(list(&four, "grid"), [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]);
        assert_eq!(list(&four, "stored")[31], 6.0);
        // 256 = 2⁸: E4M3's largest exponent is 8, so the scale is 1.
        let eight = ask(json!({"format": "e4m3", "outlier": 256}));
        let grid = list(&eight, "grid");
        assert_eq!((&eight["scale_exponent"], grid.len(), grid[126]), (&json!(0), 127, 448.0));
        assert!((grid[1] - 2.0_f64.powi(-9)).abs() < 1e-12);
    }

    /// Without an outlier the rule's scale is the best power of two; with one, small values vanish.
    #[test]
    fn scales() {
        let error = |shift: i64| ask(json!({"format": "e2m1", "shift": shift}))["rms_error"].as_f64().unwrap();
        assert!(error(0) < error(1) && error(0) < error(-2), "{} {} {}", error(0), error(1), error(-2));
        let lost = |outlier: f64| ask(json!({"format": "e2m1", "outlier": outlier}))["n_zero"].as_i64().unwrap();
        assert!(lost(0.0) < 12 && lost(64.0) == 31, "{} {}", lost(0.0), lost(64.0));
        // Eight bits hold both: E4M3 spans 2¹⁸ from its least to its largest.
        assert!(ask(json!({"format": "e4m3", "outlier": 64}))["n_zero"].as_i64().unwrap() <= 1);
    }
}
