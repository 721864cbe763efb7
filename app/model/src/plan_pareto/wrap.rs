//! The planner as a model: flat fields in, flat fields out.

use super::{Plan, State, Toggle, all, pareto, parse, walk};
use crate::fields;
use crate::pipeline_step::{work_of, workload};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

const MOST_TEXT: usize = 2048;
const MOST_BYTES: i64 = 1 << 50;
/// What is opened with: the changes of the chapter.
pub const TOGGLES: &str = "fuse bytes*0.5 launches*0.25 peak-1G; tile bytes*0.9; precision bytes*0.6 tflop=1979 peak-6G; \
                           graph launches=1 peak+1G; overlap peak+8G; checkpoint flop*1.3333 peak-20G";

pub struct PlanPareto;

/// The plan that `text` names: `fuse overlap` or `fuse+overlap`.
fn named<'a>(text: &str, toggles: &'a [Toggle]) -> Result<Vec<&'a Toggle>, FieldError> {
    let words: Vec<&str> = text.split([' ', '+', ',']).filter(|word| !word.is_empty() && *word != "none").collect();
    if let Some(unknown) = words.iter().find(|word| toggles.iter().all(|toggle| toggle.id != **word)) {
        let known = toggles.iter().map(|toggle| toggle.id.as_str()).collect::<Vec<_>>().join(", ");
        return Err(FieldError::conflict("plan", format!("{unknown} is not among the changes; they are {known}")));
    }
    Ok(toggles.iter().filter(|toggle| words.contains(&toggle.id.as_str())).collect())
}

/// `fuse 1.625 85899345920`: the changes, milliseconds, bytes of the peak.
fn line(plan: &Plan, toggles: &[Toggle]) -> String {
    format!("{} {} {}", plan.name(toggles), plan.time_ms, plan.peak)
}

impl PlanPareto {
    /// The plan in the question, worked out step by step.
    fn asked(args: &Args, base: &State, toggles: &[Toggle]) -> Result<[Value; 3], FieldError> {
        if !args.has("plan") {
            return Ok([Value::Null, Value::Null, Value::Null]);
        }
        let plan = named(args.text("plan"), toggles)?;
        let (states, refused) = walk(base, plan.into_iter(), args.uint("capacity_bytes"));
        if let Some(refused) = refused {
            let reason = format!("infeasible at step {} by {} bytes", refused.step, refused.by_bytes);
            return Err(FieldError::conflict("plan", reason));
        }
        let (first, last) = (base.timing().step_ms, states.last().unwrap_or(base));
        let ms = last.timing().step_ms;
        let speedup = if ms > 0.0 { fields::number(first / ms) } else { Value::Null };
        Ok([fields::number(ms), last.peak.into(), speedup])
    }
}

impl Model for PlanPareto {
    const ID: &'static str = "plan_pareto";
    const TITLE: Text = Text::new("所有方案，和不输给谁的那几个", "All plans, and those that nothing beats");
    const ASSUMES: Text = Text::new(
        "每处改动按倍数作用在工作量上，固定次序：fuse、tile、precision、graph、overlap、checkpoint、accumulate、offload。每一步\
         都要放得下。",
        "Each change acts on the workload as a factor, in one order: fuse, tile, precision, graph, overlap, checkpoint, \
         accumulate, offload. Memory must fit after every step.",
    );
    const SOURCE: &'static str = "pipeline_step over all subsets; Pareto's order on (time, peak)";
    const EXAMPLE: &'static str = r#"{"bytes": 4.8e9, "flop": 9.895e10, "launches": 1000, "link_bytes": 5.5e7, "base_bytes": 64424509440, "capacity_bytes": 68719476736}"#;

    fn question() -> Vec<FieldSpec> {
        let bytes = |key, zh, en| FieldSpec::int(key, "B", 0, MOST_BYTES, Text::new(zh, en));
        let toggles = Text::new(
            "改动，分号隔开：名字和它的作用，如 fuse bytes*0.5 launches*0.25 peak-1G",
            "The changes with semicolons between: a name and its effects, as in fuse bytes*0.5 launches*0.25 peak-1G",
        );
        let plan = Text::new("要算的方案，如 fuse+overlap", "A plan to work out, as in fuse+overlap");
        let mut out = workload();
        out.extend([
            bytes("base_bytes", "基线的峰值", "Peak of the baseline").default_value(0),
            bytes("capacity_bytes", "卡上能用的显存", "Memory that may be used").default_value(MOST_BYTES),
            FieldSpec::new("toggles", "", FieldKind::Text { max_len: MOST_TEXT }, toggles).default_value(TOGGLES),
            FieldSpec::new("plan", "", FieldKind::Text { max_len: 128 }, plan).optional(),
        ]);
        out
    }

