//! The back end's own small kernels: filling buffers, holding the stream.

use super::buffers::FILL;
use super::compile;
use super::driver::{Function, Memory, Shape};
use crate::error::RunError;
use crate::manifest::Mask;
use crate::oracle::words;

/// The source of the kernels below; compiled like any other.
pub const SOURCE: &str = include_str!("tools.cu");

pub struct Tools {
    fill: Function,
    spin: Function,
}

impl Tools {
    pub fn compile(cc: u32) -> Result<Self, RunError> {
        let image = compile::compile("tools.cu", SOURCE, cc, &[])?;
        Ok(Self {
            fill: Function::load(&image.bytes, "vramlab_fill")?,
            spin: Function::load(&image.bytes, "vramlab_spin")?,
        })
    }

    /// Fills `n` elements: `kind` 0 = words, 1 = floats, 2 = doubles, 3 = pairs of bf16 in [0, 1),
    /// 4 = indices in random order.
    pub fn fill(&self, memory: &Memory, n: u64, seed: u64, kind: u32) -> Result<(), RunError> {
        self.launch_fill(memory, n, seed, kind, Mask { keep: u32::MAX, set: 0 })
    }

    /// Fills `n` random words of which `mask` keeps and sets bits.
    pub fn fill_words(&self, memory: &Memory, n: u64, seed: u64, mask: Mask) -> Result<(), RunError> {
        self.launch_fill(memory, n, seed, 0, mask)
    }

    fn launch_fill(&self, memory: &Memory, n: u64, seed: u64, kind: u32, mask: Mask) -> Result<(), RunError> {
        let (key, kind) = (u64::from(words::key_of(seed)), u64::from(kind));
        self.fill.launch(FILL, &[memory.address, n, key, kind, mask.keep.into(), mask.set.into()])
    }

    /// Holds the stream for `cycles` SM clocks.
    pub fn spin(&self, cycles: u64) -> Result<(), RunError> {
        self.spin.launch(Shape { grid: (1, 1), block: (1, 1), shared_bytes: 0 }, &[cycles])
    }
}
