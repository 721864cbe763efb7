//! The inner loops, compiled twice on x86-64: for any processor, and for one with AVX2. With the narrow instructions of
//! the common denominator a sequential sum waits for its own additions half of the time, and the memory looks slow.

use crate::oracle::words::{key_of, mix32, word_with_key};

/// Defines `$name` as `$body`, which is inlined into a version for AVX2 where the processor has it.
macro_rules! wide {
    ($(#[$doc:meta])* $name:ident = $body:ident($($arg:ident: $kind:ty),*) $(-> $out:ty)?) => {
        $(#[$doc])*
        pub fn $name($($arg: $kind),*) $(-> $out)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn wide($($arg: $kind),*) $(-> $out)? {
                    $body($($arg),*)
                }
                if std::is_x86_feature_detected!("avx2") {
                    #[expect(unsafe_code, reason = "the compiler cannot see the run-time check")]
                    // SAFETY: the processor has AVX2.
                    return unsafe { wide($($arg),*) };
                }
            }
            $body($($arg),*)
        }
    };
}

wide! {
    /// The wrapping sum of every `stride`-th word, from the first.
    strided_sum = strided_sum_body(words: &[u32], stride: usize) -> u32
}

wide! {
    /// The wrapping sum of the first `n_read` words of every row of `n_fields`.
    row_sum = row_sum_body(words: &[u32], n_fields: usize, n_read: usize) -> u32
}

wide! {
    /// Fills with the generator's words from index `first`.
    fill_random = fill_random_body(words: &mut [u32], seed: u64, first: u64)
}

wide! {
    /// `out[i]` is the float in `input[i]` after `turns` times x · a + b, product and sum rounded one after the other.
    multiply_add = multiply_add_body(input: &[u32], out: &mut [u32], turns: usize, a: f32, b: f32)
}

/// Elements that go through their turns together: eight wide registers, so that no sum waits for the one before it.
const TOGETHER: usize = 64;

#[inline(always)]
fn multiply_add_body(input: &[u32], out: &mut [u32], turns: usize, a: f32, b: f32) {
    let (chunks, rest) = input.as_chunks::<TOGETHER>();
    let (out_chunks, out_rest) = out.as_chunks_mut::<TOGETHER>();
    for (from, to) in chunks.iter().zip(out_chunks) {
        let mut values = from.map(f32::from_bits);
        for _ in 0..turns {
            for value in &mut values {
                *value = *value * a + b;
            }
        }
        *to = values.map(f32::to_bits);
    }
    for (from, to) in rest.iter().zip(out_rest) {
        *to = (0..turns).fold(f32::from_bits(*from), |value, _| value * a + b).to_bits();
    }
}

/// The common strides are known to the compiler, so that no loop is bound by its own arithmetic.
#[inline(always)]
fn strided_sum_body(words: &[u32], stride: usize) -> u32 {
    match stride {
        1 => words.iter().fold(0, |sum, word| sum.wrapping_add(*word)),
        2 => every::<2>(words),
        4 => every::<4>(words),
        8 => every::<8>(words),
        16 => every::<16>(words),
        _ => words.chunks(stride).fold(0, |sum, chunk| sum.wrapping_add(chunk[0])),
    }
}

#[inline(always)]
fn every<const STRIDE: usize>(words: &[u32]) -> u32 {
    let (chunks, rest) = words.as_chunks::<STRIDE>();
    let sum = chunks.iter().fold(0, |sum: u32, chunk| sum.wrapping_add(chunk[0]));
    sum.wrapping_add(rest.first().copied().unwrap_or_default())
}

#[inline(always)]
fn row_sum_body(words: &[u32], n_fields: usize, n_read: usize) -> u32 {
    match (n_fields, n_read) {
        (_, 1) => strided_sum_body(words, n_fields),
        (16, 2) => first_of_16::<2>(words),
        (16, 4) => first_of_16::<4>(words),
        (16, 8) => first_of_16::<8>(words),
        (16, 16) => strided_sum_body(words, 1),
        _ => words.chunks_exact(n_fields).fold(0, |sum, row| sum.wrapping_add(strided_sum_body(&row[..n_read], 1))),
    }
}

#[inline(always)]
fn first_of_16<const READ: usize>(words: &[u32]) -> u32 {
    let (rows, _) = words.as_chunks::<16>();
    // A sum a field, so that the fields of a row are added side by side.
    let mut sums = [0u32; READ];
    for row in rows {
        for (sum, field) in sums.iter_mut().zip(row) {
            *sum = sum.wrapping_add(*field);
        }
    }
    sums.into_iter().fold(0, u32::wrapping_add)
}

#[inline(always)]
fn fill_random_body(words: &mut [u32], seed: u64, first: u64) {
    let key = key_of(seed);
    let Ok(start) = u32::try_from(first + words.len() as u64).map(|_| first as u32) else {
        return words.iter_mut().zip(first..).for_each(|(word, index)| *word = word_with_key(key, index));
    };
    // Below 2³² the upper half of the index is zero, and what is left is eight words at a time.
    for (word, offset) in words.iter_mut().zip(0u32..) {
        *word = mix32(mix32(start.wrapping_add(offset).wrapping_add(0x7F4A_7C15)) ^ key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::word_at;

    #[test]
    fn every_stride_sums_every_nth_word() {
        let words: Vec<u32> = (1..=103).map(|word| word * 0x0101_0101).collect();
        for stride in [1, 2, 3, 4, 7, 8, 16, 32, 64, 200] {
            let expected = (0..words.len()).step_by(stride).fold(0u32, |sum, place| sum.wrapping_add(words[place]));
            assert_eq!(strided_sum(&words, stride), expected, "stride {stride}");
            assert_eq!(strided_sum_body(&words, stride), expected, "stride {stride}");
        }
    }

    #[test]
    fn rows_sum_their_first_fields() {
        let words: Vec<u32> = (0..16 * 12).map(|word| word * 0x0012_3457).collect();
        for (n_fields, n_read) in [(16, 1), (16, 2), (16, 4), (16, 8), (16, 16), (16, 3), (4, 2), (12, 5)] {
            let is_read = |place: usize| place % n_fields < n_read;
            let expected = (0..words.len())
                .filter(|place| is_read(*place))
                .fold(0u32, |sum, place| sum.wrapping_add(words[place]));
            assert_eq!(row_sum(&words, n_fields, n_read), expected, "{n_read} of {n_fields}");
        }
    }

    /// One turn of 0.5 · x + 0.25 by hand: 1 → 0.75 → 0.625; the tail behind the wide part does the same.
    #[test]
    fn turns_of_a_multiply_add() {
        let input = [1.0_f32.to_bits(); 70];
        for (turns, expected) in [(0, 1.0), (1, 0.75), (2, 0.625)] {
            let mut out = [0; 70];
            multiply_add(&input, &mut out, turns, 0.5, 0.25);
            assert!(out.iter().all(|word| f32::from_bits(*word) == expected), "{turns} turns");
        }
    }

    #[test]
    fn the_fast_fill_is_the_generator() {
        for first in [0, 12_345, (1 << 32) - 20, 1 << 33] {
            let mut words = [0; 37];
            fill_random(&mut words, 99, first);
            for (offset, word) in words.iter().enumerate() {
                assert_eq!(*word, word_at(99, first + offset as u64), "{first} + {offset}");
            }
        }
    }
}
