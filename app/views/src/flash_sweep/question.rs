//! What the reader sets: tokens, tile, head, mask; and the model's sums for it.

use vramlab_model::inference::attention_io::{Attention, Io};
use vramlab_model::inference::flash_tiles::Tiling;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

/// Tiles along a side that are drawn.
pub const MOST_TILES: u64 = 64;
pub const MOST_TOKENS: u64 = 8192;
pub const MOST_TILE: u64 = 512;
/// Values of a head in the two sizes that the figure offers.
pub const BY_HAND: u64 = 1;
pub const REAL: u64 = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    pub tiling: Tiling,
}

/// The sums of both ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sums {
    pub io: Io,
    /// Of the sweep, tiles that the mask skips left out.
    pub tiled: u128,
    pub steps: u64,
    pub skipped: u64,
}

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let count = |key, unit, min, max: u64, zh, en| FieldSpec::int(key, unit, min, max as i64, Text::new(zh, en));
        let bytes = ["1", "2", "4"].map(Into::into).to_vec();
        let doc = Text::new("一个值的字节数", "Bytes of a value");
        let mask = Text::new("因果掩码", "Causal mask");
        vec![
            count("tokens", "token", 4, MOST_TOKENS, "序列长度", "Tokens of the sequence").default_value(2048),
            count("tile_rows", "1", 1, MOST_TILE, "一块里的 query", "Queries of a tile").default_value(128),
            count("tile_cols", "1", 1, MOST_TILE, "一块里的 key", "Keys of a tile").default_value(128),
            count("head_dim", "1", 1, 256, "每头的维度", "Size of a head").default_value(128),
            FieldSpec::new("value_bytes", "B", FieldKind::Choice { options: bytes }, doc).default_value("2"),
            FieldSpec::new("is_causal", "", FieldKind::Bool, mask).default_value(false),
            count("step", "1", 0, MOST_TILES * MOST_TILES, "走到第几块", "Tiles that are over").optional(),
            count("row", "1", 0, MOST_TILE - 1, "看这一块里的第几行", "The row of the tile that is looked at")
                .default_value(0),
        ]
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        let tiling = Tiling {
            tokens: args.uint("tokens"),
            rows: args.uint("tile_rows"),
            cols: args.uint("tile_cols"),
            head_dim: args.uint("head_dim"),
            value_bytes: args.text("value_bytes").parse().unwrap_or(2),
            is_causal: args.flag("is_causal"),
        };
        for (key, n) in [("tile_rows", tiling.row_tiles()), ("tile_cols", tiling.col_tiles())] {
            if n > MOST_TILES {
                let tokens = tiling.tokens;
                let reason = format!("{tokens} tokens would make {n} tiles a side; at most {MOST_TILES} are drawn");
                return Err(FieldError::conflict(key, reason));
            }
        }
        Ok(Self { tiling })
    }

    /// A size that one does by hand, or that of a real head, by the values of a head. Without the mask, as both begin.
    #[must_use]
    pub fn sized(mut self, head_dim: u64) -> Self {
        let (tokens, rows, cols) = if head_dim == BY_HAND { (8, 4, 2) } else { (2048, 64, 128) };
        self.tiling = Tiling { tokens, rows, cols, head_dim, is_causal: false, ..self.tiling };
        self
    }

    /// The same with tiles that can be drawn.
    #[must_use]
    pub fn drawable(mut self) -> Self {
        let tiling = &mut self.tiling;
        let least = tiling.tokens.div_ceil(MOST_TILES).next_power_of_two();
        for side in [&mut tiling.rows, &mut tiling.cols] {
            *side = (*side).clamp(least, MOST_TILE.max(least)).min(tiling.tokens.next_power_of_two());
        }
        self
    }

    pub fn params(&self, step: usize, row: u64) -> Map {
        let Tiling { tokens, rows, cols, head_dim, value_bytes, is_causal } = self.tiling;
        let values: [(&str, Value); 8] = [
            ("tokens", tokens.into()),
            ("tile_rows", rows.into()),
            ("tile_cols", cols.into()),
            ("head_dim", head_dim.into()),
            ("value_bytes", value_bytes.to_string().into()),
            ("is_causal", is_causal.into()),
            ("step", step.into()),
            ("row", row.into()),
        ];
        values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    pub fn sums(&self) -> Sums {
        let tiling = &self.tiling;
        let attention = Attention {
            tokens: tiling.tokens,
            q_heads: 1,
            kv_heads: 1,
            head_dim: tiling.head_dim,
            value_bytes: tiling.value_bytes,
            tile_rows: tiling.rows,
            is_causal: tiling.is_causal,
        };
        let steps = tiling.visited();
        let skipped = tiling.row_tiles() * tiling.col_tiles() - steps;
        Sums { io: attention.io(), tiled: tiling.hbm_after(steps), steps, skipped }
    }
}
