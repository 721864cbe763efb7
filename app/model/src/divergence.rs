//! Divergence: what an if/else costs a warp.
//!
//! Question: the lanes that take the branch, and the instructions of both sides and around them. Answer: issue slots, the
//! paths walked, and the share of lane slots that did work.
//! Assumption: one instruction a slot for all 32 lanes; the two sides run one after the other and the lanes meet again
//! right behind them; no side is turned into predicated or selected instructions. A path that no lane takes costs
//! nothing.
//! Source: CUDA Programming Guide, "SIMT Architecture"; CUDA C++ Best Practices Guide, "Branching and Divergence".
//! `kernel.rs` walks a small program by the same rule.
//! Errors: both or none of `taken_mask` and `n_taken`.

pub mod kernel;

use crate::access::WARP_LANES;
use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

/// Instructions of an if/else, per lane that walks them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    pub if_instr: u64,
    pub else_instr: u64,
    /// Before and behind it, for all active lanes.
    pub common_instr: u64,
}

/// What one warp pays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    pub issue_slots: u64,
    pub branch_slots: u64,
    pub n_paths: u64,
    /// Lanes times instructions that did work.
    pub lane_slots_used: u64,
}

impl Cost {
    /// Share of the lane slots that did work; 1 for a warp that has nothing to do.
    pub fn utilisation(self) -> f64 {
        if self.issue_slots == 0 {
            return 1.0;
        }
        self.lane_slots_used as f64 / (self.issue_slots * WARP_LANES as u64) as f64
    }
}

/// The cost of `branch` for the active lanes, of which `n_taken` go into the if.
pub fn run(n_active: u64, n_taken: u64, branch: Branch) -> Cost {
    let n_other = n_active - n_taken;
    let slots = |n_lanes: u64, instr: u64| if n_lanes > 0 { instr } else { 0 };
    let branch_slots = slots(n_taken, branch.if_instr) + slots(n_other, branch.else_instr);
    Cost {
        issue_slots: slots(n_active, branch.common_instr) + branch_slots,
        branch_slots,
        n_paths: u64::from(n_taken > 0) + u64::from(n_other > 0),
        lane_slots_used: n_active * branch.common_instr + n_taken * branch.if_instr + n_other * branch.else_instr,
    }
}

pub struct Divergence;

impl Model for Divergence {
    const ID: &'static str = "divergence";
    const TITLE: Text = Text::new("分支分化：一个 if/else 的发射槽", "Divergence: issue slots of an if/else");
    const ASSUMES: Text = Text::new(
        "一个槽发一条指令给 32 个 lane；两条路先后走完，随即会合；编译器没有把分支改成谓词或选择指令。",
        "One instruction a slot for all 32 lanes; the two sides run one after the other and meet right behind; no side \
         has become predicated or selected instructions.",
    );
    const SOURCE: &'static str = "CUDA Programming Guide, \"SIMT Architecture\"; CUDA C++ Best Practices Guide, \
                                  \"Branching and Divergence\"";
    const EXAMPLE: &'static str = r#"{"n_taken": 16, "if_instr": 10, "else_instr": 10}"#;

