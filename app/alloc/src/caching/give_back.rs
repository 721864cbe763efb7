//! Frees, merges, and what goes back to the device: on request, for lack of memory, or because it is old.

use super::blocks::{BlockId, Pool, State};
use super::engine::{Caching, Error};
use super::stats::{Class, Metric};
use super::{Device, Returns};

impl<D: Device> Caching<D> {
    /// Frees a block that no other stream uses.
    pub fn free(&mut self, id: BlockId) -> Result<(), Error> {
        self.stop_using(id)?;
        self.complete(id);
        Ok(())
    }

    /// Frees a block that another stream may still use (`record_stream`): it stays active until [`Self::event_done`].
    pub fn free_pending(&mut self, id: BlockId) -> Result<(), Error> {
        self.stop_using(id)?;
        self.arena.at_mut(id).state = State::Pending;
        Ok(())
    }

    fn stop_using(&mut self, id: BlockId) -> Result<(), Error> {
        let block = self.arena.at(id);
        if block.state != State::Allocated || !block.is_alive {
            return Err(Error::NotAllocated);
        }
        let (size, is_small) = (block.size as i64, self.pools[block.pool as usize].is_small);
        self.stats.add(Metric::Allocation, is_small, -1);
        self.stats.add(Metric::AllocatedBytes, is_small, -size);
        Ok(())
    }

    /// The other stream's work with a pending block is done. The next request, outside a capture, takes it back.
    pub fn event_done(&mut self, id: BlockId) -> Result<(), Error> {
        let block = self.arena.at_mut(id);
        if !block.is_alive || block.state != State::Pending || block.is_done {
            return Err(Error::NotPending(id.0));
        }
        block.is_done = true;
        self.done.push(id);
        Ok(())
    }

    /// Takes back the pending blocks whose work is done.
    pub(super) fn complete_done(&mut self) {
        for id in std::mem::take(&mut self.done) {
            self.complete(id);
        }
    }

    /// A block becomes free: merged with free neighbours, and back in its pool.
    pub(super) fn complete(&mut self, id: BlockId) {
        let block = self.arena.at_mut(id);
        block.state = State::Free;
        block.is_done = false;
        let (size, requested) = (block.size as i64, block.requested as i64);
        let (pool, is_expandable) = (block.pool as usize, block.range.is_some());
        let (prev, next) = (block.prev, block.next);
        let is_small = self.pools[pool].is_small;
        let mut split = (0, 0);
        for neighbour in [prev, next].into_iter().flatten() {
            let merged = self.merge(id, neighbour);
            if merged > 0 {
                split = (split.0 - merged as i64, split.1 - 1);
            }
        }
        let lookups = self.pools[pool].n_lookups;
        let block = self.arena.at_mut(id);
        block.lookups = lookups;
        if block.is_split() {
            split = (split.0 + block.size as i64, split.1 + 1);
        }
        let block = self.arena.at(id);
        self.pools[pool].insert(id, block);
        if !is_expandable && split != (0, 0) {
            self.stats.add(Metric::InactiveSplitBytes, is_small, split.0);
            self.stats.add(Metric::InactiveSplit, is_small, split.1);
        }
        self.stats.add(Metric::Active, is_small, -1);
        self.stats.add(Metric::ActiveBytes, is_small, -size);
        self.stats.add(Metric::RequestedBytes, is_small, -requested);
    }

    /// Takes a free neighbour into `id`, which is in no set itself. Answers with the neighbour's size, 0 if it stays:
    /// used, or not backed as `id` is.
    pub(super) fn merge(&mut self, id: BlockId, neighbour: BlockId) -> u64 {
        let other = self.arena.at(neighbour);
        let block = self.arena.at(id);
        if other.state != State::Free || other.is_mapped != block.is_mapped {
            return 0;
        }
        let (size, is_before, outer) = match block.prev == Some(neighbour) {
            true => (other.size, true, other.prev),
            false => (other.size, false, other.next),
        };
        let (address, stream, pool) = (other.address, other.stream, other.pool as usize);
        if other.is_mapped {
            self.pools[pool].remove(neighbour, other);
        } else {
            self.pools[pool].unmapped.remove(&(stream, address, neighbour));
        }
        let block = self.arena.at_mut(id);
        block.size += size;
        if is_before {
            block.address = address;
            block.prev = outer;
        } else {
            block.next = outer;
        }
        if let Some(outer) = outer {
            let outer = self.arena.at_mut(outer);
            if is_before {
                outer.next = Some(id);
            } else {
                outer.prev = Some(id);
            }
        }
        self.arena.remove(neighbour);
        size
    }

