//! Two gradients beside each other.

use serde::{Deserialize, Serialize};

/// Bits of a number in single precision, the leading one included.
pub const SINGLE_BITS: f64 = 24.0;
const DOUBLE_BITS: f64 = 53.0;

/// How far two gradients are apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gap {
    pub n: u64,
    /// Numbers that differ in any bit.
    pub n_differ: u64,
    /// Largest difference of a tensor over the largest number of that tensor, the worst tensor counting.
    pub relative: f64,
    /// Something is not a number, or the shapes differ.
    pub is_broken: bool,
}

impl Gap {
    pub fn between(a: &[Vec<f64>], b: &[Vec<f64>]) -> Self {
        let mut gap = Self { is_broken: a.len() != b.len() || a.is_empty(), ..Self::default() };
        for (a, b) in a.iter().zip(b) {
            gap.is_broken |= a.len() != b.len() || a.iter().chain(b).any(|value| !value.is_finite());
            let (mut apart, mut most) = (0.0_f64, 0.0_f64);
            for (a, b) in a.iter().zip(b) {
                gap.n += 1;
                gap.n_differ += u64::from(a.to_bits() != b.to_bits());
                apart = apart.max((a - b).abs());
                most = most.max(a.abs()).max(b.abs());
            }
            if most > 0.0 {
                gap.relative = gap.relative.max(apart / most);
            }
        }
        gap
    }

    pub fn is_equal(&self) -> bool {
        !self.is_broken && self.n_differ == 0
    }

    /// Leading bits on which both agree: 24 in single precision if every bit is equal.
    pub fn bits(&self, most: f64) -> f64 {
        if self.is_broken {
            return 0.0;
        }
        if self.n_differ == 0 { most } else { (-self.relative.log2()).clamp(0.0, most) }
    }
}

/// Bits of a number with so many bytes.
pub fn bits_of_word(word: u64) -> f64 {
    if word == 8 { DOUBLE_BITS } else { SINGLE_BITS }
}

/// How far a summation in another order may move a gradient, relative to the tensor's largest number: a few units of
/// rounding for each doubling of the rows.
pub fn tolerance(word: u64) -> f64 {
    if word == 8 { 1e-12 } else { 1e-4 }
}
