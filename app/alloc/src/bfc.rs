//! BFC, "best fit with coalescing": the allocator of TensorFlow and XLA, rule for rule.
//!
//! A request takes the smallest free chunk that holds it. The chunk is split only if it is at least twice the request, or
//! 128 MiB too large: what is not split off is lost inside. The pool grows by regions that double from 2 MiB, or takes all
//! of its limit at once. Source: openxla/xla, `xla/tsl/framework/bfc_allocator.cc` and `.h` (2026).
//!
//! The source keeps free chunks in 21 bins, searched upwards, each ordered by size and address. Bins are ranges of sizes,
//! so that one set ordered by size and address gives the same chunk; [`bin_of`] names the bin. Single stream: chunks that
//! are held back for a time stamp, and the wait of up to 10 s for frees, are not modelled.

use crate::MIB;
use crate::caching::Device;
use std::collections::BTreeSet;

/// Chunks are multiples of this.
pub const UNIT: u64 = 256;
/// Bin k holds chunks from `256 << k` bytes; the last one all that are larger.
pub const N_BINS: u32 = 21;
const FIRST_REGION: u64 = 2 * MIB;
const PAGE: u64 = 2 * MIB;
const MOST_WASTE: u64 = 128 * MIB;

/// The bin of a size.
pub fn bin_of(bytes: u64) -> u32 {
    (bytes.max(UNIT) / UNIT).ilog2().min(N_BINS - 1)
}

/// What a request takes, before a chunk is chosen.
pub fn round(bytes: u64) -> u64 {
    bytes.next_multiple_of(UNIT)
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// The pool never holds more.
    pub limit_bytes: u64,
    /// Regions that double from 2 MiB; else the first region is the whole limit.
    pub growth: bool,
    /// The pool lies in one reserved range of addresses that is mapped in pages of 2 MiB, this much at the start; later
    /// regions follow it without a gap and complete its free end.
    pub arena_start_bytes: Option<u64>,
    /// A chunk is also split when more than this share of the limit would be lost inside; else when 128 MiB would.
    pub fragmentation_fraction: Option<f64>,
    /// Regions that follow each other in the address space become one.
    pub merges_regions: bool,
    /// Wholly free regions are returned when a request fails (TensorFlow's default on GPUs, off in XLA).
    pub returns_regions: bool,
}

impl Options {
    /// `allow_growth`.
    pub fn growing(limit_bytes: u64) -> Self {
        Self {
            limit_bytes,
            growth: true,
            arena_start_bytes: None,
            fragmentation_fraction: None,
            merges_regions: false,
            returns_regions: false,
        }
    }

    /// The whole limit at the first request.
    pub fn fixed(limit_bytes: u64) -> Self {
        Self { growth: false, ..Self::growing(limit_bytes) }
    }

    /// Spare bytes from which a chunk is split.
    pub fn most_waste(&self) -> u64 {
        self.fragmentation_fraction.map_or(MOST_WASTE, |fraction| (fraction * self.limit_bytes as f64) as u64)
    }

    /// Whether a chunk of `size` is split for a rounded request.
    pub fn splits(&self, size: u64, rounded: u64) -> bool {
        size >= rounded.saturating_mul(2) || size - rounded >= self.most_waste()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("size must be positive")]
    NotPositive,
    #[error("requested {requested_bytes}, in use {in_use_bytes}, pool {pool_bytes}, limit {limit_bytes}")]
    OutOfMemory { requested_bytes: u64, in_use_bytes: u64, pool_bytes: u64, limit_bytes: u64 },
    #[error("free of unknown block at {address:#x}")]
    UnknownBlock { address: u64 },
}

/// How a request was served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Pool,
    /// A new region.
    NewRegion,
    /// A new region, after free ones had been returned.
    AfterReturning,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    pub chunk: ChunkId,
    pub address: u64,
    pub size: u64,
    pub source: Source,
}

/// A chunk's place in the arena. Reused after the chunk has been merged away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChunkId(u32);

