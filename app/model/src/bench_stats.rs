//! What a list of samples says: the middle, the spread, percentiles, the interval of the median, and which samples lie far
//! out.
//!
//! Question: the samples. Answer: median, mean, median absolute deviation, percentiles, the 95 % interval of the median
//! with its ranks, and how many samples are outliers. The typed rules for ranks and percentiles: [`crate::samples`].
//! Assumption: samples are independent. An outlier is more than 3.5 modified z-scores, 0.6745 · |x − median| ÷ MAD, from
//! the median; it is flagged and never dropped. Without spread (MAD 0) nothing is flagged.
//! Source: nearest-rank percentiles and order statistics as in [`crate::samples`]; B. Iglewicz and D. Hoaglin, "How to
//! Detect and Handle Outliers", ASQC, 1993 (also NIST/SEMATECH e-Handbook, section 1.3.5.17).
//! Errors: no samples; a sample that is not a finite number above 0.

use crate::fields;
use crate::registry::Model;
use crate::samples::{LEAST_SAMPLES, Ranks, median_ranks, nearest_rank};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

/// Modified z-scores from which on a sample is flagged.
pub const FAR: f64 = 3.5;
/// What the median absolute deviation of a bell curve is of its standard deviation.
const NORMAL: f64 = 0.6745;
const MOST_TEXT: usize = 32_768;

/// The samples in order, and what was found in them.
#[derive(Clone, Debug, PartialEq)]
pub struct Stats {
    pub sorted: Vec<f64>,
    pub median: f64,
    pub mean: f64,
    pub mad: f64,
    /// None with fewer than [`LEAST_SAMPLES`].
    pub ranks: Option<Ranks>,
}

impl Stats {
    /// `None` without samples.
    pub fn of(samples: &[f64]) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let median = middle(&sorted)?;
        let mut away: Vec<f64> = sorted.iter().map(|sample| (sample - median).abs()).collect();
        away.sort_by(f64::total_cmp);
        let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
        let ranks = median_ranks(sorted.len());
        Some(Self { median, mean, mad: middle(&away)?, ranks, sorted })
    }

    /// The 95 % interval of the median.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let ranks = self.ranks?;
        Some((*self.sorted.get(ranks.low - 1)?, *self.sorted.get(ranks.high - 1)?))
    }

    /// Half the width of that interval, of the median.
    pub fn half_width(&self) -> Option<f64> {
        self.interval().map(|(low, high)| (high - low) / 2.0 / self.median)
    }

    pub fn is_far(&self, sample: f64) -> bool {
        self.mad > 0.0 && NORMAL * (sample - self.median).abs() / self.mad > FAR
    }

    pub fn outliers(&self) -> usize {
        self.sorted.iter().filter(|sample| self.is_far(**sample)).count()
    }
}

fn middle(sorted: &[f64]) -> Option<f64> {
    let n = sorted.len();
    let upper = *sorted.get(n / 2)?;
    Some(if n % 2 == 1 { upper } else { f64::midpoint(*sorted.get(n / 2 - 1)?, upper) })
}

pub struct BenchStats;

impl Model for BenchStats {
    const ID: &'static str = "bench_stats";
    const TITLE: Text = Text::new("一组样本说明什么", "What a list of samples says");
    const ASSUMES: Text = Text::new(
        "样本互相独立，不假设正态分布；离中位数太远的只标出来，不删。",
        "Samples are independent, without a bell curve; what lies far out is flagged, and stays.",
    );
    const SOURCE: &'static str = "Statistical Inference: A Short Course (Wiley, 2012), appendix 8.A; Iglewicz and Hoaglin \
        (ASQC, 1993) for the flag of outliers";
    const EXAMPLE: &'static str = r#"{"samples": "10.2 10.0 10.1 30.0 10.0 10.3 9.9"}"#;

    fn question() -> Vec<FieldSpec> {
        let doc = Text::new("样本，用空格或逗号隔开，单位自定", "The samples, apart by spaces or commas, in any unit");
        vec![FieldSpec::new("samples", "", FieldKind::Text { max_len: MOST_TEXT }, doc)]
    }

