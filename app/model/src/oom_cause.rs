//! Why a request was refused, from the numbers of the message and of the statistics.
//!
//! Question: the request, what the device had free, what the allocator had reserved and in which pieces. Answer: the cause,
//! and the numbers that speak for it. The rule is `vramlab_alloc::refusal`, the one that recordings are judged by.
//! Assumption: the numbers belong to one moment; what lies outside is what the device has in use and nobody here has.
//! Source: pytorch/pytorch, `c10/cuda/CUDACachingAllocator.cpp` (the cache is flushed before the error is raised).
//! Errors: pieces larger than their whole, more reserved than the device has.

use crate::fields;
use crate::registry::Model;
use vramlab_alloc::refusal::{Cause, Evidence, classify};
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text, Value};

const MOST: i64 = 1 << 50;

pub struct OomCause;

/// The evidence of checked fields.
pub fn evidence(args: &Args) -> Result<Evidence, FieldError> {
    let get = |key: &str| args.uint(key);
    let (reserved, allocated) = (get("reserved_bytes"), get("allocated_bytes"));
    within("allocated_bytes", allocated, "reserved_bytes", reserved)?;
    let inactive = if args.has("inactive_bytes") { get("inactive_bytes") } else { reserved - allocated };
    within("inactive_bytes", inactive, "reserved_bytes − allocated_bytes", reserved - allocated)?;
    let holes = "the free bytes of the cache";
    within("largest_hole_bytes", get("largest_hole_bytes"), holes, inactive)?;
    within("releasable_bytes", get("releasable_bytes"), holes, inactive)?;
    let capacity = args.has("capacity_bytes").then(|| get("capacity_bytes"));
    if let Some(capacity) = capacity {
        within("free_bytes", get("free_bytes"), "capacity_bytes", capacity)?;
        let rest = capacity - get("free_bytes");
        within("reserved_bytes", reserved, "capacity_bytes − free_bytes", rest)?;
        within("context_bytes", get("context_bytes"), "what is used and not reserved", rest - reserved)?;
    }
    Ok(Evidence {
        request: get("request_bytes"),
        device_free: get("free_bytes"),
        reserved,
        inactive,
        largest_hole: get("largest_hole_bytes"),
        releasable: get("releasable_bytes"),
        capacity,
        context: get("context_bytes"),
        is_leak_suspect: args.flag("is_growing"),
    })
}

fn within(field: &str, value: u64, whole: &str, limit: u64) -> Result<(), FieldError> {
    if value <= limit {
        return Ok(());
    }
    Err(FieldError::conflict(field, format!("{value} is more than {whole} = {limit}")))
}

impl Model for OomCause {
    const ID: &'static str = "oom_cause";
    const TITLE: Text = Text::new("OOM 的原因", "The cause of an OOM");
    const ASSUMES: Text = Text::new(
        "所有数字出自同一时刻；设备上用着、又不归这里任何一项的，都算外部占用。",
        "All numbers are of one moment; what the device has in use and no field accounts for counts as outside.",
    );
    const SOURCE: &'static str = "pytorch/pytorch, c10/cuda/CUDACachingAllocator.cpp";
    const EXAMPLE: &'static str = r#"{"request_bytes": 20971520, "reserved_bytes": 62914560, "allocated_bytes": 28311552, "largest_hole_bytes": 9437184}"#;

