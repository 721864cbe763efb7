//! A kernel of the course played on the processor: its buffers filled as on a device, its launches played by `simt`, its results
//! held against the same oracle. What it tells is how the kernel treats memory; how fast that is, only a GPU tells.

use crate::launch::{self, Launch};
use crate::manifest::Kernel;
use crate::oracle::{self, Check};
use crate::vars::{PointVars, Vars};
use std::collections::BTreeMap;
use std::sync::Arc;
use vramlab_simt as simt;
use vramlab_trace::{DeviceFacts, OracleOutcome};
use vramlab_units::Map;

/// Most bytes of all buffers together: they are held in the interface's own memory.
pub const MOST_BYTES: u64 = 64 << 20;
/// Operations, lane by lane, before a kernel is given up: a few seconds.
pub const BUDGET: u64 = 400_000_000;
/// The machine's architecture, as a compiler for it defines it.
const ARCH: [&str; 2] = ["__CUDA_ARCH__", "900"];
const SEED: u64 = 20_261_130;

/// What a kernel is told of the device that plays it: two SMs of a Hopper, for kernels that launch as many blocks as fit.
pub fn machine() -> DeviceFacts {
    let one = |value: u32| Some(f64::from(value));
    DeviceFacts { cc: one(90), sm_count: one(2), threads_per_sm: one(2048), ..DeviceFacts::default() }
}

/// A kernel that was played to its end.
#[derive(Clone, Debug)]
pub struct Played {
    /// One a launch, in order.
    pub reports: Vec<simt::Report>,
    pub oracle: OracleOutcome,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlayError {
    /// Something is wrong with the source, or it does what no kernel may.
    #[error("{0}")]
    Source(simt::Fault),
    /// The manifest and its parameters make no launch.
    #[error("{0}")]
    Launch(String),
    /// No choice of its parameters is small enough for the processor.
    #[error("no choice of its parameters makes it small enough to be played")]
    TooLarge,
}

impl From<simt::Fault> for PlayError {
    fn from(fault: simt::Fault) -> Self {
        Self::Source(fault)
    }
}

/// Plays `source` as the kernel that `kernel` describes, with `params` where they are given and defaults elsewhere.
pub fn play(kernel: &Kernel, source: &str, params: &Map, budget: u64) -> Result<Played, PlayError> {
    let mut player = Player::new(kernel, source, params, budget)?;
    while !player.go_on()? {}
    player.finish()
}

/// A kernel on its way through its launches, piece by piece: who has no threads can paint in between.
pub struct Player {
    kernel: Kernel,
    vars: Vars,
    program: Arc<simt::tree::Program>,
    launches: Vec<(Launch, Vec<simt::Arg>)>,
    buffers: Vec<simt::Buffer>,
    budget: u64,
    reports: Vec<simt::Report>,
    playing: Option<simt::Playing>,
}

impl Player {
    /// Reads the source and fills the buffers; nothing is played yet.
    pub fn new(kernel: &Kernel, source: &str, params: &Map, budget: u64) -> Result<Self, PlayError> {
        let Some(cuda) = &kernel.cuda else {
            return Err(PlayError::Launch(format!("{} has no CUDA source", kernel.slug)));
        };
        let vars = PointVars::of(kernel, params, &machine()).vars;
        let launches = Launch::all(cuda, &vars).map_err(PlayError::Launch)?;
        let mut define = launches.first().map(|launch| launch.define.clone()).unwrap_or_default();
        define.push(ARCH.map(str::to_owned).into());
        // The source first: what is wrong with it is what its writer wants to hear.
        let program = simt::read(source, &define)?;
        let buffers = fill(kernel, &vars)?;
        let with_args = launches.into_iter().map(|launch| {
            let args = launch.args.iter().map(|arg| argument(kernel, arg)).collect::<Result<Vec<_>, _>>()?;
            Ok((launch, args))
        });
        Ok(Self {
            launches: with_args.collect::<Result<_, PlayError>>()?,
            kernel: kernel.clone(),
            vars,
            program: Arc::new(program),
            buffers,
            budget,
            reports: Vec::new(),
            playing: None,
        })
    }

