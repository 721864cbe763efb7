//! Operations as PyTorch 2.11 performs them on CUDA: what each allocates, in order, what it saves, what its gradient
//! allocates. A method of `Sim` takes its operands by value: handing one over is Python's "the caller has no more use for
//! it", and it goes when the operation has returned; a clone keeps it.
//!
//! Within a formula, results come in the alphabetical order of the operands' names in PyTorch's `derivatives.yaml`.

mod attention;
mod basic;
mod conv;
mod embedding;
mod linear;
mod loss;
mod moe;
mod norm;
mod picture;
pub(crate) mod reduce;
mod rope;

pub(crate) use attention::Heads;
pub(crate) use conv::{BatchNorm, Conv, Map};
pub(crate) use linear::Linear;
pub(crate) use moe::Routing;
pub(crate) use picture::{Kernel, Picture};

use crate::sim::{Grads, Tensor};

/// One gradient.
pub(crate) fn one(grad: Tensor) -> Grads {
    [Some(grad), None, None, None]
}

/// Two, where they are wanted.
pub(crate) fn two(first: Option<Tensor>, second: Option<Tensor>) -> Grads {
    [first, second, None, None]
}

/// The incoming gradient of a node with one output.
pub(crate) fn incoming(grads: &Grads) -> &Tensor {
    grads[0].as_ref().expect("a node runs when its output has a gradient")
}
