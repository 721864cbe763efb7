//! Bytes that the forward pass of attention moves and keeps: scores written out, tiles, and keys and values held on chip.
//!
//! Question: tokens, heads, head size, bytes a value, rows of a tile. Answer: HBM bytes of both ways, what the scores take,
//! sums. With N tokens, head size d, e bytes and tiles of B rows, a head moves 4Nde + 4N²e if scores and probabilities are
//! written and read; 2Nde + 4N + 2Nde · ⌈N ÷ B⌉ in tiles with no help of a cache; 4Nde + 4N when keys and values are read once.
//! Assumption: no mask skips a tile unless it is causal, where sums are halved and bytes are not; the log-sum-exp is float32.
//! Source: FlashAttention (Dao et al. 2022, arXiv 2205.14135), algorithms 0 and 1, theorem 2. Errors: query heads that KV heads
//! do not divide.

use crate::fields::{answer, choice, chosen, number};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text};

pub struct AttentionIo;

/// Bytes of one forward pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Io {
    pub naive: u128,
    pub tiled: u128,
    /// Keys and values are read once and held.
    pub resident: u128,
    /// Scores that the naive way keeps.
    pub scores: u128,
    /// What the tiled way keeps beside its output.
    pub stats: u128,
    pub flop: u128,
}

/// A layer's attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attention {
    pub tokens: u64,
    pub q_heads: u64,
    pub kv_heads: u64,
    pub head_dim: u64,
    pub value_bytes: u64,
    pub tile_rows: u64,
    pub is_causal: bool,
}

impl Attention {
    pub fn io(&self) -> Io {
        let [n, heads, kv, d, e] =
            [self.tokens, self.q_heads, self.kv_heads, self.head_dim, self.value_bytes].map(u128::from);
        let part = n * d * e;
        let tiles = n.div_ceil(u128::from(self.tile_rows.max(1)));
        Io {
            naive: heads * (4 * part + 4 * n * n * e),
            tiled: heads * (2 * part + 4 * n + 2 * part * tiles),
            resident: heads * (2 * part + 4 * n) + kv * 2 * part,
            scores: heads * n * n * e,
            stats: heads * 4 * n,
            flop: heads * 4 * n * n * d / if self.is_causal { 2 } else { 1 },
        }
    }
}

impl Model for AttentionIo {
    const ID: &'static str = "attention_io";
    const TITLE: Text = Text::new("注意力搬多少字节", "Bytes that attention moves");
    const ASSUMES: Text = Text::new(
        "缓存帮不上忙，或者 K 和 V 只读一次，两头都给；因果掩码只减半计算量。",
        "Either no cache helps, or keys and values are read once: both ends are given; a causal mask halves the sums only.",
    );
    const SOURCE: &'static str = "Dao et al. 2022, FlashAttention, algorithms 0 and 1, theorem 2";
    const EXAMPLE: &'static str = r#"{"tokens": 4096, "head_dim": 128, "tile_rows": 128}"#;

