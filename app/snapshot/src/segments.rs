//! The address space at any moment: segments, the blocks and holes in them, and what of the cache is of use.

use crate::analysis::Analysis;
use crate::ground::stretches;
use crate::model::{Action, Block, BlockState, Segment, Snapshot};
use vramlab_alloc::tally::{Breach, Part, breaches};
use vramlab_units::Localized;

/// Pages of expandable segments go back to the device one by one.
pub(crate) const SMALL_PAGE: u64 = 2 << 20;
const LARGE_PAGE: u64 = 20 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Allocated,
    /// Freed, while another stream may still use it.
    Pending,
    Hole,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub address: u64,
    pub size: u64,
    /// What was asked for; 0 for a hole.
    pub requested: u64,
    pub kind: Kind,
    /// Index into [`Analysis::lives`].
    pub life: Option<u32>,
}

/// A segment, or a contiguous run of mapped pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentAt {
    pub address: u64,
    pub size: u64,
    /// Index into [`Snapshot::streams`].
    pub stream: u32,
    /// (0, 0) is the default pool; others belong to CUDA graphs.
    pub pool: (u64, u64),
    /// In older files only segments that are there at the end name their pool. Of those that were gone by then `pool` is a
    /// guess.
    pub is_pool_known: bool,
    pub is_small: bool,
    pub is_expandable: bool,
    /// By address, without a gap.
    pub pieces: Vec<Piece>,
}

impl SegmentAt {
    pub fn is_free(&self) -> bool {
        self.pieces.iter().all(|piece| piece.kind == Kind::Hole)
    }

    /// Bytes that `empty_cache` would return.
    fn releasable(&self) -> u64 {
        if !self.is_expandable {
            return if self.is_free() { self.size } else { 0 };
        }
        let page = if self.is_small { SMALL_PAGE } else { LARGE_PAGE };
        let holes = self.pieces.iter().filter(|piece| piece.kind == Kind::Hole);
        holes
            .map(|hole| {
                let offset = hole.address - self.address;
                let first = offset.div_ceil(page).saturating_mul(page);
                (offset.saturating_add(hole.size) / page * page).saturating_sub(first)
            })
            .sum()
    }
}

/// What the pieces add up to, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Metrics {
    pub reserved: u64,
    pub allocated: u64,
    pub pending: u64,
    pub requested: u64,
    /// Lost inside allocated blocks.
    pub rounding: u64,
    /// In holes.
    pub inactive: u64,
    pub largest_hole: u64,
    pub n_holes: usize,
    /// Of the holes, what `empty_cache` would return.
    pub releasable: u64,
    /// 1 − largest hole ÷ all holes; 0 without holes.
    pub fragmentation: f64,
}

impl Metrics {
    /// In holes beside blocks in use: neither returned by `empty_cache` nor larger than the hole.
    pub fn unreleasable(&self) -> u64 {
        self.inactive.saturating_sub(self.releasable)
    }

    pub fn of(segments: &[SegmentAt]) -> Self {
        Self::of_each(segments.iter())
    }

