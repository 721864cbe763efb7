//! Bytes of a matrix in a format, scales, zero points and indices included.
//!
//! Groups never cross rows: a row of k values has ⌈k ÷ g⌉ of them. Source: GPTQ's and AWQ's checkpoint layouts (`qweight`,
//! `qzeros`, `scales`, `g_idx`), ggml's block structures, OCP MX 1.0, QLoRA (NF4); brief of chapter 14.

use crate::Problem;
use crate::gguf::Kind;

/// Bytes by what they hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    pub values: u128,
    pub scales: u128,
    pub zeros: u128,
    /// Order of groups, metadata of sparsity, column numbers.
    pub indices: u128,
}

impl Size {
    pub fn bytes(&self) -> u128 {
        self.values + self.scales + self.zeros + self.indices
    }

    pub fn bits_per_value(&self, n: u128) -> f64 {
        self.bytes() as f64 * 8.0 / n.max(1) as f64
    }
}

/// A matrix of `rows` rows, each of `cols` values along which groups lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub rows: u64,
    pub cols: u64,
}

impl Shape {
    pub fn n(&self) -> u128 {
        u128::from(self.rows) * u128::from(self.cols)
    }

    /// Groups of `group` values, none of which crosses a row.
    pub fn groups(&self, group: u64) -> u128 {
        u128::from(self.rows) * u128::from(self.cols.div_ceil(group.max(1)))
    }
}

fn bytes_of_bits(bits: u128) -> u128 {
    bits.div_ceil(8)
}

/// Integers in groups, each with a scale and perhaps a zero point.
pub fn grouped(shape: Shape, bits: u64, group: u64, scale_bits: u64, zero_bits: u64) -> Size {
    let groups = shape.groups(group);
    Size {
        values: bytes_of_bits(shape.n() * u128::from(bits)),
        scales: bytes_of_bits(groups * u128::from(scale_bits)),
        zeros: bytes_of_bits(groups * u128::from(zero_bits)),
        indices: 0,
    }
}

/// A GPTQ checkpoint of a layer with `k` inputs and `n` outputs, in 32-bit words: `qweight [k·b/32, n]`, `qzeros [k/g, n·b/32]`,
/// `scales [k/g, n]` in half precision, `g_idx [k]`.
pub fn gptq(k: u64, n: u64, bits: u64, group: u64) -> Result<Size, Problem> {
    // Three bits pack thirty-two values into three words.
    let pack = if bits == 3 { 32 } else { 32 / bits.max(1) };
    packs(k, "k", pack)?;
    packs(n, "n", pack)?;
    packs(k, "k", group)?;
    let groups = u128::from(k / group);
    let (k, n, bits) = (u128::from(k), u128::from(n), u128::from(bits));
    Ok(Size { values: k * n * bits / 8, zeros: groups * n * bits / 8, scales: groups * n * 2, indices: k * 4 })
}

/// An AWQ checkpoint: `qweight [k, n/8]`, `qzeros [k/g, n/8]`, `scales [k/g, n]`; four bits, no order of groups.
pub fn awq(k: u64, n: u64, group: u64) -> Result<Size, Problem> {
    packs(n, "n", 8)?;
    packs(k, "k", group)?;
    let groups = u128::from(k / group);
    let (k, n) = (u128::from(k), u128::from(n));
    Ok(Size { values: k * n / 2, zeros: groups * n / 2, scales: groups * n * 2, indices: 0 })
}

fn packs(axis: u64, name: &'static str, by: u64) -> Result<(), Problem> {
    if by > 0 && axis.is_multiple_of(by) && axis > 0 {
        return Ok(());
    }
    let en = format!("{name} = {axis} must be a multiple of {by}");
    Err(Problem::new(if name == "k" { "cols" } else { "rows" }, format!("{name} = {axis} 应是 {by} 的倍数"), en))
}

/// GGUF blocks along the rows.
pub fn gguf(shape: Shape, kind: Kind) -> Result<Size, Problem> {
    let (values, bytes) = kind.size();
    blocks(shape, values as u64, bytes as u64, kind.name())
}

/// Blocks of any format; a row is a whole number of them.
pub fn blocks(shape: Shape, values: u64, bytes: u64, name: &str) -> Result<Size, Problem> {
    if !shape.cols.is_multiple_of(values) {
        let cols = shape.cols;
        let en = format!("cols = {cols} must be a multiple of {values}, the block of {name}");
        return Err(Problem::new("cols", format!("cols = {cols} 应是 {name} 的块长 {values} 的倍数"), en));
    }
    Ok(Size { values: shape.groups(values) * u128::from(bytes), ..Size::default() })
}

/// NF4 with a float32 scale for 64 values, or with 8-bit scales and a float32 for 256 of these.
pub fn nf4(n: u128, is_double: bool) -> Size {
    let scales = n.div_ceil(64);
    let bytes = if is_double { scales + scales.div_ceil(256) * 4 } else { scales * 4 };
    Size { values: n.div_ceil(2), scales: bytes, ..Size::default() }
}

