//! CPU references. Every run's results are held against one before its time may be shown.
//!
//! Read `words.rs` first: every input is a counter-based generator, so that a reference recomputes just the elements it
//! wants. A kernel names its reference in `[oracle]`: an id of [`ORACLES`] and, under `with`, what the reference needs
//! by name: buffers by their name, numbers by formula. Each reference says in its `with` table what those names are;
//! `gather.rs` holds the sums over loads, `moves.rs` what copies, `footprint.rs` what walks tiles, `cycle.rs` pointer
//! chases, `stream.rs` arithmetic on doubles, `casts.rs` shorter formats, `arith.rs` chains of operations and matrix products,
//! `attention.rs` rows of attention, `decode.rs` a new token over a cache, `quantised.rs` products with few bits,
//! `group_codes.rs` groups under a scale, `compression.rs` exponents and the largest, `rows.rs` rows, windows and all that came
//! before, `fused.rs` operators that run apart or as one, `stencil.rs` windows over a matrix.
//!
//! Checks are complete as long as they recompute at most [`Check::max_words`] input words; beyond that every n-th output
//! is checked, n odd, so that all lanes of a warp take their turn. `n_checked` of the outcome says how many were.

mod arith;
mod attention;
mod casts;
mod compression;
pub mod cycle;
mod decode;
mod footprint;
mod fused;
mod gather;
mod group_codes;
mod moves;
mod quantised;
mod rows;
mod stencil;
mod stream;
mod tally;
pub mod words;

pub use words::{buffer_seed, fill_bytes, unit_bf16_at, unit_f32_at, unit_f64_at, word_at};

use crate::manifest::Kernel;
use crate::vars::{Vars, eval_whole, eval_with};
use vramlab_trace::OracleOutcome;
use vramlab_units::{Formula, Text};

/// Input words recomputed for a point of a quick run, and of a full one.
pub const MAX_WORDS_QUICK: u64 = 1 << 22;
pub const MAX_WORDS_FULL: u64 = 1 << 27;

/// What a back end read back, by buffer name.
pub trait Buffers {
    /// The whole buffer, or nothing if it was not read back.
    fn bytes(&self, name: &str) -> Option<&[u8]>;
}

impl Buffers for std::collections::BTreeMap<String, Vec<u8>> {
    fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.get(name).map(Vec::as_slice)
    }
}

/// One point to check.
pub struct Check<'a> {
    pub kernel: &'a Kernel,
    /// `PointPlan::vars`.
    pub vars: &'a Vars,
    /// `Job::seed`; buffers have their own (see [`buffer_seed`]).
    pub job_seed: u64,
    pub buffers: &'a dyn Buffers,
    pub max_words: u64,
}

/// What an entry of `with` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithKind {
    /// A buffer filled by the generator.
    Input,
    /// A buffer that the kernel wrote; it must be read back.
    Output,
    /// A whole number ≥ 0 by formula.
    Whole,
    /// Any number by formula.
    Number,
    /// A formula that is evaluated per element and may use these names beside the point's variables.
    PerElement(&'static [&'static str]),
}

/// One entry of `with`.
#[derive(Clone, Copy, Debug)]
pub struct With {
    pub name: &'static str,
    pub kind: WithKind,
    /// Formula used when the kernel does not give it; `None` means that it must.
    pub default: Option<&'static str>,
    pub about: &'static str,
}

/// One reference, as data.
pub struct Entry {
    pub id: &'static str,
    pub about: Text,
    pub with: &'static [With],
    run: fn(&Check<'_>) -> Result<OracleOutcome, String>,
}

/// Every reference, in alphabetical order of ids.
pub const ORACLES: &[Entry] = &[
    attention::ATTENTION,
    fused::BIAS_GELU,
    stencil::BOX_SUM,
    casts::CAST,
    cycle::CHASE,
    moves::COPY,
    decode::DECODE_ATTENTION,
    compression::EXPONENT_COUNTS,
    gather::FIELD_SUM,
    moves::FILL,
    arith::FMA_CHAIN,
    footprint::FOOTPRINT,
    gather::GATHER_SUM,
    group_codes::GROUP_CODES,
    arith::MATMUL,
    rows::PREFIX_SUM,
    quantised::QUANT_MATMUL,
    rows::ROW_LAYER_NORM,
    rows::ROW_SOFTMAX,
    quantised::SPARSE_MATMUL,
    gather::STRIDED_SUM,
    compression::TOP_K,
    rows::TOTAL,
    moves::TRANSPOSE,
    stream::TRIAD,
    rows::WINDOW_SUM,
];

/// The reference called `id`.
pub fn find(id: &str) -> Option<&'static Entry> {
    ORACLES.iter().find(|entry| entry.id == id)
}

