//! The least time of a tiled fp32 product: arithmetic, bytes, or words of shared memory.
//!
//! Question: C = A·B, the tile of a block and of a thread, what the card gives. Answer: three times, and the longest of them.
//! Bytes are those of `gemm_tile`; a thread that keeps TM × TN sums reads TM + TN words for TM·TN multiply-adds, and an SM hands
//! out 32 words a clock. Assumption: the three overlap fully; no cache serves a tile again; no bank conflicts; each lane's word
//! counts, also where a warp reads one word together. Source: arithmetic; NVIDIA, CUDA C++ Programming Guide, arithmetic throughput
//! of compute capability 9.0 (128 fp32 lanes an SM) and 32 banks of 4 bytes. Errors: a thread's tile that does not divide a
//! block's, more than 1024 threads.

use super::gemm_tile::{gemm_bytes, per_word};
use crate::fields::{answer, number};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text};

/// Words that an SM's shared memory gives in a clock.
pub const WORDS_PER_CLOCK: f64 = 32.0;
pub const MOST_THREADS: u64 = 1024;

/// TFLOP/s that shared memory can feed when each word makes `fma_per_word` multiply-adds.
pub fn shared_tflops(fma_per_word: f64, sms: u64, clock_mhz: f64) -> f64 {
    2.0 * fma_per_word * WORDS_PER_CLOCK * sms as f64 * clock_mhz / 1e6
}

/// Threads of a block; none if the thread's tile does not divide the block's.
pub fn threads(tile: [u64; 2], thread: [u64; 2]) -> Option<u64> {
    let fits = tile.iter().zip(thread).all(|(tile, thread)| tile.is_multiple_of(thread));
    fits.then(|| tile[0] / thread[0] * (tile[1] / thread[1]))
}

/// What a card gives a tiled product: arithmetic, bytes, and words of shared memory where threads do the arithmetic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roof {
    pub peak_tflops: f64,
    pub gb_per_s: f64,
    pub shared_tflops: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    Compute,
    Memory,
    Shared,
}

impl Roof {
    /// TFLOP/s at so many FLOP a byte, and what stops it there.
    pub fn at(&self, intensity: f64) -> (f64, Bound) {
        let memory = intensity * self.gb_per_s / 1e3;
        let shared = self.shared_tflops.unwrap_or(f64::INFINITY);
        match (self.peak_tflops, memory, shared) {
            (peak, memory, shared) if peak <= memory && peak <= shared => (peak, Bound::Compute),
            (_, memory, shared) if memory <= shared => (memory, Bound::Memory),
            _ => (shared, Bound::Shared),
        }
    }
}

pub struct GemmTime;

impl Model for GemmTime {
    const ID: &'static str = "gemm_time";
    const TITLE: Text = Text::new("分块矩阵乘最少要多久", "The least time of a tiled product");
    const ASSUMES: Text = Text::new(
        "计算、显存、共享内存完全重叠；缓存不帮忙；没有 bank 冲突。",
        "Arithmetic, memory and shared memory overlap fully; no cache helps; no bank conflicts.",
    );
    const SOURCE: &'static str =
        "arithmetic over tiles; NVIDIA, CUDA C++ Programming Guide, throughput of compute capability 9.0";
    const EXAMPLE: &'static str = r#"{"m": 4096, "n": 4096, "k": 4096, "tile_m": 128, "tile_n": 128, "thread_m": 8, "thread_n": 8, "peak_tflops": 66.9, "gb_per_s": 4800, "sms": 132, "clock_mhz": 1980}"#;

