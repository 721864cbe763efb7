//! PyTorch's caching allocator on a trace of requests and frees.
//!
//! Question: a trace, settings as `PYTORCH_ALLOC_CONF` has them, a card. Answer: the counters at the end under PyTorch's
//! names, peaks, the last block, the first request that failed. The machine itself is `vramlab_alloc::caching`.
//! Assumption: nobody else uses the card, and its addresses go up.
//! Source: pytorch/pytorch, `c10/cuda/CUDACachingAllocator.cpp`, torch 2.11.
//! Errors: a trace that frees what was not requested, settings that PyTorch refuses.

use crate::alloc_fields as shared;
use crate::registry::Model;
use vramlab_alloc::MIB;
use vramlab_alloc::caching::Config;
use vramlab_alloc::replay::Kind;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text};

const MOST_MIB: u64 = 1 << 20;

pub struct CachingAllocator;

impl Model for CachingAllocator {
    const ID: &'static str = "caching_allocator";
    const TITLE: Text = Text::new("PyTorch 的缓存分配器", "PyTorch's caching allocator");
    const ASSUMES: Text = Text::new(
        "卡上没有别的进程；驱动给的地址一路往上。",
        "Nobody else uses the card, and the driver's addresses go up.",
    );
    const SOURCE: &'static str =
        "pytorch/pytorch, c10/cuda/CUDACachingAllocator.cpp and c10/core/AllocatorConfig.h, torch 2.11";
    const EXAMPLE: &'static str =
        r#"{"trace": "a:6M b:6M c:6M -a -c d:10M e:12M", "settings": "", "capacity_mib": 40}"#;

    fn question() -> Vec<FieldSpec> {
        let settings = Text::new(
            "PYTORCH_ALLOC_CONF 的写法，例如 expandable_segments:True；空着就是默认",
            "As PYTORCH_ALLOC_CONF has it, e.g. expandable_segments:True; empty for the defaults",
        );
        vec![
            shared::trace(),
            FieldSpec::new("settings", "", FieldKind::Text { max_len: 1024 }, settings).default_value(""),
            shared::capacity(),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        shared::answer()
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let trace = shared::read_trace(args)?;
        let config = settings(args.text("settings"))?;
        Ok(shared::replayed(&trace, &Kind::Caching(config), shared::capacity_bytes(args)))
    }
}

/// Settings that PyTorch takes, with sizes that a machine can have.
fn settings(text: &str) -> Result<Config, FieldError> {
    let conflict = |reason: String| FieldError::conflict("settings", reason);
    let config = Config::parse(text).map_err(|error| conflict(error.to_string()))?;
    for (name, bytes, least_mib) in [
        ("large_segment_size_mb", config.large_segment_bytes, 20),
        ("max_non_split_rounding_mb", config.max_non_split_rounding_bytes, 0),
        ("max_split_size_mb", config.max_split_bytes.unwrap_or(20 * MIB), 20),
    ] {
        if !(least_mib * MIB..=MOST_MIB * MIB).contains(&bytes) {
            return Err(conflict(format!("{name} = {} must be from {least_mib} to {MOST_MIB}", bytes / MIB)));
        }
    }
    Ok(config)
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::{Value, json};

    #[track_caller]
    fn check(given: &Value, expected: &Value) {
        let answer = eval("caching_allocator", &question(given)).unwrap();
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(&answer[key], value, "{key} of {given}");
        }
    }

