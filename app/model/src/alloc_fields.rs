//! Fields that the models of allocators share: the trace, the card, and what a replay leaves behind.

use crate::fields;
use vramlab_alloc::MIB;
use vramlab_alloc::replay::{self, Kind, Step};
use vramlab_alloc::trace::{MOST_BYTES, Trace};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

/// Sizes and sums of bytes stay below.
const MOST: i64 = MOST_BYTES as i64;
const MOST_TEXT: usize = 65_536;
const MOST_MIB: i64 = 1 << 24;
const MOST_EVENTS: i64 = 65_536;

pub(crate) fn trace() -> FieldSpec {
    let doc = Text::new(
        "轨迹，一个词一个事件：a:9M 申请（K、M、G 按 1024 进），@1 指定流，-a 释放，a>1 流 1 也在用，1<0 流 1 等流 0，sync，empty",
        "The trace, one event a word: a:9M asks (K, M, G by 1024), @1 names a stream, -a frees, a>1: stream 1 uses it too, \
         1<0: stream 1 waits for stream 0, sync, empty",
    );
    FieldSpec::new("trace", "", FieldKind::Text { max_len: MOST_TEXT }, doc)
}

pub(crate) fn capacity() -> FieldSpec {
    let doc = Text::new("整张卡的显存", "All memory of the card");
    FieldSpec::int("capacity_mib", "MiB", 1, MOST_MIB, doc).default_value(81_920)
}

pub(crate) fn capacity_bytes(args: &Args) -> u64 {
    args.uint("capacity_mib") * MIB
}

pub(crate) fn read_trace(args: &Args) -> Result<Trace, FieldError> {
    Trace::parse(args.text("trace")).map_err(|error| FieldError::conflict("trace", error.to_string()))
}

pub(crate) fn bytes(key: &'static str, zh: &'static str, en: &'static str) -> FieldSpec {
    FieldSpec::int(key, "B", 0, MOST, Text::new(zh, en))
}

/// The fields of [`replayed`], in its order.
pub(crate) fn answer() -> Vec<FieldSpec> {
    let count = |key, zh, en| FieldSpec::int(key, "1", 0, MOST_EVENTS, Text::new(zh, en));
    let share = |key, zh, en| FieldSpec::num(key, "%", 0.0, 1.0, Text::new(zh, en));
    vec![
        bytes("allocated_bytes", "在用的块，含取整", "Blocks in use, rounding included"),
        bytes("active_bytes", "同上，加上别的流可能还在用的块", "Those, and blocks that another stream may still use"),
        bytes("requested_bytes", "其中程序真正要的", "What the program asked for in them"),
        bytes("reserved_bytes", "从卡上拿走的", "Taken from the card"),
        bytes("cached_bytes", "拿走了却没在用：reserved − allocated", "Taken and not in use: reserved − allocated"),
        bytes("inactive_split_bytes", "同段里还有块在用的空闲部分", "Free parts of segments that are also in use"),
        bytes("largest_free_bytes", "最大的空洞", "The largest hole"),
        bytes("total_free_bytes", "全部空洞", "All holes"),
        share("fragmentation", "碎片率：1 − 最大空洞 ÷ 全部空洞", "Fragmentation: 1 − largest hole ÷ all holes"),
        share("utilisation", "allocated ÷ reserved", "allocated ÷ reserved").optional(),
        count("n_segments", "段（区域）数", "Segments or regions"),
        count("n_retries", "显存不足而清空缓存的次数", "Flushes of the cache for lack of memory"),
        count("n_ooms", "显存不足而失败的申请", "Requests that failed for lack of memory"),
        bytes("peak_allocated_bytes", "allocated 的峰值", "Peak of allocated"),
        bytes("peak_reserved_bytes", "reserved 的峰值", "Peak of reserved"),
        bytes("last_block_bytes", "最后一次成功的申请拿到的块", "The block of the last request that was served")
            .optional(),
        bytes("last_block_offset", "它离轨迹里最低的块多远", "Its distance from the lowest block of the trace")
            .optional(),
        FieldSpec::int(
            "refused_event",
            "1",
            0,
            MOST_EVENTS,
            Text::new("第一个失败的事件，从 0 数", "The first event that failed, counted from 0"),
        )
        .optional(),
        FieldSpec::new(
            "refusal",
            "",
            FieldKind::Text { max_len: 400 },
            Text::new("它的报错原文", "Its message, in the allocator's words"),
        )
        .optional(),
    ]
}

/// What a trace leaves behind.
pub(crate) fn replayed(trace: &Trace, kind: &Kind, capacity_bytes: u64) -> Map {
    let steps = replay::run(trace, kind, capacity_bytes);
    let last = steps.last().map(|step| step.after).unwrap_or_default();
    let peak = |of: fn(&Step) -> u64| Value::from(steps.iter().map(of).max().unwrap_or(0));
    let refused = steps.iter().find(|step| step.refusal.is_some());
    let lowest = steps.iter().filter_map(|step| step.block).map(|block| block.address).min();
    let block = steps.iter().rev().find_map(|step| step.block);
    let or_null = |value: Option<Value>| value.unwrap_or(Value::Null);
    fields::answer([
        ("allocated_bytes", last.allocated_bytes.into()),
        ("active_bytes", last.active_bytes.into()),
        ("requested_bytes", last.requested_bytes.into()),
        ("reserved_bytes", last.reserved_bytes.into()),
        ("cached_bytes", last.cached_bytes().into()),
        ("inactive_split_bytes", last.inactive_split_bytes.into()),
        ("largest_free_bytes", last.largest_free_bytes.into()),
        ("total_free_bytes", last.total_free_bytes.into()),
        ("fragmentation", fields::number(last.fragmentation())),
        ("utilisation", or_null(last.utilisation().map(fields::number))),
        ("n_segments", last.n_segments.into()),
        ("n_retries", last.n_retries.into()),
        ("n_ooms", last.n_ooms.into()),
        ("peak_allocated_bytes", peak(|step| step.after.allocated_bytes)),
        ("peak_reserved_bytes", peak(|step| step.after.reserved_bytes)),
        ("last_block_bytes", or_null(block.map(|block| block.size.into()))),
        ("last_block_offset", or_null(block.zip(lowest).map(|(block, lowest)| (block.address - lowest).into()))),
        ("refused_event", or_null(refused.map(|step| step.event_idx.into()))),
        ("refusal", or_null(refused.and_then(|step| step.refusal.as_ref()).map(|it| it.message.clone().into()))),
    ])
}
