//! Why this block: every free range, and what spoke against it.
//!
//! The reasons are worked out here from the rules, beside the engines and not inside them, so that the engines stay fast
//! and the tests can hold one against the other.

use super::engines::OfPyTorch;
use super::{Part, Piece};
use crate::bfc::{self, Bfc};
use crate::caching::{BlockId, Card, Config, State, View};
use crate::plain::{self, Plain};
use crate::stream_pool::{self, StreamPool};
use std::cmp::Ordering;

/// A rest of the small pool, or of an expandable segment, is split off from this size on.
const SMALLEST_REST: u64 = 512;

/// How a request was served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A free range of the allocator's own; in the stream-ordered pool one that the same stream freed.
    Cached,
    /// New memory of the card: a segment, pages, a region, chunks.
    Device,
    /// As `Device`, after some free memory had been returned.
    AfterReturning,
    /// As `Device`, after the whole cache had been returned.
    AfterFlush,
    /// Freed on another stream, for whose work this one has waited.
    OrderedBefore,
    /// Free since a synchronisation.
    Synchronised,
    /// Neighbouring ranges that became free in different ways.
    Joined,
}

/// What speaks against a free range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    TooSmall,
    /// It belongs to this other stream.
    OtherStream(u32),
    /// It belongs to the other size class, or to the pool of a graph.
    OtherPool,
    /// A smaller one holds the request.
    Larger,
    /// One of the same size lies lower.
    HigherAddress,
    /// Not to be split, and the request is below the limit of this many bytes; no other is looked at then.
    Oversize(u64),
    /// Not to be split, and more than this many bytes larger than the request; no other is looked at then.
    TooLoose(u64),
    /// With the address space after it, it can grow to this size; the next one cannot grow as far and is taken first.
    RoomToGrow(u64),
    /// The search ended at a smaller one that was rejected.
    NotReached,
    /// Its bin lies below the request's and is not searched.
    LowerBin(u32),
    /// Freed on a stream for whose work this one has not waited.
    NotOrdered,
}

/// A free range at the time of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub address: u64,
    pub size: u64,
    /// Nothing: it was taken.
    pub against: Option<Against>,
}

/// Why a request gets what it gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    pub requested_bytes: u64,
    /// What is searched for.
    pub rounded_bytes: u64,
    /// What the card is asked for if nothing fits.
    pub device_bytes: u64,
    /// By address.
    pub candidates: Vec<Candidate>,
    /// What is split off the chosen range and stays free; 0 where it stays whole or nothing was chosen.
    pub rest_bytes: u64,
}

impl Explanation {
    /// The range that is taken; of several that are taken together the lowest.
    pub fn chosen(&self) -> Option<&Candidate> {
        self.candidates.iter().find(|candidate| candidate.against.is_none())
    }
}

/// What speaks against a range when `best` is taken, both as (size, address).
fn against(candidate: (u64, u64), best: Option<(u64, u64)>, wanted: u64) -> Option<Against> {
    if candidate.0 < wanted {
        return Some(Against::TooSmall);
    }
    match best.map_or(Ordering::Less, |best| candidate.cmp(&best)) {
        Ordering::Equal => None,
        _ if best.is_some_and(|best| best.0 == candidate.0) => Some(Against::HigherAddress),
        _ => Some(Against::Larger),
    }
}

/// A free block of PyTorch's, after the blocks whose work is done have been taken back.
struct Free {
    view: View,
    /// Its size with the unmapped piece after it.
    room: u64,
}

pub(super) fn of_caching(held: &OfPyTorch, bytes: u64, stream: u32) -> Option<Explanation> {
    if bytes == 0 {
        return None;
    }
    let config = held.allocator.config();
    let wanted = config.round(bytes);
    let private_pool = held.captures.iter().find(|(captured, _)| *captured == stream).map_or(0, |(_, pool)| *pool);
    let done: &[BlockId] = if held.captures.is_empty() { &held.done } else { &[] };
    let free = free_blocks(held.allocator.blocks(), done);
    let search = Search::new(config, &free, wanted, (stream, private_pool));
    let candidates = free
        .iter()
        .map(|free| Candidate { address: free.view.address, size: free.view.size, against: search.against(free) })
        .collect();
    Some(Explanation {
        requested_bytes: bytes,
        rounded_bytes: wanted,
        device_bytes: config.segment_bytes(wanted),
        candidates,
        rest_bytes: search.rest(config),
    })
}