    /// Plays a slice, about a millisecond; true when all launches are done.
    pub fn go_on(&mut self) -> Result<bool, PlayError> {
        let Some((launch, args)) = self.launches.get(self.reports.len()) else { return Ok(true) };
        let mut playing = match self.playing.take() {
            Some(playing) => playing,
            None => {
                let (grid, block) = (launch.grid, launch.block);
                let played = simt::Launch {
                    entry: &launch.entry,
                    grid: [grid[0], grid[1], 1],
                    block: [block[0], block[1], 1],
                    shared_bytes: u64::from(launch.shared_bytes),
                    args,
                    budget: self.budget,
                };
                let buffers = std::mem::take(&mut self.buffers);
                simt::Playing::begin(Arc::clone(&self.program), &played, buffers)?
            }
        };
        match playing.go_on()? {
            Some((report, buffers)) => {
                self.reports.push(report);
                self.buffers = buffers;
            }
            None => self.playing = Some(playing),
        }
        Ok(self.reports.len() == self.launches.len())
    }

    /// Holds the results against the oracle.
    pub fn finish(self) -> Result<Played, PlayError> {
        let held: BTreeMap<String, Vec<u8>> =
            self.buffers.into_iter().map(|buffer| (buffer.name, buffer.bytes)).collect();
        let (kernel, vars) = (&self.kernel, &self.vars);
        let check = Check { kernel, vars, job_seed: SEED, buffers: &held, max_words: oracle::MAX_WORDS_QUICK };
        Ok(Played { reports: self.reports, oracle: oracle::check(&check).map_err(PlayError::Launch)? })
    }
}

/// The buffers as a device would have them before the launch.
fn fill(kernel: &Kernel, vars: &Vars) -> Result<Vec<simt::Buffer>, PlayError> {
    let mut total = 0;
    let mut out = Vec::new();
    for (position, buffer) in kernel.buffers.iter().enumerate() {
        let size = vars.get(&format!("bytes.{}", buffer.name)).copied().unwrap_or(0.0).ceil().max(0.0);
        total += size as u64;
        if size > MOST_BYTES as f64 || total > MOST_BYTES {
            return Err(PlayError::Launch(format!(
                "the buffers need more than {MOST_BYTES} B; choose smaller parameters"
            )));
        }
        let mut bytes = vec![0; size as usize];
        oracle::fill_bytes(buffer.fill, oracle::buffer_seed(SEED, position), 0, &mut bytes);
        let mask = buffer.mask(vars).map_err(PlayError::Launch)?;
        for word in bytes.chunks_exact_mut(4) {
            let value = mask.of(u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
            word.copy_from_slice(&value.to_le_bytes());
        }
        out.push(simt::Buffer { name: buffer.name.clone(), bytes });
    }
    Ok(out)
}

fn argument(kernel: &Kernel, arg: &launch::Arg) -> Result<simt::Arg, PlayError> {
    Ok(match arg {
        launch::Arg::Ptr(name) => {
            let found = kernel.buffers.iter().position(|buffer| buffer.name == *name);
            simt::Arg::Buffer(found.ok_or_else(|| PlayError::Launch(format!("no buffer \"{name}\"")))?)
        }
        launch::Arg::U32(value) => simt::Arg::Bits(u64::from(*value)),
        launch::Arg::U64(value) => simt::Arg::Bits(*value),
        launch::Arg::F32(value) => simt::Arg::Bits(u64::from(value.to_bits())),
        launch::Arg::F64(value) => simt::Arg::Bits(value.to_bits()),
        launch::Arg::TensorMap(_) => {
            return Err(PlayError::Launch(
                "a tensor map is for the copy engine of a Hopper; only a GPU runs it".into(),
            ));
        }
    })
}
