//! The step of the capstone, part by part: a batch to the card, eight elementwise operations, a sum over rows, a small matrix
//! product, the result back. Each of five defects may be mended.
//!
//! Question: the batch, what is mended, and how fast the machine is. Answer: the five times, their sum, the launches and the
//! peak.
//! Rule: parts follow one another. Copies take bytes over the rate of the link, pinned or not. The operations take the
//! longer of bytes over bandwidth and launches times a launch. The product takes the longer of its bytes and of the
//! cycles of shared memory. Elements that lie 32 apart move a piece of 64 bytes each where they are read; a write costs
//! three: in, out, and as much again, as one scattered pass takes on an H200. Why it is three is open.
//! Assumption: the rates are those measured alone; cache hits and the gaps between parts are not in it.
//! Source: [`crate::pipeline_step`], [`crate::bank_conflicts`] (32 lanes in one bank take 32 cycles),
//! [`crate::strided_bandwidth`] (pieces of 64 bytes on an H200).
//! Errors: fields out of range.

use crate::fields;
use crate::registry::Model;
use vramlab_alloc::MIB;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

/// The defects, in the order of their bits: the fix of each.
pub const FIXES: [&str; 5] = ["pinned", "contiguous", "padded", "fused", "half"];
/// The parts of a step, as the answer and the readings of the experiment name them.
pub const PARTS: [&str; 5] = ["up_ms", "ops_ms", "sum_ms", "product_ms", "down_ms"];

const COLUMNS: f64 = 64.0;
const OUTPUTS: f64 = 16.0;
const OPERATIONS: f64 = 8.0;
/// Launches of one operation while they are tiny.
const PIECES: f64 = 128.0;
/// What DRAM hands over at least.
const PIECE: f64 = 64.0;
/// Pieces that a scattered write costs, measured on a pass that only writes.
const WRITE_PIECES: f64 = 3.0;
const LANES: f64 = 32.0;
/// Warps of a block of the product; each reads the 64 columns of 32 rows.
const WARPS: f64 = 8.0;
/// Weights that a warp reads beside each element.
const WEIGHTS: f64 = 2.0;
/// What copies reach of the memory's peak on an H200.
const REACHED: f64 = 0.9;
/// A launch behind another, as the host issues them.
const LAUNCH_US: f64 = 4.0;
/// GB/s to the card and back, as measured on the host of an H200.
const PINNED: [f64; 2] = [51.0, 53.0];
const PAGEABLE: [f64; 2] = [8.0, 11.0];

/// How fast the machine is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    pub peak_gb_per_s: f64,
    pub sm_count: f64,
    pub sm_clock_mhz: f64,
    pub launch_us: f64,
    /// Pinned and pageable, to the card and back.
    pub pinned_gb_per_s: [f64; 2],
    pub pageable_gb_per_s: [f64; 2],
}

impl Machine {
    /// A card by its own facts, on a host like the one that was measured.
    pub fn of_card(peak_gb_per_s: f64, sm_count: f64, sm_clock_mhz: f64) -> Self {
        let (launch_us, pinned_gb_per_s, pageable_gb_per_s) = (LAUNCH_US, PINNED, PAGEABLE);
        Self { peak_gb_per_s, sm_count, sm_clock_mhz, launch_us, pinned_gb_per_s, pageable_gb_per_s }
    }
}

/// The times of the parts by [`PARTS`], and the rest of the answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    pub parts_ms: [f64; 5],
    pub launches: f64,
    pub peak_bytes: f64,
}

impl Step {
    pub fn step_ms(&self) -> f64 {
        self.parts_ms.iter().sum()
    }
}

/// `fixes`: bits by [`FIXES`].
pub fn step(n: f64, fixes: u32, machine: &Machine) -> Step {
    let [is_pinned, is_contiguous, is_padded, is_fused, is_half] = [0, 1, 2, 3, 4].map(|bit| fixes >> bit & 1 == 1);
    let width = if is_half { 2.0 } else { 4.0 };
    let (rows, launch_ms) = (n / COLUMNS, machine.launch_us / 1.0e3);
    let ms = |bytes: f64, gb_per_s: f64| bytes / (gb_per_s * 1.0e6);
    let memory = |bytes: f64| ms(bytes, REACHED * machine.peak_gb_per_s);
    // Bytes of a read of every element, and of a write.
    let (read, write) = if is_contiguous { (n * width, n * width) } else { (n * PIECE, n * PIECE * WRITE_PIECES) };
    let raw = 2.0 * n;
    let link = if is_pinned { machine.pinned_gb_per_s } else { machine.pageable_gb_per_s };
    let result = 4.0 * rows * OUTPUTS;
    let (bytes, launches) = if is_fused {
        (raw + write, 1.0)
    } else {
        (raw + write + (OPERATIONS - 1.0) * (read + write), OPERATIONS * PIECES)
    };
    let ways = if is_padded { 1.0 } else { LANES };
    let cycles = rows / LANES * WARPS * COLUMNS * (ways + WEIGHTS) / machine.sm_count;
    let shared_ms = cycles / (machine.sm_clock_mhz * 1.0e3);
    let parts_ms = [
        ms(raw, link[0]),
        memory(bytes).max(launches * launch_ms),
        memory(read + 4.0 * rows).max(launch_ms),
        memory(read + result).max(shared_ms).max(launch_ms),
        ms(result, link[1]),
    ];
    Step { parts_ms, launches: launches + 2.0, peak_bytes: raw + width * n + result + 4.0 * rows }
}

