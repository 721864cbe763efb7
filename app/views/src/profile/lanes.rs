//! Lanes under the memory: how busy each pixel is with kernels and copies, where allocations fall, and the card's own
//! utilisation sensor.

use egui::Color32;
use vramlab_kit::{Role, Tokens};
use vramlab_profile::Profile;
use vramlab_profile::lanes::Spans;
use vramlab_units::Text;

/// What a lane shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Util,
    Kernels,
    /// With CUPTI's number of the kind of copy; 0: memset.
    Copies(u8),
    Allocations,
}

/// A lane that has something to show.
#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    pub kind: Kind,
    /// Sorted by start over all processes.
    start_ns: Vec<u64>,
    ns: Vec<u64>,
    longest: u64,
}

impl Lane {
    fn new(kind: Kind, mut spans: Vec<(u64, u64)>) -> Option<Self> {
        if spans.is_empty() {
            return None;
        }
        spans.sort_unstable();
        let (start_ns, ns): (Vec<u64>, Vec<u64>) = spans.into_iter().unzip();
        let longest = ns.iter().copied().max().unwrap_or_default();
        Some(Self { kind, start_ns, ns, longest })
    }

    pub fn spans(&self) -> Spans<'_> {
        Spans { start_ns: &self.start_ns, ns: &self.ns }
    }

    /// Share of each pixel of a window, microseconds, that is busy. Of allocations it is whether there is one.
    pub fn busy(&self, (from, until): (u64, u64), n: usize) -> Vec<f32> {
        let window = (from.saturating_mul(1000), until.saturating_mul(1000));
        match self.kind {
            Kind::Allocations => self.ticks(window, n),
            _ => self.spans().busy(window, n, self.longest),
        }
    }

    fn ticks(&self, (from, until): (u64, u64), n: usize) -> Vec<f32> {
        let mut out = vec![0.0; n];
        let first = self.start_ns.partition_point(|t| *t < from);
        let per = (until.saturating_sub(from)).max(1) as f64 / n.max(1) as f64;
        for t in self.start_ns[first..].iter().take_while(|t| **t < until) {
            let pixel = ((t - from) as f64 / per) as usize;
            if let Some(share) = out.get_mut(pixel) {
                *share = 1.0;
            }
        }
        out
    }

    pub fn name(&self) -> Text {
        match self.kind {
            Kind::Util => Text::new("GPU-Util", "GPU-Util"),
            Kind::Kernels => Text::new("内核", "kernels"),
            Kind::Copies(0) => Text::new("memset", "memset"),
            Kind::Copies(1) => Text::new("H→D", "H→D"),
            Kind::Copies(2) => Text::new("D→H", "D→H"),
            Kind::Copies(8) => Text::new("D→D", "D→D"),
            Kind::Copies(_) => Text::new("其他拷贝", "copies"),
            Kind::Allocations => Text::new("cudaMalloc", "cudaMalloc"),
        }
    }

    pub fn color(&self, tokens: &Tokens) -> Color32 {
        match self.kind {
            Kind::Util => tokens.muted,
            Kind::Kernels => tokens.accent,
            Kind::Copies(_) => tokens.role(Role::Workspace),
            Kind::Allocations => tokens.ink,
        }
    }
}

/// The lanes of a run, in the order in which they are drawn.
pub fn of(profile: &Profile) -> Vec<Lane> {
    let mut out = Vec::new();
    let samples = &profile.samples;
    if samples.util.iter().any(Option::is_some) {
        out.push(Lane { kind: Kind::Util, start_ns: Vec::new(), ns: Vec::new(), longest: 0 });
    }
    let pairs = |start: &[u64], ns: &[u64]| start.iter().copied().zip(ns.iter().copied()).collect::<Vec<_>>();
    let all = || profile.activities.iter();
    let kernels = all().flat_map(|activity| pairs(&activity.kernels.start_ns, &activity.kernels.ns)).collect();
    out.extend(Lane::new(Kind::Kernels, kernels));
    const KNOWN: [u8; 3] = [1, 2, 8];
    for kind in KNOWN.into_iter().chain([u8::MAX]) {
        let is_here = |of: u8| if kind == u8::MAX { !KNOWN.contains(&of) } else { of == kind };
        let copies = all().flat_map(|activity| {
            let rows = &activity.copies;
            let here = (0..rows.ns.len()).filter(|row| is_here(rows.kind[*row]));
            here.map(|row| (rows.start_ns[row], rows.ns[row])).collect::<Vec<_>>()
        });
        out.extend(Lane::new(Kind::Copies(kind), copies.collect()));
    }
    let sets = all().flat_map(|activity| pairs(&activity.sets.start_ns, &activity.sets.ns)).collect();
    out.extend(Lane::new(Kind::Copies(0), sets));
    let calls = all().flat_map(|activity| activity.memory.t_ns.iter().map(|t| (*t, 0)).collect::<Vec<_>>()).collect();
    out.extend(Lane::new(Kind::Allocations, calls));
    out
}
