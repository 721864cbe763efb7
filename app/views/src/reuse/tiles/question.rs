//! What the reader sets: matrix, tiles, stages, order of the loops; and what the models say of it.

use crate::roofline::ceilings::{CEILINGS, Ceiling};
use vramlab_model::kernels::gemm_tile::{self, BLOCK_LIMIT};
use vramlab_model::kernels::gemm_time::{self, Bound, MOST_THREADS, Roof};
use vramlab_model::kernels::gemm_walk::{self, Matrix, ORDERS, Walk};
use vramlab_units::{Args, FieldKind, FieldSpec, Map, Text, Value};

pub const SIZES: [u64; 6] = [256, 512, 1024, 2048, 4096, 8192];
pub const TILES: [u64; 6] = [8, 16, 32, 64, 128, 256];
pub const DEPTHS: [u64; 4] = [8, 16, 32, 64];
pub const THREADS: [u64; 4] = [1, 2, 4, 8];
pub const MOST_STAGES: u64 = 6;
const CARD: &str = "h200";
const SMS: u64 = 132;
const CLOCK_MHZ: f64 = 1980.0;
const MOST_STEP: i64 = 1 << 40;

#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub size: u64,
    pub tile: [u64; 3],
    pub thread: [u64; 2],
    pub stages: u64,
    pub value: u64,
    pub order: &'static str,
}

/// What the models say.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub walk: Walk,
    /// A, B, C read again, C written.
    pub traffic: [u64; 4],
    pub bytes: u64,
    pub least_bytes: u64,
    pub register_bytes: f64,
    pub intensity: f64,
    pub shared_bytes: u64,
    pub fma_per_word: f64,
    pub registers: u64,
    pub threads: u64,
    pub roof: Roof,
    pub l2_gb_per_s: Option<f64>,
    pub tflops: f64,
    pub bound: Bound,
}

impl Answer {
    pub fn overflows(&self) -> bool {
        self.shared_bytes > BLOCK_LIMIT
    }

    /// Only where threads do the arithmetic.
    pub fn has_too_many_threads(&self) -> bool {
        self.roof.shared_tflops.is_some() && self.threads > MOST_THREADS
    }
}