/// Holds what a kernel wrote against its reference. An error is a mistake in the manifest or the back end, not in the
/// results.
pub fn check(check: &Check<'_>) -> Result<OracleOutcome, String> {
    let id = &check.kernel.oracle.id;
    let entry = find(id).ok_or_else(|| format!("there is no oracle \"{id}\""))?;
    (entry.run)(check)
}

/// The buffers that must be read back for the check, in the manifest's order.
pub fn read_back(kernel: &Kernel) -> Vec<&str> {
    let Some(entry) = find(&kernel.oracle.id) else { return Vec::new() };
    let outputs = entry.with.iter().filter(|with| with.kind == WithKind::Output);
    let names: Vec<&str> = outputs.filter_map(|with| kernel.oracle.with.get(with.name)).map(String::as_str).collect();
    kernel.buffers.iter().map(|buffer| buffer.name.as_str()).filter(|name| names.contains(name)).collect()
}

const fn input(name: &'static str, about: &'static str) -> With {
    With { name, kind: WithKind::Input, default: None, about }
}

const fn output(name: &'static str, about: &'static str) -> With {
    With { name, kind: WithKind::Output, default: None, about }
}

const fn whole(name: &'static str, default: Option<&'static str>, about: &'static str) -> With {
    With { name, kind: WithKind::Whole, default, about }
}

impl Check<'_> {
    fn with(&self, entry: &[With], name: &str) -> Result<String, String> {
        let given = self.kernel.oracle.with.get(name).cloned();
        let default = entry.iter().find(|with| with.name == name).and_then(|with| with.default);
        given.or_else(|| default.map(str::to_owned)).ok_or_else(|| format!("oracle.with.{name} is missing"))
    }

    fn whole(&self, entry: &[With], name: &str) -> Result<u64, String> {
        let formula = self.with(entry, name)?;
        eval_whole(&formula, self.vars, 1 << 53).map_err(|why| format!("oracle.with.{name}: {why}"))
    }

    fn number(&self, entry: &[With], name: &str) -> Result<f64, String> {
        let formula = self.with(entry, name)?;
        eval_with(&formula, &|var| self.vars.get(var).copied()).map_err(|why| format!("oracle.with.{name}: {why}"))
    }

    fn per_element(&self, entry: &[With], name: &str) -> Result<Formula, String> {
        Formula::parse(&self.with(entry, name)?).map_err(|error| format!("oracle.with.{name}: {error}"))
    }

    /// The generator's seed of an input buffer.
    fn seed(&self, entry: &[With], name: &str) -> Result<u64, String> {
        let buffer = self.with(entry, name)?;
        let position = self.kernel.buffers.iter().position(|known| known.name == buffer);
        position.map(|position| buffer_seed(self.job_seed, position)).ok_or_else(|| format!("no buffer \"{buffer}\""))
    }

    /// The bytes of an output buffer, of which the check needs `needed`.
    fn output(&self, entry: &[With], name: &str, needed: u64) -> Result<&[u8], String> {
        let buffer = self.with(entry, name)?;
        let bytes = self.buffers.bytes(&buffer).ok_or_else(|| format!("buffer \"{buffer}\" was not read back"))?;
        if (bytes.len() as u64) < needed {
            return Err(format!("buffer \"{buffer}\" has {} bytes; the oracle needs {needed}", bytes.len()));
        }
        Ok(bytes)
    }

    /// The same check with a smaller cap, for experiments of many points.
    fn at_most(&self, max_words: u64) -> Check<'_> {
        Check { max_words: self.max_words.min(max_words), ..*self }
    }

    /// Step between checked outputs, odd, so that `n_outputs × words_each` stays under the cap.
    fn step(&self, n_outputs: u64, words_each: u64) -> u64 {
        let total = u128::from(n_outputs) * u128::from(words_each.max(1));
        let step = total.div_ceil(u128::from(self.max_words.max(1))) as u64;
        step.max(1) | 1
    }
}

/// `0, step, 2·step, …` below `n`, and `n - 1`.
fn sampled(n: u64, step: u64) -> impl Iterator<Item = u64> {
    let last = n.checked_sub(1).filter(|last| last % step != 0);
    (0..n).step_by(step as usize).chain(last)
}

fn word(bytes: &[u8], index: u64) -> u32 {
    let at = index as usize * 4;
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests;
