//! The processor as a device: really measured on the machine at hand, through the same plans and the same record.
//!
//! A routine is one entry of [`ROUTINES`]; `bench.rs` is how all of them measure, `memory.rs` where their data lies,
//! `facts.rs` what the machine says about itself. A routine that compares times its subject and, between the samples, a
//! reference of its own (a sequential walk, a copy, a counter alone on its line; `wide.rs` has the inner loops). The
//! reference travels as a reading, so that an experiment can measure in units of it: clocks, neighbours and virtual
//! machines shift both alike. Ladders of footprints and intensities are measured in GB/s and nanoseconds, without one.

mod alloc;
mod aos_soa;
mod bench;
mod chase;
mod codecs;
mod facts;
mod false_sharing;
mod fma_ramp;
mod footprint;
mod formats;
mod gate;
mod habits;
mod memory;
mod quant_error;
mod real_net;
mod scaling;
mod small_training;
mod sparse_descent;
mod squeeze;
mod strided_read;
mod team;
mod transpose;
mod wide;

pub use facts::facts;

use super::{Backend, PointCx, Rung};
use crate::error::RunError;
use crate::oracle::{self, Check, MAX_WORDS_FULL, MAX_WORDS_QUICK};
use crate::plan::{Mode, PointPlan};
use crate::protocol::Job;
use crate::sys;
use crate::vars::eval_whole;
use bench::Taken;
use memory::Memory;
use std::collections::BTreeMap;
use vramlab_trace::{DeviceFacts, Invalid, OracleOutcome, Point, Telemetry};
use vramlab_units::Text;

/// A number that a routine reads, by formula in the kernel's `[cpu.with]`.
pub struct Input {
    pub name: &'static str,
    pub min: u64,
    pub max: u64,
    pub about: &'static str,
}

/// One routine, as data.
pub struct Routine {
    /// Named by `routine` in a kernel's `[cpu]`.
    pub id: &'static str,
    pub about: Text,
    pub inputs: &'static [Input],
    /// Buffers that the kernel must have, by name.
    pub buffers: &'static [&'static str],
    /// What it writes beside the times, one number a sample.
    pub readings: &'static [&'static str],
    run: fn(&mut Stage<'_>) -> Result<Taken, RunError>,
}

/// Every routine, in alphabetical order of ids.
pub const ROUTINES: &[Routine] = &[
    alloc::ALLOC,
    aos_soa::AOS_SOA,
    chase::CHASE,
    codecs::CODECS,
    false_sharing::FALSE_SHARING,
    fma_ramp::FMA_RAMP,
    footprint::FOOTPRINT,
    formats::FORMATS,
    gate::GATE,
    habits::HABITS,
    quant_error::QUANT_ERROR,
    scaling::SCALING,
    small_training::SMALL_TRAINING,
    sparse_descent::SPARSE_DESCENT,
    squeeze::SQUEEZE,
    strided_read::STRIDED_READ,
    transpose::TRANSPOSE,
];

/// The routine called `id`.
pub fn find(id: &str) -> Option<&'static Routine> {
    ROUTINES.iter().find(|routine| routine.id == id)
}

/// What a routine works with.
struct Stage<'a> {
    inputs: BTreeMap<&'static str, u64>,
    memory: &'a mut Memory,
    n_samples: usize,
    cx: &'a PointCx,
    /// A processor of each core that may be used, the measuring thread's own first.
    processors: &'a [usize],
}

impl Stage<'_> {
    /// An input of the routine's own table.
    fn get(&self, name: &str) -> usize {
        debug_assert!(self.inputs.contains_key(name), "{name} is not in the routine's table");
        self.inputs.get(name).map_or(0, |value| *value as usize)
    }
}

/// The back end. Its buffers live as long as a job.
#[derive(Default)]
pub struct Cpu {
    memory: Memory,
}

impl Backend for Cpu {
    fn facts(&mut self) -> Result<DeviceFacts, RunError> {
        Ok(facts())
    }

