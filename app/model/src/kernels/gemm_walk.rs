//! The order of the loops of a tiled matrix product, and what it loads again.
//!
//! Question: C = A·B in tiles, and the order of the three loops over tiles, outermost first. Answer: bytes that each matrix costs
//! when a block keeps one tile of each and loads a tile only when it is another than before. The matrix whose index the innermost
//! loop lacks stays where it is: C with k innermost, A with j, B with i. Sums that do not stay are written and read again.
//! Assumption: one block at work, no cache behind it, the first touch of C reads nothing. Source: arithmetic over loops.
//! Errors: none beyond the fields'.

use crate::fields::{answer, choice, chosen, number};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

/// The orders by name, outermost loop first.
pub const ORDERS: [&str; 6] = ["ijk", "ikj", "jik", "jki", "kij", "kji"];

/// One of the three matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matrix {
    A,
    B,
    C,
}

impl Matrix {
    pub const ALL: [Self; 3] = [Self::A, Self::B, Self::C];

    /// The loops of its rows and columns: 0 is i, 1 is j, 2 is k.
    pub fn loops(self) -> [usize; 2] {
        match self {
            Self::A => [0, 2],
            Self::B => [2, 1],
            Self::C => [0, 1],
        }
    }

    /// The loop that it has no index of.
    pub fn lacks(self) -> usize {
        match self {
            Self::A => 1,
            Self::B => 0,
            Self::C => 2,
        }
    }
}

/// Tiles along i, j and k, and the loops, outermost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Walk {
    pub tiles: [u64; 3],
    order: [usize; 3],
}

impl Walk {
    /// `order` is one of [`ORDERS`]; another name is read as the first.
    pub fn new(tiles: [u64; 3], order: &str) -> Self {
        let at = |letter| order.chars().position(|found| found == letter);
        let mut loops = [0, 1, 2];
        if let (Some(i), Some(j), Some(k)) = (at('i'), at('j'), at('k')) {
            for (idx, place) in [i, j, k].into_iter().enumerate() {
                loops[place.min(2)] = idx;
            }
        }
        Self { tiles: tiles.map(|n| n.max(1)), order: loops }
    }

    pub fn steps(&self) -> u64 {
        self.tiles.iter().product()
    }

    /// How many steps one turn of a loop takes.
    fn stride(&self, of: usize) -> u64 {
        let place = self.order.iter().position(|found| *found == of).unwrap_or(2);
        self.order.iter().skip(place + 1).map(|inner| self.tiles[*inner]).product()
    }

    /// The tile indices i, j, k of a step.
    pub fn at(&self, step: u64) -> [u64; 3] {
        [0, 1, 2].map(|of| step / self.stride(of) % self.tiles[of])
    }

    /// The first step that touches a tile of a matrix.
    pub fn first_touch(&self, matrix: Matrix, row: u64, column: u64) -> u64 {
        let [of_row, of_column] = matrix.loops();
        row * self.stride(of_row) + column * self.stride(of_column)
    }

    /// The last step up to `now` that touched a tile of a matrix; none if it is still to come.
    pub fn last_touch(&self, matrix: Matrix, row: u64, column: u64, now: u64) -> Option<u64> {
        let (first, free) = (self.first_touch(matrix, row, column), matrix.lacks());
        let turns = now.checked_sub(first)? / self.stride(free);
        Some(first + turns.min(self.tiles[free] - 1) * self.stride(free))
    }

    /// True if the innermost loop that turns at all leaves the matrix where it is.
    fn stays(&self, matrix: Matrix) -> bool {
        self.order.iter().rev().find(|of| self.tiles[**of] > 1).is_none_or(|of| *of == matrix.lacks())
    }

    /// How often each tile of the matrix is brought, over the whole walk.
    pub fn times(&self, matrix: Matrix) -> u64 {
        if self.stays(matrix) { 1 } else { self.tiles[matrix.lacks()] }
    }

    /// Tiles of the matrix brought up to the end of step `now`.
    pub fn brought(&self, matrix: Matrix, now: u64) -> u64 {
        let every = if self.stays(matrix) { self.tiles[matrix.lacks()] } else { 1 };
        now / every + 1
    }
}

/// Bytes of each matrix over the whole product: A, B, C read, C written.
pub fn traffic(size: [u64; 3], tile: [u64; 3], value: u64, order: &str) -> [u64; 4] {
    let walk = Walk::new([0, 1, 2].map(|of| size[of].div_ceil(tile[of])), order);
    let [m, n, k] = size;
    let [a, b, c] = Matrix::ALL.map(|matrix| walk.times(matrix));
    [m * k * a, k * n * b, m * n * (c - 1), m * n * c].map(|values| values * value)
}

pub struct GemmWalk;

impl Model for GemmWalk {
    const ID: &'static str = "gemm_walk";
    const TITLE: Text = Text::new("循环次序与重读", "The order of loops, and what is read again");
    const ASSUMES: Text = Text::new(
        "一个 block 独自走完，每个矩阵各留一块，换块才读；背后没有缓存，C 第一次碰不用读。",
        "One block walks alone, keeps one tile of each matrix and loads only another one; no cache behind it, and the first touch of C reads nothing.",
    );
    const SOURCE: &'static str = "arithmetic over loops";
    const EXAMPLE: &'static str =
        r#"{"m": 4096, "n": 4096, "k": 4096, "tile_m": 128, "tile_n": 128, "tile_k": 32, "order": "ijk"}"#;

