//! Attention: the flash kernels, and written out.

use super::{incoming, one};
use crate::sim::{Dtype, Edge, Sim, Tensor};

/// Sizes of one attention call.
#[derive(Clone, Copy)]
pub(crate) struct Heads {
    pub batch: u64,
    pub heads: u64,
    pub seq_len: u64,
    pub head_dim: u64,
}

impl Heads {
    /// The flash kernels take widths that are multiples of 8.
    pub fn is_padded(self) -> bool {
        !self.head_dim.is_multiple_of(8)
    }

    /// Float32 partial results are this wide.
    fn rounded_dim(self) -> u64 {
        self.head_dim.next_multiple_of(if self.head_dim <= 128 { 32 } else { 64 })
    }

    fn n(self) -> u64 {
        self.batch * self.heads * self.seq_len * self.head_dim
    }

    fn n_scores(self) -> u64 {
        self.batch * self.heads * self.seq_len * self.seq_len
    }
}

impl Sim {
    /// `x.view(b, T, 3, a, d).permute(…)` unpacked into three: views of one tensor. Backward stacks the three gradients and makes
    /// the stack contiguous.
    pub fn unbind3(&self, x: Tensor) -> [Tensor; 3] {
        let copied = self.strided(x);
        let n = copied.n;
        let edge = self.node("unbind", [(&copied).into()], move |sim, grads| {
            let dtype = grads.iter().flatten().next().map_or(Dtype::F32, |grad| grad.dtype);
            one(sim.alloc(n, dtype))
        });
        [0, 1, 2].map(|slot| {
            let edge = match edge {
                Edge::Node(node, _) => Edge::Node(node, slot),
                other => other,
            };
            copied.view(n / 3).with_edge(edge)
        })
    }

    /// `F.scaled_dot_product_attention` by the flash kernels. Heads whose width is no multiple of 8 are padded before and cut after
    /// (`ATen/native/transformers/attention.cpp`); backward copies output and gradient once more, as recorded.
    pub fn flash(&self, q: Tensor, k: Tensor, v: Tensor, heads: Heads) -> Tensor {
        if heads.is_padded() {
            let wide = Heads { head_dim: heads.head_dim.next_multiple_of(8), ..heads };
            let (q, k, v) = (self.lower(&q), self.lower(&k), self.lower(&v));
            let [q, k, v] = [q, k, v].map(|x| self.pad(x, wide.n()));
            let out = self.flash_kernels(q, k, v, wide, 2);
            return self.cut(&out, heads.n());
        }
        self.flash_kernels(q, k, v, heads, 0)
    }

    /// `F.pad`: a larger copy; backward copies the part back.
    fn pad(&self, x: Tensor, n: u64) -> Tensor {
        self.name("pad");
        let out = self.alloc(n, x.dtype);
        let n_before = x.n;
        let edge = self.node("pad", [(&x).into()], move |sim, grads| one(sim.alloc(n_before, incoming(grads).dtype)));
        out.with_edge(edge)
    }

    /// A slice: a view; backward writes the gradient into zeros.
    fn cut(&self, x: &Tensor, n: u64) -> Tensor {
        let n_whole = x.n;
        let edge = self.node("slice", [x.into()], move |sim, grads| one(sim.alloc(n_whole, incoming(grads).dtype)));
        x.view(n).with_edge(edge)
    }

    /// The same with queries and keys of two lengths.
    pub fn flash_across(&self, [q, k, v]: [&Tensor; 3], heads: Heads) -> Tensor {
        self.name("flash_attention");
        let is_wanted = [q, k, v].iter().any(|it| it.needs_grad());
        let saved_inputs = [q, k, v].map(|it| self.save_if(is_wanted, it));
        let out = self.alloc(q.n, q.dtype);
        let n_rows = heads.batch * heads.heads * heads.seq_len;
        let lse = self.alloc(n_rows, Dtype::F32);
        let keys = k.n / (heads.batch * heads.heads * heads.head_dim);
        let partial = self.flash_partial(heads, keys);
        let (seed, offset) = (self.alloc(16, Dtype::U8), self.alloc(8, Dtype::U8));
        drop(partial);
        let saved = [&out, &lse, &seed, &offset].map(|it| self.save_if(is_wanted, it));
        drop((lse, seed, offset));
        let sizes = [q.n, k.n, v.n];
        let edge = self.node("flash_attention", [q.into(), k.into(), v.into()], move |sim, grads| {
            let dtype = incoming(grads).dtype;
            let _held = saved_inputs.each_ref().map(|it| it.as_ref().map(|it| it.get(sim)));
            let _too = saved.each_ref().map(|it| it.as_ref().map(|it| it.get(sim)));
            let [dq, dk, dv] = sizes.map(|n| sim.alloc(n, dtype));
            sim.flash_sums(heads);
            [Some(dq), Some(dk), Some(dv), None]
        });
        out.with_edge(edge)
    }

