//! The recorded requests, served again by the allocator's rules: every address, split and counter is predicted and
//! compared with what was recorded.

use crate::fast::FastMap;
use crate::model::{Action, BlockState, Event, Snapshot};
use crate::start::{Start, start};
use std::collections::{BTreeMap, VecDeque};
use vramlab_alloc::caching::{BlockId, Caching, Config, ConfigError, Device, State, Stats, View};

/// A prediction that the recording contradicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Index of the event, from 0.
    pub event: usize,
    pub what: String,
}

/// What a replay found.
#[derive(Clone, Debug)]
pub struct Replay {
    pub n_allocs: u64,
    /// Allocs whose address came out as recorded.
    pub n_right: u64,
    pub n_frees: u64,
    /// Segments, or mapped runs, that the device gave.
    pub n_segments: u64,
    /// Frees of blocks that the recording does not explain.
    pub n_unexplained: u64,
    /// The first of each kind, at most 20 in all.
    pub mismatches: Vec<Mismatch>,
    pub stats: Stats,
    /// The counters before the first event.
    pub start: Stats,
    pub blocks: Vec<View>,
    /// What stood before the first event.
    pub before: Start,
    /// Size of the block that each alloc got, in their order; 0 if it got none.
    pub sizes: Vec<u64>,
}

impl Replay {
    /// True if every address, every segment and every final block came out as recorded.
    pub fn is_exact(&self) -> bool {
        self.n_right == self.n_allocs && self.mismatches.is_empty()
    }
}

const MOST_MISMATCHES: usize = 20;
/// Address space is never what runs out; the device's size is not in a snapshot.
const TOTAL_BYTES: u64 = 1 << 40;

/// The settings that a snapshot was recorded with.
pub fn config_of(snapshot: &Snapshot) -> Result<Config, ConfigError> {
    let mut config = Config::default();
    let number = |name: &str| snapshot.setting(name).and_then(|text| text.parse::<f64>().ok());
    config.expandable_segments = snapshot.setting("expandable_segments") == Some("True");
    config.max_split_bytes = number("max_split_size").filter(|bytes| *bytes > 0.0).map(|bytes| bytes as u64);
    config.gc_threshold = number("garbage_collection_threshold").filter(|share| *share > 0.0);
    if let Some(bytes) = number("large_segment_size").filter(|bytes| *bytes > 0.0) {
        config.large_segment_bytes = bytes as u64;
    }
    if let Some(classes) = snapshot.setting("roundup_power2_divisions") {
        let inner = classes.trim_start_matches('[').trim_end_matches(']');
        for (class, n) in inner.split(',').filter_map(|pair| pair.split_once(':')) {
            let class = class.parse::<u64>().ok().filter(|mib| mib.is_power_of_two()).map(|mib| mib.ilog2() as usize);
            if let (Some(class), Ok(n)) = (class, n.parse()) {
                config.roundup_divisions[class.min(15)] = n;
            }
        }
    }
    config.check()?;
    Ok(config)
}

/// The device as it was recorded: it gives what the recording says it gave, and refuses where the cache was flushed.
#[derive(Default)]
struct Recorded {
    /// Segment events since the last request.
    queue: VecDeque<(usize, Event)>,
    wrong: Vec<Mismatch>,
    at: usize,
    n_given: u64,
    /// Given although nothing was recorded: outside every recorded address.
    invented: u64,
}

impl Recorded {
    fn mismatch(&mut self, event: usize, what: String) {
        if self.wrong.len() < MOST_MISMATCHES {
            self.wrong.push(Mismatch { event, what });
        }
    }

    fn invent(&mut self, what: &str, bytes: u64) -> u64 {
        self.mismatch(self.at, format!("{what} of {bytes} bytes was predicted, none is recorded"));
        self.invented += 1;
        self.invented << 41
    }

    fn given_back(&mut self, action: Action, address: u64, bytes: u64) {
        match self.queue.pop_front() {
            Some((_, event)) if event.action == action && (event.address, event.size) == (address, bytes) => {}
            Some((at, event)) => {
                let what = format!(
                    "0x{address:x}, {bytes} bytes, goes back; recorded is {:?} of 0x{:x}, {} bytes",
                    event.action, event.address, event.size
                );
                self.mismatch(at, what);
            }
            None => self.mismatch(self.at, format!("0x{address:x}, {bytes} bytes, goes back; nothing is recorded")),
        }
    }
}

