//! Elementwise operations, copies, dropout.

use super::{incoming, one, two};
use crate::sim::{Dtype, Input, Sim, Tensor};

impl Sim {
    /// `a + b`, a residual or a broadcast; saves nothing.
    pub fn add(&self, a: Tensor, b: Tensor) -> Tensor {
        self.name("add");
        let out = self.alloc(a.n.max(b.n), a.dtype.promote(b.dtype));
        let edge = self.node("add", [(&a).into(), (&b).into()], |_, grads| {
            let grad = incoming(grads);
            two(Some(grad.clone()), Some(grad.clone()))
        });
        out.with_edge(edge)
    }

    /// `a + b` where `b` has no batch dimension: its gradient is summed over the batch, even over one of one.
    pub fn add_shared(&self, a: Tensor, b: Tensor) -> Tensor {
        self.name("add");
        let out = self.alloc(a.n, a.dtype.promote(b.dtype));
        let edge = self.node("add", [(&a).into(), Input::with_fewer_dimensions(&b)], |_, grads| {
            let grad = incoming(grads);
            two(Some(grad.clone()), Some(grad.clone()))
        });
        out.with_edge(edge)
    }

    /// `a * b`; each saves the other. A factor of a number a row is `by_rows`.
    pub fn mul(&self, a: Tensor, b: Tensor) -> Tensor {
        let input = Input::from(&b);
        self.mul_with(a, b, input)
    }

    /// `a * b[:, None]`.
    pub fn mul_rows(&self, a: Tensor, b: Tensor) -> Tensor {
        let input = Input::folded_rows(&b);
        self.mul_with(a, b, input)
    }

    /// `a * b` where `b` has fewer dimensions.
    pub fn mul_leading(&self, a: Tensor, b: Tensor) -> Tensor {
        let input = Input::with_fewer_dimensions(&b);
        self.mul_with(a, b, input)
    }

    fn mul_with(&self, a: Tensor, b: Tensor, b_input: Input) -> Tensor {
        self.name("mul");
        let (wants_a, wants_b) = (a.needs_grad(), b.needs_grad());
        let other = self.save_if(wants_a, &b);
        let this = self.save_if(wants_b, &a);
        let out = self.alloc(a.n.max(b.n), a.dtype.promote(b.dtype));
        let edge = self.node("mul", [(&a).into(), b_input], move |sim, grads| {
            let grad = incoming(grads);
            let (other, this) = (other.as_ref().map(|it| it.get(sim)), this.as_ref().map(|it| it.get(sim)));
            let of_b = this.as_ref().map(|this| sim.alloc(grad.n, grad.dtype.promote(this.dtype)));
            let of_a = other.as_ref().map(|other| sim.alloc(grad.n, grad.dtype.promote(other.dtype)));
            two(of_a, of_b)
        });
        out.with_edge(edge)
    }

    /// `x * number`, `-x`, `x + number` where a gradient is a tensor of its own.
    pub fn scale(&self, x: Tensor) -> Tensor {
        self.name("scale");
        let out = self.alloc(x.n, x.dtype);
        let edge = self.node("scale", [(&x).into()], |sim, grads| {
            let grad = incoming(grads);
            one(sim.alloc(grad.n, grad.dtype))
        });
        out.with_edge(edge)
    }

    /// A function that saves its input: GELU, SiLU.
    pub fn activation(&self, op: &'static str, x: Tensor) -> Tensor {
        self.name(op);
        let saved = self.save_if(x.needs_grad(), &x);
        let out = self.alloc(x.n, x.dtype);
        let edge = self.node(op, [(&x).into()], move |sim, grads| {
            let _x = saved.as_ref().map(|it| it.get(sim));
            let grad = incoming(grads);
            one(sim.alloc(grad.n, grad.dtype))
        });
        out.with_edge(edge)
    }

    /// A contiguous copy, of which the gradient comes back as it is.
    pub fn copy(&self, x: Tensor) -> Tensor {
        self.name("copy");
        let out = self.alloc(x.n, x.dtype);
        let edge = self.node("copy", [(&x).into()], |_, grads| one(incoming(grads).clone()));
        out.with_edge(edge)
    }

    /// A view of which the gradient must be copied to become contiguous.
    pub fn strided(&self, x: Tensor) -> Tensor {
        let edge = self.node("copy", [(&x).into()], |sim, grads| {
            let grad = incoming(grads);
            one(sim.alloc(grad.n, grad.dtype))
        });
        x.with_edge(edge)
    }

    /// `expand(…).reshape(…)`: every element `times` times; a copy, unless the repeated dimension has one element only, so that a
    /// view will do.
    pub fn repeat(&self, x: Tensor, times: u64, is_view: bool) -> Tensor {
        if times == 1 {
            return x;
        }
        self.name("repeat");
        let out = if is_view { x.view(x.n * times) } else { self.alloc(x.n * times, x.dtype) };
        let n = x.n;
        let edge = self.node("repeat", [(&x).into()], move |sim, grads| one(sim.alloc(n, incoming(grads).dtype)));
        out.with_edge(edge)
    }

    /// Dropout with p > 0: the output and a mask of a byte an element.
    pub fn dropout(&self, x: Tensor) -> Tensor {
        self.name("dropout");
        let mask = self.alloc(x.n, Dtype::U8);
        let out = self.alloc(x.n, x.dtype);
        let saved = self.save_if(x.needs_grad(), &mask);
        let edge = self.node("dropout", [(&x).into()], move |sim, grads| {
            let _mask = saved.as_ref().map(|it| it.get(sim));
            let grad = incoming(grads);
            one(sim.alloc(grad.n, grad.dtype))
        });
        out.with_edge(edge)
    }
}
