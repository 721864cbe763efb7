//! An allocator in the middle of its life: segments with live blocks, from which it goes on.

use super::Device;
use super::blocks::{Block, BlockId, State};
use super::engine::Caching;
use super::expandable::Range;
use super::stats::Metric;

/// A block that is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Live {
    pub address: u64,
    pub size: u64,
    pub requested: u64,
    pub is_pending: bool,
}

/// A segment, or a run of mapped pages of an expandable one. What lies between live blocks is free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub address: u64,
    pub size: u64,
    pub stream: u32,
    pub is_small: bool,
    pub private_pool: u32,
    pub is_expandable: bool,
    /// Where the range of an expandable run begins, if that is known to be lower.
    pub floor: u64,
    /// In use, by address, inside the part and without overlap.
    pub live: Vec<Live>,
}

impl<D: Device> Caching<D> {
    /// Takes over `parts`, which come by address, into an allocator that has served nothing yet. Peaks start at the
    /// values restored. Answers with the live blocks by address.
    pub fn restore(&mut self, parts: &[Part]) -> Vec<(u64, BlockId)> {
        let mut out = Vec::new();
        let mut last_of: Vec<(u32, usize, u32, BlockId)> = Vec::new();
        for part in parts {
            self.private(part.private_pool);
            let pool = part.private_pool as usize * 2 + usize::from(!part.is_small);
            let mut before = None;
            let mut range = None;
            if part.is_expandable {
                let known = last_of.iter().position(|(stream, known, ..)| (*stream, *known) == (part.stream, pool));
                range = Some(match known {
                    Some(at) => {
                        let (.., idx, last) = last_of.remove(at);
                        before = Some(self.shorten_tail(last, part.address));
                        idx
                    }
                    None => {
                        let idx = self.restore_range(pool, part.floor.min(part.address));
                        before = self.restore_below(part, pool, idx);
                        idx
                    }
                });
            } else {
                self.stats.add(Metric::Segment, part.is_small, 1);
            }
            self.stats.add(Metric::ReservedBytes, part.is_small, part.size as i64);
            let last = self.restore_part(part, pool, range, before, &mut out);
            if let (Some(idx), Some(last)) = (range, last) {
                let tail = self.restore_tail(part, pool, idx, last);
                last_of.push((part.stream, pool, idx, tail));
            }
        }
        self.count_restored();
        self.stats.reset_peaks();
        self.stats.reset_totals();
        out
    }

    fn restore_range(&mut self, pool: usize, base: u64) -> u32 {
        let page =
            if self.pools[pool].is_small { super::config::SMALL_SEGMENT } else { self.config.large_segment_bytes };
        let total = self.device.total_bytes();
        self.ranges.push(Range { base, bytes: (total + total / 8).next_multiple_of(page), page });
        self.ranges.len() as u32 - 1
    }

    /// The blocks of a part, free ones between the live ones. Answers with the last.
    fn restore_part(
        &mut self,
        part: &Part,
        pool: usize,
        range: Option<u32>,
        mut before: Option<BlockId>,
        out: &mut Vec<(u64, BlockId)>,
    ) -> Option<BlockId> {
        let mut at = part.address;
        let end = part.address + part.size;
        let mut add = |this: &mut Self, address: u64, size: u64, live: Option<&Live>| {
            let state = match live {
                None => State::Free,
                Some(live) if live.is_pending => State::Pending,
                Some(_) => State::Allocated,
            };
            let block = Block {
                address,
                size,
                requested: live.map_or(0, |live| live.requested),
                stream: part.stream,
                pool: pool as u32,
                prev: before,
                next: None,
                state,
                is_mapped: true,
                range,
                lookups: 0,
                is_done: false,
                is_alive: true,
            };
            let id = this.arena.add(block.clone());
            if let Some(before) = before {
                this.arena.at_mut(before).next = Some(id);
            }
            if state == State::Free {
                this.pools[pool].insert(id, &block);
            }
            before = Some(id);
            id
        };
        for live in &part.live {
            if live.address > at {
                add(self, at, live.address - at, None);
            }
            let id = add(self, live.address, live.size, Some(live));
            out.push((live.address, id));
            at = live.address + live.size;
        }
        if at < end {
            add(self, at, end - at, None);
        }
        before
    }

    /// Address space without memory before the first run of a range.
    fn restore_below(&mut self, part: &Part, pool: usize, idx: u32) -> Option<BlockId> {
        let size = part.address.checked_sub(part.floor).filter(|size| *size > 0)?;
        let id = self.arena.add(Block {
            address: part.floor,
            size,
            requested: 0,
            stream: part.stream,
            pool: pool as u32,
            prev: None,
            next: None,
            state: State::Free,
            is_mapped: false,
            range: Some(idx),
            lookups: 0,
            is_done: false,
            is_alive: true,
        });
        self.pools[pool].unmapped.insert((part.stream, part.floor, id));
        Some(id)
    }

    /// Address space without memory after the last run of a range.
    fn restore_tail(&mut self, part: &Part, pool: usize, idx: u32, last: BlockId) -> BlockId {
        let range = &self.ranges[idx as usize];
        let address = part.address + part.size;
        let size = (range.base + range.bytes).saturating_sub(address).max(range.page);
        let mut tail = self.arena.at(last).clone();
        tail.address = address;
        tail.size = size;
        tail.prev = Some(last);
        tail.next = None;
        tail.state = State::Free;
        tail.is_mapped = false;
        let id = self.arena.add(tail);
        self.arena.at_mut(last).next = Some(id);
        self.pools[pool].unmapped.insert((part.stream, address, id));
        id
    }

    /// The tail becomes the hole before the next run of the same range.
    fn shorten_tail(&mut self, tail: BlockId, until: u64) -> BlockId {
        let block = self.arena.at_mut(tail);
        block.size = until - block.address;
        tail
    }

    fn count_restored(&mut self) {
        let blocks: Vec<Block> = self.arena.alive().map(|(_, block)| block.clone()).collect();
        for block in blocks {
            let is_small = self.pools[block.pool as usize].is_small;
            let size = block.size as i64;
            let stats = &mut self.stats;
            match block.state {
                State::Free if block.range.is_none() && block.is_split() => {
                    stats.add(Metric::InactiveSplitBytes, is_small, size);
                    stats.add(Metric::InactiveSplit, is_small, 1);
                }
                State::Free => {}
                State::Allocated | State::Pending => {
                    stats.add(Metric::Active, is_small, 1);
                    stats.add(Metric::ActiveBytes, is_small, size);
                    stats.add(Metric::RequestedBytes, is_small, block.requested as i64);
                    if block.state == State::Allocated {
                        stats.add(Metric::Allocation, is_small, 1);
                        stats.add(Metric::AllocatedBytes, is_small, size);
                    }
                }
            }
        }
    }
}
