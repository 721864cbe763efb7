//! What the requests saw: time to first token, time for each token after it, and their percentiles.
//!
//! TTFT = first token − arrival; TPOT = (last − first) ÷ (tokens − 1), for requests with more than one token. Percentiles
//! are interpolated between the two nearest ranks, as NumPy's default does and with it the engines' own benchmarks.

use crate::Request;
use crate::schedule::Outcome;

/// Percentiles of one quantity, in the clock of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    pub n: usize,
    pub mean: f64,
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    pub most: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Latency {
    /// Time to first token.
    pub ttft: Spread,
    /// Time for each output token after the first.
    pub tpot: Spread,
    /// From arrival to the last token.
    pub whole: Spread,
    /// Output tokens in a unit of time, from the first arrival to the last token.
    pub tokens_per_time: f64,
    pub requests_per_time: f64,
}

impl Latency {
    pub fn of(requests: &[Request], outcome: &Outcome) -> Self {
        let (mut ttft, mut tpot, mut whole) = (Vec::new(), Vec::new(), Vec::new());
        for (idx, request) in requests.iter().enumerate() {
            let (first, done) = (outcome.first[idx], outcome.done[idx]);
            ttft.push(first - request.arrival);
            whole.push(done - request.arrival);
            if request.output > 1 {
                tpot.push((done - first) / f64::from(request.output - 1));
            }
        }
        let start = requests.iter().map(|request| request.arrival).fold(f64::INFINITY, f64::min);
        let end = outcome.done.iter().copied().fold(0.0, f64::max);
        let tokens: f64 = requests.iter().map(|request| f64::from(request.output)).sum();
        let per = |amount: f64| if end > start { amount / (end - start) } else { 0.0 };
        Self {
            ttft: Spread::of(ttft),
            tpot: Spread::of(tpot),
            whole: Spread::of(whole),
            tokens_per_time: per(tokens),
            requests_per_time: per(requests.len() as f64),
        }
    }
}

impl Spread {
    pub fn of(mut values: Vec<f64>) -> Self {
        if values.is_empty() {
            return Self::default();
        }
        values.sort_unstable_by(f64::total_cmp);
        let n = values.len();
        let at = |share: f64| percentile(&values, share);
        let mean = values.iter().sum::<f64>() / n as f64;
        Self { n, mean, p50: at(0.5), p90: at(0.9), p99: at(0.99), most: values[n - 1] }
    }
}

/// Of sorted values, interpolated; 0 of none.
pub fn percentile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let rank = share.clamp(0.0, 1.0) * last as f64;
    let below = sorted[rank.floor() as usize];
    let above = sorted[rank.ceil() as usize];
    below + (above - below) * rank.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `numpy.percentile([1, 2, 3, 4, 10], [50, 90, 99])` is 3, 7.6, 9.76.
    #[test]
    fn percentiles_are_interpolated() {
        let spread = Spread::of(vec![10.0, 3.0, 1.0, 4.0, 2.0]);
        assert!((spread.p50 - 3.0).abs() < 1e-12 && (spread.p90 - 7.6).abs() < 1e-12);
        assert!((spread.p99 - 9.76).abs() < 1e-12 && (spread.mean - 4.0).abs() < 1e-12);
        assert_eq!((spread.n, spread.most), (5, 10.0));
        assert_eq!(Spread::of(Vec::new()), Spread::default());
        assert_eq!(percentile(&[5.0], 0.9), 5.0);
    }
}
