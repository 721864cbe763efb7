//! NVML's figure of a process and the allocator's account of the same run, brought to one moment.

use std::collections::BTreeSet;
use vramlab_model::reconcile::Figures;
use vramlab_profile::Profile;
use vramlab_profile::live::{DEVICE, Live};
use vramlab_profile::record::{Memory, Process};
use vramlab_profile::report::context;
use vramlab_snapshot::roles::Role;
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

const ANOTHER: Text = Text::new(
    "CUPTI 没有看到这份快照里的任何一段：它不是这次运行的快照。",
    "CUPTI saw none of this snapshot's segments allocated: it is of another run.",
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
    let context = live.as_ref().and_then(|live| context(profile, process, live));
    let segments: BTreeSet<(u64, u64)> = map.segments.iter().map(|segment| (segment.address, segment.size)).collect();
    let seen = activity.filter(|_| live.is_some()).map(|activity| Seen::of(&activity.memory, &segments));
    if seen.is_some_and(|seen| seen.n == 0) && !segments.is_empty() {
        return Err(ANOTHER.into());
    }
    let metrics = &map.metrics;
    Ok(Both {
        figures: Figures {
            nvml_process: highest(process),
            reserved: metrics.reserved,
            allocated: metrics.allocated,
            requested: metrics.requested,
            context,
            // Only where every segment was recognised the rest is somebody else's.
            libraries: seen.filter(|seen| seen.n == segments.len()).map(|seen| seen.others),
            owners: owners(&analysis, at),
        },
        pid: process.pid,
        matched: seen.map(|seen| (seen.n, segments.len())),
    })
}

/// What CUPTI saw of the allocator's segments.
#[derive(Clone, Copy)]
struct Seen {
    n: usize,
    /// Bytes that are allocated in the end and are none of them.
    others: u64,
}

impl Seen {
    fn of(memory: &Memory, segments: &BTreeSet<(u64, u64)>) -> Self {
        let rows = (0..memory.t_ns.len()).filter(|row| !memory.is_free[*row]);
        let all: BTreeSet<(u64, u64)> = rows.map(|row| (memory.address[row], memory.bytes[row])).collect();
        let open = Live::of(memory, DEVICE, false).open;
        let others = open.iter().filter(|(address, bytes)| !segments.contains(&(**address, **bytes)));
        Self { n: segments.intersection(&all).count(), others: others.map(|(_, bytes)| bytes).sum() }
    }
}

/// Where most was reserved; among equal moments, where most was in use.
fn fullest(analysis: &Analysis) -> usize {
    let reserved = analysis.timeline.reserved.values();
    let allocated = analysis.timeline.allocated.values();
    let most = reserved.iter().copied().max().unwrap_or_default();
    let rows = reserved.iter().zip(allocated).enumerate().filter(|(_, (reserved, _))| **reserved == most);
    rows.max_by_key(|(_, (_, allocated))| **allocated).map_or(0, |(row, _)| row)
}

/// Bytes asked for at a moment by owner, as the roles of the snapshot guess them, in the model's order.
fn owners(analysis: &Analysis, at: usize) -> [Option<u64>; 5] {
    let mut out = [0_u64; 5];
    for (life, role) in analysis.lives.iter().zip(&analysis.roles).filter(|(life, _)| life.is_allocated(at)) {
        let owner = match role {
            Role::Parameter => 0,
            Role::Gradient => 1,
            Role::Optimizer => 2,
            Role::Activation => 3,
            Role::KvCache | Role::Workspace => 4,
            Role::Unknown => continue,
        };
        out[owner] = out[owner].saturating_add(life.requested);
    }
    out.map(|bytes| (bytes > 0).then_some(bytes))
}
