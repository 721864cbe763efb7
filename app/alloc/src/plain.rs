//! `cudaMalloc` and `cudaFree` without any cache: what the driver takes from the card.
//!
//! Measured on an H200: memory leaves the card in pieces of 2 MiB. A request of 1 byte takes one; further requests of up
//! to 1 MiB share it, 512 bytes apart; 1 MiB + 1 byte has a piece of its own; 2 MiB + 1 byte takes 4 MiB. Which gap of a
//! shared piece serves a request was not measured: here the smallest that holds it.

use crate::caching::{Card, Device as _};
use crate::replay::Piece;
use crate::tiles::{State, TileId, Tiles};
use crate::{MIB, OutOfMemory};

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    pub id: TileId,
    pub address: u64,
    pub size: u64,
    /// A shared piece had room.
    pub is_shared: bool,
}

/// The driver over a card.
#[derive(Clone, Debug)]
pub struct Plain {
    card: Card,
    /// Only shared pieces have free tiles: whatever is wholly free goes back at once.
    tiles: Tiles<()>,
    pub allocated_bytes: u64,
    pub requested_bytes: u64,
}

impl Plain {
    pub fn new(capacity_bytes: u64) -> Self {
        Self { card: Card::new(capacity_bytes), tiles: Tiles::new(), allocated_bytes: 0, requested_bytes: 0 }
    }

    /// Zero bytes are a null pointer: nothing.
    pub fn malloc(&mut self, bytes: u64) -> Result<Option<Served>, OutOfMemory> {
        if bytes == 0 {
            return Ok(None);
        }
        let may_share = bytes <= SHARED;
        let size = if may_share { bytes.next_multiple_of(SPACING) } else { driver_bytes(bytes) };
        let found = if may_share { self.tiles.best_fit((), size) } else { None };
        let id = match found {
            Some((.., id)) => id,
            None => self.fetch(bytes)?,
        };
        self.tiles.take(id, size, bytes);
        self.allocated_bytes += size;
        self.requested_bytes += bytes;
        Ok(Some(Served { id, address: self.tiles.at(id).address, size, is_shared: found.is_some() }))
    }

    fn fetch(&mut self, bytes: u64) -> Result<TileId, OutOfMemory> {
        let wanted = driver_bytes(bytes);
        let Some(address) = self.card.segment(wanted) else {
            return Err(OutOfMemory {
                tried_bytes: wanted,
                reserved_bytes: self.reserved_bytes(),
                allocated_bytes: self.allocated_bytes,
                capacity_bytes: self.card.capacity_bytes,
            });
        };
        Ok(self.tiles.add_segment(address, wanted, ()))
    }

    /// Returns a block; false if it is not in use.
    pub fn free(&mut self, id: TileId) -> bool {
        if !self.tiles.is_used(id) {
            return false;
        }
        let tile = self.tiles.at(id);
        if let State::Used(requested) = tile.state {
            self.requested_bytes -= requested;
        }
        self.allocated_bytes -= tile.size;
        let free = self.tiles.give(id, ());
        if let Some(id) = free.filter(|id| self.tiles.at(*id).is_whole()) {
            let piece = *self.tiles.at(id);
            self.tiles.cut(id, piece.address, piece.end());
            self.card.release(piece.address, piece.size);
        }
        true
    }

    pub fn reserved_bytes(&self) -> u64 {
        self.card.used_bytes
    }

    pub fn n_segments(&self) -> u64 {
        self.tiles.n_segments
    }

    pub fn largest_free(&self) -> u64 {
        self.tiles.largest_free()
    }

    /// Every block and gap, by address.
    pub fn pieces(&self) -> Vec<Piece> {
        crate::tiles::pieces(&self.tiles)
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
        let first = plain.malloc(1).unwrap().unwrap().address;
        let offsets: Vec<u64> = (0..3).map(|_| plain.malloc(1).unwrap().unwrap().address - first).collect();
        assert_eq!(offsets, [512, 1024, 1536]);
        assert_eq!(reserved_after(&[512; 4096]), 2 * MIB);
        assert_eq!(reserved_after(&[512; 4097]), 4 * MIB);
        assert_eq!(reserved_after(&[MIB + 1, 1]), 4 * MIB);
    }

    #[test]
    fn a_piece_goes_back_when_its_last_request_does() {
        let mut plain = Plain::new(4 * MIB);
        let blocks: Vec<TileId> = (0..3).map(|_| plain.malloc(MIB / 2).unwrap().unwrap().id).collect();
        let large = plain.malloc(2 * MIB).unwrap().unwrap().id;
        let error = plain.malloc(MIB).unwrap_err();
        assert_eq!(
            error.to_string(),
            "tried to reserve 2097152 bytes; reserved 4194304, allocated 3670016, capacity 4194304"
        );
        assert!(plain.free(large) && !plain.free(large));
        assert_eq!(plain.reserved_bytes(), 2 * MIB);
        for id in blocks {
            assert!(plain.free(id));
        }
        assert_eq!((plain.reserved_bytes(), plain.allocated_bytes, plain.largest_free()), (0, 0, 0));
    }
}
