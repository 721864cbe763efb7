//! A job with a serial part, shared by several threads: Amdahl's law, measured. The reference is the whole job on one
//! thread. A step counts one up through memory of the thread's own, so that nothing but the cores is shared.

use super::bench::{self, Patience, Taken};
use super::team::{Team, enough_cores};
use super::{Input, Routine, Stage};
use crate::error::RunError;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Instant;
use vramlab_units::Text;

pub const SCALING: Routine = Routine {
    id: "scaling",
    about: Text::new(
        "一份活：一段串行，其余均分给几个线程",
        "a job: a serial part, the rest divided evenly among threads",
    ),
    inputs: &[
        Input { name: "n_threads", min: 2, max: 64, about: "threads, each on a core of its own" },
        Input { name: "serial_steps", min: 0, max: 1 << 30, about: "steps that one thread takes alone" },
        Input { name: "own_steps", min: 0, max: 1 << 30, about: "steps that each thread takes after that" },
    ],
    buffers: &["out"],
    readings: &["alone_ns"],
    run,
};

/// Launches of one sample, of which the fastest counts: the least disturbed, for the job and its reference alike. A launch
/// needs every core at the same time, which a busy machine seldom grants.
const LAUNCHES: usize = 7;

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let (n_threads, serial, own) = (stage.get("n_threads"), stage.get("serial_steps"), stage.get("own_steps"));
    let (n_samples, cx, processors) = (stage.n_samples, stage.cx, stage.processors);
    enough_cores(processors.len(), n_threads)?;
    let steps = AtomicUsize::new(own); // 0 while the measuring thread does everything itself
    let n_done = AtomicU32::new(0);
    let work = |_member: usize| {
        n_done.fetch_add(count(steps.load(Ordering::Relaxed)), Ordering::Relaxed);
    };
    let alone = || {
        let start = Instant::now();
        black_box(count(serial + n_threads * own));
        start.elapsed().as_nanos() as f64
    };
    let before = || {
        n_done.fetch_add(count(serial), Ordering::Relaxed);
    };
    let samples = Team::with(n_threads, processors, &work, |team| {
        let start = Instant::now();
        while start.elapsed() < bench::WARM {
            cx.check()?;
            team.launch(before);
        }
        let (mut subject, mut reference) = (Vec::new(), Vec::new());
        let mut patience = Patience::default();
        while subject.len() < n_samples && !bench::is_enough(start, subject.len()) {
            let mut take = |launch: &dyn Fn() -> (f64, bool)| {
                let launches = (0..LAUNCHES).map(|_| patience.take(cx, launch)).collect::<Result<Vec<f64>, _>>()?;
                Ok::<Option<f64>, RunError>(launches.into_iter().reduce(f64::min))
            };
            let disturbed = crate::sys::preemptions;
            reference.extend(take(&|| {
                let calm = disturbed();
                (alone(), disturbed() == calm)
            })?);
            subject.extend(take(&|| team.launch(before))?);
        }
        n_done.store(0, Ordering::Relaxed);
        team.launch(before); // leaves exactly its own steps behind for the check
        Ok::<_, RunError>((subject, reference))
    });
    let (samples_ns, mut alone_ns) = samples?;
    // One core does the same job in every sample: its calmest run is the reference of all of them.
    let calmest = alone_ns.iter().copied().fold(f64::INFINITY, f64::min);
    alone_ns.fill(calmest);
    for place in stage.memory.output("out")? {
        *place = n_done.load(Ordering::Relaxed);
    }
    Ok(Taken { samples_ns, readings: BTreeMap::from([("alone_ns".to_owned(), alone_ns)]) })
}

/// Counts to `steps`, one dependent step after the other.
fn count(steps: usize) -> u32 {
    let mut done = 0_u32;
    for _ in 0..steps {
        done = black_box(done).wrapping_add(1);
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_counts() {
        assert_eq!([0, 1, 1000].map(count), [0, 1, 1000]);
    }
}
