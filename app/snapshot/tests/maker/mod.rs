//! Recordings made by the allocator itself: requests at random, the events that PyTorch would have noted, and the segments
//! that stood at the end. The order of events is that of `CUDACachingAllocator.cpp`: completions just before the request
//! that found them, what went back to the device before what came from it, the request last.

use std::collections::BTreeMap;
use vramlab_alloc::MIB;
use vramlab_alloc::caching::{BlockId, Caching, Config, Device, State, Stats, View};
use vramlab_alloc::generate::Random;
use vramlab_snapshot::{Action, Block, BlockState, Event, Frame, Segment, Snapshot, StackId};

/// What is made.
#[derive(Clone, Debug)]
pub struct Plan {
    pub seed: u64,
    pub settings: String,
    pub n_requests: usize,
    /// At most so many blocks are held at once.
    pub n_live: usize,
    pub n_streams: u32,
    /// Private pools of graphs that may be captured; 0 for none.
    pub n_graphs: u32,
    /// A request of every so many is followed by `empty_cache`; 0 for never.
    pub empties: u64,
    pub capacity: u64,
    pub has_stacks: bool,
    /// Whether events name their pool, as newer files do.
    pub has_pools: bool,
}

/// A recording with the truth about it.
pub struct Made {
    pub snapshot: Snapshot,
    pub stats: Stats,
    pub n_allocs: u64,
}

/// Stacks of requests, and of `empty_cache`.
const OF_REQUESTS: StackId = StackId(1);
const OF_EMPTY: StackId = StackId(2);
const BASE: u64 = 0x7000_0000_0000;

/// A device that gives the lowest free address and notes what it did.
#[derive(Clone, Debug, Default)]
struct Tape {
    capacity: u64,
    used: u64,
    /// Reserved addresses with their sizes.
    space: BTreeMap<u64, u64>,
    notes: Vec<Note>,
    /// Pending blocks in the order in which they will be waited for.
    waiting: Vec<BlockId>,
    ranges: u64,
}

#[derive(Clone, Copy, Debug)]
enum Note {
    Event(Action, u64, u64),
    Synchronized,
}

impl Tape {
    fn place(&mut self, bytes: u64) -> u64 {
        let mut at = BASE;
        for (start, size) in &self.space {
            if start - at >= bytes {
                break;
            }
            at = start + size;
        }
        self.space.insert(at, bytes.next_multiple_of(2 * MIB));
        at
    }

    fn take(&mut self, bytes: u64) -> bool {
        let fits = self.used + bytes <= self.capacity;
        if fits {
            self.used += bytes;
        }
        fits
    }
}

impl Device for Tape {
    fn segment(&mut self, bytes: u64) -> Option<u64> {
        self.take(bytes).then(|| {
            let at = self.place(bytes);
            self.notes.push(Note::Event(Action::SegmentAlloc, at, bytes));
            at
        })
    }

    fn release(&mut self, address: u64, bytes: u64) {
        self.used -= bytes;
        self.space.remove(&address);
        self.notes.push(Note::Event(Action::SegmentFree, address, bytes));
    }

    fn range(&mut self, bytes: u64) -> Option<u64> {
        // Far from everything, and from the range before.
        self.ranges += 1;
        let _ = bytes;
        Some(BASE + (self.ranges << 40))
    }

    fn map(&mut self, address: u64, bytes: u64) -> bool {
        let fits = self.take(bytes);
        if fits {
            self.notes.push(Note::Event(Action::SegmentMap, address, bytes));
        }
        fits
    }

    fn unmap(&mut self, address: u64, bytes: u64) {
        self.used -= bytes;
        self.notes.push(Note::Event(Action::SegmentUnmap, address, bytes));
    }

    fn total_bytes(&self) -> u64 {
        self.capacity
    }

    fn synchronized(&mut self) -> Vec<BlockId> {
        self.notes.push(Note::Synchronized);
        std::mem::take(&mut self.waiting)
    }
}

#[derive(Clone, Copy)]
struct Held {
    id: BlockId,
    address: u64,
    bytes: u64,
    stream: u32,
    pool: u32,
}

pub struct Maker {
    plan: Plan,
    random: Random,
    machine: Caching<Tape>,
    events: Vec<Event>,
    held: Vec<Held>,
    pending: Vec<Held>,
    /// Stream and pool of the capture at hand.
    capture: Option<(u32, u32)>,
    /// Stream and pool of every segment and run, by address.
    streams: BTreeMap<u64, (u32, u32)>,
    event_pools: Vec<(u32, (u64, u64))>,
    n_allocs: u64,
}

