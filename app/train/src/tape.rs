//! The tape: each operation of the forward pass leaves a node with what its backward pass needs.
//!
//! Gradients of values are kept by the value's number. A gradient that two nodes share is never written over
//! (`Tensor::is_alone`), so the order of every sum depends on the net alone and not on the strategy.

use crate::arena::{Arena, Owner, Tensor};
use crate::device::{Op, Phase, Trouble};
use crate::net::Heads;
use std::collections::BTreeMap;

/// Something that a node needs again.
pub struct Saved {
    id: u64,
    /// Nothing while it waits on the host.
    here: Option<Tensor>,
}

impl Saved {
    pub fn new(tensor: &Tensor) -> Self {
        Self { id: tensor.id(), here: Some(tensor.clone()) }
    }

    /// Takes the tensor; a node is run backwards once.
    fn take(&mut self) -> Result<Tensor, Trouble> {
        self.here.take().ok_or_else(|| Trouble::Device("a saved tensor is still on the host".to_owned()))
    }
}

/// A matrix product with a bias: where its parameters stand in the list, and its sizes.
#[derive(Clone, Copy)]
pub struct Linear {
    pub weight: usize,
    pub rows: usize,
    pub from: usize,
    pub to: usize,
}

pub enum Node {
    Linear { x: Saved, y: u64, at: Linear },
    Gelu { x: Saved, y: u64 },
    Norm { x: Saved, stats: Saved, y: u64, scale: usize, rows: usize, cols: usize },
    Attention { qkv: Saved, p: Saved, y: u64, heads: Heads },
    Add { x: u64, branch: u64, y: u64 },
}

impl Node {
    pub fn saved(&mut self) -> Vec<&mut Saved> {
        match self {
            Self::Linear { x, .. } | Self::Gelu { x, .. } => vec![x],
            Self::Norm { x, stats, .. } => vec![x, stats],
            Self::Attention { qkv, p, .. } => vec![qkv, p],
            Self::Add { .. } => Vec::new(),
        }
    }
}

/// The state of one net on one device.
pub struct Tape<'d> {
    pub arena: Arena<'d>,
    pub params: Vec<Tensor>,
    /// Nothing until the first contribution of a step.
    pub grads: Vec<Option<Tensor>>,
    param_words: Vec<(String, usize)>,
    nodes: Vec<Node>,
    is_recording: bool,
    values: BTreeMap<u64, Tensor>,
    /// The data: nobody asks for its gradient.
    pub data: u64,
    /// What waits on the host, by value.
    parked: BTreeMap<u64, (u64, usize)>,
    pub parked_bytes: u64,
    pub most_parked_bytes: u64,
    pub moved_bytes: u64,
}

impl<'d> Tape<'d> {
    pub fn new(arena: Arena<'d>, param_words: Vec<(String, usize)>) -> Self {
        let grads = param_words.iter().map(|_| None).collect();
        Self {
            arena,
            params: Vec::new(),
            grads,
            param_words,
            nodes: Vec::new(),
            is_recording: true,
            values: BTreeMap::new(),
            data: 0,
            parked: BTreeMap::new(),
            parked_bytes: 0,
            most_parked_bytes: 0,
            moved_bytes: 0,
        }
    }

    /// Runs `forward`, with or without leaving nodes; the nodes that it left.
    pub fn record<T>(
        &mut self,
        is_recording: bool,
        forward: impl FnOnce(&mut Self) -> Result<T, Trouble>,
    ) -> Result<(T, Vec<Node>), Trouble> {
        let before = std::mem::replace(&mut self.is_recording, is_recording);
        let outer = std::mem::take(&mut self.nodes);
        let done = forward(self);
        let nodes = std::mem::replace(&mut self.nodes, outer);
        self.is_recording = before;
        Ok((done?, nodes))
    }

    fn push(&mut self, node: impl FnOnce() -> Node) {
        if self.is_recording {
            self.nodes.push(node());
        }
    }

    fn run(&mut self, op: &Op) -> Result<(), Trouble> {
        self.arena.device.run(op)
    }

    fn made(&mut self, words: usize, what: &str) -> Result<Tensor, Trouble> {
        self.arena.take(words, Owner::Activations, what)
    }

    fn work(&mut self, words: usize, what: &str) -> Result<Tensor, Trouble> {
        self.arena.take(words, Owner::Workspace, what)
    }

    pub fn linear(&mut self, x: &Tensor, at: Linear, what: &str) -> Result<Tensor, Trouble> {
        let y = self.made(at.rows * at.to, what)?;
        let (weight, bias) = (self.params[at.weight].buf, self.params[at.weight + 1].buf);
        let (m, n, k) = (at.rows, at.to, at.from);
        self.run(&Op::Gemm { out: y.buf, a: x.buf, b: weight, m, n, k, ta: false, tb: false, add: false })?;
        self.run(&Op::Bias { y: y.buf, bias, rows: at.rows, cols: at.to })?;
        self.push(|| Node::Linear { x: Saved::new(x), y: y.id(), at });
        Ok(y)
    }

