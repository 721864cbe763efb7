//! Threads that each increment a counter of their own, at a given distance from the next one's. The reference is the
//! same with counters far apart. `team.rs` starts the threads together.

use super::bench::{self, Patience, Taken};
use super::team::{Team, enough_cores};
use super::{Input, Routine, Stage};
use crate::backend::PointCx;
use crate::error::RunError;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Instant;
use vramlab_units::Text;

pub const FALSE_SHARING: Routine = Routine {
    id: "false_sharing",
    about: Text::new(
        "每个线程给自己的计数器加一，计数器之间隔一定距离",
        "threads increment counters of their own, at a distance from each other",
    ),
    inputs: &[
        Input { name: "n_threads", min: 2, max: 64, about: "threads, each with a counter" },
        Input { name: "pitch_words", min: 1, max: FAR_WORDS as u64, about: "words from one counter to the next" },
        Input { name: "increments", min: 1, max: 1 << 30, about: "increments of each counter in one launch" },
    ],
    buffers: &["out"],
    readings: &["own_ns"],
    run,
};

/// Distance of the reference's counters: a page, which no prefetcher crosses.
const FAR_WORDS: usize = 1024;

/// Launches of one sample, of which the median counts: each is short, so that few are interrupted.
const LAUNCHES: usize = 5;

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let (n_threads, pitch, increments) = (stage.get("n_threads"), stage.get("pitch_words"), stage.get("increments"));
    let (n_samples, cx, processors) = (stage.n_samples, stage.cx, stage.processors);
    enough_cores(processors.len(), n_threads)?;
    let counters = Counters::new((n_threads - 1) * FAR_WORDS + 1);
    let work = |member: usize| counters.count(member, increments as u32);
    let samples = Team::with(n_threads, processors, &work, |team| {
        let samples = measure(team, &counters, n_samples, pitch, cx);
        // One last launch leaves exactly its own increments behind for the check.
        counters.clear();
        counters.launch(team, pitch);
        samples
    });
    let (samples_ns, reference_ns) = samples?;
    let out = stage.memory.output("out")?;
    for (place, counter) in out.iter_mut().zip(counters.words()) {
        *place = counter.load(Ordering::Relaxed);
    }
    let own_ns = reference_ns.into_iter().map(|ns| ns / increments as f64).collect();
    Ok(Taken { samples_ns, readings: BTreeMap::from([("own_ns".to_owned(), own_ns)]) })
}

/// Nanoseconds of a launch at `pitch` and of one far apart, a pair a sample.
fn measure(
    team: &Team<'_>,
    counters: &Counters,
    n_samples: usize,
    pitch: usize,
    cx: &PointCx,
) -> Result<(Vec<f64>, Vec<f64>), RunError> {
    let start = Instant::now();
    while start.elapsed() < bench::WARM {
        cx.check()?;
        counters.launch(team, FAR_WORDS);
    }
    let (mut subject, mut reference) = (Vec::new(), Vec::new());
    let mut patience = Patience::default();
    while subject.len() < n_samples && !bench::is_enough(start, subject.len()) {
        for (samples, pitch) in [(&mut reference, FAR_WORDS), (&mut subject, pitch)] {
            let launch = || patience.take(cx, || counters.launch(team, pitch));
            let launches = std::iter::repeat_with(launch).take(LAUNCHES).collect::<Result<Vec<f64>, _>>()?;
            samples.extend(vramlab_trace::run::median(&launches));
        }
    }
    Ok((subject, reference))
}

/// Counters on a page bound.
struct Counters {
    raw: Vec<AtomicU32>,
    start: usize,
    /// Words from one counter to the next in the launch at hand; lies apart from the counters.
    pitch: AtomicUsize,
}

impl Counters {
    fn new(len: usize) -> Self {
        let raw: Vec<AtomicU32> = (0..len + FAR_WORDS).map(|_| AtomicU32::new(0)).collect();
        let start = raw.as_ptr().align_offset(4 * FAR_WORDS).min(FAR_WORDS);
        Self { raw, start, pitch: AtomicUsize::new(FAR_WORDS) }
    }

    fn words(&self) -> &[AtomicU32] {
        &self.raw[self.start..]
    }

    fn clear(&self) {
        self.raw.iter().for_each(|word| word.store(0, Ordering::Relaxed));
    }

    /// What a member does in a launch.
    fn count(&self, member: usize, increments: u32) {
        let counter = &self.words()[member * self.pitch.load(Ordering::Relaxed)];
        for _ in 0..increments {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn launch(&self, team: &Team<'_>, pitch: usize) -> (f64, bool) {
        self.pitch.store(pitch, Ordering::Relaxed);
        team.launch(|| {})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_leaves_every_increment_in_its_own_counter() {
        let counters = Counters::new(3 * FAR_WORDS + 1);
        let work = |member: usize| counters.count(member, 1000);
        Team::with(4, &[], &work, |team| {
            assert!(counters.launch(team, 2).0 > 0.0);
            counters.launch(team, 2);
        });
        let words: Vec<u32> = counters.words()[..8].iter().map(|word| word.load(Ordering::Relaxed)).collect();
        assert_eq!(words, [2000, 0, 2000, 0, 2000, 0, 2000, 0]);
    }
}
