//! What samples say about a median, and whether two sets of them differ. Nothing assumes a bell curve.
//!
//! Question: samples of a baseline and of a candidate. Answer: improved, regressed, no difference detected, or too few
//! samples to tell.
//! Rule: the 95 % interval of a median reaches from one order statistic to another, whose ranks depend on the number of
//! samples alone; two medians differ when their intervals do not overlap. Fewer than six samples have no such interval.
//! Assumption: samples are independent draws. Neighbouring launches share clocks and temperature, so the interval of one
//! run is the least that a repetition would show.
//! Source: Statistical Inference: A Short Course (Wiley, 2012), appendix 8.A, "A Confidence Interval for the Population
//! Median".

/// The least number of samples that gives an interval: `1 − 2 · 2⁻⁶` is above 95 %, `1 − 2 · 2⁻⁵` is not.
pub const LEAST_SAMPLES: usize = 6;
/// The confidence that an interval has at least.
pub const CONFIDENCE: f64 = 0.95;

/// Ranks of the two order statistics around a median, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranks {
    pub low: usize,
    pub high: usize,
    /// Probability that the true median lies between them.
    pub coverage: f64,
}

/// A median with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub median: f64,
    pub high: f64,
    pub n: usize,
}

/// What a candidate did to a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Improved,
    Regressed,
    /// The intervals overlap. It does not say that the two are equal.
    NoDifference,
    /// One side has fewer than [`LEAST_SAMPLES`].
    Insufficient,
}

impl Change {
    /// As written in answers and exports.
    pub fn id(self) -> &'static str {
        match self {
            Self::Improved => "improved",
            Self::Regressed => "regressed",
            Self::NoDifference => "no_difference",
            Self::Insufficient => "insufficient",
        }
    }
}

/// The ranks of the narrowest symmetric interval around the median of `n` samples that covers it with at least
/// [`CONFIDENCE`]; nothing for fewer than [`LEAST_SAMPLES`].
pub fn median_ranks(n: usize) -> Option<Ranks> {
    let mut found = None;
    // `below` is the probability that fewer than `low` of `n` samples lie under the median.
    let mut ln_pmf = -(n as f64) * std::f64::consts::LN_2;
    let mut below = 0.0;
    for low in 1..=n / 2 {
        below += ln_pmf.exp();
        let coverage = 1.0 - 2.0 * below;
        if coverage < CONFIDENCE {
            break;
        }
        found = Some(Ranks { low, high: n + 1 - low, coverage });
        ln_pmf += ((n + 1 - low) as f64 / low as f64).ln();
    }
    found
}

/// The median of finite samples with its 95 % interval; nothing if there are too few of them.
pub fn interval(samples: &[f64]) -> Option<Interval> {
    let sorted = sorted(samples);
    let n = sorted.len();
    let ranks = median_ranks(n)?;
    let median = if n % 2 == 1 { sorted[n / 2] } else { f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]) };
    Some(Interval { low: sorted[ranks.low - 1], median, high: sorted[ranks.high - 1], n })
}

/// The smallest sample that at least `percent` of all samples do not exceed.
pub fn nearest_rank(samples: &[f64], percent: f64) -> Option<f64> {
    let sorted = sorted(samples);
    let rank = (percent.clamp(0.0, 100.0) / 100.0 * sorted.len() as f64).ceil().max(1.0) as usize;
    sorted.get(rank - 1).copied()
}

/// Launches between two events, so that the events' resolution at both ends stays below `rel_error` of the time.
pub fn launches(time_us: f64, rel_error: f64, event_us: f64) -> u64 {
    // A hair is taken off before rounding up: 1 / (0.01 · 2) is 50, not 50.000000000000007.
    (2.0 * event_us / (rel_error * time_us) * (1.0 - 1e-12)).ceil().max(1.0) as u64
}

/// Compares two medians of which less is better. `None` stands for too few samples.
pub fn change(baseline: Option<Interval>, candidate: Option<Interval>) -> Change {
    match (baseline, candidate) {
        (Some(base), Some(new)) if new.high < base.low => Change::Improved,
        (Some(base), Some(new)) if new.low > base.high => Change::Regressed,
        (Some(_), Some(_)) => Change::NoDifference,
        _ => Change::Insufficient,
    }
}

fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut out: Vec<f64> = samples.iter().copied().filter(|sample| sample.is_finite()).collect();
    out.sort_by(f64::total_cmp);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(n: usize) -> Option<(usize, usize)> {
        median_ranks(n).map(|ranks| (ranks.low, ranks.high))
    }

    /// Rows of the printed tables for intervals of a population median.
    #[test]
    fn ranks_are_those_of_the_tables() {
        for (n, low, high) in [(7, 1, 7), (8, 1, 8), (9, 2, 8), (12, 3, 10), (17, 5, 13), (18, 5, 14)] {
            assert_eq!(ranks(n), Some((low, high)), "{n} samples");
        }
        assert_eq!(ranks(10), Some((2, 9)));
        assert_eq!(ranks(20), Some((6, 15)));
        assert_eq!(ranks(30), Some((10, 21)));
        assert_eq!(ranks(100), Some((40, 61)));
        // Hand-worked: n = 6 covers 1 − 2/64, n = 5 only 1 − 2/32.
        assert_eq!(median_ranks(6), Some(Ranks { low: 1, high: 6, coverage: 0.96875 }));
        assert_eq!((ranks(5), ranks(0)), (None, None));
    }

    #[test]
    fn many_samples_do_not_underflow() {
        let ranks = median_ranks(10_000).unwrap();
        assert!((0.95..0.952).contains(&ranks.coverage), "{ranks:?}");
        // The normal approximation: n/2 − 1.96 · √n / 2 = 4902.
        assert_eq!(ranks.low, 4902);
    }

    #[test]
    fn percentiles_are_samples_that_were_taken() {
        let samples: Vec<f64> = (1..=20).rev().map(f64::from).collect();
        let found = [50.0, 90.0, 95.0, 99.0].map(|percent| nearest_rank(&samples, percent).unwrap());
        assert_eq!(found, [10.0, 18.0, 19.0, 20.0]);
        assert_eq!(nearest_rank(&[], 50.0), None);
    }

    #[test]
    fn one_outlier_moves_the_interval_no_further_than_its_rank() {
        let samples = [10.2, 10.0, 10.1, 30.0, 10.0, 10.3, 9.9];
        let found = interval(&samples).unwrap();
        // Seven samples: ranks 1 and 7, 1 − 2/128; the median is the fourth.
        assert_eq!((found.low, found.median, found.high, found.n), (9.9, 10.1, 30.0, 7));
        assert_eq!(interval(&samples[..5]), None);
        assert_eq!(interval(&[f64::NAN; 9]), None);
    }

    #[test]
    fn short_launches_are_batched_between_events() {
        assert_eq!([2.0, 10.0, 100.0].map(|time_us| launches(time_us, 0.01, 0.5)), [50, 10, 1]);
    }

    #[test]
    fn medians_differ_when_their_intervals_do_not_overlap() {
        let of = |low: f64, high: f64| Some(Interval { low, median: f64::midpoint(low, high), high, n: 9 });
        let base = of(9.8, 10.2);
        assert_eq!(change(base, of(9.0, 9.5)), Change::Improved);
        assert_eq!(change(of(9.0, 9.5), base), Change::Regressed);
        assert_eq!(change(base, of(10.1, 10.4)), Change::NoDifference);
        // A shared end is an overlap.
        assert_eq!(change(base, of(10.2, 10.4)), Change::NoDifference);
        assert_eq!(change(base, None), Change::Insufficient);
    }
}
