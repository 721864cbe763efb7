//! Seeded tensors to try codecs and formats on, as the bytes that lie in memory: one place, so that a model, a figure and an
//! experiment speak of the same numbers.

use crate::Random;
use crate::float::{BF16, E4M3};

/// What a tensor holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Weights: normal, σ = 0.02.
    Bf16Normal,
    Fp32Normal,
    /// Normal values with σ = 32 steps.
    Int8Normal,
    /// Normal values scaled by largest ÷ 448.
    E4m3Normal,
    /// Weights before training: evenly between −1/16 and 1/16.
    Bf16Even,
    /// Activations: negative ones are cut to zero.
    Bf16Relu,
    /// int8 steps written back as bf16, as a checkpoint that was quantised and widened has them.
    Bf16Int8,
    /// A gradient of which one value in a hundred is left.
    Bf16Sparse,
    SparseFp32,
    /// Words of which every bit is a coin.
    Bf16Uniform,
    Uniform,
    Constant,
}

/// Every kind, by the name that models use.
pub const KINDS: &[(&str, Kind)] = &[
    ("bf16_normal", Kind::Bf16Normal),
    ("fp32_normal", Kind::Fp32Normal),
    ("int8_normal", Kind::Int8Normal),
    ("sparse_fp32", Kind::SparseFp32),
    ("uniform", Kind::Uniform),
    ("constant", Kind::Constant),
    ("e4m3_normal", Kind::E4m3Normal),
    ("bf16_even", Kind::Bf16Even),
    ("bf16_relu", Kind::Bf16Relu),
    ("bf16_int8", Kind::Bf16Int8),
    ("bf16_sparse", Kind::Bf16Sparse),
    ("bf16_uniform", Kind::Bf16Uniform),
];

pub fn find(name: &str) -> Option<Kind> {
    KINDS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
}

impl Kind {
    /// Bytes of a value.
    pub fn width(self) -> usize {
        match self {
            Self::Fp32Normal | Self::SparseFp32 => 4,
            Self::Int8Normal | Self::E4m3Normal | Self::Uniform | Self::Constant => 1,
            _ => 2,
        }
    }

    /// The bytes of `n` values, little-endian.
    pub fn bytes(self, n: usize, seed: u64) -> Vec<u8> {
        let mut random = Random::new(seed);
        let random = &mut random;
        let mut out = Vec::with_capacity(n * self.width());
        match self {
            Self::Fp32Normal => (0..n).for_each(|_| out.extend(((0.02 * random.normal()) as f32).to_le_bytes())),
            Self::Int8Normal => (0..n).for_each(|_| out.push(int8(random) as u8)),
            Self::E4m3Normal => {
                let values: Vec<f64> = (0..n).map(|_| random.normal()).collect();
                let scale = values.iter().fold(0.0_f64, |most, value| most.max(value.abs())) / 448.0;
                out.extend(values.iter().map(|value| E4M3.encode(value / scale, true) as u8));
            }
            Self::SparseFp32 => (0..n).for_each(|_| out.extend((one_in_hundred(random) as f32).to_le_bytes())),
            Self::Uniform => (0..n).for_each(|_| out.push(random.word() as u8)),
            Self::Constant => out.resize(n, 7),
            _ => (0..n).for_each(|_| out.extend(self.bf16(random).to_le_bytes())),
        }
        out
    }

    /// One bfloat16 word of the two-byte kinds.
    fn bf16(self, random: &mut Random) -> u16 {
        let value = match self {
            Self::Bf16Even => (2.0 * random.unit() - 1.0) / 16.0,
            Self::Bf16Relu => random.normal().max(0.0),
            Self::Bf16Int8 => f64::from(int8(random)) * 0.02 / 32.0,
            Self::Bf16Sparse => 0.02 * one_in_hundred(random),
            Self::Bf16Uniform => return random.word() as u16,
            _ => 0.02 * random.normal(),
        };
        BF16.encode(value, false) as u16
    }
}

fn int8(random: &mut Random) -> i8 {
    (32.0 * random.normal()).round().clamp(-127.0, 127.0) as i8
}

fn one_in_hundred(random: &mut Random) -> f64 {
    if random.unit() < 0.01 { random.normal() } else { 0.0 }
}

/// Two-byte words of little-endian bytes.
pub fn words(bytes: &[u8]) -> Vec<u16> {
    bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::{Fields, of_bytes};

    #[test]
    fn every_kind_has_its_width_and_comes_again() {
        for (name, kind) in KINDS {
            let bytes = kind.bytes(1000, 5);
            assert_eq!(bytes.len(), 1000 * kind.width(), "{name}");
            assert_eq!(bytes, kind.bytes(1000, 5), "{name}");
            assert_eq!(find(name), Some(*kind));
        }
        assert_eq!(find("bf16"), None);
    }

    /// By hand: half of the values are zero (one bit), the others have 7 bits of mantissa and 2.545 of exponent, no sign.
    #[test]
    fn a_rectified_tensor() {
        let fields = Fields::of(&words(&Kind::Bf16Relu.bytes(1 << 18, 1)));
        assert!(fields.sign < 1e-9, "{fields:?}");
        // H(½) + ½ · 2.545 for the exponent; the mantissa knows of the zeros as well.
        assert!((fields.exponent - (1.0 + 0.5 * 2.545)).abs() < 0.01, "{fields:?}");
    }

    /// By hand: half of evenly spread values share the top exponent, a quarter the next, and so on: Σ k ÷ 2ᵏ = 2 bits.
    #[test]
    fn an_even_tensor() {
        let fields = Fields::of(&words(&Kind::Bf16Even.bytes(1 << 18, 1)));
        assert!((fields.exponent - 2.0).abs() < 0.02 && fields.mantissa > 6.99, "{fields:?}");
    }

    /// A coin a bit: nothing to gain. 255 steps of a normal with σ = 32: 7.05 bits, in whatever container.
    #[test]
    fn ends() {
        assert!(of_bytes(&Kind::Bf16Uniform.bytes(1 << 18, 1)) > 7.999);
        let wide = words(&Kind::Bf16Int8.bytes(1 << 18, 1));
        let mut counts = vec![0_u64; 1 << 16];
        wide.iter().for_each(|word| counts[usize::from(*word)] += 1);
        assert!((crate::entropy::of_counts(&counts) - 7.05).abs() < 0.01);
    }
}
