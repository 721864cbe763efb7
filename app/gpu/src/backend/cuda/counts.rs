//! The counters of a job: every point launched once under the profiler, on a cold L2, never while anything is timed.
//! The profiler is switched on for many points at once, because that takes as long as a whole point, and off again
//! before the next timing.

use super::cupti::{Counters, Failure, Session};
use super::driver::Memory;
use super::{Cuda, Rung};
use crate::RunError;
use crate::backend::PointCx;
use crate::plan::PointPlan;
use crate::protocol::Job;
use std::collections::BTreeMap;

/// How far a job's counters are read.
#[derive(Default)]
pub struct Counts {
    /// Kept over jobs that read the same metrics: asking the device what it offers takes a tenth of a second.
    open: Option<(Vec<String>, Counters)>,
    counted: BTreeMap<String, BTreeMap<String, f64>>,
    is_on: bool,
}

impl Counts {
    pub fn of(&self, point: &PointPlan) -> BTreeMap<String, f64> {
        self.counted.get(&key(point)).cloned().unwrap_or_default()
    }

    /// Forgets the job, not the profiler.
    pub fn end(&mut self) {
        self.counted.clear();
        self.is_on = false;
    }
}

/// What tells the points of a job apart.
fn key(point: &PointPlan) -> String {
    serde_json::Value::Object(point.params.clone()).to_string()
}

impl Cuda {
    /// Chooses the rung and reads the counters of the first point; the others follow when the second point begins, so
    /// that the first number does not wait for them.
    pub(super) fn begin_counts(&mut self, job: &Job, cx: &PointCx) -> Result<Rung, RunError> {
        self.counts.end();
        if job.counters.is_empty() {
            return Ok(Rung::none("this experiment reads no counters"));
        }
        let first = job.plan.points.get(..1).unwrap_or_default();
        match self.count(job, first, cx) {
            Ok(n_passes) => {
                self.counts.is_on = true;
                let n = job.counters.len();
                let why =
                    format!("{n} counters in this process, {n_passes} pass(es) of one launch a point, never timed");
                Ok(Rung { id: "cupti".to_owned(), why })
            }
            Err(Failure::Run(error)) => Err(error),
            Err(Failure::Profiler(why)) => Ok(Rung::none(why)),
        }
    }

    /// The counters of `point`; reads those of all points that have none yet, once.
    pub(super) fn counters_of(
        &mut self,
        job: &Job,
        point: &PointPlan,
        cx: &PointCx,
    ) -> Result<BTreeMap<String, f64>, RunError> {
        if self.counts.is_on && !self.counts.counted.contains_key(&key(point)) {
            match self.count(job, &job.plan.points, cx) {
                Ok(_) => {}
                Err(Failure::Run(error)) => return Err(error),
                // What the profiler cannot do costs the counters, not the job; the parent keeps these words.
                Err(Failure::Profiler(why)) => {
                    eprintln!("counters of {}: {why}", job.kernel.slug);
                    self.counts.is_on = false;
                }
            }
        }
        Ok(self.counts.of(point))
    }

    fn count(&mut self, job: &Job, points: &[PointPlan], cx: &PointCx) -> Result<usize, Failure> {
        let counters = match self.counts.open.take() {
            Some((metrics, counters)) if metrics == job.counters => counters,
            _ => Counters::open(&self.device, &job.counters)?,
        };
        let n_passes = counters.n_passes;
        let result = self.count_with(&counters, job, points, cx);
        self.counts.open = Some((job.counters.clone(), counters));
        result.map(|()| n_passes)
    }

    fn count_with(
        &mut self,
        counters: &Counters,
        job: &Job,
        points: &[PointPlan],
        cx: &PointCx,
    ) -> Result<(), Failure> {
        // Memory is asked for before the profiler is on.
        let l2_bytes = self.facts.l2_bytes.unwrap_or(64e6) as u64;
        let scratch = Memory::alloc(&self.device, 2 * l2_bytes, "scratch")?;
        let session = Session::open(&self.device)?;
        for point in points {
            if self.counts.counted.contains_key(&key(point)) {
                continue;
            }
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
            self.counts.counted.insert(key(point), values);
        }
        Ok(())
    }
}
