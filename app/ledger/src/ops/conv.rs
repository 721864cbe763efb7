//! Convolutions, batch norm and pooling. ReLU and the sum of a residual work in place, as torchvision's ResNet has them.

use super::{incoming, one, two};
use crate::sim::{Dtype, Sim, Tensor};

/// A convolution without bias, as much padded as keeps the map's size up to its stride.
pub(crate) struct Conv {
    pub weight: Tensor,
    pub inputs: u64,
    pub outputs: u64,
    pub kernel: u64,
    pub stride: u64,
}

pub(crate) struct BatchNorm {
    pub weight: Tensor,
    pub bias: Tensor,
}

/// A map of a batch: images, channels, edge.
#[derive(Clone)]
pub(crate) struct Map {
    pub x: Tensor,
    pub images: u64,
    pub edge: u64,
    pub is_channels_last: bool,
}

impl Map {
    fn with(&self, x: Tensor) -> Self {
        Self { x, ..self.clone() }
    }
}

/// What cuDNN takes for the time of one call: forward, gradient of the input, gradient of the weight.
#[derive(Clone, Copy)]
struct Workspaces([u64; 3]);

/// As recorded with 8 images in float32. Where a kernel works on the other layout, the operands are copied; a weight's
/// gradient of 1×1 kernels is summed in 8 parts.
fn contiguous_workspaces(conv: &Conv, x: u64, y: u64) -> Workspaces {
    let w = 4 * conv.weight.n;
    let all = x + y + w;
    Workspaces(match (conv.kernel, conv.stride, conv.inputs) {
        (7, ..) => [all + 16, 0, x + y + 116 * w],
        (3, 2, 128) => [all + 16, all + 147, x + y + 8 * w],
        (3, 2, _) => [all + 16, all + 147, all + 16],
        (3, _, 512) => [all + 16, all + 3 * w / 8, all + 16],
        (3, _, 256) => [all + 16, all + 16, 8 * w],
        (3, _, 64) => [x + w + 16, all + 16, x + y + 15 * w],
        (3, ..) => [all + 16, all + 16, x + y + 17 * w],
        (_, 2, 256) => [x + y + 16, x + y + 147, x + y + 7 * w],
        (_, 2, _) => [x + y + 16, x + y + 147, x + y + 16],
        (_, _, 2048) => [x + y + 16, 0, x + y + 144],
        _ if conv.outputs == 2048 => [0, x + y + 9 * w / 16, x + y + 16],
        _ => [0, 400, 8 * w],
    })
}

/// In half precision and channels-last order only the images are padded, to eight channels.
fn channels_last_workspaces(conv: &Conv, x: u64) -> Workspaces {
    if conv.kernel != 7 {
        return Workspaces([0; 3]);
    }
    let padded = x / 3 * 8;
    Workspaces([padded + 50_192, 0, padded + 2_960_528])
}

impl Sim {
    /// `conv(x)`: saves input and weight.
    pub fn conv(&self, map: &Map, conv: &Conv) -> Map {
        self.name("conv");
        let weight = self.lower(&conv.weight);
        let x = self.lower(&map.x);
        let edge = map.edge / conv.stride;
        let n_out = map.images * conv.outputs * edge * edge;
        let (wants_x, n_x, n_w) = (x.needs_grad(), x.n, weight.n);
        let saved = [self.save(&x), self.save(&weight)];
        let out = self.alloc(n_out, x.dtype);
        let Workspaces([forward, of_input, of_weight]) = match x.dtype {
            Dtype::F32 => contiguous_workspaces(conv, 4 * n_x, 4 * n_out),
            _ => channels_last_workspaces(conv, 2 * n_x),
        };
        self.workspace(forward);
        let back = self.node("conv", [(&x).into(), (&weight).into()], move |sim, grads| {
            let dtype = incoming(grads).dtype;
            let _held = saved.each_ref().map(|it| it.get(sim));
            let dx = wants_x.then(|| {
                let dx = sim.alloc(n_x, dtype);
                sim.workspace(of_input);
                dx
            });
            let dw = sim.alloc(n_w, dtype);
            sim.workspace(of_weight);
            two(dx, Some(dw))
        });
        Map { edge, ..map.with(out.with_edge(back)) }
    }

    fn workspace(&self, bytes: u64) {
        if bytes > 0 {
            drop(self.scratch(bytes));
        }
    }

