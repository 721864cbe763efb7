//! Serving a request: rounding, the search, the chain of ways to get memory, the split.

use super::Device;
use super::blocks::{Arena, Block, BlockId, Pool, State, View};
use super::config::{Config, MIN_BLOCK, SMALL};
use super::stats::{Metric, Stats};

/// Larger requests cannot be.
const MOST_BYTES: u64 = 1 << 60;

/// Why a request was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("bytes = {bytes} is not allowed; it must be less than 2^60")]
    TooLarge { bytes: u64 },
    /// After everything that could be returned to the device was returned.
    #[error(
        "out of memory: tried to reserve {segment_bytes} bytes; reserved {reserved_bytes}, allocated {allocated_bytes}, \
         largest free block {largest_free_bytes}"
    )]
    OutOfMemory { segment_bytes: u64, reserved_bytes: u64, allocated_bytes: u64, largest_free_bytes: u64 },
    #[error("free of a block that is not allocated")]
    NotAllocated,
    #[error("the pending block {0} is not pending")]
    NotPending(u32),
}

/// How a request was served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The smallest free block that holds it.
    Cached,
    /// A new segment, or newly mapped pages.
    Device,
    /// As `Device`, after old blocks were returned.
    AfterReturning,
    /// As `Device`, after the whole cache was returned.
    AfterFlush,
}

/// What a request got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    pub id: BlockId,
    pub address: u64,
    /// What the block occupies: the rounded request, and a rest that was too small to split off.
    pub size: u64,
    pub why: Why,
}

/// PyTorch's caching allocator over a device.
#[derive(Clone, Debug)]
pub struct Caching<D> {
    pub device: D,
    pub(super) config: Config,
    pub(super) arena: Arena,
    /// The small and the large pool, then those of CUDA graphs in pairs.
    pub(super) pools: Vec<Pool>,
    /// Private pools whose graph is gone: their memory may be returned.
    pub(super) is_released: Vec<bool>,
    /// Streams that are being captured, with their private pool.
    pub(super) captures: Vec<(u32, u32)>,
    /// Pending blocks whose work is done; the next request takes them back.
    pub(super) done: Vec<BlockId>,
    pub(super) ranges: Vec<super::expandable::Range>,
    pub(super) stats: Stats,
}

impl<D: Device> Caching<D> {
    pub fn new(config: Config, device: D) -> Self {
        let pool = |is_small| Pool { is_small, ..Pool::default() };
        Self {
            device,
            config,
            arena: Arena::default(),
            pools: vec![pool(true), pool(false)],
            is_released: vec![false],
            captures: Vec::new(),
            done: Vec::new(),
            ranges: Vec::new(),
            stats: Stats::default(),
        }
    }

    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// `reset_peak_memory_stats`.
    pub fn reset_peaks(&mut self) {
        self.stats.reset_peaks();
    }

    /// Serves a request on a stream. Zero bytes are a null pointer and change nothing: `None`.
    pub fn malloc(&mut self, bytes: u64, stream: u32) -> Result<Option<Served>, Error> {
        let private = self.captures.iter().find(|(captured, _)| *captured == stream).map_or(0, |(_, pool)| *pool);
        self.malloc_in(private, bytes, stream)
    }

    /// As [`Self::malloc`], from a private pool whatever is being captured; 0 is the default pool.
    pub fn malloc_in(&mut self, private_pool: u32, bytes: u64, stream: u32) -> Result<Option<Served>, Error> {
        if bytes == 0 {
            return Ok(None);
        }
        if bytes >= MOST_BYTES {
            return Err(Error::TooLarge { bytes });
        }
        if self.captures.is_empty() {
            self.complete_done();
        }
        let size = self.config.round(bytes);
        self.private(private_pool);
        let pool = private_pool as usize * 2 + usize::from(size > SMALL);
        let (id, why) = match self.take_free(pool, stream, size) {
            Some(id) => (id, Why::Cached),
            None => self.fetch(pool, stream, size)?,
        };
        self.hand_out(id, size, bytes);
        let block = self.arena.at(id);
        Ok(Some(Served { id, address: block.address, size: block.size, why }))
    }

