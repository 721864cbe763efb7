//! What is allocated on the device over time, by the program's own calls: allocations added, releases taken off, each by its
//! address.

use crate::record::Memory;
use std::collections::BTreeMap;

/// CUPTI's numbers of kinds of memory.
pub const PINNED: u8 = 2;
pub const DEVICE: u8 = 3;
pub const MANAGED: u8 = 5;

/// Bytes alive after each allocation and release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Live {
    pub t_ns: Vec<u64>,
    pub bytes: Vec<u64>,
    pub peak_bytes: u64,
    pub peak_ns: u64,
    pub n_allocs: u64,
    pub n_frees: u64,
    /// What was never released: address and bytes.
    pub open: BTreeMap<u64, u64>,
}

impl Live {
    /// Of one kind of memory: plain allocations, or those of stream-ordered pools.
    pub fn of(memory: &Memory, kind: u8, is_pool: bool) -> Self {
        let mut this = Self::default();
        let mut bytes = 0_u64;
        for row in 0..memory.t_ns.len() {
            let address = memory.address[row];
            if memory.is_free[row] {
                // A release counts where its allocation was counted; one from before the recording is not ours.
                let Some(freed) = this.open.remove(&address) else { continue };
                bytes -= freed;
                this.n_frees += 1;
            } else {
                if memory.kind[row] != kind || memory.is_pool[row] != is_pool {
                    continue;
                }
                // An address that comes again without a release: the release was not recorded.
                bytes -= this.open.remove(&address).unwrap_or_default();
                let Some(sum) = bytes.checked_add(memory.bytes[row]) else { continue };
                bytes = sum;
                this.open.insert(address, memory.bytes[row]);
                this.n_allocs += 1;
            }
            this.t_ns.push(memory.t_ns[row]);
            this.bytes.push(bytes);
            if bytes > this.peak_bytes {
                (this.peak_bytes, this.peak_ns) = (bytes, memory.t_ns[row]);
            }
        }
        this
    }

    /// Bytes alive at a time.
    pub fn at(&self, t_ns: u64) -> u64 {
        match self.t_ns.partition_point(|t| *t <= t_ns) {
            0 => 0,
            n => self.bytes[n - 1],
        }
    }

    pub fn at_end(&self) -> u64 {
        self.bytes.last().copied().unwrap_or_default()
    }

    pub fn is_empty(&self) -> bool {
        self.t_ns.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(rows: &[(u64, bool, u8, u64, u64, bool)]) -> Memory {
        let mut memory = Memory::default();
        for (t, is_free, kind, address, bytes, is_pool) in rows.iter().copied() {
            memory.t_ns.push(t);
            memory.is_free.push(is_free);
            memory.kind.push(kind);
            memory.address.push(address);
            memory.bytes.push(bytes);
            memory.is_pool.push(is_pool);
        }
        memory
    }

    #[test]
    fn releases_are_matched_by_address() {
        let memory = memory(&[
            (1, false, DEVICE, 0x10, 100, false),
            (2, false, PINNED, 0x20, 7, false),
            (3, false, DEVICE, 0x30, 50, false),
            (4, true, DEVICE, 0x10, 100, false),
            (5, true, DEVICE, 0x99, 9, false),
            (6, false, DEVICE, 0x40, 1, true),
        ]);
        let live = Live::of(&memory, DEVICE, false);
        assert_eq!((live.peak_bytes, live.peak_ns, live.at_end()), (150, 3, 50));
        assert_eq!((live.at(0), live.at(1), live.at(3), live.at(u64::MAX)), (0, 100, 150, 50));
        assert_eq!((live.n_allocs, live.n_frees, live.open.len()), (2, 1, 1));
        assert_eq!(Live::of(&memory, DEVICE, true).at_end(), 1);
    }

    /// Sums that no card has do not overflow.
    #[test]
    fn hostile_sizes_do_not_overflow() {
        let live = Live::of(
            &memory(&[(1, false, DEVICE, 1, u64::MAX, false), (2, false, DEVICE, 2, u64::MAX, false)]),
            DEVICE,
            false,
        );
        assert_eq!(live.at_end(), u64::MAX);
    }
}
