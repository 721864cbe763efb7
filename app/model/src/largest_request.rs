//! The largest request that an allocator with a cache can still serve, MiB.
//!
//! Question: what the device has free, what the cache holds free, its largest hole, and what of it lies in wholly free
//! segments. Answer: the largest request, all that is free, and what of that no single request can have. The rule is
//! `vramlab_alloc::refusal`, by which refusals are judged.
//! Assumption: one stream and one pool; the device gives any multiple of a MiB in one piece.
//! Source: pytorch/pytorch, `c10/cuda/CUDACachingAllocator.cpp` (a hole, else a new segment, else a flush and a new segment).
//! Errors: a hole or a releasable part larger than the cache.

use crate::fields;
use crate::registry::Model;
use vramlab_alloc::MIB;
use vramlab_alloc::refusal::Evidence;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

const MOST: i64 = 1 << 24;

pub struct LargestRequest;

impl Model for LargestRequest {
    const ID: &'static str = "largest_request";
    const TITLE: Text = Text::new("一次最多还能申请到多少", "The largest request that still fits");
    const ASSUMES: Text = Text::new(
        "只有一个流、一个池；设备能一次给出任意整数 MiB。",
        "One stream and one pool; the device gives any multiple of a MiB in one piece.",
    );
    const SOURCE: &'static str = "pytorch/pytorch, c10/cuda/CUDACachingAllocator.cpp";
    const EXAMPLE: &'static str = r#"{"free_mib": 40, "cached_mib": 420, "largest_hole_mib": 8}"#;

    fn question() -> Vec<FieldSpec> {
        let mib = |key, zh, en| FieldSpec::int(key, "MiB", 0, MOST, Text::new(zh, en));
        let releasable = mib("releasable_mib", "缓存里整段空闲的", "Of the cache, in wholly free segments");
        vec![
            mib("free_mib", "设备空闲；有上限时是上限还剩的", "Free on the device, or left of the process's limit"),
            mib("cached_mib", "缓存里空闲的", "Free in the cache"),
            mib("largest_hole_mib", "缓存里最大的空闲块", "Largest free block of the cache"),
            releasable.default_value(0),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let mib = |key, zh, en| FieldSpec::int(key, "MiB", 0, MOST * 2, Text::new(zh, en));
        let share = Text::new("1 − 最大空洞 ÷ 全部空洞", "1 − largest hole ÷ all holes");
        vec![
            mib("largest_request_mib", "一次最多还能申请到", "The largest request that could be served"),
            mib("after_flush_mib", "清空缓存之后设备空闲", "Free on the device after a flush"),
            mib("unused_mib", "空闲的一共", "Free in all"),
            FieldSpec::num("fragmentation", "%", 0.0, 1.0, share),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let bytes = |key: &str| args.uint(key) * MIB;
        for key in ["largest_hole_mib", "releasable_mib"] {
            if args.uint(key) > args.uint("cached_mib") {
                let reason = format!("{} is more than cached_mib = {}", args.uint(key), args.uint("cached_mib"));
                return Err(FieldError::conflict(key, reason));
            }
        }
        let evidence = Evidence {
            device_free: bytes("free_mib"),
            inactive: bytes("cached_mib"),
            largest_hole: bytes("largest_hole_mib"),
            releasable: bytes("releasable_mib"),
            ..Evidence::default()
        };
        let mib = |bytes: u64| (bytes / MIB).into();
        Ok(fields::answer([
            ("largest_request_mib", mib(evidence.largest_request())),
            ("after_flush_mib", mib(evidence.after_flush())),
            ("unused_mib", mib(evidence.unused())),
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
    fn check(given: &Value, largest: u64, unused: u64) {
        let answer = eval("largest_request", &question(given)).unwrap();
        assert_eq!((&answer["largest_request_mib"], &answer["unused_mib"]), (&largest.into(), &unused.into()));
    }

    /// The recorded refusal of 64 MiB under a limit of 640: 600 reserved, 180 in use, holes of 8 MiB at most. Brief 18,
    /// vectors 2 and 3.
    #[test]
    fn a_hole_or_a_new_segment() {
        check(&json!({"free_mib": 40, "cached_mib": 420, "largest_hole_mib": 8}), 40, 460);
        check(&json!({"free_mib": 0, "cached_mib": 33, "largest_hole_mib": 9}), 9, 33);
        let flushed = json!({"free_mib": 0, "cached_mib": 40, "largest_hole_mib": 20, "releasable_mib": 40});
        check(&flushed, 40, 40);
    }

    #[test]
    fn a_part_larger_than_the_cache_is_refused() {
        let given = json!({"free_mib": 0, "cached_mib": 4, "largest_hole_mib": 5});
        assert_eq!(eval("largest_request", &question(&given)).unwrap_err().field(), "largest_hole_mib");
    }
}
