//! The refusals of a recording, each with its evidence. The rule that names the cause is `vramlab_alloc::refusal`.

use crate::analysis::{Analysis, Options};
use crate::model::{Action, Event, Snapshot};
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
    /// limit; it is at least the most that was ever reserved, and [`Evidence::device_free`] is what that leaves, or what
    /// the limit leaves that the reader gave.
    pub is_capped: bool,
    /// The reader said what the process was allowed.
    pub is_limit_given: bool,
    pub evidence: Evidence,
    pub cause: Cause,
    /// The cause under another limit, where the unknown limit decides.
    pub otherwise: Option<Otherwise>,
    pub metrics: Metrics,
}

/// A limit that the file does not hold may leave more than is known for certain: then the cause is another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Otherwise {
    pub cause: Cause,
    /// From this much room under the limit on, bytes.
    pub room: u64,
}

/// Every refusal of a device, with its cause.
pub fn ooms(snapshot: &Snapshot, analysis: &Analysis, options: &Options) -> Vec<Oom> {
    let events = analysis.events(snapshot);
    let refused = events.iter().enumerate().filter(|(_, event)| event.action == Action::Oom);
    refused.map(|(idx, event)| judged(snapshot, analysis, options, idx, event)).collect()
}

fn judged(snapshot: &Snapshot, analysis: &Analysis, options: &Options, idx: usize, event: &Event) -> Oom {
    let map = segments::at(snapshot, analysis, idx);
    let metrics = map.metrics;
    // A hole of its size that did not serve it belongs to another stream or pool.
    let largest_hole = match metrics.largest_hole < event.size {
        true => metrics.largest_hole,
        false => map.too_small(event.stream, (0, 0), event.size).1.min(event.size.saturating_sub(1)),
    };
    // The event carries the free bytes of the device in the address's place.
    let device_free = event.address;
    let wanted = analysis.config.segment_bytes(analysis.config.round(event.size));
    let is_capped = wanted <= device_free;
    let limit =
        options.limit.unwrap_or_else(|| analysis.timeline.reserved.range(0, idx + 1).map_or(0, |(_, most)| most));
    let left = limit.saturating_sub(metrics.reserved).min(device_free);
    let evidence = Evidence {
        request: event.size,
        device_free: if is_capped || options.limit.is_some() { left } else { device_free },
        reserved: metrics.reserved,
        inactive: metrics.inactive,
        largest_hole,
        releasable: metrics.releasable,
        // What a limit refuses has nothing to do with who else is on the card.
        capacity: if is_capped { options.limit } else { options.capacity },
        context: 0,
        is_leak_suspect: analysis.growth.verdict == crate::growth::Verdict::LeakSuspect,
    };
    let is_open = is_capped && options.limit.is_none();
    let cause = classify(&evidence);
    let otherwise = if is_open { under_more(&evidence, cause, wanted) } else { None };
    Oom {
        event: idx,
        device_free,
        is_capped,
        is_limit_given: options.limit.is_some(),
        evidence,
        cause,
        otherwise,
        metrics,
    }
}

/// A limit that refused left less than the segment that was wanted. What would that most be called?
fn under_more(evidence: &Evidence, cause: Cause, wanted: u64) -> Option<Otherwise> {
    let most = Evidence { device_free: wanted.min(evidence.request).saturating_sub(1), ..*evidence };
    let other = classify(&most);
    let room = evidence.request.saturating_sub(evidence.inactive);
    (most.device_free > evidence.device_free && other != cause).then_some(Otherwise { cause: other, room })
}

/// How much the allocator could have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    pub bytes: u64,
    /// The file does not hold it: the most that was reserved before a limit refused. The limit itself may be higher.
    pub is_guess: bool,
}

/// What the reader says, else what the first refusal tells; nothing where nothing was refused.
pub fn room(analysis: &Analysis, limit: Option<u64>) -> Option<Room> {
    if let Some(bytes) = limit {
        return Some(Room { bytes, is_guess: false });
    }
    let oom = analysis.ooms.first()?;
    let bytes = oom.evidence.reserved.saturating_add(oom.evidence.device_free);
    Some(Room { bytes, is_guess: oom.is_capped })
}
