//! What each group held over time, for a stacked area: a change list with its pyramid for each of the largest groups,
//! and one for all others together. Nothing is left out.

use crate::analysis::Analysis;
use crate::fast::FastMap;
use crate::lives::Life;
use crate::model::Snapshot;
use crate::peak::{By, Key, key, label};
use crate::timeline::Series;
use vramlab_units::Localized;

#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// Nothing for the band of all others.
    pub key: Option<Key>,
    pub label: Localized,
    /// Bytes when most was allocated.
    pub bytes_at_peak: u64,
    /// How many events were done at each change; the first is 0.
    ats: Vec<u32>,
    /// Bytes from each change on.
    bytes: Series,
    /// The first change behind every [`APART`]-th event, so that a value is looked for among a few.
    marks: Vec<u32>,
}

const APART: usize = 256;

impl Band {
    /// Bytes after `at` events.
    pub fn value(&self, at: usize) -> u64 {
        let known = |place: usize| self.marks.get(place).map_or(self.ats.len(), |mark| *mark as usize);
        let (low, high) = (known(at / APART), known(at / APART + 1));
        let idx = low + self.ats[low..high].partition_point(|change| *change as usize <= at);
        idx.checked_sub(1).map_or(0, |idx| self.bytes.value(idx))
    }

    /// Smallest and largest after `from..until` events.
    pub fn range(&self, from: usize, until: usize) -> (u64, u64) {
        let first = self.ats.partition_point(|change| *change as usize <= from).saturating_sub(1);
        let last = self.ats.partition_point(|change| (*change as usize) < until);
        self.bytes.range(first, last.max(first + 1)).unwrap_or((0, 0))
    }
}

/// The place of a life that is in no band.
pub const OUTSIDE: u16 = u16::MAX;

/// The bands of a device, and which of them each life is in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bands {
    /// Largest at the peak first; all others together last, if there are others.
    pub all: Vec<Band>,
    /// Index into `all`, one a life.
    pub of_life: Vec<u16>,
}

/// The `top` groups that held most at the peak, and the rest as one.
pub fn bands(snapshot: &Snapshot, analysis: &Analysis, by: By, top: usize) -> Bands {
    bands_of(snapshot, analysis, by, top, &|_| true)
}

/// The same of those lives that pass; the others are in no band.
pub fn bands_of(snapshot: &Snapshot, analysis: &Analysis, by: By, top: usize, passes: &dyn Fn(u32) -> bool) -> Bands {
    let peak = analysis.timeline.peak();
    let mut largest = largest(analysis, by, peak, passes);
    largest.truncate(top.min(usize::from(u16::MAX) - 1));
    let places: FastMap<Key, usize> = largest.iter().enumerate().map(|(idx, (key, _))| (*key, idx)).collect();
    // Event, band, change of bytes.
    let mut changes: Vec<Vec<(u32, i64)>> = vec![Vec::new(); largest.len() + 1];
    let mut of_life = Vec::with_capacity(analysis.lives.len());
    for (idx, life) in analysis.lives.iter().enumerate() {
        if !passes(idx as u32) {
            of_life.push(OUTSIDE);
            continue;
        }
        let place = places.get(&key(analysis, by, idx)).copied().unwrap_or(largest.len());
        of_life.push(place as u16);
        if life.was_pending {
            continue;
        }
        changes[place].push((life.from.map_or(0, |from| from + 1), life.size.cast_signed()));
        if let Some(freed) = life.freed {
            changes[place].push((freed + 1, -(life.size.cast_signed())));
        }
    }
    let rest = (None, Localized::both("其余", "all others"));
    let names = largest.iter().map(|(key, _)| (Some(*key), label(snapshot, analysis, by, *key))).chain([rest]);
    let all = names.zip(changes).map(|((key, label), changes)| band(key, label, changes, peak));
    // The last band is there as soon as a life is in it.
    let has_rest = of_life.iter().any(|place| usize::from(*place) == largest.len());
    let all = all.filter(|band| band.key.is_some() || has_rest).collect();
    Bands { all, of_life }
}

/// Keys and bytes of those that pass, largest first: at the peak, or over all time if none of them is there then.
fn largest(analysis: &Analysis, by: By, peak: usize, passes: &dyn Fn(u32) -> bool) -> Vec<(Key, u64)> {
    let sums = |is_counted: &dyn Fn(&Life) -> bool| {
        let mut sums: FastMap<Key, u64> = FastMap::default();
        for (idx, life) in analysis.lives.iter().enumerate() {
            if is_counted(life) && passes(idx as u32) {
                let sum = sums.entry(key(analysis, by, idx)).or_default();
                *sum = sum.saturating_add(life.size);
            }
        }
        sums
    };
    let mut found = sums(&|life| life.is_allocated(peak));
    if found.is_empty() {
        found = sums(&|_| true);
    }
    let mut out: Vec<(Key, u64)> = found.into_iter().collect();
    out.sort_by_key(|(key, bytes)| (std::cmp::Reverse(*bytes), *key));
    out
}

fn band(key: Option<Key>, label: Localized, mut changes: Vec<(u32, i64)>, peak: usize) -> Band {
    changes.sort_by_key(|(at, _)| *at);
    let (mut ats, mut values, mut now) = (vec![0], vec![0], 0_i64);
    for (at, by) in changes {
        now = now.saturating_add(by);
        let value = now.max(0) as u64;
        match values.last_mut().filter(|_| ats.last() == Some(&at)) {
            Some(last) => *last = value,
            None => {
                ats.push(at);
                values.push(value);
            }
        }
    }
    let mut marks: Vec<u32> = Vec::new();
    for (idx, at) in ats.iter().enumerate() {
        // Of a mark at the event m stand the changes up to m before it.
        while (marks.len() * APART) < *at as usize {
            marks.push(idx as u32);
        }
    }
    let mut band = Band { key, label, bytes_at_peak: 0, ats, bytes: Series::new(values), marks };
    band.bytes_at_peak = band.value(peak);
    band
}
