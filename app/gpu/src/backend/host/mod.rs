//! Work of the CUDA back end that is not one launch: allocations, pools, traces, a card that is really full.
//!
//! A routine is one entry of [`ROUTINES`], as on the processor; it drives a [`Card`], and `sim.rs` is a card without a
//! GPU, so that every routine is tested on any machine. `steps.rs` is how all of them take samples; `stock.rs` lets our own
//! allocators run on real memory.

mod affine_peak;
mod alloc_cost;
mod attention_peak;
mod boundary;
mod buffer_pool;
mod capped_replay;
mod capstone;
mod checkpoint_chain;
mod fill_card;
mod gate;
mod granularity;
mod keep_recompute_offload;
mod kept_tensor;
mod kv_error;
mod lanes;
mod largest;
mod launch_cost;
mod methodology;
mod occupancy_truth;
mod policies;
mod serve_steps;
mod server;
#[cfg(test)]
mod sim;
mod small_training;
mod steps;
mod stock;
#[cfg(test)]
mod tests;

pub use lanes::Lanes;

use super::PointCx;
use crate::error::RunError;
use crate::manifest::{HostRoutine, Kernel};
use crate::oracle::{self, Check, MAX_WORDS_QUICK};
use crate::plan::PointPlan;
use crate::vars::eval_whole;
use std::collections::BTreeMap;
use vramlab_trace::{Invalid, OracleOutcome, Point, Telemetry};
use vramlab_units::Text;

/// What the driver hands out at a time, and the size of a page of [`Card::page`].
pub const PAGE: u64 = 2 << 20;

/// Bytes of a stream-ordered pool, by the pool's own counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolBytes {
    pub used: u64,
    pub most_used: u64,
    pub reserved: u64,
    pub most_reserved: u64,
}

/// A card, as routines see it. `None` of an allocation means that the card refused for lack of memory.
pub trait Card: Lanes {
    /// Free and total bytes.
    fn memory(&self) -> Result<[u64; 2], RunError>;
    /// `cudaMalloc` and `cudaFree`.
    fn malloc(&mut self, bytes: u64) -> Result<Option<u64>, RunError>;
    fn free(&mut self, address: u64) -> Result<(), RunError>;
    /// A new stream-ordered pool in place of the last one.
    fn open_pool(&mut self, threshold_bytes: u64) -> Result<(), RunError>;
    fn close_pool(&mut self) -> Result<(), RunError>;
    /// `cudaMallocAsync` and `cudaFreeAsync` on the one stream.
    fn pool_malloc(&mut self, bytes: u64) -> Result<Option<u64>, RunError>;
    fn pool_free(&mut self, address: u64) -> Result<(), RunError>;
    fn pool_bytes(&self) -> Result<PoolBytes, RunError>;
    /// Waits for the stream.
    fn sync(&mut self) -> Result<(), RunError>;
    /// Address space without memory.
    fn range(&mut self, bytes: u64) -> Result<u64, RunError>;
    fn drop_range(&mut self, address: u64, bytes: u64) -> Result<(), RunError>;
    /// A physical page of [`PAGE`] bytes; a handle.
    fn page(&mut self) -> Result<u64, RunError>;
    fn drop_page(&mut self, page: u64) -> Result<(), RunError>;
    fn map(&mut self, address: u64, page: u64) -> Result<(), RunError>;
    fn unmap(&mut self, address: u64) -> Result<(), RunError>;
    /// Sets and reads memory.
    fn set(&mut self, address: u64, byte: u8, bytes: u64) -> Result<(), RunError>;
    fn get(&mut self, address: u64, out: &mut [u8]) -> Result<(), RunError>;
    /// Host memory for copies, pinned or as any other; a handle.
    fn host(&mut self, bytes: u64, is_pinned: bool) -> Result<u64, RunError>;
    fn host_bytes(&mut self, host: u64) -> Result<&mut [u8], RunError>;
    fn drop_host(&mut self, host: u64) -> Result<(), RunError>;
    /// Queues a copy of the whole of a host buffer to the card, and one of as many bytes back.
    fn upload(&mut self, address: u64, host: u64) -> Result<(), RunError>;
    fn download(&mut self, address: u64, host: u64) -> Result<(), RunError>;
    /// Keeps the stream busy for so long, queued.
    fn busy(&mut self, micros: u64) -> Result<(), RunError>;
    /// Queues a kernel of the routine's own source over `n_blocks` blocks of `n_threads`.
    fn launch(&mut self, entry: &str, n_blocks: u32, n_threads: u32, args: &[u64]) -> Result<(), RunError> {
        self.launch_shared(entry, [n_blocks, n_threads, 0], args)
    }
    /// The same with so many bytes of dynamic shared memory: blocks, threads, bytes.
    fn launch_shared(&mut self, entry: &str, shape: [u32; 3], args: &[u64]) -> Result<(), RunError>;
    /// Blocks of so many threads and bytes of dynamic shared memory that an SM holds at once, 0 where they cannot be launched;
    /// registers and local bytes of a thread.
    fn occupancy(&mut self, entry: &str, threads: u32, shared_bytes: u32) -> Result<[u32; 3], RunError>;
}

/// A number that a routine reads, by formula in the kernel's `[cuda_host.with]`.
pub struct Input {
    pub name: &'static str,
    pub min: u64,
    pub max: u64,
    pub about: &'static str,
}

