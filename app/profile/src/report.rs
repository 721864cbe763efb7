//! What a profile answers: the peak, when, by whom; what the card did meanwhile; and what the numbers do not cover.

use crate::lanes::Spans;
use crate::live::{DEVICE, Live};
use crate::name;
use crate::record::{Activity, Process, Profile};
use std::collections::BTreeMap;

/// The highest value of a sum over processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peak {
    pub bytes: u64,
    pub row: usize,
    pub t_us: u64,
    /// Index of the process and its bytes then, largest first.
    pub by: Vec<(usize, u64)>,
}

/// A group of activities.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    pub name: String,
    pub n: u64,
    pub ns: u64,
    pub bytes: u64,
}

/// What CUPTI adds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traced {
    pub n_processes: usize,
    pub n_kernels: u64,
    /// Time in which a kernel ran, overlaps counted once.
    pub busy_ns: u64,
    /// By name, most time first.
    pub kernels: Vec<Group>,
    /// By kind of copy, and memset.
    pub copies: Vec<Group>,
    /// Allocations on the device, of the process that held most.
    pub live: Live,
    pub live_pid: u32,
    /// Allocations from stream-ordered pools, of all processes.
    pub n_pool: u64,
    /// What NVML said of that process beyond its allocations when those began: context and first modules.
    pub context_bytes: Option<u64>,
    /// NVML's figure less what is allocated, at NVML's peak of that process.
    pub outside_bytes: Option<i64>,
    pub n_lost: u64,
    pub own_ns: u64,
    pub overhead_ns: u64,
    /// A process was killed or left without its handlers.
    pub is_cut: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    pub n_samples: usize,
    pub device: Option<Peak>,
    /// Sum over the program's processes, by NVML.
    pub tree: Option<Peak>,
    pub host: Option<Peak>,
    /// Mean and most, percent.
    pub util: Option<(f64, u32)>,
    pub power_mw: Option<(f64, u32)>,
    pub sm_mhz: Option<(u32, u32)>,
    /// NVML's reasons that were seen, with the share of samples, idle left out.
    pub throttle: Vec<(&'static str, f64)>,
    pub traced: Option<Traced>,
    /// Processor time of the sampler over the program's run.
    pub sampler_share: f64,
    /// The longest time between two samples, µs.
    pub gap_us: u64,
}

/// Bits of NVML's reasons for a clock below the highest, as `nvml.h` numbers them.
const REASONS: [(u64, &str); 8] = [
    (0x2, "applications_clocks_setting"),
    (0x4, "sw_power_cap"),
    (0x8, "hw_slowdown"),
    (0x10, "sync_boost"),
    (0x20, "sw_thermal_slowdown"),
    (0x40, "hw_thermal_slowdown"),
    (0x80, "hw_power_brake_slowdown"),
    (0x100, "display_clock_setting"),
];

/// CUPTI's kinds of copies that a reader knows by name.
pub fn copy_name(kind: u8) -> &'static str {
    match kind {
        1 => "H→D",
        2 => "D→H",
        8 => "D→D",
        9 => "H→H",
        10 => "peer",
        _ => "other",
    }
}

impl Report {
    pub fn of(profile: &Profile) -> Self {
        let samples = &profile.samples;
        let t = &samples.t_us;
        let device = most(samples.used.iter().copied()).map(|(row, bytes)| Peak {
            bytes,
            row,
            t_us: t[row],
            by: by_process(profile, row, Process::gpu_at),
        });
        Self {
            n_samples: t.len(),
            device,
            tree: peak_of(profile, Process::gpu_at),
            host: peak_of(profile, Process::rss_at),
            util: mean_and_most(&samples.util),
            power_mw: mean_and_most(&samples.power_mw),
            sm_mhz: least_and_most(&samples.sm_mhz),
            throttle: throttle(&samples.throttle),
            traced: profile.has_activity().then(|| traced(profile)),
            sampler_share: profile.sampler.cpu_us as f64 / profile.wall_us.max(1) as f64,
            gap_us: t.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or_default(),
        }
    }
}

fn most(values: impl Iterator<Item = Option<u64>>) -> Option<(usize, u64)> {
    // The first of equal ones: that is when it was reached.
    values.enumerate().filter_map(|(row, value)| Some((row, value?))).fold(None, |best, (row, value)| match best {
        Some((_, most)) if most >= value => best,
        _ => Some((row, value)),
    })
}

fn by_process(profile: &Profile, row: usize, of: impl Fn(&Process, usize) -> Option<u64>) -> Vec<(usize, u64)> {
    let mut by: Vec<(usize, u64)> =
        profile.processes.iter().enumerate().filter_map(|(idx, process)| Some((idx, of(process, row)?))).collect();
    by.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    by
}

fn peak_of(profile: &Profile, of: impl Fn(&Process, usize) -> Option<u64> + Copy) -> Option<Peak> {
    let n = profile.samples.t_us.len();
    let mut sums: Vec<Option<u64>> = vec![None; n];
    for process in &profile.processes {
        for (row, sum) in sums.iter_mut().enumerate().skip(process.first).take(process.gpu.len()) {
            if let Some(bytes) = of(process, row) {
                *sum = Some(sum.unwrap_or_default().saturating_add(bytes));
            }
        }
    }
    let (row, bytes) = most(sums.into_iter())?;
    Some(Peak { bytes, row, t_us: profile.samples.t_us[row], by: by_process(profile, row, of) })
}

