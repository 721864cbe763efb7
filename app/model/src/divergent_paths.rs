//! Divergence into many paths: a warp whose lanes are split evenly over several paths of one length.
//!
//! Question: paths and instructions of each. Answer: issue slots, and how many lanes work in the average one.
//! Assumption: as in `divergence`: one path after the other, one instruction a slot; a switch, or loops that lanes enter
//! in turn. 32 lanes need not divide evenly: every path is paid in full however few take it.
//! Source: CUDA Programming Guide, "SIMT Architecture"; measured from Pascal to Blackwell as T(k) ∝ k with 32/k threads
//! at work in arXiv 2607.23402.
//! Errors: fields out of range.

use crate::access::WARP_LANES;
use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

/// Slots that a warp needs for all of its paths.
pub fn issue_slots(n_paths: u64, instr: u64) -> u64 {
    n_paths * instr
}

/// Lanes at work in the average slot: every lane walks one path.
pub fn lanes_at_work(n_paths: u64) -> f64 {
    WARP_LANES as f64 / n_paths as f64
}

pub struct DivergentPaths;

impl Model for DivergentPaths {
    const ID: &'static str = "divergent_paths";
    const TITLE: Text = Text::new("分成几路的 warp", "A warp in several paths");
    const ASSUMES: Text = Text::new(
        "各路一样长，先后走完；一个槽发一条指令；没有改成谓词或选择指令。",
        "Paths of one length, walked one after the other, one instruction a slot, without predication.",
    );
    const SOURCE: &'static str = "CUDA Programming Guide, \"SIMT Architecture\"; arXiv 2607.23402";
    const EXAMPLE: &'static str = r#"{"n_paths": 4, "instr": 100}"#;

    fn question() -> Vec<FieldSpec> {
        let int = |key, max, zh, en| FieldSpec::int(key, "1", 1, max, Text::new(zh, en));
        vec![
            int("n_paths", WARP_LANES as i64, "分成几路", "Paths"),
            int("instr", 1_000_000_000, "每一路的指令数", "Instructions of each path"),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        vec![
            FieldSpec::int("issue_slots", "1", 1, 32_000_000_000, Text::new("发射槽数", "Issue slots")),
            FieldSpec::num(
                "lanes_at_work",
                "1",
                1.0,
                32.0,
                Text::new("平均在干活的 lane 数", "Lanes at work on average"),
            ),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let (n_paths, instr) = (args.uint("n_paths"), args.uint("instr"));
        Ok(fields::answer([
            ("issue_slots", issue_slots(n_paths, instr).into()),
            ("lanes_at_work", fields::number(lanes_at_work(n_paths))),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::{Branch, run};

    /// The measuring paper: time in proportion to k and 32/k threads at work.
    #[test]
    fn each_path_is_paid_and_each_lane_walks_one() {
        assert_eq!([1, 2, 32].map(|n| issue_slots(n, 1024)), [1024, 2048, 32_768]);
        assert_eq!([1, 2, 32].map(lanes_at_work), [32.0, 16.0, 1.0]);
    }

    #[test]
    fn two_paths_are_an_if_and_an_else() {
        let cost = run(32, 16, Branch { if_instr: 10, else_instr: 10, common_instr: 0 });
        assert_eq!((cost.issue_slots, cost.utilisation()), (issue_slots(2, 10), lanes_at_work(2) / 32.0));
    }
}
