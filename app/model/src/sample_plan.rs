//! How many samples an interval needs, and how many launches a sample.
//!
//! Question: the number of samples; if the launch is short, its time and the error that may be made. Answer: the ranks of
//! the 95 % interval of the median, and the launches between two events. Typed functions, assumptions and source:
//! [`crate::samples`]. The resolution of CUDA events, about half a microsecond: CUDA Runtime API, `cudaEventElapsedTime`.
//! Errors: fewer than six samples; fields out of range.

use crate::fields;
use crate::registry::Model;
use crate::samples::{LEAST_SAMPLES, launches, median_ranks};
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text, Value};

pub struct SamplePlan;

impl Model for SamplePlan {
    const ID: &'static str = "sample_plan";
    const TITLE: Text = Text::new("样本要多少", "How many samples");
    const ASSUMES: Text = Text::new(
        "样本互相独立；中位数的 95 % 区间取两个次序统计量，不假设正态分布。",
        "Samples are independent; the 95 % interval of the median lies between two order statistics, without assuming a \
         bell curve.",
    );
    const SOURCE: &'static str = "Statistical Inference: A Short Course (Wiley, 2012), appendix 8.A; CUDA Runtime \
                                  API, cudaEventElapsedTime (resolution of about 0.5 µs)";
    const EXAMPLE: &'static str = r#"{"n_samples": 20, "time_us": 10}"#;

    fn question() -> Vec<FieldSpec> {
        let time =
            Text::new("一次启动的时间；不给就不算启动次数", "Time of one launch; without it no launches are given");
        let error = Text::new("允许的相对误差", "Relative error that may be made");
        let event = Text::new("事件的时间分辨率", "Resolution of the events");
        vec![
            FieldSpec::int("n_samples", "1", 0, 1_000_000, Text::new("样本数", "Number of samples")),
            FieldSpec::num("time_us", "µs", 0.001, 1.0e9, time).optional(),
            FieldSpec::num("rel_error", "1", 0.0001, 0.5, error).default_value(0.01),
            FieldSpec::num("event_us", "µs", 0.01, 1000.0, event).default_value(0.5),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let low = Text::new("区间下端的名次，从 1 数起", "Rank of the lower end, counted from 1");
        let high = Text::new("区间上端的名次", "Rank of the upper end");
        let coverage = Text::new("真中位数落在其间的概率", "Probability that the true median lies between");
        let between = Text::new("两个事件之间放几次启动", "Launches between two events");
        vec![
            FieldSpec::int("rank_low", "1", 1, 1_000_000, low),
            FieldSpec::int("rank_high", "1", 1, 1_000_000, high),
            FieldSpec::num("coverage", "1", 0.95, 1.0, coverage),
            FieldSpec::int("launches", "1", 1, 1 << 40, between).optional(),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let n = usize::try_from(args.uint("n_samples")).unwrap_or_default();
        let Some(ranks) = median_ranks(n) else {
            let reason = format!("no 95 % interval from {n} samples; it takes at least {LEAST_SAMPLES}");
            return Err(FieldError::conflict("n_samples", reason));
        };
        let between =
            args.has("time_us").then(|| launches(args.num("time_us"), args.num("rel_error"), args.num("event_us")));
        Ok(fields::answer([
            ("rank_low", ranks.low.into()),
            ("rank_high", ranks.high.into()),
            ("coverage", fields::number(ranks.coverage)),
            ("launches", between.map_or(Value::Null, Value::from)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    #[test]
    fn twenty_samples_give_ranks_six_and_fifteen() {
        let answer = eval("sample_plan", &question(&json!({"n_samples": 20, "time_us": 2}))).unwrap();
        assert_eq!(
            (&answer["rank_low"], &answer["rank_high"], &answer["launches"]),
            (&6.into(), &15.into(), &50.into())
        );
        let answer = eval("sample_plan", &question(&json!({"n_samples": 100}))).unwrap();
        assert_eq!((&answer["rank_low"], &answer["rank_high"]), (&40.into(), &61.into()));
        assert!(answer["launches"].is_null());
    }

    #[test]
    fn five_samples_have_no_interval() {
        let error = eval("sample_plan", &question(&json!({"n_samples": 5}))).unwrap_err();
        assert_eq!(error.to_string(), "n_samples: no 95 % interval from 5 samples; it takes at least 6");
    }
}
