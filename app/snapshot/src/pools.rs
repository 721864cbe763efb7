//! The pools at a moment: what each reserves, what of it is in use, and what its holes are worth. A request is served only
//! from its own pool and stream, so a hole counts where it lies.

use crate::segments::{Metrics, SegmentAt, SegmentMap};
use std::collections::BTreeMap;
use vramlab_units::Localized;

/// Segments that may serve the same requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoolKey {
    /// (0, 0) is the default pool; nothing where the file does not say: the segment was gone when it was written.
    pub pool: Option<(u64, u64)>,
    /// Index into [`crate::Snapshot::streams`].
    pub stream: u32,
    pub is_small: bool,
}

impl PoolKey {
    pub fn of(segment: &SegmentAt) -> Self {
        let pool = segment.is_pool_known.then_some(segment.pool);
        Self { pool, stream: segment.stream, is_small: segment.is_small }
    }
}

/// The name of a pool by its id. PyTorch numbers pools of graphs as (n, 0), and those that a program makes itself
/// (`graph_pool_handle()`, `MemPool`) as (0, n).
pub fn name(pool: Option<(u64, u64)>) -> Localized {
    match pool {
        // The replay found that there must have been one.
        Some((u64::MAX, n)) => {
            Localized::both(format!("没有留名的图池 {}", n + 1), format!("unnamed graph pool {}", n + 1))
        }
        Some((0, 0)) => Localized::both("默认池", "default pool"),
        Some((n, 0)) => Localized::both(format!("CUDA graph 的池 {n}"), format!("pool of CUDA graph {n}")),
        Some((0, n)) => Localized::both(format!("自建的池 {n}"), format!("pool {n} of the program's own")),
        Some((a, b)) => Localized::both(format!("私有池 ({a}, {b})"), format!("private pool ({a}, {b})")),
        None => Localized::both("池未记录", "pool not recorded"),
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct PoolAt {
    pub key: PoolKey,
    pub n_segments: usize,
    pub metrics: Metrics,
    /// Indices into [`SegmentMap::segments`], largest first.
    pub segments: Vec<u32>,
}

/// Pools by what they reserve, largest first; those that the file does not name last.
pub fn pools(map: &SegmentMap) -> Vec<PoolAt> {
    let mut groups: BTreeMap<PoolKey, Vec<u32>> = BTreeMap::new();
    for (idx, segment) in map.segments.iter().enumerate() {
        groups.entry(PoolKey::of(segment)).or_default().push(idx as u32);
    }
    let pool = |(key, mut segments): (PoolKey, Vec<u32>)| {
        segments.sort_by_key(|idx| std::cmp::Reverse(map.segments[*idx as usize].size));
        let metrics = Metrics::of_each(segments.iter().map(|idx| &map.segments[*idx as usize]));
        PoolAt { key, n_segments: segments.len(), metrics, segments }
    };
    let mut out: Vec<PoolAt> = groups.into_iter().map(pool).collect();
    out.sort_by_key(|pool| (pool.key.pool.is_none(), std::cmp::Reverse(pool.metrics.reserved), pool.key));
    out
}
