//! How TensorFlow sizes its BFC pool on a GPU: nearly all that is free, or regions that grow up to as much.
//!
//! Source: tensorflow/tensorflow, `tensorflow/core/common_runtime/gpu/gpu_device.cc`, `MinSystemMemory` and
//! `SingleVirtualDeviceMemoryLimit` (optimised builds). Unlike JAX's share, TensorFlow's limit is taken from what is
//! **free** when the process starts. `per_process_gpu_memory_fraction` and `TF_DEVICE_MIN_SYS_MEMORY_IN_MB`, which
//! change it, are left at their defaults.

use crate::MIB;
use crate::bfc::Options;

/// Below this much free memory the reserve is the same for every card.
const LITTLE: u64 = 1 << 31;

/// What is left to the driver and to libraries, by the major number of the card's compute capability.
pub fn reserve_bytes(free_bytes: u64, cc_major: u32) -> u64 {
    let mib = match cc_major {
        _ if free_bytes < LITTLE => 225,
        0..=6 => 500,
        7 => 1_050,
        8 => 1_536,
        _ => 1_800,
    };
    mib * MIB
}

/// The pool's limit. A reserve as large as what is free is not kept.
pub fn limit_bytes(free_bytes: u64, cc_major: u32) -> u64 {
    let reserve = reserve_bytes(free_bytes, cc_major);
    if reserve < free_bytes { free_bytes - reserve } else { free_bytes }
}

/// The pool's settings; `grows` is `set_memory_growth` or `TF_FORCE_GPU_ALLOW_GROWTH`.
pub fn options(free_bytes: u64, cc_major: u32, grows: bool) -> Options {
    let limit = limit_bytes(free_bytes, cc_major);
    // TensorFlow returns wholly free regions when a request fails.
    let base = if grows { Options::growing(limit) } else { Options::fixed(limit) };
    Options { returns_regions: true, ..base }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bfc::Bfc;
    use crate::caching::Card;

    /// The table of the source: 225, 500, 1050, 1536 and 1800 MiB.
    #[test]
    fn the_reserve_goes_by_the_card() {
        let gib = 1 << 30;
        for (free, cc, mib) in [
            (2 * gib - 1, 9, 225),
            (2 * gib, 6, 500),
            (16 * gib, 7, 1_050),
            (80 * gib, 8, 1_536),
            (140 * gib, 9, 1_800),
        ] {
            assert_eq!(reserve_bytes(free, cc), mib * MIB, "{free} {cc}");
            assert_eq!(limit_bytes(free, cc), free - mib * MIB);
        }
        assert_eq!(limit_bytes(225 * MIB, 9), 225 * MIB);
    }

    #[test]
    fn all_at_once_or_from_two_mib_on() {
        let first = |grows| {
            let mut pool = Bfc::new(options(10_240 * MIB, 9, grows), Card::new(10_240 * MIB));
            pool.malloc(1).unwrap();
            pool.pool_bytes
        };
        assert_eq!((first(false), first(true)), (8_440 * MIB, 2 * MIB));
    }
}
