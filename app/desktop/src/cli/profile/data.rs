//! The report as JSON.

use super::figures::Reconciled;
use serde_json::{Value, json};
use std::path::Path;
use vramlab_profile::report::{Group, Peak, Traced};
use vramlab_profile::{Profile, Report};

pub const SCHEMA: u32 = 1;
const MOST_GROUPS: usize = 10;

pub fn json(profile: &Profile, report: &Report, reconciled: Option<&Reconciled>, path: Option<&Path>) -> Value {
    json!({
        "schema": SCHEMA,
        "file": path,
        "command": profile.command,
        "exit": { "code": profile.exit.code, "signal": profile.exit.signal },
        "wall_us": profile.wall_us,
        "device": profile.device,
        "samples": report.n_samples,
        "interval_us": profile.interval_us,
        "longest_gap_us": report.gap_us,
        "gpu_peak": report.tree.as_ref().map(|peak| peak_json(profile, peak)),
        "device_peak": report.device.as_ref().map(|peak| peak_json(profile, peak)),
        "host_peak": report.host.as_ref().map(|peak| peak_json(profile, peak)),
        "util_mean": report.util.map(|(mean, _)| mean),
        "power_most_mw": report.power_mw.map(|(_, most)| most),
        "throttle": report.throttle.iter().map(|(name, share)| json!({ "reason": name, "share": share })).collect::<Vec<_>>(),
        "cupti": report.traced.as_ref().map(traced_json),
        "sampler": {
            "cpu_share": report.sampler_share,
            "calibrated_ns": profile.sampler.calibrated_ns,
            "sample_ns": profile.sampler.sample_ns,
            "late": profile.sampler.n_late,
        },
        "compared": profile.compared,
        "reconciled": reconciled.map(|both| json!({
            "pid": both.pid,
            "nvml_process_bytes": both.figures.nvml_process,
            "context_bytes": both.figures.context,
            "libraries_bytes": both.figures.libraries,
            "reserved_bytes": both.figures.reserved,
            "allocated_bytes": both.figures.allocated,
            "requested_bytes": both.figures.requested,
            "owners_bytes": vramlab_model::reconcile::OWNERS.iter().zip(both.figures.owners).collect::<std::collections::BTreeMap<_, _>>(),
            "outside_bytes": both.parts.outside,
            "unknown_outside_bytes": both.parts.unknown_outside,
            "cached_bytes": both.parts.cached,
            "rounding_bytes": both.parts.rounding,
            "segments_matched": both.matched.map(|(n, _)| n),
            "segments": both.matched.map(|(_, all)| all),
        })),
        "notes": profile.notes,
    })
}

fn peak_json(profile: &Profile, peak: &Peak) -> Value {
    let by = peak.by.iter().map(|(idx, bytes)| {
        let process = &profile.processes[*idx];
        json!({ "pid": process.pid, "name": process.name, "bytes": bytes })
    });
    json!({ "bytes": peak.bytes, "t_us": peak.t_us, "by": by.collect::<Vec<_>>() })
}

fn traced_json(traced: &Traced) -> Value {
    let groups = |all: &[Group]| {
        let one = |group: &Group| json!({ "name": group.name, "n": group.n, "ns": group.ns, "bytes": group.bytes });
        all.iter().take(MOST_GROUPS).map(one).collect::<Vec<_>>()
    };
    json!({
        "processes": traced.n_processes,
        "kernels": traced.n_kernels,
        "busy_ns": traced.busy_ns,
        "top_kernels": groups(&traced.kernels),
        "copies": groups(&traced.copies),
        "live_peak_bytes": traced.live.peak_bytes,
        "live_peak_ns": traced.live.peak_ns,
        "live_end_bytes": traced.live.at_end(),
        "allocs": traced.live.n_allocs,
        "frees": traced.live.n_frees,
        "context_bytes": traced.context_bytes,
        "outside_bytes": traced.outside_bytes,
        "lost": traced.n_lost,
        "injected_ns": traced.own_ns,
        "cupti_overhead_ns": traced.overhead_ns,
        "is_cut": traced.is_cut,
    })
}
