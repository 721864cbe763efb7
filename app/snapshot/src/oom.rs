//! The refusals of a recording, each with its evidence. The rule that names the cause is `vramlab_alloc::refusal`.

use crate::analysis::Analysis;
use crate::model::{Action, Snapshot};
use crate::segments::{self, Metrics};

pub use vramlab_alloc::refusal::{Cause, Evidence, classify};

/// A recorded refusal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Oom {
    /// The event.
    pub event: usize,
    /// What the device had free, as the event says.
    pub device_free: u64,
    /// The device had room: a limit of the process refused (`set_per_process_memory_fraction`). The file does not hold that
    /// limit; it is at least the most that was ever reserved, and [`Evidence::device_free`] is what that leaves.
    pub is_capped: bool,
    pub evidence: Evidence,
    pub cause: Cause,
    pub metrics: Metrics,
}

/// Every refusal of a device, with its cause.
pub fn ooms(snapshot: &Snapshot, analysis: &Analysis, capacity: Option<u64>) -> Vec<Oom> {
    let events = analysis.events(snapshot);
    let refused = events.iter().enumerate().filter(|(_, event)| event.action == Action::Oom);
    refused
        .map(|(idx, event)| {
            let map = segments::at(snapshot, analysis, idx);
            let metrics = map.metrics;
            // A hole of its size that did not serve it belongs to another stream or pool.
            let largest_hole = match metrics.largest_hole < event.size {
                true => metrics.largest_hole,
                false => map.too_small(event.stream, (0, 0), event.size).1.min(event.size.saturating_sub(1)),
            };
            // The event carries the free bytes of the device in the address's place.
            let device_free = event.address;
            let is_capped = analysis.config.segment_bytes(analysis.config.round(event.size)) <= device_free;
            let most_reserved = analysis.timeline.reserved.range(0, idx + 1).map_or(0, |(_, most)| most);
            let left = most_reserved.saturating_sub(metrics.reserved);
            let evidence = Evidence {
                request: event.size,
                device_free: if is_capped { left } else { device_free },
                reserved: metrics.reserved,
                inactive: metrics.inactive,
                largest_hole,
                releasable: metrics.releasable,
                capacity,
                context: 0,
                is_leak_suspect: analysis.growth.verdict == crate::growth::Verdict::LeakSuspect,
            };
            Oom { event: idx, device_free, is_capped, evidence, cause: classify(&evidence), metrics }
        })
        .collect()
}
