//! Free ranges of address space: by address, to merge neighbours, and by size, to find the best fit.

use std::collections::{BTreeMap, BTreeSet};

/// A free range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Gap {
    pub size: u64,
    pub address: u64,
}

/// Free ranges with a tag each; only ranges of one tag and one segment are merged.
#[derive(Clone, Debug)]
pub(crate) struct Gaps<T> {
    by_address: BTreeMap<u64, (u64, T)>,
    by_size: BTreeSet<(T, Gap)>,
}

impl<T: Copy + Ord> Gaps<T> {
    pub fn new() -> Self {
        Self { by_address: BTreeMap::new(), by_size: BTreeSet::new() }
    }

    /// Adds a free range inside the segment `[start, end)` and merges it with neighbours of its tag there.
    pub fn insert(&mut self, gap: Gap, tag: T, (start, end): (u64, u64)) {
        let Gap { mut address, mut size } = gap;
        if size == 0 {
            return;
        }
        if let Some((before, (its_size, its_tag))) = self.by_address.range(..address).next_back()
            && *before >= start
            && before + its_size == address
            && *its_tag == tag
        {
            let before = Gap { address: *before, size: *its_size };
            self.remove(before, tag);
            address = before.address;
            size += before.size;
        }
        let after = address + size;
        if after < end
            && let Some((its_size, its_tag)) = self.by_address.get(&after).copied()
            && its_tag == tag
        {
            self.remove(Gap { address: after, size: its_size }, tag);
            size += its_size;
        }
        self.by_address.insert(address, (size, tag));
        self.by_size.insert((tag, Gap { size, address }));
    }

    pub fn remove(&mut self, gap: Gap, tag: T) {
        self.by_address.remove(&gap.address);
        self.by_size.remove(&(tag, gap));
    }

    /// The smallest range of a tag that holds `size`, at the lowest address.
    pub fn best_fit(&self, tag: T, size: u64) -> Option<Gap> {
        let first = (tag, Gap { size, address: 0 });
        self.by_size.range(first..).next().filter(|(found, _)| *found == tag).map(|(_, gap)| *gap)
    }

    /// Each tag that a range has, once.
    pub fn tags(&self) -> Vec<T> {
        let mut out: Vec<T> = Vec::new();
        let mut next = self.by_size.first();
        while let Some((tag, _)) = next {
            out.push(*tag);
            let after = (*tag, Gap { size: u64::MAX, address: u64::MAX });
            next = self.by_size.range((std::ops::Bound::Excluded(after), std::ops::Bound::Unbounded)).next();
        }
        out
    }

    /// By address.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Gap, T)> {
        self.by_address.iter().map(|(address, (size, tag))| (Gap { address: *address, size: *size }, *tag))
    }

    pub fn largest(&self) -> u64 {
        self.by_address.values().map(|(size, _)| *size).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap(address: u64, size: u64) -> Gap {
        Gap { size, address }
    }

    #[test]
    fn neighbours_of_a_tag_and_a_segment_are_one() {
        let mut gaps = Gaps::new();
        gaps.insert(gap(0, 10), 1, (0, 100));
        gaps.insert(gap(20, 10), 1, (0, 100));
        gaps.insert(gap(10, 10), 1, (0, 100));
        gaps.insert(gap(30, 5), 2, (0, 100));
        gaps.insert(gap(100, 5), 2, (100, 200));
        gaps.insert(gap(95, 5), 2, (0, 100));
        let all: Vec<(Gap, i32)> = gaps.iter().collect();
        assert_eq!(all, [(gap(0, 30), 1), (gap(30, 5), 2), (gap(95, 5), 2), (gap(100, 5), 2)]);
        assert_eq!((gaps.tags(), gaps.largest()), (vec![1, 2], 30));
    }

    #[test]
    fn the_smallest_that_fits_at_the_lowest_address() {
        let mut gaps = Gaps::new();
        for (address, size) in [(0, 30), (50, 20), (80, 20), (200, 10)] {
            gaps.insert(gap(address, size), 0, (0, 1000));
        }
        assert_eq!(gaps.best_fit(0, 15), Some(gap(50, 20)));
        assert_eq!(gaps.best_fit(0, 31), None);
        assert_eq!(gaps.best_fit(1, 1), None);
    }
}