#[derive(Clone, Copy, Debug)]
struct Chunk {
    address: u64,
    size: u64,
    requested: u64,
    prev: Option<ChunkId>,
    next: Option<ChunkId>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Free,
    Used,
    /// The arena's slot is vacant.
    Gone,
}

/// A chunk as others may see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    pub address: u64,
    pub size: u64,
    /// What was asked for; 0 for a free chunk.
    pub requested: u64,
    pub is_free: bool,
}

/// The allocator over a device.
#[derive(Clone, Debug)]
pub struct Bfc<D> {
    pub device: D,
    options: Options,
    chunks: Vec<Chunk>,
    vacant: Vec<ChunkId>,
    free: BTreeSet<(u64, u64, ChunkId)>,
    /// Start, length and first chunk, by address.
    regions: Vec<(u64, u64, ChunkId)>,
    next_region_bytes: u64,
    pub pool_bytes: u64,
    /// Sizes of chunks in use.
    pub in_use_bytes: u64,
    pub requested_bytes: u64,
    pub peak_in_use_bytes: u64,
    pub peak_pool_bytes: u64,
}

impl<D: Device> Bfc<D> {
    pub fn new(options: Options, device: D) -> Self {
        let limit = options.limit_bytes;
        let first = match options.arena_start_bytes {
            Some(bytes) => bytes,
            None if options.growth => limit.min(FIRST_REGION),
            None => limit,
        };
        Self {
            device,
            options,
            chunks: Vec::new(),
            vacant: Vec::new(),
            free: BTreeSet::new(),
            regions: Vec::new(),
            next_region_bytes: first.next_multiple_of(if options.arena_start_bytes.is_some() { PAGE } else { UNIT }),
            pool_bytes: 0,
            in_use_bytes: 0,
            requested_bytes: 0,
            peak_in_use_bytes: 0,
            peak_pool_bytes: 0,
        }
    }

    pub fn options(&self) -> &Options {
        &self.options
    }

    pub fn malloc(&mut self, bytes: u64) -> Result<Served, Error> {
        if bytes == 0 {
            return Err(Error::NotPositive);
        }
        let rounded = round(bytes);
        if let Some(served) = self.find(rounded, bytes, Source::Pool) {
            return Ok(served);
        }
        if self.extend(rounded)
            && let Some(served) = self.find(rounded, bytes, Source::NewRegion)
        {
            return Ok(served);
        }
        if self.return_regions(rounded)
            && self.extend(rounded)
            && let Some(served) = self.find(rounded, bytes, Source::AfterReturning)
        {
            return Ok(served);
        }
        Err(Error::OutOfMemory {
            requested_bytes: bytes,
            in_use_bytes: self.in_use_bytes,
            pool_bytes: self.pool_bytes,
            limit_bytes: self.options.limit_bytes,
        })
    }

    fn find(&mut self, rounded: u64, requested: u64, source: Source) -> Option<Served> {
        let key = *self.free.range((rounded, 0, ChunkId(0))..).next()?;
        self.free.remove(&key);
        let (size, address, id) = key;
        if self.options.splits(size, rounded) {
            self.split(id, rounded);
        }
        let chunk = self.at_mut(id);
        chunk.state = State::Used;
        chunk.requested = requested;
        let size = chunk.size;
        self.in_use_bytes += size;
        self.requested_bytes += requested;
        self.peak_in_use_bytes = self.peak_in_use_bytes.max(self.in_use_bytes);
        Some(Served { chunk: id, address, size, source })
    }

    /// The low end keeps the id.
    fn split(&mut self, id: ChunkId, size: u64) {
        let whole = *self.at(id);
        let rest = Chunk { address: whole.address + size, size: whole.size - size, prev: Some(id), ..whole };
        let rest_id = self.add(rest);
        if let Some(next) = whole.next {
            self.at_mut(next).prev = Some(rest_id);
        }
        let low = self.at_mut(id);
        low.size = size;
        low.next = Some(rest_id);
        self.free.insert((rest.size, rest.address, rest_id));
    }