    pub fn gelu(&mut self, x: &Tensor, what: &str) -> Result<Tensor, Trouble> {
        let y = self.made(x.words, what)?;
        self.run(&Op::Gelu { y: y.buf, x: x.buf, n: x.words })?;
        self.push(|| Node::Gelu { x: Saved::new(x), y: y.id() });
        Ok(y)
    }

    pub fn norm(&mut self, x: &Tensor, scale: usize, rows: usize, what: &str) -> Result<Tensor, Trouble> {
        let cols = x.words / rows;
        let stats = self.made(2 * rows, "mean and σ")?;
        let y = self.made(x.words, what)?;
        let (gamma, beta) = (self.params[scale].buf, self.params[scale + 1].buf);
        self.run(&Op::Norm { y: y.buf, stats: stats.buf, x: x.buf, gamma, beta, rows, cols })?;
        self.push(|| Node::Norm { x: Saved::new(x), stats: Saved::new(&stats), y: y.id(), scale, rows, cols });
        Ok(y)
    }

    pub fn attention(&mut self, qkv: &Tensor, heads: Heads) -> Result<Tensor, Trouble> {
        let p = self.made(heads.scores(), "attention scores")?;
        let y = self.made(qkv.words / 3, "attention")?;
        self.run(&Op::Scores { p: p.buf, qkv: qkv.buf, heads })?;
        self.run(&Op::Mix { out: y.buf, p: p.buf, qkv: qkv.buf, heads })?;
        self.push(|| Node::Attention { qkv: Saved::new(qkv), p: Saved::new(&p), y: y.id(), heads });
        Ok(y)
    }

    /// `branch + x`, written over the branch.
    pub fn add(&mut self, x: &Tensor, branch: Tensor) -> Result<Tensor, Trouble> {
        self.run(&Op::Add { y: branch.buf, x: x.buf, n: x.words })?;
        self.push(|| Node::Add { x: x.id(), branch: branch.id(), y: branch.id() });
        Ok(branch)
    }

    /// Adds `grad` to the gradient of a value.
    pub fn give(&mut self, value: u64, grad: Tensor) -> Result<(), Trouble> {
        if value == self.data {
            return Ok(());
        }
        let sum = match self.values.remove(&value) {
            None => grad,
            Some(known) if known.is_alone() => {
                self.run(&Op::Add { y: known.buf, x: grad.buf, n: grad.words })?;
                known
            }
            Some(known) => {
                let out = self.work(grad.words, "sum of gradients")?;
                self.run(&Op::Sum { out: out.buf, a: known.buf, b: grad.buf, n: grad.words })?;
                out
            }
        };
        self.values.insert(value, sum);
        Ok(())
    }

    /// Takes the gradient of a value; nothing if nobody gave one.
    pub fn taken(&mut self, value: u64) -> Option<Tensor> {
        self.values.remove(&value)
    }

    /// The gradient of a parameter, and whether it already holds something.
    fn grad_of(&mut self, idx: usize) -> Result<(Tensor, bool), Trouble> {
        if let Some(known) = &self.grads[idx] {
            return Ok((known.clone(), true));
        }
        let (name, words) = self.param_words[idx].clone();
        let place = std::mem::take(&mut self.arena.place);
        let made = self.arena.take(words, Owner::Gradients, &name);
        self.arena.place = place;
        let made = made?;
        self.grads[idx] = Some(made.clone());
        Ok((made, false))
    }

    /// Runs nodes backwards.
    pub fn backward(&mut self, nodes: Vec<Node>) -> Result<(), Trouble> {
        for node in nodes.into_iter().rev() {
            match node {
                Node::Linear { x, y, at } => self.linear_back(x, y, at)?,
                Node::Gelu { x, y } => self.gelu_back(x, y)?,
                Node::Norm { x, stats, y, scale, rows, cols } => self.norm_back(x, stats, y, scale, [rows, cols])?,
                Node::Attention { qkv, p, y, heads } => self.attention_back(qkv, p, y, heads)?,
                Node::Add { x, branch, y } => {
                    let Some(dy) = self.taken(y) else { continue };
                    self.give(x, dy.clone())?;
                    self.give(branch, dy)?;
                }
            }
        }
        Ok(())
    }

    fn linear_back(&mut self, mut saved: Saved, y: u64, at: Linear) -> Result<(), Trouble> {
        let Some(dy) = self.taken(y) else { return Ok(()) };
        let value = saved.id;
        let x = saved.take()?;
        let (m, n, k) = (at.from, at.to, at.rows);
        let (out, add) = self.grad_of(at.weight)?;
        self.run(&Op::Gemm { out: out.buf, a: x.buf, b: dy.buf, m, n, k, ta: true, tb: false, add })?;
        drop(x);
        let (out, add) = self.grad_of(at.weight + 1)?;
        self.run(&Op::BiasGrad { out: out.buf, dy: dy.buf, rows: at.rows, cols: at.to, add })?;
        if value == self.data {
            return Ok(());
        }
        let dx = self.work(at.rows * at.from, "gradient of an input")?;
        let (m, n, k) = (at.rows, at.from, at.to);
        let weight = self.params[at.weight].buf;
        self.run(&Op::Gemm { out: dx.buf, a: dy.buf, b: weight, m, n, k, ta: false, tb: true, add: false })?;
        drop(dy);
        self.give(value, dx)
    }

