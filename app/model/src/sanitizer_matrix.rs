//! Which tool of the Compute Sanitizer reports which fault.
//!
//! Question: a fault that was put into a kernel or its host code, and a tool. Answer: whether the tool reports it, and
//! under which option. It is the answer key that measured runs are held against.
//! Assumption: the fault happens in the run that is watched; the tools report what a run does, not what the code could do.
//! Source: NVIDIA, Compute Sanitizer user guide, "Compute Sanitizer Tools" and the chapter of each tool.
//! Errors: none beyond the fields' own ranges.

use crate::fields;
use crate::registry::Model;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

/// What is wrong in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// One element past the end of an allocation of its own.
    OutOfBounds,
    /// Past the end of an array in shared memory.
    PastShared,
    /// A load of 16 bytes from an address that is no multiple of 16.
    Misaligned,
    UseAfterFree,
    DoubleFree,
    /// Memory that is never freed.
    Leak,
    /// Two threads of a block on one word of shared memory, without a barrier between them.
    SharedRace,
    /// The same on a word of global memory.
    GlobalRace,
    /// Global memory that was read and never written.
    Uninitialised,
    /// A barrier that part of a block does not reach.
    DivergentBarrier,
    /// A barrier in each of two branches: each half of a warp waits at its own.
    TwoBarriers,
    /// A barrier of a warp whose mask names a thread that is not there.
    SyncwarpMask,
    /// Past the end of a block, and still inside the allocation that a pool has cut it from.
    InsideAPool,
}

impl Fault {
    pub const ALL: [Self; 13] = [
        Self::OutOfBounds,
        Self::PastShared,
        Self::Misaligned,
        Self::UseAfterFree,
        Self::DoubleFree,
        Self::Leak,
        Self::SharedRace,
        Self::GlobalRace,
        Self::Uninitialised,
        Self::DivergentBarrier,
        Self::TwoBarriers,
        Self::SyncwarpMask,
        Self::InsideAPool,
    ];

    pub fn id(self) -> &'static str {
        match self {
            Self::OutOfBounds => "out_of_bounds",
            Self::PastShared => "past_shared",
            Self::Misaligned => "misaligned",
            Self::UseAfterFree => "use_after_free",
            Self::DoubleFree => "double_free",
            Self::Leak => "leak",
            Self::SharedRace => "shared_race",
            Self::GlobalRace => "global_race",
            Self::Uninitialised => "uninitialised",
            Self::DivergentBarrier => "divergent_barrier",
            Self::TwoBarriers => "two_barriers",
            Self::SyncwarpMask => "syncwarp_mask",
            Self::InsideAPool => "inside_a_pool",
        }
    }
}

/// A tool of the Compute Sanitizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    Memcheck,
    Racecheck,
    Initcheck,
    Synccheck,
}

impl Tool {
    pub const ALL: [Self; 4] = [Self::Memcheck, Self::Racecheck, Self::Initcheck, Self::Synccheck];

    pub fn id(self) -> &'static str {
        match self {
            Self::Memcheck => "memcheck",
            Self::Racecheck => "racecheck",
            Self::Initcheck => "initcheck",
            Self::Synccheck => "synccheck",
        }
    }
}

/// What a tool says about a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    Nothing,
    Reports,
    /// Only where this option asks for it.
    ReportsWith(&'static str),
}

/// The tool that a fault belongs to, and how it is asked; nothing where none of the four sees it.
pub fn tool_for(fault: Fault) -> Option<(Tool, Says)> {
    match fault {
        Fault::OutOfBounds | Fault::PastShared | Fault::Misaligned | Fault::UseAfterFree | Fault::DoubleFree => {
            Some((Tool::Memcheck, Says::Reports))
        }
        Fault::Leak => Some((Tool::Memcheck, Says::ReportsWith("--leak-check full"))),
        Fault::SharedRace => Some((Tool::Racecheck, Says::Reports)),
        Fault::Uninitialised => Some((Tool::Initcheck, Says::Reports)),
        Fault::DivergentBarrier | Fault::TwoBarriers | Fault::SyncwarpMask => Some((Tool::Synccheck, Says::Reports)),
        Fault::GlobalRace | Fault::InsideAPool => None,
    }
}

/// What `tool` says about `fault`.
pub fn says(fault: Fault, tool: Tool) -> Says {
    tool_for(fault).filter(|(right, _)| *right == tool).map_or(Says::Nothing, |(_, says)| says)
}

