//! The sweep of tiles over the scores of one head: which tiles are visited, what has crossed HBM when, what lies on chip.
//!
//! Question: tokens, rows and columns of a tile, head size, bytes a value, a causal mask. Answer: tiles, those that the mask
//! skips, HBM bytes of the sweep, and what a tile keeps in shared memory and in registers. Rows of tiles are taken in turn,
//! within one the tiles of keys from the left; a tile above the diagonal is neither read nor computed.
//! Assumption: one head, no help of a cache; queries, keys and values in shared memory, scores, output and both statistics
//! in float32 registers; nothing is buffered twice.
//! Source: FlashAttention-2 (Dao 2023, arXiv 2307.08691), algorithm 1 and section 3.1. Errors: none beyond the ranges.

use super::online_softmax::Running;
use crate::fields::{answer, choice, chosen, number};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text};

pub struct FlashTiles;

/// A head's attention, cut into tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiling {
    pub tokens: u64,
    /// Queries of a tile.
    pub rows: u64,
    /// Keys of a tile.
    pub cols: u64,
    pub head_dim: u64,
    pub value_bytes: u64,
    pub is_causal: bool,
}

impl Tiling {
    pub fn row_tiles(&self) -> u64 {
        self.tokens.div_ceil(self.rows.max(1))
    }

    pub fn col_tiles(&self) -> u64 {
        self.tokens.div_ceil(self.cols.max(1))
    }

    /// Queries of a row of tiles; the last one may have fewer.
    pub fn rows_in(&self, row_tile: u64) -> u64 {
        self.rows.min(self.tokens.saturating_sub(row_tile * self.rows))
    }

    pub fn cols_in(&self, col_tile: u64) -> u64 {
        self.cols.min(self.tokens.saturating_sub(col_tile * self.cols))
    }

    /// Tiles of keys that a row of tiles visits: those from the left that the mask leaves something of.
    pub fn visited_in(&self, row_tile: u64) -> u64 {
        if !self.is_causal {
            return self.col_tiles();
        }
        let last = row_tile * self.rows + self.rows_in(row_tile);
        last.div_ceil(self.cols.max(1)).min(self.col_tiles())
    }

    pub fn visited(&self) -> u64 {
        (0..self.row_tiles()).map(|row| self.visited_in(row)).sum()
    }

    /// The tile that is computed `step`-th, from one: its row and column of tiles.
    pub fn tile(&self, step: u64) -> Option<(u64, u64)> {
        let mut left = step.checked_sub(1)?;
        for row in 0..self.row_tiles() {
            let n = self.visited_in(row);
            if left < n {
                return Some((row, left));
            }
            left -= n;
        }
        None
    }

    /// How many tiles are over when a tile is; none if the mask skips it.
    pub fn step_of(&self, row_tile: u64, col_tile: u64) -> Option<u64> {
        let is_there = row_tile < self.row_tiles() && col_tile < self.visited_in(row_tile);
        is_there.then(|| (0..row_tile).map(|row| self.visited_in(row)).sum::<u64>() + col_tile + 1)
    }

    /// Bytes that have crossed HBM when `steps` tiles are over.
    pub fn hbm_after(&self, steps: u64) -> u128 {
        let row_of = |values: u64| u128::from(values) * u128::from(self.head_dim) * u128::from(self.value_bytes);
        let (mut left, mut bytes) = (steps, 0);
        for row in 0..self.row_tiles() {
            if left == 0 {
                break;
            }
            let (n, rows) = (self.visited_in(row), self.rows_in(row));
            let done = left.min(n);
            let keys = (done * self.cols).min(self.tokens);
            bytes += row_of(rows) + 2 * row_of(keys);
            if done == n {
                bytes += row_of(rows) + 4 * u128::from(rows);
            }
            left -= done;
        }
        bytes
    }

    /// A tile of queries, of keys and of values.
    pub fn shared_bytes(&self) -> u128 {
        let (rows, cols) = (self.rows.min(self.tokens), self.cols.min(self.tokens));
        u128::from(rows + 2 * cols) * u128::from(self.head_dim) * u128::from(self.value_bytes)
    }

    /// Scores of a tile, its output, and m and l of each row.
    pub fn register_bytes(&self) -> u128 {
        let (rows, cols) = (self.rows.min(self.tokens), self.cols.min(self.tokens));
        4 * u128::from(rows) * u128::from(cols + self.head_dim + 2)
    }

    /// What a row keeps when `n` of its tiles are over, for scores and values that anybody can work out by hand.
    pub fn running(&self, row: u64, n: u64) -> Running {
        (0..n).fold(Running::START, |state, tile| {
            let keys = tile * self.cols..tile * self.cols + self.cols_in(tile);
            let scores: Vec<f64> = keys.clone().map(|key| self.score(row, key)).collect();
            state.block(&scores, &keys.map(value).collect::<Vec<_>>())
        })
    }

    /// The score of a query and a key: small whole numbers, 1 2 3 4 … in the first row; −∞ under the mask.
    pub fn score(&self, row: u64, key: u64) -> f64 {
        if self.is_causal && key > row {
            return f64::NEG_INFINITY;
        }
        ((5 * row + key + (row / 8) * (key / 8)) % 8 + 1) as f64
    }
}

/// The value that belongs to a key: 10 20 30 40 …
pub fn value(key: u64) -> f64 {
    (10 * (key % 8 + 1)) as f64
}

