//! The state before the first event: the final blocks, walked back through the events.

use crate::homes::{Home, Homes, Labels};
use crate::model::{Action, BlockState, Snapshot};
use std::collections::BTreeMap;
use vramlab_alloc::caching::{Config, Live, Part};

/// A free block of the large pool is larger than this, so a smaller gap belongs to the block before it.
pub(crate) const LEAST_LARGE_REST: u64 = 1 << 20;

/// A stretch of memory that the device had given.
#[derive(Clone, Debug)]
struct Stretch {
    size: u64,
    stream: u32,
    is_small: bool,
    is_expandable: bool,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    /// The block's size where the end tells it, or the block behind it; else one freed in the window has only its request.
    size: Option<u64>,
    requested: u64,
    is_pending: bool,
}

/// What stood before the first event of a device.
#[derive(Clone, Debug)]
pub struct Start {
    pub parts: Vec<Part>,
    /// Private pools by number: 1, 2, … for those ids that occur, then those that there must have been, `(u64::MAX, n)`.
    /// Number 0 is the default pool.
    pub pools: Vec<(u64, u64)>,
    /// Blocks of which only the request is known, with a hole behind that may be up to 1 MiB smaller: where the hole begins,
    /// the block's address, where the hole ends.
    pub unsure: Vec<(u64, u64, u64)>,
    /// Most that was reserved from the first event to the last, bytes.
    pub most_reserved: u64,
    /// Frees of blocks that nothing explains, e.g. because the recording begins later.
    pub n_unexplained: u64,
}

impl Start {
    pub fn pool_number(&self, pool: (u64, u64)) -> u32 {
        self.pools.iter().position(|known| *known == pool).unwrap_or(0) as u32
    }
}

/// Walks back. `config` rounds what is known only by its request.
pub(crate) fn start(snapshot: &Snapshot, device: usize, config: &Config, homes: &Homes, labels: &Labels) -> Start {
    let mut walk = Walk::at_the_end(snapshot, device);
    let sum = |walk: &Walk| walk.stretches.values().map(|run| run.size).fold(0_u64, u64::saturating_add);
    let (mut reserved, mut most) = (sum(&walk), sum(&walk));
    for event in snapshot.traces.get(device).into_iter().flatten().rev() {
        walk.back(event, homes);
        match event.action {
            Action::SegmentAlloc | Action::SegmentMap => reserved = reserved.saturating_sub(event.size),
            Action::SegmentFree | Action::SegmentUnmap => reserved = reserved.saturating_add(event.size),
            _ => {}
        }
        most = most.max(reserved);
    }
    walk.most_reserved = most;
    walk.finish(config, homes, labels)
}

#[derive(Default)]
struct Walk {
    stretches: BTreeMap<u64, Stretch>,
    held: BTreeMap<u64, Held>,
    n_unexplained: u64,
    most_reserved: u64,
}