fn pick(key: &'static str, options: &[u64], start: u64, doc: Text) -> FieldSpec {
    let options = options.iter().map(|option| option.to_string().into()).collect();
    FieldSpec::new(key, "1", FieldKind::Choice { options }, doc).default_value(start.to_string())
}

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let orders = ORDERS.map(Into::into).to_vec();
        vec![
            pick("size", &SIZES, 1024, Text::new("方阵的边长 N", "Edge of the matrices, N")),
            pick("tile_m", &TILES, 64, Text::new("一块的行数 BM", "Rows of a tile, BM")),
            pick("tile_n", &TILES, 64, Text::new("一块的列数 BN", "Columns of a tile, BN")),
            pick("tile_k", &DEPTHS, 32, Text::new("一段内积 BK", "A piece of the inner product, BK")),
            pick("thread_m", &THREADS, 4, Text::new("一个线程的行数 TM", "Rows of a thread's tile, TM")),
            pick("thread_n", &THREADS, 4, Text::new("一个线程的列数 TN", "Columns of a thread's tile, TN")),
            FieldSpec::int("stages", "1", 1, MOST_STAGES as i64, Text::new("几级缓冲", "Stages")).default_value(2),
            pick("value_bytes", &[2, 4], 4, Text::new("一个数的字节", "Bytes of a value")),
            FieldSpec::new(
                "order",
                "",
                FieldKind::Choice { options: orders },
                Text::new("三层循环，从外到内", "The three loops, outermost first"),
            )
            .default_value("ijk"),
            FieldSpec::int("step", "1", 1, MOST_STEP, Text::new("走到第几块乘", "Products of tiles so far")).optional(),
        ]
    }

    pub fn from_args(args: &Args) -> Self {
        let chosen = |key| args.text(key).parse().unwrap_or(1);
        let order = ORDERS.iter().find(|order| **order == args.text("order")).copied().unwrap_or(ORDERS[0]);
        Self {
            size: chosen("size"),
            tile: ["tile_m", "tile_n", "tile_k"].map(chosen),
            thread: ["thread_m", "thread_n"].map(chosen),
            stages: args.uint("stages"),
            value: chosen("value_bytes"),
            order,
        }
    }

    pub fn params(&self, step: usize) -> Map {
        let text = |n: u64| Value::from(n.to_string());
        let values: [(&str, Value); 10] = [
            ("size", text(self.size)),
            ("tile_m", text(self.tile[0])),
            ("tile_n", text(self.tile[1])),
            ("tile_k", text(self.tile[2])),
            ("thread_m", text(self.thread[0])),
            ("thread_n", text(self.thread[1])),
            ("stages", self.stages.into()),
            ("value_bytes", text(self.value)),
            ("order", self.order.into()),
            ("step", step.into()),
        ];
        values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    pub fn walk(&self) -> Walk {
        Walk::new(self.tile.map(|tile| self.size / tile), self.order)
    }

    /// Threads do the arithmetic in fp32; in 16 bits tensor cores do, and the words that a thread reads say nothing.
    pub fn is_by_threads(&self) -> bool {
        self.value == 4
    }

    pub fn answer(&self) -> Answer {
        let size = [self.size; 3];
        let traffic = gemm_walk::traffic(size, self.tile, self.value, self.order);
        let bytes = traffic.iter().sum();
        let flop = 2.0 * (self.size as f64).powi(3);
        let fma_per_word = gemm_tile::per_word(self.thread[0], self.thread[1]);
        let published = CEILINGS.device(CARD).map(|device| &device.published);
        let value = |ceiling: Option<&Ceiling>| ceiling.map_or(1.0, |ceiling| ceiling.0);
        let peak = published.and_then(|set| if self.is_by_threads() { set.fp32.as_ref() } else { set.bf16.as_ref() });
        let shared = gemm_time::shared_tflops(fma_per_word, SMS, CLOCK_MHZ);
        let roof = Roof {
            peak_tflops: value(peak),
            gb_per_s: value(published.and_then(|set| set.hbm.as_ref())),
            shared_tflops: self.is_by_threads().then_some(shared),
        };
        let intensity = flop / bytes as f64;
        let (tflops, bound) = roof.at(intensity);
        let measured = CEILINGS.device(CARD).and_then(|device| device.measured.as_ref());
        Answer {
            walk: self.walk(),
            traffic,
            bytes,
            least_bytes: gemm_tile::gemm_bytes(size, [self.size; 2], self.value, false),
            register_bytes: flop / 2.0 / fma_per_word * self.value as f64,
            intensity,
            shared_bytes: gemm_tile::tile_shared(self.tile, self.value, self.stages),
            fma_per_word,
            registers: self.thread[0] * self.thread[1] + self.thread[0] + self.thread[1],
            threads: gemm_time::threads([self.tile[0], self.tile[1]], self.thread).unwrap_or(1),
            roof,
            l2_gb_per_s: measured.and_then(|set| set.l2.as_ref()).map(|ceiling| ceiling.0),
            tflops,
            bound,
        }
    }

    /// Rows and columns of tiles of a matrix.
    pub fn grid(&self, matrix: Matrix) -> [u64; 2] {
        let tiles = self.walk().tiles;
        matrix.loops().map(|of| tiles[of])
    }

    /// The same question with a square tile whose intensity is nearest.
    pub fn with_intensity(&self, intensity: f64) -> Self {
        let far = |tile: u64| (tile as f64 / self.value as f64 / intensity).ln().abs();
        let nearest = TILES.into_iter().filter(|tile| *tile <= self.size).min_by(|a, b| far(*a).total_cmp(&far(*b)));
        let tile = nearest.unwrap_or(self.tile[0]);
        Self { tile: [tile, tile, self.tile[2]], ..self.clone() }
    }

    /// Both edges of the tile one notch up or down.
    pub fn grown(&self, up: bool) -> Self {
        let next = |tile: u64| {
            let found = if up {
                TILES.into_iter().find(|other| *other > tile)
            } else {
                TILES.into_iter().rfind(|other| *other < tile)
            };
            found.unwrap_or(tile)
        };
        Self { tile: [next(self.tile[0]), next(self.tile[1]), self.tile[2]], ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub fn question(size: u64, tile: [u64; 3], value: u64) -> Question {
        Question { size, tile, thread: [8, 8], stages: 4, value, order: "ijk" }
    }

    /// Brief 03, vectors 2, 3 and 5; the overflow of vector 8.
    #[test]
    fn the_figure_says_what_the_brief_says() {
        let answer = question(4096, [128, 128, 8], 4).answer();
        assert_eq!(answer.bytes, 4_362_076_160);
        assert!((answer.intensity - 31.507_692_307_692_31).abs() < 1e-9);
        assert_eq!(answer.bound, Bound::Compute);
        let answer = question(4096, [128, 256, 64], 2).answer();
        assert_eq!((answer.bytes, answer.shared_bytes), (1_644_167_168, 196_608));
        assert!(!answer.overflows() && answer.bound == Bound::Memory);
        assert!(question(4096, [256, 256, 64], 2).answer().overflows());
    }

    /// fp32: T / 4 FLOP a byte, so 16 stands at a tile of 64.
    #[test]
    fn the_dot_takes_the_nearest_tile() {
        let asked = question(4096, [8, 8, 8], 4);
        assert_eq!(asked.with_intensity(16.0).tile, [64, 64, 8]);
        assert_eq!(asked.with_intensity(1e9).tile, [256, 256, 8]);
        assert_eq!(asked.grown(true).tile, [16, 16, 8]);
        assert_eq!(asked.grown(false).tile, [8, 8, 8]);
    }
}
