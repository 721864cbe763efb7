//! Models, written as their PyTorch modules are: parameters in module order, forward line by line.

mod gpt;
mod llama;
mod moe;
pub(crate) mod picture;
mod resnet;

use crate::ops::{Kernel, Linear};
use crate::plan::{Net, Plan, Precision};
use crate::sim::{Dtype, Output, Sim, Tensor};
use crate::tape::Owner;
use std::rc::Rc;

/// A model on the card: what goes in, what comes out.
pub(crate) trait Model {
    /// Scores, and what the layers of a mixture of experts add to the loss.
    fn forward(&self, sim: &Sim, input: &Tensor) -> (Tensor, Vec<Tensor>);
    /// Tensors that are no parameters, made after them.
    fn make_buffers(&self, _sim: &Sim) {}
    /// Elements and dtype of the input, elements of the targets (none: the input itself).
    fn input(&self) -> (u64, Dtype, Option<u64>);
}

/// Parameters in module order: listed at first, then handed out.
pub(crate) struct Params {
    /// Elements and whether they are trained.
    pub sizes: Vec<Size>,
    tensors: Vec<Tensor>,
    next: usize,
    layer: Option<usize>,
}

/// A parameter before it is there.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub n: u64,
    pub is_trained: bool,
    pub is_nf4: bool,
    layer: Option<usize>,
    /// Its place in `parameters()`: a module's own parameters come before its children's there, and are moved after them.
    order: usize,
    dtype: Dtype,
    kind: Kind,
}

/// What a parameter's place holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    /// Four dimensions: a conversion to channels-last order copies it.
    Map,
    /// No parameter, only moved with them.
    Buffer,
}

impl Params {
    fn listing() -> Self {
        Self { sizes: Vec::new(), tensors: Vec::new(), next: 0, layer: None }
    }

    /// The listed parameters on the card in float32, each then converted.
    pub fn place(&self, sim: &Sim, dtype: Dtype) -> Vec<Tensor> {
        sim.name("parameter");
        let put = |size: &Size, dtype| {
            sim.enter(size.layer);
            sim.alloc_for(size.n, dtype, Owner::Parameter).with_edge(sim.leaf())
        };
        let mut tensors: Vec<Tensor> = self.sizes.iter().map(|size| put(size, Dtype::F32)).collect();
        if dtype != Dtype::F32 {
            for (tensor, size) in tensors.iter_mut().zip(&self.sizes) {
                *tensor = put(size, dtype);
            }
        }
        sim.enter(None);
        tensors
    }

    /// The same list, to be handed out.
    pub fn again(self, tensors: Vec<Tensor>) -> Self {
        Self { tensors, next: 0, ..self }
    }

    /// The next parameter.
    pub fn take(&mut self, n: u64) -> Tensor {
        self.take_as(n, true, false)
    }

    pub fn take_as(&mut self, n: u64, is_trained: bool, is_nf4: bool) -> Tensor {
        if self.next < self.tensors.len() {
            self.next += 1;
            return self.tensors[self.next - 1].clone();
        }
        let order = 2 * self.sizes.len();
        let (dtype, kind) = (Dtype::F32, Kind::Plain);
        self.sizes.push(Size { n, is_trained, is_nf4, layer: self.layer, order, dtype, kind });
        Tensor::outside(n)
    }

    /// The next parameter, of four dimensions.
    pub fn take_map(&mut self, n: u64) -> Tensor {
        let tensor = self.take(n);
        if let Some(last) = self.sizes.last_mut().filter(|_| self.tensors.is_empty()) {
            last.kind = Kind::Map;
        }
        tensor
    }

    /// A buffer between the parameters.
    pub fn buffer(&mut self, n: u64, dtype: Dtype) {
        self.take_as(n, false, false);
        if let Some(last) = self.sizes.last_mut().filter(|_| self.tensors.is_empty()) {
            (last.kind, last.dtype) = (Kind::Buffer, dtype);
        }
    }

    /// The last parameter stands behind the next `n` in `parameters()`.
    pub fn stand_behind(&mut self, n: usize) {
        if let Some(last) = self.sizes.last_mut().filter(|_| self.tensors.is_empty()) {
            last.order += 2 * n + 1;
        }
    }

    pub fn linear(&mut self, k: u64, c: u64, has_bias: bool) -> Linear {
        let weight = self.take(k * c);
        Linear { weight, bias: has_bias.then(|| self.take(c)), k, c, is_nf4: false }
    }

    /// What follows belongs to this layer.
    pub fn enter(&mut self, layer: Option<usize>) {
        self.layer = layer;
    }

    /// A convolution with a bias.
    pub fn kernel(&mut self, inputs: u64, outputs: u64, edge: u64, stride: u64) -> Kernel {
        let weight = self.take(inputs * outputs * edge * edge);
        Kernel { weight, bias: self.take(outputs), inputs, outputs, edge, stride }
    }

