//! Baseline against candidate: improved, regressed, no difference detected, or too few samples.
//!
//! Question: the samples of both in nanoseconds, or the 95 % intervals of their medians with the number of samples; what
//! was run, as far as it is told. Answer: the verdict, and how many times as fast the candidate is. Less is better.
//! The rule, its assumption and its source: [`crate::samples`].
//! Errors: a workload that differs (model size, type, batch, length), by name; a side without samples, or with samples
//! and an interval as well; fields out of range.

use crate::fields;
use crate::registry::Model;
use crate::samples::{Interval, LEAST_SAMPLES, change, interval};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

/// What makes two runs unlike: the field behind `base_` and `cand_`, and its unit.
const WORKLOAD: [&str; 4] = ["dtype", "params", "batch", "length"];
const DTYPES: [&str; 8] = ["fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "int8", "int4"];
const MOST: f64 = 1.0e15;

pub struct CompareRuns;

/// The fields of one side.
struct Side {
    ns: &'static str,
    low: &'static str,
    high: &'static str,
    n: &'static str,
    workload: [&'static str; 4],
}

const BASE: Side = Side {
    ns: "base_ns",
    low: "base_low",
    high: "base_high",
    n: "base_n",
    workload: ["base_dtype", "base_params", "base_batch", "base_length"],
};
const CANDIDATE: Side = Side {
    ns: "cand_ns",
    low: "cand_low",
    high: "cand_high",
    n: "cand_n",
    workload: ["cand_dtype", "cand_params", "cand_batch", "cand_length"],
};

impl Side {
    fn fields(&self, who: [Text; 8]) -> Vec<FieldSpec> {
        let [ns, low, high, n, dtype, params, batch, length] = who;
        let list = FieldKind::IntList { min_len: 1, max_len: 4096, min: 1, max: MOST as i64 };
        let [of_dtype, of_params, of_batch, of_length] = self.workload;
        vec![
            FieldSpec::new(self.ns, "ns", list, ns).optional(),
            FieldSpec::num(self.low, "1", 0.0, MOST, low).optional(),
            FieldSpec::num(self.high, "1", 0.0, MOST, high).optional(),
            FieldSpec::int(self.n, "1", 0, 1_000_000, n).optional(),
            fields::choice(of_dtype, "", &DTYPES, dtype).optional(),
            FieldSpec::int(of_params, "1", 0, MOST as i64, params).optional(),
            FieldSpec::int(of_batch, "1", 1, 1_000_000_000, batch).optional(),
            FieldSpec::int(of_length, "token", 1, 1_000_000_000, length).optional(),
        ]
    }

    /// The interval of this side; `None` if its samples are too few for one.
    fn interval(&self, args: &Args) -> Result<Option<Interval>, FieldError> {
        if args.has(self.ns) {
            if let Some(field) = [self.low, self.high, self.n].into_iter().find(|field| args.has(field)) {
                let reason =
                    format!("{} has the samples, from which the interval follows; leave out one of both", self.ns);
                return Err(FieldError::conflict(field, reason));
            }
            let samples: Vec<f64> = args.ints(self.ns).into_iter().map(|ns| ns as f64).collect();
            return Ok(interval(&samples));
        }
        for field in [self.low, self.high, self.n] {
            if !args.has(field) {
                let legal = format!("a number, unless {} lists the samples", self.ns);
                return Err(FieldError::Missing { field: field.to_owned(), legal });
            }
        }
        let (low, high) = (args.num(self.low), args.num(self.high));
        if low > high {
            let reason = format!("the interval starts at {low} and ends at {high}; its lower end comes first");
            return Err(FieldError::conflict(self.low, reason));
        }
        let n = usize::try_from(args.uint(self.n)).unwrap_or_default();
        Ok((n >= LEAST_SAMPLES).then(|| Interval { low, median: f64::midpoint(low, high), high, n }))
    }
}

/// Runs of different work are not compared.
fn refuse_unlike(args: &Args) -> Result<(), FieldError> {
    let shown =
        |field: &str| args.map().get(field).map(|value| value.as_str().map_or(value.to_string(), str::to_owned));
    for (idx, name) in WORKLOAD.iter().enumerate() {
        let (field, other) = (CANDIDATE.workload[idx], BASE.workload[idx]);
        match (shown(other), shown(field)) {
            (Some(base), Some(candidate)) if base != candidate => {
                let reason = format!("not comparable: {name} {base} vs {candidate}");
                return Err(FieldError::conflict(field, reason));
            }
            (Some(base), None) => {
                let reason = format!("not comparable: {name} {base} vs unknown; give {field}, or leave out {other}");
                return Err(FieldError::conflict(field, reason));
            }
            (None, Some(candidate)) => {
                let reason =
                    format!("not comparable: {name} unknown vs {candidate}; give {other}, or leave out {field}");
                return Err(FieldError::conflict(other, reason));
            }
            _ => {}
        }
    }
    Ok(())
}

impl Model for CompareRuns {
    const ID: &'static str = "compare_runs";
    const TITLE: Text = Text::new("基线与候选", "Baseline against candidate");
    const ASSUMES: Text = Text::new(
        "越小越好；两个中位数的 95 % 区间不重叠才算有差别，每边至少 6 个独立样本。工作量不同的两次运行不比较。",
        "Less is better. Two medians differ only if their 95 % intervals do not overlap, with at least six independent \
         samples a side. Runs of different work are not compared.",
    );
    const SOURCE: &'static str = "Statistical Inference: A Short Course (Wiley, 2012), appendix 8.A";
    const EXAMPLE: &'static str =
        r#"{"base_low": 9.8, "base_high": 10.2, "base_n": 20, "cand_low": 9.0, "cand_high": 9.5, "cand_n": 20}"#;

    fn question() -> Vec<FieldSpec> {
        let mut out = BASE.fields([
            Text::new("基线的样本；给了它就不用给区间", "Samples of the baseline; with them no interval is needed"),
            Text::new("基线区间的下端，单位自定", "Lower end of the baseline's interval, in any unit"),
            Text::new("基线区间的上端", "Upper end of the baseline's interval"),
            Text::new("基线的样本数", "Samples of the baseline"),
            Text::new("基线的数值类型", "Number type of the baseline"),
            Text::new("基线的参数个数", "Parameters of the baseline's model"),
            Text::new("基线的批大小", "Batch of the baseline"),
            Text::new("基线的序列长度", "Sequence length of the baseline"),
        ]);
        out.extend(CANDIDATE.fields([
            Text::new("候选的样本；给了它就不用给区间", "Samples of the candidate; with them no interval is needed"),
            Text::new("候选区间的下端，与基线同单位", "Lower end of the candidate's interval, in the same unit"),
            Text::new("候选区间的上端", "Upper end of the candidate's interval"),
            Text::new("候选的样本数", "Samples of the candidate"),
            Text::new("候选的数值类型", "Number type of the candidate"),
            Text::new("候选的参数个数", "Parameters of the candidate's model"),
            Text::new("候选的批大小", "Batch of the candidate"),
            Text::new("候选的序列长度", "Sequence length of the candidate"),
        ]));
        out
    }

    fn answer() -> Vec<FieldSpec> {
        let verdict = Text::new(
            "improved 变好，regressed 变差，no_difference 看不出差别，insufficient 样本不够",
            "improved, regressed, no_difference (none detected) or insufficient (too few samples)",
        );
        let speedup = Text::new(
            "基线的中位数是候选的几倍；只给区间时取区间中点",
            "Median of the baseline over that of the candidate; midpoints where only intervals are given",
        );
        let options = ["improved", "regressed", "no_difference", "insufficient"];
        vec![
            fields::choice("verdict", "", &options, verdict),
            FieldSpec::num("speedup", "1", 0.0, f64::MAX, speedup).optional(),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        refuse_unlike(args)?;
        let (base, candidate) = (BASE.interval(args)?, CANDIDATE.interval(args)?);
        let ratio = base.zip(candidate).map(|(base, candidate)| base.median / candidate.median);
        Ok(fields::answer([
            ("verdict", change(base, candidate).id().into()),
            ("speedup", ratio.filter(|ratio| ratio.is_finite()).map_or(Value::Null, fields::number)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::{Value, json};

    fn asked(more: &Value) -> vramlab_units::Map {
        let mut given = question(&json!({"base_low": 9.8, "base_high": 10.2, "base_n": 20, "cand_n": 20}));
        given.extend(question(more));
        given
    }

    #[track_caller]
    fn check(more: &Value, verdict: &str) {
        assert_eq!(eval("compare_runs", &asked(more)).unwrap()["verdict"], verdict);
    }

    #[test]
    fn intervals_that_do_not_overlap_decide() {
        check(&json!({"cand_low": 9.0, "cand_high": 9.5}), "improved");
        check(&json!({"cand_low": 10.1, "cand_high": 10.4}), "no_difference");
        check(&json!({"cand_low": 10.3, "cand_high": 10.4}), "regressed");
        check(&json!({"cand_low": 9.0, "cand_high": 9.5, "cand_n": 5}), "insufficient");
    }

    #[test]
    fn unlike_runs_are_refused_with_the_difference() {
        let more = json!({"cand_low": 9.0, "cand_high": 9.5, "base_dtype": "bf16", "cand_dtype": "fp32"});
        let error = eval("compare_runs", &asked(&more)).unwrap_err();
        assert!(error.to_string().ends_with("not comparable: dtype bf16 vs fp32"), "{error}");
        let more = json!({"cand_low": 9.0, "cand_high": 9.5, "base_length": 1024});
        assert_eq!(eval("compare_runs", &asked(&more)).unwrap_err().field(), "cand_length");
        let same = json!({"cand_low": 9.0, "cand_high": 9.5, "base_batch": 8, "cand_batch": 8});
        check(&same, "improved");
    }

    /// An interval that its samples may contradict is not passed over.
    #[test]
    fn samples_and_an_interval_of_one_side_are_too_much() {
        for (more, field) in [(json!({"cand_low": 1.0, "cand_high": 2.0}), "cand_low"), (json!({}), "cand_n")] {
            let mut given = asked(&more);
            given.extend(question(&json!({"cand_ns": [95, 94, 96, 95, 93, 95, 94]})));
            let error = eval("compare_runs", &given).unwrap_err();
            assert_eq!(error.field(), field);
            assert!(error.to_string().contains("cand_ns has the samples"), "{error}");
        }
    }

    /// Seven samples each: ranks 1 and 7, so the intervals are the whole ranges; one outlier makes them overlap.
    #[test]
    fn samples_are_judged_by_their_own_interval() {
        let given = |base: Vec<i64>| question(&json!({"base_ns": base, "cand_ns": [95, 94, 96, 95, 93, 95, 94]}));
        let answer = eval("compare_runs", &given(vec![102, 100, 101, 103, 100, 103, 99])).unwrap();
        assert_eq!(answer["verdict"], "improved");
        let speedup = answer["speedup"].as_f64().unwrap();
        assert!((speedup - 101.0 / 95.0).abs() < 1e-12);
        let answer = eval("compare_runs", &given(vec![102, 100, 101, 103, 100, 103, 90])).unwrap();
        assert_eq!(answer["verdict"], "no_difference");
    }
}
