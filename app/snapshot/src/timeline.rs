//! Running totals over the events, with a pyramid of smallest and largest values: a pixel that covers any number of
//! events costs a constant number of steps.

/// Values that one step of a level sums up.
const FAN: usize = 16;

/// One value before the first event and one after each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Series {
    values: Vec<u64>,
    /// Smallest and largest of 16, 256, 4096, … values.
    levels: Vec<Vec<(u64, u64)>>,
}

impl Series {
    pub fn new(values: Vec<u64>) -> Self {
        let mut levels: Vec<Vec<(u64, u64)>> = Vec::new();
        loop {
            let next: Vec<(u64, u64)> = match levels.last() {
                None => values.chunks(FAN).filter_map(|chunk| join(chunk.iter().map(|v| (*v, *v)))).collect(),
                Some(last) => last.chunks(FAN).filter_map(|chunk| join(chunk.iter().copied())).collect(),
            };
            let is_top = next.len() <= FAN;
            levels.push(next);
            if is_top {
                return Self { values, levels };
            }
        }
    }

    pub fn values(&self) -> &[u64] {
        &self.values
    }

    /// The value after `at` events; the last one beyond the end.
    pub fn value(&self, at: usize) -> u64 {
        self.values.get(at).or(self.values.last()).copied().unwrap_or(0)
    }

    pub fn last(&self) -> u64 {
        self.values.last().copied().unwrap_or(0)
    }

    /// Smallest and largest of the values `from..until`; nothing for an empty range.
    pub fn range(&self, from: usize, until: usize) -> Option<(u64, u64)> {
        let (mut from, mut until) = (from, until.min(self.values.len()));
        if from >= until {
            return None;
        }
        let mut found: Option<(u64, u64)> = None;
        let mut take = |low: u64, high: u64| {
            found = Some(found.map_or((low, high), |(a, b)| (a.min(low), b.max(high))));
        };
        let at = |level: usize, idx: usize| match level {
            0 => (self.values[idx], self.values[idx]),
            level => self.levels[level - 1][idx],
        };
        for level in 0..=self.levels.len() {
            // The ends that do not fill a block of the next level are taken here.
            let is_top = level == self.levels.len();
            while from < until && (is_top || from % FAN != 0) {
                let (low, high) = at(level, from);
                take(low, high);
                from += 1;
            }
            while from < until && until % FAN != 0 {
                until -= 1;
                let (low, high) = at(level, until);
                take(low, high);
            }
            if from >= until {
                break;
            }
            from /= FAN;
            until /= FAN;
        }
        found
    }

    /// `n` columns over the values `from..until`: smallest and largest of each.
    pub fn columns(&self, from: usize, until: usize, n: usize) -> Vec<(u64, u64)> {
        let len = until.saturating_sub(from);
        let edge = |column: usize| from + (len as u128 * column as u128 / n.max(1) as u128) as usize;
        let column = |idx: usize| self.range(edge(idx), edge(idx + 1).max(edge(idx) + 1)).unwrap_or((0, 0));
        (0..n).map(column).collect()
    }

    /// The first place of the largest value.
    pub fn argmax(&self) -> usize {
        self.argmax_in(0, self.values.len()).unwrap_or(0)
    }

    /// The first place of the largest of the values `from..until`; nothing for an empty range.
    pub fn argmax_in(&self, from: usize, until: usize) -> Option<usize> {
        let (_, most) = self.range(from, until)?;
        let until = until.min(self.values.len());
        let mut at = from;
        while at < until {
            if self.values[at] == most {
                return Some(at);
            }
            // The largest block that begins here, ends inside, and is lower, is passed over.
            let (mut step, mut size) = (1, FAN);
            for blocks in &self.levels {
                if !at.is_multiple_of(size) || at + size > until || blocks[at / size].1 >= most {
                    break;
                }
                (step, size) = (size, size * FAN);
            }
            at += step;
        }
        None
    }
}

fn join(all: impl Iterator<Item = (u64, u64)>) -> Option<(u64, u64)> {
    all.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

/// What the allocator held over time, bytes. Index 0 is before the first event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// Blocks in use, as large as they are.
    pub allocated: Series,
    /// As allocated, with blocks that another stream may still use.
    pub active: Series,
    /// Taken from the device.
    pub reserved: Series,
    /// As active, as large as was asked for.
    pub requested: Series,
}

impl Timeline {
    pub fn n_events(&self) -> usize {
        self.allocated.values.len().saturating_sub(1)
    }

    /// How many events were done when most was allocated, the first time.
    pub fn peak(&self) -> usize {
        self.allocated.argmax()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_what_looking_at_every_value_finds() {
        // Seeded, and with runs, so that extremes lie in all levels.
        let mut x = 1_u64;
        let values: Vec<u64> = (0..5000)
            .map(|_| {
                x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                x >> 40
            })
            .collect();
        let series = Series::new(values.clone());
        for (from, until) in [(0, 5000), (0, 1), (15, 17), (1, 4999), (256, 512), (4096, 5000), (700, 701), (33, 2900)]
        {
            let all = &values[from..until];
            let expected = (*all.iter().min().unwrap(), *all.iter().max().unwrap());
            assert_eq!(series.range(from, until), Some(expected), "{from}..{until}");
            let first = all.iter().position(|value| *value == expected.1).map(|place| from + place);
            assert_eq!(series.argmax_in(from, until), first, "{from}..{until}");
        }
        assert_eq!(series.range(9, 9), None);
        assert_eq!((series.argmax_in(9, 9), Series::new(vec![4, 9, 9, 1]).argmax()), (None, 1));
        assert_eq!(series.range(6000, 7000), None);
        assert_eq!(series.columns(0, 5000, 3)[1].1, *values[1666..3333].iter().max().unwrap());
    }

    /// A pixel over a million values looks at no more of them than one over a thousand, but for the levels.
    #[test]
    fn few_values_are_fewer_than_the_pixels() {
        let series = Series::new(vec![3, 9]);
        assert_eq!(series.columns(0, 2, 4), [(3, 3), (3, 3), (9, 9), (9, 9)]);
        assert_eq!(Series::new(Vec::new()).columns(0, 0, 2), [(0, 0), (0, 0)]);
    }
}
