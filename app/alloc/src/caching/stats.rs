//! Counters as `torch.cuda.memory_stats()` keeps them: each for all blocks, large and small pool; current and peak.

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Metric {
    AllocatedBytes,
    ActiveBytes,
    RequestedBytes,
    ReservedBytes,
    InactiveSplitBytes,
    Allocation,
    Active,
    Segment,
    InactiveSplit,
}

impl Metric {
    pub const ALL: [Self; 9] = [
        Self::AllocatedBytes,
        Self::ActiveBytes,
        Self::RequestedBytes,
        Self::ReservedBytes,
        Self::InactiveSplitBytes,
        Self::Allocation,
        Self::Active,
        Self::Segment,
        Self::InactiveSplit,
    ];

    /// PyTorch's name: `allocated_bytes`, `inactive_split`.
    pub fn name(self) -> &'static str {
        match self {
            Self::AllocatedBytes => "allocated_bytes",
            Self::ActiveBytes => "active_bytes",
            Self::RequestedBytes => "requested_bytes",
            Self::ReservedBytes => "reserved_bytes",
            Self::InactiveSplitBytes => "inactive_split_bytes",
            Self::Allocation => "allocation",
            Self::Active => "active",
            Self::Segment => "segment",
            Self::InactiveSplit => "inactive_split",
        }
    }
}

/// Whose blocks are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    All,
    Large,
    Small,
}

impl Class {
    pub const ALL: [Self; 3] = [Self::All, Self::Large, Self::Small];

    /// PyTorch's name: `all`, `large_pool`, `small_pool`.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Large => "large_pool",
            Self::Small => "small_pool",
        }
    }
}

/// One counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counter {
    pub current: u64,
    /// The largest value since the last reset, the value at the reset included.
    pub peak: u64,
    /// All that was ever added, and all that was ever taken away.
    pub allocated: u64,
    pub freed: u64,
}

impl Counter {
    #[inline]
    fn add(&mut self, by: i64) {
        self.current = self.current.wrapping_add_signed(by);
        if by >= 0 {
            self.allocated = self.allocated.wrapping_add(by.unsigned_abs());
        } else {
            self.freed = self.freed.wrapping_add(by.unsigned_abs());
        }
        self.peak = self.peak.max(self.current);
    }
}

/// Every counter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    counters: [[Counter; 3]; 9],
    /// `num_alloc_retries`: how often the cache was flushed because the device had refused.
    pub n_retries: u64,
    /// `num_ooms`.
    pub n_ooms: u64,
}

impl Stats {
    pub fn get(&self, metric: Metric, class: Class) -> Counter {
        self.counters[metric as usize][class as usize]
    }

    /// Adds to a counter of one pool and of all blocks.
    #[inline]
    pub(super) fn add(&mut self, metric: Metric, is_small: bool, by: i64) {
        let class = if is_small { Class::Small } else { Class::Large };
        let of_metric = &mut self.counters[metric as usize];
        of_metric[Class::All as usize].add(by);
        of_metric[class as usize].add(by);
    }

    /// `reset_peak_memory_stats`.
    pub fn reset_peaks(&mut self) {
        for counter in self.counters.iter_mut().flatten() {
            counter.peak = counter.current;
        }
    }

    /// Forgets what was added and taken away so far.
    pub fn reset_totals(&mut self) {
        for counter in self.counters.iter_mut().flatten() {
            (counter.allocated, counter.freed) = (0, 0);
        }
    }

    /// What was added and taken away, under PyTorch's names: `allocated_bytes.all.allocated`.
    pub fn named_totals(&self) -> Vec<(String, u64)> {
        let mut out = Vec::with_capacity(9 * 3 * 2);
        for metric in Metric::ALL {
            for class in Class::ALL {
                let counter = self.get(metric, class);
                for (kind, value) in [("allocated", counter.allocated), ("freed", counter.freed)] {
                    out.push((format!("{}.{}.{kind}", metric.name(), class.name()), value));
                }
            }
        }
        out
    }

    /// Every counter under PyTorch's name, `allocated_bytes.all.current` first.
    pub fn named(&self) -> Vec<(String, u64)> {
        let mut out = Vec::with_capacity(9 * 3 * 2);
        for metric in Metric::ALL {
            for class in Class::ALL {
                let counter = self.get(metric, class);
                for (kind, value) in [("current", counter.current), ("peak", counter.peak)] {
                    out.push((format!("{}.{}.{kind}", metric.name(), class.name()), value));
                }
            }
        }
        out
    }
}