fn mean_and_most(values: &[Option<u32>]) -> Option<(f64, u32)> {
    let known: Vec<u32> = values.iter().flatten().copied().collect();
    let most = known.iter().copied().max()?;
    Some((known.iter().map(|value| f64::from(*value)).sum::<f64>() / known.len() as f64, most))
}

fn least_and_most(values: &[Option<u32>]) -> Option<(u32, u32)> {
    let known = || values.iter().flatten().copied();
    Some((known().min()?, known().max()?))
}

fn throttle(values: &[Option<u64>]) -> Vec<(&'static str, f64)> {
    let n = values.iter().flatten().count().max(1) as f64;
    let share = |bit: u64| values.iter().flatten().filter(|value| **value & bit != 0).count() as f64 / n;
    REASONS.iter().map(|(bit, name)| (*name, share(*bit))).filter(|(_, share)| *share > 0.0).collect()
}

fn traced(profile: &Profile) -> Traced {
    let mut out = Traced { n_processes: profile.activities.len(), ..Traced::default() };
    let mut kernels: BTreeMap<String, Group> = BTreeMap::new();
    let mut copies: BTreeMap<(u8, &str), Group> = BTreeMap::new();
    for activity in &profile.activities {
        let rows = &activity.kernels;
        out.n_kernels += rows.ns.len() as u64;
        out.busy_ns += Spans { start_ns: &rows.start_ns, ns: &rows.ns }.union_ns();
        out.n_lost += activity.n_dropped + activity.n_over;
        out.own_ns += activity.own_ns;
        out.overhead_ns += activity.overhead.iter().map(|(_, ns)| ns).sum::<u64>();
        out.is_cut |= !activity.is_whole;
        let memory = &activity.memory;
        out.n_pool +=
            memory.is_pool.iter().zip(&memory.is_free).filter(|(is_pool, is_free)| **is_pool && !**is_free).count()
                as u64;
        add_kernels(activity, &mut kernels);
        let moved = &activity.copies;
        for row in 0..moved.ns.len() {
            let name = copy_name(moved.kind[row]);
            add(copies.entry((0, name)).or_default(), name, moved.ns[row], moved.bytes[row]);
        }
        for row in 0..activity.sets.ns.len() {
            add(copies.entry((1, "memset")).or_default(), "memset", activity.sets.ns[row], activity.sets.bytes[row]);
        }
        let live = Live::of(&activity.memory, DEVICE, false);
        if live.peak_bytes >= out.live.peak_bytes {
            (out.live, out.live_pid) = (live, activity.pid);
        }
    }
    out.kernels = by_time(kernels.into_values());
    out.copies = by_time(copies.into_values());
    outside(profile, &mut out);
    out
}

fn add(group: &mut Group, name: &str, ns: u64, bytes: u64) {
    if group.n == 0 {
        name.clone_into(&mut group.name);
    }
    group.n += 1;
    group.ns = group.ns.saturating_add(ns);
    group.bytes = group.bytes.saturating_add(bytes);
}

fn add_kernels(activity: &Activity, to: &mut BTreeMap<String, Group>) {
    let names: Vec<String> = activity.names.iter().map(|text| name::short(text, 120)).collect();
    for (number, ns) in activity.kernels.name.iter().zip(&activity.kernels.ns) {
        let text = &names[*number as usize];
        match to.get_mut(text) {
            Some(group) => add(group, text, *ns, 0),
            None => add(to.entry(text.clone()).or_default(), text, *ns, 0),
        }
    }
}

fn by_time(groups: impl Iterator<Item = Group>) -> Vec<Group> {
    let mut all: Vec<Group> = groups.collect();
    all.sort_by_key(|group| std::cmp::Reverse(group.ns));
    all
}

/// Samples after the first allocation among which the context is looked for: a look at the card takes a while, and what is
/// allocated meanwhile would count as context.
const N_CONTEXT: usize = 5;

/// What NVML says of a process beyond its own allocations when those begin: context and first modules. Without a sample
/// after them, what it said before.
pub fn context(profile: &Profile, process: &Process, live: &Live) -> Option<u64> {
    let first = *live.t_ns.first()?;
    let t = &profile.samples.t_us;
    let after = t.partition_point(|t| t.saturating_mul(1000) < first);
    let beyond = |row: usize| process.gpu_at(row)?.checked_sub(live.at(t[row].saturating_mul(1000)));
    let before = || (process.first..after).rev().find_map(|row| process.gpu_at(row).filter(|bytes| *bytes > 0));
    (after..t.len()).take(N_CONTEXT).filter_map(beyond).min().or_else(before)
}

/// What the process holds on the device beside its own allocations. A pool holds more than what is asked of it, so that
/// with pools nothing can be said.
fn outside(profile: &Profile, out: &mut Traced) {
    let Some(process) = profile.processes.iter().find(|process| process.pid == out.live_pid) else { return };
    let t = &profile.samples.t_us;
    out.context_bytes = context(profile, process, &out.live);
    let at = |row: usize| process.gpu_at(row).filter(|bytes| *bytes > 0);
    if let Some((row, bytes)) = most((0..t.len()).map(at)).filter(|_| out.n_pool == 0) {
        let live = out.live.at(t[row].saturating_mul(1000));
        out.outside_bytes = i64::try_from(i128::from(bytes) - i128::from(live)).ok();
    }
}
