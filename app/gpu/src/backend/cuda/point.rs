//! One point: allocate, fill, warm up, sample, check against the reference, read counters.

use super::driver::{Function, Shape};
use super::timing::{Launch as Queue, Timer};
use super::words::Word;
use super::{Cuda, content, shape};
use crate::backend::PointCx;
use crate::error::RunError;
use crate::launch::{Arg, Launch};
use crate::oracle;
use crate::plan::{Mode, PointPlan, default_budget};
use crate::protocol::Job;
use std::collections::BTreeMap;
use std::rc::Rc;
use vramlab_trace::run::median;
use vramlab_trace::{Invalid, OracleOutcome, Point, Telemetry};

/// The launches of `point`, every formula a number.
pub fn resolve(job: &Job, point: &PointPlan) -> Result<Vec<Launch>, RunError> {
    let cuda = job.kernel.cuda.as_ref().ok_or_else(|| content(format!("{} has no [cuda] part", job.kernel.slug)))?;
    Launch::all(cuda, &point.vars).map_err(|why| content(format!("kernel {}: {why}", job.kernel.slug)))
}

/// What the timed part of a point yields.
struct Timed {
    samples_ns: Vec<f64>,
    readings: BTreeMap<String, Vec<f64>>,
    telemetry: Telemetry,
}

/// A launch with its code and arguments, and those that follow it.
pub(super) struct Ready {
    pub function: Rc<Function>,
    pub shape: Shape,
    pub args: Vec<Word>,
    then: Vec<Ready>,
}

impl Ready {
    pub fn queue(&self) -> Result<(), RunError> {
        self.function.launch_words(self.shape, &self.args)?;
        self.then.iter().try_for_each(Self::queue)
    }
}

impl Cuda {
    pub(super) fn measure(&mut self, job: &Job, point: &PointPlan, cx: &mut PointCx) -> Result<Point, RunError> {
        cx.check()?;
        let counters = self.counters_of(job, point, cx)?;
        let ready = self.ready(job, point)?;
        let timed = self.time(job, point, &|| ready.queue(), cx)?;
        cx.set_telemetry(timed.telemetry.clone());
        let oracle = self.verify(job, point, &ready)?;
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

    /// Compiles, allocates and fills what the point needs.
    pub(super) fn ready(&mut self, job: &Job, point: &PointPlan) -> Result<Ready, RunError> {
        let launches = resolve(job, point)?;
        let functions: Vec<_> = launches.iter().map(|launch| self.function(job, launch)).collect::<Result<_, _>>()?;
        let budget_bytes = self.budget_bytes.unwrap_or_else(|| default_budget(&self.facts));
        self.buffers.prepare(&self.device, &job.kernel, point, budget_bytes)?;
        self.buffers.fill(&self.tools, &job.kernel, job.seed)?;
        let one = |(function, launch): (Rc<Function>, &Launch)| {
            Ok(Ready { function, shape: shape(launch), args: self.args(launch)?, then: Vec::new() })
        };
        let mut all: Vec<Ready> = functions.into_iter().zip(&launches).map(one).collect::<Result<_, RunError>>()?;
        let then = all.split_off(1);
        let first = all.pop().ok_or_else(|| content(format!("{} launches nothing", job.kernel.slug)))?;
        Ok(Ready { then, ..first })
    }

    /// One launch on freshly poisoned outputs, held against the reference.
    pub(super) fn verify(&mut self, job: &Job, point: &PointPlan, ready: &Ready) -> Result<OracleOutcome, RunError> {
        self.buffers.fill(&self.tools, &job.kernel, job.seed)?;
        ready.queue()?;
        self.device.synchronize(&ready.function.name)?;
        self.check(job, point)
    }

    fn args(&self, launch: &Launch) -> Result<Vec<Word>, RunError> {
        launch
            .args
            .iter()
            .map(|arg| {
                Ok(Word::Plain(match arg {
                    Arg::Ptr(name) => self.buffers.address(name)?,
                    Arg::U32(value) => u64::from(*value),
                    Arg::U64(value) => *value,
                    Arg::F32(value) => u64::from(value.to_bits()),
                    Arg::F64(value) => value.to_bits(),
                    Arg::TensorMap(map) => {
                        let (address, bytes) = (self.buffers.address(&map.buffer)?, self.buffers.bytes(&map.buffer));
                        return Word::map(map, address, bytes);
                    }
                }))
            })
            .collect()
    }

    fn time(&mut self, job: &Job, point: &PointPlan, queue: &Queue<'_>, cx: &PointCx) -> Result<Timed, RunError> {
        let timer = self.timer(&job.kernel.slug)?.of_kernels(resolve(job, point)?.len());
        let (one_ns, settled_mhz) = timer.warm_up(queue, self.settled_mhz, cx)?;
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
        self.settled_mhz = settled_mhz;
        Ok(Timed { samples_ns, readings, telemetry })
    }

    pub(super) fn timer<'a>(&'a self, kernel: &'a str) -> Result<Timer<'a>, RunError> {
        let clock_mhz = self.facts.sm_clock_mhz.unwrap_or(1_500.0);
        Timer::new(&self.device, &self.tools, &self.sensors, clock_mhz, kernel)
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
        self.host.retain(&names);
        for name in names {
            let bytes = self.host.get(name, self.buffers.bytes(name) as usize);
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
}
