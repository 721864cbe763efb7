//! One face for every allocator: events in, blocks and counters out.

use super::why::{self, Explanation, Source};
use super::{Block, Counters, Kind, Part, Piece, Refusal};
use crate::bfc::{self, Bfc, ChunkId};
use crate::caching::{self, BlockId, Caching, Card, Class, Config, Metric, State};
use crate::plain::Plain;
use crate::stream_pool::{self, StreamPool};
use crate::tiles::TileId;
use crate::trace::Event;

type Served = Result<Option<Block>, Refusal>;

/// An allocator with the blocks that the requests of a trace hold.
#[derive(Clone, Debug)]
pub(super) enum Engine {
    Caching(Box<OfPyTorch>),
    Bfc(Box<Held<Bfc<Card>, ChunkId>>),
    StreamPool(Box<Held<StreamPool, TileId>>),
    Plain(Box<Held<Plain, TileId>>),
}

/// An allocator, and what each request of the trace got.
#[derive(Clone, Debug)]
pub(super) struct Held<A, Id> {
    pub allocator: A,
    ids: Vec<Option<Id>>,
    n_ooms: u64,
}

impl<A, Id: Copy> Held<A, Id> {
    fn new(allocator: A, n_requests: usize) -> Self {
        Self { allocator, ids: vec![None; n_requests], n_ooms: 0 }
    }

    fn refuse(&mut self, error: &impl std::fmt::Display) -> Refusal {
        self.n_ooms += 1;
        Refusal { message: error.to_string(), is_oom: true }
    }
}

/// PyTorch's allocator, with what the caller of `record_stream` and of graph captures has to remember.
#[derive(Clone, Debug)]
pub(super) struct OfPyTorch {
    pub allocator: Caching<Card>,
    ids: Vec<Option<BlockId>>,
    /// Requests that a second stream uses.
    is_shared: Vec<bool>,
    /// Freed while a second stream may still use them.
    pending: Vec<BlockId>,
    /// Of those, the ones whose work is done; the next request takes them back.
    pub done: Vec<BlockId>,
    /// Captured streams with their private pools.
    pub captures: Vec<(u32, u32)>,
}

impl Engine {
    pub fn new(kind: &Kind, capacity_bytes: u64, n_requests: usize) -> Self {
        let of_options = |options: bfc::Options| {
            Self::Bfc(Box::new(Held::new(Bfc::new(options, Card::new(capacity_bytes)), n_requests)))
        };
        let plain = || Self::Plain(Box::new(Held::new(Plain::new(capacity_bytes), n_requests)));
        match kind {
            Kind::Caching(config) => Self::Caching(Box::new(OfPyTorch::new(config, capacity_bytes, n_requests))),
            Kind::Bfc(options) => of_options(*options),
            Kind::Jax(policy) => policy.options(capacity_bytes).map_or_else(plain, of_options),
            Kind::StreamPool { release_threshold_bytes } => {
                let pool = StreamPool::new(capacity_bytes, *release_threshold_bytes);
                Self::StreamPool(Box::new(Held::new(pool, n_requests)))
            }
            Kind::Plain => plain(),
        }
    }

    #[inline]
    pub fn play(&mut self, event: Event) -> Served {
        match self {
            Self::Caching(held) => held.play(event),
            Self::Bfc(held) => held.play_bfc(event),
            Self::StreamPool(held) => held.play_pool(event),
            Self::Plain(held) => held.play_plain(event),
        }
    }

    pub fn explain(&self, bytes: u64, stream: u32) -> Option<Explanation> {
        match self {
            Self::Caching(held) => why::of_caching(held, bytes, stream),
            Self::Bfc(held) => why::of_bfc(&held.allocator, bytes),
            Self::StreamPool(held) => why::of_pool(&held.allocator, bytes, stream),
            Self::Plain(held) => why::of_plain(&held.allocator, bytes),
        }
    }

    pub fn counters(&self) -> Counters {
        match self {
            Self::Caching(held) => of_caching(&held.allocator),
            Self::Bfc(held) => of_bfc(&held.allocator, held.n_ooms),
            Self::StreamPool(held) => of_pool(&held.allocator, held.n_ooms),
            Self::Plain(held) => of_plain(&held.allocator, held.n_ooms),
        }
    }

    pub fn pieces(&self) -> Vec<Piece> {
        match self {
            Self::Caching(held) => caching_pieces(&held.allocator),
            Self::Bfc(held) => bfc_pieces(&held.allocator),
            Self::StreamPool(held) => held.allocator.pieces(),
            Self::Plain(held) => held.allocator.pieces(),
        }
    }

    pub fn bins(&self) -> Option<Vec<(u64, u64)>> {
        match self {
            Self::Bfc(held) => Some(held.allocator.bins().to_vec()),
            _ => None,
        }
    }
}