    /// Batch norm in training: saves its input, not its output.
    pub fn batch_norm(&self, map: &Map, norm: &BatchNorm) -> Map {
        self.name("batch_norm");
        let x = &map.x;
        let channels = norm.weight.n;
        let saved_x = [self.save(x), self.save(&norm.weight)];
        let out = self.alloc(x.n, x.dtype);
        let statistics = [0; 2].map(|_| self.alloc(channels, Dtype::F32));
        let staging = map.is_channels_last.then(|| staging(x.n / channels, channels)).flatten();
        self.stage(staging, 4);
        let saved = statistics.each_ref().map(|it| self.save(it));
        let n = x.n;
        let is_last = map.is_channels_last;
        let inputs = [x.into(), (&norm.weight).into(), (&norm.bias).into()];
        let edge = self.node("batch_norm", inputs, move |sim, grads| {
            let dtype = incoming(grads).dtype;
            let _held = (saved_x.each_ref().map(|it| it.get(sim)), saved.each_ref().map(|it| it.get(sim)));
            let small = || sim.alloc(channels, Dtype::F32);
            if !is_last {
                let dx = sim.alloc(n, dtype);
                let scale = small();
                return [Some(dx), Some(scale), Some(small()), None];
            }
            let sums = [small(), small()];
            let (scale, shift) = (small(), small());
            sim.stage(staging, 2);
            let dx = sim.alloc(n, dtype);
            drop(sums);
            [Some(dx), Some(scale), Some(shift), None]
        });
        map.with(out.with_edge(edge))
    }

    fn stage(&self, staging: Option<(u64, u64)>, n_values: u64) {
        if let Some((values, semaphores)) = staging {
            let values = self.scratch(n_values * values);
            drop(self.scratch(semaphores));
            drop(values);
        }
    }

    /// ReLU in place: saves its result, which is the batch norm's output.
    pub fn relu_in_place(&self, map: &Map) -> Map {
        self.name("relu");
        let saved = self.save(&map.x);
        let edge = self.node("relu", [(&map.x).into()], move |sim, grads| {
            let grad = incoming(grads);
            let _result = saved.get(sim);
            one(sim.alloc(grad.n, grad.dtype))
        });
        map.with(map.x.clone().with_edge(edge))
    }

    /// `out += identity`.
    pub fn add_in_place(&self, map: &Map, other: &Tensor) -> Map {
        let edge = self.node("add", [(&map.x).into(), other.into()], |_, grads| {
            let grad = incoming(grads);
            two(Some(grad.clone()), Some(grad.clone()))
        });
        map.with(map.x.clone().with_edge(edge))
    }

    /// Max-pooling of 3×3 with stride 2: int64 indices for every output.
    pub fn max_pool(&self, map: &Map) -> Map {
        self.name("max_pool");
        let saved_x = self.save(&map.x);
        let edge = map.edge / 2;
        let out = self.alloc(map.x.n / 4, map.x.dtype);
        let indices = self.alloc(map.x.n / 4, Dtype::I64);
        let saved = [saved_x, self.save(&indices)];
        let n = map.x.n;
        let back = self.node("max_pool", [(&map.x).into()], move |sim, grads| {
            let _held = saved.each_ref().map(|it| it.get(sim));
            one(sim.alloc(n, incoming(grads).dtype))
        });
        Map { edge, ..map.with(out.with_edge(back)) }
    }

    /// The mean of every map, flattened: backward expands it again.
    pub fn average_pool(&self, map: &Map) -> Tensor {
        self.name("average_pool");
        let (n, n_out) = (map.x.n, map.x.n / (map.edge * map.edge));
        let out = self.alloc(n_out, map.x.dtype);
        let back =
            self.node("average_pool", [(&map.x).into()], move |sim, grads| one(sim.alloc(n, incoming(grads).dtype)));
        let out = out.with_edge(back);
        // In channels-last order the result is given other strides, and the gradient is copied back into the old ones.
        if map.is_channels_last { self.strided(out) } else { out }
    }
}

/// Float values a channel block and bytes of semaphores where several blocks share a channel. Source:
/// `ATen/native/cuda/Normalization.cuh`, `flexible_launch_configs`.
fn staging(n_rows: u64, channels: u64) -> Option<(u64, u64)> {
    let pow2 = |n: u64| 1 << n.max(1).ilog2();
    let (most, per_thread) = (512, 16);
    let mut width: u64 = pow2(channels).min(32);
    let height = pow2(n_rows.div_ceil(per_thread)).min(most / width);
    if width * height != most {
        width = pow2(channels).min(most / height);
    }
    let rows = n_rows.div_ceil(height * per_thread).min(128);
    (rows >= 8).then(|| (4 * channels * rows, 4 * channels.div_ceil(width)))
}