    fn question() -> Vec<FieldSpec> {
        let size = |key, most, zh, en| FieldSpec::int(key, "1", 1, most, Text::new(zh, en));
        let num = |key, unit, most, zh, en| FieldSpec::num(key, unit, 0.001, most, Text::new(zh, en));
        vec![
            size("m", 1 << 17, "A 和 C 的行数 M", "Rows of A and C, M"),
            size("n", 1 << 17, "B 和 C 的列数 N", "Columns of B and C, N"),
            size("k", 1 << 17, "内积的长度 K", "Length of the inner products, K"),
            size("tile_m", 1024, "一块的行数 BM", "Rows of a block's tile, BM"),
            size("tile_n", 1024, "一块的列数 BN", "Columns of a block's tile, BN"),
            size("thread_m", 64, "一个线程的行数 TM", "Rows of a thread's tile, TM").default_value(1),
            size("thread_n", 64, "一个线程的列数 TN", "Columns of a thread's tile, TN").default_value(1),
            num("peak_tflops", "TFLOP/s", 1e5, "fp32 峰值", "Peak of fp32"),
            num("gb_per_s", "GB/s", 1e6, "送来块的那一级的带宽", "Bandwidth of the level that gives the tiles"),
            size("sms", 1024, "SM 的个数", "SMs"),
            num("clock_mhz", "MHz", 1e4, "时钟", "Clock"),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let us = |key, zh, en| FieldSpec::num(key, "µs", 0.0, 1e30, Text::new(zh, en));
        let tflops = |key, zh, en| FieldSpec::num(key, "TFLOP/s", 0.0, 1e9, Text::new(zh, en));
        vec![
            us("compute_us", "计算要的时间", "Time of the arithmetic"),
            us("memory_us", "搬字节要的时间", "Time of the bytes"),
            us("shared_us", "共享内存要的时间", "Time of shared memory"),
            us("time_us", "其中最长的", "The longest of them"),
            FieldSpec::new(
                "bound",
                "",
                FieldKind::Text { max_len: 8 },
                Text::new("谁最慢：compute、memory、shared", "Which is slowest: compute, memory, shared"),
            ),
            tflops("tflops", "那时的速率", "The rate then"),
            tflops("shared_tflops", "共享内存喂得出的速率", "The rate that shared memory can feed"),
            FieldSpec::int("threads", "1", 1, 1024, Text::new("一个 block 的线程", "Threads of a block")),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let size = ["m", "n", "k"].map(|key| args.uint(key));
        let tile = ["tile_m", "tile_n"].map(|key| args.uint(key));
        let thread = ["thread_m", "thread_n"].map(|key| args.uint(key));
        let found = threads(tile, thread)
            .ok_or_else(|| FieldError::conflict("thread_m", format!("{thread:?} does not divide {tile:?}")))?;
        if found > MOST_THREADS {
            let text = format!("{found} threads, a block has at most {MOST_THREADS}");
            return Err(FieldError::conflict("thread_m", text));
        }
        let flop = 2.0 * size.iter().map(|n| *n as f64).product::<f64>();
        let feeds = shared_tflops(per_word(thread[0], thread[1]), args.uint("sms"), args.num("clock_mhz"));
        let compute = flop / args.num("peak_tflops") / 1e6;
        let memory = gemm_bytes(size, tile, 4, false) as f64 / args.num("gb_per_s") / 1e3;
        let shared = flop / feeds / 1e6;
        let time = compute.max(memory).max(shared);
        let roof =
            Roof { peak_tflops: args.num("peak_tflops"), gb_per_s: args.num("gb_per_s"), shared_tflops: Some(feeds) };
        let bound = match roof.at(flop / gemm_bytes(size, tile, 4, false) as f64).1 {
            Bound::Compute => "compute",
            Bound::Memory => "memory",
            Bound::Shared => "shared",
        };
        Ok(answer([
            ("compute_us", number(compute)),
            ("memory_us", number(memory)),
            ("shared_us", number(shared)),
            ("time_us", number(time)),
            ("bound", bound.into()),
            ("tflops", number(flop / time / 1e6)),
            ("shared_tflops", number(feeds)),
            ("threads", found.into()),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    /// Brief 03: 32 words and 128 multiply-adds a clock, so 4 multiply-adds a word break even: an 8 × 8 tile.
    #[test]
    fn eight_by_eight_breaks_even() {
        let peak = 2.0 * 128.0 * 132.0 * 1980.0 / 1e6;
        assert!((shared_tflops(4.0, 132, 1980.0) / peak - 1.0).abs() < 1e-12);
        let bound = |thread: u64, tile: u64| {
            let given = json!({"m": 4096, "n": 4096, "k": 4096, "tile_m": tile, "tile_n": tile, "thread_m": thread,
                "thread_n": thread, "peak_tflops": peak, "gb_per_s": 4800, "sms": 132, "clock_mhz": 1980});
            eval("gemm_time", &question(&given)).map(|found| found["bound"].as_str().unwrap_or_default().to_owned())
        };
        assert_eq!(bound(1, 32).unwrap(), "shared");
        assert_eq!(bound(4, 64).unwrap(), "shared");
        assert_eq!(bound(8, 128).unwrap(), "compute");
        assert_eq!(bound(8, 16).unwrap(), "memory");
        assert_eq!(bound(3, 128).unwrap_err().field(), "thread_m");
        assert_eq!(bound(1, 64).unwrap_err().field(), "thread_m");
    }

    /// 2·2048³ FLOP at 66.9 TFLOP/s are 256.8 µs; 4.31 GB of tiles of 16 at 4800 GB/s are 898 µs.
    #[test]
    fn three_times() {
        let given = json!({"m": 2048, "n": 2048, "k": 2048, "tile_m": 16, "tile_n": 16, "peak_tflops": 66.9,
            "gb_per_s": 4800, "sms": 132, "clock_mhz": 1980});
        let found = eval("gemm_time", &question(&given)).unwrap();
        let value = |key: &str| found[key].as_f64().unwrap();
        assert!((value("compute_us") - 256.8).abs() < 0.1, "{found:?}");
        assert!((value("memory_us") - 898.3).abs() < 0.5, "{found:?}");
        assert!((value("shared_us") - 2054.2).abs() < 1.0, "{found:?}");
        assert_eq!(found["threads"].as_u64(), Some(256));
    }
}