    fn question() -> Vec<FieldSpec> {
        let count = |key, unit, min, max, zh, en| FieldSpec::int(key, unit, min, max, Text::new(zh, en));
        vec![
            count("tokens", "token", 0, 1 << 20, "序列长度", "Tokens of the sequence"),
            count("head_dim", "1", 1, 1024, "每头的维度", "Size of a head").default_value(128),
            count("q_heads", "1", 1, 256, "query 头数", "Query heads").default_value(1),
            count("kv_heads", "1", 1, 256, "KV 头数", "KV heads").default_value(1),
            choice("value_bytes", "B", &["1", "2", "4", "8"], Text::new("一个值的字节数", "Bytes of a value"))
                .default_value("2"),
            count("tile_rows", "1", 1, 65_536, "一块 query 的行数", "Rows of queries in a tile").default_value(128),
            FieldSpec::new("is_causal", "", FieldKind::Bool, Text::new("因果掩码", "Causal mask")).default_value(false),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let bytes = |key, zh, en| FieldSpec::num(key, "B", 0.0, 1e25, Text::new(zh, en));
        vec![
            bytes("naive_bytes", "分数矩阵写出再读回", "Scores and probabilities written and read"),
            bytes("tiled_bytes", "分块，缓存不帮忙", "In tiles, with no help of a cache"),
            bytes("resident_bytes", "分块，K 和 V 只从 HBM 读一次", "In tiles, keys and values read from HBM once"),
            FieldSpec::num("ratio", "1", 0.0, 1e9, Text::new("朴素 ÷ 分块", "Naive over tiled")).optional(),
            bytes("score_bytes", "朴素做法要存的分数矩阵", "Scores that the naive way keeps"),
            FieldSpec::num("score_gib", "GiB", 0.0, 1e16, Text::new("同上，按 GiB", "The same in GiB")),
            bytes("stats_bytes", "分块做法另存的统计量", "Statistics that the tiled way keeps"),
            FieldSpec::num("flop", "FLOP", 0.0, 1e25, Text::new("两次矩阵乘的计算量", "Sums of both products")),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (q_heads, kv_heads) = (args.uint("q_heads"), args.uint("kv_heads"));
        if !q_heads.is_multiple_of(kv_heads) {
            let reason = format!("{q_heads} query heads cannot share {kv_heads} KV heads evenly");
            return Err(FieldError::conflict("kv_heads", reason));
        }
        let attention = Attention {
            tokens: args.uint("tokens"),
            q_heads,
            kv_heads,
            head_dim: args.uint("head_dim"),
            value_bytes: chosen(args, "value_bytes"),
            tile_rows: args.uint("tile_rows"),
            is_causal: args.flag("is_causal"),
        };
        let io = attention.io();
        let bytes = |bytes: u128| number(bytes as f64);
        let ratio = (io.tiled > 0).then(|| io.naive as f64 / io.tiled as f64);
        Ok(answer([
            ("naive_bytes", bytes(io.naive)),
            ("tiled_bytes", bytes(io.tiled)),
            ("resident_bytes", bytes(io.resident)),
            ("ratio", ratio.map_or(vramlab_units::Value::Null, number)),
            ("score_bytes", bytes(io.scores)),
            ("score_gib", number(io.scores as f64 / (1_u64 << 30) as f64)),
            ("stats_bytes", bytes(io.stats)),
            ("flop", bytes(io.flop)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use serde_json::json;

    /// Brief 16, vectors 5, 6 and 7.
    #[test]
    fn the_vectors_of_the_brief() {
        let ask = |tokens: u64, rows: u64| {
            crate::eval("attention_io", &question(&json!({"tokens": tokens, "tile_rows": rows}))).unwrap()
        };
        let short = ask(1024, 128);
        assert_eq!((&short["naive_bytes"], &short["tiled_bytes"]), (&json!(9_437_184), &json!(4_722_688)));
        assert_eq!(format!("{:.3}", short["ratio"].as_f64().unwrap()), "1.998");
        let long = ask(4096, 128);
        assert_eq!((&long["naive_bytes"], &long["tiled_bytes"]), (&json!(138_412_032), &json!(69_222_400)));
        assert_eq!((&long["score_bytes"], &long["resident_bytes"]), (&json!(33_554_432), &json!(4_210_688)));
        assert_eq!(ask(4096, 256)["tiled_bytes"], 2_097_152 + 16_384 + 2_097_152 * 16);
        // 32 heads of 32,768 tokens: 2 GiB a head.
        let given = json!({"tokens": 32_768, "q_heads": 32, "kv_heads": 8});
        assert_eq!(crate::eval("attention_io", &question(&given)).unwrap()["score_gib"], 64);
        let none = ask(0, 128);
        assert_eq!((&none["naive_bytes"], &none["tiled_bytes"], &none["ratio"]), (&json!(0), &json!(0), &json!(null)));
        let refused = |given| crate::eval("attention_io", &question(&given)).unwrap_err();
        assert_eq!(refused(json!({"tokens": 8, "q_heads": 32, "kv_heads": 5})).field(), "kv_heads");
        assert_eq!(refused(json!({"tokens": 8, "head_dim": 0})).field(), "head_dim");
        assert_eq!(refused(json!({"tokens": 8, "tile_rows": 0})).field(), "tile_rows");
    }
}
