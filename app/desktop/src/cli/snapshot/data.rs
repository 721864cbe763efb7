//! The answers as JSON, under PyTorch's own names where it has one.

use super::Answer;
use serde_json::{Map, Value, json};
use vramlab_snapshot::advice::first;
use vramlab_snapshot::growth::Verdict;
use vramlab_snapshot::peak::{By, Holder, holders};
use vramlab_snapshot::segments::{Kind, Metrics, SegmentAt};
use vramlab_snapshot::steps::How;

pub const SCHEMA: u32 = 1;

pub fn json(answer: &Answer, name: &str, top: usize) -> Value {
    let Answer { snapshot, analysis, .. } = answer;
    let n = analysis.timeline.n_events();
    let end = vramlab_snapshot::segments::at(snapshot, analysis, n);
    json!({
        "schema": SCHEMA,
        "file": name,
        "device": analysis.device,
        "events": n,
        "seconds": analysis.seconds(snapshot, n),
        "settings": snapshot.settings,
        "is_replay_exact": analysis.replay.is_exact(),
        "stats": stats(answer),
        "peak": peak(answer, top),
        "held": held(answer, top),
        "cache": cache(answer),
        "segments": {
            "metrics": metrics(&end.metrics),
            "list": end.segments.iter().map(|segment| segment_json(segment, answer)).collect::<Vec<_>>(),
        },
        "steps": steps(answer),
        "growth": growth(answer),
        "what_if": answer.what_if.iter().map(|(text, got)| json!({
            "settings": text,
            "peak_reserved_bytes": got.peak_reserved,
            "peak_allocated_bytes": got.peak_allocated,
            "num_alloc_retries": got.n_retries,
            "num_ooms": got.n_ooms,
            "capacity_bytes": got.room.map(|room| room.bytes),
            "is_capacity_guessed": got.room.map(|room| room.is_guess),
        })).collect::<Vec<_>>(),
        "findings": answer.findings.iter().map(|finding| json!({
            "kind": finding.kind.id(),
            "event": finding.at,
            "bytes": finding.bytes,
            "what": finding.what,
            "why": finding.why,
        })).collect::<Vec<_>>(),
        "ooms": analysis.ooms.iter().map(|oom| json!({
            "event": oom.event,
            "cause": oom.cause.id(),
            "request_bytes": oom.evidence.request,
            "device_free_bytes": oom.device_free,
            "limit_of_process": oom.is_capped,
            "left_bytes": oom.evidence.device_free,
            "other_cause": oom.otherwise.map(|other| json!({ "cause": other.cause.id(), "from_left_bytes": other.room })),
            "metrics": metrics(&oom.metrics),
        })).collect::<Vec<_>>(),
        "do_first": first(snapshot, analysis, &answer.what_if),
        "unknown_frees": analysis.n_unknown_frees,
        "unknown_fields": snapshot.unknown,
        "warnings": snapshot.warnings.iter().map(|text| text.get(vramlab_units::Lang::En)).collect::<Vec<_>>(),
    })
}

/// Counters of the window: current at its end, peak in it or before its first event, what was added and taken away in it.
fn stats(answer: &Answer) -> Value {
    let stats = &answer.analysis.replay.stats;
    let all = stats.named().into_iter().chain(stats.named_totals());
    let mut out: Map<String, Value> = all.map(|(name, value)| (name, value.into())).collect();
    out.insert("num_alloc_retries".to_owned(), stats.n_retries.into());
    out.insert("num_ooms".to_owned(), stats.n_ooms.into());
    Value::Object(out)
}

/// Who held the memory at the moment that the words are about.
fn held(answer: &Answer, top: usize) -> Value {
    let timeline = &answer.analysis.timeline;
    let list = |holders: &[Holder]| holders.iter().take(top).map(holder).collect::<Vec<_>>();
    json!({
        "moment": answer.moment.id(),
        "event": answer.at,
        "allocated_bytes": timeline.allocated.value(answer.at),
        "reserved_bytes": timeline.reserved.value(answer.at),
        "by_role": list(&answer.roles),
        "by_site": list(&answer.sites),
        "by_stack": list(&answer.stacks),
    })
}

