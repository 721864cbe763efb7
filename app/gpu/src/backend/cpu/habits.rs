//! One and the same sum under different habits of measuring: the number that each of them prints.

use super::bench::Taken;
use super::wide::strided_sum;
use super::{Input, Routine, Stage};
use crate::backend::PointCx;
use crate::error::RunError;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};
use vramlab_units::Text;

/// Warm by time: the clock rises within some milliseconds of work.
const WARM: Duration = Duration::from_millis(30);
/// How long the core is left alone before it is asked again.
const PAUSE: Duration = Duration::from_millis(60);
/// Runs of one sample where the caches keep the data and a run is short for the clock.
const RUNS: u32 = 16;

pub const HABITS: Routine = Routine {
    id: "habits",
    about: Text::new("同一个求和，换一种量法", "one sum, measured in different ways"),
    inputs: &[Input {
        name: "habit",
        min: 0,
        max: 4,
        about: "0 all controlled, 1 memory obtained inside the timing, 2 caches not flushed, 3 after a pause, 4 a result \
                that nobody uses",
    }],
    buffers: &["input", "flush", "out"],
    readings: &[],
    run,
};

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let (habit, n_samples, cx) = (stage.get("habit"), stage.n_samples, stage.cx);
    warm(stage.memory.pair("input", "out")?.0, cx)?;
    let mut samples_ns = Vec::with_capacity(n_samples);
    for _ in 0..n_samples {
        cx.check()?;
        if habit != 2 {
            black_box(strided_sum(black_box(stage.memory.pair("flush", "out")?.0), 1));
        }
        samples_ns.push(sample(habit, stage.memory.pair("input", "out")?.0).max(1.0));
    }
    let (input, out) = stage.memory.pair("input", "out")?;
    out[0] = strided_sum(input, 1);
    Ok(Taken { samples_ns, readings: BTreeMap::new() })
}

fn warm(input: &[u32], cx: &PointCx) -> Result<(), RunError> {
    let start = Instant::now();
    while start.elapsed() < WARM {
        cx.check()?;
        black_box(strided_sum(black_box(input), 1));
    }
    Ok(())
}

/// Nanoseconds of one run, as the habit has them.
fn sample(habit: usize, input: &[u32]) -> f64 {
    let ns = |start: Instant, runs: u32| start.elapsed().as_nanos() as f64 / f64::from(runs);
    match habit {
        1 => {
            let start = Instant::now();
            let fresh = black_box(input.to_vec());
            black_box(strided_sum(&fresh, 1));
            ns(start, 1)
        }
        2 => {
            black_box(strided_sum(black_box(input), 1));
            let start = Instant::now();
            for _ in 0..RUNS {
                black_box(strided_sum(black_box(input), 1));
            }
            ns(start, RUNS)
        }
        3 => {
            std::thread::sleep(PAUSE);
            let start = Instant::now();
            black_box(strided_sum(black_box(input), 1));
            ns(start, 1)
        }
        4 => {
            // Too short for the clock where the compiler leaves it out.
            let start = Instant::now();
            for _ in 0..RUNS {
                let _ = input.iter().fold(0_u32, |sum, word| sum.wrapping_add(*word));
            }
            ns(start, RUNS)
        }
        _ => {
            let start = Instant::now();
            black_box(strided_sum(black_box(input), 1));
            ns(start, 1)
        }
    }
}
