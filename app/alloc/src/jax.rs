//! How JAX sets up its allocator on a GPU: a BFC pool that is preallocated, grows, or neither; or no pool at all.
//!
//! Sources: docs.jax.dev, "GPU memory allocation" (2026); openxla/xla, documentation of the growable arena (2026). Since
//! jaxlib 0.4.1 the share is one of the card's total memory, not of what is free. XLA carves ordinary buffers of a
//! growable pool from its high end; here they stand at the low end, a mirror image with the same sizes.

use crate::MIB;
use crate::bfc::Options;

/// JAX's share where no variable sets one.
pub const DEFAULT_FRACTION: f64 = 0.75;
const PAGE: u64 = 2 * MIB;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Policy {
    /// `0.75+`, the policy where no variable is set: a share at the start, growth up to `cap` of the card.
    Growable { start: f64, cap: f64 },
    /// `XLA_CLIENT_MEM_FRACTION`: a share at the start and never more.
    Fixed { fraction: f64 },
    /// `XLA_PYTHON_CLIENT_PREALLOCATE=false`: regions on demand, up to the share.
    OnDemand { fraction: f64 },
    /// `XLA_PYTHON_CLIENT_ALLOCATOR=platform`: `cudaMalloc` and `cudaFree` each time.
    Platform,
}

impl Default for Policy {
    fn default() -> Self {
        Self::Growable { start: DEFAULT_FRACTION, cap: 1.0 }
    }
}

/// A share of the card in bytes.
pub fn share_of(total_bytes: u64, fraction: f64) -> u64 {
    (total_bytes as f64 * fraction) as u64
}

impl Policy {
    /// What the first operation takes from the card.
    pub fn preallocated_bytes(self, total_bytes: u64) -> u64 {
        match self {
            Self::Growable { start, .. } => share_of(total_bytes, start),
            Self::Fixed { fraction } => share_of(total_bytes, fraction),
            Self::OnDemand { .. } | Self::Platform => 0,
        }
    }

    /// The pool's settings; nothing for [`Self::Platform`], which has no pool.
    pub fn options(self, total_bytes: u64) -> Option<Options> {
        match self {
            Self::Growable { start, cap } => Some(Options {
                limit_bytes: share_of(total_bytes, cap) / PAGE * PAGE,
                growth: false,
                arena_start_bytes: Some(share_of(total_bytes, start)),
                ..Options::growing(0)
            }),
            Self::Fixed { fraction } => Some(Options::fixed(share_of(total_bytes, fraction))),
            Self::OnDemand { fraction } => Some(Options::growing(share_of(total_bytes, fraction))),
            Self::Platform => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bfc::{Bfc, Error};
    use crate::caching::Card;

    const TOTAL: u64 = 143_771 * MIB;

    fn pool(policy: Policy, total: u64, free: u64) -> Bfc<Card> {
        Bfc::new(policy.options(total).unwrap(), Card::new(free))
    }

    /// 143,771 MiB, as an H200 reports, give 107,828.25 MiB.
    #[test]
    fn three_quarters_of_all_memory() {
        let bytes = 107_828 * MIB + MIB / 4;
        assert_eq!(Policy::default().preallocated_bytes(TOTAL), bytes);
        let mut fixed = pool(Policy::Fixed { fraction: 0.75 }, TOTAL, TOTAL);
        fixed.malloc(1).unwrap();
        assert_eq!(fixed.pool_bytes, bytes);
        assert!(matches!(fixed.malloc(110_000 * MIB), Err(Error::OutOfMemory { .. })));
    }

    #[test]
    fn the_default_grows_to_the_whole_card_and_spans_its_regions() {
        let mut jax = pool(Policy::default(), 1000 * MIB, 1000 * MIB);
        let first = jax.malloc(600 * MIB).unwrap();
        assert_eq!(jax.pool_bytes, 750 * MIB);
        let second = jax.malloc(300 * MIB).unwrap();
        assert_eq!((jax.pool_bytes, jax.regions().count()), (1000 * MIB, 1));
        // It begins in the first region's free end and reaches into the second.
        assert_eq!((second.address - first.address, second.size), (600 * MIB, 400 * MIB));
    }

    #[test]
    fn growth_asks_for_less_when_others_hold_the_rest() {
        let mut jax = pool(Policy::default(), 1000 * MIB, 900 * MIB);
        jax.malloc(700 * MIB).unwrap();
        jax.malloc(100 * MIB).unwrap();
        // 250 MiB are refused, then 0.9 × that in pages of 2 MiB: 226, 204, 184, 166, 150.
        assert_eq!(jax.pool_bytes, 900 * MIB);
    }

    #[test]
    fn without_preallocation_regions_double_up_to_the_share() {
        let mut jax = pool(Policy::OnDemand { fraction: 0.75 }, 100 * MIB, 100 * MIB);
        jax.malloc(1).unwrap();
        assert_eq!(jax.pool_bytes, 2 * MIB);
        assert!(jax.malloc(70 * MIB).is_ok());
        assert!(jax.malloc(10 * MIB).is_err());
        assert_eq!(Policy::Platform.options(TOTAL), None);
    }
}
