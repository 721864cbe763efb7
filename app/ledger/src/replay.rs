//! The tape through PyTorch's caching allocator: what `memory_allocated`, its maximum and `memory_reserved` would say.

use crate::tape::{Event, Mark, Tape};
use vramlab_alloc::MIB;
use vramlab_alloc::caching::{BlockId, Caching, Class, Config, Device, Metric};

/// Where the driver puts a new segment. It decides between equal blocks, nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// As on an H200 with driver 580: at the lowest free address of what the process has reserved, first in the room that the
    /// context left; without room, in new pieces of 32 MiB, each below the last.
    Fresh,
    /// The same, the room of the context being used up.
    Used,
    /// Below all earlier ones.
    Below,
}

/// What the process holds before the model: library workspaces, in segments of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// cuBLASLt: 1 MiB for each thread that multiplies, in a small segment each.
    pub n_small: u32,
    /// cuBLAS: 32 MiB for each on Hopper.
    pub n_large: u32,
    pub place: Place,
}

impl Default for Start {
    fn default() -> Self {
        Self { n_small: 2, n_large: 2, place: Place::Fresh }
    }
}

/// The figures of one step, in bytes; the base is in `reserved` only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    pub after_forward: u64,
    pub peak_forward: u64,
    pub after_backward: u64,
    pub peak_backward: u64,
    pub after_step: u64,
    pub peak_step: u64,
    pub reserved: u64,
}

/// A card without end, and the driver's way with addresses.
struct Endless {
    place: Place,
    /// Free ranges of reserved address space, by address.
    free: Vec<(u64, u64)>,
    lowest: u64,
}

/// Address space is reserved in pieces of this.
const PIECE: u64 = 32 * MIB;
/// What the context leaves free above, in MiB, as recorded.
const ROOM: [(u64, u64); 3] = [(26, 6), (170, 374), (620, 20)];

impl Endless {
    fn new(place: Place) -> Self {
        let lowest = 1 << 60;
        let room = if place == Place::Fresh { &ROOM[..] } else { &[] };
        let free = room.iter().map(|(at, size)| (lowest + at * MIB, size * MIB)).collect();
        Self { place, free, lowest }
    }
}

impl Device for Endless {
    fn segment(&mut self, bytes: u64) -> Option<u64> {
        let size = bytes.next_multiple_of(2 * MIB);
        if self.place == Place::Below {
            self.lowest -= size;
            return Some(self.lowest);
        }
        if let Some(idx) = self.free.iter().position(|range| range.1 >= size) {
            let (address, room) = self.free[idx];
            if room == size {
                self.free.remove(idx);
            } else {
                self.free[idx] = (address + size, room - size);
            }
            return Some(address);
        }
        let piece = size.next_multiple_of(PIECE);
        self.lowest -= piece;
        if piece > size {
            self.free.insert(0, (self.lowest + size, piece - size));
        }
        Some(self.lowest)
    }

    fn release(&mut self, _address: u64, _bytes: u64) {}

    fn range(&mut self, _bytes: u64) -> Option<u64> {
        None
    }

    fn map(&mut self, _address: u64, _bytes: u64) -> bool {
        false
    }

    fn unmap(&mut self, _address: u64, _bytes: u64) {}

    fn total_bytes(&self) -> u64 {
        1 << 62
    }
}

/// `after_model` and the figures of each step. `seen` gets, after every event, the bytes allocated and reserved.
pub fn figures(tape: &Tape, start: Start, mut seen: impl FnMut(usize, u64, u64)) -> (u64, Vec<Figures>) {
    let mut allocator = Caching::new(Config::default(), Endless::new(start.place));
    let serve =
        |allocator: &mut Caching<Endless>, bytes| allocator.malloc(bytes, 0).ok().flatten().map(|served| served.id);
    for _ in 0..start.n_small {
        serve(&mut allocator, MIB);
    }
    // The other half of each small segment is free.
    let others: Vec<_> = (0..start.n_small).filter_map(|_| serve(&mut allocator, MIB)).collect();
    for _ in 0..start.n_large {
        serve(&mut allocator, 32 * MIB);
    }
    for id in others {
        let _freed = allocator.free(id);
    }
    let base = allocated(&allocator);
    let mut blocks: Vec<Option<BlockId>> = vec![None; tape.items.len()];
    let mut after_model = 0;
    let mut steps = Vec::new();
    let mut now = Figures::default();
    for (idx, event) in tape.events.iter().enumerate() {
        match event {
            Event::Request(item) => {
                blocks[*item as usize] = serve(&mut allocator, tape.items[*item as usize].bytes);
            }
            Event::Free(item) => {
                if let Some(id) = blocks[*item as usize].take() {
                    let _freed = allocator.free(id);
                }
            }
            Event::Mark(mark) => {
                let held = allocated(&allocator) - base;
                let peak = peak(&allocator) - base;
                match mark {
                    Mark::AfterModel => after_model = held,
                    Mark::StepStart => allocator.reset_peaks(),
                    Mark::AfterForward => (now.after_forward, now.peak_forward) = (held, peak),
                    Mark::AfterBackward => (now.after_backward, now.peak_backward) = (held, peak),
                    Mark::AfterStep => (now.after_step, now.peak_step) = (held, peak),
                    Mark::StepEnd => {
                        now.reserved = reserved(&allocator);
                        steps.push(std::mem::take(&mut now));
                    }
                    Mark::EmptyCache => allocator.empty_cache(),
                }
            }
        }
        seen(idx, allocated(&allocator) - base, reserved(&allocator));
    }
    (after_model, steps)
}

fn allocated(allocator: &Caching<Endless>) -> u64 {
    allocator.stats().get(Metric::AllocatedBytes, Class::All).current
}

fn peak(allocator: &Caching<Endless>) -> u64 {
    allocator.stats().get(Metric::AllocatedBytes, Class::All).peak
}

fn reserved(allocator: &Caching<Endless>) -> u64 {
    allocator.stats().get(Metric::ReservedBytes, Class::All).current
}

/// The figures without an allocator: every request rounded to 512 bytes, nothing left unsplit. `reserved` is 0.
pub fn rounded(tape: &Tape) -> Vec<Figures> {
    let size = |item: u32| tape.items[item as usize].bytes.next_multiple_of(512);
    let (mut held, mut peak) = (0, 0);
    let mut steps = Vec::new();
    let mut now = Figures::default();
    for event in &tape.events {
        match event {
            Event::Request(item) => held += size(*item),
            Event::Free(item) => held -= size(*item),
            Event::Mark(Mark::AfterModel | Mark::EmptyCache) => {}
            Event::Mark(Mark::StepStart) => peak = held,
            Event::Mark(Mark::AfterForward) => (now.after_forward, now.peak_forward) = (held, peak),
            Event::Mark(Mark::AfterBackward) => (now.after_backward, now.peak_backward) = (held, peak),
            Event::Mark(Mark::AfterStep) => (now.after_step, now.peak_step) = (held, peak),
            Event::Mark(Mark::StepEnd) => steps.push(std::mem::take(&mut now)),
        }
        peak = peak.max(held);
    }
    steps
}
