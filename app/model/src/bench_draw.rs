//! Samples drawn from a source with a known middle: what a benchmark would have to find out again.
//!
//! Question: the true median, the spread, how often an odd sample comes and how far it lies, how many are drawn, the seed.
//! Answer: the samples, as text for `bench_stats`.
//! Assumption: a bell curve around the median, and now and then a sample that something else delayed; draws are
//! independent, which real launches are not.
//! Source: G. E. P. Box and M. E. Muller, Annals of Mathematical Statistics 29(2), 1958; the source is made up.
//! Errors: fields out of range.

use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Random, Text};

/// What samples are drawn from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Source {
    pub median: f64,
    /// Standard deviation over the median.
    pub spread: f64,
    /// How often a sample is delayed.
    pub odd_share: f64,
    /// How many medians such a sample takes.
    pub odd_factor: f64,
}

/// `n` samples; a larger `n` goes on where a smaller one ended.
pub fn draw(source: &Source, seed: u64, n: usize) -> Vec<f64> {
    let mut random = Random::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(0xD1B5_4A32_D192_ED03));
    let mut share = || (random.word() >> 11) as f64 / (1_u64 << 53) as f64;
    (0..n)
        .map(|_| {
            let (radius, turn) = ((-2.0 * (1.0 - share()).ln()).sqrt(), std::f64::consts::TAU * share());
            let sample = source.median * (1.0 + source.spread * radius * turn.cos());
            let is_odd = share() < source.odd_share;
            let sample = if is_odd { sample * source.odd_factor } else { sample };
            // Three digits behind the point, as a clock would give them.
            (sample.max(source.median * 0.01) * 1e3).round().max(1.0) / 1e3
        })
        .collect()
}

pub struct BenchDraw;

impl Model for BenchDraw {
    const ID: &'static str = "bench_draw";
    const TITLE: Text = Text::new("抽样本", "Drawing samples");
    const ASSUMES: Text = Text::new(
        "中位数已知的正态分布，偶尔有一个样本慢了；样本互相独立，真的启动做不到。",
        "A bell curve of known median, with a delayed sample now and then; draws are independent, which real launches are \
         not.",
    );
    const SOURCE: &'static str = "Box and Muller, Annals of Mathematical Statistics 29(2), 1958";
    const EXAMPLE: &'static str = r#"{"median": 10, "spread": 0.01, "n": 20, "seed": 1}"#;

    fn question() -> Vec<FieldSpec> {
        let num = |key, unit, low, high, zh, en| FieldSpec::num(key, unit, low, high, Text::new(zh, en));
        vec![
            num("median", "1", 0.1, 1.0e6, "真的中位数", "The true median"),
            num("spread", "%", 0.0, 0.5, "标准差 ÷ 中位数", "Standard deviation over the median").default_value(0.01),
            num("odd_share", "%", 0.0, 0.5, "多少样本慢了", "Share of delayed samples").default_value(0),
            num("odd_factor", "1", 1.0, 100.0, "慢几倍", "How many times as long they take").default_value(1.5),
            FieldSpec::int("n", "1", 1, 1000, Text::new("抽几个", "Samples")),
            FieldSpec::int("seed", "1", 0, 1 << 32, Text::new("种子", "Seed")).default_value(1),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let doc = Text::new("样本，空格隔开", "The samples, apart by spaces");
        vec![FieldSpec::new("samples", "", FieldKind::Text { max_len: 32_768 }, doc)]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let source = Source {
            median: args.num("median"),
            spread: args.num("spread"),
            odd_share: args.num("odd_share"),
            odd_factor: args.num("odd_factor"),
        };
        let samples = draw(&source, args.uint("seed"), usize::try_from(args.uint("n")).unwrap_or_default());
        let words: Vec<String> = samples.iter().map(ToString::to_string).collect();
        Ok(fields::answer([("samples", words.join(" ").into())]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench_stats::Stats;

    const CALM: Source = Source { median: 10.0, spread: 0.01, odd_share: 0.0, odd_factor: 1.5 };

    /// The interval is to hold the true median in at least 95 of 100 draws; 400 sources, n = 20 (nominally 95.9 %).
    #[test]
    fn the_interval_holds_the_true_median_as_often_as_it_says() {
        let holds = |seed: &u64| {
            let (low, high) = Stats::of(&draw(&CALM, *seed, 20)).unwrap().interval().unwrap();
            (low..=high).contains(&10.0)
        };
        let n = (0..400).filter(holds).count();
        // 400 · 0.9586 = 383 ± 3 · 4.
        assert!((371..=395).contains(&n), "{n} of 400");
    }

    #[test]
    fn delayed_samples_move_the_mean_and_hardly_the_median() {
        let odd = Source { odd_share: 0.1, odd_factor: 3.0, ..CALM };
        let stats = Stats::of(&draw(&odd, 7, 400)).unwrap();
        // A tenth takes three times as long: the mean is a fifth higher.
        assert!((stats.mean - 12.0).abs() < 0.6, "{}", stats.mean);
        assert!((stats.median - 10.0).abs() < 0.05, "{}", stats.median);
        assert!(stats.outliers().abs_diff(40) < 20, "{}", stats.outliers());
    }

    #[test]
    fn more_samples_go_on_where_fewer_ended() {
        assert_eq!(draw(&CALM, 3, 8), draw(&CALM, 3, 30)[..8]);
        assert_ne!(draw(&CALM, 3, 8), draw(&CALM, 4, 8));
    }
}