    fn question() -> Vec<FieldSpec> {
        let int = |key, min, max, zh, en| FieldSpec::int(key, "1", min, max, Text::new(zh, en));
        vec![
            int(
                "n_taken",
                0,
                WARP_LANES as i64,
                "几个 lane 走 if；与 taken_mask 二选一",
                "Lanes that take the if; either this or taken_mask",
            )
            .optional(),
            int(
                "taken_mask",
                0,
                u32::MAX.into(),
                "哪些 lane 走 if：第 i 位是 lane i",
                "Which lanes take the if: bit i is lane i",
            )
            .optional(),
            fields::active_mask(),
            int("if_instr", 0, 1_000_000, "if 一边的指令数", "Instructions of the if side"),
            int("else_instr", 0, 1_000_000, "else 一边的指令数", "Instructions of the else side"),
            int("common_instr", 0, 1_000_000, "分支前后的指令数", "Instructions before and behind").default_value(0),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let int = |key, zh, en| FieldSpec::int(key, "1", 0, 1_000_000_000, Text::new(zh, en));
        vec![
            int("issue_slots", "总发射槽数", "Issue slots in all"),
            int("branch_slots", "分支里的发射槽数", "Issue slots of the branch"),
            int("n_paths", "走了几条路", "Paths that were walked"),
            int("lane_slots_used", "干了活的 lane 槽数", "Lane slots that did work"),
            FieldSpec::num(
                "utilisation",
                "1",
                0.0,
                1.0,
                Text::new("干了活的 lane 槽占多少", "Share of lane slots that did work"),
            ),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let active = fields::mask(args);
        let n_active = u64::from(active.count_ones());
        let n_taken = taken(args, active)?;
        let branch = Branch {
            if_instr: args.uint("if_instr"),
            else_instr: args.uint("else_instr"),
            common_instr: args.uint("common_instr"),
        };
        let cost = run(n_active, n_taken, branch);
        Ok(fields::answer([
            ("issue_slots", cost.issue_slots.into()),
            ("branch_slots", cost.branch_slots.into()),
            ("n_paths", cost.n_paths.into()),
            ("lane_slots_used", cost.lane_slots_used.into()),
            ("utilisation", fields::number(cost.utilisation())),
        ]))
    }
}

/// How many active lanes take the if, by count or by mask.
fn taken(args: &Args, active: u32) -> Result<u64, FieldError> {
    match (args.has("n_taken"), args.has("taken_mask")) {
        (true, false) => {
            let (n_taken, n_active) = (args.uint("n_taken"), u64::from(active.count_ones()));
            if n_taken > n_active {
                let reason = format!("{n_taken} lanes cannot take the branch when {n_active} are active");
                return Err(FieldError::conflict("n_taken", reason));
            }
            Ok(n_taken)
        }
        (false, true) => {
            let mask = u32::try_from(args.uint("taken_mask")).unwrap_or(u32::MAX);
            Ok(u64::from((mask & active).count_ones()))
        }
        (true, true) => Err(FieldError::conflict("taken_mask", "give either n_taken or taken_mask, not both")),
        (false, false) => {
            let legal = "an integer from 0 to 32, unless taken_mask is given".to_owned();
            Err(FieldError::Missing { field: "n_taken".to_owned(), legal })
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::{Value, json};

    #[track_caller]
    fn check(given: Value, branch_slots: u64, n_paths: u64, utilisation: f64) {
        let answer = eval("divergence", &question(&given)).unwrap();
        assert_eq!((&answer["branch_slots"], &answer["n_paths"]), (&json!(branch_slots), &json!(n_paths)), "{given}");
        let found = answer["utilisation"].as_f64().unwrap();
        assert!((found - utilisation).abs() < 1e-12, "{given}: {found}");
    }

    /// Guide: full efficiency when all 32 lanes agree; else every path taken is executed in turn, the others disabled.
    #[test]
    fn lanes_that_disagree_pay_for_both_sides() {
        check(json!({"n_taken": 16, "if_instr": 10, "else_instr": 10}), 20, 2, 0.5);
        check(json!({"n_taken": 32, "if_instr": 10, "else_instr": 10}), 10, 1, 1.0);
        check(json!({"n_taken": 0, "if_instr": 10, "else_instr": 10}), 10, 1, 1.0);
    }

    /// One lane is as dear as sixteen: 12 + 20 slots, of which it uses 12 and the others 31 × 20.
    #[test]
    fn a_single_lane_costs_its_whole_side() {
        let used = (12.0 + 31.0 * 20.0) / (32.0 * 32.0);
        check(json!({"n_taken": 1, "if_instr": 12, "else_instr": 20}), 32, 2, used);
        check(json!({"taken_mask": 0b1000, "if_instr": 12, "else_instr": 20}), 32, 2, used);
    }

    #[test]
    fn lanes_that_are_off_decide_nothing() {
        let given = json!({"taken_mask": 0xFFFF_0000_u32, "active_mask": 0xFFFF, "if_instr": 3, "else_instr": 5});
        check(given, 5, 1, 0.5);
        let all = json!({"n_taken": 0, "active_mask": 0, "if_instr": 3, "else_instr": 5, "common_instr": 4});
        check(all, 0, 0, 1.0);
    }

    #[test]
    fn one_of_count_and_mask_is_needed() {
        let ask = |given: Value| eval("divergence", &question(&given)).unwrap_err().field().to_owned();
        assert_eq!(ask(json!({"if_instr": 1, "else_instr": 1})), "n_taken");
        assert_eq!(ask(json!({"n_taken": 1, "taken_mask": 1, "if_instr": 1, "else_instr": 1})), "taken_mask");
        assert_eq!(ask(json!({"n_taken": 5, "active_mask": 15, "if_instr": 1, "else_instr": 1})), "n_taken");
    }
}