    /// Float32 sums of a backward kernel.
    fn flash_sums(&self, heads: Heads) {
        let rows = heads.batch * heads.heads * heads.seq_len.next_multiple_of(128);
        let sums = self.scratch(4 * rows);
        let accumulator = self.scratch(4 * rows * heads.rounded_dim());
        drop((accumulator, sums));
    }

    /// Partial results where few heads are cut along the keys to fill the card.
    fn flash_partial(&self, heads: Heads, keys: u64) -> Option<(Tensor, Tensor)> {
        let n_rows = heads.batch * heads.heads * heads.seq_len;
        let splits = flash_splits(self, heads, keys);
        (splits > 1).then(|| {
            let dims = heads.rounded_dim();
            (self.scratch(4 * splits * n_rows), self.scratch(4 * splits * n_rows * dims))
        })
    }

    fn flash_kernels(&self, q: Tensor, k: Tensor, v: Tensor, heads: Heads, n_copies: usize) -> Tensor {
        self.name("flash_attention");
        let (q, k, v) = (self.lower(&q), self.lower(&k), self.lower(&v));
        let wants = [&q, &k, &v].map(Tensor::needs_grad);
        let is_wanted = wants.contains(&true);
        let saved_inputs = [&q, &k, &v].map(|it| self.save_if(is_wanted, it));
        let out = self.alloc(q.n, q.dtype);
        let n_rows = heads.batch * heads.heads * heads.seq_len;
        let lse = self.alloc(n_rows, Dtype::F32);
        let partial = self.flash_partial(heads, heads.seq_len);
        let seed = self.alloc(16, Dtype::U8);
        let offset = self.alloc(8, Dtype::U8);
        drop(partial);
        let saved = [&out, &lse, &seed, &offset].map(|it| self.save_if(is_wanted, it));
        let edge = self.node("flash_attention", [(&q).into(), (&k).into(), (&v).into()], move |sim, grads| {
            let dtype = incoming(grads).dtype;
            let _held = saved_inputs.each_ref().map(|it| it.as_ref().map(|it| it.get(sim)));
            let _too = saved.each_ref().map(|it| it.as_ref().map(|it| it.get(sim)));
            let _copies: Vec<Tensor> = (0..n_copies).map(|_| sim.alloc(heads.n(), dtype)).collect();
            let [dq, dk, dv] = [0; 3].map(|_| sim.alloc(heads.n(), dtype));
            sim.flash_sums(heads);
            [Some(dq), Some(dk), Some(dv), None]
        });
        out.with_edge(edge)
    }

    /// Attention written out in the block: `w = (q @ kᵀ) * d^-0.5`, `w = w.masked_fill(…).softmax(-1)`, `w @ v` with views
    /// `[b, a, T, d]`. Answers with the output and with `w`, which the block's local keeps.
    pub fn math_attention(&self, q: Tensor, k: Tensor, v: Tensor, heads: Heads) -> (Tensor, Tensor) {
        let scaled = self.scores(q, k, heads);
        let mask = self.causal_mask(heads.seq_len);
        let filled = self.masked_fill(scaled.clone(), mask);
        let weights = self.softmax(filled);
        drop(scaled);
        (self.mix(weights.clone(), v, heads), weights)
    }

