//! The state before the first event: the final blocks, walked back through the events.

use crate::model::{Action, BlockState, Snapshot};
use std::collections::BTreeMap;
use vramlab_alloc::caching::{Config, Live, Part};

/// A free block of the large pool is larger than this, so a smaller gap belongs to the block before it.
const LEAST_LARGE_REST: u64 = 1 << 20;

/// A stretch of memory that the device had given.
#[derive(Clone, Debug)]
struct Stretch {
    size: u64,
    stream: u32,
    is_small: bool,
    pool: (u64, u64),
    is_expandable: bool,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    /// The block's size where the end tells it; one freed in the window has only its request.
    size: Option<u64>,
    requested: u64,
    is_pending: bool,
}

/// What stood before the first event of a device.
#[derive(Clone, Debug)]
pub struct Start {
    pub parts: Vec<Part>,
    /// Private pools by number: 1, 2, … for those ids that occur. Number 0 is the default pool.
    pub pools: Vec<(u64, u64)>,
    /// Frees of blocks that nothing explains, e.g. because the recording begins later.
    pub n_unexplained: u64,
}

impl Start {
    pub fn pool_number(&self, pool: (u64, u64)) -> u32 {
        self.pools.iter().position(|known| *known == pool).unwrap_or(0) as u32
    }
}

/// Walks back. `config` rounds what is known only by its request.
pub fn start(snapshot: &Snapshot, device: usize, config: &Config) -> Start {
    let mut walk = Walk::at_the_end(snapshot, device);
    for event in snapshot.traces.get(device).into_iter().flatten().rev() {
        walk.back(event);
    }
    walk.finish(config)
}

struct Walk {
    stretches: BTreeMap<u64, Stretch>,
    held: BTreeMap<u64, Held>,
    n_unexplained: u64,
    is_expandable: bool,
    pools: Vec<(u64, u64)>,
}

impl Walk {
    fn at_the_end(snapshot: &Snapshot, device: usize) -> Self {
        let mut this = Self {
            stretches: BTreeMap::new(),
            held: BTreeMap::new(),
            n_unexplained: 0,
            is_expandable: false,
            pools: vec![(0, 0)],
        };
        for segment in snapshot.segments.iter().filter(|segment| segment.device as usize == device) {
            this.is_expandable |= segment.is_expandable;
            // Also those of graphs captured in the window.
            if !this.pools.contains(&segment.pool) {
                this.pools.push(segment.pool);
            }
            this.stretches.insert(
                segment.address,
                Stretch {
                    size: segment.size,
                    stream: segment.stream,
                    is_small: segment.is_small,
                    pool: segment.pool,
                    is_expandable: segment.is_expandable,
                },
            );
            for block in segment.blocks.iter().filter(|block| block.state != BlockState::Inactive) {
                let is_pending = block.state == BlockState::Pending;
                let held = Held { size: Some(block.size), requested: block.requested, is_pending };
                this.held.insert(block.address, held);
            }
        }
        this
    }

    fn back(&mut self, event: &crate::Event) {
        match event.action {
            Action::Alloc => self.n_unexplained += u64::from(self.held.remove(&event.address).is_none()),
            Action::FreeCompleted => {
                let held = Held { size: None, requested: event.size, is_pending: true };
                self.held.insert(event.address, held);
            }
            Action::FreeRequested => {
                let held = self.held.entry(event.address);
                held.and_modify(|held| held.is_pending = false).or_insert(Held {
                    size: None,
                    requested: event.size,
                    is_pending: false,
                });
            }
            Action::SegmentAlloc | Action::SegmentMap => self.take_away(event.address, event.size),
            Action::SegmentFree | Action::SegmentUnmap => {
                // 2 MiB segments are the small pool's: a large one of its own has at least 10 MiB.
                let is_small = event.size == 2 << 20;
                let is_expandable = event.action == Action::SegmentUnmap;
                let (stream, size) = (event.stream, event.size);
                let stretch = Stretch { size, stream, is_small, pool: (0, 0), is_expandable };
                self.stretches.insert(event.address, stretch);
            }
            _ => {}
        }
    }

    /// A segment, or a piece of the run that lies around it.
    fn take_away(&mut self, address: u64, size: u64) {
        let Some((start, run)) = self.stretches.range(..=address).next_back().map(|(at, run)| (*at, run.clone()))
        else {
            self.n_unexplained += 1;
            return;
        };
        let end = start + run.size;
        if address >= end {
            self.n_unexplained += 1;
            return;
        }
        self.stretches.remove(&start);
        if start < address {
            self.stretches.insert(start, Stretch { size: address - start, ..run.clone() });
        }
        let after = address + size;
        if after < end {
            self.stretches.insert(after, Stretch { size: end - after, ..run });
        }
    }

    fn finish(mut self, config: &Config) -> Start {
        self.join_runs();
        let mut pools = std::mem::take(&mut self.pools);
        let mut parts = Vec::new();
        for (address, stretch) in &self.stretches {
            if !pools.contains(&stretch.pool) {
                pools.push(stretch.pool);
            }
            let private_pool = pools.iter().position(|known| *known == stretch.pool).unwrap_or(0) as u32;
            let end = address + stretch.size;
            let inside: Vec<(u64, Held)> = self.held.range(address..&end).map(|(at, held)| (*at, *held)).collect();
            let live = (0..inside.len()).map(|idx| live(&inside, idx, end, stretch, config)).collect();
            parts.push(Part {
                address: *address,
                size: stretch.size,
                stream: stretch.stream,
                is_small: stretch.is_small,
                private_pool,
                is_expandable: stretch.is_expandable,
                live,
            });
        }
        Start { parts, pools, n_unexplained: self.n_unexplained }
    }

    /// Runs of one expandable segment that touch are one.
    fn join_runs(&mut self) {
        let mut joined: BTreeMap<u64, Stretch> = BTreeMap::new();
        for (address, stretch) in std::mem::take(&mut self.stretches) {
            if let Some((at, last)) = joined.iter_mut().next_back()
                && stretch.is_expandable
                && last.is_expandable
                && at + last.size == address
                && (last.stream, last.is_small, last.pool) == (stretch.stream, stretch.is_small, stretch.pool)
            {
                last.size += stretch.size;
                continue;
            }
            joined.insert(address, stretch);
        }
        self.stretches = joined;
    }
}

/// A live block with its size.
fn live(inside: &[(u64, Held)], idx: usize, end: u64, stretch: &Stretch, config: &Config) -> Live {
    let (address, held) = inside[idx];
    let next = inside.get(idx + 1).map_or(end, |(at, _)| *at);
    let size = held.size.unwrap_or_else(|| {
        let rounded = config.round(held.requested).min(next - address);
        let gap = next - address - rounded;
        let owns_gap = !stretch.is_small && !stretch.is_expandable && gap <= LEAST_LARGE_REST;
        if owns_gap && config.max_split_bytes.is_none() { rounded + gap } else { rounded }
    });
    Live { address, size, requested: held.requested, is_pending: held.is_pending }
}
