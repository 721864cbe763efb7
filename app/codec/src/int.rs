//! Integers with a scale, one for a tensor, a row or a group of a row.
//!
//! Symmetric: s = largest ÷ (2^(b−1) − 1), q = x ÷ s rounded, ties to even, within ±(2^(b−1) − 1); all zeros give s = 0.
//! Asymmetric: from min(0, smallest) to max(0, largest), s = span ÷ (2^b − 1), z = −smallest ÷ s rounded, q = x ÷ s rounded,
//! plus z, within 0 … 2^b − 1. Groups never cross rows. The error of a value is at most s ÷ 2, with a zero point at most s.
//! Source: brief of chapter 14; the layout of groups is GPTQ's and AWQ's.

use crate::Problem;
use crate::problem::finite;

/// Bits that integers may have here.
pub const BITS: [u32; 4] = [2, 3, 4, 8];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    Symmetric,
    Asymmetric,
}

/// How many values share a scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    Tensor,
    /// Per channel.
    Row,
    Group(usize),
}

/// Codes of a matrix with the scales of its groups, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantised {
    pub codes: Vec<i32>,
    pub scales: Vec<f64>,
    pub zeros: Vec<i32>,
    /// Values of a group; the last of a row may be shorter.
    group: usize,
    cols: usize,
}

impl Quantised {
    /// Index of the group that a value belongs to.
    fn group_of(&self, at: usize) -> usize {
        if self.group >= self.codes.len() {
            return 0;
        }
        let per_row = self.cols.div_ceil(self.group);
        at / self.cols * per_row + at % self.cols / self.group
    }

    fn push(&mut self, group: &[f64], bits: u32, scheme: Scheme) {
        let (scale, zero) = match scheme {
            Scheme::Symmetric => (symmetric_scale(group, bits), 0),
            Scheme::Asymmetric => asymmetric_scale(group, bits),
        };
        let (low, high) = range(bits, scheme);
        let code = |x: &f64| {
            let steps = if scale > 0.0 { (x / scale).round_ties_even() } else { 0.0 };
            (steps + f64::from(zero)).clamp(f64::from(low), f64::from(high)) as i32
        };
        self.codes.extend(group.iter().map(code));
        self.scales.push(scale);
        self.zeros.push(zero);
    }

    pub fn decode(&self) -> Vec<f64> {
        let value = |(at, code): (usize, &i32)| {
            let group = self.group_of(at);
            f64::from(code - self.zeros[group]) * self.scales[group]
        };
        self.codes.iter().enumerate().map(value).collect()
    }

    /// The scale of each value.
    pub fn scale_at(&self, at: usize) -> f64 {
        self.scales[self.group_of(at)]
    }
}

/// Quantises `rows` rows of `values`.
pub fn quantise(
    values: &[f64],
    rows: usize,
    bits: u32,
    scheme: Scheme,
    grouping: Grouping,
) -> Result<Quantised, Problem> {
    if !BITS.contains(&bits) {
        let en = format!("bits = {bits} must be one of 2, 3, 4, 8");
        return Err(Problem::new("bits", format!("位数 {bits} 应是 2、3、4、8 之一"), en));
    }
    if rows == 0 || values.is_empty() || !values.len().is_multiple_of(rows) {
        let n = values.len();
        let en = format!("{n} values do not make {rows} equal rows");
        return Err(Problem::new("rows", format!("{n} 个值分不成 {rows} 行"), en));
    }
    finite(values)?;
    let cols = values.len() / rows;
    let group = match grouping {
        Grouping::Tensor => values.len(),
        Grouping::Row => cols,
        Grouping::Group(group) if group > 0 && cols.is_multiple_of(group) => group,
        Grouping::Group(group) => {
            let en = format!("a row of {cols} values cannot be cut into groups of {group}");
            return Err(Problem::new("group", format!("一行 {cols} 个值分不成 {group} 个一组"), en));
        }
    };
    let mut out = Quantised { codes: Vec::with_capacity(values.len()), scales: vec![], zeros: vec![], group, cols };
    for part in values.chunks(group) {
        out.push(part, bits, scheme);
    }
    Ok(out)
}