    /// Best fit: the smallest block of the stream that is large enough, at the lowest address. An oversize block is not
    /// given to a small request, and a large one not with more than the allowed rounding; then no other is looked at.
    pub(super) fn take_free(&mut self, pool: usize, stream: u32, size: u64) -> Option<BlockId> {
        self.pools[pool].n_lookups += 1;
        let id = self.best_fit(pool, stream, size)?;
        let block = self.arena.at(id);
        if let Some(max_split) = self.config.max_split_bytes {
            let is_oversize = size < max_split && block.size >= max_split;
            let is_loose = size >= max_split && block.size >= size + self.config.max_non_split_rounding_bytes;
            if is_oversize || is_loose {
                return None;
            }
        }
        self.pools[pool].remove(id, block);
        Some(id)
    }

    fn best_fit(&self, pool: usize, stream: u32, size: u64) -> Option<BlockId> {
        let mut fitting =
            self.pools[pool].free.range((stream, size, 0, BlockId(0))..).take_while(|key| key.0 == stream);
        let mut best = fitting.next()?.3;
        if self.config.expandable_segments {
            // A hole beats a smaller tail that could grow: its room is what counts.
            for next in fitting {
                if self.room(next.3) >= self.room(best) {
                    break;
                }
                best = next.3;
            }
        }
        Some(best)
    }

    /// What a block could grow to: its size and the unmapped piece after it.
    fn room(&self, id: BlockId) -> u64 {
        let block = self.arena.at(id);
        let after = block.next.map(|next| self.arena.at(next)).filter(|next| !next.is_mapped);
        block.size + after.map_or(0, |next| next.size)
    }

    /// Nothing in the cache fits: the device is asked, then asked again with less and less in the cache.
    fn fetch(&mut self, pool: usize, stream: u32, size: u64) -> Result<(BlockId, Why), Error> {
        self.collect_garbage();
        let segment_bytes = self.config.segment_bytes(size);
        if let Some(id) = self.ask_device(pool, stream, size, segment_bytes) {
            return Ok((id, Why::Device));
        }
        if self.return_oversize(pool, stream, size)
            && let Some(id) = self.ask_device(pool, stream, size, segment_bytes)
        {
            return Ok((id, Why::AfterReturning));
        }
        if self.captures.is_empty() {
            self.empty_cache();
            self.stats.n_retries += 1;
            if let Some(id) = self.ask_device(pool, stream, size, segment_bytes) {
                return Ok((id, Why::AfterFlush));
            }
        }
        self.stats.n_ooms += 1;
        let now = |metric| self.stats.get(metric, super::Class::All).current;
        Err(Error::OutOfMemory {
            segment_bytes,
            reserved_bytes: now(Metric::ReservedBytes),
            allocated_bytes: now(Metric::AllocatedBytes),
            largest_free_bytes: self.largest_free(),
        })
    }

    fn ask_device(&mut self, pool: usize, stream: u32, size: u64, segment_bytes: u64) -> Option<BlockId> {
        if let Some(fraction) = self.config.fraction {
            let limit = (fraction * self.device.total_bytes() as f64) as u64;
            let reserved = self.stats.get(Metric::ReservedBytes, super::Class::All).current;
            if reserved + segment_bytes > limit {
                return None;
            }
        }
        if self.config.expandable_segments {
            return self.map_for(pool, stream, size);
        }
        let address = self.device.segment(segment_bytes)?;
        let is_small = self.pools[pool].is_small;
        self.stats.add(Metric::ReservedBytes, is_small, segment_bytes as i64);
        self.stats.add(Metric::Segment, is_small, 1);
        Some(self.arena.add(Block {
            address,
            size: segment_bytes,
            requested: 0,
            stream,
            pool: pool as u32,
            prev: None,
            next: None,
            state: State::Free,
            is_mapped: true,
            range: None,
            lookups: 0,
            is_done: false,
            is_alive: true,
        }))
    }