impl OfPyTorch {
    fn new(config: &Config, capacity_bytes: u64, n_requests: usize) -> Self {
        Self {
            allocator: Caching::new(config.clone(), Card::new(capacity_bytes)),
            ids: vec![None; n_requests],
            is_shared: vec![false; n_requests],
            pending: Vec::new(),
            done: Vec::new(),
            captures: Vec::new(),
        }
    }

    fn play(&mut self, event: Event) -> Served {
        match event {
            Event::Malloc { id, bytes, stream } => return self.malloc(id, bytes, stream),
            Event::Free { id, .. } => self.free(id),
            Event::Use { id, stream } => {
                let block = self.ids[id as usize].map(|block| self.allocator.view(block));
                self.is_shared[id as usize] |= block.is_some_and(|block| block.stream != stream);
            }
            Event::Wait { .. } => {}
            Event::Sync => {
                for id in self.pending.drain(..) {
                    if self.allocator.event_done(id).is_ok() {
                        self.done.push(id);
                    }
                }
            }
            Event::EmptyCache => {
                self.allocator.empty_cache();
                self.forget_pending();
            }
            Event::BeginCapture { stream, pool } => {
                self.allocator.begin_capture(stream, pool);
                self.captures.push((stream, pool));
            }
            Event::EndCapture { stream } => {
                self.allocator.end_capture(stream);
                self.captures.retain(|(captured, _)| *captured != stream);
            }
            Event::DestroyGraph { pool } => self.allocator.release_pool(pool),
        }
        Ok(None)
    }

    fn malloc(&mut self, id: u32, bytes: u64, stream: u32) -> Served {
        let served = self.allocator.malloc(bytes, stream);
        if self.captures.is_empty() {
            if bytes > 0 {
                self.done.clear();
            }
            // A flush waits for everything that was pending.
            if served.as_ref().map_or(true, |served| served.is_some_and(|it| it.why == caching::Why::AfterFlush)) {
                self.forget_pending();
            }
        }
        match served {
            Ok(None) => Ok(None),
            Ok(Some(it)) => {
                self.ids[id as usize] = Some(it.id);
                let source = match it.why {
                    caching::Why::Cached => Source::Cached,
                    caching::Why::Device => Source::Device,
                    caching::Why::AfterReturning => Source::AfterReturning,
                    caching::Why::AfterFlush => Source::AfterFlush,
                };
                Ok(Some(Block { address: it.address, size: it.size, source }))
            }
            Err(caching::Error::OutOfMemory { segment_bytes, reserved_bytes, allocated_bytes, .. }) => {
                let error = crate::OutOfMemory {
                    tried_bytes: segment_bytes,
                    reserved_bytes,
                    allocated_bytes,
                    capacity_bytes: self.allocator.device.capacity_bytes,
                };
                Err(Refusal { message: error.to_string(), is_oom: true })
            }
            Err(error) => Err(Refusal { message: error.to_string(), is_oom: false }),
        }
    }

    fn free(&mut self, id: u32) {
        let Some(block) = self.ids[id as usize].take() else { return };
        if self.is_shared[id as usize] {
            if self.allocator.free_pending(block).is_ok() {
                self.pending.push(block);
            }
        } else {
            // Only what is held is freed: a trace frees nothing twice.
            let freed = self.allocator.free(block);
            debug_assert!(freed.is_ok());
        }
    }

    fn forget_pending(&mut self) {
        self.pending.clear();
        self.done.clear();
    }
}

impl Held<Bfc<Card>, ChunkId> {
    fn play_bfc(&mut self, event: Event) -> Served {
        match event {
            Event::Malloc { id, bytes, .. } => match self.allocator.malloc(bytes) {
                Ok(served) => {
                    self.ids[id as usize] = Some(served.chunk);
                    let source = match served.source {
                        bfc::Source::Pool => Source::Cached,
                        bfc::Source::NewRegion => Source::Device,
                        bfc::Source::AfterReturning => Source::AfterReturning,
                    };
                    Ok(Some(Block { address: served.address, size: served.size, source }))
                }
                Err(error @ bfc::Error::OutOfMemory { .. }) => Err(self.refuse(&error)),
                Err(error) => Err(Refusal { message: error.to_string(), is_oom: false }),
            },
            Event::Free { id, .. } => {
                let freed = self.ids[id as usize].take().map(|chunk| self.allocator.free(chunk));
                debug_assert!(freed.is_none_or(|freed| freed.is_ok()));
                Ok(None)
            }
            _ => Ok(None),
        }
    }
}