    /// A parameter that adapters freeze.
    pub fn frozen(&mut self, plan: &Plan, n: u64) -> Tensor {
        self.take_as(n, plan.lora_rank == 0, false)
    }

    /// A matrix of a block that adapters freeze, in 4 bits if the plan says so.
    pub fn base(&mut self, plan: &Plan, k: u64, c: u64, has_bias: bool) -> Linear {
        let weight = self.take_as(k * c, plan.lora_rank == 0, plan.is_nf4);
        let bias = has_bias.then(|| self.frozen(plan, c));
        Linear { weight, bias, k, c, is_nf4: plan.is_nf4 }
    }
}

/// A model on the card.
pub(crate) struct Built {
    pub model: Box<dyn Model>,
    /// What the optimizer works on.
    pub trained: Vec<Tensor>,
    pub n_params: u64,
    /// Buffers among the parameters; held as long as the model is.
    _all: Vec<Tensor>,
}

/// Builds the model: parameters one after another in float32, then converted one after another.
pub(crate) fn build(sim: &Sim, plan: &Plan) -> Built {
    let make = |params: &mut Params| -> Box<dyn Model> {
        match plan.net {
            Net::Gpt => Box::new(gpt::Gpt::new(plan, params)),
            Net::Llama | Net::Moe => Box::new(llama::Llama::new(plan, params)),
            Net::Resnet50 => Box::new(resnet::Resnet::new(plan, params)),
        }
    };
    let mut params = Params::listing();
    drop(make(&mut params));
    sim.name("parameter");
    let place = |size: &Size, dtype| {
        sim.enter(size.layer);
        let tensor = sim.alloc_for(size.n, dtype, Owner::Parameter);
        if size.is_trained { tensor.with_edge(sim.leaf()) } else { tensor }
    };
    let mut scales = Vec::new();
    let mut code = None;
    // With packed matrices the model is converted in host memory and quantized as it moves.
    let half = if plan.precision == Precision::Bf16 { Dtype::Bf16 } else { Dtype::F32 };
    let mut tensors: Vec<Tensor> = Vec::new();
    for size in &params.sizes {
        if size.is_nf4 {
            sim.enter(size.layer);
            let (weight, its_scales) = sim.pack_nf4(size.n, half, &mut code);
            scales.extend(its_scales);
            tensors.push(weight);
        } else if plan.is_nf4 {
            tensors.push(place(size, half));
        } else {
            tensors.push(place(size, size.dtype));
        }
    }
    if plan.precision == Precision::Bf16 && !plan.is_nf4 {
        for (tensor, size) in tensors.iter_mut().zip(&params.sizes) {
            sim.enter(size.layer);
            let half = sim.alloc_for(size.n, Dtype::Bf16, Owner::Parameter);
            *tensor = half.with_edge(tensor.edge);
        }
    }
    if plan.is_channels_last {
        let maps = tensors.iter_mut().zip(&params.sizes).filter(|(_, size)| size.kind == Kind::Map);
        for (tensor, size) in maps {
            sim.enter(size.layer);
            *tensor = sim.alloc_for(size.n, size.dtype, Owner::Parameter).with_edge(tensor.edge);
        }
    }
    sim.enter(None);
    let mut ordered: Vec<(&Size, &Tensor)> = params.sizes.iter().zip(&tensors).collect();
    ordered.sort_by_key(|(size, _)| size.order);
    let trained = ordered.into_iter().filter(|(size, _)| size.is_trained).map(|(_, tensor)| tensor.clone()).collect();
    let n_params = params.sizes.iter().filter(|size| size.kind != Kind::Buffer).map(|size| size.n).sum();
    params.tensors = tensors.clone();
    params.next = 0;
    let model = make(&mut params);
    model.make_buffers(sim);
    Built { model, trained, n_params, _all: tensors.into_iter().chain(scales).chain(code).collect() }
}

/// The blocks of a model one after another, plain or recomputed in groups; the output and what else each gave.
fn blocks<F: Fn(&Sim, &Tensor) -> Output + 'static>(
    sim: &Sim,
    plan: &Plan,
    n: usize,
    mut x: Tensor,
    group: impl Fn(std::ops::Range<usize>) -> F,
) -> (Tensor, Vec<Tensor>) {
    let mut others = Vec::new();
    let every = (plan.checkpoint_every as usize).max(1);
    for first in (0..n).step_by(every) {
        let run = group(first..(first + every).min(n));
        let (out, other) = if plan.is_recomputed() { sim.checkpoint(Rc::new(run), &x) } else { run(sim, &x) };
        x = out;
        others.extend(other);
    }
    (x, others)
}