    /// Splits what is not needed off the high end, and counts.
    fn hand_out(&mut self, id: BlockId, size: u64, requested: u64) {
        let block = self.arena.at(id);
        let (was_split, is_expandable, old_size) = (block.is_split(), block.range.is_some(), block.size);
        let pool = block.pool as usize;
        let is_small = self.pools[pool].is_small;
        let rest = old_size - size;
        let splits = if is_small || self.config.expandable_segments {
            rest >= MIN_BLOCK
        } else {
            self.config.max_split_bytes.is_none_or(|max_split| size < max_split) && rest > SMALL
        };
        if splits {
            self.split(id, size);
        }
        let taken = if splits { size } else { old_size };
        let block = self.arena.at_mut(id);
        block.state = State::Allocated;
        block.requested = requested;
        if !is_expandable {
            let (bytes, count) = match (splits, was_split) {
                (true, false) => (rest as i64, 1),
                (true, true) => (-(size as i64), 0),
                (false, true) => (-(old_size as i64), -1),
                (false, false) => (0, 0),
            };
            if bytes != 0 {
                self.stats.add(Metric::InactiveSplitBytes, is_small, bytes);
                self.stats.add(Metric::InactiveSplit, is_small, count);
            }
        }
        let stats = &mut self.stats;
        stats.add(Metric::Allocation, is_small, 1);
        stats.add(Metric::AllocatedBytes, is_small, taken as i64);
        stats.add(Metric::Active, is_small, 1);
        stats.add(Metric::ActiveBytes, is_small, taken as i64);
        stats.add(Metric::RequestedBytes, is_small, requested as i64);
    }

    /// The low end keeps the id; the high end becomes a free block.
    fn split(&mut self, id: BlockId, size: u64) {
        let block = self.arena.at(id);
        let (pool, next) = (block.pool as usize, block.next);
        let mut rest = block.clone();
        rest.address += size;
        rest.size -= size;
        rest.prev = Some(id);
        rest.state = State::Free;
        rest.requested = 0;
        rest.lookups = self.pools[pool].n_lookups;
        let rest_id = self.arena.add(rest);
        if let Some(next) = next {
            self.arena.at_mut(next).prev = Some(rest_id);
        }
        let block = self.arena.at_mut(id);
        block.next = Some(rest_id);
        block.size = size;
        let rest = self.arena.at(rest_id);
        self.pools[pool].insert(rest_id, rest);
    }

    /// The largest free block that has memory behind it.
    pub fn largest_free(&self) -> u64 {
        self.pools.iter().flat_map(|pool| pool.free.iter().map(|key| key.1)).max().unwrap_or(0)
    }

    /// Bytes in free blocks with memory behind them.
    pub fn total_free(&self) -> u64 {
        self.pools.iter().flat_map(|pool| pool.free.iter().map(|key| key.1)).sum()
    }

    pub fn view(&self, id: BlockId) -> View {
        let block = self.arena.at(id);
        let pool = &self.pools[block.pool as usize];
        View {
            id,
            address: block.address,
            size: block.size,
            requested: block.requested,
            stream: block.stream,
            private_pool: pool.private_pool,
            is_small: pool.is_small,
            state: block.state,
            is_mapped: block.is_mapped,
            is_expandable: block.range.is_some(),
            prev: block.prev,
            next: block.next,
        }
    }

    /// Every block, unmapped address space included, by address.
    pub fn blocks(&self) -> Vec<View> {
        let mut out: Vec<View> = self.arena.alive().map(|(id, _)| self.view(id)).collect();
        out.sort_by_key(|view| view.address);
        out
    }
}
