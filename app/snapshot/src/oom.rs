//! Why a request was refused: what was asked for against what the device had, what the cache held, and in which pieces.

use crate::analysis::Analysis;
use crate::model::{Action, Snapshot};
use crate::segments::{self, Metrics};
use vramlab_units::Text;

/// Outside the allocator from this share of the device on.
const OUTSIDE_SHARE: f64 = 0.1;

/// What is known at the moment of the refusal, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    pub request: u64,
    pub device_free: u64,
    pub reserved: u64,
    /// Free, in the cache.
    pub inactive: u64,
    pub largest_hole: u64,
    /// Of the cache, what could go back to the device.
    pub releasable: u64,
    /// All memory of the device; a snapshot does not say it.
    pub capacity: Option<u64>,
    /// What the CUDA context takes.
    pub context: u64,
    /// Memory grows from step to step.
    pub is_leak_suspect: bool,
}

impl Evidence {
    /// On the device, and neither reserved nor the context's: other libraries and other processes.
    pub fn outside(&self) -> Option<u64> {
        let used = self.capacity?.saturating_sub(self.device_free);
        Some(used.saturating_sub(self.reserved).saturating_sub(self.context))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// More than the device could ever give.
    TooBig,
    /// It would fit now: a peak that has passed, or another process.
    FitsNow,
    /// The free bytes are enough, and none of their pieces is.
    Fragmentation,
    /// Something beside the allocator takes more than a tenth of the device.
    Outside,
    Leak,
    /// The memory is in use.
    Capacity,
}

impl Cause {
    pub fn id(self) -> &'static str {
        match self {
            Self::TooBig => "too_big",
            Self::FitsNow => "fits_now",
            Self::Fragmentation => "fragmentation",
            Self::Outside => "outside_allocator",
            Self::Leak => "leak_suspect",
            Self::Capacity => "capacity",
        }
    }

    pub fn title(self) -> Text {
        match self {
            Self::TooBig => Text::new("要得比整张卡还多", "more than the card has"),
            Self::FitsNow => Text::new(
                "现在放得下：当时是瞬时峰值，或别的进程占着",
                "it fits now: a transient peak, or another process",
            ),
            Self::Fragmentation => Text::new(
                "碎片：空闲的够，单块都不够",
                "fragmentation: enough is free, in pieces that are all too small",
            ),
            Self::Outside => Text::new("占用在分配器之外", "memory is taken outside the allocator"),
            Self::Leak => Text::new("疑似泄漏：每步都在涨", "a suspected leak: it grows every step"),
            Self::Capacity => Text::new("真的满了：都在用", "truly full: it is in use"),
        }
    }
}

/// The first cause whose evidence holds, in this order.
pub fn classify(evidence: &Evidence) -> Cause {
    let Evidence { request, device_free, inactive, largest_hole, releasable, capacity, .. } = *evidence;
    let outside = evidence.outside();
    if let (Some(capacity), Some(outside)) = (capacity, outside)
        && request > capacity.saturating_sub(outside)
    {
        return Cause::TooBig;
    }
    let after_flush = device_free.saturating_add(releasable);
    if request <= after_flush {
        return Cause::FitsNow;
    }
    if request <= device_free.saturating_add(inactive) && request > largest_hole {
        return Cause::Fragmentation;
    }
    let is_outside = |(outside, capacity): (u64, u64)| outside as f64 > OUTSIDE_SHARE * capacity as f64;
    if outside.zip(capacity).is_some_and(is_outside) {
        return Cause::Outside;
    }
    if evidence.is_leak_suspect { Cause::Leak } else { Cause::Capacity }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// Chapter 18, vector 2: six blocks of 9 MiB, of which three were freed.
    #[test]
    fn enough_is_free_in_pieces_that_are_too_small() {
        let evidence = Evidence {
            request: 20 * MIB,
            reserved: 62_914_560,
            inactive: 34_603_008,
            largest_hole: 9_437_184,
            ..Evidence::default()
        };
        assert_eq!(classify(&evidence), Cause::Fragmentation);
    }

    /// Vector 3: two whole segments of 20 MiB are free.
    #[test]
    fn what_the_flush_would_return_is_no_oom() {
        let evidence = Evidence {
            request: 40 * MIB,
            reserved: 40 * MIB,
            inactive: 40 * MIB,
            largest_hole: 20 * MIB,
            releasable: 40 * MIB,
            ..Evidence::default()
        };
        assert_eq!(classify(&evidence), Cause::FitsNow);
    }

    /// Vector 4: 19.7 % of the card belong to nobody that the allocator knows.
    #[test]
    fn what_lies_outside_is_computed_from_the_device() {
        let evidence = Evidence {
            request: 30_000_000_000,
            device_free: 20_000_000_000,
            reserved: 100_000_000_000,
            capacity: Some(150_109_880_320),
            context: 552_402_944,
            ..Evidence::default()
        };
        assert_eq!(evidence.outside(), Some(29_557_477_376));
        assert_eq!(classify(&evidence), Cause::Outside);
        let huge = Evidence { request: 121_000_000_000, ..evidence };
        assert_eq!(classify(&huge), Cause::TooBig);
    }

    #[test]
    fn a_full_card_is_full_and_a_growing_one_leaks() {
        let full = Evidence { request: 2 * MIB, reserved: 80 << 30, ..Evidence::default() };
        assert_eq!(classify(&full), Cause::Capacity);
        assert_eq!(classify(&Evidence { is_leak_suspect: true, ..full }), Cause::Leak);
    }
}
