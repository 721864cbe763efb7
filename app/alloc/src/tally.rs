//! What must hold inside a segment: its blocks fill it without a gap, and no two free blocks lie side by side, because a
//! freed block merges with a free neighbour. A record that breaks this is damaged, or cut from two moments.

/// A block as any record tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub address: u64,
    pub size: u64,
    pub is_free: bool,
}

/// What is wrong, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breach {
    /// The blocks add up to something else than the segment.
    Sum { found: u64, size: u64 },
    /// Between two blocks there is a gap, or they overlap.
    Gap { address: u64 },
    /// Two free blocks touch: they should be one.
    Unmerged { address: u64 },
}

impl Breach {
    pub fn id(self) -> &'static str {
        match self {
            Self::Sum { .. } => "sum",
            Self::Gap { .. } => "gap",
            Self::Unmerged { .. } => "unmerged",
        }
    }
}

/// Every breach in a segment of `size` bytes. Sums wrap, so that a hostile record is only wrong.
pub fn breaches(size: u64, parts: &[Part]) -> Vec<Breach> {
    let mut out = Vec::new();
    let found = parts.iter().map(|part| part.size).fold(0, u64::wrapping_add);
    if found != size {
        out.push(Breach::Sum { found, size });
    }
    for pair in parts.windows(2) {
        if pair[0].address.wrapping_add(pair[0].size) != pair[1].address {
            out.push(Breach::Gap { address: pair[1].address });
        } else if pair[0].is_free && pair[1].is_free {
            out.push(Breach::Unmerged { address: pair[1].address });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MIB;

    fn parts(blocks: &[(u64, bool)]) -> Vec<Part> {
        let mut address = 0x1000;
        let part = |(mib, is_free): &(u64, bool)| {
            let part = Part { address, size: mib * MIB, is_free: *is_free };
            address += part.size;
            part
        };
        blocks.iter().map(part).collect()
    }

    /// Chapter 18, vector 1.
    #[test]
    fn free_neighbours_must_have_merged() {
        let split = parts(&[(9, false), (9, true), (2, true)]);
        assert_eq!(breaches(20 * MIB, &split), [Breach::Unmerged { address: split[2].address }]);
        assert_eq!(breaches(20 * MIB, &parts(&[(9, false), (11, true)])), []);
    }

    /// Vector 6: the blocks do not sum to the segment.
    #[test]
    fn blocks_fill_their_segment() {
        let short = parts(&[(9, false), (9, true)]);
        assert_eq!(breaches(20 * MIB, &short), [Breach::Sum { found: 18 * MIB, size: 20 * MIB }]);
        let mut torn = parts(&[(9, false), (11, true)]);
        torn[1].address += 512;
        assert_eq!(breaches(20 * MIB, &torn), [Breach::Gap { address: torn[1].address }]);
    }
}
