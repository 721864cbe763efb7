//! The stream-ordered pool behind `cudaMallocAsync`: a free is known to a stream before it is known to the host.
//!
//! A request takes a range that its own stream freed, or one freed on a stream that it has waited for since, or one that
//! the host has seen the end of; else the pool grows by whole chunks of 32 MiB (measured on an H200). Memory goes back to
//! the card at a synchronisation, whole chunks only, while the pool holds more than its release threshold (0 unless set).
//! Sources: CUDA Programming Guide, "Stream-Ordered Memory Allocator"; Runtime API, `cudaMemPoolSetAttribute`.
//!
//! Which of several free ranges the driver takes is not documented: here the smallest that holds the request, at the
//! lowest address. Not modelled: reuse of work that happens to be finished (`ReuseAllowOpportunistic`), remapping of
//! scattered memory.

use crate::caching::{Card, Device as _};
use crate::replay::Piece;
use crate::tiles::{State, TileId, Tiles};
use crate::{MIB, OutOfMemory};
use std::collections::BTreeMap;

/// What the pool takes from the card, and returns, at a time.
pub const CHUNK: u64 = 32 * MIB;
/// Spacing of blocks.
pub const SPACING: u64 = 512;

/// Bytes by which an empty pool grows for a request.
pub fn growth_bytes(bytes: u64) -> u64 {
    bytes.max(1).next_multiple_of(CHUNK)
}

/// Who may use a free range, packed so that ordering it is cheap: [`Owner::ALL`], or a stream in its low half and above
/// it, from 1, how often others had waited for the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Owner(u64);

impl Owner {
    /// Everyone: the host has waited for the work that used it.
    const ALL: Self = Self(0);

    /// The stream that freed it in this era, and those that have waited for it since.
    fn stream(stream: u32, era: u64) -> Self {
        Self(((era + 1) << 32) | u64::from(stream))
    }

    /// The stream and its era; nothing if it is everyone's.
    fn freed_on(self) -> Option<(u32, u64)> {
        Some((self.0 as u32, (self.0 >> 32).checked_sub(1)?))
    }
}

/// How a request was served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Freed on the same stream.
    SameStream,
    /// Freed on a stream that this one has waited for.
    OrderedBefore,
    /// Free since a synchronisation.
    Synchronised,
    /// Neighbouring ranges of several owners together.
    Joined,
    /// New chunks.
    Grown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    pub id: TileId,
    pub address: u64,
    pub size: u64,
    pub source: Source,
}

/// The pool over a card.
#[derive(Clone, Debug)]
pub struct StreamPool {
    card: Card,
    pub release_threshold_bytes: u64,
    /// Exactly what was asked for and not freed yet.
    pub used_bytes: u64,
    /// As used, rounded up to the spacing of blocks.
    pub occupied_bytes: u64,
    pub peak_used_bytes: u64,
    pub peak_reserved_bytes: u64,
    tiles: Tiles<Owner>,
    eras: BTreeMap<u32, u64>,
    /// The last era of the second stream that the first has waited for.
    known: BTreeMap<(u32, u32), u64>,
}

impl StreamPool {
    pub fn new(capacity_bytes: u64, release_threshold_bytes: u64) -> Self {
        Self {
            card: Card::new(capacity_bytes),
            release_threshold_bytes,
            used_bytes: 0,
            occupied_bytes: 0,
            peak_used_bytes: 0,
            peak_reserved_bytes: 0,
            tiles: Tiles::new(),
            eras: BTreeMap::new(),
            known: BTreeMap::new(),
        }
    }

    /// Serves a request on a stream. Zero bytes are nothing.
    pub fn malloc(&mut self, bytes: u64, stream: u32) -> Result<Option<Served>, OutOfMemory> {
        if bytes == 0 {
            return Ok(None);
        }
        let size = bytes.next_multiple_of(SPACING);
        let (id, source) = match self.single(size, stream).or_else(|| self.joined(size, stream)) {
            Some(found) => found,
            None => (self.grow(bytes)?, Source::Grown),
        };
        self.tiles.take(id, size, bytes);
        self.used_bytes += bytes;
        self.occupied_bytes += size;
        self.peak_used_bytes = self.peak_used_bytes.max(self.used_bytes);
        Ok(Some(Served { id, address: self.tiles.at(id).address, size, source }))
    }

    fn may_use(&self, stream: u32, owner: Owner) -> bool {
        let Some((freed_on, era)) = owner.freed_on() else { return true };
        freed_on == stream || self.known.get(&(stream, freed_on)).is_some_and(|known| *known >= era)
    }

