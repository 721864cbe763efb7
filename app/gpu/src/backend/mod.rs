//! What runs inside the child: a back end turns one planned point after another into a measured one.
//!
//! [`Backend`] is the seam; `cpu/`, `cuda/` and `fake.rs` stand behind it. The loop that talks to the parent, sends
//! heartbeats and turns panics into messages is `child.rs`; back ends know nothing of it.

pub mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
pub mod fake;
pub mod host;
mod training;

use crate::build::Build;
use crate::error::RunError;
use crate::plan::PointPlan;
use crate::protocol::Job;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use vramlab_trace::{Backend as Kind, DeviceFacts, Point, Telemetry};

/// Something that measures. One value serves many jobs, so contexts, compiled kernels and buffers may be kept warm in
/// it. Every method is called from one thread.
pub trait Backend {
    /// What the device is, asked afresh: free memory changes.
    fn facts(&mut self) -> Result<DeviceFacts, RunError>;

    /// Before the first point of a job: compile, allocate what all points share, choose how counters are read.
    fn begin(&mut self, job: &Job, cx: &mut PointCx) -> Result<Rung, RunError>;

    /// Measures one point: warm up, sample, check against the reference, read `job.counters` outside the timed
    /// launches. The point carries its samples even if the oracle failed; then `oracle` says so and `invalid` is set.
    fn run_point(&mut self, job: &Job, point: &PointPlan, cx: &mut PointCx) -> Result<Point, RunError>;

    /// Compiles the job's source and says what came of it, for a job that asks. A back end that compiles nothing has nothing to
    /// say.
    fn build(&mut self, _job: &Job, _cx: &mut PointCx) -> Result<Option<Build>, RunError> {
        Ok(None)
    }

    /// After the last point, or after a failure that did not lose the device: give back what only this job needed.
    fn end(&mut self, _job: &Job) {}
}

/// How counters are read in a job, with the reason: `cupti`, or `none`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rung {
    pub id: String,
    pub why: String,
}

impl Rung {
    pub fn none(why: impl Into<String>) -> Self {
        Self { id: "none".to_owned(), why: why.into() }
    }
}

/// A flag that is raised when the job must end: the reader cancelled it, or the parent is gone.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    pub fn raise(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// What a point may ask of its surroundings while it runs. Heartbeats need no call: a side thread sends them.
pub struct PointCx {
    stop: Stop,
    started: Instant,
    telemetry: Telemetry,
}

impl PointCx {
    pub fn new(stop: Stop) -> Self {
        Self { stop, started: Instant::now(), telemetry: Telemetry::default() }
    }

    /// A context that nobody cancels, for tests and tools.
    pub fn alone() -> Self {
        Self::new(Stop::default())
    }

    /// Call between samples and launches: `Err(Cancelled)` once the job must end.
    pub fn check(&self) -> Result<(), RunError> {
        if self.stop.is_raised() { Err(RunError::Cancelled) } else { Ok(()) }
    }

    /// The flag itself, for side threads of a routine.
    pub fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Time since the job began.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// The sensors' latest words; they travel with the next progress message.
    pub fn set_telemetry(&mut self, telemetry: Telemetry) {
        self.telemetry = telemetry;
    }

    pub fn telemetry(&self) -> &Telemetry {
        &self.telemetry
    }
}

/// Opens a back end. `budget_bytes` is the most that a job may take, as the parent asked.
pub fn open(kind: Kind, budget_bytes: Option<u64>) -> Result<Box<dyn Backend>, RunError> {
    match kind {
        Kind::Cpu => Ok(Box::new(cpu::Cpu::default())),
        #[cfg(feature = "cuda")]
        Kind::Cuda => cuda::open(budget_bytes),
        Kind::Fake => fake::open(&fake::SCRIPTS[0]),
        other => {
            let (id, zh) = (other.id(), format!("这个程序编译时没有带上后端 {}", other.id()));
            let budget = budget_bytes.map(|bytes| format!(", budget {bytes} bytes")).unwrap_or_default();
            Err(RunError::unavailable(
                (zh, format!("this program was built without the \"{id}\" back end{budget}")),
                ("重放录制，或编译时打开这个 feature", "replay a recorded trace, or build with the feature"),
            ))
        }
    }
}
