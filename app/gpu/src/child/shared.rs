//! What the child's three threads share: the writing end, which job runs, the heartbeat.

use super::BEAT;
use crate::backend::Stop;
use crate::protocol::FromChild;
use crate::wire;
use std::io::Write;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// The writing end, shared by the loop and the heartbeat.
#[derive(Clone)]
pub struct Out(Arc<Mutex<Box<dyn Write + Send>>>);

impl Out {
    pub fn new(output: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Box::new(output))))
    }

    /// A parent that no longer reads is noticed by the closed input, so a failed write is not an event of its own.
    pub fn say(&self, message: &FromChild) {
        let _ = wire::write(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), message);
    }
}

/// Which job runs, and which were cancelled before they began.
#[derive(Clone, Default)]
pub struct Jobs(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// Job 0 stands for the opening of a back end.
    running: Option<(u64, Stop)>,
    /// Highest id that was cancelled; ids only grow.
    cancelled: u64,
}

impl Jobs {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks the job as running. Its flag is up already if it was cancelled meanwhile.
    pub fn begin(&self, job_id: u64) -> Stop {
        let stop = Stop::default();
        let mut state = self.lock();
        if job_id <= state.cancelled {
            stop.raise();
        }
        state.running = Some((job_id, stop.clone()));
        stop
    }

    pub fn end(&self) {
        self.lock().running = None;
    }

    pub fn cancel(&self, job_id: u64) {
        let mut state = self.lock();
        state.cancelled = state.cancelled.max(job_id);
        if let Some((running, stop)) = &state.running
            && *running <= job_id
        {
            stop.raise();
        }
    }

    /// The parent is gone: whatever runs or is still to run is cancelled.
    pub fn end_all(&self) {
        self.cancel(u64::MAX);
    }

    fn running(&self) -> Option<u64> {
        self.lock().running.as_ref().map(|(job_id, _)| *job_id)
    }
}

/// The heartbeat's side thread; it ends when this is dropped. Nothing beats while the child waits for work.
pub struct Beat {
    _alive: Sender<()>,
}

impl Beat {
    pub fn start(out: Out, jobs: Jobs) -> Self {
        let (alive, ended) = mpsc::channel::<()>();
        thread::spawn(move || {
            while matches!(ended.recv_timeout(BEAT), Err(RecvTimeoutError::Timeout)) {
                if let Some(job_id) = jobs.running() {
                    out.say(&FromChild::Heartbeat { job_id });
                }
            }
        });
        Self { _alive: alive }
    }
}