    pub fn of_each<'a>(segments: impl Iterator<Item = &'a SegmentAt>) -> Self {
        let mut out = Self::default();
        for segment in segments {
            out.reserved = out.reserved.saturating_add(segment.size);
            out.releasable = out.releasable.saturating_add(segment.releasable());
            for piece in &segment.pieces {
                match piece.kind {
                    Kind::Allocated => {
                        out.allocated = out.allocated.saturating_add(piece.size);
                        out.requested = out.requested.saturating_add(piece.requested);
                        out.rounding = out.rounding.saturating_add(piece.size.saturating_sub(piece.requested));
                    }
                    Kind::Pending => out.pending = out.pending.saturating_add(piece.size),
                    Kind::Hole => {
                        out.inactive = out.inactive.saturating_add(piece.size);
                        out.n_holes += 1;
                        out.largest_hole = out.largest_hole.max(piece.size);
                    }
                }
            }
        }
        if out.inactive > 0 {
            out.fragmentation = 1.0 - out.largest_hole as f64 / out.inactive as f64;
        }
        out
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SegmentMap {
    /// By address.
    pub segments: Vec<SegmentAt>,
    pub metrics: Metrics,
}

impl SegmentMap {
    /// Bytes in holes of `stream` that are smaller than `bytes`, and the largest of all its holes. A request of up to
    /// 1 MiB is served from the small pool, others from the large one.
    pub fn too_small(&self, stream: u32, pool: (u64, u64), bytes: u64) -> (u64, u64) {
        let is_small = bytes <= 1 << 20;
        let fitting =
            |segment: &&SegmentAt| (segment.stream, segment.pool, segment.is_small) == (stream, pool, is_small);
        let pieces = self.segments.iter().filter(fitting).flat_map(|segment| &segment.pieces);
        let holes = pieces.filter(|piece| piece.kind == Kind::Hole);
        holes.fold((0_u64, 0), |(sum, most), hole| {
            (sum.saturating_add(if hole.size < bytes { hole.size } else { 0 }), most.max(hole.size))
        })
    }
}

/// The address space after `at` events.
pub fn at(snapshot: &Snapshot, analysis: &Analysis, at: usize) -> SegmentMap {
    let mut segments = Vec::new();
    let mut live: Vec<u32> = analysis.alive.at(&analysis.lives, at).collect();
    live.sort_by_key(|idx| analysis.lives[*idx as usize].address);
    for (address, stretch) in stretches(snapshot, analysis, at) {
        let end = address.saturating_add(stretch.size);
        let first = live.partition_point(|idx| analysis.lives[*idx as usize].address < address);
        let last = live.partition_point(|idx| analysis.lives[*idx as usize].address < end);
        segments.push(SegmentAt {
            address,
            size: stretch.size,
            stream: stretch.stream,
            pool: stretch.pool,
            is_pool_known: stretch.is_pool_known,
            is_small: stretch.is_small,
            is_expandable: stretch.is_expandable,
            pieces: pieces(analysis, &live[first..last], address, end, at),
        });
    }
    let metrics = Metrics::of(&segments);
    SegmentMap { segments, metrics }
}

fn pieces(analysis: &Analysis, live: &[u32], start: u64, end: u64, at: usize) -> Vec<Piece> {
    let hole =
        |address: u64, until: u64| Piece { address, size: until - address, requested: 0, kind: Kind::Hole, life: None };
    let mut out = Vec::with_capacity(live.len() * 2 + 1);
    let mut next = start;
    for idx in live {
        let life = &analysis.lives[*idx as usize];
        // Where the recording contradicts itself, blocks may overlap: the one that came first is drawn whole.
        let address = life.address.max(next);
        let until = life.address.saturating_add(life.size).min(end);
        if until <= address {
            continue;
        }
        if address > next {
            out.push(hole(next, address));
        }
        let kind = if life.is_allocated(at) { Kind::Allocated } else { Kind::Pending };
        out.push(Piece { address, size: until - address, requested: life.requested, kind, life: Some(*idx) });
        next = until;
    }
    if next < end {
        out.push(hole(next, end));
    }
    out
}

/// Of what gives memory, whether that stays to the end: only then does the file name its pool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stays {
    /// One for each of [`Analysis::segment_events`]; false for those that take memory.
    pub(crate) events: Vec<bool>,
    /// Native segments from before the first event that go in the window, by address.
    pub(crate) gone: crate::fast::FastMap<u64, ()>,
}

impl Stays {
    /// A run of mapped pages belongs to one pool for as long as its range is reserved.
    pub fn of(events: &[crate::Event], segment_events: &[u32]) -> Self {
        let mut out = Self { events: vec![false; segment_events.len()], ..Self::default() };
        for (place, idx) in segment_events.iter().enumerate().rev() {
            let event = &events[*idx as usize];
            match event.action {
                Action::SegmentFree => drop(out.gone.insert(event.address, ())),
                Action::SegmentAlloc => out.events[place] = out.gone.remove(&event.address).is_none(),
                Action::SegmentMap => out.events[place] = true,
                _ => {}
            }
        }
        out
    }
}

/// Contradictions in a recorded segment: blocks that do not fill it, gaps, free blocks side by side.
pub fn violations(segment: &Segment) -> Vec<Localized> {
    let part =
        |block: &Block| Part { address: block.address, size: block.size, is_free: block.state == BlockState::Inactive };
    let parts: Vec<Part> = segment.blocks.iter().map(part).collect();
    let words = |breach: Breach| {
        let (zh, en) = match breach {
            Breach::Sum { found, size } => (
                format!("块加起来 {found} 字节，段有 {size} 字节"),
                format!("its blocks sum to {found} bytes, it has {size}"),
            ),
            Breach::Gap { address } => {
                (format!("0x{address:x} 处有空缺或重叠"), format!("there is a gap or an overlap at 0x{address:x}"))
            }
            Breach::Unmerged { address } => (
                format!("0x{address:x} 处两个空闲块相邻，没有合并"),
                format!("two free blocks lie side by side at 0x{address:x}"),
            ),
        };
        let at = segment.address;
        Localized::both(format!("段 0x{at:x}：{zh}"), format!("segment 0x{at:x}: {en}"))
    };
    breaches(segment.size, &parts).into_iter().map(words).collect()
}
