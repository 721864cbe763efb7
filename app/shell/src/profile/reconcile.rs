//! NVML's figure of a process and the allocator's account of the same run, brought to one moment.

use vramlab_model::reconcile::Figures;
use vramlab_profile::Profile;
use vramlab_profile::live::{DEVICE, Live};
use vramlab_profile::record::Process;
use vramlab_snapshot::{Analysis, Options, Snapshot, segments};
use vramlab_units::{Localized, Text};

/// Figures of both sides.
pub struct Both {
    pub figures: Figures,
    pub pid: u32,
    /// Segments that CUPTI saw allocated with the same address and size, of all of them.
    pub matched: Option<(usize, usize)>,
}

const NO_PROCESS: Text = Text::new(
    "NVML 没有把显存记到这次运行的任何进程上，没有东西可对。",
    "NVML attributes no memory to any process of this run; there is nothing to reconcile.",
);

/// The process whose NVML figure is highest, at that height, beside the snapshot where most was reserved: segments are
/// seldom given back, so that both are the same stretch of time.
pub fn figures(profile: &Profile, snapshot: &Snapshot) -> Result<Both, Localized> {
    let highest = |process: &Process| process.gpu.iter().flatten().copied().max().unwrap_or_default();
    let process = profile.processes.iter().max_by_key(|process| highest(process));
    let process = process.filter(|process| highest(process) > 0).ok_or_else(|| Localized::from(NO_PROCESS))?;
    let analysis = Analysis::of(snapshot, 0, &Options::default());
    let at = fullest(&analysis);
    let map = segments::at(snapshot, &analysis, at);
    let activity = profile.activities.iter().find(|activity| activity.pid == process.pid);
    let live = activity.map(|activity| Live::of(&activity.memory, DEVICE, false)).filter(|live| !live.is_empty());
    let context = live.as_ref().and_then(|live| context_of(profile, process, live));
    let matched = activity.filter(|_| live.is_some()).map(|activity| {
        let memory = &activity.memory;
        let rows = (0..memory.t_ns.len()).filter(|row| !memory.is_free[*row]);
        let seen: std::collections::BTreeSet<(u64, u64)> =
            rows.map(|row| (memory.address[row], memory.bytes[row])).collect();
        let n = map.segments.iter().filter(|segment| seen.contains(&(segment.address, segment.size))).count();
        (n, map.segments.len())
    });
    let metrics = &map.metrics;
    Ok(Both {
        figures: Figures {
            nvml_process: highest(process),
            reserved: metrics.reserved,
            allocated: metrics.allocated,
            requested: metrics.requested,
            context,
            owners: [None; 5],
        },
        pid: process.pid,
        matched,
    })
}

/// Where most was reserved; among equal moments, where most was in use.
fn fullest(analysis: &Analysis) -> usize {
    let reserved = analysis.timeline.reserved.values();
    let allocated = analysis.timeline.allocated.values();
    let most = reserved.iter().copied().max().unwrap_or_default();
    let rows = reserved.iter().zip(allocated).enumerate().filter(|(_, (reserved, _))| **reserved == most);
    rows.max_by_key(|(_, (_, allocated))| **allocated).map_or(0, |(row, _)| row)
}

/// What NVML said of the process just before its first allocation.
fn context_of(profile: &Profile, process: &Process, live: &Live) -> Option<u64> {
    let first = *live.t_ns.first()?;
    let before = profile.samples.t_us.partition_point(|t| t.saturating_mul(1000) <= first);
    (process.first..before).rev().find_map(|row| process.gpu_at(row).filter(|bytes| *bytes > 0))
}
