//! `cudaMalloc` and `cudaFree` without any cache: what the driver takes from the card.
//!
//! Measured on an H200: memory leaves the card in pieces of 2 MiB. A request of 1 byte takes one; further requests of up
//! to 1 MiB share it, 512 bytes apart; 1 MiB + 1 byte has a piece of its own; 2 MiB + 1 byte takes 4 MiB. Which gap of a
//! shared piece serves a request was not measured: here the smallest that holds it.

use crate::caching::{Card, Device as _};
use crate::gaps::{Gap, Gaps};
use crate::{MIB, OutOfMemory};
use std::collections::BTreeMap;

/// What the driver takes from the card at a time.
pub const PIECE: u64 = 2 * MIB;
/// Requests up to this share pieces.
pub const SHARED: u64 = MIB;
/// Spacing within a shared piece.
pub const SPACING: u64 = 512;

/// Bytes that leave the card for a request that shares nothing.
pub fn driver_bytes(bytes: u64) -> u64 {
    bytes.max(1).next_multiple_of(PIECE)
}

#[derive(Clone, Copy, Debug)]
struct Block {
    size: u64,
    requested: u64,
}

/// The driver over a card.
#[derive(Clone, Debug)]
pub struct Plain {
    card: Card,
    /// By address.
    blocks: BTreeMap<u64, Block>,
    /// Shared pieces, with the requests in each.
    shared: BTreeMap<u64, u32>,
    gaps: Gaps<()>,
    pub allocated_bytes: u64,
    pub requested_bytes: u64,
    pub n_segments: u64,
}

impl Plain {
    pub fn new(capacity_bytes: u64) -> Self {
        Self {
            card: Card::new(capacity_bytes),
            blocks: BTreeMap::new(),
            shared: BTreeMap::new(),
            gaps: Gaps::new(),
            allocated_bytes: 0,
            requested_bytes: 0,
            n_segments: 0,
        }
    }

    /// Address, size, and whether a shared piece had room. Zero bytes are a null pointer: nothing.
    pub fn malloc(&mut self, bytes: u64) -> Result<Option<(u64, u64, bool)>, OutOfMemory> {
        if bytes == 0 {
            return Ok(None);
        }
        let is_shared = bytes <= SHARED;
        let size = if is_shared { bytes.next_multiple_of(SPACING) } else { driver_bytes(bytes) };
        let found = if is_shared { self.gaps.best_fit((), size) } else { None };
        let gap = match found {
            Some(gap) => gap,
            None => self.fetch(bytes, is_shared)?,
        };
        let address = gap.address;
        if is_shared {
            self.carve(gap, size);
        }
        self.blocks.insert(address, Block { size, requested: bytes });
        self.allocated_bytes += size;
        self.requested_bytes += bytes;
        Ok(Some((address, size, found.is_some())))
    }

    fn fetch(&mut self, bytes: u64, is_shared: bool) -> Result<Gap, OutOfMemory> {
        let wanted = driver_bytes(bytes);
        let Some(address) = self.card.segment(wanted) else {
            return Err(OutOfMemory {
                tried_bytes: wanted,
                reserved_bytes: self.reserved_bytes(),
                allocated_bytes: self.allocated_bytes,
                capacity_bytes: self.card.capacity_bytes,
            });
        };
        self.n_segments += 1;
        if is_shared {
            self.shared.insert(address, 0);
            self.gaps.insert(Gap { address, size: PIECE }, (), (address, address + PIECE));
        }
        Ok(Gap { address, size: wanted })
    }

    /// Takes the low end of a gap.
    fn carve(&mut self, gap: Gap, size: u64) {
        let piece = self.piece_of(gap.address);
        self.gaps.remove(gap, ());
        let rest = Gap { address: gap.address + size, size: gap.size - size };
        self.gaps.insert(rest, (), (piece, piece + PIECE));
        *self.shared.entry(piece).or_default() += 1;
    }

    fn piece_of(&self, address: u64) -> u64 {
        self.shared.range(..=address).next_back().map_or(address, |(piece, _)| *piece)
    }

    /// Returns the block at an address; false if none is there.
    pub fn free(&mut self, address: u64) -> bool {
        let Some(block) = self.blocks.remove(&address) else { return false };
        self.allocated_bytes -= block.size;
        self.requested_bytes -= block.requested;
        if block.requested > SHARED {
            self.release(address, block.size);
            return true;
        }
        let piece = self.piece_of(address);
        self.gaps.insert(Gap { address, size: block.size }, (), (piece, piece + PIECE));
        let n_left = self.shared.entry(piece).or_default();
        *n_left -= 1;
        if *n_left == 0 {
            self.shared.remove(&piece);
            self.gaps.remove(Gap { address: piece, size: PIECE }, ());
            self.release(piece, PIECE);
        }
        true
    }

    fn release(&mut self, address: u64, bytes: u64) {
        self.card.release(address, bytes);
        self.n_segments -= 1;
    }

    pub fn reserved_bytes(&self) -> u64 {
        self.card.used_bytes
    }

    pub fn largest_free(&self) -> u64 {
        self.gaps.largest()
    }

    /// Address, size, requested bytes of every block, by address.
    pub fn blocks(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.blocks.iter().map(|(address, block)| (*address, block.size, block.requested))
    }

    /// Address and size of every gap in shared pieces, by address.
    pub fn gaps(&self) -> impl Iterator<Item = (u64, u64)> {
        self.gaps.iter().map(|(gap, ())| (gap.address, gap.size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reserved_after(requests: &[u64]) -> u64 {
        let mut plain = Plain::new(1 << 40);
        for bytes in requests {
            plain.malloc(*bytes).unwrap().unwrap();
        }
        plain.reserved_bytes()
    }

    /// The course's measurement on an H200.
    #[test]
    fn the_driver_hands_out_pieces_of_two_mebibytes() {
        for (bytes, reserved) in [(1, 2), (MIB, 2), (MIB + 1, 2), (2 * MIB, 2), (2 * MIB + 1, 4), (5 * MIB, 6)] {
            assert_eq!(reserved_after(&[bytes]), reserved * MIB, "{bytes}");
        }
    }

    #[test]
    fn small_requests_share_a_piece_and_large_ones_do_not() {
        let mut plain = Plain::new(1 << 40);
        let first = plain.malloc(1).unwrap().unwrap().0;
        let offsets: Vec<u64> = (0..3).map(|_| plain.malloc(1).unwrap().unwrap().0 - first).collect();
        assert_eq!(offsets, [512, 1024, 1536]);
        assert_eq!(reserved_after(&[512; 4096]), 2 * MIB);
        assert_eq!(reserved_after(&[512; 4097]), 4 * MIB);
        assert_eq!(reserved_after(&[MIB + 1, 1]), 4 * MIB);
    }

    #[test]
    fn a_piece_goes_back_when_its_last_request_does() {
        let mut plain = Plain::new(4 * MIB);
        let blocks: Vec<u64> = (0..3).map(|_| plain.malloc(MIB / 2).unwrap().unwrap().0).collect();
        let large = plain.malloc(2 * MIB).unwrap().unwrap().0;
        let error = plain.malloc(MIB).unwrap_err();
        assert_eq!(
            error.to_string(),
            "tried to reserve 2097152 bytes; reserved 4194304, allocated 3670016, capacity 4194304"
        );
        assert!(plain.free(large) && !plain.free(large));
        assert_eq!(plain.reserved_bytes(), 2 * MIB);
        for address in blocks {
            assert!(plain.free(address));
        }
        assert_eq!((plain.reserved_bytes(), plain.allocated_bytes, plain.largest_free()), (0, 0, 0));
    }
}
