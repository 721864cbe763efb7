//! Where CUPTI's activity records keep what is copied out of them, in bytes from their start.
//!
//! Taken with `offsetof` from `cupti_activity.h` of CUDA 12.4 (`Kernel9`, `Memcpy5`, `Memset4`, `Memory3`, `Overhead3`), 12.8
//! (`Kernel9`, `Memcpy6`, `Memset4`, `Memory4`, `Overhead3`) and 13.0 (`Kernel10`, …): newer structs only grew at their ends, so
//! one table holds for all three. A version outside [`is_known`] is not read.

use vramlab_profile::wire::{Kind, Record};

/// Kinds of activity, by CUPTI's numbers.
pub const MEMCPY: u32 = 1;
pub const MEMSET: u32 = 2;
pub const CONCURRENT_KERNEL: u32 = 10;
pub const OVERHEAD: u32 = 17;
pub const MEMORY2: u32 = 49;
pub const KINDS: [u32; 5] = [CONCURRENT_KERNEL, MEMCPY, MEMSET, MEMORY2, OVERHEAD];

/// `CUPTI_API_VERSION` of CUDA 12.4 to 12.9, and of 13.x, where it is the release's number.
pub fn is_known(version: u32) -> bool {
    (22..100).contains(&version) || (130_000..140_000).contains(&version)
}

/// Bytes that must be there before a record of the kind is looked into: the largest offset below and its width.
pub fn n_bytes(kind: u32) -> usize {
    match kind {
        CONCURRENT_KERNEL => 112,
        MEMCPY | MEMSET => 44,
        MEMORY2 => 96,
        OVERHEAD => 40,
        _ => 4,
    }
}

fn u8_at(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or_default()
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|part| part.try_into().ok()).map(u32::from_ne_bytes).unwrap_or_default()
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|part| part.try_into().ok()).map(u64::from_ne_bytes).unwrap_or_default()
}

/// The kind of a record, its first field.
pub fn kind_of(bytes: &[u8]) -> u32 {
    u32_at(bytes, 0)
}

/// Address of a kernel's name, a C string.
pub fn name_of(bytes: &[u8]) -> u64 {
    u64_at(bytes, 104)
}

/// A record in our own form; a kernel still lacks its name's number. `None`: of no interest, or an operation that is
/// neither an allocation nor a release.
pub fn record(bytes: &[u8]) -> Option<Record> {
    let device = |at| u16::try_from(u32_at(bytes, at)).unwrap_or(u16::MAX);
    let span = |start: usize, third| [u64_at(bytes, start), u64_at(bytes, start + 8), third, 0];
    Some(match kind_of(bytes) {
        CONCURRENT_KERNEL => Record {
            kind: Kind::Kernel,
            detail: 0,
            device: device(40),
            stream: 0,
            words: span(16, u64::from(u32_at(bytes, 48))),
        },
        MEMCPY => Record {
            kind: Kind::Copy,
            detail: u8_at(bytes, 4),
            device: device(32),
            stream: u32_at(bytes, 40),
            words: span(16, u64_at(bytes, 8)),
        },
        MEMSET => Record {
            kind: Kind::Set,
            detail: 0,
            device: device(32),
            stream: u32_at(bytes, 40),
            words: span(16, u64_at(bytes, 8)),
        },
        MEMORY2 => memory(bytes, device(52))?,
        OVERHEAD => Record {
            kind: Kind::Overhead,
            detail: (u32_at(bytes, 4) >> 16) as u8,
            device: 0,
            stream: 0,
            words: span(24, 0),
        },
        _ => return None,
    })
}

fn memory(bytes: &[u8], device: u16) -> Option<Record> {
    let kind = match u32_at(bytes, 4) {
        1 => Kind::Alloc,
        2 => Kind::Free,
        _ => return None,
    };
    // The pool's address counts only where there is a pool.
    let pool = if u32_at(bytes, 80) == 0 { 0 } else { u64_at(bytes, 88) };
    Some(Record {
        kind,
        detail: u8_at(bytes, 8),
        device,
        stream: u32_at(bytes, 60),
        words: [u64_at(bytes, 32), u64_at(bytes, 16), u64_at(bytes, 24), pool],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
        bytes[at..at + value.len()].copy_from_slice(value);
    }

    /// A `CUpti_ActivityMemory4` filled by hand at the offsets that the C compiler printed.
    #[test]
    fn an_allocation_is_read_at_the_offsets_of_the_header() {
        let mut bytes = [0_u8; 128];
        put(&mut bytes, 0, &MEMORY2.to_ne_bytes());
        put(&mut bytes, 4, &1_u32.to_ne_bytes());
        put(&mut bytes, 8, &3_u32.to_ne_bytes());
        put(&mut bytes, 16, &0x7f00_0000_0000_u64.to_ne_bytes());
        put(&mut bytes, 24, &2_097_152_u64.to_ne_bytes());
        put(&mut bytes, 32, &1_000_u64.to_ne_bytes());
        put(&mut bytes, 52, &1_u32.to_ne_bytes());
        let record = record(&bytes).unwrap();
        assert_eq!((record.kind, record.detail, record.device), (Kind::Alloc, 3, 1));
        assert_eq!(record.words, [1_000, 0x7f00_0000_0000, 2_097_152, 0]);
        put(&mut bytes, 4, &7_u32.to_ne_bytes());
        assert_eq!(super::record(&bytes), None);
    }

    #[test]
    fn a_kernel_and_a_copy_are_read_at_theirs() {
        let mut bytes = [0_u8; 216];
        put(&mut bytes, 0, &CONCURRENT_KERNEL.to_ne_bytes());
        put(&mut bytes, 16, &5_u64.to_ne_bytes());
        put(&mut bytes, 24, &9_u64.to_ne_bytes());
        put(&mut bytes, 48, &7_u32.to_ne_bytes());
        put(&mut bytes, 104, &0xabc_u64.to_ne_bytes());
        let kernel = record(&bytes).unwrap();
        assert_eq!((kernel.words, name_of(&bytes)), ([5, 9, 7, 0], 0xabc));
        let mut bytes = [0_u8; 96];
        put(&mut bytes, 0, &MEMCPY.to_ne_bytes());
        bytes[4] = 1;
        put(&mut bytes, 8, &64_u64.to_ne_bytes());
        let copy = record(&bytes).unwrap();
        assert_eq!((copy.kind, copy.detail, copy.words[2]), (Kind::Copy, 1, 64));
    }

    #[test]
    fn a_record_that_is_cut_off_reads_as_zeros() {
        assert_eq!(kind_of(&[1, 0]), 0);
        assert_eq!(record(&MEMCPY.to_ne_bytes()).unwrap().words, [0; 4]);
        assert!(is_known(130_001) && is_known(26) && !is_known(140_000) && !is_known(18));
    }
}