    /// `torch.cuda.empty_cache()`: waits for pending blocks, then returns whole free segments and pages.
    pub fn empty_cache(&mut self) {
        self.done.clear();
        for id in self.device.synchronized() {
            if self.arena.at(id).is_alive && self.arena.at(id).state == State::Pending {
                self.complete(id);
            }
        }
        let pending: Vec<BlockId> =
            self.arena.alive().filter(|(_, block)| block.state == State::Pending).map(|(id, _)| id).collect();
        for id in pending {
            self.complete(id);
        }
        // The large pool first; those of graphs only when the graph is gone.
        for private in 0..self.is_released.len() {
            if private == 0 || self.is_released[private] {
                self.return_pool(private * 2 + 1);
                self.return_pool(private * 2);
            }
        }
    }

    fn return_pool(&mut self, pool: usize) {
        let free: Vec<BlockId> = self.pools[pool].free.iter().map(|key| key.3).collect();
        let mut expandable = Vec::new();
        for id in free {
            let block = self.arena.at(id);
            if block.range.is_some() {
                expandable.push(id);
            } else if !block.is_split() {
                self.return_segment(id);
            }
        }
        for id in expandable {
            self.unmap_whole_pages(id);
        }
    }

    /// A free block that is a whole segment goes back to the device.
    fn return_segment(&mut self, id: BlockId) {
        let block = self.arena.at(id);
        let (address, size, pool) = (block.address, block.size, block.pool as usize);
        self.pools[pool].remove(id, block);
        self.device.release(address, size);
        let is_small = self.pools[pool].is_small;
        self.stats.add(Metric::ReservedBytes, is_small, -(size as i64));
        self.stats.add(Metric::Segment, is_small, -1);
        self.arena.remove(id);
    }

    /// With a split limit, oversize blocks are returned before the whole cache is. True if enough came free.
    pub(super) fn return_oversize(&mut self, pool: usize, stream: u32, size: u64) -> bool {
        let Some(max_split) = self.config.max_split_bytes else { return false };
        let least = size.max(max_split);
        let key = (stream, least, 0, BlockId(0));
        let of_stream = |id: &BlockId, this: &Self| this.arena.at(*id).range.is_none();
        let fitting = self.pools[pool].free.range(key..).next().filter(|key| key.0 == stream).map(|key| key.3);
        if let Some(id) = fitting.filter(|id| of_stream(id, self)) {
            self.return_segment(id);
            return true;
        }
        // Largest first, until together they are enough.
        let smaller: Vec<(BlockId, u64)> = self.pools[pool]
            .free
            .range((stream, 0, 0, BlockId(0))..key)
            .rev()
            .take_while(|key| key.1 >= max_split)
            .map(|key| (key.3, key.1))
            .collect();
        let mut sum = 0;
        for (id, bytes) in smaller {
            if sum >= least {
                break;
            }
            sum += bytes;
            self.return_segment(id);
        }
        sum >= least
    }

    /// Returns free whole segments of the large pool that were passed over longer than the average, until the process is
    /// under its threshold.
    pub(super) fn collect_garbage(&mut self) {
        let Some(threshold) = self.config.gc_threshold else { return };
        if let Some(returns) = self.device.recorded_returns() {
            return self.collect_recorded(threshold, &returns);
        }
        let Some(fraction) = self.config.fraction else { return };
        let limit = (fraction * self.device.total_bytes() as f64) as u64;
        for id in self.old_blocks((threshold * limit as f64) as u64) {
            self.return_segment(id);
        }
    }

