//! Optimizers: what they keep, and what they need for the time of a step.

use crate::plan::{Optimizer, Plan, Update};
use crate::sim::{Dtype, Sim, Tensor};
use crate::tape::Owner;

/// Values of an 8-bit state that share a scale.
const BLOCK_8BIT: u64 = 256;
/// Smaller tensors keep float32 states in bitsandbytes.
const LEAST_8BIT: u64 = 4096;

/// An optimizer over its parameters.
pub(crate) struct Optim {
    optimizer: Optimizer,
    update: Update,
    params: Vec<Tensor>,
    /// Float32 copies that are updated in place of the parameters.
    masters: Vec<Tensor>,
    state: Vec<Tensor>,
    has_begun: bool,
}

impl Optim {
    pub fn new(sim: &Sim, plan: &Plan, params: Vec<Tensor>) -> Self {
        sim.name("master weight");
        let masters = if plan.has_masters {
            params.iter().map(|param| sim.alloc_for(param.n, Dtype::F32, Owner::Optimizer)).collect()
        } else {
            Vec::new()
        };
        Self { optimizer: plan.optimizer, update: plan.update, params, masters, state: Vec::new(), has_begun: false }
    }

    /// `step()`: states are made in the first.
    pub fn step(&mut self, sim: &Sim) {
        let mut master_grads = Vec::new();
        for _ in 0..self.masters.len().min(1) {
            sim.name("master gradient");
            for (param, master) in self.params.iter().zip(&self.masters) {
                master_grads.push(sim.alloc_for(master.n, Dtype::F32, Owner::Gradient));
                drop(sim.take_grad(param));
            }
        }
        sim.name("optimizer state");
        if !std::mem::replace(&mut self.has_begun, true) {
            self.begin(sim);
        }
        let of = if self.masters.is_empty() { &self.params } else { &self.masters };
        if self.optimizer == Optimizer::AdamW {
            match self.update {
                Update::Foreach => {
                    sim.name("foreach_sqrt");
                    let mut roots: Vec<Tensor> =
                        of.iter().map(|param| sim.alloc_for(param.n, param.dtype, Owner::Temporary)).collect();
                    while roots.pop().is_some() {}
                }
                Update::Loop => {
                    sim.name("sqrt");
                    // The last parameter's denominator lives until the next one's takes its name.
                    let mut denominator = None;
                    for param in of {
                        let root = sim.alloc_for(param.n, param.dtype, Owner::Temporary);
                        let next = sim.alloc_for(param.n, param.dtype, Owner::Temporary);
                        drop(root);
                        drop(denominator.replace(next));
                    }
                }
                Update::Fused => {}
            }
        }
        drop(master_grads);
    }

    fn begin(&mut self, sim: &Sim) {
        let of = if self.masters.is_empty() { &self.params } else { &self.masters };
        let state = &mut self.state;
        let mut keep = |n, dtype| state.push(sim.alloc_for(n, dtype, Owner::Optimizer));
        let mut has_tables = false;
        for param in of {
            match self.optimizer {
                Optimizer::AdamW => {
                    if self.update == Update::Fused {
                        keep(1, Dtype::F32);
                    }
                    keep(param.n, param.dtype);
                    keep(param.n, param.dtype);
                }
                Optimizer::AdamW8bit if param.n >= LEAST_8BIT => {
                    // The tables of the 256 values, one for each state, shared by all parameters.
                    if !std::mem::replace(&mut has_tables, true) {
                        keep(256, Dtype::F32);
                        keep(256, Dtype::F32);
                    }
                    keep(param.n, Dtype::U8);
                    keep(param.n, Dtype::U8);
                    keep(param.n.div_ceil(BLOCK_8BIT), Dtype::F32);
                    keep(param.n.div_ceil(BLOCK_8BIT), Dtype::F32);
                }
                Optimizer::AdamW8bit => {
                    keep(param.n, Dtype::F32);
                    keep(param.n, Dtype::F32);
                }
                Optimizer::Sgdm => keep(param.n, param.dtype),
                Optimizer::Sgd => {}
            }
        }
    }

    /// `zero_grad(set_to_none=True)`.
    pub fn drop_grads(&self, sim: &Sim) {
        for param in &self.params {
            drop(sim.take_grad(param));
        }
    }
}
