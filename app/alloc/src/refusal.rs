//! Why a request was refused: what was asked for against what the device had, what the cache held, and in which pieces.
//!
//! The rule is a row of questions; the first that is answered by yes names the cause. `snapshot` takes the evidence out of
//! a recording, `model` out of numbers that somebody typed.

use vramlab_units::Text;

/// Outside the allocator from this share of the device on.
pub const OUTSIDE_SHARE: f64 = 0.1;

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

    /// [`Self::outside`] as a share of the device.
    pub fn outside_share(&self) -> Option<f64> {
        let capacity = self.capacity.filter(|capacity| *capacity > 0)?;
        Some(self.outside()? as f64 / capacity as f64)
    }

    /// The most that this process could ever get: the device without what lies outside.
    pub fn attainable(&self) -> Option<u64> {
        Some(self.capacity?.saturating_sub(self.outside()?))
    }

    /// Free on the device once the cache has returned what it can, as the allocator does before it gives up.
    pub fn after_flush(&self) -> u64 {
        self.device_free.saturating_add(self.releasable)
    }

    /// The largest request that could be served: into the largest hole, or by a new segment after a flush.
    pub fn largest_request(&self) -> u64 {
        self.largest_hole.max(self.after_flush())
    }

    /// All that nobody uses, in whatever pieces.
    pub fn unused(&self) -> u64 {
        self.device_free.saturating_add(self.inactive)
    }

    /// 1 − largest hole ÷ all holes; 0 without holes.
    pub fn fragmentation(&self) -> f64 {
        if self.inactive == 0 {
            return 0.0;
        }
        1.0 - self.largest_hole as f64 / self.inactive as f64
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
    /// In the order in which they are asked for.
    pub const ALL: [Self; 6] =
        [Self::TooBig, Self::FitsNow, Self::Fragmentation, Self::Outside, Self::Leak, Self::Capacity];

    pub fn id(self) -> &'static str {
        match self {
            Self::TooBig => "too_big",
            Self::FitsNow => "transient",
            Self::Fragmentation => "fragmentation",
            Self::Outside => "outside_allocator",
            Self::Leak => "leak_suspect",
            Self::Capacity => "true_capacity",
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

    /// Whether the evidence speaks for it; nothing where the question needs the device's size and that is not known.
    pub fn holds(self, evidence: &Evidence) -> Option<bool> {
        let request = evidence.request;
        match self {
            Self::TooBig => Some(request > evidence.attainable()?),
            Self::FitsNow => Some(request <= evidence.largest_request()),
            Self::Fragmentation => Some(request <= evidence.unused()),
            Self::Outside => Some(evidence.outside_share()? > OUTSIDE_SHARE),
            Self::Leak => Some(evidence.is_leak_suspect),
            Self::Capacity => Some(true),
        }
    }
}

/// The first cause whose evidence holds.
pub fn classify(evidence: &Evidence) -> Cause {
    Cause::ALL.into_iter().find(|cause| cause.holds(evidence) == Some(true)).unwrap_or(Cause::Capacity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MIB;

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
        assert!((evidence.fragmentation() - 0.727_273).abs() < 5e-7);
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
        assert_eq!(evidence.after_flush(), 40 * MIB);
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
        assert!((evidence.outside_share().unwrap() - 0.197).abs() < 0.0005);
        assert_eq!(classify(&evidence), Cause::Outside);
        let huge = Evidence { request: 121_000_000_000, ..evidence };
        assert_eq!(classify(&huge), Cause::TooBig);
    }

    /// A hole that is large enough would have served it.
    #[test]
    fn a_hole_of_its_size_is_room() {
        let evidence =
            Evidence { request: 20 * MIB, inactive: 33 * MIB, largest_hole: 20 * MIB, ..Evidence::default() };
        assert_eq!((classify(&evidence), evidence.largest_request()), (Cause::FitsNow, 20 * MIB));
    }

    #[test]
    fn a_full_card_is_full_and_a_growing_one_leaks() {
        let full = Evidence { request: 2 * MIB, reserved: 80 << 30, ..Evidence::default() };
        assert_eq!(classify(&full), Cause::Capacity);
        assert_eq!(classify(&Evidence { is_leak_suspect: true, ..full }), Cause::Leak);
        assert_eq!((full.outside(), Cause::TooBig.holds(&full)), (None, None), "nobody said how large the card is");
    }
}
