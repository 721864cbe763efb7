//! What grows from step to step: the slope of what is allocated at the ends of steps, and the places whose share grows.

use crate::lives::Life;
use crate::sites::{SiteId, Sites};
use crate::steps::Steps;
use crate::timeline::Timeline;

/// Fewer steps than this say nothing.
pub const LEAST_STEPS: usize = 3;
/// Rises in a row of steps from which growth is called a leak's suspect.
pub const SUSPECT_RISES: usize = 5;
/// Ends that are compared pair by pair.
const MOST_ENDS: usize = 512;
/// Ends at which every place is summed up.
const MOST_SITE_ENDS: usize = 64;

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

/// A place that holds more at later ends of steps.
#[derive(Clone, Debug, PartialEq)]
pub struct GrowingSite {
    pub site: SiteId,
    pub bytes_per_step: f64,
    /// New blocks a step. 0 with bytes that grow: the blocks are replaced by larger ones.
    pub blocks_per_step: f64,
    pub first_bytes: u64,
    pub last_bytes: u64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Growth {
    pub verdict: Verdict,
    /// Events done and bytes allocated at the end of each step.
    pub ends: Vec<(usize, u64)>,
    pub bytes_per_step: f64,
    pub n_rises: usize,
    /// Largest growth first.
    pub sites: Vec<GrowingSite>,
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

/// The verdict over the ends of steps.
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

/// Growth of a device.
pub fn growth(steps: &Steps, timeline: &Timeline, lives: &[Life], sites: &Sites) -> Growth {
    let ends: Vec<(usize, u64)> = steps.ends.iter().map(|at| (*at, timeline.allocated.value(*at))).collect();
    let values: Vec<u64> = ends.iter().map(|(_, bytes)| *bytes).collect();
    let (verdict, bytes_per_step, n_rises) = judge(&values);
    let mut out = Growth { verdict, ends, bytes_per_step, n_rises, sites: Vec::new() };
    if matches!(verdict, Verdict::Grows | Verdict::LeakSuspect) {
        out.sites = growing_sites(&steps.ends, lives, sites);
    }
    out
}

fn growing_sites(ends: &[usize], lives: &[Life], sites: &Sites) -> Vec<GrowingSite> {
    let steps = evenly(ends.len(), MOST_SITE_ENDS);
    let picked: Vec<usize> = steps.iter().map(|step| ends[*step]).collect();
    // Differences along the ends, summed up below.
    let mut bytes = vec![Vec::new(); sites.all.len()];
    let mut blocks = vec![Vec::new(); sites.all.len()];
    for life in lives {
        let first = picked.partition_point(|at| life.from.is_some_and(|from| from as usize >= *at));
        let last = picked.partition_point(|at| life.freed.is_none_or(|freed| freed as usize >= *at));
        if first >= last || life.was_pending {
            continue;
        }
        let site = sites.of_stack(life.stack).0 as usize;
        for (table, value) in [(&mut bytes, life.size.cast_signed()), (&mut blocks, 1)] {
            let row = &mut table[site];
            row.resize(picked.len() + 1, 0_i64);
            row[first] = row[first].saturating_add(value);
            row[last] = row[last].saturating_sub(value);
        }
    }
    let mut out: Vec<GrowingSite> = bytes
        .iter()
        .zip(&blocks)
        .enumerate()
        .filter(|(_, (bytes, _))| !bytes.is_empty())
        .filter_map(|(site, (bytes, blocks))| growing(SiteId(site as u32), bytes, blocks, &steps))
        .collect();
    out.sort_by(|a, b| b.bytes_per_step.total_cmp(&a.bytes_per_step));
    out
}

fn growing(site: SiteId, bytes: &[i64], blocks: &[i64], steps: &[usize]) -> Option<GrowingSite> {
    let sums = |row: &[i64]| -> Vec<u64> {
        let mut now = 0_i64;
        let sum = |change: &i64| {
            now = now.saturating_add(*change);
            now.max(0) as u64
        };
        row[..row.len() - 1].iter().map(sum).collect()
    };
    let (bytes, blocks) = (sums(bytes), sums(blocks));
    let slope = |values: &[u64]| {
        let points: Vec<(f64, f64)> = steps.iter().zip(values).map(|(x, y)| (*x as f64, *y as f64)).collect();
        theil_sen(&points)
    };
    let bytes_per_step = slope(&bytes);
    (rises(&bytes) >= 2 && bytes_per_step > 0.0).then(|| GrowingSite {
        site,
        bytes_per_step,
        blocks_per_step: slope(&blocks),
        first_bytes: bytes.first().copied().unwrap_or(0),
        last_bytes: bytes.last().copied().unwrap_or(0),
    })
}

/// At most `most` of `0..n`, the last among them.
fn evenly(n: usize, most: usize) -> Vec<usize> {
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
        let (verdict, slope, n) = judge(&mib(&[10, 10, 14, 14, 18, 18, 22, 22, 26, 26, 30]));
        assert_eq!((verdict, n), (Verdict::LeakSuspect, 5));
        assert_eq!(slope, f64::from(2 << 20));
    }

    #[test]
    fn the_slope_of_many_steps_is_that_of_few() {
        let values: Vec<u64> = (0..5000).map(|step| 1000 + step * 7).collect();
        let (_, slope, _) = judge(&values);
        assert_eq!(slope, 7.0);
    }
}
