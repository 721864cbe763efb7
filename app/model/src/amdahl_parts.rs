//! Amdahl's law for several parts of one job, each made faster by a factor of its own.
//!
//! Question: the parts as `share:factor`, shares of the old time. Answer: the speedup of the whole, its limit as every
//! factor grows, and which part is worth most now.
//! Assumption: the parts do not overlap, and nothing gets slower for it.
//! Source: G. M. Amdahl, AFIPS Spring Joint Computer Conference, 1967, applied part by part.
//! Errors: a part in a spelling that is not read; shares that sum to more than 1; a factor that is not positive.

use crate::fields;
use crate::registry::Model;
use vramlab_units::field::plain;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

const MOST_TEXT: usize = 1024;
/// Shares that differ by less than this are the same: 0.1 + 0.2 + 0.7 is one.
const ROUNDING: f64 = 1.0e-9;

/// A share of the old time, and how many times as fast it becomes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    pub share: f64,
    pub factor: f64,
}

/// The new time over the old.
pub fn time_share(parts: &[Part]) -> f64 {
    let rest = (1.0 - parts.iter().map(|part| part.share).sum::<f64>()).max(0.0);
    rest + parts.iter().map(|part| part.share / part.factor).sum::<f64>()
}

/// Parts as `0.4:2 0.3:3`.
fn parse(text: &str) -> Result<Vec<Part>, FieldError> {
    let mut out = Vec::new();
    for word in text.split([' ', ',']).filter(|word| !word.is_empty()) {
        let bad = |what: String| FieldError::conflict("parts", what);
        let legal = || bad(format!("{word} is not read; a part is share:factor, as in 0.4:2"));
        let (share, factor) = word.split_once(':').ok_or_else(legal)?;
        let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
        let (share, factor) = number(share).zip(number(factor)).ok_or_else(legal)?;
        if !(0.0..=1.0).contains(&share) {
            return Err(bad(format!("{word}: a share is {}; it must be from 0 to 1", plain(share))));
        }
        if factor <= 0.0 || factor > 1.0e12 {
            return Err(bad(format!("{word}: a factor is {}; it must be above 0 and at most 1e12", plain(factor))));
        }
        out.push(Part { share, factor });
    }
    let sum: f64 = out.iter().map(|part| part.share).sum();
    if sum > 1.0 + ROUNDING {
        // 0.6 + 0.5 prints as 1.1.
        return Err(FieldError::conflict(
            "parts",
            format!("fractions sum to {} > 1", plain((sum * 1e9).round() / 1e9)),
        ));
    }
    Ok(out)
}

pub struct AmdahlParts;

impl Model for AmdahlParts {
    const ID: &'static str = "amdahl_parts";
    const TITLE: Text = Text::new("Amdahl 定律，几个部分", "Amdahl's law, several parts");
    const ASSUMES: Text = Text::new(
        "各部分互不重叠；一部分变快，别的不变慢。",
        "The parts do not overlap, and no part gets slower when another gets faster.",
    );
    const SOURCE: &'static str = "G. M. Amdahl, AFIPS Spring Joint Computer Conference, 1967";
    const EXAMPLE: &'static str = r#"{"parts": "0.4:2 0.3:3 0.2:1.5"}"#;

    fn question() -> Vec<FieldSpec> {
        let doc = Text::new(
            "各部分：占原来时间的份额:变快几倍，空格隔开",
            "The parts as share of the old time:times as fast, with spaces between",
        );
        vec![FieldSpec::new("parts", "", FieldKind::Text { max_len: MOST_TEXT }, doc)]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, max, zh, en| FieldSpec::num(key, "1", 0.0, max, Text::new(zh, en));
        vec![
            num("speedup", 1.0e12, "整体快几倍", "Times that the whole becomes faster"),
            num("time_share", 1.0e12, "新时间 ÷ 旧时间", "New time over old time"),
            num("product", f64::MAX, "各倍数相乘，不是整体的倍数", "The factors multiplied, which is not the speedup"),
            num(
                "limit",
                1.0e18,
                "再快也到不了的倍数；全都能变快时不存在",
                "The limit; none where every part becomes faster",
            )
            .optional(),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let parts = parse(args.text("parts"))?;
        let time = time_share(&parts);
        let rest = 1.0 - parts.iter().map(|part| part.share).sum::<f64>();
        let product = parts.iter().map(|part| part.factor).product::<f64>().min(f64::MAX);
        Ok(fields::answer([
            ("speedup", fields::number(1.0 / time)),
            ("time_share", fields::number(time)),
            ("product", fields::number(product)),
            ("limit", if rest > ROUNDING { fields::number(1.0 / rest) } else { Value::Null }),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    #[track_caller]
    fn check(parts: &str, speedup: f64, tolerance: f64) {
        let found = eval("amdahl_parts", &question(&json!({"parts": parts}))).unwrap()["speedup"].as_f64().unwrap();
        assert!((found - speedup).abs() < tolerance, "{parts}: {found} is not {speedup}");
    }

    /// Brief 10, vectors 1 and 2. By hand: 0.1 + 0.2 + 0.1 + 0.4 ÷ 3 = 8 ÷ 15.
    #[test]
    fn worked_cases() {
        check("0.4:2, 0.3:3, 0.2:1.5", 1.875, 1e-12);
        check("0.6:3", 5.0 / 3.0, 1e-12);
        check("1:4", 4.0, 1e-12);
        check("", 1.0, 1e-12);
        check("0.95:1e12", 20.0, 1e-8);
        let answer = eval("amdahl_parts", &question(&json!({"parts": "0.4:2 0.3:3 0.2:1.5"}))).unwrap();
        assert_eq!((answer["product"].as_f64(), answer["limit"].as_f64().map(f64::round)), (Some(9.0), Some(10.0)));
    }

    #[track_caller]
    fn refused(parts: &str, said: &str) {
        let error = eval("amdahl_parts", &question(&json!({"parts": parts}))).unwrap_err();
        assert!(error.field() == "parts" && error.to_string().contains(said), "{parts}: {error}");
    }

    #[test]
    fn what_cannot_be_is_said() {
        refused("0.6:2 0.5:3", "fractions sum to 1.1 > 1");
        refused("0.5:0", "a factor is 0; it must be above 0");
        refused("1.5:2", "a share is 1.5; it must be from 0 to 1");
        refused("0.5", "share:factor");
        refused("1:1e300", "a factor is 1e300; it must be above 0 and at most 1e12");
        refused("nan:2", "share:factor");
    }
}
