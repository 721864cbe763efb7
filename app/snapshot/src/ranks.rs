//! Several ranks at once: what each held at most, how unevenly, and which places in the program make the difference. A job
//! stops at its fullest rank, so what the others have left is of no use to it.

use crate::analysis::Analysis;
use crate::compare::{Side, places};
use crate::model::Snapshot;
use crate::peak::{By, Holder, holders};
use std::collections::BTreeMap;
use vramlab_units::Localized;

/// One rank.
#[derive(Clone, Debug, PartialEq)]
pub struct Rank {
    pub peak_at: usize,
    pub peak_allocated: u64,
    pub peak_reserved: u64,
    pub last_allocated: u64,
    pub n_events: usize,
    pub n_ooms: usize,
    /// What its roles held at its peak, largest first.
    pub roles: Vec<Holder>,
}

/// How unevenly a figure is spread over the ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    pub fullest: usize,
    pub emptiest: usize,
    pub most: u64,
    pub least: u64,
    pub mean: f64,
}

impl Spread {
    fn of(values: &[u64]) -> Self {
        let mut out = Self { least: u64::MAX, ..Self::default() };
        for (idx, value) in values.iter().enumerate() {
            if *value > out.most {
                (out.fullest, out.most) = (idx, *value);
            }
            if *value < out.least {
                (out.emptiest, out.least) = (idx, *value);
            }
        }
        out.least = out.least.min(out.most);
        out.mean = values.iter().map(|value| *value as f64).sum::<f64>() / values.len().max(1) as f64;
        out
    }

    /// How far the fullest is above the mean: 0 where all are alike.
    pub fn imbalance(&self) -> f64 {
        if self.mean > 0.0 { self.most as f64 / self.mean - 1.0 } else { 0.0 }
    }

    /// Bytes between the fullest and the emptiest.
    pub fn gap(&self) -> u64 {
        self.most - self.least
    }
}

/// A place in the program, with what it held at the peak of each rank.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteSpread {
    pub label: Localized,
    pub bytes: Vec<u64>,
    pub blocks: Vec<usize>,
}

impl SiteSpread {
    /// Between the rank that holds most of it and the one that holds least.
    pub fn gap(&self) -> u64 {
        let most = self.bytes.iter().max().copied().unwrap_or(0);
        most - self.bytes.iter().min().copied().unwrap_or(0)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Ranks {
    pub all: Vec<Rank>,
    pub allocated: Spread,
    pub reserved: Spread,
    /// Largest gap first.
    pub sites: Vec<SiteSpread>,
}

/// Ranks in the order they are given, each at its own peak.
pub fn ranks(of: &[(&Snapshot, &Analysis)]) -> Ranks {
    let all: Vec<Rank> = of.iter().map(|(snapshot, analysis)| rank(snapshot, analysis)).collect();
    let values = |get: fn(&Rank) -> u64| Spread::of(&all.iter().map(get).collect::<Vec<_>>());
    Ranks {
        allocated: values(|rank| rank.peak_allocated),
        reserved: values(|rank| rank.peak_reserved),
        sites: sites(of),
        all,
    }
}

fn rank(snapshot: &Snapshot, analysis: &Analysis) -> Rank {
    let timeline = &analysis.timeline;
    let peak_at = timeline.peak();
    Rank {
        peak_at,
        peak_allocated: timeline.allocated.value(peak_at),
        peak_reserved: timeline.reserved.range(0, usize::MAX).map_or(0, |(_, most)| most),
        last_allocated: timeline.allocated.last(),
        n_events: timeline.n_events(),
        n_ooms: analysis.ooms.len(),
        roles: holders(snapshot, analysis, peak_at, By::Role),
    }
}

fn sites(of: &[(&Snapshot, &Analysis)]) -> Vec<SiteSpread> {
    let mut out: BTreeMap<_, SiteSpread> = BTreeMap::new();
    for (idx, (snapshot, analysis)) in of.iter().enumerate() {
        for (place, (amount, label)) in places(Side::at_peak(snapshot, analysis)) {
            let empty = || SiteSpread { label, bytes: vec![0; of.len()], blocks: vec![0; of.len()] };
            let row = out.entry(place).or_insert_with(empty);
            row.bytes[idx] = row.bytes[idx].saturating_add(amount.bytes);
            row.blocks[idx] += amount.n_blocks;
        }
    }
    let mut out: Vec<SiteSpread> = out.into_values().collect();
    out.sort_by_key(|row| std::cmp::Reverse(row.gap()));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imbalance_is_of_the_fullest_against_the_mean() {
        let spread = Spread::of(&[30, 20, 10]);
        assert_eq!((spread.fullest, spread.emptiest, spread.gap(), spread.mean), (0, 2, 20, 20.0));
        assert_eq!(spread.imbalance(), 0.5);
        assert_eq!(Spread::of(&[7, 7]).imbalance(), 0.0);
        assert_eq!((Spread::of(&[]).imbalance(), Spread::of(&[]).gap()), (0.0, 0));
    }
}
