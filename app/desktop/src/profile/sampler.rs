//! The sampling thread: at every interval one row, with its own cost kept beside it.

use super::card::{Card, Slow};
use super::sys;
use super::tree::Tree;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;
use vramlab_profile::record::{Process, Sampler, Samples};

/// Sensors that change slowly are read at most this often, and the tree of processes is walked as often.
const SLOW_EVERY_NS: u64 = 100_000_000;
/// New processes are looked for at every sample in the first moments.
const YOUNG_NS: u64 = 500_000_000;
/// Samples of the calibration.
const N_CALIBRATION: usize = 15;

/// More samples than this are not kept: then every second one goes, and samples come half as often.
const MOST_SAMPLES: usize = 300_000;

/// What the thread hands back.
pub struct Taken {
    pub samples: Samples,
    pub processes: Vec<Process>,
    pub sampler: Sampler,
    pub n_untracked: u64,
    pub has_foreign: bool,
}

pub struct Recorder {
    card: Option<Card>,
    tree: Tree,
    samples: Samples,
    costs: Vec<u64>,
    slow_at: Option<u64>,
}

impl Recorder {
    pub fn new(card: Option<Card>) -> Self {
        Self { card, tree: Tree::new(), samples: Samples::default(), costs: Vec::new(), slow_at: None }
    }

    /// Costs of samples before the program begins, ns: median and most. Nothing of them is kept.
    pub fn calibrate(&mut self) -> (u64, u64) {
        self.tree.follow_self();
        // The first ones warm what NVML keeps.
        (0..3).for_each(|_| self.row(0));
        self.costs.clear();
        (0..N_CALIBRATION).for_each(|_| self.row(0));
        let (median, most) = (median(&self.costs), self.costs.iter().copied().max().unwrap_or_default());
        *self = Self::new(self.card.take());
        (median, most)
    }

    /// Samples until told to stop. `zero_ns`: the monotonic clock when the program began.
    pub fn record(mut self, zero_ns: u64, interval: Duration, stop: &Receiver<()>, before: (u64, u64)) -> Taken {
        let cpu_before = sys::thread_cpu_ns();
        let mut every = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX).max(1);
        let (mut next, mut n_late) = (zero_ns, 0);
        loop {
            if self.samples.t_us.len() >= MOST_SAMPLES {
                thin(&mut self.samples, &mut self.tree.processes);
                every = every.saturating_mul(2);
            }
            let now = sys::monotonic_ns();
            if now > next.saturating_add(every / 2) {
                n_late += 1;
            }
            self.row(now.saturating_sub(zero_ns));
            // A sample that was missed is not made up for.
            next = (next + every).max(sys::monotonic_ns().saturating_sub(every / 2));
            let wait = Duration::from_nanos(next.saturating_sub(sys::monotonic_ns()));
            if !matches!(stop.recv_timeout(wait), Err(RecvTimeoutError::Timeout)) {
                break;
            }
        }
        let sampler = Sampler {
            cpu_us: sys::thread_cpu_ns().saturating_sub(cpu_before) / 1000,
            calibrated_ns: before.0,
            calibrated_most_ns: before.1,
            sample_ns: median(&self.costs),
            n_late,
        };
        let (n_untracked, has_foreign) = (self.tree.n_untracked, self.tree.has_foreign());
        let mut processes = self.tree.processes;
        processes.iter_mut().for_each(trim);
        Taken { samples: self.samples, processes, sampler, n_untracked, has_foreign }
    }

    fn row(&mut self, since_ns: u64) {
        let began = sys::monotonic_ns();
        let row = self.samples.t_us.len();
        let is_slow = self.slow_at.is_none_or(|at| since_ns.saturating_sub(at) >= SLOW_EVERY_NS);
        if is_slow || since_ns < YOUNG_NS {
            self.tree.scan(row);
        }
        let look = self.card.as_ref().map(Card::look);
        let slow = match &self.card {
            Some(card) if is_slow => card.slow(),
            _ => Slow::default(),
        };
        if is_slow {
            self.slow_at = Some(since_ns);
        }
        let none = BTreeMap::new();
        self.tree.sample(row, look.as_ref().map_or(&none, |look| &look.by_process));
        let samples = &mut self.samples;
        samples.t_us.push(since_ns / 1000);
        samples.used.push(look.and_then(|look| look.used));
        samples.util.push(slow.util);
        samples.sm_mhz.push(slow.sm_mhz);
        samples.mem_mhz.push(slow.mem_mhz);
        samples.power_mw.push(slow.power_mw);
        samples.throttle.push(slow.throttle);
        self.costs.push(sys::monotonic_ns().saturating_sub(began));
    }
}