    fn question() -> Vec<FieldSpec> {
        let size = |key, zh, en| FieldSpec::int(key, "1", 1, 1 << 17, Text::new(zh, en));
        vec![
            size("m", "A 和 C 的行数 M", "Rows of A and C, M"),
            size("n", "B 和 C 的列数 N", "Columns of B and C, N"),
            size("k", "内积的长度 K", "Length of the inner products, K"),
            size("tile_m", "一块的行数 BM", "Rows of a block's tile, BM"),
            size("tile_n", "一块的列数 BN", "Columns of a block's tile, BN"),
            size("tile_k", "一段内积 BK", "A piece of the inner product, BK"),
            choice("order", "", &ORDERS, Text::new("三层循环，从外到内", "The three loops, outermost first"))
                .default_value("ijk"),
            choice("value_bytes", "B", &["1", "2", "4", "8"], Text::new("一个数的字节", "Bytes of a value"))
                .default_value("4"),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let bytes = |key, zh, en| FieldSpec::num(key, "B", 0.0, 1e18, Text::new(zh, en));
        vec![
            FieldSpec::int("steps", "1", 1, i64::MAX, Text::new("块乘的次数", "Products of tiles")),
            bytes("a_bytes", "读 A 的字节", "Bytes read of A"),
            bytes("b_bytes", "读 B 的字节", "Bytes read of B"),
            bytes("c_read_bytes", "读回 C 的字节", "Bytes of C read again"),
            bytes("c_write_bytes", "写 C 的字节", "Bytes of C written"),
            bytes("bytes", "一共", "All bytes"),
            FieldSpec::num("gigabytes", "GB", 0.0, 1e9, Text::new("同上，以 GB 计", "The same in GB")),
            FieldSpec::num("intensity", "FLOP/B", 0.0, 1e9, Text::new("算术强度", "Arithmetic intensity")),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let size = ["m", "n", "k"].map(|key| args.uint(key));
        let tile = ["tile_m", "tile_n", "tile_k"].map(|key| args.uint(key));
        let [a, b, read, written] = traffic(size, tile, chosen(args, "value_bytes"), args.text("order"));
        let all = a + b + read + written;
        let flop = 2.0 * size.iter().map(|n| *n as f64).product::<f64>();
        let steps: u64 = size.iter().zip(tile).map(|(n, tile)| n.div_ceil(tile)).product();
        Ok(answer([
            ("steps", steps.into()),
            ("a_bytes", a.into()),
            ("b_bytes", b.into()),
            ("c_read_bytes", read.into()),
            ("c_write_bytes", written.into()),
            ("bytes", all.into()),
            ("gigabytes", number(all as f64 / 1e9)),
            ("intensity", number(flop / all as f64)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::super::gemm_tile::gemm_bytes;
    use super::*;

    /// With k innermost the sums stay: brief 03's formula, vectors 2, 3 and 4.
    #[test]
    fn with_k_innermost_it_is_the_tiled_product() {
        for (size, tile, value) in [
            ([4096, 4096, 4096], [32, 32, 8], 4),
            ([4096, 4096, 4096], [128, 256, 64], 2),
            ([1000, 1000, 1000], [128, 128, 16], 4),
        ] {
            for order in ["ijk", "jik"] {
                let all: u64 = traffic(size, tile, value, order).iter().sum();
                assert_eq!(all, gemm_bytes(size, [tile[0], tile[1]], value, false), "{size:?} {order}");
            }
        }
    }

    /// The walk itself, step by step, against the closed forms.
    #[test]
    fn a_walk_counts_what_the_closed_forms_say() {
        for tiles in [[3, 2, 4], [1, 3, 2], [2, 2, 1], [1, 1, 1], [4, 1, 1]] {
            for order in ORDERS {
                let walk = Walk::new(tiles, order);
                for matrix in Matrix::ALL {
                    let [row, column] = matrix.loops();
                    let tile = |step: u64| (walk.at(step)[row], walk.at(step)[column]);
                    let mut loads = 0;
                    for step in 0..walk.steps() {
                        loads += u64::from(step == 0 || tile(step) != tile(step - 1));
                        assert_eq!(walk.brought(matrix, step), loads, "{tiles:?} {order} {matrix:?} {step}");
                        for r in 0..tiles[row] {
                            for c in 0..tiles[column] {
                                let slow = (0..=step).rev().find(|past| tile(*past) == (r, c));
                                assert_eq!(walk.last_touch(matrix, r, c, step), slow, "{tiles:?} {order} {matrix:?}");
                            }
                        }
                    }
                    assert_eq!(walk.times(matrix) * tiles[row] * tiles[column], loads, "{tiles:?} {order} {matrix:?}");
                }
            }
        }
    }

    /// Worked by hand: 4 × 4 × 4 tiles of one value. A stays with j innermost; C is written four times and read back three.
    #[test]
    fn sums_that_do_not_stay_are_written_again() {
        assert_eq!(traffic([4, 4, 4], [1, 1, 1], 1, "ijk"), [64, 64, 0, 16]);
        assert_eq!(traffic([4, 4, 4], [1, 1, 1], 1, "ikj"), [16, 64, 48, 64]);
        assert_eq!(traffic([4, 4, 4], [1, 1, 1], 1, "kji"), [64, 16, 48, 64]);
    }
}
