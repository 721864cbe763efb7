//! The counter-based generator behind every filled buffer: any element can be recomputed on its own, on the processor
//! and on the device, so that no reference copy of a 2 GiB buffer is ever kept.
//!
//! All arithmetic is on unsigned 32-bit integers and wraps. In CUDA C, word for word:
//!
//! ```c
//! __device__ unsigned mix32(unsigned x) {
//!     x ^= x >> 16; x *= 0x85EBCA6Bu; x ^= x >> 13; x *= 0xC2B2AE35u; x ^= x >> 16;
//!     return x;
//! }
//! __device__ unsigned word_at(unsigned long long seed, unsigned long long index) {
//!     unsigned lo = (unsigned)index, hi = (unsigned)(index >> 32);
//!     unsigned key = mix32((unsigned)seed ^ mix32((unsigned)(seed >> 32) + 0x9E3779B9u));
//!     return mix32(mix32(lo + hi * 0x9E3779B1u + 0x7F4A7C15u) ^ key);
//! }
//! __device__ double unit_f64(unsigned word) { return word * (1.0 / 4294967296.0); }        // exact, in [0, 1)
//! __device__ float unit_f32(unsigned word) { return (word >> 8) * (1.0f / 16777216.0f); }  // exact, in [0, 1)
//! __device__ float unit_bf16(unsigned half) { return (half & 0xFF) * (1.0f / 256.0f); }     // each half of a word
//! ```
//!
//! A buffer is filled with its own seed, [`buffer_seed`] of the job's seed and the buffer's position in the manifest,
//! computed on the host. `mix32` is the public-domain finaliser of MurmurHash3 (Austin Appleby).

/// Bijective mixer of 32 bits.
#[inline]
pub const fn mix32(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x85EB_CA6B);
    x ^= x >> 13;
    x = x.wrapping_mul(0xC2B2_AE35);
    x ^= x >> 16;
    x
}

/// The part of [`word_at`] that depends on the seed alone.
#[inline]
pub const fn key_of(seed: u64) -> u32 {
    mix32(seed as u32 ^ mix32(((seed >> 32) as u32).wrapping_add(0x9E37_79B9)))
}

/// [`word_at`] with the key already computed, for long loops.
#[inline]
pub const fn word_with_key(key: u32, index: u64) -> u32 {
    let (lo, hi) = (index as u32, (index >> 32) as u32);
    mix32(mix32(lo.wrapping_add(hi.wrapping_mul(0x9E37_79B1)).wrapping_add(0x7F4A_7C15)) ^ key)
}

/// The 32-bit word number `index` of a buffer filled with `seed`.
#[inline]
pub const fn word_at(seed: u64, index: u64) -> u32 {
    word_with_key(key_of(seed), index)
}

