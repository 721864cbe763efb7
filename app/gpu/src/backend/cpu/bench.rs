//! How a routine measures: warm by time, samples of at least a millisecond, the subject and its reference in turn. A
//! sample during which the system gave the processor to someone else is taken again, within bounds.

use crate::backend::PointCx;
use crate::error::RunError;
use crate::sys;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The clock frequency rises within some milliseconds of work.
pub const WARM: Duration = Duration::from_millis(30);
/// Shortest sample: a clock of tens of nanoseconds and an interrupt of microseconds vanish in it.
const SAMPLE: Duration = Duration::from_millis(1);
/// Most time that a point spends on samples taken again. A machine that is busy throughout keeps what it gives.
const PATIENCE: Duration = Duration::from_millis(150);
/// A point that has taken this long ends with the samples it has, if they are enough for a median and a spread.
const LONG: Duration = Duration::from_millis(600);
const ENOUGH: usize = 5;
/// Most launches in one sample.
const MAX_REPEATS: u32 = 100_000;

/// What a routine measured.
pub struct Taken {
    /// Nanoseconds of one launch, one a sample.
    pub samples_ns: Vec<f64>,
    pub readings: BTreeMap<String, Vec<f64>>,
}

/// Times `subject` and `reference` in turn. Each gets a number that grows by one a launch, so that it can walk on
/// through its data. Returns nanoseconds of one launch of each, one pair a sample.
pub fn in_turn(
    n_samples: usize,
    cx: &PointCx,
    mut subject: impl FnMut(usize),
    mut reference: impl FnMut(usize),
) -> Result<(Vec<f64>, Vec<f64>), RunError> {
    let mut lanes: [Lane<'_>; 2] = [Lane::new(&mut reference), Lane::new(&mut subject)];
    let start = Instant::now();
    while start.elapsed() < WARM || lanes.iter().any(|lane| lane.n_launches < 2) {
        for lane in &mut lanes {
            cx.check()?;
            lane.warm();
        }
    }
    let mut samples = [Vec::with_capacity(n_samples), Vec::with_capacity(n_samples)];
    let mut patience = Patience::default();
    while samples[1].len() < n_samples && !is_enough(start, samples[1].len()) {
        for (lane, samples) in lanes.iter_mut().zip(&mut samples) {
            samples.push(patience.take(cx, || {
                let before = sys::preemptions();
                let ns = lane.sample();
                (ns, sys::preemptions() == before)
            })?);
        }
    }
    let [reference, subject] = samples;
    Ok((subject, reference))
}

/// Times `subject` alone: nanoseconds of one launch, one a sample.
pub fn alone(n_samples: usize, cx: &PointCx, subject: impl FnMut(usize)) -> Result<Vec<f64>, RunError> {
    in_turn(n_samples, cx, subject, |_| {}).map(|(samples, _)| samples)
}

/// The time that is left for samples to be taken again.
pub struct Patience(Duration);

impl Default for Patience {
    fn default() -> Self {
        Self(PATIENCE)
    }
}

impl Patience {
    /// The first sample that was not disturbed, or the last one that patience allows.
    pub fn take(&mut self, cx: &PointCx, mut sample: impl FnMut() -> (f64, bool)) -> Result<f64, RunError> {
        loop {
            cx.check()?;
            let start = Instant::now();
            let (ns, is_undisturbed) = sample();
            if is_undisturbed || self.0.is_zero() {
                return Ok(ns);
            }
            self.0 = self.0.saturating_sub(start.elapsed());
        }
    }
}

/// True if a point that began at `start` should end with `n_taken` samples.
pub fn is_enough(start: Instant, n_taken: usize) -> bool {
    n_taken >= ENOUGH && start.elapsed() > LONG
}

struct Lane<'a> {
    launch: &'a mut dyn FnMut(usize),
    n_launches: usize,
    fastest: Duration,
}

impl<'a> Lane<'a> {
    fn new(launch: &'a mut dyn FnMut(usize)) -> Self {
        Self { launch, n_launches: 0, fastest: Duration::MAX }
    }

    fn run(&mut self, repeats: u32) -> Duration {
        let start = Instant::now();
        for _ in 0..repeats {
            (self.launch)(self.n_launches);
            self.n_launches += 1;
        }
        start.elapsed()
    }

    fn warm(&mut self) {
        let took = self.run(1);
        self.fastest = self.fastest.min(took).max(Duration::from_nanos(1));
    }

    fn sample(&mut self) -> f64 {
        let repeats = SAMPLE.as_nanos().div_ceil(self.fastest.as_nanos());
        let repeats = u32::try_from(repeats).unwrap_or(MAX_REPEATS).clamp(1, MAX_REPEATS);
        self.run(repeats).as_nanos() as f64 / f64::from(repeats)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_lanes_get_every_sample_and_walk_on() {
        let (mut subject_turns, mut reference_turns) = (Vec::new(), Vec::new());
        let spin = |micros: u64| {
            let start = Instant::now();
            while start.elapsed() < Duration::from_micros(micros) {}
        };
        let (subject, reference) = in_turn(
            5,
            &PointCx::alone(),
            |turn| {
                subject_turns.push(turn);
                spin(1500);
            },
            |turn| {
                reference_turns.push(turn);
                spin(200);
            },
        )
        .unwrap();
        assert_eq!((subject.len(), reference.len()), (5, 5));
        assert!(subject.iter().all(|ns| *ns >= 1.5e6) && reference.iter().all(|ns| *ns >= 0.2e6));
        assert_eq!(subject_turns, (0..subject_turns.len()).collect::<Vec<_>>());
        // 200 µs are too short for a sample of their own: at least four are timed together in each of the five.
        assert!(reference_turns.len() >= 5 * 4, "{}", reference_turns.len());
    }

    #[test]
    fn disturbed_samples_are_taken_again_until_patience_ends() {
        let cx = PointCx::alone();
        let mut taken = [(9.0, false), (8.0, false), (1.0, true), (2.0, true)].into_iter();
        let mut patience = Patience::default();
        assert_eq!(patience.take(&cx, || taken.next().unwrap()).unwrap(), 1.0);
        assert_eq!(patience.take(&cx, || taken.next().unwrap()).unwrap(), 2.0);
        let mut patience = Patience(Duration::ZERO);
        assert_eq!(patience.take(&cx, || (7.0, false)).unwrap(), 7.0);
    }

    #[test]
    fn a_cancel_is_felt_between_samples() {
        let stop = crate::backend::Stop::default();
        let cx = PointCx::new(stop.clone());
        let result = in_turn(
            1000,
            &cx,
            |turn| {
                if turn == 50 {
                    stop.raise()
                }
            },
            |_| {},
        );
        assert_eq!(result.unwrap_err(), RunError::Cancelled);
    }
}
