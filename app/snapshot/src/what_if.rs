//! The same requests under other settings: what would have been reserved, and whether it would have fitted.

use crate::analysis::Analysis;
use crate::fast::FastMap;
use crate::model::{Action, Event, Snapshot};
use crate::oom::Room;
use crate::replay::is_explicit;
use vramlab_alloc::caching::{BlockId, Caching, Card, Class, Config, Metric};

/// Where no refusal tells how large the device is, it never refuses.
const ENDLESS: u64 = 1 << 42;

/// Settings that are worth a try, as `PYTORCH_ALLOC_CONF` writes them.
pub const USUAL: [&str; 4] = ["", "expandable_segments:True", "roundup_power2_divisions:4", "max_split_size_mb:128"];

/// What a run under other settings would have held, bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhatIf {
    pub peak_reserved: u64,
    pub final_reserved: u64,
    pub peak_allocated: u64,
    /// Segments asked of the device; under expandable segments mapped pieces are not counted.
    pub n_segments_at_peak: u64,
    pub n_retries: u64,
    pub n_ooms: u64,
    /// What the allocator could have; nothing where neither the reader nor a refusal tells.
    pub room: Option<Room>,
}

/// Serves the recorded requests by `config`. Blocks from before the first event are asked for first, by address.
pub fn replay_under(snapshot: &Snapshot, analysis: &Analysis, config: &Config) -> WhatIf {
    let events = analysis.events(snapshot);
    let capacity = analysis.room.map(|room| room.bytes.min(ENDLESS));
    let mut run = Run {
        machine: Caching::new(config.clone(), Card::new(capacity.unwrap_or(ENDLESS))),
        blocks: FastMap::default(),
        pools: pools(snapshot, analysis),
    };
    for part in &analysis.replay.before.parts {
        for live in &part.live {
            run.alloc(part.private_pool, live.address, live.requested, part.stream);
        }
    }
    let mut skips = false;
    for (idx, event) in events.iter().enumerate() {
        match event.action {
            Action::Alloc => run.alloc(run.pool_at(event.address), event.address, event.size, event.stream),
            Action::Oom => {
                // The program may go on without it: so does the replay.
                if let Ok(Some(served)) = run.machine.malloc(event.size, event.stream) {
                    let _ = run.machine.free(served.id);
                }
            }
            Action::FreeRequested => skips = run.free(event, events.get(idx + 1)),
            Action::FreeCompleted if skips => skips = false,
            Action::FreeCompleted => {
                if let Some(id) = run.blocks.remove(&event.address) {
                    let _ = run.machine.event_done(id);
                }
            }
            Action::SegmentFree | Action::SegmentUnmap if is_explicit(events, idx) => run.machine.empty_cache(),
            _ => {}
        }
    }
    let stats = run.machine.stats();
    let get = |metric| stats.get(metric, Class::All);
    WhatIf {
        peak_reserved: get(Metric::ReservedBytes).peak,
        final_reserved: get(Metric::ReservedBytes).current,
        peak_allocated: get(Metric::AllocatedBytes).peak,
        n_segments_at_peak: get(Metric::Segment).peak,
        n_retries: stats.n_retries,
        n_ooms: stats.n_ooms,
        room: analysis.room,
    }
}

struct Run {
    machine: Caching<Card>,
    /// By the recorded address.
    blocks: FastMap<u64, BlockId>,
    /// Start, end and private pool of the segments that have one.
    pools: Vec<(u64, u64, u32)>,
}

impl Run {
    fn alloc(&mut self, pool: u32, address: u64, bytes: u64, stream: u32) {
        if let Ok(Some(served)) = self.machine.malloc_in(pool, bytes, stream) {
            self.blocks.insert(address, served.id);
        }
    }

    /// True if the completion follows at once.
    fn free(&mut self, event: &Event, next: Option<&Event>) -> bool {
        let is_plain = next.is_some_and(|next| next.action == Action::FreeCompleted && next.address == event.address);
        if let Some(id) = self.blocks.get(&event.address).copied() {
            // Freed twice in the recording: the second changes nothing.
            let _ = if is_plain { self.machine.free(id) } else { self.machine.free_pending(id) };
            if is_plain {
                self.blocks.remove(&event.address);
            }
        }
        is_plain
    }

    fn pool_at(&self, address: u64) -> u32 {
        let idx = self.pools.partition_point(|(start, ..)| *start <= address);
        let around = idx.checked_sub(1).map(|idx| self.pools[idx]);
        around.filter(|(_, end, _)| address < *end).map_or(0, |(.., pool)| pool)
    }
}

fn pools(snapshot: &Snapshot, analysis: &Analysis) -> Vec<(u64, u64, u32)> {
    let mut out: Vec<(u64, u64, u32)> = snapshot
        .segments
        .iter()
        .filter(|segment| segment.device as usize == analysis.device && segment.pool != (0, 0))
        .map(|segment| {
            let number = analysis.replay.before.pool_number(segment.pool);
            (segment.address, segment.address.saturating_add(segment.size), number)
        })
        .collect();
    out.sort_unstable();
    out
}
