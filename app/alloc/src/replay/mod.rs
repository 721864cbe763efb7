//! One trace through any allocator: after each event the block, the counters, and on request why it was this block.
//!
//! [`Kind`] names an allocator with its settings; [`Player`] plays a trace through it step by step; [`run`] plays all of
//! it. `engines.rs` gives the allocators one face, `why.rs` explains a choice as data: the candidates, and for each what
//! spoke against it; `frame.rs` is one moment, ready for drawing.

mod engines;
pub mod frame;
#[cfg(test)]
mod tests;
mod why;

pub use why::{Against, Candidate, Explanation, Source};

use crate::bfc;
use crate::caching::Config;
use crate::jax::Policy;
use crate::trace::{Event, Trace};
use engines::Engine;

/// An allocator and its settings.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// PyTorch's, native or with expandable segments, as the settings say.
    Caching(Config),
    Bfc(bfc::Options),
    Jax(Policy),
    StreamPool {
        release_threshold_bytes: u64,
    },
    /// `cudaMalloc` each time.
    Plain,
}

/// What a part of the address space is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Used,
    /// Freed, while another stream may still use it.
    Pending,
    Free,
    /// Address space without memory.
    Unmapped,
}

/// A block, a hole or a stretch without memory, for drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub address: u64,
    pub size: u64,
    /// What was asked for; 0 if it is not used.
    pub requested: u64,
    pub part: Part,
    /// Its segment, region or range: pieces of one lie side by side, by address.
    pub segment: u32,
}

/// What an allocator holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Bytes of blocks in use, rounding included; for the stream-ordered pool what was asked for, as its counter has it.
    pub allocated_bytes: u64,
    /// As allocated, with blocks that another stream may still use.
    pub active_bytes: u64,
    /// Bytes that were asked for.
    pub requested_bytes: u64,
    /// Bytes taken from the card.
    pub reserved_bytes: u64,
    /// PyTorch's counter: free parts of segments that are also in use. 0 for the others.
    pub inactive_split_bytes: u64,
    pub n_segments: u64,
    /// Flushes of the cache for lack of memory.
    pub n_retries: u64,
    pub n_ooms: u64,
    pub largest_free_bytes: u64,
    pub total_free_bytes: u64,
}

impl Counters {
    /// The share of the free bytes that the largest hole is not; 0 when nothing is free.
    pub fn fragmentation(&self) -> f64 {
        if self.total_free_bytes == 0 {
            return 0.0;
        }
        1.0 - self.largest_free_bytes as f64 / self.total_free_bytes as f64
    }

    /// Allocated over reserved; nothing when nothing is reserved.
    pub fn utilisation(&self) -> Option<f64> {
        (self.reserved_bytes > 0).then(|| self.allocated_bytes as f64 / self.reserved_bytes as f64)
    }

    /// Lost to rounding inside blocks.
    pub fn rounding_loss_bytes(&self) -> u64 {
        self.active_bytes.saturating_sub(self.requested_bytes)
    }

    /// Taken from the card and not in use.
    pub fn cached_bytes(&self) -> u64 {
        self.reserved_bytes.saturating_sub(self.allocated_bytes)
    }
}

/// Where a request was placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub address: u64,
    pub size: u64,
    pub source: Source,
}

/// A request that was refused, in the allocator's own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub message: String,
    /// For lack of memory; else the request itself was not legal.
    pub is_oom: bool,
}

/// One event and what it left behind.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub event_idx: usize,
    pub event: Event,
    /// The block of a request that was served; nothing for zero bytes.
    pub block: Option<Block>,
    pub refusal: Option<Refusal>,
    pub after: Counters,
}

/// A trace on its way through an allocator.
#[derive(Clone, Debug)]
pub struct Player<'a> {
    trace: &'a Trace,
    engine: Engine,
    next: usize,
}

impl<'a> Player<'a> {
    /// `capacity_bytes`: all memory of the card.
    pub fn new(trace: &'a Trace, kind: &Kind, capacity_bytes: u64) -> Self {
        Self { trace, engine: Engine::new(kind, capacity_bytes, trace.n_requests()), next: 0 }
    }

    /// Plays the next event; nothing at the end. A free of a request that was refused does nothing.
    pub fn step(&mut self) -> Option<Step> {
        let event = *self.trace.events().get(self.next)?;
        let (block, refusal) = match self.engine.play(event) {
            Ok(block) => (block, None),
            Err(refusal) => (None, Some(refusal)),
        };
        let step = Step { event_idx: self.next, event, block, refusal, after: self.engine.counters() };
        self.next += 1;
        Some(step)
    }

    /// Plays to the end without looking at what lies between. Answers with the number of events played.
    pub fn play_all(&mut self) -> usize {
        let rest = &self.trace.events()[self.next..];
        for event in rest {
            // What is refused stays refused; the counters say how often.
            let _ = self.engine.play(*event);
        }
        self.next += rest.len();
        rest.len()
    }

    /// Why the next event, if it is a request, will get the block that it will get.
    pub fn explain_next(&self) -> Option<Explanation> {
        match self.trace.events().get(self.next)? {
            Event::Malloc { bytes, stream, .. } => self.engine.explain(*bytes, *stream),
            _ => None,
        }
    }

    pub fn counters(&self) -> Counters {
        self.engine.counters()
    }

    /// The address space as it is now, by address.
    pub fn pieces(&self) -> Vec<Piece> {
        self.engine.pieces()
    }

    /// Free chunks of each bin, how many and their bytes; nothing for allocators without bins.
    pub fn bins(&self) -> Option<Vec<(u64, u64)>> {
        self.engine.bins()
    }
}

/// Every step of a trace.
pub fn run(trace: &Trace, kind: &Kind, capacity_bytes: u64) -> Vec<Step> {
    let mut player = Player::new(trace, kind, capacity_bytes);
    std::iter::from_fn(|| player.step()).collect()
}
