//! A long regular stream: how many bytes a memory moves when it hands over whole pieces.
//!
//! Question: every `step` bytes, `used` bytes in a row are read, starting at `offset`; how many bytes travel per step
//! when each piece that holds a used byte is fetched once. Shared by the models of strides and layouts, on GPU and CPU.
//! Assumption: the stream is long, and what neighbours need of a piece is served from a cache.

use vramlab_units::{Bytes, Ratio};

/// A run of used bytes that repeats. `offset + used` is at most `step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    pub step: Bytes,
    pub offset: Bytes,
    pub used: Bytes,
}

impl Stream {
    /// Bytes moved per step, on average over the stream.
    pub fn moved_per_step(self, piece: Bytes) -> f64 {
        let n_steps = piece.0 / gcd(self.step.0, piece.0); // after so many steps the pattern of pieces repeats
        let mut n_pieces = 0;
        let mut next_piece = 0;
        for step_idx in 0..n_steps {
            let first_byte = step_idx * self.step.0 + self.offset.0;
            let last_piece = (first_byte + self.used.0 - 1) / piece.0;
            let first_piece = (first_byte / piece.0).max(next_piece);
            n_pieces += (last_piece + 1).saturating_sub(first_piece);
            next_piece = next_piece.max(last_piece + 1);
        }
        (n_pieces * piece.0) as f64 / n_steps as f64
    }

    /// Bytes used per byte moved.
    pub fn useful_share(self, piece: Bytes) -> Ratio {
        Ratio(self.used.0 as f64 / self.moved_per_step(piece))
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Counts pieces over a stretch whose ends do not matter.
    fn counted(stream: Stream, piece: Bytes, n_steps: u64) -> f64 {
        let used =
            |step_idx: u64| (0..stream.used.0).map(move |byte| step_idx * stream.step.0 + stream.offset.0 + byte);
        let pieces: BTreeSet<u64> = (0..n_steps).flat_map(used).map(|byte| byte / piece.0).collect();
        (pieces.len() as u64 * piece.0) as f64 / n_steps as f64
    }

    #[test]
    fn whole_periods_count_as_the_enumeration_does() {
        for step in 1..=200 {
            for used in [1, 4, 12, 48].into_iter().filter(|used| *used <= step) {
                for offset in [0, step - used] {
                    let stream = Stream { step: Bytes(step), offset: Bytes(offset), used: Bytes(used) };
                    let piece = Bytes(64);
                    assert_eq!(stream.moved_per_step(piece), counted(stream, piece, 64), "{stream:?}");
                }
            }
        }
    }

    #[test]
    fn a_naturally_aligned_element_moves_its_step_or_one_piece() {
        for stride in 1..=64 {
            let stream = Stream { step: Bytes(stride * 4), offset: Bytes(0), used: Bytes(4) };
            assert_eq!(stream.moved_per_step(Bytes(64)), (stride * 4).min(64) as f64);
        }
    }
}