impl Device for Recorded {
    fn segment(&mut self, bytes: u64) -> Option<u64> {
        match self.queue.front() {
            Some((_, event)) if event.action == Action::SegmentAlloc => {
                let (at, event) = self.queue.pop_front()?;
                if event.size != bytes {
                    self.mismatch(at, format!("a segment of {bytes} bytes is asked for; recorded are {}", event.size));
                }
                self.n_given += 1;
                Some(event.address)
            }
            // The cache was flushed: the device had refused.
            Some(_) => None,
            None => Some(self.invent("a segment", bytes)),
        }
    }

    fn release(&mut self, address: u64, bytes: u64) {
        self.given_back(Action::SegmentFree, address, bytes);
    }

    fn range(&mut self, bytes: u64) -> Option<u64> {
        match self.queue.front() {
            Some((_, event)) if event.action == Action::SegmentMap => Some(event.address),
            Some(_) => None,
            None => Some(self.invent("a range", bytes)),
        }
    }

    fn map(&mut self, address: u64, bytes: u64) -> bool {
        match self.queue.front() {
            Some((_, event)) if event.action == Action::SegmentMap => {
                let event = *event;
                let at = self.queue.pop_front().map_or(self.at, |(at, _)| at);
                if (event.address, event.size) != (address, bytes) {
                    let what = format!(
                        "0x{address:x}, {bytes} bytes, is mapped; recorded is 0x{:x}, {} bytes",
                        event.address, event.size
                    );
                    self.mismatch(at, what);
                }
                self.n_given += 1;
                true
            }
            Some(_) => false,
            None => {
                self.invent("mapping", bytes);
                true
            }
        }
    }

    fn unmap(&mut self, address: u64, bytes: u64) {
        self.given_back(Action::SegmentUnmap, address, bytes);
    }

    fn total_bytes(&self) -> u64 {
        TOTAL_BYTES
    }
}

/// Replays one device under the settings it was recorded with.
pub fn replay(snapshot: &Snapshot, device: usize, config: &Config) -> Replay {
    let before = start(snapshot, device, config);
    let mut run = Run::new(snapshot, device, config, &before);
    let events = snapshot.traces.get(device).map_or(&[][..], Vec::as_slice);
    for idx in 0..events.len() {
        run.event(events, idx);
    }
    run.finish(snapshot, device, before)
}

struct Run {
    machine: Caching<Recorded>,
    blocks: FastMap<u64, BlockId>,
    /// Private pool of each segment, by address.
    pools: BTreeMap<u64, (u64, u32)>,
    start: Stats,
    n_allocs: u64,
    n_right: u64,
    n_frees: u64,
    n_unexplained: u64,
    skips_completion: bool,
    sizes: Vec<u64>,
}

impl Run {
    fn new(snapshot: &Snapshot, device: usize, config: &Config, before: &Start) -> Self {
        let mut machine = Caching::new(config.clone(), Recorded::default());
        let blocks = machine.restore(&before.parts).into_iter().collect();
        let of_device = snapshot.segments.iter().filter(|segment| segment.device as usize == device);
        let pools =
            of_device.map(|segment| (segment.address, (segment.size, before.pool_number(segment.pool)))).collect();
        Self {
            start: machine.stats().clone(),
            machine,
            blocks,
            pools,
            n_allocs: 0,
            n_right: 0,
            n_frees: 0,
            n_unexplained: before.n_unexplained,
            skips_completion: false,
            sizes: Vec::new(),
        }
    }

    fn event(&mut self, events: &[Event], idx: usize) {
        let event = &events[idx];
        self.machine.device.at = idx;
        match event.action {
            Action::SegmentAlloc | Action::SegmentMap => self.machine.device.queue.push_back((idx, *event)),
            Action::SegmentFree | Action::SegmentUnmap => {
                self.machine.device.queue.push_back((idx, *event));
                if is_explicit(events, idx) {
                    self.machine.empty_cache();
                    self.expect_empty();
                }
            }
            Action::Alloc => self.alloc(event, idx),
            Action::Oom => {
                let pool = self.pool_at(event.address);
                if self.machine.malloc_in(pool, event.size, event.stream).is_ok() {
                    self.machine.device.mismatch(idx, "the request fits; recorded is an OOM".to_owned());
                }
            }
            Action::FreeRequested => self.free(event, events.get(idx + 1)),
            Action::FreeCompleted if self.skips_completion => self.skips_completion = false,
            Action::FreeCompleted => {
                let known = self.blocks.remove(&event.address);
                if known.is_none_or(|id| self.machine.event_done(id).is_err()) {
                    self.n_unexplained += 1;
                }
            }
            _ => {}
        }
    }