/// PyTorch's search among the free blocks of one stream and pool.
struct Search<'a> {
    wanted: u64,
    is_small: bool,
    stream: u32,
    private_pool: u32,
    /// Large enough, by size and address.
    fitting: Vec<&'a Free>,
    /// Where in that order it stops.
    place: Option<usize>,
    /// Why it then takes none after all.
    rejected: Option<Against>,
}

impl<'a> Search<'a> {
    fn new(config: &Config, free: &'a [Free], wanted: u64, (stream, private_pool): (u32, u32)) -> Self {
        let is_small = wanted <= crate::MIB;
        let mut this = Self { wanted, is_small, stream, private_pool, fitting: vec![], place: None, rejected: None };
        this.fitting = free.iter().filter(|it| this.is_searched(it) && it.view.size >= wanted).collect();
        this.fitting.sort_by_key(|free| (free.view.size, free.view.address));
        this.place = place_of_best(&this.fitting, config.expandable_segments);
        this.rejected = this.place.and_then(|place| {
            let size = this.fitting[place].view.size;
            let limit = config.max_split_bytes?;
            let rounding = config.max_non_split_rounding_bytes;
            match wanted < limit {
                true => (size >= limit).then_some(Against::Oversize(limit)),
                false => (size >= wanted + rounding).then_some(Against::TooLoose(rounding)),
            }
        });
        this
    }

    fn is_searched(&self, free: &Free) -> bool {
        free.view.stream == self.stream && self.is_of_pool(free)
    }

    fn is_of_pool(&self, free: &Free) -> bool {
        free.view.is_small == self.is_small && free.view.private_pool == self.private_pool
    }

    fn against(&self, free: &Free) -> Option<Against> {
        let view = &free.view;
        if !self.is_of_pool(free) {
            return Some(Against::OtherPool);
        }
        if !self.is_searched(free) {
            return Some(Against::OtherStream(view.stream));
        }
        let Some(at) = self.fitting.iter().position(|other| other.view.address == view.address) else {
            return Some(Against::TooSmall);
        };
        let place = self.place?;
        match at.cmp(&place) {
            Ordering::Less => Some(Against::RoomToGrow(free.room)),
            Ordering::Equal => self.rejected,
            Ordering::Greater if self.rejected.is_some() => Some(Against::NotReached),
            Ordering::Greater if view.size == self.fitting[place].view.size => Some(Against::HigherAddress),
            Ordering::Greater => Some(Against::Larger),
        }
    }

    /// What is split off the block that is taken.
    fn rest(&self, config: &Config) -> u64 {
        let taken = self.place.filter(|_| self.rejected.is_none());
        let rest = taken.map_or(0, |place| self.fitting[place].view.size - self.wanted);
        let splits = if self.is_small || config.expandable_segments {
            rest >= SMALLEST_REST
        } else {
            config.max_split_bytes.is_none_or(|limit| self.wanted < limit) && rest > crate::MIB
        };
        if splits { rest } else { 0 }
    }
}

/// Where in the order of sizes the search stops: at the first, or with expandable segments at the first whose successor
/// could not grow less.
fn place_of_best(fitting: &[&Free], is_expandable: bool) -> Option<usize> {
    if fitting.is_empty() {
        return None;
    }
    let mut place = 0;
    while is_expandable && place + 1 < fitting.len() && fitting[place + 1].room < fitting[place].room {
        place += 1;
    }
    Some(place)
}

/// The free blocks by address. Those of `done` are free by the time of the search, merged with what lies beside them.
fn free_blocks(views: Vec<View>, done: &[BlockId]) -> Vec<Free> {
    let mut out: Vec<Free> = Vec::new();
    let mut last: Option<BlockId> = None;
    for view in views {
        let is_done = view.state == State::Pending && done.contains(&view.id);
        let is_free = is_done || (view.state == State::Free && view.is_mapped);
        let is_unmapped = view.state == State::Free && !view.is_mapped;
        let before = out.last_mut().filter(|_| last.is_some() && view.prev == last);
        match before {
            Some(free) if is_free => {
                free.view.size += view.size;
                free.room += view.size;
                last = Some(view.id);
                continue;
            }
            Some(free) if is_unmapped => free.room += view.size,
            _ => {}
        }
        last = is_free.then_some(view.id);
        if is_free {
            out.push(Free { room: view.size, view });
        }
    }
    out
}

