//! Amdahl's law: how much faster a job of fixed size becomes when only a part of it does.
//!
//! Question: the share of the old time that can be spread out or sped up, and by what factor. Answer: the speedup of the
//! whole, the limit that no factor passes, and what the new time consists of.
//! Assumption: the job stays the same size, the part divides without loss, and nothing waits for anything else.
//! Source: G. M. Amdahl, "Validity of the Single Processor Approach to Achieving Large Scale Computing Capabilities",
//! AFIPS Spring Joint Computer Conference, 1967; the formula in this form: J. L. Gustafson, CACM 31(5), 1988.
//! Errors: fields out of range.

use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text, Value};

/// The new time over the old, when `parallel_share` of the old time becomes `factor` times as fast.
pub fn time_share(parallel_share: f64, factor: f64) -> f64 {
    (1.0 - parallel_share) + parallel_share / factor
}

/// See the module's docs.
pub fn speedup(parallel_share: f64, factor: f64) -> f64 {
    1.0 / time_share(parallel_share, factor)
}

/// What the speedup approaches as the factor grows; nothing bounds a job without a serial part.
pub fn limit(parallel_share: f64) -> Option<f64> {
    (parallel_share < 1.0).then(|| 1.0 / (1.0 - parallel_share))
}

pub struct Amdahl;

impl Model for Amdahl {
    const ID: &'static str = "amdahl";
    const TITLE: Text = Text::new("Amdahl 定律", "Amdahl's law");
    const ASSUMES: Text = Text::new(
        "活的总量不变；能并行的部分均分，没有损耗；没有同步和通信的开销。",
        "The job keeps its size, the parallel part divides without loss, and neither waiting nor communication costs \
         anything.",
    );
    const SOURCE: &'static str = "G. M. Amdahl, AFIPS Spring Joint Computer Conference, 1967";
    const EXAMPLE: &'static str = r#"{"parallel_share": 0.95, "factor": 32}"#;

    fn question() -> Vec<FieldSpec> {
        let share = Text::new("原来的时间里，能变快的占多少", "Share of the old time that becomes faster");
        let factor = Text::new(
            "那一部分快几倍；均分给处理器时就是处理器的个数",
            "How many times faster that part becomes; the number of processors, if it divides evenly",
        );
        vec![FieldSpec::num("parallel_share", "1", 0.0, 1.0, share), FieldSpec::num("factor", "1", 1.0, 1.0e9, factor)]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, max, zh, en| FieldSpec::num(key, "1", 0.0, max, Text::new(zh, en));
        vec![
            num("speedup", 1.0e9, "整体快几倍", "Times that the whole becomes faster"),
            num("limit", 1.0e18, "再快也到不了的倍数；没有串行部分时不存在", "The limit; none without a serial part")
                .optional(),
            num("time_share", 1.0, "新时间 ÷ 旧时间", "New time over old time"),
            num("serial_of_rest", 1.0, "新时间里串行部分占多少", "Share of the new time that is serial"),
            num("efficiency", 1.0, "加速比 ÷ 倍数", "Speedup over factor"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (share, factor) = (args.num("parallel_share"), args.num("factor"));
        let (time, speedup) = (time_share(share, factor), speedup(share, factor));
        Ok(fields::answer([
            ("speedup", fields::number(speedup)),
            ("limit", limit(share).map_or(Value::Null, fields::number)),
            ("time_share", fields::number(time)),
            ("serial_of_rest", fields::number((1.0 - share) / time)),
            ("efficiency", fields::number((speedup / factor).min(1.0))),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    #[track_caller]
    fn check(parallel_share: f64, factor: f64, expected: f64) {
        let given = json!({"parallel_share": parallel_share, "factor": factor});
        let found = eval("amdahl", &question(&given)).unwrap()["speedup"].as_f64().unwrap();
        assert!((found - expected).abs() < 1e-9 * expected, "{found} is not {expected}");
    }

    /// By hand. 0.95 over 32: 1 ÷ (0.05 + 0.0296875) = 1 ÷ 0.0796875 = 640 ÷ 51. The classic row of 90 %: 5.26 at ten.
    #[test]
    fn worked_cases() {
        check(0.6, 3.0, 5.0 / 3.0);
        check(0.0, 10.0, 1.0);
        check(1.0, 4.0, 4.0);
        check(0.95, 32.0, 640.0 / 51.0);
        check(0.9, 10.0, 100.0 / 19.0);
    }

    /// By hand: 0.004 + 0.996 ÷ 1024 = 0.004 972 656 25, so 1024 processors give 201.1. The paper of 1988 starts from
    /// how steep this is near no serial part at all.
    #[test]
    fn a_small_serial_share_costs_most_of_a_large_machine() {
        check(0.996, 1024.0, 1.0 / 0.004_972_656_25);
    }

    #[test]
    fn the_limit_is_one_over_the_serial_share_and_absent_without_one() {
        let limit = |share: f64| {
            let given = json!({"parallel_share": share, "factor": 7});
            eval("amdahl", &question(&given)).unwrap()["limit"].clone()
        };
        assert!((limit(0.95).as_f64().unwrap() - 20.0).abs() < 1e-9);
        assert!(limit(1.0).is_null());
    }
}