    /// The blocks that a collection returns to come down to `target` reserved bytes.
    fn old_blocks(&self, target: u64) -> Vec<BlockId> {
        let reserved = self.stats.get(Metric::ReservedBytes, Class::All).current;
        let wanted = reserved.saturating_sub(target);
        let pool: &Pool = &self.pools[1];
        let mut whole: Vec<(BlockId, u64, u64)> = pool
            .free
            .iter()
            .map(|key| (key.3, self.arena.at(key.3)))
            .filter(|(_, block)| !block.is_split() && block.range.is_none())
            .map(|(id, block)| (id, pool.n_lookups - block.lookups, block.size))
            .collect();
        let mut out = Vec::new();
        let mut returned = 0;
        while returned < wanted && !whole.is_empty() {
            let mean = whole.iter().map(|(_, age, _)| *age as f64).sum::<f64>() / whole.len() as f64;
            let (old, young): (Vec<_>, Vec<_>) = whole.into_iter().partition(|(_, age, _)| *age as f64 >= mean);
            if old.is_empty() {
                break;
            }
            returned += old.iter().map(|(.., size)| size).sum::<u64>();
            out.extend(old.into_iter().map(|(id, ..)| id));
            whole = young;
        }
        out
    }

    /// What a recording shows of a collection. The limit of the process is not recorded; it is taken for what was reserved
    /// at most. Where that explains nothing, and some of the cache went back but not all of it, the record is followed.
    fn collect_recorded(&mut self, threshold: f64, returns: &Returns) {
        let is_in = |this: &Self, id: &BlockId| returns.segments.contains(&this.arena.at(*id).address);
        let mut ids = self.old_blocks((threshold * returns.most_reserved as f64) as u64);
        if !ids.iter().all(|id| is_in(self, id)) {
            ids = Vec::new();
            if returns.segments.len() < self.whole_free().count() {
                let large: Vec<BlockId> =
                    self.whole_free().filter(|(pool, ..)| *pool == 1).map(|(.., id)| id).collect();
                ids = large.into_iter().filter(|id| is_in(self, id)).collect();
            }
        }
        for id in ids {
            self.return_segment(id);
        }
    }

    /// Pool, address and id of every free block that is a whole segment and may be returned.
    fn whole_free(&self) -> impl Iterator<Item = (usize, u64, BlockId)> + '_ {
        let may = |pool: &usize| *pool < 2 || self.is_released[pool / 2];
        (0..self.pools.len()).filter(may).flat_map(|pool| {
            let keys = self.pools[pool].free.iter();
            keys.map(move |key| (pool, key.2, key.3)).filter(|(.., id)| {
                let block = self.arena.at(*id);
                block.range.is_none() && !block.is_split()
            })
        })
    }

    /// Whether `empty_cache` would return anything.
    pub fn has_releasable(&self) -> bool {
        let holds_page = |id: &BlockId| {
            let block = self.arena.at(*id);
            block.range.map(|idx| &self.ranges[idx as usize]).is_some_and(|range| {
                let offset = block.address.saturating_sub(range.base);
                offset.next_multiple_of(range.page) < (offset + block.size) / range.page * range.page
            })
        };
        let may = |pool: &usize| *pool < 2 || self.is_released[pool / 2];
        self.whole_free().next().is_some()
            || (0..self.pools.len()).filter(may).any(|pool| self.pools[pool].free.iter().any(|key| holds_page(&key.3)))
    }

    /// A refusal of which nothing but the count is known, e.g. while a graph was captured.
    pub fn count_refusal(&mut self) {
        self.stats.n_ooms += 1;
    }

    /// Takes back the pending blocks whose work is done, as the next request would.
    pub fn settle(&mut self) {
        self.complete_done();
    }

    /// A graph capture starts on `stream`: its requests come from `private_pool` (1, 2, …) until [`Self::end_capture`].
    pub fn begin_capture(&mut self, stream: u32, private_pool: u32) {
        self.private(private_pool);
        self.captures.push((stream, private_pool));
    }

    pub fn end_capture(&mut self, stream: u32) {
        self.captures.retain(|(captured, _)| *captured != stream);
    }

    /// The graph of a private pool was destroyed: `empty_cache` may return its memory.
    pub fn release_pool(&mut self, private_pool: u32) {
        self.private(private_pool);
        self.is_released[private_pool as usize] = true;
    }

    /// Makes the pools up to `private_pool`.
    pub(super) fn private(&mut self, private_pool: u32) {
        while self.is_released.len() <= private_pool as usize {
            let private_pool = self.is_released.len() as u32;
            for is_small in [true, false] {
                self.pools.push(Pool { private_pool, is_small, ..Pool::default() });
            }
            self.is_released.push(false);
        }
    }
}
