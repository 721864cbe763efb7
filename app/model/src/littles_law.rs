//! Little's law in cycles: operations in flight = latency × throughput.
//!
//! Question: two of latency, operations a cycle, and operations in flight. Answer: all three.
//! Assumption: a steady state, in which as many operations end as begin; averages, whatever their distribution.
//! Source: J. D. C. Little, "A Proof for the Queuing Formula L = λW", Operations Research 9(3), 1961; the numbers in the
//! tests are those of modal-labs/gpu-glossary, "Little's law".
//! Errors: fewer or more than two of the three; a result out of range.

use crate::bytes_in_flight::operations_in_flight;
use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

const LATENCY: &str = "latency_cycles";
const RATE: &str = "ops_per_cycle";
const IN_FLIGHT: &str = "ops_in_flight";
const LEAST: f64 = 1.0e-6;
const MOST: f64 = 1.0e12;

pub struct LittlesLaw;

fn specs() -> Vec<FieldSpec> {
    let num = |key, unit, zh, en| FieldSpec::num(key, unit, LEAST, MOST, Text::new(zh, en));
    vec![
        num(LATENCY, "cycle", "一次操作从发出到完成的周期数", "Cycles from the start of an operation to its end"),
        num(RATE, "1", "每个周期完成几次操作", "Operations that end in a cycle"),
        num(IN_FLIGHT, "1", "同时在途的操作数", "Operations in flight at once"),
    ]
}

/// The third of the three, from the two that are given; the first error names a field.
fn solve(args: &Args) -> Result<(f64, f64, f64), FieldError> {
    let get = |key: &str| args.has(key).then(|| args.num(key));
    match (get(LATENCY), get(RATE), get(IN_FLIGHT)) {
        (Some(latency), Some(rate), None) => Ok((latency, rate, operations_in_flight(latency, rate))),
        (Some(latency), None, Some(in_flight)) => Ok((latency, in_flight / latency, in_flight)),
        (None, Some(rate), Some(in_flight)) => Ok((in_flight / rate, rate, in_flight)),
        (Some(_), Some(_), Some(_)) => Err(FieldError::conflict(IN_FLIGHT, "give two of the three, not all of them")),
        (latency, ..) => {
            let field = if latency.is_none() { LATENCY } else { RATE };
            Err(FieldError::Missing {
                field: field.to_owned(),
                legal: format!("given: two of {LATENCY}, {RATE}, {IN_FLIGHT}"),
            })
        }
    }
}

impl Model for LittlesLaw {
    const ID: &'static str = "littles_law";
    const TITLE: Text = Text::new("Little 定律（Little's law）", "Little's law");
    const ASSUMES: Text = Text::new(
        "稳定状态：完成的和发出的一样多。三个数都是平均值。",
        "A steady state, in which as many operations end as begin. All three are averages.",
    );
    const SOURCE: &'static str = "J. D. C. Little, Operations Research 9(3), 1961";
    const EXAMPLE: &'static str = r#"{"latency_cycles": 400, "ops_per_cycle": 10}"#;

    fn question() -> Vec<FieldSpec> {
        specs().into_iter().map(FieldSpec::optional).collect()
    }

    fn answer() -> Vec<FieldSpec> {
        specs()
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (latency, rate, in_flight) = solve(args)?;
        for (key, value) in [(LATENCY, latency), (RATE, rate), (IN_FLIGHT, in_flight)] {
            if !(LEAST..=MOST).contains(&value) {
                let given = if key == LATENCY { RATE } else { LATENCY };
                let reason = format!("makes {key} = {value}, which is not from {LEAST} to {MOST}");
                return Err(FieldError::conflict(given, reason));
            }
        }
        Ok(fields::answer([
            (LATENCY, fields::number(latency)),
            (RATE, fields::number(rate)),
            (IN_FLIGHT, fields::number(in_flight)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::{Value, json};

    #[track_caller]
    fn check(given: Value, key: &str, expected: f64) {
        let answer = eval("littles_law", &question(&given)).unwrap();
        assert!((answer[key].as_f64().unwrap() / expected - 1.0).abs() < 1e-12, "{answer:?}");
    }

    /// Public row 48 (modal-labs/gpu-glossary, perf/littles-law): 400 cycles at 1 and 10 operations a cycle.
    #[test]
    fn a_long_latency_needs_many_in_flight() {
        check(json!({"latency_cycles": 400, "ops_per_cycle": 1}), "ops_in_flight", 400.0);
        check(json!({"latency_cycles": 400, "ops_per_cycle": 10}), "ops_in_flight", 4000.0);
    }

    #[test]
    fn any_two_give_the_third() {
        check(json!({"latency_cycles": 400, "ops_in_flight": 4000}), "ops_per_cycle", 10.0);
        check(json!({"ops_per_cycle": 10, "ops_in_flight": 4000}), "latency_cycles", 400.0);
    }

    #[test]
    fn one_or_three_are_refused_by_name() {
        let field = |given: Value| eval("littles_law", &question(&given)).unwrap_err().field().to_owned();
        assert_eq!(field(json!({"ops_per_cycle": 1})), "latency_cycles");
        assert_eq!(field(json!({"latency_cycles": 400})), "ops_per_cycle");
        assert_eq!(field(json!({"latency_cycles": 1, "ops_per_cycle": 1, "ops_in_flight": 1})), "ops_in_flight");
    }
}
