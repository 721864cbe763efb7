//! A training step under a strategy: forward, backward, update, with the same arithmetic whatever is kept.

use crate::arena::{Arena, Owner, Peak, Tensor};
use crate::data;
use crate::device::{Adam, Device, Op, Phase, Trouble};
use crate::layers::{self, Part};
use crate::net::{Optimizer, Workload};
use crate::strategy::Strategy;
use crate::tape::{Node, Saved, Tape};
use std::collections::BTreeMap;

const SGD_RATE: f64 = 0.05;
const ADAM: Adam = Adam { rate: 1e-3, beta1: 0.9, beta2: 0.999, eps: 1e-8, decay: 0.01, correct1: 0.0, correct2: 0.0 };

/// A stretch of layers, as the forward pass left it.
struct Stretch {
    first: usize,
    end: usize,
    /// The value of its result.
    result: u64,
    left: Left,
}

enum Left {
    Nodes(Vec<Node>),
    /// Only its input: it is run again.
    Input(Saved),
}

impl Left {
    fn saved(&mut self) -> Vec<&mut Saved> {
        match self {
            Self::Nodes(nodes) => nodes.iter_mut().flat_map(Node::saved).collect(),
            Self::Input(saved) => vec![saved],
        }
    }
}

/// A net in training.
pub struct Trainer<'d> {
    work: Workload,
    strategy: Strategy,
    tape: Tape<'d>,
    moments: Vec<[Tensor; 2]>,
    n_done: i32,
}

impl<'d> Trainer<'d> {
    /// Puts parameters and optimizer state on the device.
    pub fn new(
        work: Workload,
        strategy: Strategy,
        device: &'d mut dyn Device,
        budget_bytes: Option<u64>,
    ) -> Result<Self, Trouble> {
        let params = work.params();
        let names = params.iter().map(|param| (param.name.clone(), param.words)).collect();
        let mut tape = Tape::new(Arena::new(device, budget_bytes), names);
        let mut moments = Vec::new();
        for (idx, param) in params.iter().enumerate() {
            let tensor = tape.arena.take(param.words, Owner::Parameters, &param.name)?;
            if !tape.arena.device.is_dry() {
                tape.arena.device.put(tensor.buf, &data::param(work.seed, idx, param))?;
            }
            tape.params.push(tensor);
            if work.optimizer == Optimizer::Adamw {
                let mut moment = || -> Result<Tensor, Trouble> {
                    let made = tape.arena.take(param.words, Owner::OptimizerState, &param.name)?;
                    if !tape.arena.device.is_dry() {
                        tape.arena.device.put(made.buf, &vec![0.0; param.words])?;
                    }
                    Ok(made)
                };
                moments.push([moment()?, moment()?]);
            }
        }
        Ok(Self { work, strategy, tape, moments, n_done: 0 })
    }

    /// Forward and backward of the whole batch: the loss. Gradients stay for [`Self::gradients`] and [`Self::update`].
    pub fn gradients_of_batch(&mut self) -> Result<f64, Trouble> {
        let n = self.work.batch / self.strategy.micro_batches;
        let mut loss = 0.0;
        for part in 0..self.strategy.micro_batches {
            loss += self.part(part * n, n)?;
        }
        Ok(loss)
    }

    /// One whole step: the loss before it.
    pub fn step(&mut self) -> Result<f64, Trouble> {
        let loss = self.gradients_of_batch()?;
        self.update()?;
        self.tape.arena.device.sync()?;
        Ok(loss)
    }

    fn part(&mut self, first: usize, batch: usize) -> Result<f64, Trouble> {
        let (work, part) = (self.work, Part { batch, rows: batch * self.work.seq_len });
        self.tape.phase(Phase::Forward);
        self.tape.arena.place = "data".to_owned();
        let mut x = self.tape.arena.take(part.rows * work.width, Owner::Activations, "input")?;
        let targets = self.tape.arena.take(part.rows, Owner::Activations, "classes")?;
        if !self.tape.arena.device.is_dry() {
            let (input, classes) = data::samples(&work, first, batch);
            self.tape.arena.device.put(x.buf, &input)?;
            self.tape.arena.device.put(targets.buf, &classes)?;
        }
        self.tape.data = x.id();
        let stretches = self.forward(part, &mut x)?;
        let loss = self.head(part, &x, &targets)?;
        let grad = self.tape.taken(x.id());
        drop((x, targets));
        self.backward(part, stretches, grad)?;
        self.tape.arena.sweep()?;
        Ok(loss)
    }

    fn forward(&mut self, part: Part, x: &mut Tensor) -> Result<Vec<Stretch>, Trouble> {
        let (work, strategy) = (self.work, self.strategy);
        let length = strategy.checkpoint_every.max(1);
        let mut stretches = Vec::new();
        for first in (0..work.n_layers).step_by(length) {
            let end = (first + length).min(work.n_layers);
            let is_kept = strategy.checkpoint_every == 0;
            let input = Saved::new(x);
            let (y, nodes) = self.tape.record(is_kept, |tape| run(tape, &work, part, first..end, x.clone()))?;
            let mut left = if is_kept { Left::Nodes(nodes) } else { Left::Input(input) };
            *x = y;
            if strategy.is_offloaded {
                self.tape.park(left.saved())?;
            }
            stretches.push(Stretch { first, end, result: x.id(), left });
        }
        Ok(stretches)
    }

