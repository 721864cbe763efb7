//! The stream-ordered pool of `cudaMallocAsync` on a trace.
//!
//! Question: a trace with streams, waits and synchronisations; the release threshold; a card. Answer: what the pool uses
//! and reserves at the end, peaks, the last block, the first request that failed. The machine is
//! `vramlab_alloc::stream_pool`.
//! Assumption: of several free ranges the smallest that fits is taken; work that happens to be finished is not known.
//! Source: CUDA Programming Guide, "Stream-Ordered Memory Allocator"; chunk size measured on an H200.
//! Errors: a trace that frees what was not requested.

use crate::alloc_fields as shared;
use crate::registry::Model;
use vramlab_alloc::MIB;
use vramlab_alloc::replay::Kind;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub struct StreamPool;

impl Model for StreamPool {
    const ID: &'static str = "stream_pool";
    const TITLE: Text = Text::new("按流排序的内存池", "The stream-ordered pool");
    const ASSUMES: Text = Text::new(
        "几个空洞都放得下时取最小的；只看流的先后，不看活儿是不是碰巧干完了。块大小 32 MiB 在 H200 上测得。",
        "Of several holes the smallest that fits is taken; only the order of streams counts, not work that happens to be \
         finished. Chunks of 32 MiB, as measured on an H200.",
    );
    const SOURCE: &'static str =
        "CUDA Programming Guide, Stream-Ordered Memory Allocator; Runtime API, cudaMemPoolSetAttribute";
    const EXAMPLE: &'static str = r#"{"trace": "a:100M -a sync b:1M", "release_threshold_mib": 0}"#;

    fn question() -> Vec<FieldSpec> {
        let threshold = Text::new(
            "cudaMemPoolAttrReleaseThreshold：同步时最多留多少不还；默认 0",
            "cudaMemPoolAttrReleaseThreshold: how much is kept at a synchronisation; 0 by default",
        );
        vec![
            shared::trace(),
            FieldSpec::int("release_threshold_mib", "MiB", 0, 1 << 24, threshold).default_value(0),
            shared::capacity(),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        shared::answer()
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let trace = shared::read_trace(args)?;
        let kind = Kind::StreamPool { release_threshold_bytes: args.uint("release_threshold_mib") * MIB };
        Ok(shared::replayed(&trace, &kind, shared::capacity_bytes(args)))
    }
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::json;

    /// Brief 11, engine C, as measured on an H200.
    #[test]
    fn the_pool_grows_and_is_trimmed_by_chunks() {
        let reserved = |trace: &str, threshold: u64| {
            let given = json!({"trace": trace, "release_threshold_mib": threshold});
            let answer = eval("stream_pool", &question(&given)).unwrap();
            (answer["allocated_bytes"].as_u64().unwrap(), answer["reserved_bytes"].as_u64().unwrap())
        };
        assert_eq!(reserved("a:1", 0), (1, 33_554_432));
        assert_eq!(reserved("a:33554433", 0), (33_554_433, 67_108_864));
        assert_eq!(reserved("a:64M", 0), (67_108_864, 67_108_864));
        assert_eq!(reserved("a:100M", 0), (104_857_600, 134_217_728));
        assert_eq!(reserved("a:100M -a", 0), (0, 134_217_728));
        assert_eq!(reserved("a:100M -a sync", 0), (0, 0));
        assert_eq!(reserved("a:100M -a sync", 64), (0, 67_108_864));
        assert_eq!(reserved("a:32M -a b:32M@1", 0).1, 67_108_864);
        assert_eq!(reserved("a:32M -a 1<0 b:32M@1", 0).1, 33_554_432);
    }
}
