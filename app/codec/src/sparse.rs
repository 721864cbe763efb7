//! Two of four, and any of many: which values are kept, where they were, what both take.
//!
//! 2:4: of each four along a row the two largest magnitudes stay, the lower index of equals; kept in the order of their
//! places, each with two bits. CSR: value and column for each, one number for each row. Source: NVIDIA's PTX ISA, `mma.sp`
//! (two-bit indices for 16- and 8-bit values); brief of chapter 14.

use crate::Problem;
use crate::problem::finite;
use crate::size::Size;

/// Four values of which two are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tile {
    pub values: [f64; 2],
    pub places: [u8; 2],
}

impl Tile {
    /// The metadata: first place in the low bits.
    pub fn nibble(&self) -> u8 {
        self.places[0] | self.places[1] << 2
    }

    pub fn decode(&self) -> [f64; 4] {
        let mut out = [0.0; 4];
        out[usize::from(self.places[0])] = self.values[0];
        out[usize::from(self.places[1])] = self.values[1];
        out
    }
}

/// Prunes a row.
pub fn prune(row: &[f64]) -> Result<Vec<Tile>, Problem> {
    if row.is_empty() || !row.len().is_multiple_of(4) {
        let n = row.len();
        let en = format!("a row of {n} values is no whole number of fours");
        return Err(Problem::new("cols", format!("一行 {n} 个值，不是 4 的倍数"), en));
    }
    finite(row)?;
    Ok(row.chunks_exact(4).map(tile).collect())
}

fn tile(four: &[f64]) -> Tile {
    let mut order = [0_u8, 1, 2, 3];
    let size = |place: u8| four[usize::from(place)].abs();
    // Stable, so that of equals the lower place comes first.
    order.sort_by(|a, b| size(*b).total_cmp(&size(*a)));
    let places = [order[0].min(order[1]), order[0].max(order[1])];
    Tile { values: places.map(|place| four[usize::from(place)]), places }
}

/// Bytes of `rows` × `cols` values of `bits` bits with two of four kept.
pub fn size_2_4(rows: u64, cols: u64, bits: u64) -> Result<Size, Problem> {
    if cols == 0 || !cols.is_multiple_of(4) {
        return Err(Problem::new(
            "cols",
            format!("cols = {cols} 应是 4 的倍数"),
            format!("cols = {cols} must be a multiple of 4"),
        ));
    }
    let kept = u128::from(rows) * u128::from(cols) / 2;
    Ok(Size { values: (kept * u128::from(bits)).div_ceil(8), indices: (kept * 2).div_ceil(8), ..Size::default() })
}

/// Bytes of a CSR matrix with `nnz` values.
pub fn size_csr(rows: u64, nnz: u128, value_bytes: u64, index_bytes: u64) -> Size {
    Size {
        values: nnz * u128::from(value_bytes),
        indices: nnz * u128::from(index_bytes) + (u128::from(rows) + 1) * 4,
        ..Size::default()
    }
}

/// Density below which CSR is smaller than the dense matrix, row pointers aside.
pub fn csr_limit(value_bytes: u64, index_bytes: u64) -> f64 {
    value_bytes as f64 / (value_bytes + index_bytes) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Brief 14, vector 4.
    #[test]
    fn tiles_of_the_brief() {
        for (four, values, places, nibble) in [
            ([1.0, -3.0, 0.5, 2.0], [-3.0, 2.0], [1, 3], 13),
            ([5.0, 5.0, 5.0, 5.0], [5.0, 5.0], [0, 1], 4),
            ([0.0, 0.0, 7.0, 0.0], [0.0, 7.0], [0, 2], 8),
        ] {
            let tile = prune(&four).unwrap()[0];
            assert_eq!((tile.values, tile.places, tile.nibble()), (values, places, nibble), "{four:?}");
        }
        assert_eq!(prune(&[1.0, -3.0, 0.5, 2.0]).unwrap()[0].decode(), [0.0, -3.0, 0.0, 2.0]);
        assert_eq!(prune(&[1.0; 6]).unwrap_err().field, "cols");
        assert_eq!(prune(&[1.0, f64::NAN, 1.0, 1.0]).unwrap_err().field, "values");
    }

    /// Vectors 4 and 7, and both check questions.
    #[test]
    fn sizes_of_the_brief() {
        assert_eq!(size_2_4(4096, 4096, 16).unwrap().bytes(), 18_874_368);
        assert_eq!(size_2_4(1, 64, 8).unwrap().bytes() as f64 / 64.0, 0.625);
        assert_eq!(size_2_4(1, 64, 16).unwrap().bytes() as f64 / 128.0, 0.5625);
        assert_eq!(size_2_4(1, 6, 16).unwrap_err().field, "cols");
        assert_eq!(size_csr(4096, 1_677_721, 2, 4).bytes(), 10_082_714);
        assert!((csr_limit(2, 4) - 1.0 / 3.0).abs() < 1e-15);
        assert_eq!(csr_limit(2, 2), 0.5);
        // Just below and above the limit, rows aside.
        let dense = 2 * 3_000_000_u128;
        assert!(size_csr(0, 999_990, 2, 4).bytes() < dense && size_csr(0, 1_000_001, 2, 4).bytes() > dense);
    }
}
