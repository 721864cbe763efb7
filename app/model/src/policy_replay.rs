//! One trace under any allocator, in MiB: for comparing policies side by side.
//!
//! Question: a trace, one more request after it if wanted, the policy, its limit, the card. Answer: what is held at the
//! end and at the peak, the last block and what lies idle in it, the first request that failed. The machines are those of
//! `vramlab_alloc`; `caching_allocator`, `bfc_allocator` and `stream_pool` ask them with every setting and in bytes.
//! Assumption: one process, one card; the pool of `cudaMallocAsync` keeps what it took.
//! Source: as the three models named above. Errors: a trace that frees what was not requested, a limit above the card.

use crate::alloc_fields as shared;
use crate::fields;
use crate::registry::Model;
use vramlab_alloc::MIB;
use vramlab_alloc::bfc::Options;
use vramlab_alloc::caching::Config;
use vramlab_alloc::jax::Policy;
use vramlab_alloc::replay::{self, Kind, Step};
use vramlab_alloc::trace::{Event, Trace};
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text, Value};

const POLICIES: &[&str] = &[
    "native",
    "expandable",
    "divisions",
    "bfc_growth",
    "bfc_fixed",
    "jax",
    "jax_fixed",
    "jax_on_demand",
    "stream_pool",
    "plain",
];
/// The name of the request after the trace.
const EXTRA: &str = "extra_request";

pub struct PolicyReplay;

impl Model for PolicyReplay {
    const ID: &'static str = "policy_replay";
    const TITLE: Text = Text::new("同一串申请，换一种分配器", "The same requests under another allocator");
    const ASSUMES: Text = Text::new(
        "一张卡上只有这一个进程；cudaMallocAsync 的池拿了就留着。",
        "One process on the card; the pool of cudaMallocAsync keeps what it took.",
    );
    const SOURCE: &'static str = "pytorch/pytorch, c10/cuda/CUDACachingAllocator.cpp; openxla/xla, \
         xla/tsl/framework/bfc_allocator.cc; docs.jax.dev, GPU memory allocation; CUDA Programming Guide, \
         Stream-Ordered Memory Allocator";
    const EXAMPLE: &'static str =
        r#"{"trace": "a:6M b:6M c:6M -a -c", "ask_mib": 10, "policy": "bfc_fixed", "limit_mib": 20}"#;

