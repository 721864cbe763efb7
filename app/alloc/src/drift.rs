//! Whether memory grows from step to step: the slope of what is allocated at the ends of steps, and how often its floor
//! rises.

/// Fewer steps than this say nothing.
pub const LEAST_STEPS: usize = 3;
/// Rises in a row of steps from which growth is called a leak's suspect.
pub const SUSPECT_RISES: usize = 5;
/// Ends that are compared pair by pair.
const MOST_ENDS: usize = 512;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// Fewer than three steps were found.
    #[default]
    TooFewSteps,
    Steady,
    /// Over at least three steps, not only once.
    Grows,
    /// Five rises and more.
    LeakSuspect,
}

impl Verdict {
    pub fn id(self) -> &'static str {
        match self {
            Self::TooFewSteps => "too_few_steps",
            Self::Steady => "steady",
            Self::Grows => "grows",
            Self::LeakSuspect => "leak_suspect",
        }
    }
}

/// Median of the slopes of all pairs (Theil and Sen); points are step and bytes.
pub fn theil_sen(points: &[(f64, f64)]) -> f64 {
    let n_pairs = points.len() * points.len().saturating_sub(1) / 2;
    let mut slopes: Vec<f64> = Vec::with_capacity(n_pairs);
    for (idx, a) in points.iter().enumerate() {
        slopes.extend(points[idx + 1..].iter().map(|b| (b.1 - a.1) / (b.0 - a.0)));
    }
    if slopes.is_empty() {
        return 0.0;
    }
    let (low, upper, _) = slopes.select_nth_unstable_by(n_pairs / 2, f64::total_cmp);
    let upper = *upper;
    if n_pairs % 2 == 1 {
        return upper;
    }
    f64::midpoint(low.iter().copied().fold(f64::NEG_INFINITY, f64::max), upper)
}

/// How often the floor rises: a value that no later one falls below again. Swings do not count.
pub fn rises(values: &[u64]) -> usize {
    let mut floor = u64::MAX;
    let mut floors: Vec<u64> = values
        .iter()
        .rev()
        .map(|value| {
            floor = floor.min(*value);
            floor
        })
        .collect();
    floors.reverse();
    floors.windows(2).filter(|pair| pair[1] > pair[0]).count()
}

/// The verdict over the ends of steps: what it is, the slope in bytes a step, the rises.
pub fn judge(ends: &[u64]) -> (Verdict, f64, usize) {
    let picked = evenly(ends.len(), MOST_ENDS);
    let points: Vec<(f64, f64)> = picked.into_iter().map(|step| (step as f64, ends[step] as f64)).collect();
    let slope = theil_sen(&points);
    let n_rises = rises(ends);
    let verdict = match (ends.len(), n_rises) {
        (n, _) if n < LEAST_STEPS => Verdict::TooFewSteps,
        // One rise is the optimizer's state, or a cache that was filled once.
        (_, n) if slope <= 0.0 || n < 2 => Verdict::Steady,
        (_, n) if n < SUSPECT_RISES => Verdict::Grows,
        _ => Verdict::LeakSuspect,
    };
    (verdict, slope, n_rises)
}

/// The first step, counted from 1, after which the ends so far make a leak's suspect.
pub fn detected_at(ends: &[u64]) -> Option<usize> {
    // The slope of all pairs is asked for only where the rises are enough.
    let is_suspect = |ends: &[u64]| rises(ends) >= SUSPECT_RISES && judge(ends).0 == Verdict::LeakSuspect;
    (1..=ends.len()).find(|n| is_suspect(&ends[..*n]))
}

/// At most `most` of `0..n`, the last among them.
pub fn evenly(n: usize, most: usize) -> Vec<usize> {
    if n <= most {
        return (0..n).collect();
    }
    (0..most).map(|idx| idx * (n - 1) / (most - 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mib(values: &[u64]) -> Vec<u64> {
        values.iter().map(|value| value << 20).collect()
    }

    /// Chapter 18, vector 5.
    #[test]
    fn a_steady_rise_is_a_suspect_and_a_swing_is_none() {
        let (verdict, slope, n) = judge(&mib(&[100, 110, 120, 130, 140, 150]));
        assert_eq!((verdict, slope, n), (Verdict::LeakSuspect, f64::from(10 << 20), 5));
        let (verdict, slope, _) = judge(&mib(&[100, 140, 100, 140, 100, 140]));
        assert_eq!((verdict, slope), (Verdict::Steady, 0.0));
    }

    /// Optimizer state comes with the first step and stays: one rise.
    #[test]
    fn one_rise_is_no_growth_and_two_steps_are_too_few() {
        assert_eq!(judge(&mib(&[100, 300, 300, 300])).0, Verdict::Steady);
        assert_eq!(judge(&mib(&[100, 200])).0, Verdict::TooFewSteps);
        assert_eq!(judge(&[]).0, Verdict::TooFewSteps);
        assert_eq!(judge(&mib(&[100, 101, 102])).0, Verdict::Grows);
        assert_eq!(judge(&mib(&[300, 200, 100])).0, Verdict::Steady);
    }

    /// Chapter 18, experiment 3: one tensor kept every second step.
    #[test]
    fn a_slow_leak_shows_in_its_floor() {
        let ends = mib(&[10, 10, 14, 14, 18, 18, 22, 22, 26, 26, 30]);
        let (verdict, slope, n) = judge(&ends);
        assert_eq!((verdict, n), (Verdict::LeakSuspect, 5));
        assert_eq!(slope, f64::from(2 << 20));
        assert_eq!(detected_at(&ends), Some(11));
    }

    /// The same experiment with one tensor every step: five steps after the first end.
    #[test]
    fn a_leak_of_every_step_is_seen_within_five() {
        let ends: Vec<u64> = (1..20).map(|n| n << 22).collect();
        assert_eq!(detected_at(&ends), Some(6));
        assert_eq!(detected_at(&mib(&[100, 140, 100, 140, 100, 140])), None);
    }

    #[test]
    fn the_slope_of_many_steps_is_that_of_few() {
        let values: Vec<u64> = (0..5000).map(|step| 1000 + step * 7).collect();
        let (_, slope, _) = judge(&values);
        assert_eq!(slope, 7.0);
    }
}