    fn alloc(&mut self, event: &Event, idx: usize) {
        self.n_allocs += 1;
        let pool = self.pool_at(event.address);
        match self.machine.malloc_in(pool, event.size, event.stream) {
            Ok(Some(served)) => {
                if served.address == event.address {
                    self.n_right += 1;
                } else {
                    let what = format!("0x{:x} is predicted, recorded is 0x{:x}", served.address, event.address);
                    self.machine.device.mismatch(idx, what);
                }
                self.blocks.insert(event.address, served.id);
                self.sizes.push(served.size);
            }
            Ok(None) => self.sizes.push(0),
            Err(error) => {
                self.sizes.push(0);
                self.machine.device.mismatch(idx, format!("{error}; recorded is 0x{:x}", event.address));
            }
        }
        self.expect_empty();
    }

    /// Everything that the device gave before a request was asked for by it.
    fn expect_empty(&mut self) {
        let device = &mut self.machine.device;
        for (at, event) in std::mem::take(&mut device.queue) {
            device
                .mismatch(at, format!("{:?} of {} bytes is recorded and was not predicted", event.action, event.size));
        }
    }

    fn free(&mut self, event: &Event, next: Option<&Event>) {
        let Some(id) = self.blocks.get(&event.address).copied() else {
            self.n_unexplained += 1;
            return;
        };
        self.n_frees += 1;
        let is_plain = next.is_some_and(|next| next.action == Action::FreeCompleted && next.address == event.address);
        let freed = if is_plain { self.machine.free(id) } else { self.machine.free_pending(id) };
        if freed.is_err() {
            self.n_unexplained += 1;
        }
        if is_plain {
            self.blocks.remove(&event.address);
            self.skips_completion = true;
        }
    }

    /// Events carry no pool: the segment around the address does.
    fn pool_at(&self, address: u64) -> u32 {
        let around = self.pools.range(..=address).next_back();
        around.filter(|(at, (size, _))| address < *at + size).map_or(0, |(_, (_, pool))| *pool)
    }

    fn finish(mut self, snapshot: &Snapshot, device: usize, before: Start) -> Replay {
        self.compare_blocks(snapshot, device);
        let blocks = self.machine.blocks();
        Replay {
            n_allocs: self.n_allocs,
            n_right: self.n_right,
            n_frees: self.n_frees,
            n_segments: self.machine.device.n_given,
            n_unexplained: self.n_unexplained,
            stats: self.machine.stats().clone(),
            start: self.start,
            mismatches: std::mem::take(&mut self.machine.device.wrong),
            blocks,
            before,
            sizes: self.sizes,
        }
    }

    /// Every block at the end, against the recorded segments.
    fn compare_blocks(&mut self, snapshot: &Snapshot, device: usize) {
        let predicted: BTreeMap<u64, View> =
            self.machine.blocks().into_iter().filter(|view| view.is_mapped).map(|view| (view.address, view)).collect();
        let n_events = snapshot.traces.get(device).map_or(0, Vec::len);
        let mut n_recorded = 0;
        for segment in snapshot.segments.iter().filter(|segment| segment.device as usize == device) {
            for block in &segment.blocks {
                n_recorded += 1;
                let state = match block.state {
                    BlockState::Allocated => State::Allocated,
                    BlockState::Pending => State::Pending,
                    BlockState::Inactive => State::Free,
                };
                let is_same = predicted.get(&block.address).is_some_and(|view| {
                    let is_asked = state == State::Free || view.requested == block.requested;
                    (view.size, view.state) == (block.size, state) && is_asked
                });
                if !is_same {
                    let found = predicted.get(&block.address).map(|view| (view.size, view.state));
                    let what = format!(
                        "final block 0x{:x}: recorded {} bytes {state:?}, predicted {found:?}",
                        block.address, block.size
                    );
                    self.machine.device.mismatch(n_events, what);
                }
            }
        }
        if n_recorded != predicted.len() {
            let what = format!("{n_recorded} final blocks are recorded, {} predicted", predicted.len());
            self.machine.device.mismatch(n_events, what);
        }
    }
}

/// The last of a run of returned segments belongs to `empty_cache` if the request after it has another stack.
pub(crate) fn is_explicit(events: &[Event], idx: usize) -> bool {
    let returns = |event: &Event| matches!(event.action, Action::SegmentFree | Action::SegmentUnmap);
    let Some(next) = events.get(idx + 1) else { return true };
    if returns(next) {
        return false;
    }
    let request = events[idx + 1..].iter().find(|event| matches!(event.action, Action::Alloc | Action::Oom));
    request.is_none_or(|request| request.stack != events[idx].stack)
}