    /// The smallest range that the stream may use.
    fn single(&self, size: u64, stream: u32) -> Option<(TileId, Source)> {
        let usable = self.tiles.tags().filter(|owner| self.may_use(stream, *owner));
        let fitting = usable.filter_map(|owner| Some((self.tiles.best_fit(owner, size)?, owner)));
        let ((_, _, id), owner) = fitting.min_by_key(|(found, _)| *found)?;
        let source = match owner.freed_on() {
            None => Source::Synchronised,
            Some((freed_on, _)) if freed_on == stream => Source::SameStream,
            Some(_) => Source::OrderedBefore,
        };
        Some((id, source))
    }

    /// The first run of neighbouring ranges that together hold the request.
    fn joined(&mut self, size: u64, stream: u32) -> Option<(TileId, Source)> {
        if self.tiles.tags().filter(|owner| self.may_use(stream, *owner)).count() < 2 {
            return None;
        }
        let mut run: Option<(TileId, u64, Option<TileId>)> = None;
        for (_, id, owner) in self.tiles.free_by_address() {
            if !self.may_use(stream, owner) {
                run = None;
                continue;
            }
            let tile = self.tiles.at(id);
            let (first, sum, _) = run.filter(|(.., next)| *next == Some(id)).unwrap_or((id, 0, None));
            run = Some((first, sum + tile.size, tile.next));
            if sum + tile.size >= size {
                self.tiles.join(first, size);
                return Some((first, Source::Joined));
            }
        }
        None
    }

    fn grow(&mut self, bytes: u64) -> Result<TileId, OutOfMemory> {
        let grown = growth_bytes(bytes);
        let Some(address) = self.card.segment(grown) else {
            return Err(OutOfMemory {
                tried_bytes: grown,
                reserved_bytes: self.reserved_bytes(),
                allocated_bytes: self.used_bytes,
                capacity_bytes: self.card.capacity_bytes,
            });
        };
        self.peak_reserved_bytes = self.peak_reserved_bytes.max(self.reserved_bytes());
        // No stream has ever used it.
        Ok(self.tiles.add_segment(address, grown, Owner::ALL))
    }

    /// Frees a block in the order of a stream; false if it is not in use.
    pub fn free(&mut self, id: TileId, stream: u32) -> bool {
        if !self.tiles.is_used(id) {
            return false;
        }
        let tile = self.tiles.at(id);
        if let State::Used(requested) = tile.state {
            self.used_bytes -= requested;
        }
        self.occupied_bytes -= tile.size;
        let era = self.eras.get(&stream).copied().unwrap_or(0);
        self.tiles.give(id, Owner::stream(stream, era));
        true
    }

    /// `stream` waits for everything that `on` was given so far, and with it for what `on` has waited for.
    pub fn wait(&mut self, stream: u32, on: u32) {
        if stream == on {
            return;
        }
        let era = self.eras.entry(on).or_insert(0);
        let reached = *era;
        *era += 1;
        let mut learnt: Vec<(u32, u64)> =
            self.known.range((on, 0)..=(on, u32::MAX)).map(|((_, of), era)| (*of, *era)).collect();
        learnt.push((on, reached));
        for (of, era) in learnt.into_iter().filter(|(of, _)| *of != stream) {
            let known = self.known.entry((stream, of)).or_insert(era);
            *known = era.max(*known);
        }
    }

    /// The host waits for all streams: every free range is everyone's, and what exceeds the threshold goes back.
    pub fn sync(&mut self) {
        for id in self.tiles.free_beside(Owner::ALL) {
            self.tiles.give(id, Owner::ALL);
        }
        self.trim();
    }

    /// Returns wholly free chunks, from the highest address down, while more than the threshold is held. Chunks lie on
    /// multiples of their size.
    fn trim(&mut self) {
        if self.reserved_bytes() <= self.release_threshold_bytes {
            return;
        }
        for (address, id, _) in self.tiles.free_by_address().into_iter().rev() {
            let low = address.next_multiple_of(CHUNK);
            let high = self.tiles.at(id).end() / CHUNK * CHUNK;
            let mut from = high;
            while from > low && self.reserved_bytes() > self.release_threshold_bytes {
                from -= CHUNK;
                self.card.release(from, CHUNK);
            }
            if from < high {
                self.tiles.cut(id, from, high);
            }
        }
    }

    pub fn reserved_bytes(&self) -> u64 {
        self.card.used_bytes
    }

    pub fn largest_free(&self) -> u64 {
        self.tiles.largest_free()
    }

    pub fn n_segments(&self) -> u64 {
        self.tiles.n_segments
    }

    /// Every block and free range, by address.
    pub fn pieces(&self) -> Vec<Piece> {
        crate::tiles::pieces(&self.tiles)
    }

