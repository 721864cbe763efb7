//! Threads that each increment a counter of their own, at a given distance from the next one's. The reference is the
//! same with counters far apart. The measuring thread is one of them; the others wait in a spin between launches. Before
//! each launch all of them answer a call, so that it starts with every thread on its core.

use super::bench::{self, Patience, Taken};
use super::{Input, Routine, Stage};
use crate::backend::PointCx;
use crate::error::RunError;
use crate::sys;
use std::collections::BTreeMap;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::thread;
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
    let team = Team::new(&counters, n_threads, increments as u32);
    let samples = thread::scope(|scope| {
        for member in 1..n_threads {
            let (team, processor) = (&team, processors.get(member).copied());
            scope.spawn(move || {
                processor.map(sys::pin);
                team.serve(member);
            });
        }
        let _ending = Ending(&team);
        let samples = measure(&team, n_samples, pitch, cx);
        // One last launch leaves exactly its own increments behind for the check.
        counters.clear();
        team.launch(pitch);
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
fn measure(team: &Team<'_>, n_samples: usize, pitch: usize, cx: &PointCx) -> Result<(Vec<f64>, Vec<f64>), RunError> {
    let start = Instant::now();
    while start.elapsed() < bench::WARM {
        cx.check()?;
        team.launch(FAR_WORDS);
    }
    let (mut subject, mut reference) = (Vec::new(), Vec::new());
    let mut patience = Patience::default();
    while subject.len() < n_samples && !bench::is_enough(start, subject.len()) {
        for (samples, pitch) in [(&mut reference, FAR_WORDS), (&mut subject, pitch)] {
            let launch = || patience.take(cx, || team.launch(pitch));
            let launches = std::iter::repeat_with(launch).take(LAUNCHES).collect::<Result<Vec<f64>, _>>()?;
            samples.extend(vramlab_trace::run::median(&launches));
        }
    }
    Ok((subject, reference))
}

/// Threads that share a core share its first cache, and threads that take turns never meet: neither shows the effect.
fn enough_cores(n_cores: usize, n_threads: usize) -> Result<(), RunError> {
    let known = if n_cores == 0 { thread::available_parallelism().map_or(1, usize::from) } else { n_cores };
    if known >= n_threads {
        return Ok(());
    }
    Err(RunError::unavailable(
        (
            format!("{n_threads} 个线程要同时占 {n_threads} 个核，这个程序只能用 {known} 个"),
            format!("{n_threads} threads need {n_threads} cores at the same time, and this program may use {known}"),
        ),
        ("给程序更多的核，或重放录制", "give the program more cores, or replay a recorded trace"),
    ))
}

/// Counters on a page bound.
struct Counters {
    raw: Vec<AtomicU32>,
    start: usize,
}

impl Counters {
    fn new(len: usize) -> Self {
        let raw: Vec<AtomicU32> = (0..len + FAR_WORDS).map(|_| AtomicU32::new(0)).collect();
        let start = raw.as_ptr().align_offset(4 * FAR_WORDS).min(FAR_WORDS);
        Self { raw, start }
    }

    fn words(&self) -> &[AtomicU32] {
        &self.raw[self.start..]
    }

    fn clear(&self) {
        self.raw.iter().for_each(|word| word.store(0, Ordering::Relaxed));
    }
}

/// What the threads share to start together. The fields that change lie apart from the counters.
struct Team<'a> {
    counters: &'a Counters,
    n_threads: usize,
    increments: u32,
    pitch: AtomicUsize,
    /// Grows by one to ask whether every member is on its core, and by one to start a launch.
    call: AtomicUsize,
    n_answers: AtomicUsize,
    n_disturbed: AtomicUsize,
    is_over: AtomicBool,
}

/// Lets the members go, whatever happens to the measuring thread.
struct Ending<'a>(&'a Team<'a>);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Release);
    }
}

impl<'a> Team<'a> {
    fn new(counters: &'a Counters, n_threads: usize, increments: u32) -> Self {
        let zero = || AtomicUsize::new(0);
        let is_over = AtomicBool::new(false);
        let (pitch, call, n_answers, n_disturbed) = (zero(), zero(), zero(), zero());
        Self { counters, n_threads, increments, pitch, call, n_answers, n_disturbed, is_over }
    }

    fn count(&self, member: usize, pitch: usize) {
        let counter = &self.counters.words()[member * pitch];
        let before = sys::preemptions();
        for _ in 0..self.increments {
            counter.fetch_add(1, Ordering::Relaxed);
        }
        if sys::preemptions() != before {
            self.n_disturbed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A member's life: answer the question, count at the start, answer again.
    fn serve(&self, member: usize) {
        for call in 1.. {
            while self.call.load(Ordering::Acquire) < call {
                if self.is_over.load(Ordering::Acquire) {
                    return;
                }
                spin_loop();
            }
            if call % 2 == 0 {
                self.count(member, self.pitch.load(Ordering::Relaxed));
            }
            self.n_answers.fetch_add(1, Ordering::Release);
        }
    }

    /// Calls, and waits until every other member has answered.
    fn call(&self, meanwhile: impl FnOnce()) {
        self.n_answers.store(0, Ordering::Relaxed);
        self.call.fetch_add(1, Ordering::Release);
        meanwhile();
        while self.n_answers.load(Ordering::Acquire) < self.n_threads - 1 {
            spin_loop();
        }
    }

    /// One launch, from the common start to the last one's end, in nanoseconds, and whether every thread kept its core
    /// throughout. The calling thread is member 0.
    fn launch(&self, pitch: usize) -> (f64, bool) {
        self.pitch.store(pitch, Ordering::Relaxed);
        self.n_disturbed.store(0, Ordering::Relaxed);
        self.call(|| {});
        let start = Instant::now();
        self.call(|| self.count(0, pitch));
        (start.elapsed().as_nanos() as f64, self.n_disturbed.load(Ordering::Relaxed) == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_core_is_an_honest_reason() {
        let error = enough_cores(1, 2).unwrap_err().to_string();
        assert!(error.contains("2 threads need 2 cores") && error.contains("may use 1"), "{error}");
        assert!(enough_cores(2, 2).is_ok());
    }

    #[test]
    fn a_launch_leaves_every_increment_in_its_own_counter() {
        let counters = Counters::new(3 * FAR_WORDS + 1);
        let team = Team::new(&counters, 4, 1000);
        thread::scope(|scope| {
            for member in 1..4 {
                let team = &team;
                scope.spawn(move || team.serve(member));
            }
            let _ending = Ending(&team);
            assert!(team.launch(2).0 > 0.0);
            team.launch(2);
        });
        let words: Vec<u32> = counters.words()[..8].iter().map(|word| word.load(Ordering::Relaxed)).collect();
        assert_eq!(words, [2000, 0, 2000, 0, 2000, 0, 2000, 0]);
    }
}
