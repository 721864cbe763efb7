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
            let metrics = segments::at(snapshot, analysis, idx).metrics;
            let evidence = Evidence {
                request: event.size,
                // The event carries the free bytes of the device in the address's place.
                device_free: event.address,
                reserved: metrics.reserved,
                inactive: metrics.inactive,
                largest_hole: metrics.largest_hole,
                releasable: metrics.releasable,
                capacity,
                context: 0,
                is_leak_suspect: analysis.growth.verdict == crate::growth::Verdict::LeakSuspect,
            };
            Oom { event: idx, evidence, cause: classify(&evidence), metrics }
        })
        .collect()
}