    /// Brief 11, vectors 1 to 4, 8 and 10: the values are the brief's.
    #[test]
    fn blocks_segments_and_holes() {
        check(
            &json!({"trace": "a:1"}),
            &json!({"allocated_bytes": 512, "reserved_bytes": 2_097_152, "inactive_split_bytes": 2_096_640}),
        );
        check(&json!({"trace": "a:0"}), &json!({"allocated_bytes": 0, "reserved_bytes": 0, "last_block_bytes": null}));
        check(
            &json!({"trace": "a:1048577"}),
            &json!({"allocated_bytes": 1_049_088, "reserved_bytes": 20_971_520, "inactive_split_bytes": 19_922_432}),
        );
        check(
            &json!({"trace": "a:11534337"}),
            &json!({"allocated_bytes": 12_582_912, "reserved_bytes": 12_582_912, "requested_bytes": 11_534_337}),
        );
        check(
            &json!({"trace": "a:9M b:9M c:9M -a -b"}),
            &json!({"allocated_bytes": 9_437_184, "reserved_bytes": 41_943_040, "largest_free_bytes": 20_971_520,
                "peak_allocated_bytes": 28_311_552}),
        );
        check(
            &json!({"trace": "a:1200", "settings": "roundup_power2_divisions:4"}),
            &json!({"last_block_bytes": 1_536}),
        );
        check(
            &json!({"trace": "a:9M b:9M c:5M d:8.5M -a e:8M", "settings": "expandable_segments:True"}),
            &json!({"reserved_bytes": 41_943_040, "last_block_offset": 0, "n_segments": 0}),
        );
    }

    /// Brief 11, vector 5, and brief 24, the fragmentation of 40 MiB.
    #[test]
    fn out_of_memory_names_its_event() {
        let trace = "a:9M b:9M c:9M d:9M e:9M f:9M -a -b -c g:24M";
        check(
            &json!({"trace": trace, "capacity_mib": 60}),
            &json!({"refused_event": 9, "reserved_bytes": 41_943_040, "n_retries": 1, "n_ooms": 1}),
        );
        check(
            &json!({"trace": trace, "capacity_mib": 60, "settings": "expandable_segments:True"}),
            &json!({"refused_event": null, "refusal": null, "reserved_bytes": 62_914_560}),
        );
        let message = "tried to reserve 12582912 bytes; reserved 31457280, allocated 16777216, capacity 41943040";
        check(
            &json!({"trace": "a:6M b:6M c:6M -a -c d:10M e:12M", "capacity_mib": 40}),
            &json!({"refusal": message, "refused_event": 6, "utilisation": 16.0 / 30.0}),
        );
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        let refused = |given: Value| eval("caching_allocator", &question(&given)).unwrap_err();
        for trace in ["a:1 -b", "a:1 -a -a", "a:-1", "a:1 a:2", "a:1152921504606846976"] {
            assert_eq!(refused(json!({"trace": trace})).field(), "trace", "{trace}");
        }
        for settings in [
            "max_split_size_mb:20",
            "garbage_collection_threshold:1",
            "what:3",
            "large_segment_size_mb:0,expandable_segments:True",
            "large_segment_size_mb:2",
            "max_non_split_rounding_mb:9999999",
        ] {
            assert_eq!(refused(json!({"trace": "", "settings": settings})).field(), "settings", "{settings}");
        }
    }

    /// Settings and sizes at their ends: an answer or an error, and never more reserved than the card has.
    #[test]
    fn extremes_are_answered() {
        let trace =
            "a:1 b:1048576 c:1048577 -b d:10485759 -c e:10485760 f:20M -e g:60M -g h:288230376151711743 sync i:33M";
        let splits = ["", "max_split_size_mb:21,", "max_split_size_mb:1048576,"];
        let others = [
            "",
            "large_segment_size_mb:1048575",
            "roundup_power2_divisions:64",
            "max_non_split_rounding_mb:0",
            "garbage_collection_threshold:0.01,per_process_memory_fraction:0.5",
            "per_process_memory_fraction:1",
        ];
        for expandable in ["", "expandable_segments:True,"] {
            for (split, other) in splits.iter().flat_map(|split| others.iter().map(move |other| (split, other))) {
                for capacity in [1, 40, 100, 1 << 24] {
                    let settings = format!("{expandable}{split}{other}");
                    let given = json!({"trace": trace, "settings": settings, "capacity_mib": capacity});
                    let Ok(answer) = eval("caching_allocator", &question(&given)) else { continue };
                    assert!(answer["peak_reserved_bytes"].as_u64().unwrap() <= capacity << 20, "{given}");
                    assert!(answer["n_ooms"].as_u64().unwrap() >= 1, "{given}");
                }
            }
        }
    }
}
