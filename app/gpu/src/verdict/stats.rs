//! Order statistics of samples. Nothing here assumes a bell curve: clocks and neighbours make long tails.

pub use vramlab_trace::run::median;

/// The `q`-quantile (0 to 1) of finite numbers, between neighbours by straight line.
pub fn quantile(samples: &[f64], q: f64) -> Option<f64> {
    let mut sorted: Vec<f64> = samples.iter().copied().filter(|sample| sample.is_finite()).collect();
    if sorted.is_empty() {
        return None;
    }
    sorted.sort_by(f64::total_cmp);
    let place = q.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    Some(below + (above - below) * place.fract())
}

/// Median absolute deviation.
pub fn mad(samples: &[f64]) -> Option<f64> {
    let middle = median(samples)?;
    median(&samples.iter().map(|sample| (sample - middle).abs()).collect::<Vec<_>>())
}

/// What is printed of a list of samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    pub n: usize,
    pub min: f64,
    pub p10: f64,
    pub median: f64,
    pub p90: f64,
    pub max: f64,
    pub mad: f64,
}

impl Summary {
    pub fn of(samples: &[f64]) -> Option<Self> {
        Some(Self {
            n: samples.iter().filter(|sample| sample.is_finite()).count(),
            min: quantile(samples, 0.0)?,
            p10: quantile(samples, 0.1)?,
            median: median(samples)?,
            p90: quantile(samples, 0.9)?,
            max: quantile(samples, 1.0)?,
            mad: mad(samples)?,
        })
    }

    /// MAD over median, the spread that texts quote.
    pub fn spread(&self) -> Option<f64> {
        (self.median != 0.0).then(|| self.mad / self.median)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hand-worked: 1 … 11 has median 6, deviations 0,1,1,2,2,3,3,4,4,5,5 with median 3, p10 at the second value.
    #[test]
    fn order_statistics_of_eleven_numbers() {
        let samples: Vec<f64> = (1..=11).rev().map(f64::from).collect();
        let summary = Summary::of(&samples).unwrap();
        let expected = Summary { n: 11, min: 1.0, p10: 2.0, median: 6.0, p90: 10.0, max: 11.0, mad: 3.0 };
        assert_eq!(summary, expected);
        assert_eq!(summary.spread(), Some(0.5));
    }

    #[test]
    fn one_outlier_moves_neither_median_nor_mad() {
        let summary = Summary::of(&[10.0, 10.0, 10.0, 10.0, 1e9]).unwrap();
        assert_eq!((summary.median, summary.mad), (10.0, 0.0));
    }

    #[test]
    fn nothing_finite_has_no_summary() {
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[f64::NAN, f64::INFINITY]), None);
    }
}