    fn answer() -> Vec<FieldSpec> {
        let num = |key, zh, en| FieldSpec::num(key, "1", 0.0, f64::MAX, Text::new(zh, en));
        let int = |key, zh, en| FieldSpec::int(key, "1", 0, 1_000_000, Text::new(zh, en));
        vec![
            int("n", "样本数", "Samples"),
            num("median", "中位数", "The median"),
            num("mean", "平均数", "The mean"),
            num("mad", "绝对中位差：各样本离中位数多远，再取中位数", "Median of the distances from the median"),
            num("p50", "第 50 百分位，最近名次", "50th percentile, nearest rank"),
            num("p90", "第 90 百分位", "90th percentile"),
            num("p95", "第 95 百分位", "95th percentile"),
            num("p99", "第 99 百分位", "99th percentile"),
            int(
                "rank_low",
                "区间下端的名次；不足 6 个样本就没有",
                "Rank of the interval's lower end; none below six samples",
            )
            .optional(),
            int("rank_high", "区间上端的名次", "Rank of its upper end").optional(),
            num("low", "中位数 95 % 区间的下端", "Lower end of the median's 95 % interval").optional(),
            num("high", "上端", "Its upper end").optional(),
            num("half_width", "区间的半宽 ÷ 中位数", "Half the interval's width over the median").optional(),
            int("outliers", "标出的离群样本", "Samples flagged as outliers"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let samples = parse(args.text("samples"))?;
        let Some(stats) = Stats::of(&samples) else {
            return Err(FieldError::conflict("samples", "no samples; give at least one"));
        };
        let percentile = |percent: f64| nearest_rank(&stats.sorted, percent).map_or(Value::Null, fields::number);
        let rank = |pick: fn(&Ranks) -> usize| stats.ranks.as_ref().map_or(Value::Null, |ranks| pick(ranks).into());
        let end = |value: Option<f64>| value.map_or(Value::Null, fields::number);
        Ok(fields::answer([
            ("n", stats.sorted.len().into()),
            ("median", fields::number(stats.median)),
            ("mean", fields::number(stats.mean)),
            ("mad", fields::number(stats.mad)),
            ("p50", percentile(50.0)),
            ("p90", percentile(90.0)),
            ("p95", percentile(95.0)),
            ("p99", percentile(99.0)),
            ("rank_low", rank(|ranks| ranks.low)),
            ("rank_high", rank(|ranks| ranks.high)),
            ("low", end(stats.interval().map(|ends| ends.0))),
            ("high", end(stats.interval().map(|ends| ends.1))),
            ("half_width", end(stats.half_width())),
            ("outliers", stats.outliers().into()),
        ]))
    }
}

/// Numbers apart by spaces or commas.
pub fn parse(text: &str) -> Result<Vec<f64>, FieldError> {
    let words = text.split(|letter: char| letter.is_whitespace() || letter == ',').filter(|word| !word.is_empty());
    words
        .map(|word| {
            let number = word.parse::<f64>().ok().filter(|value| value.is_finite() && *value > 0.0);
            number.ok_or_else(|| FieldError::conflict("samples", format!("\"{word}\" is not a number above 0")))
        })
        .collect()
}

/// The words of the missing interval.
pub fn no_interval(n: usize) -> String {
    format!("no 95 % interval from {n} samples; it takes at least {LEAST_SAMPLES}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use serde_json::json;

    fn ask(samples: &str) -> Map {
        crate::eval("bench_stats", &question(&json!({"samples": samples}))).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Worked by hand. One outlier moves the mean by 28 % and neither the median nor the spread.
    #[test]
    fn one_outlier_moves_the_mean_and_not_the_median() {
        let found = ask("10.2, 10.0, 10.1, 30.0, 10.0, 10.3, 9.9");
        let number = |key: &str| found[key].as_f64().unwrap();
        assert!((number("mean") - 90.5 / 7.0).abs() < 1e-12 && (number("median") - 10.1).abs() < 1e-12);
        assert!((number("mad") - 0.1).abs() < 1e-9);
        assert_eq!((&found["outliers"], &found["rank_low"], &found["rank_high"]), (&json!(1), &json!(1), &json!(7)));
        assert_eq!((number("low"), number("high")), (9.9, 30.0));
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let twenty: Vec<String> = (1..=20).map(|n| n.to_string()).collect();
        let found = ask(&twenty.join(" "));
        let row = ["p50", "p90", "p95", "p99", "rank_low", "rank_high"].map(|key| found[key].as_i64().unwrap());
        assert_eq!(row, [10, 18, 19, 20, 6, 15]);
        assert_eq!((&found["low"], &found["high"], &found["median"]), (&json!(6), &json!(15), &json!(10.5)));
    }

    #[test]
    fn five_samples_have_no_interval_and_equal_ones_no_outlier() {
        let few = ask("1 2 3 4 5");
        assert!(few["low"].is_null() && few["rank_low"].is_null() && few["half_width"].is_null());
        assert_eq!(ask("5 5 5 5 5 5 9")["outliers"], 0);
        assert_eq!(ask("5 5 5 5 5 5 9")["mad"], 0);
        assert_eq!(no_interval(5), "no 95 % interval from 5 samples; it takes at least 6");
    }

    #[test]
    fn what_is_no_sample_is_named() {
        let error =
            |text: &str| crate::eval("bench_stats", &question(&json!({"samples": text}))).unwrap_err().to_string();
        assert_eq!(error("10 ten"), "samples: \"ten\" is not a number above 0");
        assert_eq!(error("3 -1"), "samples: \"-1\" is not a number above 0");
        assert_eq!(error(" , "), "samples: no samples; give at least one");
    }
}
