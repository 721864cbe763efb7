//! NF4: sixteen numbers between −1 and 1 that lie as a normal distribution does, times the largest of a block.
//!
//! Source: Dettmers et al. 2023 (QLoRA, arXiv 2305.14314), appendix E, the values as printed there. A block has 64 values; its
//! largest magnitude is a float32, or, with double quantisation, 8 bits and a float32 for every 256 blocks.

use crate::Problem;
use crate::problem::finite;

/// The numbers of the codes 0 to 15.
pub const CODES: [f32; 16] = [
    -1.0,
    -0.696_192_8,
    -0.525_073_05,
    -0.394_917_5,
    -0.284_441_38,
    -0.184_773_43,
    -0.091_050_036,
    0.0,
    0.079_580_3,
    0.160_930_2,
    0.246_112_3,
    0.337_915_24,
    0.440_709_83,
    0.562_617,
    0.722_956_84,
    1.0,
];

pub const BLOCK: usize = 64;

#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Largest magnitude.
    pub scale: f32,
    pub codes: Vec<u8>,
}

impl Block {
    pub fn decode(&self) -> Vec<f64> {
        self.codes.iter().map(|code| f64::from(CODES[usize::from(*code) % 16]) * f64::from(self.scale)).collect()
    }
}

/// Encodes a block of up to 64 values.
pub fn encode(values: &[f64]) -> Result<Block, Problem> {
    if values.is_empty() || values.len() > BLOCK {
        let n = values.len();
        let en = format!("an NF4 block holds 1 to {BLOCK} values, got {n}");
        return Err(Problem::new("values", format!("NF4 块有 1 到 {BLOCK} 个值，这里有 {n} 个"), en));
    }
    finite(values)?;
    let scale = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs())) as f32;
    let codes = values.iter().map(|value| if scale > 0.0 { nearest(value / f64::from(scale)) } else { 7 }).collect();
    Ok(Block { scale, codes })
}

/// The code whose number is nearest, the lower of two that are equally near.
pub fn nearest(x: f64) -> u8 {
    let above = |idx: usize| x > f64::midpoint(CODES[idx].into(), CODES[idx + 1].into());
    (0..15).filter(|idx| above(*idx)).count() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figures of the paper's appendix, as float32 has them.
    #[test]
    fn the_published_numbers() {
        let published: [f64; 16] = [
            -1.0,
            -0.6961928009986877,
            -0.5250730514526367,
            -0.39491748809814453,
            -0.28444138169288635,
            -0.18477343022823334,
            -0.09105003625154495,
            0.0,
            0.07958029955625534,
            0.16093020141124725,
            0.24611230194568634,
            0.33791524171829224,
            0.44070982933044434,
            0.5626170039176941,
            0.7229568362236023,
            1.0,
        ];
        assert_eq!(CODES.map(f64::from), published);
    }

    #[test]
    fn codes_are_nearest() {
        for (code, value) in CODES.iter().enumerate() {
            assert_eq!(nearest(f64::from(*value)), code as u8);
        }
        for step in -1000..=1000 {
            let x = f64::from(step) / 1000.0;
            let distance = |code: &u8| (f64::from(CODES[usize::from(*code)]) - x).abs();
            let best = (0..16).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap();
            assert!((distance(&nearest(x)) - distance(&best)).abs() < 1e-12, "{x}");
        }
        let block = encode(&[-4.0, 4.0, 0.0, 0.1]).unwrap();
        assert_eq!((block.scale, &block.codes[..]), (4.0, &[0, 15, 7, 7][..]));
        assert_eq!(encode(&[0.0; 64]).unwrap().decode(), vec![0.0; 64]);
        assert!(encode(&[]).is_err() && encode(&[0.0; 65]).is_err() && encode(&[f64::NAN]).is_err());
    }
}
