//! One warp-wide memory access: 32 lane addresses, some lanes perhaps inactive, one access width.
//!
//! Here live the legality rules shared by global and shared memory, and the generators of the address patterns of the
//! course. What an access costs is `coalescing` (global memory) and `bank_conflicts` (shared memory).
//! Source of the alignment rule: CUDA C++ Programming Guide, "Device Memory Accesses": sizes 1, 2, 4, 8, 16, naturally
//! aligned.

use vramlab_units::{ByteAddr, Bytes, Random};

/// Lanes of a warp on every CUDA device.
pub const WARP_LANES: usize = 32;
/// Bit `i` is lane `i`; all of them take part.
pub const ALL_LANES: u32 = u32::MAX;
/// Widths that a lane can load or store at once, in bytes.
pub const ACCESS_BYTES: [u64; 5] = [1, 2, 4, 8, 16];

/// The byte address of each lane; `None` is a lane that does not take part.
pub type LaneAddrs = Vec<Option<ByteAddr>>;

/// An access that the hardware does not have or would answer with a fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    #[error("a warp has {WARP_LANES} lanes; {n_lanes} were given")]
    LaneCount { n_lanes: usize },
    #[error("no lane accesses {size} bytes at once; it must be one of 1, 2, 4, 8, 16")]
    Width { size: u64 },
    #[error("address {addr} is not aligned to {size}")]
    Misaligned { lane: usize, addr: u64, size: u64 },
    #[error("lane {lane} would use address {addr}; addresses start at 0")]
    Negative { lane: usize, addr: i64 },
}

/// Checks an access: 32 lanes, a width that exists, every active address a multiple of it.
pub fn check(lane_addrs: &[Option<ByteAddr>], width: Bytes) -> Result<(), AccessError> {
    if lane_addrs.len() != WARP_LANES {
        return Err(AccessError::LaneCount { n_lanes: lane_addrs.len() });
    }
    let size = width.0;
    if !ACCESS_BYTES.contains(&size) {
        return Err(AccessError::Width { size });
    }
    for (lane, addr) in active(lane_addrs) {
        if !addr.0.is_multiple_of(size) {
            return Err(AccessError::Misaligned { lane, addr: addr.0, size });
        }
    }
    Ok(())
}

/// The lanes that take part, with their addresses.
pub fn active(lane_addrs: &[Option<ByteAddr>]) -> impl Iterator<Item = (usize, ByteAddr)> + '_ {
    lane_addrs.iter().enumerate().filter_map(|(lane, addr)| addr.map(|addr| (lane, addr)))
}

/// The first `n_lanes` lanes as a mask.
pub fn first_lanes(n_lanes: u64) -> u32 {
    if n_lanes >= WARP_LANES as u64 { ALL_LANES } else { (1 << n_lanes) - 1 }
}

/// Addresses by formula, for the lanes in `mask`.
pub fn by_lane(mask: u32, addr_from_lane: impl Fn(i64) -> i64) -> Result<LaneAddrs, AccessError> {
    (0..WARP_LANES)
        .map(|lane| {
            if mask & (1 << lane) == 0 {
                return Ok(None);
            }
            let addr = addr_from_lane(lane as i64);
            u64::try_from(addr).map(|addr| Some(ByteAddr(addr))).map_err(|_| AccessError::Negative { lane, addr })
        })
        .collect()
}

/// Lane `i` at `offset_bytes + i * stride_bytes`.
pub fn strided(stride_bytes: i64, offset_bytes: i64, mask: u32) -> Result<LaneAddrs, AccessError> {
    by_lane(mask, |lane| offset_bytes + lane * stride_bytes)
}

/// The field at `field_offset` of 32 neighbouring structs of `struct_bytes`.
pub fn struct_field(struct_bytes: Bytes, field_offset: Bytes) -> LaneAddrs {
    (0..WARP_LANES as u64).map(|lane| Some(ByteAddr(lane * struct_bytes.0 + field_offset.0))).collect()
}

/// 32 elements at random places of a buffer of `n_elems`: a gather. The same seed gives the same places.
pub fn random(seed: u64, n_elems: u64, width: Bytes) -> LaneAddrs {
    let mut random = Random::new(seed);
    (0..WARP_LANES).map(|_| Some(ByteAddr(random.word() % n_elems.max(1) * width.0))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warp_has_32_lanes() {
        for n_lanes in [0, 31, 33] {
            let lanes = vec![Some(ByteAddr(0)); n_lanes];
            assert_eq!(check(&lanes, Bytes(4)), Err(AccessError::LaneCount { n_lanes }));
        }
    }

    #[test]
    fn three_bytes_are_no_width() {
        let error = check(&strided(3, 0, ALL_LANES).unwrap(), Bytes(3)).unwrap_err();
        assert_eq!(error.to_string(), "no lane accesses 3 bytes at once; it must be one of 1, 2, 4, 8, 16");
    }

    #[test]
    fn addresses_are_naturally_aligned() {
        let error = check(&strided(4, 2, ALL_LANES).unwrap(), Bytes(4)).unwrap_err();
        assert_eq!(error.to_string(), "address 2 is not aligned to 4");
    }

    #[test]
    fn an_inactive_lane_may_point_anywhere() {
        let lanes = by_lane(0b1, |lane| if lane == 0 { 0 } else { -1 }).unwrap();
        assert_eq!(check(&lanes, Bytes(16)), Ok(()));
        assert_eq!(active(&lanes).count(), 1);
    }

    #[test]
    fn addresses_start_at_zero() {
        assert_eq!(strided(-4, 0, ALL_LANES), Err(AccessError::Negative { lane: 1, addr: -4 }));
        assert!(strided(-4, 124, ALL_LANES).is_ok());
    }

    #[test]
    fn random_places_repeat_with_their_seed() {
        assert_eq!(random(7, 1 << 20, Bytes(4)), random(7, 1 << 20, Bytes(4)));
        assert_ne!(random(7, 1 << 20, Bytes(4)), random(8, 1 << 20, Bytes(4)));
    }
}