    fn question() -> Vec<FieldSpec> {
        let bytes = |key, zh, en| FieldSpec::int(key, "B", 0, MOST, Text::new(zh, en));
        let largest = bytes("largest_hole_bytes", "缓存里最大的空闲块", "Largest free block of the cache");
        let releasable =
            bytes("releasable_bytes", "整段空闲、清缓存能还给设备的", "In wholly free segments: what a flush returns");
        let growing = Text::new("步末的已分配是否一步步在涨", "Whether allocated grows from step end to step end");
        vec![
            bytes("request_bytes", "申请多少", "What was asked for"),
            bytes("capacity_bytes", "整张卡的显存；不知道就不填", "All memory of the card; left out if unknown")
                .optional(),
            bytes("free_bytes", "设备空闲", "Free on the device").default_value(0),
            bytes("reserved_bytes", "分配器向设备要来的", "What the allocator took from the device"),
            bytes("allocated_bytes", "其中张量在用的", "Of that, in use by tensors"),
            bytes(
                "inactive_bytes",
                "缓存里空闲的；不填就是保留减已分配",
                "Free in the cache; reserved less allocated if not given",
            )
            .optional(),
            largest.default_value(0),
            releasable.default_value(0),
            bytes("context_bytes", "CUDA 上下文占用", "What the CUDA context takes").default_value(0),
            FieldSpec::new("is_growing", "", vramlab_units::FieldKind::Bool, growing).default_value(false),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let bytes = |key, zh, en| FieldSpec::int(key, "B", 0, MOST * 2, Text::new(zh, en));
        let share = |key, zh, en| FieldSpec::num(key, "%", 0.0, 1.0, Text::new(zh, en));
        let causes: Vec<&'static str> = Cause::ALL.iter().map(|cause| cause.id()).collect();
        vec![
            fields::choice("cause", "", &causes, Text::new("原因", "The cause")),
            bytes("outside_bytes", "分配器之外的占用", "Held outside the allocator").optional(),
            share("outside_share", "它占整卡的几成", "Its share of the card").optional(),
            bytes("after_flush_bytes", "清空缓存之后设备上空闲的", "Free on the device after a flush"),
            bytes("unused_bytes", "设备空闲加缓存空闲", "Free on the device and in the cache"),
            bytes("largest_request_bytes", "一次最多还能申请到多少", "The largest request that could be served"),
            share("fragmentation", "1 − 最大空闲块 ÷ 全部空闲块", "1 − largest free block ÷ all of them"),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let evidence = evidence(args)?;
        Ok(fields::answer([
            ("cause", classify(&evidence).id().into()),
            ("outside_bytes", evidence.outside().map_or(Value::Null, Value::from)),
            ("outside_share", evidence.outside_share().map_or(Value::Null, fields::number)),
            ("after_flush_bytes", evidence.after_flush().into()),
            ("unused_bytes", evidence.unused().into()),
            ("largest_request_bytes", evidence.largest_request().into()),
            ("fragmentation", fields::number(evidence.fragmentation())),
        ]))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::{Value, json};

    #[track_caller]
    fn check(given: &Value, cause: &str) -> vramlab_units::Map {
        let answer = eval("oom_cause", &question(given)).unwrap();
        assert_eq!(answer["cause"], cause, "{given}");
        answer
    }

    /// Brief 18, vector 2.
    #[test]
    fn holes_that_are_each_too_small() {
        let given = json!({"request_bytes": 20 << 20, "reserved_bytes": 62_914_560, "allocated_bytes": 28_311_552,
            "largest_hole_bytes": 9_437_184});
        let answer = check(&given, "fragmentation");
        assert!((answer["fragmentation"].as_f64().unwrap() - 0.727_273).abs() < 5e-7);
        assert_eq!((&answer["unused_bytes"], &answer["outside_bytes"]), (&json!(34_603_008), &Value::Null));
    }

    /// Brief 18, vector 3.
    #[test]
    fn what_a_flush_returns_is_no_oom() {
        let given = json!({"request_bytes": 40 << 20, "reserved_bytes": 40 << 20, "allocated_bytes": 0,
            "largest_hole_bytes": 20 << 20, "releasable_bytes": 40 << 20});
        assert_eq!(check(&given, "transient")["after_flush_bytes"], 40 << 20);
    }

    /// Brief 18, vector 4.
    #[test]
    fn what_nobody_accounts_for_lies_outside() {
        let given = json!({"request_bytes": 30_000_000_000_u64, "capacity_bytes": 150_109_880_320_u64,
            "free_bytes": 20_000_000_000_u64, "reserved_bytes": 100_000_000_000_u64,
            "allocated_bytes": 100_000_000_000_u64, "context_bytes": 552_402_944});
        let answer = check(&given, "outside_allocator");
        assert_eq!(answer["outside_bytes"], 29_557_477_376_u64);
        assert!((answer["outside_share"].as_f64().unwrap() - 0.197).abs() < 0.0005);
        let mut huge = given;
        huge["request_bytes"] = json!(121_000_000_000_u64);
        check(&huge, "too_big");
    }

    #[test]
    fn pieces_larger_than_their_whole_are_refused_by_name() {
        let field = |given: Value| eval("oom_cause", &question(&given)).unwrap_err().field().to_owned();
        let base = || json!({"request_bytes": 1, "reserved_bytes": 10, "allocated_bytes": 6});
        let with = |key: &str, value: u64| {
            let mut given = base();
            given[key] = json!(value);
            given
        };
        assert_eq!(field(with("allocated_bytes", 11)), "allocated_bytes");
        assert_eq!(field(with("largest_hole_bytes", 5)), "largest_hole_bytes");
        assert_eq!(field(with("releasable_bytes", 5)), "releasable_bytes");
        assert_eq!(field(with("capacity_bytes", 9)), "reserved_bytes");
    }
}
