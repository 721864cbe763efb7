//! What grows from step to step: the slope of what is allocated at the ends of steps, and the places whose share grows.
//! The rule over the ends is `vramlab_alloc::drift`.

use crate::lives::Life;
use crate::sites::{SiteId, Sites};
use crate::steps::Steps;
use crate::timeline::Timeline;
use vramlab_alloc::drift::{evenly, judge, rises, theil_sen};

pub use vramlab_alloc::drift::Verdict;

/// Ends at which every place is summed up.
const MOST_SITE_ENDS: usize = 64;

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