/// MX: 32 elements and a byte. NVFP4: 16 of four bits, a byte, and four bytes for the tensor.
pub fn mx(shape: Shape, element_bits: u64) -> Size {
    Size { values: bytes_of_bits(shape.n() * u128::from(element_bits)), scales: shape.groups(32), ..Size::default() }
}

pub fn nvfp4(shape: Shape) -> Size {
    Size { values: shape.n().div_ceil(2), scales: shape.groups(16) + 4, ..Size::default() }
}

/// Keys and values of one token: per layer and head, `head_dim` values with a scale for each `group` of them.
pub fn kv_per_token(layers: u64, kv_heads: u64, head_dim: u64, bits: u64, group: u64, meta_bytes: u64) -> u128 {
    let head = bytes_of_bits(u128::from(head_dim) * u128::from(bits));
    let meta = u128::from(head_dim.div_ceil(group.max(1))) * u128::from(meta_bytes);
    2 * u128::from(layers) * u128::from(kv_heads) * (head + meta)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MATRIX: Shape = Shape { rows: 4096, cols: 11_008 };

    /// Brief 14, vectors 1 and 2.
    #[test]
    fn sizes_of_the_brief() {
        let g128 = grouped(MATRIX, 4, 128, 16, 4);
        assert_eq!((g128.bytes(), g128.bits_per_value(MATRIX.n())), (23_425_024, 4.156_25));
        assert_eq!(grouped(MATRIX, 4, 128, 16, 0).bytes(), 23_248_896);
        assert_eq!(grouped(MATRIX, 4, 32, 16, 4).bytes(), 26_066_944);
        assert_eq!(grouped(MATRIX, 8, 128, 16, 0).bytes(), 45_793_280);
        for (group, bits) in [(128, 4.15625), (64, 4.3125), (32, 4.625)] {
            assert_eq!(grouped(MATRIX, 4, group, 16, 4).bits_per_value(MATRIX.n()), bits);
        }
        let gptq = gptq(4096, 11_008, 4, 128).unwrap();
        assert_eq!(gptq, Size { values: 22_544_384, zeros: 176_128, scales: 704_512, indices: 16_384 });
        assert_eq!(gptq.bytes(), 23_441_408);
        assert!((gptq.bits_per_value(MATRIX.n()) - 4.159_157).abs() < 1e-6);
        assert_eq!(awq(4096, 11_008, 128).unwrap().bytes(), 23_425_024);
        assert_eq!(super::gptq(4100, 11_008, 4, 128).unwrap_err().to_string(), "k = 4100 must be a multiple of 8");
        assert_eq!(super::gptq(4104, 11_008, 4, 128).unwrap_err().field, "cols");
        assert_eq!(awq(4096, 11_009, 128).unwrap_err().field, "rows");
    }

    /// Vector 3, and the bits of brief 25.
    #[test]
    fn blocks_of_files() {
        let seven = Shape { rows: 1_750_000, cols: 4_000 };
        let row = Shape { rows: 27_343_750, cols: 256 };
        assert_eq!((seven.n(), row.n()), (7_000_000_000, 7_000_000_000));
        assert_eq!(gguf(row, Kind::Q4_0).unwrap().bytes(), 3_937_500_000);
        assert_eq!(gguf(row, Kind::Q4K).unwrap().bytes(), 3_937_500_000);
        assert_eq!(gguf(row, Kind::Q8_0).unwrap().bytes(), 7_437_500_000);
        assert_eq!(gguf(seven, Kind::Q4K).unwrap_err().field, "cols");
        for (bits, per_value) in [(8, 8.25), (6, 6.25), (4, 4.25)] {
            assert_eq!(mx(row, bits).bits_per_value(row.n()), per_value);
        }
        assert_eq!(nvfp4(row).bytes(), 7_000_000_000 / 16 * 9 + 4);
        assert_eq!(nf4(1 << 20, false).bits_per_value(1 << 20), 4.5);
        assert!((nf4(1 << 20, true).bits_per_value(1 << 20) - 4.126_953_125).abs() < 1e-12);
        for (kind, bits) in
            [(Kind::Q4_1, 5.0), (Kind::Q5_0, 5.5), (Kind::Q5_1, 6.0), (Kind::Q5K, 5.5), (Kind::Q6K, 6.5625)]
        {
            assert_eq!(gguf(row, kind).unwrap().bits_per_value(row.n()), bits, "{}", kind.name());
        }
    }

    /// Vector 7: Llama 3 8B, a token.
    #[test]
    fn a_quantised_cache() {
        let token = |bits, group, meta| kv_per_token(32, 8, 128, bits, group, meta);
        assert_eq!(token(16, 128, 0), 131_072);
        assert_eq!(token(8, 128, 2), 66_560);
        assert_eq!(token(4, 32, 4), 40_960);
        assert_eq!(token(2, 32, 4), 24_576);
        assert_eq!(token(8, 128, 0), 65_536);
    }
}