impl Maker {
    pub fn make(plan: &Plan) -> Made {
        let config = Config::parse(&plan.settings).expect("settings");
        let tape = Tape { capacity: plan.capacity, ..Tape::default() };
        let mut this = Self {
            plan: plan.clone(),
            random: Random::new(plan.seed),
            machine: Caching::new(config, tape),
            events: Vec::new(),
            held: Vec::new(),
            pending: Vec::new(),
            capture: None,
            streams: BTreeMap::new(),
            event_pools: Vec::new(),
            n_allocs: 0,
        };
        for _ in 0..plan.n_requests {
            this.step();
        }
        this.finish()
    }

    fn step(&mut self) {
        while self.held.len() > self.random.below(self.plan.n_live as u64) as usize {
            let at = self.random.below(self.held.len() as u64) as usize;
            self.free(at);
        }
        self.capture_or_not();
        self.request();
        if self.plan.empties > 0 && self.capture.is_none() && self.random.below(self.plan.empties) == 0 {
            self.empty_cache();
        }
    }

    fn capture_or_not(&mut self) {
        let n_graphs = u64::from(self.plan.n_graphs);
        match self.capture {
            None if n_graphs > 0 && self.random.below(12) == 0 => {
                let pool = 1 + self.random.below(n_graphs) as u32;
                let stream = self.random.below(u64::from(self.plan.n_streams)) as u32;
                self.machine.begin_capture(stream, pool);
                self.capture = Some((stream, pool));
            }
            Some((stream, _)) if self.random.below(8) == 0 => {
                self.machine.end_capture(stream);
                self.capture = None;
            }
            None if n_graphs > 0 && self.random.below(60) == 0 => {
                let pool = 1 + self.random.below(n_graphs) as u32;
                if !self.held.iter().chain(&self.pending).any(|held| held.pool == pool) {
                    self.machine.release_pool(pool);
                }
            }
            _ => {}
        }
    }

    fn bytes(&mut self) -> u64 {
        match self.random.below(10) {
            0..4 => 1 + self.random.below(MIB),
            4..7 => 1 + self.random.below(9 * MIB),
            7..9 => 1 + self.random.below(40 * MIB),
            _ => (1 + self.random.below(90)) * MIB,
        }
    }

    fn request(&mut self) {
        let stream = match self.capture {
            Some((stream, _)) => stream,
            None => self.random.below(u64::from(self.plan.n_streams)) as u32,
        };
        let bytes = self.bytes();
        // Work of other streams is looked at when memory is asked for, not while a graph is captured.
        if self.capture.is_none() {
            let mut still = Vec::new();
            for held in std::mem::take(&mut self.pending) {
                if self.random.below(3) == 0 {
                    self.machine.event_done(held.id).expect("pending");
                    self.note(Action::FreeCompleted, held.address, held.bytes, held.stream, OF_REQUESTS);
                } else {
                    still.push(held);
                }
            }
            self.pending = still;
        }
        self.machine.device.waiting = self.pending.iter().map(|held| held.id).collect();
        let served = self.machine.malloc(bytes, stream);
        self.note_device(stream, OF_REQUESTS);
        match served {
            Ok(Some(served)) => {
                self.n_allocs += 1;
                self.note(Action::Alloc, served.address, bytes, stream, OF_REQUESTS);
                let pool = self.machine.view(served.id).private_pool;
                self.held.push(Held { id: served.id, address: served.address, bytes, stream, pool });
            }
            Ok(None) => {}
            Err(_) => {
                let size = self.machine.config().round(bytes);
                let free = self.machine.device.capacity - self.machine.device.used;
                self.in_pool(self.capture.map_or(0, |(_, pool)| pool));
                self.note(Action::Oom, free, size, stream, OF_REQUESTS);
            }
        }
    }

    fn free(&mut self, at: usize) {
        let held = self.held.swap_remove(at);
        self.note(Action::FreeRequested, held.address, held.bytes, held.stream, OF_REQUESTS);
        if self.plan.n_streams > 1 && self.random.below(3) == 0 {
            self.machine.free_pending(held.id).expect("held");
            self.pending.push(held);
        } else {
            self.machine.free(held.id).expect("held");
            self.note(Action::FreeCompleted, held.address, held.bytes, held.stream, OF_REQUESTS);
        }
    }

    fn empty_cache(&mut self) {
        self.machine.device.waiting = self.pending.iter().map(|held| held.id).collect();
        self.machine.empty_cache();
        self.note_device(0, OF_EMPTY);
    }

