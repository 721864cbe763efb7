//! What a tiled matrix product moves: bytes of global memory, shared memory of a block, registers of a thread.
//!
//! Question: C = A·B with M × N × K, a block's tile BM × BN × BK, a thread's tile TM × TN, bytes of a value, stages. Answer:
//! s·(M·K·⌈N/BN⌉ + K·N·⌈M/BM⌉ + M·N) bytes, FLOP a byte, and the same for every matrix moved once; stages·s·(BM·BK + BK·BN) of
//! shared memory; TM·TN ÷ (TM + TN) multiply-adds for each word that is read from shared memory.
//! Assumption: no cache serves a repeat; a tile at the edge is loaded up to the matrix's edge only; 2 FLOP a multiply-add.
//! Source: arithmetic over tiles; NVIDIA, "Matrix Multiplication Background". Errors: a tile that needs more shared memory than a
//! block may have, with both numbers.

use crate::fields::{answer, choice, chosen, number};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

/// Shared memory of a block of compute capability 9.0, when the kernel asks for it.
pub const BLOCK_LIMIT: u64 = 232_448;

/// Bytes of global memory for one product; `read_c` adds a read of C.
pub fn gemm_bytes(size: [u64; 3], tile: [u64; 2], value: u64, read_c: bool) -> u64 {
    let ([m, n, k], [tile_m, tile_n]) = (size, tile);
    let c = m * n * (1 + u64::from(read_c));
    value * (m * k * n.div_ceil(tile_n) + k * n * m.div_ceil(tile_m) + c)
}

/// Shared memory of `stages` pairs of tiles in bytes.
pub fn tile_shared(tile: [u64; 3], value: u64, stages: u64) -> u64 {
    let [tile_m, tile_n, tile_k] = tile;
    stages * value * tile_k * (tile_m + tile_n)
}

/// Multiply-adds for one word of shared memory, in a thread that keeps `m` × `n` sums.
pub fn per_word(m: u64, n: u64) -> f64 {
    (m * n) as f64 / (m + n) as f64
}

pub struct GemmTile;

impl Model for GemmTile {
    const ID: &'static str = "gemm_tile";
    const TITLE: Text = Text::new("分块矩阵乘搬多少字节", "What a tiled matrix product moves");
    const ASSUMES: Text = Text::new(
        "缓存不帮忙，每块都从显存读；一次乘加算 2 FLOP。",
        "No cache serves a repeat: every tile comes from global memory. A multiply-add is 2 FLOP.",
    );
    const SOURCE: &'static str = "arithmetic over tiles; NVIDIA, Matrix Multiplication Background User's Guide";
    const EXAMPLE: &'static str = r#"{"m": 4096, "n": 4096, "k": 4096, "tile_m": 128, "tile_n": 256, "tile_k": 64, "value_bytes": "2", "stages": 4}"#;

