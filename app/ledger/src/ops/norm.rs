//! LayerNorm, and RMSNorm in both ways in which it is written.

use super::{incoming, one, reduce};
use crate::sim::{Dtype, Input, Sim, Tensor};

/// Rows from which blocks sum parts of a column.
const MANY_ROWS: u64 = 64 * 1024;
const WARP: u64 = 32;

impl Sim {
    /// `F.layer_norm`; autocast wants float32. The statistics are float32 always.
    pub fn layer_norm(&self, x: &Tensor, weight: &Tensor, bias: &Tensor) -> Tensor {
        self.name("layer_norm");
        let x = self.raise(x);
        let n_rows = x.n / weight.n;
        let saved_x = self.save(&x);
        let out = self.alloc(x.n, x.dtype);
        let mean = self.alloc(n_rows, Dtype::F32);
        let rstd = self.alloc(n_rows, Dtype::F32);
        let saved = [saved_x, self.save(weight), self.save(&mean), self.save(&rstd)];
        let (n, n_weight) = (x.n, weight.n);
        let wants_x = x.needs_grad();
        let edge = self.node("layer_norm", [(&x).into(), weight.into(), bias.into()], move |sim, grads| {
            let dtype = incoming(grads).dtype;
            let _held = saved.each_ref().map(|it| it.get(sim));
            let of_x = wants_x.then(|| sim.alloc(n, dtype));
            let [scale, shift] = sim.norm_sums([true, true], n / n_weight, n_weight, dtype);
            [of_x, scale, shift, None]
        });
        out.with_edge(edge)
    }

    /// Gradients of scale and shift. With very many rows and few columns each block sums a part, which are summed after.
    /// Source: `ATen/native/cuda/layer_norm_kernel.cu`, `LaunchGammaBetaBackwardCUDAKernel`.
    pub(super) fn norm_sums(&self, wants: [bool; 2], n_rows: u64, n_columns: u64, dtype: Dtype) -> [Option<Tensor>; 2] {
        let sums = wants.map(|wants| wants.then(|| self.alloc(n_columns, dtype)));
        if n_rows <= MANY_ROWS || n_columns / WARP >= self.card.sm_count / 2 {
            return sums;
        }
        let parts = wants.map(|wants| wants.then(|| self.alloc(n_rows.div_ceil(WARP) * n_columns, dtype)));
        let total = |part: &Option<Tensor>, old: Option<Tensor>| {
            let new = part.as_ref().map(|part| reduce::columns(self, part, n_columns));
            drop(old);
            new
        };
        let [first, second] = sums;
        let first = total(&parts[0], first);
        [first, total(&parts[1], second)]
    }

    /// `F.rms_norm`, one kernel: as LayerNorm without a mean.
    pub fn rms_norm(&self, x: &Tensor, weight: &Tensor) -> Tensor {
        self.name("rms_norm");
        if x.dtype != weight.dtype {
            return self.rms_norm_mixed(x, weight);
        }
        let n_rows = x.n / weight.n;
        let (wants_x, wants_w) = (x.needs_grad(), weight.needs_grad());
        let wants = wants_x || wants_w;
        let saved_x = self.save_if(wants, x);
        let saved_w = self.save_if(wants, weight);
        let out = self.alloc(x.n, x.dtype);
        let rstd = self.alloc(n_rows, Dtype::F32);
        let saved = [saved_x, saved_w, self.save_if(wants, &rstd)];
        let (n, n_weight) = (x.n, weight.n);
        let edge = self.node("rms_norm", [x.into(), weight.into()], move |sim, grads| {
            let dtype = incoming(grads).dtype;
            let _held = saved.each_ref().map(|it| it.as_ref().map(|it| it.get(sim)));
            let of_x = wants_x.then(|| sim.alloc(n, dtype));
            let [scale, _] = sim.norm_sums([wants_w, false], n / n_weight, n_weight, dtype);
            [of_x, scale, None, None]
        });
        out.with_edge(edge)
    }

    /// The same where weight and input are of two types: no kernel takes them, so PyTorch goes operation by operation, the weight
    /// in float32 too. Source: `ATen/native/layer_norm.cpp`, `rms_norm_composite`.
    fn rms_norm_mixed(&self, x: &Tensor, weight: &Tensor) -> Tensor {
        let n_rows = x.n / weight.n;
        let full = self.cast(x, Dtype::F32);
        let square = self.square(full.clone());
        let mean = self.row_mean(square.clone(), n_rows);
        let inverse = self.rsqrt(self.shift_in_place(mean));
        drop(square);
        let scaled = self.mul_rows(full, inverse);
        let weighed = self.mul_leading(scaled, weight.clone());
        self.cast_away(weighed, x.dtype)
    }

