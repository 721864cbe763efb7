//! PyTorch's caching allocator, block for block (`c10/cuda/CUDACachingAllocator.cpp`, torch 2.11).
//!
//! `config.rs` holds the settings and their rounding, `blocks.rs` the linked blocks and the ordered sets of free ones,
//! `stats.rs` the counters under PyTorch's own names. `engine.rs` serves requests, `give_back.rs` frees, merges and
//! returns memory to the device, `expandable.rs` maps pages of expandable segments, `restore.rs` takes over an
//! allocator in the middle of its life.

mod blocks;
mod config;
mod engine;
mod expandable;
mod give_back;
mod restore;
mod stats;
#[cfg(test)]
mod tests;

pub use blocks::{BlockId, State, View};
pub use config::{Config, ConfigError, MIN_BLOCK};
pub use engine::{Caching, Error, Served, Why};
pub use restore::{Live, Part};
pub use stats::{Class, Counter, Metric, Stats};

/// Where memory comes from.
pub trait Device {
    /// `cudaMalloc` of a segment: its address, or nothing if the device refuses.
    fn segment(&mut self, bytes: u64) -> Option<u64>;
    /// `cudaFree` of a whole segment.
    fn release(&mut self, address: u64, bytes: u64);
    /// Address space for an expandable segment; no memory yet.
    fn range(&mut self, bytes: u64) -> Option<u64>;
    /// Puts memory behind a piece of a range.
    fn map(&mut self, address: u64, bytes: u64) -> bool;
    fn unmap(&mut self, address: u64, bytes: u64);
    /// All memory of the device: the size of a range and the fraction are taken from it.
    fn total_bytes(&self) -> u64;
    /// The allocator waits for every pending block, before the whole cache goes back. Answers with those whose order is
    /// known.
    fn synchronized(&mut self) -> Vec<BlockId> {
        Vec::new()
    }
    /// What a recording says was returned before this request was served. `None`: this is no recording, and the garbage
    /// collection decides by its threshold.
    fn recorded_returns(&self) -> Option<Returns> {
        None
    }
}

/// Segments that went back, by address, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Returns {
    pub segments: Vec<u64>,
    /// Most that was ever reserved: the limit of the process is not below.
    pub most_reserved: u64,
}

/// A card of a given size whose addresses go up.
#[derive(Clone, Debug)]
pub struct Card {
    /// What may be reserved at most.
    pub capacity_bytes: u64,
    pub used_bytes: u64,
    next: u64,
}

impl Card {
    pub fn new(capacity_bytes: u64) -> Self {
        // Far from zero, so that an address is never taken for a size.
        Self { capacity_bytes, used_bytes: 0, next: 0x7000_0000_0000 }
    }

    fn take(&mut self, bytes: u64) -> Option<u64> {
        let used = self.used_bytes.checked_add(bytes).filter(|used| *used <= self.capacity_bytes)?;
        self.used_bytes = used;
        Some(self.place(bytes))
    }

    fn place(&mut self, bytes: u64) -> u64 {
        let address = self.next;
        // The driver spaces segments by its 2 MiB pages.
        self.next += bytes.next_multiple_of(2 * crate::MIB);
        address
    }
}

impl Device for Card {
    fn segment(&mut self, bytes: u64) -> Option<u64> {
        self.take(bytes)
    }

    fn release(&mut self, _address: u64, bytes: u64) {
        self.used_bytes -= bytes;
    }

    fn range(&mut self, bytes: u64) -> Option<u64> {
        Some(self.place(bytes))
    }

    fn map(&mut self, _address: u64, bytes: u64) -> bool {
        let used = self.used_bytes + bytes;
        let fits = used <= self.capacity_bytes;
        if fits {
            self.used_bytes = used;
        }
        fits
    }

    fn unmap(&mut self, _address: u64, bytes: u64) {
        self.used_bytes -= bytes;
    }

    fn total_bytes(&self) -> u64 {
        self.capacity_bytes
    }
}