    /// Asks the device for a region, and for less and less if it refuses.
    fn extend(&mut self, rounded: u64) -> bool {
        let (page, available, least) = self.bounds(rounded);
        if least > available {
            return false;
        }
        let mut has_doubled = false;
        while least > self.next_region_bytes {
            self.next_region_bytes *= 2;
            has_doubled = true;
        }
        let mut bytes = self.next_region_bytes.min(available);
        let address = loop {
            if let Some(address) = self.device.segment(bytes) {
                break address;
            }
            // The source multiplies in single precision; it steps down at least one unit.
            bytes = ((bytes as f32 * 0.9_f32) as u64).next_multiple_of(page).min(bytes - page);
            if bytes < least {
                return false;
            }
        };
        if !has_doubled {
            self.next_region_bytes = self.next_region_bytes.saturating_mul(2);
        }
        self.pool_bytes += bytes;
        self.peak_pool_bytes = self.peak_pool_bytes.max(self.pool_bytes);
        self.add_region(address, bytes);
        true
    }

    /// A pool in one reserved range needs only what its free end lacks.
    fn tail_of_arena(&self) -> u64 {
        if self.options.arena_start_bytes.is_none() {
            return 0;
        }
        let last = self.regions.last().map(|(_, _, first)| self.last_chunk(*first));
        last.map(|id| self.at(id)).filter(|chunk| chunk.state == State::Free).map_or(0, |chunk| chunk.size)
    }

    fn last_chunk(&self, first: ChunkId) -> ChunkId {
        let mut id = first;
        while let Some(next) = self.at(id).next {
            id = next;
        }
        id
    }

    fn add_region(&mut self, address: u64, bytes: u64) {
        let chunk = Chunk { address, size: bytes, requested: 0, prev: None, next: None, state: State::Free };
        let id = self.add(chunk);
        let place = self.regions.partition_point(|(start, _, _)| *start < address);
        let before = place.checked_sub(1).filter(|idx| {
            let (start, length, _) = self.regions[*idx];
            let merges = self.options.merges_regions || self.options.arena_start_bytes.is_some();
            merges && start + length == address
        });
        match before {
            Some(idx) => {
                let last = self.last_chunk(self.regions[idx].2);
                self.at_mut(last).next = Some(id);
                self.at_mut(id).prev = Some(last);
                self.regions[idx].1 += bytes;
            }
            None => self.regions.insert(place, (address, bytes, id)),
        }
        self.coalesce(id);
    }

    /// Frees a chunk; both neighbours are taken in if they are free.
    pub fn free(&mut self, id: ChunkId) -> Result<(), Error> {
        let Some(chunk) = self.chunks.get(id.0 as usize).copied().filter(|chunk| chunk.state == State::Used) else {
            let address = self.chunks.get(id.0 as usize).map_or(0, |chunk| chunk.address);
            return Err(Error::UnknownBlock { address });
        };
        self.in_use_bytes -= chunk.size;
        self.requested_bytes -= chunk.requested;
        self.coalesce(id);
        Ok(())
    }

    /// Merges `id` with its free neighbours and puts the result into the set. The lower one of two keeps its id.
    fn coalesce(&mut self, id: ChunkId) {
        let chunk = self.at_mut(id);
        chunk.state = State::Free;
        chunk.requested = 0;
        let mut id = id;
        for (low, high) in [(Some(id), self.at(id).next), (self.at(id).prev, Some(id))] {
            let (Some(low), Some(high)) = (low, high) else { continue };
            let other = if low == id { high } else { low };
            if self.at(other).state == State::Free {
                let Chunk { size, address, .. } = *self.at(other);
                self.free.remove(&(size, address, other));
                self.join(low, high);
                id = low;
            }
        }
        let Chunk { size, address, .. } = *self.at(id);
        self.free.insert((size, address, id));
    }

