//! Maps of a picture: convolutions with a bias, group norm, twice the edge, joined channels, attention by rows. The last has no
//! gradient here.

use super::{incoming, one, two};
use crate::sim::{Dtype, Input, Sim, Tensor};

/// Groups of a norm over channels.
const GROUPS: u64 = 32;
/// Half precision kernels take channels in eights.
const EIGHT: u64 = 8;

/// A square map of a batch.
#[derive(Clone)]
pub(crate) struct Picture {
    pub x: Tensor,
    pub images: u64,
    pub channels: u64,
    pub edge: u64,
}

impl Picture {
    pub fn with(&self, x: Tensor) -> Self {
        Self { x, ..self.clone() }
    }
}

/// A convolution with a bias that keeps the edge, up to its stride.
pub(crate) struct Kernel {
    pub weight: Tensor,
    pub bias: Tensor,
    pub inputs: u64,
    pub outputs: u64,
    pub edge: u64,
    pub stride: u64,
}

impl Sim {
    /// `conv(x)`; the bias is added in place. Saves input and weight.
    pub fn kernel(&self, x: &Picture, kernel: &Kernel) -> Picture {
        self.name("conv");
        let bias = self.lower(&kernel.bias);
        let weight = self.lower(&kernel.weight);
        let input = self.lower(&x.x);
        let wants_x = input.needs_grad();
        let saved = [self.save_if(weight.needs_grad(), &input), self.save_if(weight.needs_grad(), &weight)];
        let edge = x.edge.div_ceil(kernel.stride);
        let n_out = x.images * edge * edge * kernel.outputs;
        let out = self.alloc(n_out, input.dtype);
        let bytes = workspace(kernel, x.images * edge * edge, &input);
        self.for_cudnn(bytes);
        let (n_x, n_w, n_b) = (input.n, weight.n, bias.n);
        let inputs = [(&input).into(), (&weight).into(), (&bias).into()];
        let is_batch = x.images > 1;
        let back = self.node("conv", inputs, move |sim, grads| {
            let dtype = incoming(grads).dtype;
            // A part of the channels of several images is copied together first, for each of the two products.
            let is_part = incoming(grads).is_part() && is_batch;
            let copy = || is_part.then(|| sim.alloc(n_out, dtype));
            let _held = saved.each_ref().map(|it| it.as_ref().map(|it| it.get(sim)));
            let dx = wants_x.then(|| sim.alloc(n_x, dtype));
            if wants_x {
                let copied = copy();
                sim.for_cudnn(bytes);
                drop(copied);
            }
            let copied = copy();
            let dw = sim.alloc(n_w, dtype);
            sim.for_cudnn(bytes);
            drop(copied);
            [dx, Some(dw), Some(sim.alloc(n_b, dtype)), None]
        });
        Picture { x: out.with_edge(back), channels: kernel.outputs, edge, ..x.clone() }
    }

    fn for_cudnn(&self, bytes: u64) {
        if bytes > 0 {
            self.name("workspace");
            drop(self.scratch(bytes));
            self.name("conv");
        }
    }

    /// `F.group_norm`; autocast wants float32. Statistics in the map's type, and a scale and a shift for every channel in float32.
    pub fn group_norm(&self, x: &Picture, weight: &Tensor, bias: &Tensor) -> Picture {
        self.name("group_norm");
        let raised = self.raise(&x.x);
        let wants = weight.needs_grad();
        let saved_x = [self.save_if(wants, &raised), self.save_if(wants, weight)];
        let (n, n_groups, n_channels) = (raised.n, x.images * GROUPS, x.images * x.channels);
        let out = self.alloc(n, raised.dtype);
        let statistics = [0; 2].map(|_| self.alloc(n_groups, raised.dtype));
        let [scale, shift] = [0; 2].map(|_| self.alloc(n_channels, Dtype::F32));
        drop((shift, scale));
        let saved = statistics.each_ref().map(|it| self.save_if(wants, it));
        let n_weight = weight.n;
        let wants_x = raised.needs_grad();
        let edge = self.node("group_norm", [(&raised).into(), weight.into(), bias.into()], move |sim, grads| {
            let dtype = incoming(grads).dtype;
            let _held = (
                saved_x.each_ref().map(|it| it.as_ref().map(|it| it.get(sim))),
                saved.each_ref().map(|it| it.as_ref().map(|it| it.get(sim))),
            );
            let dx = wants_x.then(|| sim.alloc(n, dtype));
            let [of_weight, of_bias] = [0; 2].map(|_| sim.alloc(n_weight, dtype));
            let sums = [n_channels, n_channels, n_groups, n_groups, n_channels].map(|n| sim.alloc(n, Dtype::F32));
            drop(sums);
            [dx, Some(of_weight), Some(of_bias), None]
        });
        x.with(out.with_edge(edge))
    }