impl Walk {
    fn at_the_end(snapshot: &Snapshot, device: usize) -> Self {
        let mut this = Self::default();
        for segment in snapshot.segments.iter().filter(|segment| segment.device as usize == device) {
            this.stretches.insert(
                segment.address,
                Stretch {
                    size: segment.size,
                    stream: segment.stream,
                    is_small: segment.is_small,
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

    fn back(&mut self, event: &crate::Event, homes: &Homes) {
        match event.action {
            Action::Alloc => {
                self.n_unexplained += u64::from(self.held.remove(&event.address).is_none());
                self.measure_before(event.address);
            }
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
                let is_expandable = event.action == Action::SegmentUnmap;
                let is_small = match homes.reach(event.address) {
                    Some((_, reach)) if is_expandable => reach.is_small,
                    // 2 MiB segments are the small pool's: a large one of its own has at least 10 MiB.
                    _ => event.size == 2 << 20,
                };
                let (stream, size) = (event.stream, event.size);
                let stretch = Stretch { size, stream, is_small, is_expandable };
                self.stretches.insert(event.address, stretch);
            }
            _ => {}
        }
    }

    /// A request is served from the low end of a free block, and what lies before a free block is in use to its end: so
    /// the address tells how large the block before it is.
    fn measure_before(&mut self, address: u64) {
        let Some((before, held)) = self.held.range_mut(..address).next_back() else { return };
        if held.size.is_some() {
            return;
        }
        let around = self.stretches.range(..=address).next_back();
        let is_inside = around.is_some_and(|(start, run)| start <= before && address - start < run.size);
        if is_inside && address - before >= held.requested {
            held.size = Some(address - before);
        }
    }

    /// A segment, or what the stretches around a piece of an expandable one have of it.
    fn take_away(&mut self, address: u64, size: u64) {
        let end = address.saturating_add(size);
        let touches = |(start, run): &(&u64, &Stretch)| start.saturating_add(run.size) > address;
        let found: Vec<u64> = self.stretches.range(..end).rev().take_while(touches).map(|(start, _)| *start).collect();
        let mut n_found = 0;
        for start in found {
            let Some(run) = self.stretches.remove(&start) else { continue };
            let until = start.saturating_add(run.size);
            n_found += until.min(end) - start.max(address);
            if until > end {
                self.stretches.insert(end, Stretch { size: until - end, ..run.clone() });
            }
            if start < address {
                self.stretches.insert(start, Stretch { size: address - start, ..run });
            }
        }
        self.n_unexplained += u64::from(n_found < size);
    }

    fn finish(mut self, config: &Config, homes: &Homes, labels: &Labels) -> Start {
        self.join_runs();
        let mut pools = homes.pools.clone();
        pools.extend((0..labels.n_unnamed).map(|idx| (u64::MAX, u64::from(idx))));
        let mut parts = Vec::new();
        let mut unsure = Vec::new();
        for (address, stretch) in &self.stretches {
            let reach = homes.reach(*address).filter(|_| stretch.is_expandable);
            let home = reach.map_or_else(|| homes.at_start(*address), |(_, reach)| Some(reach.home));
            let end = address + stretch.size;
            let inside: Vec<(u64, Held)> = self.held.range(address..&end).map(|(at, held)| (*at, *held)).collect();
            let live: Vec<Live> = (0..inside.len())
                .map(|idx| match labels.sizes.get(&inside[idx].0) {
                    Some(size) => Live { size: *size, ..live(&inside, idx, end, stretch, config) },
                    None => live(&inside, idx, end, stretch, config),
                })
                .collect();
            for (idx, block) in live.iter().enumerate().filter(|(idx, _)| inside[*idx].1.size.is_none()) {
                let next = inside.get(idx + 1).map_or(end, |(at, _)| *at);
                if block.address + block.size < next && !stretch.is_small && !stretch.is_expandable {
                    unsure.push((block.address + block.size, block.address, next));
                }
            }
            parts.push(Part {
                address: *address,
                size: stretch.size,
                stream: stretch.stream,
                is_small: stretch.is_small,
                private_pool: labels.pool(home.unwrap_or(Home::Known(0))),
                is_expandable: stretch.is_expandable,
                floor: floor(homes, *address, stretch),
                live,
            });
        }
        Start { parts, pools, unsure, most_reserved: self.most_reserved, n_unexplained: self.n_unexplained }
    }

    /// Runs of one expandable segment that touch are one.
    fn join_runs(&mut self) {
        let mut joined: BTreeMap<u64, Stretch> = BTreeMap::new();
        for (address, stretch) in std::mem::take(&mut self.stretches) {
            if let Some((at, last)) = joined.iter_mut().next_back()
                && stretch.is_expandable
                && last.is_expandable
                && at + last.size == address
                && (last.stream, last.is_small) == (stretch.stream, stretch.is_small)
            {
                last.size += stretch.size;
                continue;
            }
            joined.insert(address, stretch);
        }
        self.stretches = joined;
    }
}

/// Ranges of address space lie this far apart, or are of another stream or page size.
const REACH: u64 = 1 << 38;

/// Where the range of an expandable segment begins, as far as the recording shows: pages below were mapped at some time.
fn floor(homes: &Homes, address: u64, stretch: &Stretch) -> u64 {
    if !stretch.is_expandable {
        return address;
    }
    let home = homes.reach(address).map(|(_, reach)| reach.home);
    let below = homes.reaches.range(address.saturating_sub(REACH)..=address);
    let mut same = below.filter(|(_, reach)| {
        let is_same_home = home.is_none_or(|home| {
            reach.home == home || matches!(home, Home::Gone(_)) || matches!(reach.home, Home::Gone(_))
        });
        (reach.stream, reach.is_small) == (stretch.stream, stretch.is_small) && is_same_home
    });
    same.next().map_or(address, |(start, _)| *start)
}

/// A live block with its size.
fn live(inside: &[(u64, Held)], idx: usize, end: u64, stretch: &Stretch, config: &Config) -> Live {
    let (address, held) = inside[idx];
    let next = inside.get(idx + 1).map_or(end, |(at, _)| *at);
    let room = next - address;
    let size = held.size.filter(|size| *size <= room).unwrap_or_else(|| {
        let rounded = config.round(held.requested).min(room);
        let is_shared = !stretch.is_small && !stretch.is_expandable;
        // Oversize blocks are never split.
        let is_whole = is_shared && config.max_split_bytes.is_some_and(|max_split| rounded >= max_split);
        if is_whole || (is_shared && room - rounded <= LEAST_LARGE_REST) { room } else { rounded }
    });
    Live { address, size, requested: held.requested, is_pending: held.is_pending }
}