    /// The same as a function of its own, whose last line is `scores.masked_fill(hidden, …).softmax(-1) @ v`.
    pub fn attend(&self, q: &Tensor, k: &Tensor, v: &Tensor, heads: Heads) -> Tensor {
        let scaled = self.scores(q.clone(), k.clone(), heads);
        let mask = self.causal_mask(heads.seq_len);
        let filled = self.masked_fill(scaled.clone(), mask.clone());
        let out = self.mix(self.softmax(filled), v.clone(), heads);
        drop((scaled, mask));
        out
    }

    /// `(q @ kᵀ) * d^-0.5`.
    fn scores(&self, q: Tensor, k: Tensor, heads: Heads) -> Tensor {
        let (q, k) = (self.lower(&q), self.lower(&k));
        let (q, k) = (self.flat(q, heads), self.flat(k, heads));
        self.scale(self.bmm(q, k, heads.n_scores()))
    }

    /// `weights @ v`.
    fn mix(&self, weights: Tensor, v: Tensor, heads: Heads) -> Tensor {
        let lowered = self.lower(&weights);
        let v = self.flat(self.lower(&v), heads);
        let out = self.bmm(lowered, v, heads.n());
        if heads.batch > 1 { self.strided(out) } else { out }
    }

    /// Heads of several sequences are copied to be one batch of matrices; those of one sequence are so already.
    fn flat(&self, x: Tensor, heads: Heads) -> Tensor {
        if heads.batch > 1 { self.copy(x) } else { x }
    }

    /// `torch.ones(T, T, dtype=bool).triu(1)`.
    fn causal_mask(&self, seq_len: u64) -> Tensor {
        self.name("mask");
        let ones = self.alloc(seq_len * seq_len, Dtype::U8);
        let mask = self.alloc(seq_len * seq_len, Dtype::U8);
        drop(ones);
        mask
    }

    fn masked_fill(&self, x: Tensor, mask: Tensor) -> Tensor {
        self.name("masked_fill");
        let saved = self.save_if(x.needs_grad(), &mask);
        let out = self.alloc(x.n, x.dtype);
        let edge = self.node("masked_fill", [(&x).into()], move |sim, grads| {
            let _mask = saved.as_ref().map(|it| it.get(sim));
            let grad = incoming(grads);
            one(sim.alloc(grad.n, grad.dtype))
        });
        out.with_edge(edge)
    }

    /// Softmax; autocast wants float32. Backward holds a product of the same size beside its result.
    pub fn softmax(&self, x: Tensor) -> Tensor {
        self.name("softmax");
        let raised = self.raise(&x);
        let out = self.alloc(raised.n, raised.dtype);
        let saved = self.save_if(raised.needs_grad(), &out);
        let edge = self.node("softmax", [(&raised).into()], move |sim, grads| {
            let grad = incoming(grads);
            let _result = saved.as_ref().map(|it| it.get(sim));
            let out = sim.alloc(grad.n, grad.dtype);
            drop(sim.alloc(grad.n, grad.dtype));
            one(out)
        });
        out.with_edge(edge)
    }
}

/// In how many pieces the keys are cut so that few heads still fill the card; more than one keeps partial results.
/// Source: flash-attention, `num_splits_heuristic`.
fn flash_splits(sim: &Sim, heads: Heads, keys: u64) -> u64 {
    let block = if heads.head_dim <= 64 {
        256
    } else if heads.head_dim <= 128 {
        128
    } else {
        64
    };
    let n_blocks = keys.div_ceil(block);
    let n_work = heads.batch * heads.heads * heads.seq_len.div_ceil(64);
    let n_sms = 2 * sim.card.sm_count;
    if n_work as f64 >= 0.8 * n_sms as f64 {
        return 1;
    }
    let is_eligible = |n: u64| n == 1 || n_blocks.div_ceil(n) != n_blocks.div_ceil(n - 1);
    let efficiency = |n: u64| {
        let waves = (n_work * n) as f32 / n_sms as f32;
        waves / waves.ceil()
    };
    let candidates = || (1..=n_blocks.min(128).min(n_sms)).filter(|n| is_eligible(*n));
    let best = candidates().map(efficiency).fold(0.0, f32::max);
    candidates().find(|n| efficiency(*n) >= 0.85 * best).unwrap_or(1)
}