    fn question() -> Vec<FieldSpec> {
        let policy = Text::new(
            "native、expandable、divisions 是 PyTorch；bfc_growth、bfc_fixed 是 BFC；jax 是默认，jax_fixed 不再涨，jax_on_demand 不预占；plain 是每次 cudaMalloc",
            "native, expandable and divisions are PyTorch's; bfc_growth and bfc_fixed BFC's; jax is its default, jax_fixed \
             never grows, jax_on_demand does not preallocate; plain is cudaMalloc each time",
        );
        let ask = Text::new("轨迹之后再申请的大小；不填就没有", "One more request after the trace; none if not given");
        let limit = Text::new("BFC 池的上限；不填就是整张卡", "Limit of a BFC pool; the card if not given");
        vec![
            shared::trace().default_value(""),
            FieldSpec::num("ask_mib", "MiB", 1.0 / 1_048_576.0, 1_048_576.0, ask).optional(),
            fields::choice("policy", "", POLICIES, policy).default_value("native"),
            FieldSpec::int("limit_mib", "MiB", 1, 1 << 24, limit).optional(),
            shared::capacity(),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let mib = |key, zh, en| FieldSpec::num(key, "MiB", 0.0, f64::from(1_u32 << 31), Text::new(zh, en));
        let count = |key, zh, en| FieldSpec::int(key, "1", 0, 1 << 20, Text::new(zh, en));
        vec![
            mib("requested_mib", "程序要的", "What the program asked for"),
            mib("allocated_mib", "块，含取整", "Blocks, rounding included"),
            mib("reserved_mib", "从卡上拿走的", "Taken from the card"),
            mib("peak_reserved_mib", "拿走的峰值", "Its peak"),
            mib("free_mib", "池里空闲的", "Free in the pool"),
            mib("largest_free_mib", "最大的空洞", "The largest hole"),
            mib("last_block_mib", "最后一次成功的申请拿到的块", "Block of the last request that was served").optional(),
            mib("last_idle_mib", "这块里白占的", "What lies idle in it").optional(),
            count("n_segments", "段（区域）数", "Segments or regions"),
            count("failed_request", "第一个失败的申请，从 1 数", "The first request that failed, counted from 1")
                .optional(),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let trace = trace_of(args)?;
        let capacity = shared::capacity_bytes(args);
        let kind = kind_of(args, capacity)?;
        Ok(answer_of(&trace, &replay::run(&trace, &kind, capacity)))
    }
}

/// The trace with the request after it.
fn trace_of(args: &Args) -> Result<Trace, FieldError> {
    let trace = shared::read_trace(args)?;
    if !args.has("ask_mib") {
        return Ok(trace);
    }
    let bytes = (args.num("ask_mib") * MIB as f64).round();
    Trace::parse(&format!("{} {EXTRA}:{bytes}", args.text("trace")))
        .map_err(|error| FieldError::conflict("ask_mib", error.to_string()))
}

fn kind_of(args: &Args, capacity: u64) -> Result<Kind, FieldError> {
    let limit = if args.has("limit_mib") { args.uint("limit_mib") * MIB } else { capacity };
    if limit > capacity {
        let reason = format!("{} is more than capacity_mib = {}", args.uint("limit_mib"), args.uint("capacity_mib"));
        return Err(FieldError::conflict("limit_mib", reason));
    }
    let pytorch = |settings: &str| {
        let config = Config::parse(settings).map_err(|error| FieldError::conflict("policy", error.to_string()))?;
        Ok(Kind::Caching(config))
    };
    let share = vramlab_alloc::jax::DEFAULT_FRACTION;
    Ok(match args.text("policy") {
        "native" => return pytorch(""),
        "expandable" => return pytorch("expandable_segments:True"),
        "divisions" => return pytorch("roundup_power2_divisions:4"),
        "bfc_growth" => Kind::Bfc(Options::growing(limit)),
        "bfc_fixed" => Kind::Bfc(Options::fixed(limit)),
        "jax" => Kind::Jax(Policy::default()),
        "jax_fixed" => Kind::Jax(Policy::Fixed { fraction: share }),
        "jax_on_demand" => Kind::Jax(Policy::OnDemand { fraction: share }),
        "stream_pool" => Kind::StreamPool { release_threshold_bytes: u64::MAX },
        _ => Kind::Plain,
    })
}

fn answer_of(trace: &Trace, steps: &[Step]) -> Map {
    let mib = |bytes: u64| fields::number(bytes as f64 / MIB as f64);
    let last = steps.last().map(|step| step.after).unwrap_or_default();
    let peak = steps.iter().map(|step| step.after.reserved_bytes).max().unwrap_or(0);
    let served = steps.iter().rev().find_map(|step| match (step.event, step.block) {
        (Event::Malloc { bytes, .. }, Some(block)) => Some((block.size, block.size - bytes)),
        _ => None,
    });
    let is_request = |step: &&Step| matches!(step.event, Event::Malloc { .. });
    let failed = steps.iter().filter(is_request).position(|step| step.refusal.is_some());
    debug_assert!(trace.events().len() == steps.len());
    let or_null = |value: Option<Value>| value.unwrap_or(Value::Null);
    fields::answer([
        ("requested_mib", mib(last.requested_bytes)),
        ("allocated_mib", mib(last.allocated_bytes)),
        ("reserved_mib", mib(last.reserved_bytes)),
        ("peak_reserved_mib", mib(peak)),
        ("free_mib", mib(last.total_free_bytes)),
        ("largest_free_mib", mib(last.largest_free_bytes)),
        ("last_block_mib", or_null(served.map(|served| mib(served.0)))),
        ("last_idle_mib", or_null(served.map(|served| mib(served.1)))),
        ("n_segments", last.n_segments.into()),
        ("failed_request", or_null(failed.map(|idx| (idx + 1).into()))),
    ])
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::{Value, json};

    #[track_caller]
    fn check(given: &Value, expected: &Value) {
        let answer = eval("policy_replay", &question(given)).unwrap();
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(answer[key].as_f64(), value.as_f64(), "{key} of {given}");
        }
    }

    /// Brief 24, first trace: 42 MiB under PyTorch in 3 segments, 54 under BFC in 4 regions.
    #[test]
    fn the_first_trace_of_the_brief() {
        let trace = "a:700 b:1M c:1048577 d:10M e:19.5M";
        let given = |policy: &str| json!({"trace": trace, "policy": policy, "capacity_mib": 1024});
        check(
            &given("native"),
            &json!({"reserved_mib": 42, "n_segments": 3, "last_block_mib": 20, "last_idle_mib": 0.5}),
        );
        check(&given("bfc_growth"), &json!({"reserved_mib": 54, "n_segments": 4}));
        check(&given("jax"), &json!({"reserved_mib": 768, "n_segments": 1}));
    }

    /// Brief 24: holes of 6 and 8 MiB; 10 MiB are the fourth request and fail. PyTorch takes a new segment for 10 and
    /// fails at 12. BFC wastes 50 MiB of 150, and splits where 128 MiB are spare.
    #[test]
    fn holes_and_waste() {
        let holes = "a:6M b:6M c:6M -a -c";
        check(
            &json!({"trace": holes, "ask_mib": 10, "policy": "bfc_fixed", "limit_mib": 20}),
            &json!({"failed_request": 4, "free_mib": 14, "largest_free_mib": 8}),
        );
        check(
            &json!({"trace": holes, "ask_mib": 10, "capacity_mib": 40}),
            &json!({"failed_request": null, "reserved_mib": 30}),
        );
        let two = format!("{holes} d:10M");
        check(
            &json!({"trace": two, "ask_mib": 12, "capacity_mib": 40}),
            &json!({"failed_request": 5, "allocated_mib": 16}),
        );
        check(
            &json!({"ask_mib": 100, "policy": "bfc_fixed", "limit_mib": 150}),
            &json!({"last_block_mib": 150, "last_idle_mib": 50}),
        );
        check(&json!({"ask_mib": 700, "policy": "bfc_fixed", "limit_mib": 1024}), &json!({"last_idle_mib": 0}));
    }

    #[test]
    fn a_limit_above_the_card_is_refused_by_name() {
        let given = json!({"policy": "bfc_fixed", "limit_mib": 41, "capacity_mib": 40});
        assert_eq!(eval("policy_replay", &question(&given)).unwrap_err().field(), "limit_mib");
    }
}
