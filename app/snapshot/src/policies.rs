//! The recorded requests in front of other allocators than PyTorch's: what TensorFlow's, JAX's, the stream-ordered pool
//! or the driver alone would have taken from the card.
//!
//! Assumption, beyond that of `what_if.rs`: private pools are not kept apart, and a block that another stream still
//! used counts as free when it was freed. PyTorch's own settings are asked more exactly of `what_if.rs`.

use crate::analysis::Analysis;
use crate::fast::FastMap;
use crate::model::{Action, Snapshot};
use crate::replay::is_explicit;
use vramlab_alloc::replay::{Kind, Player};
use vramlab_alloc::trace::{Builder, Event, Trace};

/// What an allocator would have held, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    pub peak_reserved: u64,
    pub final_reserved: u64,
    /// Blocks in use, rounding included.
    pub peak_allocated: u64,
    /// What the program asked for in them.
    pub peak_requested: u64,
    pub n_segments_at_end: u64,
    pub n_ooms: u64,
    /// The first request that was refused, counted from 1 among the requests.
    pub first_oom: Option<usize>,
}

/// Requests and frees of a recording; blocks from before its first event are asked for first, by address. A request that
/// was refused is made again and given back at once: the program went on without it.
pub fn trace_of(snapshot: &Snapshot, analysis: &Analysis) -> Trace {
    let events = analysis.events(snapshot);
    let mut run = Run { builder: Builder::default(), names: FastMap::default(), n_requests: 0 };
    for part in &analysis.replay.before.parts {
        for live in &part.live {
            run.alloc(live.address, live.requested, part.stream);
        }
    }
    for (idx, event) in events.iter().enumerate() {
        match event.action {
            Action::Alloc => run.alloc(event.address, event.size, event.stream),
            Action::FreeRequested => run.free(event.address),
            Action::Oom => run.attempt(event.size, event.stream),
            Action::SegmentFree | Action::SegmentUnmap if is_explicit(events, idx) => {
                // Refused only while a graph is being captured, which this trace never does.
                let _ = run.builder.other(Event::EmptyCache);
            }
            _ => {}
        }
    }
    run.builder.finish()
}

/// Plays a trace through an allocator on a card of `capacity_bytes`.
pub fn hold(trace: &Trace, kind: &Kind, capacity_bytes: u64) -> Held {
    let mut player = Player::new(trace, kind, capacity_bytes);
    let mut held = Held::default();
    let mut n_requests = 0;
    while let Some(step) = player.step() {
        n_requests += usize::from(matches!(step.event, Event::Malloc { .. }));
        if held.first_oom.is_none() && step.refusal.is_some_and(|refusal| refusal.is_oom) {
            held.first_oom = Some(n_requests);
        }
        held.peak_reserved = held.peak_reserved.max(step.after.reserved_bytes);
        held.peak_allocated = held.peak_allocated.max(step.after.allocated_bytes);
        held.peak_requested = held.peak_requested.max(step.after.requested_bytes);
        held.final_reserved = step.after.reserved_bytes;
        held.n_segments_at_end = step.after.n_segments;
        held.n_ooms = step.after.n_ooms;
    }
    held
}

struct Run {
    builder: Builder,
    /// Of the live blocks, by recorded address.
    names: FastMap<u64, u32>,
    n_requests: u32,
}

impl Run {
    fn alloc(&mut self, address: u64, bytes: u64, stream: u32) {
        let name = format!("r{}", self.n_requests);
        if self.builder.malloc(&name, bytes.into(), stream).is_ok() {
            self.names.insert(address, self.n_requests);
            self.n_requests += 1;
        }
    }

    fn attempt(&mut self, bytes: u64, stream: u32) {
        let name = format!("r{}", self.n_requests);
        if self.builder.malloc(&name, bytes.into(), stream).is_ok() {
            self.n_requests += 1;
            // Asked for in the line above.
            let _ = self.builder.free(&name, None);
        }
    }

    fn free(&mut self, address: u64) {
        if let Some(number) = self.names.remove(&address) {
            // What is in the map was asked for and not freed.
            let _ = self.builder.free(&format!("r{number}"), None);
        }
    }
}
