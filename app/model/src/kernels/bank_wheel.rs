//! A walk down a column of a tile in shared memory: which bank each row lands in, and how the banks fill.
//!
//! Question: pitch of a row in words, how the 32 lanes (or 16 of them) walk. Answer: word and bank of each lane, the degree, the banks
//! used, and the widest access that still fits the alignment of every row.
//! Assumption: one 4-byte word a lane, 32 banks, the tile begins at bank 0. Source: as `bank_conflicts`, which counts the degree.

use crate::access::by_lane;
use crate::bank_conflicts::{self, BANKS, WORD};

/// How lanes walk over a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walk {
    /// 32 lanes down one column of 32 rows.
    Column,
    /// 16 lanes down one column of 16 rows; the other 16 take no part.
    Half,
    /// 32 lanes down two neighbouring columns of 16 rows, as a warp of a 16 × 16 block does.
    TwoColumns,
}

impl Walk {
    pub const ALL: [Self; 3] = [Self::Column, Self::TwoColumns, Self::Half];

    pub fn name(self) -> &'static str {
        match self {
            Self::Column => "column32",
            Self::Half => "column16",
            Self::TwoColumns => "two_columns16",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|walk| walk.name() == name)
    }

    pub fn lanes(self) -> u64 {
        if self == Self::Half { 16 } else { 32 }
    }

    /// The word that a lane takes.
    pub fn word(self, lane: u64, pitch: u64) -> u64 {
        match self {
            Self::Column | Self::Half => lane * pitch,
            Self::TwoColumns => lane % 16 * pitch + lane / 16,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wheel {
    /// The word of each lane that takes part.
    pub words: Vec<u64>,
    /// The lanes of each bank, in order.
    pub banks: Vec<Vec<usize>>,
    pub degree: u32,
    pub banks_used: u32,
    /// The widest access, 4, 8 or 16 bytes, to whose multiple every row begins.
    pub row_align_bytes: u64,
}

/// The walk at a pitch of at least one word.
pub fn wheel(walk: Walk, pitch: u64) -> Wheel {
    let words: Vec<u64> = (0..walk.lanes()).map(|lane| walk.word(lane, pitch)).collect();
    let mut banks = vec![Vec::new(); BANKS as usize];
    for (lane, word) in words.iter().enumerate() {
        banks[(word % BANKS) as usize].push(lane);
    }
    let mask = if walk.lanes() == 32 { u32::MAX } else { 0xffff };
    let found = by_lane(mask, |lane| (walk.word(lane as u64, pitch) * WORD.0) as i64)
        .and_then(|addrs| bank_conflicts::run(&addrs, WORD));
    let (degree, banks_used) = found.map_or((0, 0), |found| (found.wavefronts(), found.banks_used));
    let align = 1_u64 << (pitch * WORD.0).trailing_zeros().min(4);
    Wheel { words, banks, degree, banks_used, row_align_bytes: align }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Brief 13, vector 5, and the pitches of its audit.
    #[test]
    fn pitches_of_the_brief() {
        for (pitch, degree) in
            [(1, 1), (2, 2), (8, 8), (16, 16), (17, 1), (32, 32), (33, 1), (34, 2), (36, 4), (64, 32), (65, 1)]
        {
            let found = wheel(Walk::Column, pitch);
            assert_eq!(found.degree, degree, "{pitch}");
            assert_eq!(found.banks.iter().map(Vec::len).max(), Some(degree as usize), "{pitch}");
        }
        for (walk, pitch, degree, used) in [
            (Walk::Half, 16, 8, 2),
            (Walk::Half, 17, 1, 16),
            (Walk::TwoColumns, 17, 2, 31),
            (Walk::TwoColumns, 16, 8, 4),
        ] {
            let found = wheel(walk, pitch);
            assert_eq!((found.degree, found.banks_used), (degree, used), "{walk:?} {pitch}");
        }
    }

    /// A row of 33 words begins at a multiple of 4 bytes and no more: float4 needs a pitch of a multiple of 4 words.
    #[test]
    fn padding_costs_alignment() {
        for (pitch, align) in [(32, 16), (33, 4), (34, 8), (36, 16)] {
            assert_eq!(wheel(Walk::Column, pitch).row_align_bytes, align, "{pitch}");
        }
    }
}