    fn gelu_back(&mut self, mut saved: Saved, y: u64) -> Result<(), Trouble> {
        let Some(dy) = self.taken(y) else { return Ok(()) };
        let value = saved.id;
        let x = saved.take()?;
        let dx = if dy.is_alone() { dy.clone() } else { self.work(dy.words, "gradient of an input")? };
        self.run(&Op::GeluBack { dx: dx.buf, dy: dy.buf, x: x.buf, n: x.words })?;
        drop((x, dy));
        self.give(value, dx)
    }

    fn norm_back(
        &mut self,
        mut saved: Saved,
        mut stats: Saved,
        y: u64,
        scale: usize,
        [rows, cols]: [usize; 2],
    ) -> Result<(), Trouble> {
        let Some(dy) = self.taken(y) else { return Ok(()) };
        let value = saved.id;
        let (x, stats) = (saved.take()?, stats.take()?);
        let ((dgamma, add), (dbeta, _)) = (self.grad_of(scale)?, self.grad_of(scale + 1)?);
        let (dgamma, dbeta) = (dgamma.buf, dbeta.buf);
        self.run(&Op::NormGrad { dgamma, dbeta, dy: dy.buf, x: x.buf, stats: stats.buf, rows, cols, add })?;
        if value == self.data {
            return Ok(());
        }
        let dx = self.work(x.words, "gradient of an input")?;
        let gamma = self.params[scale].buf;
        self.run(&Op::NormBack { dx: dx.buf, dy: dy.buf, x: x.buf, stats: stats.buf, gamma, rows, cols })?;
        drop((x, stats, dy));
        self.give(value, dx)
    }

    fn attention_back(&mut self, mut qkv: Saved, mut p: Saved, y: u64, heads: Heads) -> Result<(), Trouble> {
        let Some(dout) = self.taken(y) else { return Ok(()) };
        let value = qkv.id;
        let (qkv, p) = (qkv.take()?, p.take()?);
        let ds = self.work(p.words, "gradient of the scores")?;
        self.run(&Op::ScoresBack { ds: ds.buf, dout: dout.buf, p: p.buf, qkv: qkv.buf, heads })?;
        let dqkv = self.work(qkv.words, "gradient of q, k, v")?;
        self.run(&Op::MixBack { dqkv: dqkv.buf, ds: ds.buf, dout: dout.buf, p: p.buf, qkv: qkv.buf, heads })?;
        drop((ds, dout, p, qkv));
        self.give(value, dqkv)
    }

    /// Sends what these places hold to the host; the same tensor goes once.
    pub fn park(&mut self, places: Vec<&mut Saved>) -> Result<(), Trouble> {
        for saved in places {
            let Some(tensor) = saved.here.take() else { continue };
            if let std::collections::btree_map::Entry::Vacant(entry) = self.parked.entry(saved.id) {
                entry.insert((self.arena.device.park(tensor.buf, tensor.words)?, tensor.words));
                let bytes = tensor.words as u64 * self.arena.device.word();
                self.moved_bytes += bytes;
                self.parked_bytes += bytes;
                self.most_parked_bytes = self.most_parked_bytes.max(self.parked_bytes);
            }
        }
        self.arena.sweep()
    }

    /// Brings back what these places need.
    pub fn unpark(&mut self, places: Vec<&mut Saved>) -> Result<(), Trouble> {
        let mut back: BTreeMap<u64, Tensor> = BTreeMap::new();
        for saved in places {
            if saved.here.is_none() && !back.contains_key(&saved.id) {
                let known = self.parked.remove(&saved.id);
                let (parked, words) =
                    known.ok_or_else(|| Trouble::Device("a tensor is neither here nor on the host".to_owned()))?;
                let tensor = self.made(words, "from the host")?;
                self.arena.device.unpark(parked, tensor.buf, words)?;
                let bytes = words as u64 * self.arena.device.word();
                self.moved_bytes += bytes;
                self.parked_bytes -= bytes;
                back.insert(saved.id, tensor);
            }
            if saved.here.is_none() {
                saved.here = back.get(&saved.id).cloned();
            }
        }
        Ok(())
    }

    pub fn phase(&mut self, phase: Phase) -> Phase {
        std::mem::replace(&mut self.arena.phase, phase)
    }
}

impl Saved {
    /// The value and, if it is here, its tensor.
    pub fn tensor(&self) -> Option<Tensor> {
        self.here.clone()
    }

    pub fn value(&self) -> u64 {
        self.id
    }
}
