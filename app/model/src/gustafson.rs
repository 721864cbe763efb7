//! Gustafson's law: how much more work a machine does in the same time when the job grows with it.
//!
//! Question: the serial share of the time *on the parallel machine*, and its processors. Answer: the scaled speedup, and
//! the serial share that a single processor would show for the same grown job. With that share Amdahl's law gives the
//! same number: the laws answer different questions and do not contradict each other.
//! Assumption: the serial time does not grow with the job; the parallel part grows exactly with the processors.
//! Source: J. L. Gustafson, "Reevaluating Amdahl's Law", Communications of the ACM 31(5), 1988.
//! Errors: fields out of range.

use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

/// Time of the grown job on one processor over its time on `n_procs`: s + (1 − s) N.
pub fn scaled_speedup(serial_share: f64, n_procs: f64) -> f64 {
    serial_share + (1.0 - serial_share) * n_procs
}

/// The serial share of the grown job as a single processor would measure it.
pub fn serial_share_on_one(serial_share: f64, n_procs: f64) -> f64 {
    serial_share / scaled_speedup(serial_share, n_procs)
}

pub struct Gustafson;

impl Model for Gustafson {
    const ID: &'static str = "gustafson";
    const TITLE: Text = Text::new("Gustafson 定律", "Gustafson's law");
    const ASSUMES: Text = Text::new(
        "串行部分的时间不随活变大；能并行的部分与处理器同比变大。",
        "The serial time does not grow with the job; the parallel part grows just as the processors do.",
    );
    const SOURCE: &'static str = "J. L. Gustafson, \"Reevaluating Amdahl's Law\", CACM 31(5), 1988";
    const EXAMPLE: &'static str = r#"{"serial_share": 0.004, "n_procs": 1024}"#;

    fn question() -> Vec<FieldSpec> {
        let share = Text::new(
            "并行机器上的时间里，串行部分占多少",
            "Serial share of the time, as measured on the parallel machine",
        );
        vec![
            FieldSpec::num("serial_share", "1", 0.0, 1.0, share),
            FieldSpec::num("n_procs", "1", 1.0, 1.0e9, Text::new("处理器个数", "Processors")),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, max, zh, en| FieldSpec::num(key, "1", 0.0, max, Text::new(zh, en));
        vec![
            num("scaled_speedup", 1.0e9, "同样时间里能干几倍的活", "Times the work done in the same time"),
            num("efficiency", 1.0, "加速比 ÷ 处理器个数", "Speedup over processors"),
            num(
                "serial_share_on_one",
                1.0,
                "同一份大活放在一个处理器上，串行部分占多少",
                "Serial share of the same grown job on one processor",
            ),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (share, n_procs) = (args.num("serial_share"), args.num("n_procs"));
        let speedup = scaled_speedup(share, n_procs);
        Ok(fields::answer([
            ("scaled_speedup", fields::number(speedup)),
            ("efficiency", fields::number((speedup / n_procs).min(1.0))),
            ("serial_share_on_one", fields::number(serial_share_on_one(share, n_procs))),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amdahl;
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    #[track_caller]
    fn check(serial_share: f64, n_procs: u64, expected: f64) {
        let given = json!({"serial_share": serial_share, "n_procs": n_procs});
        let found = eval("gustafson", &question(&given)).unwrap()["scaled_speedup"].as_f64().unwrap();
        assert!((found - expected).abs() < 0.01, "{found} is not {expected}");
    }

    /// The paper: 1024 processors, serial shares of 0.4 to 0.8 %, speedups of 1020 and 1016 among those reported.
    /// By hand: 1024 − 1023 × 0.004 = 1019.908 and 1024 − 1023 × 0.008 = 1015.816.
    #[test]
    fn the_paper_of_1988() {
        check(0.004, 1024, 1019.908);
        check(0.008, 1024, 1015.816);
        assert_eq!([0.004, 0.008].map(|share| scaled_speedup(share, 1024.0).round()), [1020.0, 1016.0]);
    }

    #[test]
    fn the_ends_are_all_serial_and_all_parallel() {
        check(1.0, 1024, 1.0);
        check(0.0, 1024, 1024.0);
        check(0.05, 16, 15.25);
    }

    #[test]
    fn amdahl_gives_the_same_number_for_the_share_on_one_processor() {
        for (share, n_procs) in [(0.004, 1024.0), (0.05, 16.0), (0.5, 3.0), (0.0, 8.0)] {
            let on_one = serial_share_on_one(share, n_procs);
            let other = amdahl::speedup(1.0 - on_one, n_procs);
            assert!((other / scaled_speedup(share, n_procs) - 1.0).abs() < 1e-9, "{share} of {n_procs}: {other}");
        }
    }
}