    fn begin(&mut self, job: &Job, _cx: &mut PointCx) -> Result<Rung, RunError> {
        routine_of(job)?;
        Ok(Rung::none("the processor's counters need rights that a lesson does not ask for"))
    }

    /// Code for a GPU compiles without one.
    #[cfg(feature = "cuda")]
    fn build(&mut self, job: &Job, cx: &mut PointCx) -> Result<Option<crate::build::Build>, RunError> {
        cx.check()?;
        super::cuda::inspect::of_job(job).map(Some)
    }

    fn run_point(&mut self, job: &Job, point: &PointPlan, cx: &mut PointCx) -> Result<Point, RunError> {
        let routine = routine_of(job)?;
        let inputs = inputs(routine, job, point)?;
        self.memory.prepare(job, point, cx)?;
        let (memory, cx) = (&mut self.memory, &*cx);
        let n_samples = point.n_samples.max(1) as usize;
        // A thread of its own can be pinned without pinning the child.
        let taken = std::thread::scope(|scope| {
            let work = scope.spawn(move || {
                let processors = facts::cores();
                if let Some(first) = processors.first() {
                    sys::pin(*first);
                }
                (routine.run)(&mut Stage { inputs, memory, n_samples, cx, processors: &processors })
            });
            work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })?;
        let oracle = self.check(job, point)?;
        let invalid = matches!(oracle, OracleOutcome::Failed { .. }).then_some(Invalid::WrongResult);
        Ok(Point {
            series: point.series.clone(),
            params: point.params.clone(),
            samples_ns: taken.samples_ns,
            readings: taken.readings,
            counters: BTreeMap::new(),
            telemetry: Telemetry::default(),
            oracle: Some(oracle),
            invalid,
        })
    }

    fn end(&mut self, _job: &Job) {
        self.memory = Memory::default();
    }
}

impl Cpu {
    fn check(&self, job: &Job, point: &PointPlan) -> Result<OracleOutcome, RunError> {
        let max_words = if job.plan.mode == Mode::Full { MAX_WORDS_FULL / 8 } else { MAX_WORDS_QUICK };
        let check =
            Check { kernel: &job.kernel, vars: &point.vars, job_seed: job.seed, buffers: &self.memory, max_words };
        oracle::check(&check).map_err(|what| RunError::Content { what })
    }
}

fn routine_of(job: &Job) -> Result<&'static Routine, RunError> {
    let slug = &job.kernel.slug;
    let cpu = job.kernel.cpu.as_ref();
    let cpu = cpu.ok_or_else(|| RunError::Content { what: format!("kernel \"{slug}\" has no [cpu] part") })?;
    let known = || ROUTINES.iter().map(|routine| routine.id).collect::<Vec<_>>().join(", ");
    let found = find(&cpu.routine);
    found.ok_or_else(|| RunError::Content {
        what: format!("{slug}: there is no routine \"{}\"; the routines are {}", cpu.routine, known()),
    })
}

/// The routine's numbers for one point.
fn inputs(routine: &Routine, job: &Job, point: &PointPlan) -> Result<BTreeMap<&'static str, u64>, RunError> {
    let content = |what: String| RunError::Content { what: format!("{}: cpu.with.{what}", job.kernel.slug) };
    let with = job.kernel.cpu.as_ref().map(|cpu| &cpu.with);
    let read = |input: &Input| {
        let formula = with.and_then(|with| with.get(input.name)).map_or(input.name, String::as_str);
        let value =
            eval_whole(formula, &point.vars, input.max).map_err(|why| content(format!("{}: {why}", input.name)))?;
        if value < input.min {
            let (name, min, max) = (input.name, input.min, input.max);
            return Err(content(format!("{name} is {value}; it must be from {min} to {max}")));
        }
        Ok((input.name, value))
    };
    routine.inputs.iter().map(read).collect()
}
