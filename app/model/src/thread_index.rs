//! Grid, block, warp, lane: which thread gets which number, and how many lanes have nothing to do.
//!
//! Question: elements, threads of a block, and one thread by block and place. Answer: its global index, warp and lane;
//! blocks, warps and threads of the launch; the threads beyond the last element and the lanes that hold no thread.
//! Assumption: one dimension, one thread an element, just enough blocks, and warps of 32 threads with consecutive
//! numbers that never reach across blocks.
//! Source: CUDA Programming Guide, "Thread Hierarchy" and "SIMT Architecture".
//! Errors: a block or a thread that the launch does not have.

use crate::access::WARP_LANES;
use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

/// Lanes of a warp, as a count to calculate with.
pub const LANES: u64 = WARP_LANES as u64;

/// A launch of one thread an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    pub n_elems: u64,
    pub block_threads: u64,
}

/// The place of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub global_index: u64,
    pub warp: u64,
    pub lane: u64,
}

impl Launch {
    /// Just enough blocks: a last one that is partly used, if need be.
    pub fn n_blocks(self) -> u64 {
        self.n_elems.div_ceil(self.block_threads)
    }

    pub fn n_threads(self) -> u64 {
        self.n_blocks() * self.block_threads
    }

    pub fn warps_per_block(self) -> u64 {
        self.block_threads.div_ceil(LANES)
    }

    pub fn n_warps(self) -> u64 {
        self.n_blocks() * self.warps_per_block()
    }

    /// Threads without an element: `if (i < n)` sends them home.
    pub fn idle_threads(self) -> u64 {
        self.n_threads() - self.n_elems
    }

    /// Lanes without work in all warps: those without a thread, and those whose thread has no element.
    pub fn idle_lanes(self) -> u64 {
        self.n_warps() * LANES - self.n_elems
    }

    /// Share of all lanes that have an element.
    pub fn lane_use(self) -> f64 {
        self.n_elems as f64 / (self.n_warps() * LANES) as f64
    }

    /// Where thread `thread_idx` of block `block_idx` stands.
    pub fn place(self, block_idx: u64, thread_idx: u64) -> Place {
        Place {
            global_index: block_idx * self.block_threads + thread_idx,
            warp: thread_idx / LANES,
            lane: thread_idx % LANES,
        }
    }

    /// Lanes of one warp that hold a thread: bit i is lane i.
    pub fn thread_mask(self, warp: u64) -> u32 {
        mask_below(self.block_threads.saturating_sub(warp * LANES))
    }

    /// Lanes of one warp whose thread has an element.
    pub fn elem_mask(self, block_idx: u64, warp: u64) -> u32 {
        let first = block_idx * self.block_threads + warp * LANES;
        self.thread_mask(warp) & mask_below(self.n_elems.saturating_sub(first))
    }
}

/// The first `count` lanes, all of them if it is more than a warp has.
fn mask_below(count: u64) -> u32 {
    if count >= LANES { u32::MAX } else { (1_u32 << count) - 1 }
}

pub struct ThreadIndex;

impl Model for ThreadIndex {
    const ID: &'static str = "thread_index";
    const TITLE: Text = Text::new("线程编号：网格、线程块、warp、lane", "Thread numbers: grid, block, warp, lane");
    const ASSUMES: Text = Text::new(
        "一维；每个元素一个线程，线程块刚好够；warp 由块内编号连续的 32 个线程组成，不跨块。",
        "One dimension, one thread an element, just enough blocks; a warp is 32 consecutive threads of one block.",
    );
    const SOURCE: &'static str = "CUDA Programming Guide, \"Thread Hierarchy\" and \"SIMT Architecture\"";
    const EXAMPLE: &'static str = r#"{"n_elems": 1000, "block_threads": 128, "block_idx": 2, "thread_idx": 37}"#;

