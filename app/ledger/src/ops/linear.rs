//! Matrix products.

use super::{incoming, one};
use crate::sim::{Dtype, Input, Sim, Tensor};
use crate::tape::Owner;

/// Weights that share a scale in NF4, and scales that share one of theirs.
const NF4_BLOCK: u64 = 64;
const SCALES_BLOCK: u64 = 256;

/// A linear layer: `c` outputs of `k` inputs.
pub(crate) struct Linear {
    pub weight: Tensor,
    pub bias: Option<Tensor>,
    pub k: u64,
    pub c: u64,
    /// Stored in 4 bits.
    pub is_nf4: bool,
}

impl Sim {
    /// `F.linear`. With a bias one `addmm` (gradients: input, weight, bias), without one `mm` (weight, input).
    pub fn linear(&self, x: Tensor, layer: &Linear) -> Tensor {
        self.linear_with(x, layer, false)
    }

    /// The same; where its gradient comes with rows side by side, the bias is summed along them.
    pub fn linear_with(&self, x: Tensor, layer: &Linear, is_by_rows: bool) -> Tensor {
        if layer.is_nf4 {
            return self.linear_nf4(x, layer);
        }
        self.name("linear");
        // C++ evaluates the arguments from the last to the first, and so are they cast.
        let bias = layer.bias.as_ref().map(|bias| self.lower(bias));
        let weight = self.lower(&layer.weight);
        let input = self.lower(&x);
        let (k, c, n_rows) = (layer.k, layer.c, x.n / layer.k);
        let (wants_x, wants_w) = (input.needs_grad(), weight.needs_grad());
        let saved_x = self.save_if(wants_w, &input);
        let saved_w = self.save_if(wants_x, &weight);
        let out = self.alloc(n_rows * c, input.dtype);
        let inputs = match &bias {
            Some(bias) if is_by_rows => [(&input).into(), (&weight).into(), Input::folded_rows(bias)],
            // Summed even over a single row.
            Some(bias) => [(&input).into(), (&weight).into(), Input::with_fewer_dimensions(bias)],
            None => [(&input).into(), (&weight).into(), (&input.detach()).into()],
        };
        let has_bias = bias.is_some();
        let edge = self.node("linear", inputs, move |sim, grads| {
            let grad = incoming(grads);
            let x = saved_x.as_ref().map(|it| it.get(sim));
            let w = saved_w.as_ref().map(|it| it.get(sim));
            // The product is of matrices; what is handed on are views of it.
            let of_x = || w.as_ref().map(|_| sim.alloc(n_rows * k, grad.dtype).into_view());
            let of_w = || x.as_ref().map(|_| sim.alloc(k * c, grad.dtype).into_view());
            if has_bias {
                let of_x = of_x();
                [of_x, of_w(), Some(grad.clone()), None]
            } else {
                let of_w = of_w();
                [of_x(), of_w, None, None]
            }
        });
        out.with_edge(edge)
    }

    /// A frozen matrix in 4 bits (bitsandbytes' `Linear4bit`): unpacked to bfloat16 for the time of the product, forward and
    /// backward; the input is not saved, the output is cast back to the input's type.
    fn linear_nf4(&self, x: Tensor, layer: &Linear) -> Tensor {
        self.name("linear_nf4");
        let dtype = x.dtype;
        let input = self.cast(&x, Dtype::Bf16);
        let (k, c) = (layer.k, layer.c);
        let n_rows = input.n / k;
        // Kept by the function itself, not among what autograd saves: a checkpoint does not see it.
        let (packed, is_full) = (layer.weight.detach(), self.is_autocast());
        let unpacked = self.unpack_nf4(k * c);
        let out = self.alloc(n_rows * c, Dtype::Bf16);
        drop(unpacked);
        let edge = self.node("linear_nf4", [(&input).into()], move |sim, _| {
            let _held = &packed;
            // Here one copy of the scales does, and goes before the product.
            let scales = sim.alloc_for((k * c).div_ceil(NF4_BLOCK), Dtype::F32, Owner::Temporary);
            let full = if is_full { Dtype::F32 } else { Dtype::Bf16 };
            let weight = sim.alloc_for(k * c, full, Owner::Temporary);
            drop(scales);
            // Quantized from float32, it is unpacked to that and cast.
            let weight = if is_full { sim.cast_away(weight, Dtype::Bf16) } else { weight };
            let dx = sim.alloc(n_rows * k, Dtype::Bf16);
            drop(weight);
            one(dx)
        });
        let out = self.cast_away(out.with_edge(edge), dtype);
        drop((input, x));
        out
    }

    /// The scales, their offset added, and the weight.
    fn unpack_nf4(&self, n: u64) -> [Tensor; 3] {
        let keep = |n, dtype| self.alloc_for(n, dtype, Owner::Temporary);
        let n_scales = n.div_ceil(NF4_BLOCK);
        [keep(n_scales, Dtype::F32), keep(n_scales, Dtype::F32), keep(n, Dtype::Bf16)]
    }

    /// A matrix of `n` weights, quantized to NF4 as it moves to the card, its scales quantized once more: the packed weight, and
    /// what belongs to it. `code`: the table for scales, made once.
    pub fn pack_nf4(&self, n: u64, dtype: Dtype, code: &mut Option<Tensor>) -> (Tensor, Vec<Tensor>) {
        let n_scales = n.div_ceil(NF4_BLOCK);
        let keep = |n, dtype| self.alloc_for(n, dtype, Owner::Parameter);
        let whole = self.alloc_for(n, dtype, Owner::Temporary);
        let scales = self.alloc_for(n_scales, Dtype::F32, Owner::Temporary);
        let weight = keep(n.div_ceil(2), Dtype::U8).view(n);
        let values = keep(16, Dtype::F32);
        drop((self.scratch(64), self.scratch(4)));
        let offset = keep(1, Dtype::F32);
        let shifted = self.alloc_for(n_scales, Dtype::F32, Owner::Temporary);
        if code.is_none() {
            *code = Some(keep(256, Dtype::F32));
        }
        let outer = keep(n_scales.div_ceil(SCALES_BLOCK), Dtype::F32);
        let packed = keep(n_scales, Dtype::U8);
        let own_code = keep(256, Dtype::F32);
        drop((scales, shifted, whole));
        (weight, vec![values, offset, outer, packed, own_code])
    }

    /// `a @ b` for batches: `a` of `batches`·m·k, `b` of `batches`·k·n elements, both as they are (`bmm`); `n_out` elements.
    pub fn bmm(&self, a: Tensor, b: Tensor, n_out: u64) -> Tensor {
        self.name("bmm");
        let second = self.lower(&b);
        let first = self.lower(&a);
        let saved_b = self.save_if(first.needs_grad(), &second);
        let saved_a = self.save_if(second.needs_grad(), &first);
        let out = self.alloc(n_out, first.dtype);
        let (n_a, n_b) = (first.n, second.n);
        let edge = self.node("bmm", [(&first).into(), (&second).into()], move |sim, grads| {
            let dtype = incoming(grads).dtype;
            let a = saved_a.as_ref().map(|it| it.get(sim));
            let b = saved_b.as_ref().map(|it| it.get(sim));
            let of_b = a.as_ref().map(|_| sim.alloc(n_b, dtype));
            let of_a = b.as_ref().map(|_| sim.alloc(n_a, dtype));
            [of_a, of_b, None, None]
        });
        out.with_edge(edge)
    }
}
