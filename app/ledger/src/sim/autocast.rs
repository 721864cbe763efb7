//! `torch.autocast` to bfloat16: which tensors are cast, and the cache of cast parameters.

use super::{Dtype, Edge, Sim, Tensor};
use crate::tape::Owner;

/// The state of autocast.
#[derive(Default)]
pub(super) struct Casts {
    is_on: bool,
    /// Cast parameters by leaf, until the block ends.
    cache: Vec<Option<Tensor>>,
}

impl Sim {
    pub fn is_autocast(&self) -> bool {
        self.casts.borrow().is_on
    }

    /// Runs `body` under autocast if `is_on`. At its end the cache is cleared.
    pub fn autocast<T>(&self, is_on: bool, body: impl FnOnce() -> T) -> T {
        let before = std::mem::replace(&mut *self.casts.borrow_mut(), Casts { is_on, cache: Vec::new() });
        let out = body();
        let own = std::mem::replace(&mut *self.casts.borrow_mut(), before);
        drop(own);
        out
    }

    /// An operand of a matrix product: under autocast in half precision.
    pub fn lower(&self, x: &Tensor) -> Tensor {
        if !self.is_autocast() || x.dtype != Dtype::F32 {
            return x.clone();
        }
        let Edge::Leaf(leaf) = x.edge else { return self.cast(x, Dtype::Bf16) };
        let leaf = leaf as usize;
        if let Some(Some(known)) = self.casts.borrow().cache.get(leaf) {
            return known.clone();
        }
        let cast = self.cast(x, Dtype::Bf16);
        self.own(&cast, Owner::WeightCast);
        let cache = &mut self.casts.borrow_mut().cache;
        if cache.len() <= leaf {
            cache.resize_with(leaf + 1, || None);
        }
        cache[leaf] = Some(cast.clone());
        cast
    }

    /// An operand that autocast wants in full precision.
    pub fn raise(&self, x: &Tensor) -> Tensor {
        if self.is_autocast() { self.cast(x, Dtype::F32) } else { x.clone() }
    }

    /// As [`Self::cast`], the caller having no more use for `x`.
    pub fn cast_away(&self, x: Tensor, dtype: Dtype) -> Tensor {
        self.cast(&x, dtype)
    }

    /// `x.to(dtype)`: itself if it has it.
    pub fn cast(&self, x: &Tensor, dtype: Dtype) -> Tensor {
        if x.dtype == dtype {
            return x.clone();
        }
        let (n, from) = (x.n, x.dtype);
        let out = self.alloc(n, dtype);
        let edge = self.node("cast", [x.into()], move |sim, _| [Some(sim.alloc(n, from)), None, None, None]);
        out.with_edge(edge)
    }
}
