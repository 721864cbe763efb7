//! The buffers of a job: sized by formula, checked against the budget before anything is allocated, reused from point to
//! point, filled on the device from the job's seed.

use super::driver::{Device, Memory, Shape};
use super::tools::Tools;
use crate::error::RunError;
use crate::manifest::{Fill, Kernel, Mask};
use crate::oracle::words;
use crate::plan::PointPlan;
use std::collections::BTreeMap;

/// Buffers by name. Each keeps its largest size so far; a point uses the first bytes of it.
#[derive(Default)]
pub struct Buffers {
    held: BTreeMap<String, Memory>,
    used: BTreeMap<String, u64>,
    /// Bits of random fills, by the point's numbers.
    masks: Vec<Mask>,
}

impl Buffers {
    /// Makes room for the point's buffers. Nothing is allocated if they do not fit the budget together.
    pub fn prepare(
        &mut self,
        device: &Device,
        kernel: &Kernel,
        point: &PointPlan,
        budget_bytes: u64,
    ) -> Result<(), RunError> {
        self.used = sizes(kernel, point)?;
        self.masks = masks(kernel, point)?;
        let asked_bytes = self.used.values().sum();
        if asked_bytes > budget_bytes {
            return Err(RunError::OverBudget { asked_bytes, budget_bytes });
        }
        // Too small ones go first, so that the old and the new size never stand side by side.
        let used = &self.used;
        self.held.retain(|name, memory| used.get(name).is_some_and(|bytes| memory.bytes >= *bytes));
        for (name, bytes) in &self.used {
            if !self.held.contains_key(name) {
                let memory = Memory::alloc(device, *bytes, &kernel.slug)?;
                self.held.insert(name.clone(), memory);
            }
        }
        Ok(())
    }

    /// Fills inputs from the seed and poisons outputs.
    pub fn fill(&self, tools: &Tools, kernel: &Kernel, job_seed: u64) -> Result<(), RunError> {
        for (position, buffer) in kernel.buffers.iter().enumerate() {
            let memory = self.get(&buffer.name)?;
            let bytes = self.bytes(&buffer.name);
            let seed = words::buffer_seed(job_seed, position);
            match buffer.fill {
                Fill::Zero => memory.set(0, bytes, &buffer.name)?,
                Fill::Poison => memory.set(0xFF, bytes, &buffer.name)?,
                Fill::Random => tools.fill_words(memory, bytes / 4, seed, self.mask(position))?,
                Fill::UnitF32 => tools.fill(memory, bytes / 4, seed, 1)?,
                Fill::UnitBf16 => tools.fill(memory, bytes / 4, seed, 3)?,
                Fill::Shuffled => tools.fill(memory, bytes / 4, seed, 4)?,
                Fill::UnitF64 => tools.fill(memory, bytes / 8, seed, 2)?,
            }
        }
        Ok(())
    }

    fn mask(&self, position: usize) -> Mask {
        self.masks.get(position).copied().unwrap_or(Mask { keep: u32::MAX, set: 0 })
    }

    pub fn get(&self, name: &str) -> Result<&Memory, RunError> {
        self.held.get(name).ok_or_else(|| RunError::Content { what: format!("the kernel has no buffer `{name}`") })
    }

    pub fn address(&self, name: &str) -> Result<u64, RunError> {
        Ok(self.get(name)?.address)
    }

    /// Bytes of the buffer that this point uses.
    pub fn bytes(&self, name: &str) -> u64 {
        self.used.get(name).copied().unwrap_or_default()
    }

    pub fn clear(&mut self) {
        self.held.clear();
        self.used.clear();
    }
}

/// Size of every buffer at this point, as the plan computed it.
fn sizes(kernel: &Kernel, point: &PointPlan) -> Result<BTreeMap<String, u64>, RunError> {
    let mut out = BTreeMap::new();
    for buffer in &kernel.buffers {
        let key = format!("bytes.{}", buffer.name);
        match point.vars.get(&key) {
            Some(bytes) if *bytes >= 0.0 && *bytes < 1e15 => out.insert(buffer.name.clone(), *bytes as u64),
            found => return Err(RunError::Content { what: format!("{key} = {found:?} is not a size") }),
        };
    }
    Ok(out)
}

/// Bits of every buffer's random words at this point.
fn masks(kernel: &Kernel, point: &PointPlan) -> Result<Vec<Mask>, RunError> {
    let mask = |buffer: &crate::manifest::Buffer| {
        let content = |why| RunError::Content { what: format!("{}: buffer {}: {why}", kernel.slug, buffer.name) };
        buffer.mask(&point.vars).map_err(content)
    };
    kernel.buffers.iter().map(mask).collect()
}

/// Enough blocks for a loop over the whole grid.
pub const FILL: Shape = Shape { grid: (2048, 1), block: (256, 1), shared_bytes: 0 };