/// The seed of the `position`-th buffer of a kernel (counted from 0 in the manifest's order).
pub const fn buffer_seed(job_seed: u64, position: usize) -> u64 {
    job_seed.wrapping_add((position as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// Element `index` of a buffer of doubles filled with `unit_f64`.
#[inline]
pub fn unit_f64_at(seed: u64, index: u64) -> f64 {
    f64::from(word_at(seed, index)) * (1.0 / 4_294_967_296.0)
}

/// Element `index` of a buffer of floats filled with `unit_f32`.
#[inline]
pub fn unit_f32_at(seed: u64, index: u64) -> f32 {
    (word_at(seed, index) >> 8) as f32 * (1.0 / 16_777_216.0)
}

/// Element `index` of a buffer of bf16 numbers filled with `unit_bf16`, two a word, the lower half first.
#[inline]
pub fn unit_bf16_at(seed: u64, index: u64) -> f32 {
    let word = word_at(seed, index / 2);
    (word >> (index % 2 * 16) & 0xFF) as f32 * (1.0 / 256.0)
}

/// The `part`-th of the two bf16 numbers that `unit_bf16` makes of a word.
#[inline]
pub fn bf16_unit(word: u32, part: u32) -> f32 {
    (word >> (16 * part) & 0xFF) as f32 * (1.0 / 256.0)
}

/// Element `index` of a buffer of `n` indices filled with `shuffled`: 0 … n − 1 in an order that `key` decides. Where n is
/// no power of two, the rest above the largest one below it stays in its place.
pub const fn shuffled(key: u32, index: u64, n: u64) -> u64 {
    let n_bits = if n == 0 { 0 } else { 63 - n.leading_zeros() };
    if index >> n_bits != 0 {
        return index;
    }
    let mask = ((1_u64 << n_bits) - 1) as u32;
    let mut x = index as u32;
    let mut round = 0;
    while round < 3 {
        // Times an odd number, plus anything, and a shifted exclusive or: each of them can be undone.
        x = x.wrapping_mul(0x9E37_79B1).wrapping_add(mix32(key.wrapping_add(round))) & mask;
        x ^= x >> n_bits.div_ceil(2);
        round += 1;
    }
    (x & mask) as u64
}

/// Bytes `range` of a buffer with this fill, for back ends that fill on the processor. The range starts and ends on
/// whole elements (4 or 8 bytes).
pub fn fill_bytes(fill: crate::manifest::Fill, seed: u64, first_byte: u64, out: &mut [u8]) {
    use crate::manifest::Fill;
    let key = key_of(seed);
    match fill {
        Fill::Zero => out.fill(0),
        Fill::Poison => out.fill(0xFF),
        Fill::Random => {
            for (i, word) in out.chunks_mut(4).enumerate() {
                let bytes = word_with_key(key, first_byte / 4 + i as u64).to_le_bytes();
                word.copy_from_slice(&bytes[..word.len()]);
            }
        }
        Fill::UnitF32 => {
            for (i, element) in out.chunks_mut(4).enumerate() {
                let bytes = unit_f32_at(seed, first_byte / 4 + i as u64).to_le_bytes();
                element.copy_from_slice(&bytes[..element.len()]);
            }
        }
        Fill::UnitBf16 => {
            for (i, element) in out.chunks_mut(2).enumerate() {
                let value = unit_bf16_at(seed, first_byte / 2 + i as u64);
                let bytes = ((value.to_bits() >> 16) as u16).to_le_bytes();
                element.copy_from_slice(&bytes[..element.len()]);
            }
        }
        // Only whole buffers: the order depends on how many there are.
        Fill::Shuffled => {
            let n = first_byte / 4 + out.len() as u64 / 4;
            for (i, word) in out.chunks_exact_mut(4).enumerate() {
                word.copy_from_slice(&(shuffled(key, first_byte / 4 + i as u64, n) as u32).to_le_bytes());
            }
        }
        Fill::UnitF64 => {
            for (i, element) in out.chunks_mut(8).enumerate() {
                let bytes = unit_f64_at(seed, first_byte / 8 + i as u64).to_le_bytes();
                element.copy_from_slice(&bytes[..element.len()]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Fill;

    /// `mix32` against the published finaliser: MurmurHash3 x86_32 of the empty key with seed s is fmix32(s); its
    /// well-known test values are 0x514E28B7 for seed 1 and 0x81F16F39 for seed 0xFFFFFFFF.
    #[test]
    fn mixer_is_the_published_one() {
        assert_eq!(mix32(0), 0);
        assert_eq!(mix32(1), 0x514E_28B7);
        assert_eq!(mix32(0xFFFF_FFFF), 0x81F1_6F39);
    }

    /// The C text above, compiled by gcc 12 on x86-64, printed these.
    #[test]
    fn words_equal_those_of_the_c_text() {
        let printed = [
            (0x0, 0x0, 0x0D3F_D4B8),
            (0x0, 0xFFFF_FFFF, 0x8484_BAA2),
            (0x7, 0x1, 0x61EF_A0FA),
            (0x7, 0x1_0000_0000, 0x1855_1E1C),
            (0x1234_5678_9ABC_DEF0, 0x0, 0xB037_17A5),
            (0x1234_5678_9ABC_DEF0, 0x2_0000_0007, 0xCB6E_FE0D),
        ];
        for (seed, index, word) in printed {
            assert_eq!(word_at(seed, index), word, "seed {seed:#x}, index {index:#x}");
        }
    }

    #[test]
    fn words_look_random_and_do_not_repeat_across_seeds() {
        let n = 1 << 16;
        let ones: u32 = (0..n).map(|i| word_at(7, i).count_ones()).sum();
        let mean = f64::from(ones) / n as f64;
        assert!((mean - 16.0).abs() < 0.1, "{mean} ones a word");
        // A kernel that reads its neighbour, or the other buffer, must not get away with it.
        let shifted = (0..n).filter(|&i| word_at(7, i) == word_at(7, i + 1)).count();
        let other = (0..n).filter(|&i| word_at(buffer_seed(7, 0), i) == word_at(buffer_seed(7, 1), i)).count();
        assert_eq!((shifted, other), (0, 0));
        assert_ne!(word_at(7, 0), word_at(7, 1 << 32));
    }

    #[test]
    fn units_stay_below_one() {
        for i in 0..10_000 {
            assert!((0.0..1.0).contains(&unit_f64_at(3, i)));
            assert!((0.0..1.0).contains(&unit_f32_at(3, i)));
            // Eight bits fit the significand of bf16: the upper half of the float is all of it.
            let short = unit_bf16_at(3, i);
            assert!((0.0..1.0).contains(&short) && short.to_bits().trailing_zeros() >= 16);
        }
    }

    #[test]
    fn shuffled_indices_are_each_there_once() {
        for n in [1, 2, 8, 1000, 1 << 14] {
            let mut order: Vec<u64> = (0..n).map(|i| shuffled(5, i, n)).collect();
            let n_kept = (0..n).filter(|&i| order[i as usize] == i).count();
            assert!(n < 1 << 14 || n_kept < 10, "{n_kept} of {n} stay in place");
            order.sort_unstable();
            assert!(order.into_iter().eq(0..n), "{n}");
        }
    }

    #[test]
    fn filling_in_pieces_equals_filling_at_once() {
        for fill in [Fill::Random, Fill::UnitF64, Fill::UnitF32, Fill::UnitBf16, Fill::Poison, Fill::Zero] {
            let mut whole = [0u8; 64];
            fill_bytes(fill, 9, 0, &mut whole);
            let mut tail = [0u8; 24];
            fill_bytes(fill, 9, 40, &mut tail);
            assert_eq!(whole[40..], tail, "{fill:?}");
        }
        let mut bytes = [0u8; 8];
        fill_bytes(Fill::Random, 9, 8, &mut bytes);
        assert_eq!(bytes[..4], word_at(9, 2).to_le_bytes());
    }
}
