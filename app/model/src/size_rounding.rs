//! What one request occupies under each allocator, starting from an empty one.
//!
//! Question: a size, PyTorch's rounding divisions. Answer: PyTorch's block and the segment behind it, BFC's chunk and bin,
//! what the driver and the stream-ordered pool take from the card.
//! Source: pytorch/pytorch, `c10/cuda/CUDACachingAllocator.cpp`; openxla/xla, `bfc_allocator.h`; driver and pool as
//! measured on an H200.
//! Errors: none beyond the ranges.

use crate::alloc_fields as shared;
use crate::fields;
use crate::registry::Model;
use vramlab_alloc::caching::Config;
use vramlab_alloc::replay::{Kind, Player};
use vramlab_alloc::trace::{Builder, MOST_BYTES};
use vramlab_alloc::{bfc, plain, stream_pool};
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text};

pub struct SizeRounding;

impl Model for SizeRounding {
    const ID: &'static str = "size_rounding";
    const TITLE: Text = Text::new("申请一块，占多少", "What one request occupies");
    const ASSUMES: Text = Text::new(
        "分配器是空的，卡上放得下。驱动和内存池的粒度在 H200 上测得。",
        "The allocator is empty and the card has room. Granularity of driver and pool as measured on an H200.",
    );
    const SOURCE: &'static str =
        "pytorch/pytorch, c10/cuda/CUDACachingAllocator.cpp; openxla/xla, xla/tsl/framework/bfc_allocator.h";
    const EXAMPLE: &'static str = r#"{"bytes": 11534337}"#;

    fn question() -> Vec<FieldSpec> {
        let divisions =
            Text::new("roundup_power2_divisions；0 表示不用", "roundup_power2_divisions; 0 switches it off");
        let size = Text::new("申请的字节数", "Bytes that are asked for");
        vec![
            FieldSpec::int("bytes", "B", 0, MOST_BYTES as i64 / 4, size),
            fields::choice("divisions", "1", &["0", "1", "2", "4", "8", "16", "32", "64"], divisions)
                .default_value("0"),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let pool = Text::new("PyTorch 用哪个池", "Which pool of PyTorch's serves it");
        let bin = Text::new("这个大小的块在 BFC 的几号箱，0–20", "BFC's bin for chunks of this size, 0 to 20");
        vec![
            shared::bytes("rounded_bytes", "PyTorch 取整后", "As PyTorch rounds it"),
            shared::bytes(
                "block_bytes",
                "PyTorch 的块：取整后，加上太小不切的余量",
                "PyTorch's block: that, and a rest too small to split off",
            ),
            fields::choice("pool", "", &["small", "large"], pool),
            shared::bytes("segment_bytes", "PyTorch 为它向驱动要的段", "The segment that PyTorch asks the driver for"),
            shared::bytes("bfc_bytes", "BFC 取整后（256 的倍数）", "As BFC rounds it, to multiples of 256"),
            FieldSpec::int("bfc_bin", "1", 0, i64::from(bfc::N_BINS) - 1, bin),
            shared::bytes("driver_bytes", "直接 cudaMalloc，卡上少掉的", "What leaves the card under cudaMalloc alone"),
            shared::bytes(
                "pool_bytes",
                "cudaMallocAsync 的空池长多少",
                "What an empty pool of cudaMallocAsync grows by",
            ),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let bytes = args.uint("bytes");
        let settings = format!("roundup_power2_divisions:{}", args.text("divisions"));
        let config = Config::parse(&settings).map_err(|error| FieldError::conflict("divisions", error.to_string()))?;
        if bytes == 0 {
            return Ok(nothing());
        }
        let rounded = config.round(bytes);
        let segment = config.segment_bytes(rounded);
        Ok(fields::answer([
            ("rounded_bytes", rounded.into()),
            ("block_bytes", block_bytes(bytes, &config).into()),
            ("pool", if rounded <= vramlab_alloc::MIB { "small" } else { "large" }.into()),
            ("segment_bytes", segment.into()),
            ("bfc_bytes", bfc::round(bytes).into()),
            ("bfc_bin", bfc::bin_of(bytes).into()),
            ("driver_bytes", plain::driver_bytes(bytes).into()),
            ("pool_bytes", stream_pool::growth_bytes(bytes).into()),
        ]))
    }
}

/// Zero bytes: PyTorch and the driver give a null pointer, BFC refuses.
fn nothing() -> Map {
    let mut out: Map = SizeRounding::answer().iter().map(|spec| (spec.key.to_string(), 0.into())).collect();
    out.insert("pool".to_owned(), "small".into());
    out
}

/// The block of a first request, from the allocator itself.
fn block_bytes(bytes: u64, config: &Config) -> u64 {
    let mut builder = Builder::default();
    if builder.malloc("a", bytes.into(), 0).is_err() {
        return 0;
    }
    let trace = builder.finish();
    let step = Player::new(&trace, &Kind::Caching(config.clone()), MOST_BYTES).step();
    step.and_then(|step| step.block).map_or(0, |block| block.size)
}

#[cfg(test)]
mod tests {
    use crate::fields::testing::question;
    use crate::registry::eval;
    use serde_json::{Value, json};

    #[track_caller]
    fn check(given: &Value, key: &str, expected: &Value) {
        assert_eq!(&eval("size_rounding", &question(given)).unwrap()[key], expected, "{key} of {given}");
    }

    /// Brief 11, vectors 1, 2, 3, 8 and 11, and the driver's measured pattern; brief 24, bins.
    #[test]
    fn one_request_under_each_allocator() {
        for (bytes, block, segment) in [
            (1_u64, 512_u64, 2_097_152_u64),
            (513, 1_024, 2_097_152),
            (1_048_576, 1_048_576, 2_097_152),
            (1_048_577, 1_049_088, 20_971_520),
            (10_485_248, 10_485_248, 20_971_520),
            (10_485_760, 10_485_760, 10_485_760),
            (11_534_337, 12_582_912, 12_582_912),
        ] {
            check(&json!({"bytes": bytes}), "block_bytes", &json!(block));
            check(&json!({"bytes": bytes}), "segment_bytes", &json!(segment));
        }
        for (bytes, rounded) in [(1_200, 1_536), (2_049, 2_560), (9_000, 10_240), (3_145_729, 3_670_016)] {
            check(&json!({"bytes": bytes, "divisions": 4}), "rounded_bytes", &json!(rounded));
        }
        check(&json!({"bytes": 9_000}), "rounded_bytes", &json!(9_216));
        for (bytes, driver) in [(1, 2_097_152), (1_048_577, 2_097_152), (2_097_153, 4_194_304)] {
            check(&json!({"bytes": bytes}), "driver_bytes", &json!(driver));
        }
        for (bytes, bin) in
            [(0, 0), (256, 0), (511, 0), (512, 1), (1_048_576, 12), (268_435_456, 20), (1_073_741_824, 20)]
        {
            check(&json!({"bytes": bytes}), "bfc_bin", &json!(bin));
        }
        check(&json!({"bytes": 104_857_600}), "pool_bytes", &json!(134_217_728));
    }
}
