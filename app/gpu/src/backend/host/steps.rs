//! How routines take samples: repeated until a sample is long enough for the clock, cancelled between samples.

use super::Stage;
use crate::error::RunError;
use std::time::{Duration, Instant};

/// Shortest sample: the clock reads in tens of nanoseconds.
const SAMPLE: Duration = Duration::from_micros(200);
/// Warm by time, so that first calls and the clocks' rise lie before the samples.
const WARM: Duration = Duration::from_millis(5);
const MOST_REPEATS: u32 = 10_000;

/// Nanoseconds of one `work`, one a sample.
pub fn timed(
    stage: &mut Stage<'_>,
    mut work: impl FnMut(&mut Stage<'_>) -> Result<(), RunError>,
) -> Result<Vec<f64>, RunError> {
    let (start, mut fastest) = (Instant::now(), Duration::MAX);
    let mut n_warm = 0;
    while n_warm < 2 || start.elapsed() < WARM {
        let one = Instant::now();
        work(stage)?;
        fastest = fastest.min(one.elapsed());
        n_warm += 1;
    }
    let repeats = SAMPLE.as_nanos().div_ceil(fastest.as_nanos().max(1));
    let repeats = u32::try_from(repeats).unwrap_or(MOST_REPEATS).clamp(1, MOST_REPEATS);
    let mut samples = Vec::with_capacity(stage.n_samples);
    for _ in 0..stage.n_samples {
        stage.cx.check()?;
        let start = Instant::now();
        for _ in 0..repeats {
            work(stage)?;
        }
        samples.push(start.elapsed().as_nanos() as f64 / f64::from(repeats));
    }
    Ok(samples)
}

/// Nanoseconds that `work` takes once.
pub fn once<T>(work: impl FnOnce() -> Result<T, RunError>) -> Result<(T, f64), RunError> {
    let start = Instant::now();
    let result = work()?;
    Ok((result, start.elapsed().as_nanos().max(1) as f64))
}