    fn join(&mut self, low: ChunkId, high: ChunkId) {
        let Chunk { size, next, .. } = *self.at(high);
        if let Some(next) = next {
            self.at_mut(next).prev = Some(low);
        }
        let low = self.at_mut(low);
        low.size += size;
        low.next = next;
        self.at_mut(high).state = State::Gone;
        self.vacant.push(high);
    }

    /// Returns the regions that are wholly free, if that could help.
    fn return_regions(&mut self, rounded: u64) -> bool {
        if !self.options.returns_regions {
            return false;
        }
        let is_free = |this: &Self, first: ChunkId| {
            let chunk = this.at(first);
            chunk.state == State::Free && chunk.next.is_none()
        };
        let (gone, kept): (Vec<_>, Vec<_>) = self.regions.iter().copied().partition(|region| is_free(self, region.2));
        let freed: u64 = gone.iter().map(|region| region.1).sum();
        if freed == 0 || rounded > self.options.limit_bytes - self.pool_bytes + freed {
            return false;
        }
        for (address, bytes, id) in gone {
            self.free.remove(&(bytes, address, id));
            self.at_mut(id).state = State::Gone;
            self.vacant.push(id);
            self.device.release(address, bytes);
            self.pool_bytes -= bytes;
        }
        self.regions = kept;
        true
    }

    fn add(&mut self, chunk: Chunk) -> ChunkId {
        if let Some(id) = self.vacant.pop() {
            *self.at_mut(id) = chunk;
            return id;
        }
        self.chunks.push(chunk);
        ChunkId(self.chunks.len() as u32 - 1)
    }

    #[inline]
    fn at(&self, id: ChunkId) -> &Chunk {
        &self.chunks[id.0 as usize]
    }

    #[inline]
    fn at_mut(&mut self, id: ChunkId) -> &mut Chunk {
        &mut self.chunks[id.0 as usize]
    }

    /// What the device would be asked for first, for a rounded request that finds no chunk; 0 if the limit forbids it.
    pub fn next_region_bytes(&self, rounded: u64) -> u64 {
        let (page, available, least) = self.bounds(rounded);
        if least > available {
            return 0;
        }
        let mut bytes = self.next_region_bytes.max(page);
        while least > bytes {
            bytes *= 2;
        }
        bytes.min(available)
    }

    /// The page of the pool, what it may still grow by, and what a request needs at least.
    fn bounds(&self, rounded: u64) -> (u64, u64, u64) {
        let page = if self.options.arena_start_bytes.is_some() { PAGE } else { UNIT };
        let available = (self.options.limit_bytes - self.pool_bytes) / page * page;
        let least = (rounded - self.tail_of_arena().min(rounded - UNIT)).next_multiple_of(page);
        (page, available, least)
    }

    pub fn largest_free(&self) -> u64 {
        self.free.last().map_or(0, |key| key.0)
    }

    /// Start and length of every region, by address.
    pub fn regions(&self) -> impl Iterator<Item = (u64, u64)> {
        self.regions.iter().map(|(start, bytes, _)| (*start, *bytes))
    }

    /// Every chunk, by address.
    pub fn views(&self) -> Vec<View> {
        let alive = self.chunks.iter().filter(|chunk| chunk.state != State::Gone);
        let mut out: Vec<View> = alive
            .map(|chunk| View {
                address: chunk.address,
                size: chunk.size,
                requested: chunk.requested,
                is_free: chunk.state == State::Free,
            })
            .collect();
        out.sort_by_key(|view| view.address);
        out
    }

    /// Free chunks in each bin: how many, and their bytes.
    pub fn bins(&self) -> [(u64, u64); N_BINS as usize] {
        let mut out = [(0, 0); N_BINS as usize];
        for (size, _, _) in &self.free {
            let bin = &mut out[bin_of(*size) as usize];
            *bin = (bin.0 + 1, bin.1 + size);
        }
        out
    }
}

#[cfg(test)]
mod tests;
