//! Every block's life: when it came, when it went, how large it was, who asked for it. Running totals come of it.

use crate::fast::FastMap;
use crate::model::{Action, Event, Snapshot, StackId};
use crate::replay::Replay;
use crate::timeline::{Series, Timeline};

/// A block from its alloc to its end. Events are counted from 0; `at` is how many events are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    pub address: u64,
    /// What it occupied: rounding and a rest too small to split included.
    pub size: u64,
    pub requested: u64,
    /// Who asked; the empty stack where that was not recorded.
    pub stack: StackId,
    /// Index into [`Snapshot::streams`].
    pub stream: u32,
    /// The event that asked for it; nothing if it stood before the first event.
    pub from: Option<u32>,
    /// The event that freed it.
    pub freed: Option<u32>,
    /// The event after which no stream used it any more.
    pub gone: Option<u32>,
    /// Freed before the first event, and waiting for another stream.
    pub was_pending: bool,
}

impl Life {
    fn has_begun(&self, at: usize) -> bool {
        self.from.is_none_or(|from| (from as usize) < at)
    }

    /// In use after `at` events.
    pub fn is_allocated(&self, at: usize) -> bool {
        self.has_begun(at) && !self.was_pending && self.freed.is_none_or(|freed| freed as usize >= at)
    }

    /// In use, or freed while another stream may still use it, after `at` events.
    pub fn is_active(&self, at: usize) -> bool {
        self.has_begun(at) && self.gone.is_none_or(|gone| gone as usize >= at)
    }
}

/// What a walk through the events makes.
#[derive(Clone, Debug, Default)]
pub struct Lives {
    pub all: Vec<Life>,
    pub timeline: Timeline,
    /// Life of each alloc, by event; other events have none.
    pub of_event: Vec<Option<u32>>,
    /// Frees of addresses at which no block is known: the recording begins later, or they were freed twice.
    pub n_unknown_frees: u64,
    /// Allocs at an address that was still in use: the free between them is missing.
    pub n_overwritten: u64,
}

/// Lives and totals of one device. `replay` knows how large each block was.
pub fn lives(snapshot: &Snapshot, device: usize, replay: &Replay) -> Lives {
    let events = snapshot.traces.get(device).map_or(&[][..], Vec::as_slice);
    let mut walk = Walk::default();
    walk.begin(snapshot, device, replay);
    let mut sizes = replay.sizes.iter();
    for (idx, event) in events.iter().enumerate() {
        walk.event(event, idx as u32, &mut sizes);
        walk.note();
    }
    walk.finish()
}

/// No block is larger, 1 PiB: a damaged file is held to it, so that sums stay sums.
const MOST_BYTES: u64 = 1 << 50;

#[derive(Default)]
struct Walk {
    out: Lives,
    open: FastMap<u64, u32>,
    now: Totals,
    noted: [Vec<u64>; 4],
}

#[derive(Clone, Copy, Default)]
struct Totals {
    allocated: u64,
    active: u64,
    reserved: u64,
    requested: u64,
}

impl Totals {
    fn begin(&mut self, life: &Life) {
        self.active = self.active.saturating_add(life.size);
        self.requested = self.requested.saturating_add(life.requested);
        if !life.was_pending {
            self.allocated = self.allocated.saturating_add(life.size);
        }
    }
}

impl Walk {
    fn begin(&mut self, snapshot: &Snapshot, device: usize, replay: &Replay) {
        // A block that is still there at the end has its stack there.
        let segments = snapshot.segments.iter().filter(|segment| segment.device as usize == device);
        let stacks: FastMap<u64, StackId> =
            segments.flat_map(|segment| segment.blocks.iter().map(|block| (block.address, block.stack))).collect();
        for part in &replay.before.parts {
            self.now.reserved = self.now.reserved.saturating_add(part.size);
            for live in &part.live {
                let life = Life {
                    address: live.address,
                    size: live.size.min(MOST_BYTES),
                    requested: live.requested.min(MOST_BYTES),
                    stack: StackId(0),
                    stream: part.stream,
                    from: None,
                    freed: None,
                    gone: None,
                    was_pending: live.is_pending,
                };
                self.open.insert(live.address, self.out.all.len() as u32);
                self.out.all.push(life);
                self.now.begin(&life);
            }
        }
        self.stacks_of_the_end(snapshot, device, &stacks);
        self.note();
    }

