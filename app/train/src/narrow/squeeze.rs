//! What may happen to a matrix of weights, and how many bytes it has afterwards, scales and indices included.
//!
//! Integers: symmetric, a half-precision scale for each group of a row, ties to even. 2:4: of each four along a row the two
//! largest magnitudes stay. Magnitude: the smallest of the whole matrix go, kept as CSR. A row is what one unit reads.

use super::net::Net;
use crate::device::Trouble;

/// Values that share a scale.
pub const GROUP: usize = 32;

/// A matrix by what each unit reads: `rows` units of `cols` inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    pub rows: usize,
    pub cols: usize,
    pub values: Vec<f64>,
}

/// How weights are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Four bytes each, as trained.
    Single,
    /// Two bytes each.
    Half,
    /// Whole numbers of so many bits in groups with a scale.
    Ints(u32),
    /// Two of four, in two bytes, with two bits of place each.
    TwoOfFour,
    /// So many thousandths kept, in two bytes, with a two-byte column each and four bytes a row.
    Kept(u32),
}

impl Form {
    /// The matrix as it is after storing.
    pub fn store(self, matrix: &Matrix) -> Matrix {
        let mut out = matrix.clone();
        match self {
            Self::Single => {}
            Self::Half => out.values.iter_mut().for_each(|value| *value = half(*value)),
            Self::Ints(bits) => out.values.chunks_mut(matrix.cols).for_each(|row| {
                row.chunks_mut(GROUP).for_each(|group| ints(group, bits));
            }),
            Self::TwoOfFour => out.values.chunks_exact_mut(4).for_each(two_of_four),
            Self::Kept(thousandths) => magnitude(&mut out.values, thousandths),
        }
        out
    }

    pub fn bytes(self, rows: usize, cols: usize) -> usize {
        let n = rows * cols;
        match self {
            Self::Single => 4 * n,
            Self::Half => 2 * n,
            Self::Ints(bits) => (n * bits as usize).div_ceil(8) + rows * cols.div_ceil(GROUP) * 2,
            Self::TwoOfFour => n + (n / 2 * 2).div_ceil(8),
            Self::Kept(thousandths) => n_kept(n, thousandths) * 4 + (rows + 1) * 4,
        }
    }
}

/// The nearest number of half precision, ties to even; weights lie far within its range.
pub fn half(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let exponent = value.abs().log2().floor().max(-14.0);
    let step = (exponent - 10.0).exp2();
    (value / step).round_ties_even() * step
}

fn ints(group: &mut [f64], bits: u32) {
    let most = f64::from((1_u32 << (bits - 1)) - 1);
    let scale = half(group.iter().fold(0.0_f64, |most, value| most.max(value.abs())) / most);
    for value in group {
        let code = if scale > 0.0 { (*value / scale).round_ties_even().clamp(-most, most) } else { 0.0 };
        *value = code * scale;
    }
}

fn two_of_four(four: &mut [f64]) {
    let mut order = [0, 1, 2, 3];
    // Stable: of equals the lower place stays.
    order.sort_by(|a: &usize, b: &usize| four[*b].abs().total_cmp(&four[*a].abs()));
    four[order[2]] = 0.0;
    four[order[3]] = 0.0;
}

fn n_kept(n: usize, thousandths: u32) -> usize {
    n * thousandths as usize / 1000
}

fn magnitude(values: &mut [f64], thousandths: u32) {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*b].abs().total_cmp(&values[*a].abs()));
    for at in order.into_iter().skip(n_kept(values.len(), thousandths)) {
        values[at] = 0.0;
    }
}