    /// What the device did, in its order, with the completions where the allocator waited for them.
    fn note_device(&mut self, stream: u32, stack: StackId) {
        for note in std::mem::take(&mut self.machine.device.notes) {
            match note {
                Note::Synchronized => {
                    for held in std::mem::take(&mut self.pending) {
                        self.note(Action::FreeCompleted, held.address, held.bytes, held.stream, stack);
                    }
                }
                Note::Event(action @ (Action::SegmentAlloc | Action::SegmentMap), address, size) => {
                    let pool = self.capture.filter(|(captured, _)| *captured == stream).map_or(0, |(_, pool)| pool);
                    self.streams.insert(address, (stream, pool));
                    self.in_pool(pool);
                    self.note(action, address, size, stream, stack);
                }
                Note::Event(action, address, size) => {
                    let around = self.streams.range(..=address).next_back();
                    let (stream, pool) = around.map_or((0, 0), |(_, around)| *around);
                    self.in_pool(pool);
                    self.note(action, address, size, stream, stack);
                }
            }
        }
    }

    /// The pool of the event that is noted next.
    fn in_pool(&mut self, pool: u32) {
        if pool > 0 {
            self.event_pools.push((self.events.len() as u32, (0, u64::from(pool) + 40)));
        }
    }

    fn note(&mut self, action: Action, address: u64, size: u64, stream: u32, stack: StackId) {
        let stack = if self.plan.has_stacks { stack } else { StackId(0) };
        let time_us = 1_700_000_000_000_000 + self.events.len() as u64 * 7;
        self.events.push(Event { action, stack, stream, address, size, time_us });
    }

    fn finish(mut self) -> Made {
        self.note(Action::Snapshot, 0, 0, 0, StackId(0));
        let blocks = self.machine.blocks();
        let segments = segments(&blocks);
        let settings = settings(self.machine.config(), &self.plan.settings);
        let texts = ["", "train.py", "step", "empty_cache"].map(str::to_owned).to_vec();
        let frame = |name: u32, line| Frame {
            file: vramlab_snapshot::model::TextId(1),
            name: vramlab_snapshot::model::TextId(name),
            line,
        };
        let snapshot = Snapshot {
            segments,
            traces: vec![self.events],
            settings,
            // Handles go down, so that nobody sorts by them unnoticed.
            streams: (0..self.plan.n_streams).map(|idx| if idx == 0 { 0 } else { 900 - u64::from(idx) }).collect(),
            texts,
            frames: vec![frame(2, 7), frame(3, 9)],
            stack_ends: vec![0, 1, 2],
            stack_frames: vec![0, 1],
            event_pools: self.plan.has_pools.then(|| vec![self.event_pools]),
            ..Snapshot::default()
        };
        Made { snapshot, stats: self.machine.stats().clone(), n_allocs: self.n_allocs }
    }
}

fn segments(blocks: &[View]) -> Vec<Segment> {
    let mut out: Vec<Segment> = Vec::new();
    let mut last: Option<&View> = None;
    for view in blocks.iter().filter(|view| view.is_mapped) {
        let goes_on = last.is_some_and(|last| last.next == Some(view.id));
        if !goes_on {
            out.push(Segment {
                device: 0,
                address: view.address,
                size: 0,
                stream: view.stream,
                is_small: view.is_small,
                pool: if view.private_pool == 0 { (0, 0) } else { (0, u64::from(view.private_pool) + 40) },
                is_expandable: view.is_expandable,
                stack: StackId(0),
                blocks: Vec::new(),
            });
        }
        if let Some(segment) = out.last_mut() {
            segment.size += view.size;
            let state = match view.state {
                State::Free => BlockState::Inactive,
                State::Allocated => BlockState::Allocated,
                State::Pending => BlockState::Pending,
            };
            segment.blocks.push(Block {
                address: view.address,
                size: view.size,
                requested: if view.state == State::Free { 0 } else { view.requested },
                state,
                stack: StackId(0),
            });
        }
        last = Some(view);
    }
    out
}

/// As `snapshot()` writes them.
fn settings(config: &Config, raw: &str) -> BTreeMap<String, String> {
    let divisions: Vec<String> =
        config.roundup_divisions.iter().enumerate().map(|(class, n)| format!("{}:{n}", 1_u64 << class)).collect();
    let is = |is: bool| if is { "True" } else { "False" }.to_owned();
    [
        ("PYTORCH_CUDA_ALLOC_CONF", raw.to_owned()),
        ("max_split_size", config.max_split_bytes.map_or("-1".to_owned(), |bytes| bytes.to_string())),
        ("garbage_collection_threshold", config.gc_threshold.unwrap_or(0.0).to_string()),
        ("expandable_segments", is(config.expandable_segments)),
        ("roundup_power2_divisions", format!("[{}]", divisions.join(","))),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}
