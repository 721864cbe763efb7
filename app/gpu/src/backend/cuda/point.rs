//! One point: allocate, fill, warm up, sample, check against the reference, read counters.

use super::cupti::Failure;
use super::driver::{Function, Memory};
use super::timing::{Launch as Queue, Timer};
use super::{Cuda, content, shape};
use crate::backend::PointCx;
use crate::error::RunError;
use crate::launch::{Arg, Launch};
use crate::oracle;
use crate::plan::{Mode, PointPlan, default_budget};
use crate::protocol::Job;
use std::collections::BTreeMap;
use vramlab_trace::run::median;
use vramlab_trace::{Invalid, OracleOutcome, Point, Telemetry};

/// The launch of `point`, every formula a number.
pub fn resolve(job: &Job, point: &PointPlan) -> Result<Launch, RunError> {
    let cuda = job.kernel.cuda.as_ref().ok_or_else(|| content(format!("{} has no [cuda] part", job.kernel.slug)))?;
    Launch::of(cuda, &point.vars).map_err(|why| content(format!("kernel {}: {why}", job.kernel.slug)))
}

/// What the timed part of a point yields.
struct Timed {
    samples_ns: Vec<f64>,
    readings: BTreeMap<String, Vec<f64>>,
    telemetry: Telemetry,
}

impl Cuda {
    pub(super) fn measure(&mut self, job: &Job, point: &PointPlan, cx: &mut PointCx) -> Result<Point, RunError> {
        cx.check()?;
        let launch = resolve(job, point)?;
        let function = self.function(job, &launch)?;
        let budget_bytes = self.budget_bytes.unwrap_or_else(|| default_budget(&self.facts));
        self.buffers.prepare(&self.device, &job.kernel, point, budget_bytes)?;
        self.buffers.fill(&self.tools, &job.kernel, job.seed)?;
        let args = self.args(&launch)?;
        let queue = || function.launch(shape(&launch), &args);
        let timed = self.time(job, point, &queue, cx)?;
        cx.set_telemetry(timed.telemetry.clone());
        // Once more on poisoned outputs, so that the check sees this launch alone.
        self.buffers.fill(&self.tools, &job.kernel, job.seed)?;
        queue()?;
        self.device.synchronize(&function.name)?;
        let oracle = self.check(job, point)?;
        let counters = self.count(&function, &queue)?;
        let is_wrong = matches!(oracle, OracleOutcome::Failed { .. });
        Ok(Point {
            series: point.series.clone(),
            params: point.params.clone(),
            samples_ns: timed.samples_ns,
            readings: timed.readings,
            counters,
            telemetry: timed.telemetry,
            oracle: Some(oracle),
            invalid: is_wrong.then_some(Invalid::WrongResult),
        })
    }

    fn args(&self, launch: &Launch) -> Result<Vec<u64>, RunError> {
        launch
            .args
            .iter()
            .map(|arg| {
                Ok(match arg {
                    Arg::Ptr(name) => self.buffers.address(name)?,
                    Arg::U32(value) => u64::from(*value),
                    Arg::U64(value) => *value,
                    Arg::F32(value) => u64::from(value.to_bits()),
                    Arg::F64(value) => value.to_bits(),
                })
            })
            .collect()
    }

    fn time(&mut self, job: &Job, point: &PointPlan, queue: &Queue<'_>, cx: &PointCx) -> Result<Timed, RunError> {
        let clock_mhz = self.facts.sm_clock_mhz.unwrap_or(1_500.0);
        let timer = Timer::new(&self.device, &self.tools, &self.sensors, clock_mhz, &job.kernel.slug)?;
        let one_ns = timer.warm_up(queue, &mut self.settled_mhz, cx)?;
        let batch = Timer::batch(one_ns);
        let names = job.kernel.cuda.as_ref().map(|cuda| cuda.cycles.clone()).unwrap_or_default();
        let mut samples_ns = Vec::new();
        let mut readings: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for _ in 0..point.n_samples.max(1) {
            cx.check()?;
            samples_ns.push(timer.sample(queue, batch)?);
            for name in &names {
                readings.entry(name.clone()).or_default().push(self.cycles(name)?);
            }
        }
        let telemetry = timer.telemetry(queue, one_ns)?;
        Ok(Timed { samples_ns, readings, telemetry })
    }

    /// The median of a buffer of 64-bit cycle counts.
    fn cycles(&self, name: &str) -> Result<f64, RunError> {
        let mut bytes = vec![0_u8; self.buffers.bytes(name) as usize / 8 * 8];
        self.buffers.get(name)?.read(0, &mut bytes, name)?;
        let counts: Vec<f64> =
            bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default()) as f64).collect();
        median(&counts).ok_or_else(|| content(format!("the cycle buffer {name} is empty")))
    }

    /// Holds the outputs against the reference.
    fn check(&mut self, job: &Job, point: &PointPlan) -> Result<OracleOutcome, RunError> {
        let names = oracle::read_back(&job.kernel);
        self.host.retain(|name, _| names.contains(&name.as_str()));
        for name in names {
            let bytes = self.host.entry(name.to_owned()).or_default();
            bytes.resize(self.buffers.bytes(name) as usize, 0);
            self.buffers.get(name)?.read(0, bytes, name)?;
        }
        let max_words = match job.plan.mode {
            Mode::Quick => oracle::MAX_WORDS_QUICK,
            Mode::Full => oracle::MAX_WORDS_FULL,
        };
        let check = oracle::Check {
            kernel: &job.kernel,
            vars: &point.vars,
            job_seed: job.seed,
            buffers: &self.host,
            max_words,
        };
        oracle::check(&check).map_err(|why| content(format!("kernel {}: {why}", job.kernel.slug)))
    }

    /// Reads the counters of one launch on a cold L2, if this job reads any.
    fn count(&mut self, function: &Function, queue: &Queue<'_>) -> Result<BTreeMap<String, f64>, RunError> {
        let Some(counters) = &self.counters else { return Ok(BTreeMap::new()) };
        let l2_bytes = self.facts.l2_bytes.unwrap_or(64e6) as u64;
        if self.scratch.is_none() {
            self.scratch = Memory::alloc(&self.device, 2 * l2_bytes, "scratch").ok();
        }
        let cool = || match &self.scratch {
            Some(scratch) => {
                scratch.set(0x5A, scratch.bytes, "scratch")?;
                self.device.synchronize("scratch")
            }
            None => Ok(()),
        };
        let launch = || {
            queue()?;
            self.device.synchronize(&function.name)
        };
        match counters.read(&self.device, &cool, &launch) {
            Ok(values) => Ok(values),
            Err(Failure::Run(error)) => Err(error),
            // A profiler that stops working costs the counters, not the measurement; the parent keeps these words.
            Err(Failure::Profiler(why)) => {
                eprintln!("counters of {}: {why}", function.name);
                Ok(BTreeMap::new())
            }
        }
    }
}