impl Model for FlashTiles {
    const ID: &'static str = "flash_tiles";
    const TITLE: Text = Text::new("分块注意力走一遍", "The sweep of tiled attention");
    const ASSUMES: Text = Text::new(
        "一个头，缓存不帮忙；Q、K、V 的块在共享内存，分数、输出和两个统计量是寄存器里的 float32，没有双缓冲。",
        "One head, no help of a cache; tiles of Q, K and V in shared memory, scores, output and both statistics in float32 \
         registers, nothing buffered twice.",
    );
    const SOURCE: &'static str = "Dao 2023, FlashAttention-2 (arXiv 2307.08691), algorithm 1, section 3.1";
    const EXAMPLE: &'static str = r#"{"tokens": 4096, "tile_rows": 128, "tile_cols": 128, "is_causal": true}"#;

    fn question() -> Vec<FieldSpec> {
        let count = |key, unit, max, zh, en| FieldSpec::int(key, unit, 1, max, Text::new(zh, en));
        vec![
            count("tokens", "token", 1 << 20, "序列长度", "Tokens of the sequence"),
            count("tile_rows", "1", 1 << 16, "一块里的 query", "Queries of a tile").default_value(128),
            count("tile_cols", "1", 1 << 16, "一块里的 key", "Keys of a tile").default_value(128),
            count("head_dim", "1", 1024, "每头的维度", "Size of a head").default_value(128),
            choice("value_bytes", "B", &["1", "2", "4", "8"], Text::new("一个值的字节数", "Bytes of a value"))
                .default_value("2"),
            FieldSpec::new("is_causal", "", FieldKind::Bool, Text::new("因果掩码", "Causal mask")).default_value(false),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let count = |key, zh, en| FieldSpec::int(key, "1", 0, 1 << 53, Text::new(zh, en));
        let bytes = |key, zh, en| FieldSpec::num(key, "B", 0.0, 1e25, Text::new(zh, en));
        vec![
            count("tiles", "全部块", "All tiles"),
            count("visited", "算的块", "Tiles that are computed"),
            count("skipped", "掩码整块跳过的", "Tiles that the mask skips"),
            bytes("hbm_bytes", "进出 HBM 的字节", "Bytes that cross HBM"),
            bytes("shared_bytes", "一块在共享内存里", "A tile in shared memory"),
            bytes("register_bytes", "一块在寄存器里", "A tile in registers"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let tiling = Tiling {
            tokens: args.uint("tokens"),
            rows: args.uint("tile_rows"),
            cols: args.uint("tile_cols"),
            head_dim: args.uint("head_dim"),
            value_bytes: chosen(args, "value_bytes"),
            is_causal: args.flag("is_causal"),
        };
        let (tiles, visited) = (tiling.row_tiles() * tiling.col_tiles(), tiling.visited());
        Ok(answer([
            ("tiles", tiles.into()),
            ("visited", visited.into()),
            ("skipped", (tiles - visited).into()),
            ("hbm_bytes", number(tiling.hbm_after(visited) as f64)),
            ("shared_bytes", number(tiling.shared_bytes() as f64)),
            ("register_bytes", number(tiling.register_bytes() as f64)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use serde_json::json;

    const LONG: Tiling = Tiling { tokens: 4096, rows: 128, cols: 128, head_dim: 128, value_bytes: 2, is_causal: false };

    /// Brief 16, vectors 5 and 6: what the closed formula has is what the sweep adds up to.
    #[test]
    fn the_sweep_adds_up_to_the_formula() {
        for (rows, expected) in [(128, 69_222_400), (256, 2_097_152 + 16_384 + 2_097_152 * 16)] {
            for cols in [32, 64, 128, 100] {
                let tiling = Tiling { rows, cols, ..LONG };
                assert_eq!(tiling.hbm_after(tiling.visited()), expected, "{rows} × {cols}");
            }
        }
        let given = json!({"tokens": 1024});
        assert_eq!(crate::eval("flash_tiles", &question(&given)).unwrap()["hbm_bytes"], 4_722_688);
    }

    /// 32 rows of 1 to 32 tiles: 528 of 1024; each reads a key and a value tile of 32 KiB.
    #[test]
    fn a_causal_mask_skips_almost_half() {
        let causal = Tiling { is_causal: true, ..LONG };
        assert_eq!((causal.visited(), causal.hbm_after(528)), (528, 528 * 65_536 + 2_097_152 + 16_384));
        assert_eq!((causal.tile(1), causal.tile(2), causal.tile(3)), (Some((0, 0)), Some((1, 0)), Some((1, 1))));
        assert_eq!((causal.step_of(31, 31), causal.step_of(0, 1), causal.tile(529)), (Some(528), None, None));
        // A tile that the diagonal cuts is visited: 3 rows by 2 columns of 6 tokens.
        let ragged = Tiling { tokens: 6, rows: 3, cols: 2, head_dim: 1, value_bytes: 2, is_causal: true };
        assert_eq!((ragged.visited_in(0), ragged.visited_in(1)), (2, 3));
    }

    /// 128 × 128 tiles of 128 values at 2 B: three of 32 KiB in shared memory; two of 64 KiB and 8 B a row in registers.
    #[test]
    fn a_tile_on_chip() {
        assert_eq!((LONG.shared_bytes(), LONG.register_bytes()), (98_304, 131_072 + 1024));
    }

    /// Brief 16, vector 4: the first row by hand, in blocks of two.
    #[test]
    fn the_first_row_is_the_brief_s() {
        let four = Tiling { tokens: 4, rows: 2, cols: 2, head_dim: 1, value_bytes: 2, is_causal: false };
        let (first, all) = (four.running(0, 1), four.running(0, 2));
        assert!((first.l - 1.367_879_441_2).abs() < 1e-10 && (first.o - 23.678_794_411_7).abs() < 1e-10);
        assert!((all.l - 1.553_001_792_8).abs() < 1e-10 && (all.result() - 34.926_527_345_9).abs() < 1e-10);
        // Under the mask the first row sees its own key alone.
        assert_eq!(Tiling { is_causal: true, ..four }.running(0, 1).result(), 10.0);
    }
}