pub struct CapstoneStep;

impl Model for CapstoneStep {
    const ID: &'static str = "capstone_step";
    const TITLE: Text = Text::new("综合实验的一步", "The step of the capstone");
    const ASSUMES: Text = Text::new(
        "五段一段接一段；每种速率都是单独测得的；缓存命中和段间的空隙不在内。",
        "The five parts follow one another, each at a rate that was measured alone; cache hits and gaps between the parts \
         are not in it.",
    );
    const SOURCE: &'static str = "pipeline_step, bank_conflicts and strided_bandwidth, part by part";
    const EXAMPLE: &'static str = r#"{"fixes": 0}"#;

    fn question() -> Vec<FieldSpec> {
        let fixes = Text::new(
            "修好的毛病，按位：1 锁页，2 连续布局，4 补一列，8 融合，16 半精度",
            "What is mended, as bits: 1 pinned, 2 contiguous, 4 padded, 8 fused, 16 half precision",
        );
        let rate = |key, default: f64, zh, en| {
            FieldSpec::num(key, "GB/s", 0.001, 1.0e6, Text::new(zh, en)).default_value(default)
        };
        let elems = Text::new("一批有多少个数", "Numbers of a batch");
        let clock = Text::new("SM 的时钟", "Clock of the SMs");
        vec![
            FieldSpec::int("fixes", "1", 0, 31, fixes),
            FieldSpec::int("n_elems", "1", 1 << 18, 1 << 32, elems).default_value(1 << 25),
            rate(
                "peak_gb_per_s",
                4814.3,
                "显存的峰值带宽；按九成算",
                "Peak bandwidth of the memory; nine tenths of it are counted on",
            ),
            FieldSpec::int("sm_count", "1", 1, 1024, Text::new("SM 个数", "SMs")).default_value(132),
            FieldSpec::num("sm_clock_mhz", "MHz", 1.0, 1.0e5, clock).default_value(1980.0),
            FieldSpec::num("launch_us", "µs", 0.0, 1.0e4, Text::new("一次启动", "A launch")).default_value(LAUNCH_US),
            rate("pinned_up_gb_per_s", PINNED[0], "锁页，主机到卡", "Pinned, to the card"),
            rate("pinned_down_gb_per_s", PINNED[1], "锁页，卡到主机", "Pinned, back"),
            rate("pageable_up_gb_per_s", PAGEABLE[0], "可分页，主机到卡", "Pageable, to the card"),
            rate("pageable_down_gb_per_s", PAGEABLE[1], "可分页，卡到主机", "Pageable, back"),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let ms = |key, zh, en| FieldSpec::num(key, "ms", 0.0, f64::MAX, Text::new(zh, en));
        vec![
            ms("up_ms", "拷到卡上", "Copy to the card"),
            ms("ops_ms", "八个逐元素运算", "Eight elementwise operations"),
            ms("sum_ms", "逐行求和", "Sum over rows"),
            ms("product_ms", "小矩阵乘", "Small matrix product"),
            ms("down_ms", "拷回主机", "Copy back"),
            ms("step_ms", "一步", "The step"),
            FieldSpec::int("launches", "1", 0, 1 << 20, Text::new("启动次数", "Launches")),
            FieldSpec::num("peak_mib", "MiB", 0.0, f64::MAX, Text::new("显存峰值", "Peak of the memory")),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let machine = Machine {
            peak_gb_per_s: args.num("peak_gb_per_s"),
            sm_count: args.num("sm_count"),
            sm_clock_mhz: args.num("sm_clock_mhz"),
            launch_us: args.num("launch_us"),
            pinned_gb_per_s: [args.num("pinned_up_gb_per_s"), args.num("pinned_down_gb_per_s")],
            pageable_gb_per_s: [args.num("pageable_up_gb_per_s"), args.num("pageable_down_gb_per_s")],
        };
        let fixes = u32::try_from(args.uint("fixes")).unwrap_or(0);
        let found = step(args.num("n_elems"), fixes, &machine);
        let mut out: Map =
            PARTS.iter().zip(found.parts_ms).map(|(part, ms)| ((*part).to_owned(), fields::number(ms))).collect();
        out.insert("step_ms".to_owned(), fields::number(found.step_ms()));
        out.insert("launches".to_owned(), fields::number(found.launches));
        out.insert("peak_mib".to_owned(), fields::number(found.peak_bytes / MIB as f64));
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: Machine = Machine {
        peak_gb_per_s: 4096.0 / REACHED,
        sm_count: 128.0,
        sm_clock_mhz: 2048.0,
        launch_us: 4.0,
        pinned_gb_per_s: [64.0, 64.0],
        pageable_gb_per_s: [8.0, 16.0],
    };
    const N: f64 = 33_554_432.0; // 2^25

    fn parts(fixes: u32) -> [f64; 5] {
        step(N, fixes, &MACHINE).parts_ms
    }

    #[track_caller]
    fn near(found: f64, by_hand: f64) {
        assert!((found - by_hand).abs() < 1e-9 * by_hand, "{found} is not {by_hand}");
    }

    /// By hand, with 2^25 elements: 2^26 bytes up and 2^25 down. Scattered, a read is 2^31 bytes and a write 3 × 2^31, so
    /// the operations move 2^26 + (7 + 8 × 3) × 2^31 bytes. A tile row of 32 lanes takes 34 cycles a column: 2^14 blocks
    /// × 512 × 34 ÷ 128.
    #[test]
    fn nothing_mended() {
        let found = parts(0);
        near(found[0], 67_108_864.0 / 8.0e6);
        near(found[1], (67_108_864.0 + 31.0 * 2_147_483_648.0) / 4.096e9);
        near(found[3], 16_384.0 * 512.0 * 34.0 / 128.0 / 2.048e6);
        near(found[4], 33_554_432.0 / 16.0e6);
    }

    /// Contiguous: 2^26 + 15 × 2^27 bytes take 0.508 ms, and 1024 launches of 4 µs take 4.096.
    #[test]
    fn tiny_launches_bind_once_the_layout_is_mended() {
        near(parts(2)[1], 4.096);
        near(parts(2 + 8)[1], 3.0 * 67_108_864.0 / 4.096e9);
        near(parts(2 + 16)[1], 4.096);
        assert!((parts(2 + 16)[1] - parts(2)[1]).abs() < 1e-12, "half precision saves nothing while launches bind");
    }

    /// The order of the fixes moves their gains about, and not the end.
    #[test]
    fn a_gain_depends_on_what_was_mended_before() {
        let gain =
            |before: u32, fix: u32| step(N, before, &MACHINE).step_ms() - step(N, before | fix, &MACHINE).step_ms();
        assert!(gain(0, 2) > 3.0 * gain(8, 2), "{} and {}", gain(0, 2), gain(8, 2));
        let orders = [[1, 2, 8, 4, 16], [8, 2, 4, 16, 1], [16, 4, 8, 2, 1]];
        for order in orders {
            let mut done = 0;
            let total: f64 = order
                .iter()
                .map(|fix| {
                    let gained = gain(done, *fix);
                    done |= fix;
                    gained
                })
                .sum();
            near(total, step(N, 0, &MACHINE).step_ms() - step(N, 31, &MACHINE).step_ms());
        }
    }

    /// Chapter 10 says what the padding is worth on an H200. By hand: the product waits for shared memory, 16,384 × 512 × 34
    /// cycles on 132 SMs at 1980 MHz, 1.091 ms; padded, it waits for its reads, 2^31 + 2^25 bytes or 2^26 + 2^25 + 2^21
    /// at nine tenths of 4814.3 GB/s, or for shared memory again, 3 cycles in place of 34: 0.503 and 0.096 ms.
    #[test]
    fn the_padding_gains_more_once_the_reads_are_mended() {
        let card = Machine::of_card(4814.3, 132.0, 1980.0);
        let gain = |before: u32| step(N, before, &card).step_ms() - step(N, before | 4, &card).step_ms();
        let waits = 16_384.0 * 512.0 * 34.0 / 132.0 / 1.98e6;
        let reads = (2_147_483_648.0 + 33_554_432.0) / (0.9 * 4814.3e6);
        near(gain(0), waits - reads);
        near(gain(8), waits - reads);
        near(gain(27), waits * (1.0 - 3.0 / 34.0));
        assert_eq!([gain(0), gain(27)].map(|ms| format!("{ms:.2}")), ["0.59", "0.99"]);
    }

    #[test]
    fn sixteen_bits_halve_the_values_and_nothing_else() {
        let peak = |fixes| step(N, fixes, &MACHINE).peak_bytes;
        near(peak(0) - peak(16), 2.0 * N);
        near(peak(0), N * (2.0 + 4.0 + 1.0 + 1.0 / 16.0));
    }
}