fn peak(answer: &Answer, top: usize) -> Value {
    let Answer { snapshot, analysis, .. } = answer;
    let timeline = &analysis.timeline;
    let list =
        |by: By| -> Vec<Value> { holders(snapshot, analysis, answer.peak, by).iter().take(top).map(holder).collect() };
    json!({
        "event": answer.peak,
        "seconds": answer.analysis.seconds(&answer.snapshot, answer.peak),
        "allocated_bytes": timeline.allocated.value(answer.peak),
        "requested_bytes": timeline.requested.value(answer.peak),
        "reserved_bytes": timeline.reserved.value(answer.peak),
        "max_reserved_bytes": answer.reserved(),
        "by_role": list(By::Role),
        "by_site": list(By::Site),
        "by_stack": list(By::Stack),
    })
}

fn holder(holder: &Holder) -> Value {
    json!({
        "label": holder.label.en,
        "bytes": holder.bytes,
        "requested_bytes": holder.requested,
        "blocks": holder.n_blocks,
        "share": holder.share,
    })
}

fn cache(answer: &Answer) -> Value {
    let miss = answer.cache.miss.map(|miss| {
        json!({
            "event": miss.event,
            "request_bytes": miss.bytes,
            "too_small_bytes": miss.too_small,
            "largest_hole_bytes": miss.largest_hole,
        })
    });
    json!({ "event": answer.cache.at, "is_oom": answer.cache.is_oom, "metrics": metrics(&answer.cache.map.metrics), "last_miss": miss })
}

fn metrics(metrics: &Metrics) -> Value {
    json!({
        "reserved_bytes": metrics.reserved,
        "allocated_bytes": metrics.allocated,
        "requested_bytes": metrics.requested,
        "pending_bytes": metrics.pending,
        "rounding_bytes": metrics.rounding,
        "inactive_bytes": metrics.inactive,
        "largest_inactive_bytes": metrics.largest_hole,
        "inactive_blocks": metrics.n_holes,
        "releasable_bytes": metrics.releasable,
        "unreleasable_bytes": metrics.unreleasable(),
        "fragmentation": metrics.fragmentation,
    })
}

fn segment_json(segment: &SegmentAt, answer: &Answer) -> Value {
    let sum =
        |kind: Kind| -> u64 { segment.pieces.iter().filter(|piece| piece.kind == kind).map(|piece| piece.size).sum() };
    let holes = segment.pieces.iter().filter(|piece| piece.kind == Kind::Hole);
    json!({
        "address": segment.address,
        "total_size": segment.size,
        "stream": answer.snapshot.streams.get(segment.stream as usize),
        "segment_type": if segment.is_small { "small" } else { "large" },
        "segment_pool_id": [segment.pool.0, segment.pool.1],
        "is_expandable": segment.is_expandable,
        "allocated_size": sum(Kind::Allocated),
        "inactive_size": sum(Kind::Hole),
        "largest_inactive": holes.map(|hole| hole.size).max().unwrap_or(0),
        "blocks": segment.pieces.len(),
    })
}

fn steps(answer: &Answer) -> Value {
    let steps = &answer.analysis.steps;
    let (found_by, name) = match &steps.how {
        How::Annotation(name) => ("annotation", Value::from(name.as_str())),
        How::Period { n_requests } => ("period", Value::from(*n_requests)),
        How::NotFound => ("none", Value::Null),
    };
    json!({ "found": steps.ends.len(), "by": found_by, "of": name })
}

fn growth(answer: &Answer) -> Value {
    let growth = &answer.analysis.growth;
    let verdict = match growth.verdict {
        Verdict::TooFewSteps => "too_few_steps",
        Verdict::Steady => "steady",
        Verdict::Grows => "grows",
        Verdict::LeakSuspect => "grows_steadily",
    };
    let sites = growth.sites.iter().map(|site| {
        json!({
            "place": answer.analysis.sites.label(&answer.snapshot, site.site).en,
            "bytes_per_step": site.bytes_per_step,
            "blocks_per_step": site.blocks_per_step,
        })
    });
    json!({
        "verdict": verdict,
        "bytes_per_step": growth.bytes_per_step,
        "rises": growth.n_rises,
        "sites": sites.collect::<Vec<_>>(),
    })
}
