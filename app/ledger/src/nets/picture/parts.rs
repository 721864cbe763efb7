//! What a UNet and an image decoder are made of: residual blocks, attention in pieces, transformers.

use super::{Attend, Config};
use crate::nets::Params;
use crate::ops::{Heads, Kernel, Linear, Picture};
use crate::sim::{Sim, Tensor};

/// Rows of attention: words of a prompt, and how wide each is.
pub(super) const WORDS: u64 = 77;
pub(super) const WORD_WIDTH: u64 = 768;

pub(super) struct GroupNorm {
    weight: Tensor,
    bias: Tensor,
}

impl GroupNorm {
    pub fn new(params: &mut Params, channels: u64) -> Self {
        Self { weight: params.take(channels), bias: params.take(channels) }
    }

    pub fn forward(&self, sim: &Sim, x: &Picture) -> Picture {
        sim.group_norm(x, &self.weight, &self.bias)
    }
}

pub(super) struct ResBlock {
    norm1: GroupNorm,
    conv1: Kernel,
    time: Option<Linear>,
    norm2: GroupNorm,
    conv2: Kernel,
    skip: Option<Kernel>,
}

impl ResBlock {
    pub fn new(params: &mut Params, inputs: u64, outputs: u64, time: u64) -> Self {
        Self {
            norm1: GroupNorm::new(params, inputs),
            conv1: params.kernel(inputs, outputs, 3, 1),
            time: (time > 0).then(|| params.linear(time, outputs, true)),
            norm2: GroupNorm::new(params, outputs),
            conv2: params.kernel(outputs, outputs, 3, 1),
            skip: (inputs != outputs).then(|| params.kernel(inputs, outputs, 1, 1)),
        }
    }

    pub fn forward(&self, sim: &Sim, x: &Picture, time: Option<&Tensor>) -> Picture {
        let mut y = smooth_conv(sim, x, &self.norm1, &self.conv1);
        if let (Some(layer), Some(time)) = (&self.time, time) {
            let shift = sim.linear(sim.activation("silu", time.clone()), layer);
            y = y.with(sim.shift_channels(y.x.clone(), shift));
        }
        y = smooth_conv(sim, &y, &self.norm2, &self.conv2);
        let side = self.skip.as_ref().map_or_else(|| x.clone(), |skip| sim.kernel(x, skip));
        side.with(sim.add(side.x.clone(), y.x.clone()))
    }
}

/// `conv(silu(norm(x)))`.
pub(super) fn smooth_conv(sim: &Sim, x: &Picture, norm: &GroupNorm, conv: &Kernel) -> Picture {
    let y = {
        let y = norm.forward(sim, x);
        y.with(sim.activation("silu", y.x.clone()))
    };
    sim.kernel(&y, conv)
}

pub(super) struct Attention {
    q: Linear,
    k: Linear,
    v: Linear,
    out: Linear,
    width: u64,
    heads: u64,
    how: Attend,
}

impl Attention {
    pub fn new(params: &mut Params, config: &Config, width: u64, heads: u64, other: u64, has_bias: bool) -> Self {
        Self {
            q: params.linear(width, width, has_bias),
            k: params.linear(other, width, has_bias),
            v: params.linear(other, width, has_bias),
            out: params.linear(width, width, true),
            width,
            heads,
            how: config.attention,
        }
    }

    /// Of x, or from x to other rows. `n_rows`: of one image.
    pub fn forward(&self, sim: &Sim, x: &Tensor, context: &Tensor, batch: u64) -> Tensor {
        let [q, k, v] =
            [(x, &self.q), (context, &self.k), (context, &self.v)].map(|(x, layer)| sim.linear(x.clone(), layer));
        let head_dim = self.width / self.heads;
        let rows = |x: &Tensor| x.n / self.width / batch;
        let heads = Heads { batch, heads: self.heads, seq_len: rows(&q), head_dim };
        if self.how == Attend::Kernel && head_dim <= MOST_FLASH {
            let mixed = sim.flash_across([&q, &k, &v], heads);
            return leave(sim, mixed, &self.out, batch);
        }
        let split = |x: Tensor| if self.heads > 1 { sim.copy(x) } else { x };
        let [q, k, v] = {
            let copies = [&q, &k, &v].map(|x| split(x.clone()));
            drop((q, k, v));
            copies
        };
        let mixed = self.mix(sim, [&q, &k, &v], heads, rows(&k));
        let joined = split(mixed.clone());
        let out = leave(sim, joined, &self.out, batch);
        drop((q, k, v, mixed));
        out
    }