    /// Only a block that no event touches keeps the stack that the end knows.
    fn stacks_of_the_end(&mut self, snapshot: &Snapshot, device: usize, stacks: &FastMap<u64, StackId>) {
        let mut untouched: FastMap<u64, u32> = self.open.clone();
        for event in snapshot.traces.get(device).into_iter().flatten() {
            if matches!(event.action, Action::Alloc | Action::FreeRequested | Action::FreeCompleted) {
                untouched.remove(&event.address);
            }
        }
        for (idx, life) in self.out.all.iter_mut().enumerate() {
            if untouched.get(&life.address) == Some(&(idx as u32)) {
                life.stack = stacks.get(&life.address).copied().unwrap_or_default();
            }
        }
    }

    fn event<'a>(&mut self, event: &Event, idx: u32, sizes: &mut impl Iterator<Item = &'a u64>) {
        self.out.of_event.push(None);
        match event.action {
            Action::Alloc => {
                let size = sizes.next().copied().filter(|size| *size > 0);
                self.alloc(event, idx, size.unwrap_or_else(|| event.size.min(MOST_BYTES).next_multiple_of(512)));
            }
            Action::FreeRequested => match self.open.get(&event.address) {
                Some(life) => {
                    let life = &mut self.out.all[*life as usize];
                    if life.freed.is_none() && !life.was_pending {
                        life.freed = Some(idx);
                        self.now.allocated = self.now.allocated.saturating_sub(life.size);
                    } else {
                        self.out.n_unknown_frees += 1;
                    }
                }
                None => self.out.n_unknown_frees += 1,
            },
            Action::FreeCompleted => match self.open.remove(&event.address) {
                Some(life) => self.end(life, idx),
                None => self.out.n_unknown_frees += 1,
            },
            Action::SegmentAlloc | Action::SegmentMap => {
                self.now.reserved = self.now.reserved.saturating_add(event.size);
            }
            Action::SegmentFree | Action::SegmentUnmap => {
                self.now.reserved = self.now.reserved.saturating_sub(event.size);
            }
            _ => {}
        }
    }

    fn alloc(&mut self, event: &Event, idx: u32, size: u64) {
        let id = self.out.all.len() as u32;
        if let Some(before) = self.open.insert(event.address, id) {
            self.out.n_overwritten += 1;
            self.end(before, idx);
        }
        let life = Life {
            address: event.address,
            size: size.min(MOST_BYTES),
            requested: event.size.min(MOST_BYTES),
            stack: event.stack,
            stream: event.stream,
            from: Some(idx),
            freed: None,
            gone: None,
            was_pending: false,
        };
        self.out.all.push(life);
        self.now.begin(&life);
        if let Some(last) = self.out.of_event.last_mut() {
            *last = Some(id);
        }
    }

    fn end(&mut self, life: u32, idx: u32) {
        let life = &mut self.out.all[life as usize];
        life.gone = Some(idx);
        if life.freed.is_none() && !life.was_pending {
            // The request to free it is missing.
            life.freed = Some(idx);
            self.now.allocated = self.now.allocated.saturating_sub(life.size);
        }
        self.now.active = self.now.active.saturating_sub(life.size);
        self.now.requested = self.now.requested.saturating_sub(life.requested);
    }

    fn note(&mut self) {
        let Totals { allocated, active, reserved, requested } = self.now;
        for (values, value) in self.noted.iter_mut().zip([allocated, active, reserved, requested]) {
            values.push(value);
        }
    }

    fn finish(mut self) -> Lives {
        let [allocated, active, reserved, requested] = self.noted.map(Series::new);
        self.out.timeline = Timeline { allocated, active, reserved, requested };
        self.out
    }
}
