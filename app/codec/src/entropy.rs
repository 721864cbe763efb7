//! How small bytes could become at best, symbol by symbol: Shannon's entropy, and that of a normal tensor's fields.

use std::f64::consts::SQRT_2;

/// Bits a symbol, from counts.
pub fn of_counts(counts: &[u64]) -> f64 {
    let n: u64 = counts.iter().sum();
    let n = n as f64;
    counts.iter().filter(|count| **count > 0).map(|count| *count as f64 / n).map(|p| -p * p.log2()).sum()
}

/// Bits a byte.
pub fn of_bytes(bytes: &[u8]) -> f64 {
    let mut counts = [0_u64; 256];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    of_counts(&counts)
}

/// Largest ratio for `bits` a symbol; none for a constant, whose ratio has no bound but its header.
pub fn ideal_ratio(symbol_bits: f64, bits: f64) -> Option<f64> {
    (bits > 1e-12).then(|| symbol_bits / bits)
}

/// Bits of each field of bfloat16 words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fields {
    pub sign: f64,
    pub exponent: f64,
    pub mantissa: f64,
    pub high_byte: f64,
    pub low_byte: f64,
}

impl Fields {
    pub fn of(words: &[u16]) -> Self {
        let count = |of: &dyn Fn(u16) -> u16, n: usize| {
            let mut counts = vec![0_u64; n];
            for word in words {
                counts[usize::from(of(*word))] += 1;
            }
            of_counts(&counts)
        };
        Self {
            sign: count(&|word| word >> 15, 2),
            exponent: count(&|word| word >> 7 & 255, 256),
            mantissa: count(&|word| word & 127, 128),
            high_byte: count(&|word| word >> 8, 256),
            low_byte: count(&|word| word & 255, 256),
        }
    }

    /// Ratio that no codec beats which takes the three fields apart.
    pub fn ceiling(&self) -> Option<f64> {
        ideal_ratio(16.0, self.sign + self.exponent + self.mantissa)
    }
}

/// Entropy of the exponent of a normal value with standard deviation `sigma`, rounded to bfloat16: what is expected of a
/// tensor without drawing one.
pub fn normal_exponent(sigma: f64) -> f64 {
    // Rounding lifts what lies within half a step below a power of two.
    let edge = |exponent: i32| 2.0_f64.powi(exponent) * (1.0 - 2.0_f64.powi(-9));
    let below = |exponent: i32| erf(edge(exponent) / (sigma * SQRT_2));
    let centre = sigma.log2().floor() as i32;
    let share = |exponent: i32| below(exponent + 1) - below(exponent);
    (centre - 60..=centre + 6).map(share).filter(|p| *p > 0.0).map(|p| -p * p.log2()).sum()
}

/// Bits of each of the 16 bits of words, the sign first: 1 for a coin, 0 for a bit that never changes.
pub fn of_lanes(words: &[u16]) -> [f64; 16] {
    let mut ones = [0_u64; 16];
    for word in words {
        for (lane, ones) in ones.iter_mut().enumerate() {
            *ones += u64::from(word >> (15 - lane) & 1);
        }
    }
    ones.map(|ones| of_counts(&[ones, words.len() as u64 - ones]))
}

/// Largest ratio of a codec that takes each byte of a number by itself, after the bytes were split; none for constants.
pub fn split_ratio(bytes: &[u8], width: usize) -> Option<f64> {
    let lane = |lane: usize| of_bytes(&bytes.iter().copied().skip(lane).step_by(width).collect::<Vec<_>>());
    ideal_ratio(8.0 * width as f64, (0..width).map(lane).sum())
}

/// The error function, to some 1e-15: its series for small arguments, a continued fraction for large.
pub fn erf(x: f64) -> f64 {
    if x < 3.0 {
        let mut term = x;
        let mut sum = x;
        for n in 1..200 {
            term *= -x * x / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        return sum * 2.0 / std::f64::consts::PI.sqrt();
    }
    let fraction = (1..60).rev().fold(x, |below, n| x + f64::from(n) / 2.0 / below);
    1.0 - (-x * x).exp() / (fraction * std::f64::consts::PI.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;
    use crate::float::BF16;

    #[test]
    fn ends() {
        let all: Vec<u8> = (0..=255).collect();
        assert!((of_bytes(&all) - 8.0).abs() < 1e-12);
        assert_eq!(ideal_ratio(8.0, of_bytes(&all)), Some(1.0));
        assert_eq!((of_bytes(&[7; 100]), ideal_ratio(8.0, 0.0)), (0.0, None));
        assert_eq!(of_bytes(&[]), 0.0);
        assert!((of_bytes(&[0, 0, 0, 1]) - 0.811_278_124_459).abs() < 1e-9);
    }

    /// Tables: erf(0.5), erf(1), erf(2), erf(3.5).
    #[test]
    fn the_error_function() {
        for (x, y) in
            [(0.5, 0.520_499_877_813), (1.0, 0.842_700_792_950), (2.0, 0.995_322_265_019), (3.5, 0.999_999_256_902)]
        {
            assert!((erf(x) - y).abs() < 1e-11, "{x}: {}", erf(x));
        }
    }

    /// Brief 25: 2.545 bits of exponent, whatever the scale, and a ceiling of 1.517.
    #[test]
    fn a_normal_tensor() {
        for sigma in [1.0, 0.02, 0.5, 1e-4, 3.0] {
            let bits = normal_exponent(sigma);
            assert!((bits - 2.545).abs() < 0.01, "{sigma}: {bits}");
        }
        assert!((16.0 / (8.0 + normal_exponent(0.02)) - 1.517).abs() < 0.002);
        let mut random = Random::new(1);
        let words: Vec<u16> = (0..1 << 19).map(|_| BF16.encode(0.02 * random.normal(), false) as u16).collect();
        let fields = Fields::of(&words);
        assert!((fields.exponent - normal_exponent(0.02)).abs() < 0.005, "{fields:?}");
        assert!((fields.sign - 1.0).abs() < 1e-4 && (6.9..7.0).contains(&fields.mantissa));
        assert!((fields.ceiling().unwrap() - 1.52).abs() < 0.01);
    }

    /// Four words by hand: the top bit is set once in four, the lowest always.
    #[test]
    fn lanes_by_hand() {
        let lanes = of_lanes(&[0x8001, 0x0001, 0x0003, 0x0003]);
        assert!((lanes[0] - 0.811_278_124_459).abs() < 1e-9);
        assert_eq!((lanes[14], lanes[15], lanes[7]), (1.0, 0.0, 0.0));
        assert_eq!(of_lanes(&[]), [0.0; 16]);
        // Low bytes 1, 2, 3, 4 have two bits, high bytes none.
        assert_eq!(split_ratio(&[1, 9, 2, 9, 3, 9, 4, 9], 2), Some(8.0));
        assert_eq!(split_ratio(&[7; 8], 2), None);
    }

    /// Brief 25: quantised normal values with σ = 32 steps have 7.05 bits.
    #[test]
    fn quantised_values() {
        let mut random = Random::new(3);
        let bytes: Vec<u8> =
            (0..1 << 19).map(|_| (32.0 * random.normal()).round().clamp(-127.0, 127.0) as i8 as u8).collect();
        assert!((of_bytes(&bytes) - 7.05).abs() < 0.01);
    }
}