    fn question() -> Vec<FieldSpec> {
        let size = |key, zh, en| FieldSpec::int(key, "1", 1, 1 << 17, Text::new(zh, en));
        let tile = |key, most, zh, en| FieldSpec::int(key, "1", 1, most, Text::new(zh, en));
        vec![
            size("m", "A 和 C 的行数 M", "Rows of A and C, M"),
            size("n", "B 和 C 的列数 N", "Columns of B and C, N"),
            size("k", "内积的长度 K", "Length of the inner products, K"),
            tile("tile_m", 1 << 17, "一块的行数 BM", "Rows of a block's tile, BM"),
            tile("tile_n", 1 << 17, "一块的列数 BN", "Columns of a block's tile, BN"),
            tile(
                "tile_k",
                1024,
                "一段内积 BK；给了才算共享内存",
                "A piece of the inner product, BK; with it, shared memory is counted",
            )
            .optional(),
            tile("thread_m", 64, "一个线程的行数 TM", "Rows of a thread's tile, TM").default_value(1),
            tile("thread_n", 64, "一个线程的列数 TN", "Columns of a thread's tile, TN").default_value(1),
            tile("stages", 16, "同时在途的块，几级缓冲", "Tiles in flight at once: stages").default_value(1),
            choice("value_bytes", "B", &["1", "2", "4", "8"], Text::new("一个数的字节", "Bytes of a value"))
                .default_value("4"),
            FieldSpec::new("read_c", "", vramlab_units::FieldKind::Bool, Text::new("先要读 C", "C is read first"))
                .default_value(false),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let bytes = |key, zh, en| FieldSpec::num(key, "B", 0.0, 1e18, Text::new(zh, en));
        let num = |key, unit, zh, en| FieldSpec::num(key, unit, 0.0, 1e18, Text::new(zh, en));
        vec![
            bytes("bytes", "搬的字节", "Bytes moved"),
            num("gigabytes", "GB", "同上，以 GB 计", "The same in GB"),
            num("intensity", "FLOP/B", "算术强度", "Arithmetic intensity"),
            bytes("least_bytes", "每个矩阵只搬一次的字节", "Bytes when every matrix moves once"),
            num("most_intensity", "FLOP/B", "那时的算术强度", "Arithmetic intensity then"),
            num("flop", "FLOP", "运算量", "Work"),
            bytes("shared_bytes", "一个 block 的共享内存", "Shared memory of a block").optional(),
            num("fma_per_word", "1", "共享内存每个字换来几次乘加", "Multiply-adds for each word of shared memory"),
            FieldSpec::int(
                "registers",
                "1",
                0,
                1 << 13,
                Text::new("一个线程至少的寄存器", "Registers a thread, at least"),
            ),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let size = [args.uint("m"), args.uint("n"), args.uint("k")];
        let tile = [args.uint("tile_m"), args.uint("tile_n")];
        let (value, read_c) = (chosen(args, "value_bytes"), args.flag("read_c"));
        let bytes = gemm_bytes(size, tile, value, read_c);
        let least = gemm_bytes(size, [size[0], size[1]], value, read_c);
        let flop = 2.0 * size.iter().map(|n| *n as f64).product::<f64>();
        let thread = [args.uint("thread_m"), args.uint("thread_n")];
        let shared = shared(args, tile, value)?;
        Ok(answer([
            ("bytes", bytes.into()),
            ("gigabytes", number(bytes as f64 / 1e9)),
            ("intensity", number(flop / bytes as f64)),
            ("least_bytes", least.into()),
            ("most_intensity", number(flop / least as f64)),
            ("flop", number(flop)),
            ("shared_bytes", shared.map_or(vramlab_units::Value::Null, Into::into)),
            ("fma_per_word", number(per_word(thread[0], thread[1]))),
            ("registers", (thread[0] * thread[1] + thread[0] + thread[1]).into()),
        ]))
    }
}

/// Shared memory of the block, if the tile has a depth.
fn shared(args: &Args, tile: [u64; 2], value: u64) -> Result<Option<u64>, FieldError> {
    if !args.has("tile_k") {
        return Ok(None);
    }
    let bytes = tile_shared([tile[0], tile[1], args.uint("tile_k")], value, args.uint("stages"));
    if bytes > BLOCK_LIMIT {
        return Err(FieldError::conflict("tile_k", format!("needs {bytes} B, block limit {BLOCK_LIMIT} B")));
    }
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    #[track_caller]
    fn moves(size: [u64; 3], tile: [u64; 2], value: u64, bytes: u64, intensity: f64) {
        let given = json!({"m": size[0], "n": size[1], "k": size[2], "tile_m": tile[0], "tile_n": tile[1],
            "value_bytes": value.to_string()});
        let found = eval("gemm_tile", &question(&given)).unwrap();
        assert_eq!(found["bytes"].as_u64(), Some(bytes), "{size:?} by {tile:?}");
        let found = found["intensity"].as_f64().unwrap();
        assert!((found - intensity).abs() < 1e-9, "{size:?} by {tile:?}: {found}");
    }

    /// Brief 03, vectors 1 to 4.
    #[test]
    fn bytes_of_tiles() {
        let square = [4096, 4096, 4096];
        moves(square, [1, 1], 4, 549_822_922_752, 0.249_969_486_146_71);
        moves(square, [32, 32], 4, 17_246_978_048, 7.968_871_595_330_739);
        moves(square, [128, 128], 4, 4_362_076_160, 31.507_692_307_692_31);
        moves(square, [128, 256], 2, 1_644_167_168, 83.591_836_734_693_87);
        moves(square, [4096, 4096], 2, 100_663_296, 1_365.333_333_333_333_3);
        moves([1000, 1000, 1000], [128, 128], 4, 68_000_000, 2e9 / 68e6);
        moves([1, 4096, 4096], [1, 128], 2, 33_824_768, 0.992_007_750_060_547_3);
    }

    /// Brief 03, vectors 5 and 8.
    #[test]
    fn shared_memory_and_words() {
        assert_eq!(tile_shared([128, 128, 8], 4, 2), 16_384);
        assert_eq!(tile_shared([128, 256, 64], 2, 4), 196_608);
        for (m, n, expected) in [(1, 1, 0.5), (4, 4, 2.0), (8, 8, 4.0), (8, 16, 16.0 / 3.0)] {
            assert!((per_word(m, n) - expected).abs() < 1e-12, "{m} by {n}");
        }
        let given = json!({"m": 4096, "n": 4096, "k": 4096, "tile_m": 256, "tile_n": 256, "tile_k": 64,
            "value_bytes": "2", "stages": 4});
        let error = eval("gemm_tile", &question(&given)).unwrap_err();
        assert!(error.to_string().contains("needs 262144 B, block limit 232448 B"), "{error}");
        let given = json!({"m": 4, "n": 4, "k": 4, "tile_m": 0, "tile_n": 4});
        assert_eq!(eval("gemm_tile", &question(&given)).unwrap_err().field(), "tile_m");
        let given = json!({"m": 4, "n": 4, "k": 4, "tile_m": 4, "tile_n": 4, "value_bytes": "3"});
        assert_eq!(eval("gemm_tile", &question(&given)).unwrap_err().field(), "value_bytes");
    }
}