    /// Head and loss, forward and backward.
    fn head(&mut self, part: Part, x: &Tensor, targets: &Tensor) -> Result<f64, Trouble> {
        let work = self.work;
        let (logits, nodes) = self.tape.record(true, |tape| layers::head(tape, &work, part, x))?;
        let losses = self.tape.arena.take(part.rows, Owner::Activations, "losses")?;
        let is_whole = self.strategy.is_undivided;
        let scale = 1.0 / (if is_whole { part.rows } else { work.rows() }) as f64;
        let (rows, cols) = (part.rows, work.n_classes);
        let device = &mut self.tape.arena.device;
        device.run(&Op::Loss { loss: losses.buf, logits: logits.buf, targets: targets.buf, rows, cols, scale })?;
        let each = device.get(losses.buf, rows)?;
        drop(losses);
        self.tape.phase(Phase::Backward);
        let value = logits.id();
        self.tape.give(value, logits)?;
        self.tape.backward(nodes)?;
        Ok(each.iter().sum::<f64>() / work.rows() as f64)
    }

    fn backward(&mut self, part: Part, stretches: Vec<Stretch>, mut grad: Option<Tensor>) -> Result<(), Trouble> {
        let work = self.work;
        for mut stretch in stretches.into_iter().rev() {
            self.tape.arena.place = format!("layer {}", stretch.first);
            if self.strategy.is_offloaded {
                self.tape.unpark(stretch.left.saved())?;
            }
            let (result, input, nodes) = match stretch.left {
                Left::Nodes(mut nodes) => {
                    let input = nodes.first_mut().and_then(|node| node.saved().first().map(|saved| saved.value()));
                    (stretch.result, input.unwrap_or_default(), nodes)
                }
                Left::Input(saved) => {
                    let x = saved.tensor().ok_or_else(|| Trouble::Device("a checkpoint is not here".to_owned()))?;
                    drop(saved);
                    if stretch.first == 0 {
                        self.tape.data = x.id();
                    }
                    let input = x.id();
                    self.tape.phase(Phase::Recompute);
                    let again = |tape: &mut Tape<'_>| run(tape, &work, part, stretch.first..stretch.end, x);
                    let (y, nodes) = self.tape.record(true, again)?;
                    self.tape.phase(Phase::Backward);
                    (y.id(), input, nodes)
                }
            };
            let given = grad.take().ok_or_else(|| Trouble::Device("a layer got no gradient".to_owned()))?;
            self.tape.give(result, given)?;
            self.tape.backward(nodes)?;
            grad = self.tape.taken(input);
        }
        Ok(())
    }

    /// Applies the gradients and drops them.
    pub fn update(&mut self) -> Result<(), Trouble> {
        self.n_done += 1;
        self.tape.phase(Phase::Update);
        let adam =
            Adam { correct1: 1.0 - ADAM.beta1.powi(self.n_done), correct2: 1.0 - ADAM.beta2.powi(self.n_done), ..ADAM };
        for idx in 0..self.tape.params.len() {
            let Some(g) = self.tape.grads[idx].take() else { continue };
            let (w, n) = (self.tape.params[idx].buf, g.words);
            let op = match self.moments.get(idx) {
                Some([m, v]) => Op::AdamW { w, g: g.buf, m: m.buf, v: v.buf, n, adam },
                None => Op::Sgd { w, g: g.buf, n, rate: SGD_RATE },
            };
            self.tape.arena.device.run(&op)?;
        }
        self.tape.arena.sweep()
    }

    /// Every gradient, in the order of the parameters.
    pub fn gradients(&mut self) -> Result<Vec<Vec<f64>>, Trouble> {
        let mut all = Vec::new();
        for idx in 0..self.tape.grads.len() {
            if let Some(grad) = self.tape.grads[idx].clone() {
                all.push(self.tape.arena.device.get(grad.buf, grad.words)?);
            }
        }
        Ok(all)
    }

    /// Every parameter.
    pub fn params(&mut self) -> Result<Vec<Vec<f64>>, Trouble> {
        let tensors = self.tape.params.clone();
        tensors.iter().map(|tensor| self.tape.arena.device.get(tensor.buf, tensor.words)).collect()
    }

    /// Writes a parameter.
    pub fn set_param(&mut self, idx: usize, values: &[f64]) -> Result<(), Trouble> {
        let buf = self.tape.params[idx].buf;
        self.tape.arena.device.put(buf, values)
    }

    pub fn peak(&mut self) -> &Peak {
        self.tape.arena.peak()
    }

    /// The most of each phase.
    pub fn phases(&self) -> &BTreeMap<Phase, u64> {
        self.tape.arena.phases()
    }

    pub fn forget_peak(&mut self) {
        self.tape.arena.forget_peak();
    }

    /// The most that waited on the host at once, and all bytes moved so far in both directions.
    pub fn host_bytes(&self) -> [u64; 2] {
        [self.tape.most_parked_bytes, self.tape.moved_bytes]
    }

    /// Gives everything back.
    pub fn close(mut self) -> Result<(), Trouble> {
        self.moments.clear();
        self.tape.params.clear();
        self.tape.grads.clear();
        self.tape.arena.sweep()
    }
}

fn run(
    tape: &mut Tape<'_>,
    work: &Workload,
    part: Part,
    layers: std::ops::Range<usize>,
    mut x: Tensor,
) -> Result<Tensor, Trouble> {
    for idx in layers {
        x = layers::layer(tape, work, part, idx, &x)?;
    }
    Ok(x)
}