/// Keeps of each pair of samples the one with more memory on the card, or else on the host: no peak is lost.
fn thin(samples: &mut Samples, processes: &mut [Process]) {
    let host = |row: usize| processes.iter().filter_map(|process| process.rss_at(row)).sum::<u64>();
    let weight = |row: usize| (samples.used[row], host(row));
    let n = samples.t_us.len();
    let keep: Vec<usize> =
        (0..n).step_by(2).map(|row| if row + 1 < n && weight(row + 1) > weight(row) { row + 1 } else { row }).collect();
    for process in processes.iter_mut() {
        let rows = process.first..process.first + process.gpu.len();
        let first = keep.partition_point(|row| *row < rows.start);
        let kept: Vec<usize> = keep.iter().copied().filter(|row| rows.contains(row)).collect();
        process.gpu = kept.iter().map(|row| process.gpu[row - rows.start]).collect();
        process.rss = kept.iter().map(|row| process.rss[row - rows.start]).collect();
        process.first = first;
    }
    // The slow sensors are not in every row: a value of the row that goes is handed to the one that stays.
    let slim = |values: &mut Vec<Option<u32>>| {
        *values = keep.iter().map(|row| values[*row].or_else(|| *values.get(row ^ 1)?)).collect();
    };
    samples.t_us = keep.iter().map(|row| samples.t_us[*row]).collect();
    samples.used = keep.iter().map(|row| samples.used[*row]).collect();
    samples.throttle =
        keep.iter().map(|row| samples.throttle[*row].or_else(|| *samples.throttle.get(row ^ 1)?)).collect();
    [&mut samples.util, &mut samples.sm_mhz, &mut samples.mem_mhz, &mut samples.power_mw].into_iter().for_each(slim);
}

/// Ends a process's columns at its last sign of life.
fn trim(process: &mut Process) {
    let last = (0..process.gpu.len()).rev().find(|row| process.gpu[*row].is_some() || process.rss[*row].is_some());
    let n = last.map_or(0, |row| row + 1);
    process.gpu.truncate(n);
    process.rss.truncate(n);
}

fn median(values: &[u64]) -> u64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the pairs (0, 1), (2, 3), (4) the fuller one stays; a process keeps its own rows at their new places.
    #[test]
    fn thinning_keeps_the_peak_and_every_process_in_its_place() {
        let mut samples = Samples {
            t_us: vec![0, 10, 20, 30, 40],
            used: vec![Some(1), Some(9), Some(7), Some(2), Some(3)],
            util: vec![Some(0), Some(1), Some(2), Some(3), Some(4)],
            sm_mhz: vec![None; 5],
            mem_mhz: vec![None; 5],
            power_mw: vec![None; 5],
            throttle: vec![None; 5],
        };
        let process = |first, gpu: &[u64]| Process {
            first,
            gpu: gpu.iter().map(|bytes| Some(*bytes)).collect(),
            rss: vec![None; gpu.len()],
            ..Process::default()
        };
        let mut processes = [process(0, &[1, 9]), process(2, &[7, 2, 3]), process(3, &[5])];
        thin(&mut samples, &mut processes);
        assert_eq!((samples.t_us, samples.used), (vec![10, 20, 40], vec![Some(9), Some(7), Some(3)]));
        assert_eq!(samples.util, [Some(1), Some(2), Some(4)]);
        assert_eq!((processes[0].first, processes[0].gpu.as_slice()), (0, [Some(9)].as_slice()));
        assert_eq!((processes[1].first, processes[1].gpu.as_slice()), (1, [Some(7), Some(3)].as_slice()));
        assert!(processes[2].gpu.is_empty() && processes[2].first <= 3);
    }
}
