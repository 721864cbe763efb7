//! Threads on cores of their own that start together. The measuring thread is one of them; the others wait in a spin
//! between launches. Before each launch all of them answer a call, so that it starts with every thread on its core.

use crate::error::RunError;
use crate::sys;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

/// What the threads share to start together.
pub struct Team<'a> {
    /// What a member does in a launch, by its number; member 0 is the measuring thread.
    work: &'a (dyn Fn(usize) + Sync),
    n_threads: usize,
    /// Grows by one to ask whether every member is on its core, and by one to start a launch.
    call: AtomicUsize,
    n_answers: AtomicUsize,
    n_disturbed: AtomicUsize,
    is_over: AtomicBool,
}

/// Lets the members go, whatever happens to the measuring thread.
struct Ending<'a, 'b>(&'a Team<'b>);

impl Drop for Ending<'_, '_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Release);
    }
}

impl<'a> Team<'a> {
    /// Runs `lead` on the calling thread while `n_threads` - 1 others serve on processors of their own.
    pub fn with<R>(
        n_threads: usize,
        processors: &[usize],
        work: &'a (dyn Fn(usize) + Sync),
        lead: impl FnOnce(&Self) -> R,
    ) -> R {
        let zero = || AtomicUsize::new(0);
        let (call, n_answers, n_disturbed) = (zero(), zero(), zero());
        let team = Self { work, n_threads, call, n_answers, n_disturbed, is_over: AtomicBool::new(false) };
        thread::scope(|scope| {
            for member in 1..n_threads {
                let (team, processor) = (&team, processors.get(member).copied());
                scope.spawn(move || {
                    processor.map(sys::pin);
                    team.serve(member);
                });
            }
            let _ending = Ending(&team);
            lead(&team)
        })
    }

    /// One launch, from the common start to the last one's end, in nanoseconds, and whether every thread kept its core
    /// throughout. `before` runs first, on the calling thread alone, and counts.
    pub fn launch(&self, before: impl FnOnce()) -> (f64, bool) {
        self.n_disturbed.store(0, Ordering::Relaxed);
        self.call(|| {});
        let disturbed = sys::preemptions();
        let start = Instant::now();
        before();
        self.call(|| self.act(0));
        let ns = start.elapsed().as_nanos() as f64;
        (ns, self.n_disturbed.load(Ordering::Relaxed) == 0 && sys::preemptions() == disturbed)
    }

    fn act(&self, member: usize) {
        let before = sys::preemptions();
        (self.work)(member);
        if sys::preemptions() != before {
            self.n_disturbed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A member's life: answer the question, act at the start, answer again.
    fn serve(&self, member: usize) {
        for call in 1.. {
            while self.call.load(Ordering::Acquire) < call {
                if self.is_over.load(Ordering::Acquire) {
                    return;
                }
                spin_loop();
            }
            if call % 2 == 0 {
                self.act(member);
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
}

/// Threads that take turns on one core gain nothing from each other.
pub fn enough_cores(n_cores: usize, n_threads: usize) -> Result<(), RunError> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn one_core_is_an_honest_reason() {
        let error = enough_cores(1, 2).unwrap_err().to_string();
        assert!(error.contains("2 threads need 2 cores") && error.contains("may use 1"), "{error}");
        assert!(enough_cores(2, 2).is_ok());
    }

    #[test]
    fn every_member_acts_once_a_launch_and_after_what_comes_before() {
        let log = Mutex::new(Vec::new());
        let note = |what: usize| log.lock().unwrap().push(what);
        Team::with(3, &[], &note, |team| {
            for _ in 0..50 {
                team.launch(|| note(9));
            }
        });
        let log = log.into_inner().unwrap();
        for launch in log.chunks(4) {
            let mut members = launch.to_vec();
            assert_eq!(members.remove(0), 9, "{launch:?}");
            members.sort_unstable();
            assert_eq!(members, [0, 1, 2]);
        }
        assert_eq!(log.len(), 200);
    }
}