/// Two thin matrices whose product is the best of its rank: what the first units read, what the second read of them.
///
/// Orthogonal iteration on WᵀW finds the leading right singular vectors V; then W ≈ (W V) Vᵀ.
pub fn factors(matrix: &Matrix, rank: usize) -> [Matrix; 2] {
    let (rows, cols) = (matrix.rows, matrix.cols);
    let rank = rank.min(cols).max(1);
    let row = |at: usize| &matrix.values[at * cols..(at + 1) * cols];
    // Columns of V, begun anywhere that no vector is orthogonal to by chance.
    let mut basis: Vec<Vec<f64>> = (0..rank)
        .map(|col| (0..cols).map(|at| ((at * (2 * col + 1) + col) as f64 * 0.618).sin() + 1e-3).collect())
        .collect();
    for _ in 0..80 {
        for vector in &mut basis {
            let seen: Vec<f64> = (0..rows).map(|at| dot(row(at), vector)).collect();
            vector.fill(0.0);
            for (at, factor) in seen.iter().enumerate() {
                vector.iter_mut().zip(row(at)).for_each(|(sum, value)| *sum += factor * value);
            }
        }
        orthonormal(&mut basis);
    }
    let first = Matrix { rows: rank, cols, values: basis.concat() };
    let second = (0..rows).flat_map(|at| basis.iter().map(move |vector| dot(row(at), vector))).collect();
    [first, Matrix { rows, cols: rank, values: second }]
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn orthonormal(basis: &mut [Vec<f64>]) {
    for at in 0..basis.len() {
        let (done, rest) = basis.split_at_mut(at);
        let Some(vector) = rest.first_mut() else { return };
        for other in done.iter() {
            let along = dot(vector, other);
            vector.iter_mut().zip(other).for_each(|(value, unit)| *value -= along * unit);
        }
        let length = dot(vector, vector).sqrt().max(1e-300);
        vector.iter_mut().for_each(|value| *value /= length);
    }
}

/// Stores every matrix of a net in a form.
pub fn store_all(net: &mut Net, form: Form) -> Result<(), Trouble> {
    for idx in 0..net.n_layers() {
        let stored = form.store(&net.matrix(idx)?);
        net.set_matrix(idx, &stored)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(values: &[f64]) -> Matrix {
        Matrix { rows: 1, cols: values.len(), values: values.to_vec() }
    }

    /// IEEE 754 half precision: 1 + 2⁻¹¹ is a tie and goes to 1; 65504 is the largest; 2⁻²⁴ the smallest.
    #[test]
    fn half_precision_rounds_to_even() {
        for (value, expected) in [
            (1.0 + 2.0_f64.powi(-11), 1.0),
            (1.0 + 3.0 * 2.0_f64.powi(-11), 1.0 + 2.0_f64.powi(-9)),
            (65504.0, 65504.0),
            (0.1, 0.099_975_585_937_5),
            (2.0_f64.powi(-24), 2.0_f64.powi(-24)),
            (-0.0, 0.0),
        ] {
            assert_eq!(half(value), expected, "{value}");
        }
    }

    /// Brief 14: [1, −3, 0.5, 2] keeps −3 and 2, equals keep the lower places; codes of −2, 0.5 and 0.01 in eight bits.
    #[test]
    fn stored_values_by_hand() {
        let scale = half(2.0 / 127.0);
        let codes = [63.0, -127.0, 32.0, 1.0];
        let stored = Form::Ints(8).store(&row(&[63.0 * scale, -2.0, 0.5, 0.01])).values;
        assert_eq!(stored, codes.map(|code| code * scale));
        assert_eq!(Form::TwoOfFour.store(&row(&[1.0, -3.0, 0.5, 2.0])).values, [0.0, -3.0, 0.0, 2.0]);
        assert_eq!(Form::TwoOfFour.store(&row(&[5.0, 5.0, 5.0, 5.0])).values, [5.0, 5.0, 0.0, 0.0]);
        assert_eq!(Form::Kept(250).store(&row(&[1.0, -3.0, 0.5, 2.0])).values, [0.0, -3.0, 0.0, 0.0]);
        assert_eq!(Form::Ints(4).store(&row(&[0.0; 32])).values, [0.0; 32]);
    }

    /// The layouts of the brief on a matrix of 4096 × 4096, and of 64 × 64 with groups of 32.
    #[test]
    fn bytes_count_scales_and_places() {
        assert_eq!(Form::TwoOfFour.bytes(4096, 4096), 18_874_368);
        assert_eq!(Form::Ints(4).bytes(64, 64), 2048 + 64 * 2 * 2);
        assert_eq!(Form::Kept(100).bytes(64, 64), 409 * 4 + 65 * 4);
        assert_eq!((Form::Half.bytes(64, 64), Form::Single.bytes(64, 64)), (8192, 16_384));
    }

    /// A matrix of rank 2 comes back from two factors; of rank 3, one factor loses exactly its two smaller singular values.
    #[test]
    fn factors_are_the_best_of_their_rank() {
        let made = |sizes: &[f64]| {
            let (rows, cols) = (6, 5);
            let unit = |at: usize, n: usize, k: usize| if (at + k).is_multiple_of(n) { 1.0 } else { 0.0 };
            let value = |i: usize, j: usize| -> f64 {
                sizes.iter().enumerate().map(|(k, s)| s * unit(i, rows, k) * unit(j, cols, 2 * k)).sum()
            };
            let values = (0..rows * cols).map(|at| value(at / cols, at % cols)).collect();
            Matrix { rows, cols, values }
        };
        let back = |matrix: &Matrix, rank: usize| {
            let [first, second] = factors(matrix, rank);
            let value = |at: usize| -> f64 {
                let (i, j) = (at / matrix.cols, at % matrix.cols);
                (0..rank).map(|k| second.values[i * rank + k] * first.values[k * matrix.cols + j]).sum()
            };
            let lost = (0..matrix.values.len()).map(|at| (value(at) - matrix.values[at]).powi(2)).sum::<f64>();
            lost.sqrt()
        };
        assert!(back(&made(&[3.0, 2.0]), 2) < 1e-9);
        assert!((back(&made(&[3.0, 2.0, 1.0]), 1) - 5.0_f64.sqrt()).abs() < 1e-9);
    }
}
