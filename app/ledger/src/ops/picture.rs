//! Maps of a picture without gradients: convolutions with a bias, group norm, twice the edge, joined channels, attention by rows.

use crate::sim::{Dtype, Sim, Tensor};

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
    /// `conv(x)`; the bias is added in place.
    pub fn kernel(&self, x: &Picture, kernel: &Kernel) -> Picture {
        self.name("conv");
        debug_assert_eq!(kernel.bias.n, kernel.outputs);
        let edge = x.edge.div_ceil(kernel.stride);
        let places = x.images * edge * edge;
        let out = self.alloc(places * kernel.outputs, x.x.dtype);
        self.name("workspace");
        let bytes = workspace(kernel, x, places);
        if bytes > 0 {
            drop(self.scratch(bytes));
        }
        Picture { x: out, channels: kernel.outputs, edge, ..x.clone() }
    }

    /// `F.group_norm`: statistics in the map's type, and a scale and a shift for every channel in float32.
    pub fn group_norm(&self, x: &Picture, weight: &Tensor, bias: &Tensor) -> Picture {
        self.name("group_norm");
        debug_assert_eq!((weight.n, bias.n), (x.channels, x.channels));
        let out = self.alloc(x.x.n, x.x.dtype);
        let statistics = [0; 2].map(|_| self.alloc(x.images * GROUPS, x.x.dtype));
        let [scale, shift] = [0; 2].map(|_| self.alloc(x.images * x.channels, Dtype::F32));
        drop((shift, scale, statistics));
        x.with(out)
    }

    /// `F.layer_norm` of a view that is not contiguous: of a copy.
    pub fn layer_norm_copied(&self, x: &Tensor, norm: &[Tensor; 2]) -> Tensor {
        self.name("layer_norm");
        let n_rows = x.n / norm[0].n;
        let copy = self.alloc(x.n, x.dtype);
        let out = self.alloc(x.n, x.dtype);
        let statistics = [0; 2].map(|_| self.alloc(n_rows, Dtype::F32));
        drop((copy, statistics));
        out
    }

    /// `F.interpolate(x, scale_factor=2, mode="nearest")`.
    pub fn upsample(&self, x: &Picture) -> Picture {
        self.name("upsample");
        Picture { x: self.alloc(4 * x.x.n, x.x.dtype), edge: 2 * x.edge, ..x.clone() }
    }

    /// `torch.cat((a, b), 1)`.
    pub fn join_channels(&self, a: &Picture, b: &Picture) -> Picture {
        self.name("cat");
        Picture { x: self.alloc(a.x.n + b.x.n, a.x.dtype), channels: a.channels + b.channels, ..a.clone() }
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
fn workspace(kernel: &Kernel, x: &Picture, places: u64) -> u64 {
    if kernel.edge == 1 || kernel.inputs < EIGHT {
        return 0;
    }
    let bytes = x.x.dtype.bytes();
    if x.x.dtype == Dtype::F32 && kernel.outputs < EIGHT {
        return bytes * (x.x.n + kernel.weight.n) + 16;
    }
    let outputs = if x.x.dtype == Dtype::F32 { kernel.outputs } else { kernel.outputs.next_multiple_of(EIGHT) };
    bytes * (x.x.n + places * outputs + kernel.weight.n / kernel.outputs * outputs) + 16
}