    /// Every free range by address: address, size, whether `stream` may use it.
    pub fn gaps_for(&self, stream: u32) -> Vec<(u64, u64, bool)> {
        let gap = |(address, id, owner)| (address, self.tiles.at(id).size, self.may_use(stream, owner));
        self.tiles.free_by_address().into_iter().map(gap).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(threshold: u64) -> StreamPool {
        StreamPool::new(1 << 40, threshold)
    }

    fn take(pool: &mut StreamPool, bytes: u64, stream: u32) -> Served {
        pool.malloc(bytes, stream).unwrap().unwrap()
    }

    /// Measured on an H200: what the pool reserves for one request; unchanged by the free, nothing after the next
    /// synchronisation at threshold 0; the used counter is the exact request.
    #[test]
    fn the_pool_grows_by_chunks_of_32_mebibytes() {
        for (bytes, reserved) in [
            (1, 33_554_432),
            (MIB, 33_554_432),
            (32 * MIB + 1, 67_108_864),
            (64 * MIB, 67_108_864),
            (100 * MIB, 134_217_728),
        ] {
            let mut pool = pool(0);
            let block = take(&mut pool, bytes, 0);
            assert_eq!((pool.used_bytes, pool.reserved_bytes()), (bytes, reserved));
            assert!(pool.free(block.id, 0));
            assert_eq!((pool.used_bytes, pool.reserved_bytes()), (0, reserved));
            pool.sync();
            assert_eq!(pool.reserved_bytes(), 0);
        }
    }

    #[test]
    fn a_raised_threshold_keeps_the_memory() {
        let mut pool = pool(64 * MIB);
        let block = take(&mut pool, 100 * MIB, 0);
        pool.free(block.id, 0);
        pool.sync();
        assert_eq!(pool.reserved_bytes(), 64 * MIB);
        assert_eq!(take(&mut pool, 60 * MIB, 1).source, Source::Synchronised);
        assert_eq!(pool.reserved_bytes(), 64 * MIB);
    }

    #[test]
    fn a_range_is_reused_along_the_order_of_streams_only() {
        let mut pool = pool(u64::MAX);
        let first = take(&mut pool, 32 * MIB, 0);
        pool.free(first.id, 0);
        assert_eq!(take(&mut pool, 32 * MIB, 1).source, Source::Grown, "stream 1 does not know of the free");
        pool.wait(2, 0);
        let second = take(&mut pool, 32 * MIB, 2);
        assert_eq!((second.address, second.source), (first.address, Source::OrderedBefore));
        pool.free(second.id, 2);
        assert_eq!(take(&mut pool, 32 * MIB, 2).source, Source::SameStream);
    }

    #[test]
    fn waiting_covers_what_was_freed_before_it() {
        let mut pool = pool(u64::MAX);
        let block = take(&mut pool, 32 * MIB, 0);
        pool.wait(1, 0);
        pool.free(block.id, 0);
        assert_eq!(take(&mut pool, 32 * MIB, 1).source, Source::Grown, "freed after the wait");
        pool.wait(2, 0);
        pool.wait(3, 2);
        assert_eq!(take(&mut pool, 32 * MIB, 3).address, block.address, "3 waited for 2, which had waited for 0");
    }

    #[test]
    fn neighbours_of_several_owners_serve_together() {
        let mut pool = pool(u64::MAX);
        let (low, high) = (take(&mut pool, 16 * MIB, 0), take(&mut pool, 16 * MIB, 1));
        pool.free(low.id, 0);
        pool.free(high.id, 1);
        assert_eq!(take(&mut pool, 32 * MIB, 0).source, Source::Grown);
        pool.wait(0, 1);
        let both = take(&mut pool, 32 * MIB, 0);
        assert_eq!((both.address, both.source), (low.address, Source::Joined));
    }

    #[test]
    fn only_whole_free_chunks_go_back() {
        let mut pool = pool(0);
        let blocks: Vec<TileId> = (0..4).map(|_| take(&mut pool, 24 * MIB, 0).id).collect();
        assert_eq!(pool.reserved_bytes(), 128 * MIB);
        pool.free(blocks[1], 0);
        let wide = take(&mut pool, 128 * MIB, 0);
        pool.free(wide.id, 0);
        let inside = take(&mut pool, 40 * MIB, 0).address;
        assert_eq!(inside, wide.address);
        pool.sync();
        // Three single chunks in use, and two of the four that the 40 MiB stand in.
        assert_eq!((pool.reserved_bytes(), pool.n_segments()), (160 * MIB, 4));
    }

    #[test]
    fn a_full_card_refuses() {
        let mut pool = StreamPool::new(48 * MIB, 0);
        take(&mut pool, 1, 0);
        let error = pool.malloc(40 * MIB, 0).unwrap_err();
        assert_eq!(
            error.to_string(),
            "tried to reserve 67108864 bytes; reserved 33554432, allocated 1, capacity 50331648"
        );
    }
}
