//! A part of a large recording: how many events there are, then only those that are wanted. What stood at the end of the
//! part is walked back to, so that the part is a snapshot like any other.

use crate::fast::FastMap;
use crate::homes::{Homes, Labels};
use crate::model::{Action, Block, BlockState, Event, Segment, Shown, Snapshot, StackId};
use crate::read::{ReadError, read};
use crate::replay::{blocks_at, config_of};
use crate::start::start;
use vramlab_alloc::caching::{Live, Part, State, View};

/// Which events are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The device; of the others only the segments are kept. Nothing: every device.
    pub device: Option<usize>,
    /// Events from here on, counted from 0 on each device.
    pub from: usize,
    /// Events before this one; a few less where the part would end on the way to a request.
    pub until: usize,
}

/// Reads the events of a range.
pub fn read_range(bytes: &[u8], limit: usize, range: &Range) -> Result<Snapshot, ReadError> {
    let mut snapshot = read(bytes, limit)?;
    snapshot.keep(range);
    Ok(snapshot)
}

impl Snapshot {
    /// Drops the events outside a range, and walks the segments back to its end.
    pub fn keep(&mut self, range: &Range) {
        let lengths: Vec<usize> = self.traces.iter().map(Vec::len).collect();
        self.shown = lengths.iter().map(|n| Shown { from: 0, until: *n, n_events: *n }).collect();
        for (device, n) in lengths.into_iter().enumerate() {
            if range.device.is_some_and(|wanted| wanted != device) {
                self.traces[device] = Vec::new();
                self.shown[device] = Shown { from: n, until: n, n_events: n };
                continue;
            }
            let until = settled(&self.traces[device], range.until.min(n));
            let from = range.from.min(until);
            if until < n {
                self.walk_back(device, until);
            }
            self.traces[device].drain(..from);
            self.traces[device].shrink_to_fit();
            if let Some(pools) = self.event_pools.as_mut().and_then(|all| all.get_mut(device)) {
                pools.retain(|(at, _)| (from..until).contains(&(*at as usize)));
                pools.iter_mut().for_each(|(at, _)| *at -= from as u32);
            }
            self.shown[device] = Shown { from, until, n_events: n };
        }
    }

    /// Makes the segments of a device those after `until` events, and drops the events after.
    fn walk_back(&mut self, device: usize, until: usize) {
        let config = config_of(self).unwrap_or_default();
        let exact = blocks_at(self, device, &config, until);
        let tail = self.traces[device].split_off(until);
        let (of_device, others): (Vec<Segment>, Vec<Segment>) =
            std::mem::take(&mut self.segments).into_iter().partition(|segment| segment.device as usize == device);
        let stacks = self.stacks_of(device, &of_device);
        let (parts, pools) = exact.map_or_else(
            || {
                // The replay does not hold: only what the events themselves say.
                let mut traces = vec![Vec::new(); device];
                traces.push(tail);
                let end = Snapshot { segments: of_device.clone(), traces, ..Snapshot::default() };
                let homes = Homes::of(&end, device, &config);
                let before = start(&end, device, &config, &homes, &Labels::default());
                (before.parts, before.pools)
            },
            |standing| (parts(&standing.blocks), standing.pools),
        );
        self.segments = others;
        for part in &parts {
            let pool = pools.get(part.private_pool as usize).copied().unwrap_or_default();
            self.segments.push(segment(part, device as u32, pool, &of_device, &stacks));
        }
        self.segments.sort_by_key(|segment| (segment.device, segment.address));
    }

    /// Who asked for the blocks that stand: the last request at each address, else what the end tells.
    fn stacks_of(&self, device: usize, end: &[Segment]) -> FastMap<u64, StackId> {
        let blocks = end.iter().flat_map(|segment| &segment.blocks);
        let mut out: FastMap<u64, StackId> = blocks.map(|block| (block.address, block.stack)).collect();
        for event in self.traces.get(device).into_iter().flatten() {
            if event.action == Action::Alloc {
                out.insert(event.address, event.stack);
            }
        }
        out
    }
}

/// Blocks in a row are a segment, or a run of mapped pages.
fn parts(views: &[View]) -> Vec<Part> {
    let mut out: Vec<Part> = Vec::new();
    let mut before: Option<&View> = None;
    for view in views.iter().filter(|view| view.is_mapped) {
        if before.is_none_or(|before| before.next != Some(view.id)) {
            out.push(Part {
                address: view.address,
                size: 0,
                stream: view.stream,
                is_small: view.is_small,
                private_pool: view.private_pool,
                is_expandable: view.is_expandable,
                floor: view.address,
                live: Vec::new(),
            });
        }
        let Some(part) = out.last_mut() else { continue };
        part.size += view.size;
        if view.state != State::Free {
            let is_pending = view.state == State::Pending;
            part.live.push(Live { address: view.address, size: view.size, requested: view.requested, is_pending });
        }
        before = Some(view);
    }
    out
}

/// The device's memory changes on the way to a request, and most frees are completed at once: a part ends before such
/// events, not among them.
fn settled(events: &[Event], mut until: usize) -> usize {
    use Action::{FreeCompleted, FreeRequested, SegmentAlloc, SegmentFree, SegmentMap, SegmentUnmap};
    let Some(mut next) = events.get(until) else { return until };
    while let Some(last) = until.checked_sub(1).map(|last| &events[last]) {
        let changes = matches!(last.action, SegmentAlloc | SegmentFree | SegmentMap | SegmentUnmap);
        let is_half = (last.action, next.action) == (FreeRequested, FreeCompleted) && last.address == next.address;
        if !changes && !is_half {
            break;
        }
        next = last;
        until -= 1;
    }
    until
}

fn segment(part: &Part, device: u32, pool: (u64, u64), end: &[Segment], stacks: &FastMap<u64, StackId>) -> Segment {
    let known = end.iter().find(|segment| segment.address == part.address);
    let mut out = Segment {
        device,
        address: part.address,
        size: part.size,
        stream: part.stream,
        is_small: part.is_small,
        pool,
        is_expandable: part.is_expandable,
        stack: known.map(|segment| segment.stack).unwrap_or_default(),
        blocks: Vec::with_capacity(part.live.len() * 2 + 1),
    };
    let hole = |address: u64, until: u64| Block {
        address,
        size: until - address,
        requested: 0,
        state: BlockState::Inactive,
        stack: StackId(0),
    };
    let mut next = part.address;
    for Live { address, size, requested, is_pending } in part.live.iter().copied() {
        if address > next {
            out.blocks.push(hole(next, address));
        }
        let state = if is_pending { BlockState::Pending } else { BlockState::Allocated };
        let stack = stacks.get(&address).copied().unwrap_or_default();
        out.blocks.push(Block { address, size, requested, state, stack });
        next = address.saturating_add(size);
    }
    let end = part.address.saturating_add(part.size);
    if end > next {
        out.blocks.push(hole(next, end));
    }
    out
}
