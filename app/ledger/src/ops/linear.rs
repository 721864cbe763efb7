//! Matrix products.

use super::incoming;
use crate::sim::{Sim, Tensor};

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
            Some(bias) => [(&input).into(), (&weight).into(), bias.into()],
            None => [(&input).into(), (&weight).into(), (&input.detach()).into()],
        };
        let has_bias = bias.is_some();
        let edge = self.node("linear", inputs, move |sim, grads| {
            let grad = incoming(grads);
            let x = saved_x.as_ref().map(|it| it.get(sim));
            let w = saved_w.as_ref().map(|it| it.get(sim));
            // The product is of matrices; what is handed on are views of it.
            let of_x = || w.as_ref().map(|_| sim.alloc(n_rows * k, grad.dtype).as_view());
            let of_w = || x.as_ref().map(|_| sim.alloc(k * c, grad.dtype).as_view());
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
