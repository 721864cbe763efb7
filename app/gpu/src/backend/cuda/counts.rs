//! The counters of a job: every point launched once under the profiler, on a cold L2, before anything is timed. The
//! profiler is switched on once, because that takes as long as a whole point, and off again before the first timing.

use super::cupti::{Counters, Failure, Session};
use super::driver::Memory;
use super::{Cuda, Rung};
use crate::RunError;
use crate::backend::PointCx;
use crate::plan::PointPlan;
use crate::protocol::Job;
use std::collections::BTreeMap;

/// Counters by point.
pub type Counted = BTreeMap<String, BTreeMap<String, f64>>;

/// What tells the points of a job apart.
pub fn key(point: &PointPlan) -> String {
    serde_json::Value::Object(point.params.clone()).to_string()
}

impl Cuda {
    /// Reads `job.counters` for every point. What the profiler cannot do costs the counters, not the job; what the
    /// kernel does wrong is the job's error.
    pub(super) fn count_all(&mut self, job: &Job, cx: &PointCx) -> Result<Rung, RunError> {
        self.counted.clear();
        if job.counters.is_empty() {
            return Ok(Rung::none("this experiment reads no counters"));
        }
        match self.try_count(job, cx) {
            Ok(n_passes) => {
                let why = format!(
                    "{} counters in this process, {n_passes} pass(es) of one launch a point, before the timed launches",
                    job.counters.len()
                );
                Ok(Rung { id: "cupti".to_owned(), why })
            }
            Err(Failure::Run(error)) => Err(error),
            Err(Failure::Profiler(why)) => {
                self.counted.clear();
                Ok(Rung::none(why))
            }
        }
    }

    fn try_count(&mut self, job: &Job, cx: &PointCx) -> Result<usize, Failure> {
        let counters = Counters::open(&self.device, &job.counters)?;
        // Memory is asked for before the profiler is on.
        let l2_bytes = self.facts.l2_bytes.unwrap_or(64e6) as u64;
        let scratch = Memory::alloc(&self.device, 2 * l2_bytes, "scratch")?;
        let session = Session::open(&self.device)?;
        for point in &job.plan.points {
            cx.check()?;
            let ready = self.ready(job, point)?;
            let cool = || {
                scratch.set(0x5A, scratch.bytes, "scratch")?;
                self.device.synchronize("scratch")
            };
            let launch = || {
                ready.queue()?;
                self.device.synchronize(&ready.function.name)
            };
            let values = counters.read(&session, &cool, &launch)?;
            self.counted.insert(key(point), values);
        }
        Ok(counters.n_passes)
    }
}
