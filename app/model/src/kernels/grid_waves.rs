//! A grid as waves of blocks over the SMs, and how much of the last wave is idle; steps of a block's reduction.
//!
//! Question: blocks of the grid, blocks on an SM, SMs, threads of a block. Answer: ⌈grid ÷ (blocks · SMs)⌉ waves, the share of their
//! places that the grid fills, and 5 + ⌈log2 warps⌉ steps to reduce one value a thread by shuffles.
//! Assumption: blocks of one length, all SMs alike. Source: arithmetic; CUDA Programming Guide, warp shuffle functions. Errors: none
//! beyond the fields'.

use crate::fields::{answer, number};
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

/// Waves of a grid, and the share of their places that are filled.
pub fn waves(grid: u64, places: u64) -> (u64, f64) {
    let n = grid.div_ceil(places);
    (n, grid as f64 / (n * places) as f64)
}

/// Steps in which a block's threads become one value: 5 in a warp, then the warps' values, padded to a power of two.
pub fn reduction_steps(threads: u64) -> u64 {
    let warps = threads.div_ceil(32);
    5 + u64::from(warps.next_power_of_two().trailing_zeros())
}

pub struct GridWaves;

impl Model for GridWaves {
    const ID: &'static str = "grid_waves";
    const TITLE: Text = Text::new("网格分几波跑完", "A grid in waves");
    const ASSUMES: Text = Text::new("各 block 一样长，各 SM 一样快。", "Blocks of one length, and all SMs alike.");
    const SOURCE: &'static str = "arithmetic; CUDA Programming Guide, warp shuffle functions";
    const EXAMPLE: &'static str = r#"{"grid_blocks": 1057, "blocks_per_sm": 8, "sms": 132}"#;

    fn question() -> Vec<FieldSpec> {
        let count = |key, max, zh, en| FieldSpec::int(key, "1", 1, max, Text::new(zh, en));
        vec![
            count("grid_blocks", 1 << 40, "网格的 block 数", "Blocks of the grid"),
            count("blocks_per_sm", 64, "一个 SM 上的 block", "Blocks on an SM"),
            count("sms", 1024, "SM 的个数", "SMs"),
            count("threads_per_block", 1024, "一个 block 的线程数", "Threads of a block").default_value(256),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let count = |key, zh, en| FieldSpec::int(key, "1", 1, 1 << 41, Text::new(zh, en));
        vec![
            count("waves", "几波", "Waves"),
            FieldSpec::num(
                "tail_efficiency",
                "1",
                0.0,
                1.0,
                Text::new("位置用上的份额", "Share of the places that are filled"),
            ),
            count("blocks_in_last_wave", "最后一波的 block", "Blocks of the last wave"),
            count("reduction_steps", "block 内归约的步数", "Steps of a reduction in a block"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (grid, places) = (args.uint("grid_blocks"), args.uint("blocks_per_sm") * args.uint("sms"));
        let (n, share) = waves(grid, places);
        Ok(answer([
            ("waves", n.into()),
            ("tail_efficiency", number(share)),
            ("blocks_in_last_wave", (grid - (n - 1) * places).into()),
            ("reduction_steps", reduction_steps(args.uint("threads_per_block")).into()),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Brief 23, test vectors.
    #[test]
    fn worked_cases() {
        assert_eq!(waves(1056, 1056), (1, 1.0));
        let (n, share) = waves(1057, 1056);
        assert!(n == 2 && (share - 0.500_473).abs() < 1e-6, "{n} {share}");
        for (threads, steps) in [(32, 5), (64, 6), (256, 8), (1024, 10)] {
            assert_eq!(reduction_steps(threads), steps, "{threads}");
        }
    }
}