/// The smallest and the largest code.
pub fn range(bits: u32, scheme: Scheme) -> (i32, i32) {
    match scheme {
        Scheme::Symmetric => (1 - (1 << (bits - 1)), (1 << (bits - 1)) - 1),
        Scheme::Asymmetric => (0, (1 << bits) - 1),
    }
}

fn symmetric_scale(values: &[f64], bits: u32) -> f64 {
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    largest / f64::from((1 << (bits - 1)) - 1)
}

fn asymmetric_scale(values: &[f64], bits: u32) -> (f64, i32) {
    let low = values.iter().copied().fold(0.0_f64, f64::min);
    let high = values.iter().copied().fold(0.0_f64, f64::max);
    let scale = (high - low) / f64::from((1 << bits) - 1);
    (scale, if scale > 0.0 { (-low / scale).round_ties_even() as i32 } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    /// Brief 14, vectors 5, 6 and 8.
    #[test]
    fn the_vectors_of_the_brief() {
        let symmetric = quantise(&[1.0, -2.0, 0.5, 0.01], 1, 8, Scheme::Symmetric, Grouping::Tensor).unwrap();
        assert!((symmetric.scales[0] - 0.015_748_031_5).abs() < 1e-10);
        assert_eq!(symmetric.codes, [64, -127, 32, 1]);
        let zeros = quantise(&[0.0; 4], 1, 8, Scheme::Symmetric, Grouping::Tensor).unwrap();
        assert_eq!((zeros.scales[0], &zeros.codes[..]), (0.0, &[0; 4][..]));
        let asymmetric = quantise(&[-1.0, 0.0, 0.5, 2.0], 1, 4, Scheme::Asymmetric, Grouping::Tensor).unwrap();
        assert!((asymmetric.scales[0] - 0.2).abs() < 1e-15);
        assert_eq!((asymmetric.zeros[0], &asymmetric.codes[..]), (5, &[0, 5, 7, 15][..]));
        let decoded = asymmetric.decode();
        for (got, expected) in decoded.iter().zip([-1.0, 0.0, 0.4, 2.0]) {
            assert!((got - expected).abs() < 1e-12);
        }
        let refused = |bits, rows, group| {
            quantise(&[1.0; 12], rows, bits, Scheme::Symmetric, Grouping::Group(group)).unwrap_err().field
        };
        assert_eq!(refused(5, 1, 4), "bits");
        assert_eq!(refused(4, 5, 4), "rows");
        assert_eq!((refused(4, 2, 4), refused(4, 2, 0)), ("group", "group"));
        let nan = quantise(&[1.0, f64::NAN], 1, 8, Scheme::Symmetric, Grouping::Tensor).unwrap_err();
        assert_eq!(nan.field, "values");
    }

    /// Experiment 3 of the brief: |error| ≤ s ÷ 2 for every value, ≤ s with a zero point; smaller groups err less.
    #[test]
    fn errors_stay_within_half_a_step() {
        let mut random = Random::new(9);
        let values: Vec<f64> = (0..4096).map(|_| random.normal()).collect();
        for bits in BITS {
            for (scheme, most) in [(Scheme::Symmetric, 0.5), (Scheme::Asymmetric, 1.0)] {
                let mut last = f64::INFINITY;
                for grouping in [Grouping::Tensor, Grouping::Row, Grouping::Group(32)] {
                    let got = quantise(&values, 16, bits, scheme, grouping).unwrap();
                    let decoded = got.decode();
                    let mut sum = 0.0;
                    for (at, (x, y)) in values.iter().zip(&decoded).enumerate() {
                        assert!((x - y).abs() <= most * got.scale_at(at) * (1.0 + 1e-9));
                        sum += (x - y).powi(2);
                    }
                    assert!(sum < last, "{bits} bits, {grouping:?}");
                    last = sum;
                }
            }
        }
        let grouped = quantise(&values, 16, 4, Scheme::Symmetric, Grouping::Group(32)).unwrap();
        assert_eq!(
            (grouped.scales.len(), quantise(&values, 16, 4, Scheme::Symmetric, Grouping::Row).unwrap().scales.len()),
            (128, 16)
        );
    }
}
