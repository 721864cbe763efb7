//! What was lost, and the tensor with an outlier that shows why scales are per group.

use crate::Random;

/// Differences between values and what is stored of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Loss {
    pub most: f64,
    /// Root of the mean square.
    pub rms: f64,
    /// Energy of the values over that of the differences, in dB; none if nothing was lost.
    pub snr_db: Option<f64>,
    /// Share of values that were not zero and became zero.
    pub zeroed: f64,
}

pub fn loss(values: &[f64], stored: &[f64]) -> Loss {
    let n = values.len().max(1) as f64;
    let pairs = || values.iter().zip(stored);
    let energy: f64 = pairs().map(|(x, y)| (x - y).powi(2)).sum();
    let signal: f64 = values.iter().map(|x| x * x).sum();
    let zeroed = pairs().filter(|(x, y)| **x != 0.0 && **y == 0.0).count() as f64;
    Loss {
        most: pairs().map(|(x, y)| (x - y).abs()).fold(0.0, f64::max),
        rms: (energy / n).sqrt(),
        snr_db: (energy > 0.0 && signal > 0.0).then(|| 10.0 * (signal / energy).log10()),
        zeroed: zeroed / n,
    }
}

/// A row of normal values, one of which is `times` their standard deviation.
pub fn with_outlier(n: usize, times: f64, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    let mut values: Vec<f64> = (0..n).map(|_| random.normal()).collect();
    if let Some(value) = values.get_mut(n / 2).filter(|_| times != 0.0) {
        *value = times;
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::int::{Grouping, Scheme, quantise};

    #[test]
    fn a_loss_by_hand() {
        let got = loss(&[3.0, -4.0, 0.5, 0.0], &[3.0, -3.0, 0.0, 0.0]);
        assert_eq!((got.most, got.zeroed), (1.0, 0.25));
        assert!((got.rms - (1.25_f64 / 4.0).sqrt()).abs() < 1e-15);
        assert!((got.snr_db.unwrap() - 10.0 * (25.25_f64 / 1.25).log10()).abs() < 1e-12);
        assert_eq!(loss(&[1.0], &[1.0]).snr_db, None);
        assert_eq!(loss(&[], &[]), Loss::default());
    }

    /// One value of 100 σ stretches the scale of its tensor by 100 ÷ 4, of its group only where groups are apart.
    #[test]
    fn an_outlier_costs_its_group_only() {
        let rms = |times: f64, grouping| {
            let values = with_outlier(4096, times, 1);
            let mut stored = quantise(&values, 1, 8, Scheme::Symmetric, grouping).unwrap().decode();
            // The outlier itself is exact; compare the rest.
            stored[2048] = values[2048];
            loss(&values, &stored).rms
        };
        let (plain, stretched) = (rms(0.0, Grouping::Tensor), rms(100.0, Grouping::Tensor));
        let grouped = rms(100.0, Grouping::Group(128));
        assert!(stretched / plain > 20.0, "{stretched} over {plain}");
        assert!(stretched / grouped > 4.0, "{stretched} over {grouped}");
        // A uniform error of step s has an rms of s ÷ √12.
        let step = 100.0 / 127.0;
        assert!((stretched / (step / 12.0_f64.sqrt()) - 1.0).abs() < 0.05);
    }
}
