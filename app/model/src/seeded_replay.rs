//! A seeded trace through an allocator on a card of a given size: what an experiment plays on real memory.
//!
//! Question: the trace and the allocator by their numbers (`vramlab_alloc::scenario`), the seed, the card. Answer: how many
//! events pass before the first refusal, what is reserved at the most and at the end.
//! Assumption: nobody else uses the card. Source and machines: as `caching_allocator`, `bfc_allocator` and `stream_pool`.
//! Errors: none beyond the ranges.

use crate::alloc_fields as shared;
use crate::fields;
use crate::registry::Model;
use vramlab_alloc::MIB;
use vramlab_alloc::replay;
use vramlab_alloc::scenario::{Policy, Scenario};
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub struct SeededReplay;

impl Model for SeededReplay {
    const ID: &'static str = "seeded_replay";
    const TITLE: Text =
        Text::new("一条有种子的轨迹，重放到卡装不下", "A seeded trace, replayed until the card is full");
    const ASSUMES: Text =
        Text::new("卡上没有别的进程；轨迹由种子唯一确定。", "Nobody else uses the card; the seed settles the trace.");
    const SOURCE: &'static str = "pytorch/pytorch, c10/cuda/CUDACachingAllocator.cpp, torch 2.11; openxla/xla, \
         xla/tsl/framework/bfc_allocator.cc; CUDA Programming Guide, Stream-Ordered Memory Allocator";
    const EXAMPLE: &'static str = r#"{"scenario": 1, "policy": 1, "capacity_mib": 40}"#;

    fn question() -> Vec<FieldSpec> {
        let scenario =
            Text::new("0 随机，1 两个空洞，2 训练步，3 越来越长", "0 random, 1 two holes, 2 training steps, 3 growing");
        let policy = Text::new(
            "0 cudaMalloc，1 PyTorch，2 可扩展段，3 BFC 增长，4 BFC 固定，5 cudaMallocAsync 全留，6 阈值 0",
            "0 cudaMalloc, 1 PyTorch, 2 expandable segments, 3 BFC growing, 4 BFC fixed, 5 cudaMallocAsync keeping all, \
             6 with threshold 0",
        );
        vec![
            FieldSpec::int("scenario", "1", 0, Scenario::ALL.len() as i64 - 1, scenario),
            FieldSpec::int("seed", "1", 0, i64::from(u32::MAX), Text::new("种子", "The seed")).default_value(1),
            FieldSpec::int("policy", "1", 0, Policy::ALL.len() as i64 - 1, policy),
            shared::capacity(),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let count = |key, zh, en| FieldSpec::int(key, "1", 0, 1 << 20, Text::new(zh, en));
        let mib = |key, zh, en| FieldSpec::num(key, "MiB", 0.0, f64::from(1_u32 << 31), Text::new(zh, en));
        vec![
            count("served_events", "第一次被拒之前走了几步", "Events before the first refusal"),
            count("n_events", "一共几步", "Events in all"),
            mib("peak_reserved_mib", "最多占过多少", "The most that was reserved"),
            mib("reserved_mib", "最后占着多少", "Reserved at the end"),
            mib("peak_requested_mib", "程序同时要过的最多", "The most that the program asked for at once"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let bad = |field: &str| FieldError::conflict(field, "no such number");
        let scenario = Scenario::of(args.uint("scenario")).ok_or_else(|| bad("scenario"))?;
        let policy = Policy::of(args.uint("policy")).ok_or_else(|| bad("policy"))?;
        let capacity = shared::capacity_bytes(args);
        let trace =
            scenario.trace(args.uint("seed")).map_err(|error| FieldError::conflict("seed", error.to_string()))?;
        let steps = replay::run(&trace, &policy.kind(capacity), capacity);
        let served = steps.iter().position(|step| step.refusal.is_some()).unwrap_or(steps.len());
        // Up to the refusal: an experiment ends there.
        let lived = &steps[..served];
        let mib = |bytes: u64| fields::number(bytes as f64 / MIB as f64);
        let most = |of: fn(&replay::Counters) -> u64| mib(lived.iter().map(|step| of(&step.after)).max().unwrap_or(0));
        Ok(fields::answer([
            ("served_events", served.into()),
            ("n_events", steps.len().into()),
            ("peak_reserved_mib", most(|after| after.reserved_bytes)),
            ("reserved_mib", mib(lived.last().map_or(0, |step| step.after.reserved_bytes))),
            ("peak_requested_mib", most(|after| after.requested_bytes)),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    /// Brief 24: 40 MiB, three blocks of 6 MiB, the outer two freed; 10 MiB take a segment of their own, 12 MiB fail.
    #[test]
    fn the_two_holes_of_chapter_24() {
        let ask = |policy: u32| {
            let given = json!({"scenario": 1, "policy": policy, "capacity_mib": 40});
            let answer = eval("seeded_replay", &question(&given)).unwrap();
            (answer["served_events"].as_u64().unwrap(), answer["reserved_mib"].as_f64().unwrap())
        };
        assert_eq!(ask(1), (6, 30.0));
        assert_eq!(ask(2), (7, 40.0));
        assert_eq!(ask(0), (7, 28.0));
    }
}