    /// `x.add_(number)`.
    fn shift_in_place(&self, x: Tensor) -> Tensor {
        let edge = self.node("add", [(&x).into()], |_, grads| one(incoming(grads).clone()));
        x.with_edge(edge)
    }

    /// `w * (x32 * rsqrt(x32.pow(2).mean(-1, keepdim=True) + eps)).to(x.dtype)`, operation by operation.
    pub fn rms_norm_plain(&self, x: &Tensor, weight: &Tensor) -> Tensor {
        self.name("rms_norm");
        let n_rows = x.n / weight.n;
        let full = self.cast(x, Dtype::F32);
        let square = self.square(full.clone());
        let mean = self.row_mean(square, n_rows);
        let mean = self.shift(mean);
        let inverse = self.rsqrt(mean);
        let scaled = self.cast_away(self.mul_rows(full.clone(), inverse), x.dtype);
        self.weigh(weight, scaled)
    }

    /// `x.pow(2)`: saves x; backward makes `x.pow(1)`, twice that, and the product.
    fn square(&self, x: Tensor) -> Tensor {
        let saved = self.save_if(x.needs_grad(), &x);
        let out = self.alloc(x.n, x.dtype);
        let edge = self.node("square", [(&x).into()], move |sim, grads| {
            let grad = incoming(grads);
            let _x = saved.as_ref().map(|it| it.get(sim));
            let power = sim.alloc(grad.n, grad.dtype);
            let twice = sim.alloc(grad.n, grad.dtype);
            let out = sim.alloc(grad.n, grad.dtype);
            drop((power, twice));
            one(out)
        });
        out.with_edge(edge)
    }

    /// `x.mean(-1, keepdim=True)`: its gradient is expanded and divided.
    fn row_mean(&self, x: Tensor, n_rows: u64) -> Tensor {
        let out = self.alloc(n_rows, x.dtype);
        let n = x.n;
        let edge = self.node("mean", [(&x).into()], move |sim, grads| one(sim.alloc(n, incoming(grads).dtype)));
        out.with_edge(edge)
    }

    /// `x + number`.
    fn shift(&self, x: Tensor) -> Tensor {
        let out = self.alloc(x.n, x.dtype);
        let edge = self.node("add", [(&x).into()], |_, grads| one(incoming(grads).clone()));
        out.with_edge(edge)
    }

    /// `torch.rsqrt`: saves its result; backward is `-0.5 * grad * result.pow(3)`.
    fn rsqrt(&self, x: Tensor) -> Tensor {
        let out = self.alloc(x.n, x.dtype);
        let saved = self.save_if(x.needs_grad(), &out);
        let edge = self.node("rsqrt", [(&x).into()], move |sim, grads| {
            let grad = incoming(grads);
            let _result = saved.as_ref().map(|it| it.get(sim));
            let half = sim.alloc(grad.n, grad.dtype);
            let cube = sim.alloc(grad.n, grad.dtype);
            let out = sim.alloc(grad.n, grad.dtype);
            drop((half, cube));
            one(out)
        });
        out.with_edge(edge)
    }

    /// `weight * x`, the weight first.
    fn weigh(&self, weight: &Tensor, x: Tensor) -> Tensor {
        let (wants_w, wants_x) = (weight.needs_grad(), x.needs_grad());
        let saved_x = self.save_if(wants_w, &x);
        let saved_w = self.save_if(wants_x, weight);
        let out = self.alloc(x.n, weight.dtype.promote(x.dtype));
        let edge = self.node("mul", [Input::from(weight), (&x).into()], move |sim, grads| {
            let grad = incoming(grads);
            let (x, w) = (saved_x.as_ref().map(|it| it.get(sim)), saved_w.as_ref().map(|it| it.get(sim)));
            let of_x = w.as_ref().map(|_| sim.alloc(grad.n, grad.dtype));
            let of_w = x.as_ref().map(|_| sim.alloc(grad.n, grad.dtype));
            [of_w, of_x, None, None]
        });
        out.with_edge(edge)
    }
}