pub(super) fn of_bfc(allocator: &Bfc<Card>, bytes: u64) -> Option<Explanation> {
    if bytes == 0 {
        return None;
    }
    let wanted = bfc::round(bytes);
    let bin = bfc::bin_of(wanted);
    let views: Vec<bfc::View> = allocator.views().into_iter().filter(|view| view.is_free).collect();
    let best = views.iter().map(|view| (view.size, view.address)).filter(|key| key.0 >= wanted).min();
    let reason = |view: &bfc::View| match bfc::bin_of(view.size) {
        its_bin if its_bin < bin => Some(Against::LowerBin(its_bin)),
        _ => against((view.size, view.address), best, wanted),
    };
    let candidates =
        views.iter().map(|view| Candidate { address: view.address, size: view.size, against: reason(view) });
    let rest = best.filter(|best| allocator.options().splits(best.0, wanted)).map_or(0, |best| best.0 - wanted);
    Some(Explanation {
        requested_bytes: bytes,
        rounded_bytes: wanted,
        device_bytes: allocator.next_region_bytes(wanted),
        candidates: candidates.collect(),
        rest_bytes: rest,
    })
}

pub(super) fn of_pool(pool: &StreamPool, bytes: u64, stream: u32) -> Option<Explanation> {
    if bytes == 0 {
        return None;
    }
    let wanted = bytes.next_multiple_of(stream_pool::SPACING);
    let gaps = pool.gaps_for(stream);
    let usable = gaps.iter().filter(|gap| gap.2 && gap.1 >= wanted);
    let best = usable.map(|(address, size, _)| (*size, *address)).min();
    // Where no single range holds it, several together may; the pool itself knows which.
    let joined = if best.is_none() { pool.clone().malloc(bytes, stream).ok().flatten() } else { None };
    let joined = joined.filter(|served| served.source == stream_pool::Source::Joined);
    let reason = |(address, size, may_use): &(u64, u64, bool)| {
        let is_part = joined.is_some_and(|it| (it.address..it.address + it.size).contains(address));
        match (may_use, is_part) {
            (false, _) => Some(Against::NotOrdered),
            (true, true) => None,
            (true, false) => against((*size, *address), best, wanted),
        }
    };
    let candidates: Vec<Candidate> =
        gaps.iter().map(|gap| Candidate { address: gap.0, size: gap.1, against: reason(gap) }).collect();
    let taken: u64 = candidates.iter().filter(|it| it.against.is_none()).map(|it| it.size).sum();
    Some(Explanation {
        requested_bytes: bytes,
        rounded_bytes: wanted,
        device_bytes: stream_pool::growth_bytes(bytes),
        candidates,
        rest_bytes: taken.saturating_sub(wanted),
    })
}

pub(super) fn of_plain(allocator: &Plain, bytes: u64) -> Option<Explanation> {
    if bytes == 0 {
        return None;
    }
    let is_shared = bytes <= plain::SHARED;
    let wanted = if is_shared { bytes.next_multiple_of(plain::SPACING) } else { plain::driver_bytes(bytes) };
    let is_gap = |piece: &Piece| piece.part == Part::Free;
    let gaps: Vec<(u64, u64)> =
        allocator.pieces().iter().filter(|piece| is_gap(piece)).map(|piece| (piece.address, piece.size)).collect();
    let best = gaps.iter().map(|gap| (gap.1, gap.0)).filter(|key| is_shared && key.0 >= wanted).min();
    let candidates = gaps.iter().map(|(address, size)| Candidate {
        address: *address,
        size: *size,
        against: against((*size, *address), best, wanted),
    });
    Some(Explanation {
        requested_bytes: bytes,
        rounded_bytes: wanted,
        device_bytes: plain::driver_bytes(bytes),
        candidates: candidates.collect(),
        rest_bytes: best.map_or(0, |best| best.0 - wanted),
    })
}