    fn question() -> Vec<FieldSpec> {
        let int = |key, unit, min, max, zh, en| FieldSpec::int(key, unit, min, max, Text::new(zh, en));
        vec![
            int("n_elems", "element", 1, 1_000_000_000_000, "元素个数", "Elements"),
            int("block_threads", "thread", 1, 1024, "每个线程块的线程数", "Threads of a block"),
            int("block_idx", "1", 0, 1_000_000_000_000, "第几个线程块", "Number of the block").default_value(0),
            int("thread_idx", "1", 0, 1023, "块内第几个线程", "Number of the thread in its block").default_value(0),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let int = |key, unit, zh, en| FieldSpec::int(key, unit, 0, 2_000_000_000_000_000, Text::new(zh, en));
        vec![
            int("global_index", "1", "全局编号", "Global index"),
            int("warp", "1", "块内第几个 warp", "Number of the warp in its block"),
            int("lane", "1", "warp 里第几个 lane", "Lane in the warp"),
            int("n_blocks", "1", "线程块数", "Blocks"),
            int("n_threads", "1", "启动的线程数", "Threads launched"),
            int("warps_per_block", "1", "每块几个 warp", "Warps of a block"),
            int("n_warps", "1", "warp 总数", "Warps in all"),
            int("idle_threads", "1", "没有元素的线程数", "Threads without an element"),
            int("idle_lanes", "1", "没有活干的 lane 数", "Lanes without work"),
            FieldSpec::num("lane_use", "1", 0.0, 1.0, Text::new("有活干的 lane 占多少", "Share of lanes with work")),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let launch = Launch { n_elems: args.uint("n_elems"), block_threads: args.uint("block_threads") };
        let (block_idx, thread_idx) = (args.uint("block_idx"), args.uint("thread_idx"));
        if block_idx >= launch.n_blocks() {
            let reason = format!("there are {} blocks, so it must be below that", launch.n_blocks());
            return Err(FieldError::conflict("block_idx", reason));
        }
        if thread_idx >= launch.block_threads {
            let reason = format!("a block has {} threads, so it must be below that", launch.block_threads);
            return Err(FieldError::conflict("thread_idx", reason));
        }
        let place = launch.place(block_idx, thread_idx);
        Ok(fields::answer([
            ("global_index", place.global_index.into()),
            ("warp", place.warp.into()),
            ("lane", place.lane.into()),
            ("n_blocks", launch.n_blocks().into()),
            ("n_threads", launch.n_threads().into()),
            ("warps_per_block", launch.warps_per_block().into()),
            ("n_warps", launch.n_warps().into()),
            ("idle_threads", launch.idle_threads().into()),
            ("idle_lanes", launch.idle_lanes().into()),
            ("lane_use", fields::number(launch.lane_use())),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    /// By hand: block 2 of 128 starts at 256; 37 = 32 + 5. 1000 ÷ 128 = 7.8, so 8 blocks, 1024 threads, 24 too many.
    #[test]
    fn a_thread_of_the_middle() {
        let given = json!({"n_elems": 1000, "block_threads": 128, "block_idx": 2, "thread_idx": 37});
        let answer = eval("thread_index", &question(&given)).unwrap();
        let expected = json!({"global_index": 293, "warp": 1, "lane": 5, "n_blocks": 8, "n_threads": 1024,
            "warps_per_block": 4, "n_warps": 32, "idle_threads": 24, "idle_lanes": 24, "lane_use": 0.976_562_5});
        assert_eq!(json!(answer), expected);
    }

    /// The example of a public glossary: 100 threads are 3 full warps and one with 4 threads, so 28 lanes stay empty.
    #[test]
    fn a_block_that_is_no_multiple_of_32_leaves_lanes_empty() {
        let launch = Launch { n_elems: 100, block_threads: 100 };
        assert_eq!((launch.warps_per_block(), launch.idle_threads(), launch.idle_lanes()), (4, 0, 28));
        assert_eq!([0, 1, 2, 3].map(|warp| launch.thread_mask(warp).count_ones()), [32, 32, 32, 4]);
    }

    #[test]
    fn the_guard_switches_off_the_end_of_the_last_block_alone() {
        let launch = Launch { n_elems: 1000, block_threads: 128 };
        assert_eq!(launch.elem_mask(6, 3), u32::MAX);
        assert_eq!(launch.elem_mask(7, 3), 0xFF); // elements 992 to 999
        let counted: u32 = (0..8)
            .flat_map(|block| (0..4).map(move |warp| (block, warp)))
            .map(|(block, warp)| launch.elem_mask(block, warp).count_ones())
            .sum();
        assert_eq!(counted, 1000);
    }

    #[test]
    fn places_that_the_launch_lacks_are_refused_by_name() {
        let ask = |block_idx: u64, thread_idx: u64| {
            let given =
                json!({"n_elems": 1000, "block_threads": 128, "block_idx": block_idx, "thread_idx": thread_idx});
            eval("thread_index", &question(&given))
        };
        assert_eq!(ask(8, 0).unwrap_err().field(), "block_idx");
        assert_eq!(ask(0, 128).unwrap_err().field(), "thread_idx");
        assert_eq!(ask(7, 127).unwrap()["global_index"], 1023);
    }
}
