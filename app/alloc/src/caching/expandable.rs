//! Expandable segments: one range of address space for each stream and pool, with memory mapped page by page.

use super::Device;
use super::blocks::{Block, BlockId, State};
use super::engine::Caching;
use super::stats::Metric;
use crate::MIB;

/// Pages of the small pool's ranges.
const SMALL_PAGE: u64 = 2 * MIB;

/// Address space for one stream and pool.
#[derive(Clone, Debug)]
pub(super) struct Range {
    pub base: u64,
    pub bytes: u64,
    pub page: u64,
}

impl<D: Device> Caching<D> {
    /// Maps pages until a free block of `size` bytes stands; it is in no set.
    pub(super) fn map_for(&mut self, pool: usize, stream: u32, size: u64) -> Option<BlockId> {
        let mut id = match self.growable(pool, stream, size) {
            Some(id) => id,
            None => self.open_range(pool, stream)?,
        };
        if !self.arena.at(id).is_mapped {
            let bytes = self.arena.at(id).size.min(size);
            self.map(id, bytes).then_some(())?;
        }
        while self.arena.at(id).size < size {
            let missing = size - self.arena.at(id).size;
            // What follows a free block is unmapped, or the search would not have counted it.
            let next = self.arena.at(id).next?;
            let bytes = self.arena.at(next).size.min(missing);
            self.map(next, bytes).then_some(())?;
            // The mapped piece has taken its free neighbours in, and keeps its own id.
            id = next;
        }
        let block = self.arena.at(id);
        self.pools[pool].remove(id, block);
        Some(id)
    }

    /// The first start, by address, from which free and unmapped pieces in a row hold `size` bytes.
    fn growable(&self, pool: usize, stream: u32, size: u64) -> Option<BlockId> {
        let unmapped = self.pools[pool].unmapped.range((stream, 0, BlockId(0))..).take_while(|key| key.0 == stream);
        unmapped.map(|key| self.start_before(key.2)).find(|start| self.holds(*start, size))
    }

    /// The free block just before an unmapped piece, if there is one, else the piece.
    fn start_before(&self, unmapped: BlockId) -> BlockId {
        let before = self.arena.at(unmapped).prev;
        before.filter(|id| self.arena.at(*id).state == State::Free).unwrap_or(unmapped)
    }

    fn holds(&self, start: BlockId, size: u64) -> bool {
        let mut sum = 0;
        let mut at = Some(start);
        while let Some(id) = at {
            let block = self.arena.at(id);
            if block.state != State::Free {
                return false;
            }
            sum += block.size;
            if sum >= size {
                return true;
            }
            at = block.next;
        }
        false
    }

    fn open_range(&mut self, pool: usize, stream: u32) -> Option<BlockId> {
        let page = if self.pools[pool].is_small { SMALL_PAGE } else { self.config.large_segment_bytes };
        // An eighth more than the device has, so that it is never the address space that runs out.
        let total = self.device.total_bytes();
        let bytes = (total + total / 8).next_multiple_of(page);
        let base = self.device.range(bytes)?;
        self.ranges.push(Range { base, bytes, page });
        let id = self.arena.add(Block {
            address: base,
            size: bytes,
            requested: 0,
            stream,
            pool: pool as u32,
            prev: None,
            next: None,
            state: State::Free,
            is_mapped: false,
            range: Some(self.ranges.len() as u32 - 1),
            lookups: 0,
            is_done: false,
            is_alive: true,
        });
        self.pools[pool].unmapped.insert((stream, base, id));
        Some(id)
    }

    /// Maps whole pages from the low end of an unmapped piece, at least `bytes`, merges with free neighbours and puts the
    /// block into its pool.
    fn map(&mut self, id: BlockId, bytes: u64) -> bool {
        let block = self.arena.at(id);
        let range = &self.ranges[block.range.unwrap_or_default() as usize];
        let mapped = bytes.next_multiple_of(range.page).min(block.size);
        let (address, stream, pool, next) = (block.address, block.stream, block.pool as usize, block.next);
        if !self.device.map(address, mapped) {
            return false;
        }
        self.pools[pool].unmapped.remove(&(stream, address, id));
        if mapped < self.arena.at(id).size {
            let mut rest = self.arena.at(id).clone();
            rest.address += mapped;
            rest.size -= mapped;
            rest.prev = Some(id);
            let rest_id = self.arena.add(rest);
            if let Some(next) = next {
                self.arena.at_mut(next).prev = Some(rest_id);
            }
            self.pools[pool].unmapped.insert((stream, address + mapped, rest_id));
            let block = self.arena.at_mut(id);
            block.next = Some(rest_id);
            block.size = mapped;
        }
        self.arena.at_mut(id).is_mapped = true;
        self.merge_around(id);
        let block = self.arena.at(id);
        self.pools[pool].insert(id, block);
        let is_small = self.pools[pool].is_small;
        self.stats.add(Metric::ReservedBytes, is_small, mapped as i64);
        true
    }

    fn merge_around(&mut self, id: BlockId) {
        if let Some(prev) = self.arena.at(id).prev {
            self.merge(id, prev);
        }
        if let Some(next) = self.arena.at(id).next {
            self.merge(id, next);
        }
    }

    /// Returns the whole pages inside a free block; what lies before and after them stays free.
    pub(super) fn unmap_whole_pages(&mut self, id: BlockId) {
        let block = self.arena.at(id).clone();
        let Some(range_idx) = block.range else { return };
        let range = self.ranges[range_idx as usize].clone();
        let offset = block.address - range.base;
        let begin = range.base + offset.next_multiple_of(range.page);
        let end = range.base + (offset + block.size) / range.page * range.page;
        if begin >= end {
            return;
        }
        let pool = block.pool as usize;
        self.pools[pool].remove(id, &block);
        self.device.unmap(begin, end - begin);
        if begin > block.address {
            self.keep_beside(id, block.address, begin - block.address, true);
        }
        if end < block.address + block.size {
            self.keep_beside(id, end, block.address + block.size - end, false);
        }
        let hole = self.arena.at_mut(id);
        hole.address = begin;
        hole.size = end - begin;
        hole.is_mapped = false;
        self.merge_around(id);
        let hole = self.arena.at(id);
        let (is_whole, address) = (hole.size == range.bytes, hole.address);
        let is_small = self.pools[pool].is_small;
        self.stats.add(Metric::ReservedBytes, is_small, -((end - begin) as i64));
        if is_whole {
            self.arena.remove(id);
        } else {
            self.pools[pool].unmapped.insert((block.stream, address, id));
        }
    }

    /// A free block of its own before or after the hole at `id`.
    fn keep_beside(&mut self, id: BlockId, address: u64, size: u64, is_before: bool) {
        let mut kept = self.arena.at(id).clone();
        kept.address = address;
        kept.size = size;
        let outer = if is_before { kept.prev } else { kept.next };
        if is_before {
            kept.next = Some(id);
        } else {
            kept.prev = Some(id);
        }
        let pool = kept.pool as usize;
        let kept_id = self.arena.add(kept);
        if let Some(outer) = outer {
            let outer = self.arena.at_mut(outer);
            if is_before {
                outer.next = Some(kept_id);
            } else {
                outer.prev = Some(kept_id);
            }
        }
        let hole = self.arena.at_mut(id);
        if is_before {
            hole.prev = Some(kept_id);
        } else {
            hole.next = Some(kept_id);
        }
        let kept = self.arena.at(kept_id);
        self.pools[pool].insert(kept_id, kept);
    }
}