    /// `F.layer_norm` of a view that is not contiguous: of a copy, forward and backward.
    pub fn layer_norm_copied(&self, x: &Tensor, norm: &[Tensor; 2]) -> Tensor {
        self.name("layer_norm");
        let raised = self.raise(x);
        let [weight, bias] = norm;
        let wants = weight.needs_grad();
        let saved_x = [self.save_if(wants, &raised), self.save_if(wants, weight)];
        let n_rows = x.n / weight.n;
        let copy = self.alloc(x.n, raised.dtype);
        let out = self.alloc(x.n, raised.dtype);
        let statistics = [0; 2].map(|_| self.alloc(n_rows, Dtype::F32));
        drop(copy);
        let saved = statistics.each_ref().map(|it| self.save_if(wants, it));
        drop(statistics);
        let (n, n_weight) = (x.n, weight.n);
        let edge = self.node("layer_norm", [(&raised).into(), weight.into(), bias.into()], move |sim, grads| {
            let dtype = incoming(grads).dtype;
            let _held = (
                saved_x.each_ref().map(|it| it.as_ref().map(|it| it.get(sim))),
                saved.each_ref().map(|it| it.as_ref().map(|it| it.get(sim))),
            );
            let _copy = sim.alloc(n, dtype);
            let dx = sim.alloc(n, dtype);
            let [scale, shift] = sim.norm_sums([true, true], n / n_weight, n_weight, dtype);
            [Some(dx), scale, shift, None]
        });
        out.with_edge(edge)
    }

    /// `y + shift[:, :, None, None]`: a number for every channel of every image.
    pub fn shift_channels(&self, y: Tensor, shift: Tensor) -> Tensor {
        self.name("add");
        let out = self.alloc(y.n, y.dtype.promote(shift.dtype));
        let edge = self.node("add", [(&y).into(), Input::folded_rows(&shift)], |_, grads| {
            let grad = incoming(grads);
            two(Some(grad.clone()), Some(grad.clone()))
        });
        out.with_edge(edge)
    }

    /// A view whose gradient is one too.
    pub fn seen(&self, x: &Tensor) -> Tensor {
        let edge = self.node("view", [x.into()], |_, grads| one(incoming(grads).clone().into_view()));
        x.clone().with_edge(edge)
    }

    /// `F.interpolate(x, scale_factor=2, mode="nearest")`; autocast wants float32.
    pub fn upsample(&self, x: &Picture) -> Picture {
        self.name("upsample");
        let raised = self.raise(&x.x);
        let n = raised.n;
        let out = self.alloc(4 * n, raised.dtype);
        let edge =
            self.node("upsample", [(&raised).into()], move |sim, grads| one(sim.alloc(n, incoming(grads).dtype)));
        Picture { x: out.with_edge(edge), edge: 2 * x.edge, ..x.clone() }
    }

    /// `torch.cat((a, b), 1)`: gradients are views.
    pub fn join_channels(&self, a: &Picture, b: &Picture) -> Picture {
        self.name("cat");
        let (n_a, n_b) = (a.x.n, b.x.n);
        let out = self.alloc(n_a + n_b, a.x.dtype);
        let edge = self.node("cat", [(&a.x).into(), (&b.x).into()], move |_, grads| {
            let grad = incoming(grads);
            two(Some(grad.view(n_a).into_view()), Some(grad.view(n_b).into_view()))
        });
        Picture { x: out.with_edge(edge), channels: a.channels + b.channels, ..a.clone() }
    }

    /// `F.mse_loss(guess, target)`: saves both. The mean is left in the memory of the squares, which is kept.
    pub fn mean_square(&self, guess: &Tensor, target: &Tensor) -> Tensor {
        self.name("mse_loss");
        let saved = [self.save_if(true, guess), self.save_if(true, target)];
        let n = guess.n;
        let out = self.alloc_for(n, Dtype::F32, crate::Owner::Logits).view(1);
        let edge = self.node("mse_loss", [guess.into()], move |sim, grads| {
            let _held = saved.each_ref().map(|it| it.as_ref().map(|it| it.get(sim)));
            one(sim.alloc(n, incoming(grads).dtype))
        });
        out.with_edge(edge)
    }

    /// `softmax((q * d^-0.5) @ kᵀ) @ v` for `rows` matrices of `queries`.
    pub fn attend_rows(&self, qkv: [&Tensor; 3], rows: u64, queries: u64, keys: u64, head_dim: u64) -> Tensor {
        let dtype = qkv[0].dtype;
        let n_scores = rows * queries * keys;
        self.name("scale");
        let scaled = self.alloc(rows * queries * head_dim, dtype);
        self.name("scores");
        let scores = self.alloc(n_scores, dtype);
        drop(scaled);
        self.name("softmax");
        let _weights = self.alloc(n_scores, dtype);
        drop(scores);
        self.name("mix");
        self.alloc(rows * queries * head_dim, dtype)
    }
}

/// What cuDNN takes for the time of one call, as recorded: 3×3 kernels work on channels-last copies of map, output and weight.
/// In half precision channels are padded to eights, and very few inputs go another way.
fn workspace(kernel: &Kernel, places: u64, x: &Tensor) -> u64 {
    if kernel.edge == 1 || kernel.inputs < EIGHT {
        return 0;
    }
    let bytes = x.dtype.bytes();
    if x.dtype == Dtype::F32 && kernel.outputs < EIGHT {
        return bytes * (x.n + kernel.weight.n) + 16;
    }
    let outputs = if x.dtype == Dtype::F32 { kernel.outputs } else { kernel.outputs.next_multiple_of(EIGHT) };
    bytes * (x.n + places * outputs + kernel.weight.n / kernel.outputs * outputs) + 16
}
