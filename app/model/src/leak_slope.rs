//! Whether memory leaks, from what is allocated at the ends of steps.
//!
//! Question: the ends themselves, or a leak to be expected: one block kept every so many steps. Answer: the slope (the
//! median of all pairs, Theil and Sen), how often the floor rises, the verdict, and the step at which it first falls. The
//! rule is `vramlab_alloc::drift`, the one that recordings are judged by.
//! Assumption: a suspect after five rises; one rise alone is the optimizer's state or a cache that was filled once.
//! Source: P. K. Sen, "Estimates of the regression coefficient based on Kendall's tau", JASA 63, 1968.
//! Errors: both ways of asking at once, or neither.

use crate::fields;
use crate::registry::Model;
use vramlab_alloc::MIB;
use vramlab_alloc::drift::{Verdict, detected_at, judge};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

const MOST_STEPS: i64 = 512;
const MOST_MIB: i64 = 1 << 24;
const VERDICTS: [&str; 4] = ["too_few_steps", "steady", "grows", "leak_suspect"];

pub struct LeakSlope;

/// Bytes allocated at the end of each step.
fn ends(args: &Args) -> Result<Vec<u64>, FieldError> {
    let is_list = args.has("step_end_mib");
    if is_list == args.has("kept_mib") {
        let reason = "give either step_end_mib, the ends themselves, or kept_mib and n_steps";
        return Err(FieldError::conflict("step_end_mib", reason));
    }
    if is_list {
        return Ok(args.ints("step_end_mib").iter().map(|mib| *mib as u64 * MIB).collect());
    }
    let (kept, every, base) = (args.uint("kept_mib"), args.uint("every_steps"), args.uint("base_mib"));
    Ok((1..=args.uint("n_steps")).map(|step| (base + step / every * kept) * MIB).collect())
}

impl Model for LeakSlope {
    const ID: &'static str = "leak_slope";
    const TITLE: Text = Text::new("泄漏的斜率", "The slope of a leak");
    const ASSUMES: Text = Text::new(
        "步末的底线上升 5 次才算嫌疑；只升 1 次的是优化器状态，或填过一次的缓存。",
        "A suspect from five rises of the floor on; a single rise is the optimizer's state or a cache that was filled once.",
    );
    const SOURCE: &'static str = "P. K. Sen, JASA 63, 1968";
    const EXAMPLE: &'static str = r#"{"step_end_mib": [100, 110, 120, 130, 140, 150]}"#;

    fn question() -> Vec<FieldSpec> {
        let list = FieldKind::IntList { min_len: 1, max_len: MOST_STEPS as usize, min: 0, max: MOST_MIB };
        let mib = |key, zh, en| FieldSpec::int(key, "MiB", 0, MOST_MIB, Text::new(zh, en));
        let every = Text::new("每几步留下一块", "One is kept every so many steps");
        vec![
            FieldSpec::new(
                "step_end_mib",
                "MiB",
                list,
                Text::new("每步结束时的已分配", "Allocated at each step's end"),
            )
            .optional(),
            mib("kept_mib", "留下来的一块有多大", "Size of a block that is kept").optional(),
            FieldSpec::int("every_steps", "1", 1, MOST_STEPS, every).default_value(1),
            FieldSpec::int("n_steps", "1", 1, MOST_STEPS, Text::new("一共几步", "Steps in all")).default_value(12),
            mib("base_mib", "没有泄漏时的已分配", "Allocated without the leak").default_value(0),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let most = MOST_MIB as f64;
        let slope = Text::new("每步多出多少", "Growth a step");
        let bytes = most * MIB as f64;
        let count = |key, zh, en| FieldSpec::int(key, "1", 0, MOST_STEPS, Text::new(zh, en));
        vec![
            FieldSpec::num("slope_mib_per_step", "MiB", -most, most, slope),
            FieldSpec::num("bytes_per_step", "B", -bytes, bytes, slope),
            count("n_rises", "底线上升几次", "How often the floor rises"),
            fields::choice("verdict", "", &VERDICTS, Text::new("判断", "The verdict")),
            FieldSpec::new(
                "is_suspect",
                "",
                FieldKind::Bool,
                Text::new("是不是泄漏嫌疑", "Whether a leak is suspected"),
            ),
            count("detected_step", "第几步结束时起疑", "The step at whose end it is first suspected").optional(),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let ends = ends(args)?;
        let (verdict, slope, n_rises) = judge(&ends);
        Ok(fields::answer([
            ("slope_mib_per_step", fields::number(slope / MIB as f64)),
            ("bytes_per_step", fields::number(slope)),
            ("n_rises", n_rises.into()),
            ("verdict", verdict.id().into()),
            ("is_suspect", (verdict == Verdict::LeakSuspect).into()),
            ("detected_step", detected_at(&ends).map_or(Value::Null, Value::from)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    #[track_caller]
    fn check(given: &Value, slope: f64, is_suspect: bool, detected: &Value) {
        let answer = eval("leak_slope", &question(given)).unwrap();
        assert_eq!(answer["slope_mib_per_step"].as_f64(), Some(slope), "{given}");
        assert_eq!((&answer["is_suspect"], &answer["detected_step"]), (&is_suspect.into(), detected), "{given}");
    }

    /// Brief 18, vector 5.
    #[test]
    fn a_rise_of_ten_a_step_and_a_swing() {
        check(&json!({"step_end_mib": [100, 110, 120, 130, 140, 150]}), 10.0, true, &json!(6));
        check(&json!({"step_end_mib": [100, 140, 100, 140, 100, 140]}), 0.0, false, &Value::Null);
    }

    /// Brief 18, experiment 3: the slope is exact, and a leak of every step is seen five steps after the first end.
    #[test]
    fn a_block_kept_every_k_steps() {
        check(&json!({"kept_mib": 4, "n_steps": 12}), 4.0, true, &json!(6));
        check(&json!({"kept_mib": 4, "every_steps": 2, "n_steps": 12, "base_mib": 10}), 2.0, true, &json!(10));
        check(&json!({"kept_mib": 4, "n_steps": 2}), 4.0, false, &Value::Null);
    }

    #[test]
    fn the_two_ways_of_asking_do_not_mix() {
        for given in [json!({}), json!({"step_end_mib": [1, 2, 3], "kept_mib": 1})] {
            assert_eq!(eval("leak_slope", &question(&given)).unwrap_err().field(), "step_end_mib");
        }
    }

    #[test]
    fn every_verdict_is_among_the_options() {
        let all = [Verdict::TooFewSteps, Verdict::Steady, Verdict::Grows, Verdict::LeakSuspect];
        assert_eq!(all.map(Verdict::id), VERDICTS);
    }
}