    fn mix(&self, sim: &Sim, qkv: [&Tensor; 3], heads: Heads, keys: u64) -> Tensor {
        let [q, ..] = qkv;
        let (all, queries) = (heads.batch * heads.heads, heads.seq_len);
        let attend = |rows: u64, queries: u64| sim.attend_rows(qkv, rows, queries, keys, heads.head_dim);
        let pieces = |all: u64, size: u64| (0..all).step_by(size as usize).map(move |first| size.min(all - first));
        match self.how {
            // PyTorch's kernels for wide heads: no scores either.
            Attend::Kernel => sim.alloc(q.n, q.dtype),
            Attend::Whole => attend(all, queries),
            Attend::Rows(size) => {
                let out = sim.alloc(q.n, q.dtype);
                pieces(all, size).for_each(|rows| drop(attend(rows, queries)));
                out
            }
            Attend::Queries(size) => {
                let out = sim.alloc(q.n, q.dtype);
                pieces(queries, size).for_each(|part| drop(attend(all, part)));
                out
            }
        }
    }
}

/// A linear layer whose gradient comes with channels apart: copied, or for a single image taken as it is.
fn leave(sim: &Sim, x: Tensor, layer: &Linear, batch: u64) -> Tensor {
    let out = sim.linear_with(x, layer, batch == 1);
    if batch == 1 { out } else { sim.strided(out) }
}

/// Widest head of the flash kernels.
const MOST_FLASH: u64 = 256;

/// Self-attention, attention to the words, a gated feed-forward.
pub(super) struct Transformer {
    norm: GroupNorm,
    inward: Kernel,
    norms: [[Tensor; 2]; 3],
    attn1: Attention,
    attn2: Attention,
    up: Linear,
    down: Linear,
    outward: Kernel,
}

impl Transformer {
    pub fn new(params: &mut Params, config: &Config, width: u64, heads: u64) -> Self {
        let norm = GroupNorm::new(params, width);
        let inward = params.kernel(width, width, 1, 1);
        let pair = |params: &mut Params| [params.take(width), params.take(width)];
        let norm1 = pair(params);
        let attn1 = Attention::new(params, config, width, heads, width, false);
        let norm2 = pair(params);
        let attn2 = Attention::new(params, config, width, heads, WORD_WIDTH, false);
        let norm3 = pair(params);
        let (up, down) = (params.linear(width, 8 * width, true), params.linear(4 * width, width, true));
        let outward = params.kernel(width, width, 1, 1);
        Self { norm, inward, norms: [norm1, norm2, norm3], attn1, attn2, up, down, outward }
    }

    pub fn forward(&self, sim: &Sim, x: &Picture, words: &Tensor) -> Picture {
        // Channels come last as a view, so that each norm makes a contiguous copy first.
        let mut y = sim.kernel(&self.norm.forward(sim, x), &self.inward);
        let norm = |y: &Picture, which: usize| sim.layer_norm_copied(&y.x, &self.norms[which]);
        let n = norm(&y, 0);
        let out = self.attn1.forward(sim, &n, &n, x.images);
        drop(n);
        y = y.with(sim.add(y.x.clone(), out));
        let n = norm(&y, 1);
        let out = self.attn2.forward(sim, &n, words, x.images);
        drop(n);
        y = y.with(sim.add(y.x.clone(), out));
        y = {
            let out = self.feed(sim, norm(&y, 2), x.images);
            y.with(sim.add(y.x.clone(), out))
        };
        y = sim.kernel(&y.with(sim.seen(&y.x)), &self.outward);
        x.with(sim.add(x.x.clone(), y.x.clone()))
    }

    fn feed(&self, sim: &Sim, x: Tensor, batch: u64) -> Tensor {
        let both = sim.linear(x, &self.up);
        let [x, gate] = sim.chunk2(&both);
        drop(both);
        let inner = sim.mul(x.clone(), sim.activation("gelu", gate.clone()));
        let out = leave(sim, inner, &self.down, batch);
        drop((x, gate));
        out
    }
}

/// Twice the edge, then a convolution.
pub(super) struct Up {
    conv: Kernel,
}

impl Up {
    pub fn new(params: &mut Params, channels: u64) -> Self {
        Self { conv: params.kernel(channels, channels, 3, 1) }
    }

    pub fn forward(&self, sim: &Sim, x: &Picture) -> Picture {
        sim.kernel(&sim.upsample(x), &self.conv)
    }
}