impl Held<StreamPool, TileId> {
    fn play_pool(&mut self, event: Event) -> Served {
        match event {
            Event::Malloc { id, bytes, stream } => {
                let served = self.allocator.malloc(bytes, stream);
                let served = served.map_err(|error| self.refuse(&error))?;
                self.ids[id as usize] = served.map(|served| served.id);
                return Ok(served.map(|served| {
                    let source = match served.source {
                        stream_pool::Source::SameStream => Source::Cached,
                        stream_pool::Source::OrderedBefore => Source::OrderedBefore,
                        stream_pool::Source::Synchronised => Source::Synchronised,
                        stream_pool::Source::Joined => Source::Joined,
                        stream_pool::Source::Grown => Source::Device,
                    };
                    Block { address: served.address, size: served.size, source }
                }));
            }
            Event::Free { id, stream } => {
                if let Some(block) = self.ids[id as usize].take() {
                    self.allocator.free(block, stream);
                }
            }
            Event::Wait { stream, on } => self.allocator.wait(stream, on),
            Event::Sync => self.allocator.sync(),
            _ => {}
        }
        Ok(None)
    }
}

impl Held<Plain, TileId> {
    fn play_plain(&mut self, event: Event) -> Served {
        match event {
            Event::Malloc { id, bytes, .. } => {
                let served = self.allocator.malloc(bytes).map_err(|error| self.refuse(&error))?;
                self.ids[id as usize] = served.map(|served| served.id);
                Ok(served.map(|served| {
                    let source = if served.is_shared { Source::Cached } else { Source::Device };
                    Block { address: served.address, size: served.size, source }
                }))
            }
            Event::Free { id, .. } => {
                if let Some(block) = self.ids[id as usize].take() {
                    self.allocator.free(block);
                }
                Ok(None)
            }
            _ => Ok(None),
        }
    }
}

fn of_caching(allocator: &Caching<Card>) -> Counters {
    let now = |metric| allocator.stats().get(metric, Class::All).current;
    Counters {
        allocated_bytes: now(Metric::AllocatedBytes),
        active_bytes: now(Metric::ActiveBytes),
        requested_bytes: now(Metric::RequestedBytes),
        reserved_bytes: now(Metric::ReservedBytes),
        inactive_split_bytes: now(Metric::InactiveSplitBytes),
        n_segments: now(Metric::Segment),
        n_retries: allocator.stats().n_retries,
        n_ooms: allocator.stats().n_ooms,
        largest_free_bytes: allocator.largest_free(),
        total_free_bytes: allocator.total_free(),
    }
}

fn of_bfc(bfc: &Bfc<Card>, n_ooms: u64) -> Counters {
    Counters {
        allocated_bytes: bfc.in_use_bytes,
        active_bytes: bfc.in_use_bytes,
        requested_bytes: bfc.requested_bytes,
        reserved_bytes: bfc.pool_bytes,
        n_segments: bfc.regions().count() as u64,
        n_ooms,
        largest_free_bytes: bfc.largest_free(),
        total_free_bytes: bfc.pool_bytes - bfc.in_use_bytes,
        ..Counters::default()
    }
}

fn of_pool(pool: &StreamPool, n_ooms: u64) -> Counters {
    let occupied = pool.occupied_bytes;
    Counters {
        allocated_bytes: pool.used_bytes,
        active_bytes: occupied,
        requested_bytes: pool.used_bytes,
        reserved_bytes: pool.reserved_bytes(),
        n_segments: pool.n_segments(),
        n_ooms,
        largest_free_bytes: pool.largest_free(),
        total_free_bytes: pool.reserved_bytes() - occupied,
        ..Counters::default()
    }
}

fn of_plain(plain: &Plain, n_ooms: u64) -> Counters {
    Counters {
        allocated_bytes: plain.allocated_bytes,
        active_bytes: plain.allocated_bytes,
        requested_bytes: plain.requested_bytes,
        reserved_bytes: plain.reserved_bytes(),
        n_segments: plain.n_segments(),
        n_ooms,
        largest_free_bytes: plain.largest_free(),
        total_free_bytes: plain.reserved_bytes() - plain.allocated_bytes,
        ..Counters::default()
    }
}

fn caching_pieces(allocator: &Caching<Card>) -> Vec<Piece> {
    let mut n_segments = 0;
    let piece = |view: caching::View| {
        n_segments += u32::from(view.prev.is_none());
        let part = match view.state {
            State::Allocated => Part::Used,
            State::Pending => Part::Pending,
            State::Free if view.is_mapped => Part::Free,
            State::Free => Part::Unmapped,
        };
        let requested = if view.state == State::Free { 0 } else { view.requested };
        Piece { address: view.address, size: view.size, requested, part, segment: n_segments - 1 }
    };
    allocator.blocks().into_iter().map(piece).collect()
}

fn bfc_pieces(bfc: &Bfc<Card>) -> Vec<Piece> {
    let starts: Vec<u64> = bfc.regions().map(|region| region.0).collect();
    let piece = |view: bfc::View| Piece {
        address: view.address,
        size: view.size,
        requested: view.requested,
        part: if view.is_free { Part::Free } else { Part::Used },
        segment: starts.partition_point(|start| *start <= view.address).saturating_sub(1) as u32,
    };
    bfc.views().into_iter().map(piece).collect()
}