pub struct SanitizerMatrix;

impl Model for SanitizerMatrix {
    const ID: &'static str = "sanitizer_matrix";
    const TITLE: Text = Text::new("哪个工具查得出哪种错误", "Which tool reports which fault");
    const ASSUMES: Text = Text::new(
        "错误在这次运行里真的发生了：工具报告跑到的，不分析代码。",
        "The fault happens in the run that is watched: the tools report what a run does and analyse no code.",
    );
    const SOURCE: &'static str = "NVIDIA, Compute Sanitizer user guide";
    const EXAMPLE: &'static str = r#"{"fault": "uninitialised", "tool": "initcheck"}"#;

    fn question() -> Vec<FieldSpec> {
        let faults = Fault::ALL.map(Fault::id);
        let tools = Tool::ALL.map(Tool::id);
        let fault = Text::new(
            "错误：out_of_bounds 越界一个元素；past_shared 越过共享数组；misaligned 未对齐的 16 字节读；use_after_free 释放后再写；double_free 重复释放；leak 泄漏；shared_race、global_race 共享或全局内存上的竞争；uninitialised 读没写过的全局内存；divergent_barrier 有线程到不了的屏障；two_barriers 两个分支各等一个屏障；syncwarp_mask 屏障的掩码写错；inside_a_pool 越过自己的块、仍在池的分配里",
            "The fault: out_of_bounds, one element past the end; past_shared, of a shared array; misaligned, a load of 16 bytes; \
             use_after_free; double_free; leak; shared_race and global_race, on shared or global memory; uninitialised, a read of \
             global memory; divergent_barrier, that part of a block misses; two_barriers, one in each branch; syncwarp_mask, a wrong mask; inside_a_pool, past a block and still inside its pool",
        );
        vec![
            fields::choice("fault", "", &faults, fault),
            fields::choice("tool", "", &tools, Text::new("工具", "The tool")),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let tools = Tool::ALL.map(Tool::id);
        let right =
            Text::new("该用的工具；四个都查不出就没有", "The tool for it; nothing where none of the four sees it");
        let option = Text::new("要加的选项", "The option that it takes");
        vec![
            FieldSpec::new("is_reported", "", FieldKind::Bool, Text::new("报不报", "Whether it is reported")),
            FieldSpec::new("option", "", FieldKind::Text { max_len: 64 }, option).optional(),
            fields::choice("right_tool", "", &tools, right).optional(),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let fault = Fault::ALL.into_iter().find(|fault| fault.id() == args.text("fault"));
        let tool = Tool::ALL.into_iter().find(|tool| tool.id() == args.text("tool"));
        let (Some(fault), Some(tool)) = (fault, tool) else {
            return Err(FieldError::conflict("fault", "is not among its options"));
        };
        let said = says(fault, tool);
        let option = match said {
            Says::ReportsWith(option) => option.into(),
            Says::Nothing | Says::Reports => Value::Null,
        };
        Ok(fields::answer([
            ("is_reported", (said != Says::Nothing).into()),
            ("option", option),
            ("right_tool", tool_for(fault).map_or(Value::Null, |(tool, _)| tool.id().into())),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::{Value, json};

    #[track_caller]
    fn check(fault: &str, tool: &str, is_reported: bool, right: &Value) {
        let answer = eval("sanitizer_matrix", &question(&json!({"fault": fault, "tool": tool}))).unwrap();
        assert_eq!((&answer["is_reported"], &answer["right_tool"]), (&is_reported.into(), right), "{fault} by {tool}");
    }

    /// The user guide's own table of tools: what each is for, and that racecheck looks at shared memory only.
    #[test]
    fn every_tool_has_its_fault_and_two_faults_have_none() {
        check("out_of_bounds", "memcheck", true, &json!("memcheck"));
        check("misaligned", "racecheck", false, &json!("memcheck"));
        check("shared_race", "racecheck", true, &json!("racecheck"));
        check("global_race", "racecheck", false, &Value::Null);
        check("uninitialised", "initcheck", true, &json!("initcheck"));
        check("divergent_barrier", "synccheck", true, &json!("synccheck"));
        check("inside_a_pool", "memcheck", false, &Value::Null);
    }

    #[test]
    fn leaks_are_reported_on_demand() {
        let answer = eval("sanitizer_matrix", &question(&json!({"fault": "leak", "tool": "memcheck"}))).unwrap();
        assert_eq!(answer["option"], "--leak-check full");
    }
}