    fn answer() -> Vec<FieldSpec> {
        let count = |key, zh, en| FieldSpec::int(key, "1", 0, 256, Text::new(zh, en));
        let text = |key, len, zh, en| FieldSpec::new(key, "", FieldKind::Text { max_len: len }, Text::new(zh, en));
        let ms = |key, zh, en| FieldSpec::num(key, "ms", 0.0, f64::MAX, Text::new(zh, en)).optional();
        let bytes = |key, zh, en| FieldSpec::int(key, "B", 0, i64::MAX, Text::new(zh, en)).optional();
        vec![
            count("n_plans", "一共几个方案", "Plans in all"),
            count("n_feasible", "每一步都放得下的", "Plans that fit at every step"),
            count("n_pareto", "不输给谁的", "Plans that nothing beats"),
            text(
                "pareto",
                65_536,
                "不输给谁的：改动 毫秒 峰值字节，分号隔开",
                "Those plans: changes, ms, bytes of the peak",
            ),
            text("fastest", 128, "最快的", "The fastest"),
            ms("fastest_ms", "最快的要多久", "Time of the fastest"),
            text("leanest", 128, "最省显存的", "The leanest"),
            bytes("leanest_bytes", "最省的峰值", "Peak of the leanest"),
            ms("plan_ms", "问的方案要多久", "Time of the plan asked for"),
            bytes("plan_bytes", "问的方案的峰值", "Peak of the plan asked for"),
            FieldSpec::num(
                "plan_speedup",
                "1",
                0.0,
                f64::MAX,
                Text::new("比基线快几倍", "Times as fast as the baseline"),
            )
            .optional(),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (work, machine) = work_of(args);
        let peak = i64::try_from(args.uint("base_bytes")).unwrap_or(i64::MAX);
        let base = State { work, machine, is_overlapped: false, peak };
        let toggles = parse(args.text("toggles"))?;
        let [plan_ms, plan_bytes, plan_speedup] = Self::asked(args, &base, &toggles)?;
        let plans = all(&base, &toggles, args.uint("capacity_bytes"));
        let set = pareto(&plans);
        let name = |plan: Option<&Plan>| plan.map_or_else(|| "-".to_owned(), |plan| plan.name(&toggles));
        let n_feasible = plans.iter().filter(|plan| plan.refused.is_none()).count();
        let lines: Vec<String> = set.iter().map(|plan| line(plan, &toggles)).collect();
        Ok(fields::answer([
            ("n_plans", plans.len().into()),
            ("n_feasible", n_feasible.into()),
            ("n_pareto", set.len().into()),
            ("pareto", lines.join("; ").into()),
            ("fastest", name(set.first()).into()),
            ("fastest_ms", set.first().map_or(Value::Null, |plan| fields::number(plan.time_ms))),
            ("leanest", name(set.last()).into()),
            ("leanest_bytes", set.last().map_or(Value::Null, |plan| plan.peak.into())),
            ("plan_ms", plan_ms),
            ("plan_bytes", plan_bytes),
            ("plan_speedup", plan_speedup),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::{Value, json};

    fn asked(more: &Value) -> vramlab_units::Map {
        let mut given = question(&json!({
            "bytes": 4.8e9, "flop": 9.895e10, "launches": 1000, "link_bytes": 5.5e7,
            "base_bytes": 80_i64 << 30, "capacity_bytes": 80_i64 << 30,
            "toggles": "fuse bytes*0.5 launches*0.25 peak-1G; graph launches=1; overlap peak+4G",
        }));
        given.extend(question(more));
        given
    }

    /// Brief 10, vectors 4 and 8.
    #[test]
    fn a_plan_is_worked_out_or_refused_at_its_step() {
        let answer = eval("plan_pareto", &asked(&json!({"plan": "fuse"}))).unwrap();
        assert!((answer["plan_speedup"].as_f64().unwrap() - 2.153_846_153_846_154).abs() < 1e-12);
        assert_eq!(answer["plan_bytes"], 79_i64 << 30);
        let error = eval("plan_pareto", &asked(&json!({"plan": "fuse+overlap"}))).unwrap_err();
        assert_eq!(error.to_string(), "plan: infeasible at step 2 by 3221225472 bytes");
        let error = eval("plan_pareto", &asked(&json!({"plan": "fuze"}))).unwrap_err();
        assert!(error.to_string().contains("fuze is not among the changes; they are fuse, graph, overlap"), "{error}");
    }

    /// Without the overlap, which never fits: fuse 1.625, graph 2.0, both 0.5 + 1.0; fuse with graph is best in both.
    #[test]
    fn the_set_is_what_nothing_beats() {
        let answer = eval("plan_pareto", &asked(&json!({}))).unwrap();
        assert_eq!((&answer["n_plans"], &answer["n_feasible"]), (&json!(8), &json!(4)));
        assert_eq!((&answer["fastest"], &answer["leanest"]), (&json!("fuse+graph"), &json!("fuse+graph")));
        assert_eq!((&answer["fastest_ms"], &answer["n_pareto"]), (&json!(1.5), &json!(1)));
    }

    #[test]
    fn a_baseline_that_does_not_fit_leaves_nothing() {
        let answer = eval("plan_pareto", &asked(&json!({"capacity_bytes": 1}))).unwrap();
        assert_eq!((&answer["n_feasible"], &answer["fastest_ms"]), (&json!(0), &Value::Null));
    }
}
