//! A cost with a fixed part and a part that grows with the amount: a call, a copy, an allocation.
//!
//! Question: the fixed part, the part per unit, the amount. Answer: the total, the share of the fixed part, the amount at
//! which both parts are equal.
//! Assumption: nothing else grows; the second part is proportional.
//! Source: R. W. Hockney, "The communication challenge for MPP", Parallel Computing 20(3), 1994 (start-up time and rate).
//! Errors: none beyond the ranges.

use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text, Value};

const MOST: f64 = 1.0e15;

pub struct AffineCost;

impl Model for AffineCost {
    const ID: &'static str = "affine_cost";
    const TITLE: Text = Text::new("固定开销加按量开销", "A fixed cost and a cost by the amount");
    const ASSUMES: Text = Text::new(
        "两部分：一部分与多少无关，另一部分与它成正比。",
        "Two parts: one is the same for any amount, the other proportional to it.",
    );
    const SOURCE: &'static str = "R. W. Hockney, Parallel Computing 20(3), 1994";
    const EXAMPLE: &'static str = r#"{"fixed": 98, "per_unit": 0.79, "amount": 64}"#;

    fn question() -> Vec<FieldSpec> {
        let num = |key, zh, en| FieldSpec::num(key, "1", 0.0, MOST, Text::new(zh, en));
        vec![
            num("fixed", "固定的部分", "The fixed part"),
            num("per_unit", "每单位多少", "The part of one unit").default_value(0),
            num("amount", "多少单位", "How many units").default_value(0),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, most, zh, en| FieldSpec::num(key, "1", 0.0, most, Text::new(zh, en));
        vec![
            num("total", 2.0 * MOST * MOST, "合计", "The total"),
            num("fixed_share", 1.0, "固定部分占多少", "The share of the fixed part").optional(),
            num("even_amount", MOST * MOST, "到这个量，两部分相等", "The amount at which both parts are equal")
                .optional(),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (fixed, grows) = (args.num("fixed"), args.num("per_unit") * args.num("amount"));
        let share = |part: f64, whole: f64| if whole > 0.0 { fields::number(part / whole) } else { Value::Null };
        Ok(fields::answer([
            ("total", fields::number(fixed + grows)),
            ("fixed_share", share(fixed, fixed + grows)),
            ("even_amount", share(fixed, args.num("per_unit"))),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    /// 1 GiB behind a call of 10 µs at 1 µs a MiB: 1034 µs, half of it at 10 MiB.
    #[test]
    fn two_parts_add_up() {
        let answer = eval("affine_cost", &question(&json!({"fixed": 10, "per_unit": 1, "amount": 1024}))).unwrap();
        assert_eq!((answer["total"].as_f64(), answer["even_amount"].as_f64()), (Some(1034.0), Some(10.0)));
        let constant = eval("affine_cost", &question(&json!({"fixed": 10}))).unwrap();
        assert_eq!((constant["total"].as_f64(), constant["fixed_share"].as_f64()), (Some(10.0), Some(1.0)));
        assert!(constant["even_amount"].is_null());
    }
}