/// One routine, as data. It writes one word a check to the buffer `out`: 1 where the check holds.
pub struct Routine {
    /// Named by `routine` in a kernel's `[cuda_host]`.
    pub id: &'static str,
    pub about: Text,
    pub inputs: &'static [Input],
    /// What it writes beside the times, one number a sample.
    pub readings: &'static [&'static str],
    /// What each word of `out` says.
    pub checks: &'static [&'static str],
    run: fn(&mut Stage<'_>) -> Result<Taken, RunError>,
}

/// Every routine, in alphabetical order of ids.
pub const ROUTINES: &[Routine] = &[
    affine_peak::AFFINE_PEAK,
    alloc_cost::ALLOC_COST,
    policies::POLICIES,
    attention_peak::ATTENTION_PEAK,
    buffer_pool::BUFFER_POOL,
    boundary::BOUNDARY,
    capped_replay::CAPPED_REPLAY,
    capstone::CAPSTONE,
    checkpoint_chain::CHECKPOINT_CHAIN,
    fill_card::FILL_CARD,
    granularity::GRANULARITY,
    keep_recompute_offload::KEEP_RECOMPUTE_OFFLOAD,
    kept_tensor::KEPT_TENSOR,
    kv_error::KV_ERROR,
    largest::LARGEST,
    launch_cost::LAUNCH_COST,
    methodology::METHODOLOGY,
    occupancy_truth::OCCUPANCY_TRUTH,
    gate::GATE,
    serve_steps::SERVE_STEPS,
    small_training::SMALL_TRAINING,
];

/// The routine called `id`.
pub fn find(id: &str) -> Option<&'static Routine> {
    ROUTINES.iter().find(|routine| routine.id == id)
}

/// The buffer that holds the checks.
pub const OUT: &str = "out";

/// What a routine measured.
#[derive(Default)]
pub struct Taken {
    /// Nanoseconds of whatever the experiment times, one a sample.
    pub samples_ns: Vec<f64>,
    pub readings: BTreeMap<String, Vec<f64>>,
    /// In the order of the routine's table.
    pub checks: Vec<bool>,
}

impl Taken {
    /// One number more of a reading.
    fn read(&mut self, name: &'static str, value: f64) {
        self.readings.entry(name.to_owned()).or_default().push(value);
    }
}

/// What a routine works with.
struct Stage<'a> {
    inputs: BTreeMap<&'static str, u64>,
    card: &'a mut dyn Card,
    n_samples: usize,
    cx: &'a PointCx,
}

impl Stage<'_> {
    /// An input of the routine's own table.
    fn get(&self, name: &str) -> u64 {
        debug_assert!(self.inputs.contains_key(name), "{name} is not in the routine's table");
        self.inputs.get(name).copied().unwrap_or_default()
    }

    /// Memory that the routine cannot do without.
    fn must(&mut self, bytes: u64) -> Result<u64, RunError> {
        match self.card.malloc(bytes)? {
            Some(address) => Ok(address),
            None => Err(refused(self.card, bytes)),
        }
    }
}

/// A refusal that the routine did not provoke.
fn refused(card: &dyn Card, asked_bytes: u64) -> RunError {
    let [free_bytes, total_bytes] = card.memory().unwrap_or_default();
    RunError::OutOfMemory { asked_bytes, free_bytes, total_bytes }
}

/// Measures one point on a card.
pub fn measure(
    kernel: &Kernel,
    host: &HostRoutine,
    point: &PointPlan,
    card: &mut dyn Card,
    cx: &PointCx,
) -> Result<Point, RunError> {
    let content = |what: String| RunError::Content { what: format!("{}: {what}", kernel.slug) };
    let routine = find(&host.routine).ok_or_else(|| {
        let known: Vec<&str> = ROUTINES.iter().map(|routine| routine.id).collect();
        content(format!("there is no routine \"{}\"; the routines are {}", host.routine, known.join(", ")))
    })?;
    let inputs = inputs(routine, host, point).map_err(content)?;
    let n_samples = point.n_samples.max(1) as usize;
    let taken = (routine.run)(&mut Stage { inputs, card, n_samples, cx })?;
    let words: Vec<u8> = taken.checks.iter().flat_map(|holds| u32::from(*holds).to_le_bytes()).collect();
    let buffers = BTreeMap::from([(OUT.to_owned(), words)]);
    let check = Check { kernel, vars: &point.vars, job_seed: 0, buffers: &buffers, max_words: MAX_WORDS_QUICK };
    let oracle = oracle::check(&check).map_err(content)?;
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

/// The routine's numbers for one point.
fn inputs(routine: &Routine, host: &HostRoutine, point: &PointPlan) -> Result<BTreeMap<&'static str, u64>, String> {
    let read = |input: &Input| {
        let formula = host.with.get(input.name).map_or(input.name, String::as_str);
        let value = eval_whole(formula, &point.vars, input.max)
            .map_err(|why| format!("cuda_host.with.{}: {why}", input.name))?;
        if value < input.min {
            let (name, min, max) = (input.name, input.min, input.max);
            return Err(format!("cuda_host.with.{name} is {value}; it must be from {min} to {max}"));
        }
        Ok((input.name, value))
    };
    routine.inputs.iter().map(read).collect()
}
