//! A tensor: a size, a dtype, where its gradient goes, and a share in a piece of memory that is freed with its last holder.

use super::graph::Edge;
use crate::tape::{Event, Tape};
use std::cell::RefCell;
use std::rc::Rc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dtype {
    F32,
    Bf16,
    I64,
    /// Masks, quantized weights and scratch memory, in bytes.
    U8,
}

impl Dtype {
    pub fn bytes(self) -> u64 {
        match self {
            Self::F32 => 4,
            Self::Bf16 => 2,
            Self::I64 => 8,
            Self::U8 => 1,
        }
    }

    /// What an operation on both gives.
    pub fn promote(self, other: Self) -> Self {
        if self == Self::F32 || other == Self::F32 { Self::F32 } else { self }
    }
}

struct Memory {
    tape: Rc<RefCell<Tape>>,
    id: u32,
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.tape.borrow_mut().events.push(Event::Free(self.id));
    }
}

/// A clone is a view: it shares the memory and keeps all of it.
#[derive(Clone)]
pub(crate) struct Tensor {
    memory: Option<Rc<Memory>>,
    /// Elements.
    pub n: u64,
    pub dtype: Dtype,
    /// Where its gradient goes.
    pub edge: Edge,
    /// A view made in backward. PyTorch's view remembers its base, which keeps it from being added to in place.
    is_view: bool,
}

impl Tensor {
    pub(super) fn real(tape: Rc<RefCell<Tape>>, id: u32, n: u64, dtype: Dtype) -> Self {
        Self { memory: Some(Rc::new(Memory { tape, id })), n, dtype, edge: Edge::None, is_view: false }
    }

    /// Without memory.
    pub(super) fn phantom(n: u64, dtype: Dtype) -> Self {
        Self { memory: None, n, dtype, edge: Edge::None, is_view: false }
    }

    /// A tensor of another device.
    pub fn outside(n: u64) -> Self {
        Self::phantom(n, Dtype::F32)
    }

    pub fn id(&self) -> Option<u32> {
        self.memory.as_ref().map(|memory| memory.id)
    }

    pub fn needs_grad(&self) -> bool {
        self.edge != Edge::None
    }

    /// It may be added to in place: nobody else holds its memory, not even its base.
    pub fn is_free_to_change(&self) -> bool {
        !self.is_view && self.is_sole()
    }

    /// The same memory as a view, in backward.
    #[must_use]
    pub fn into_view(mut self) -> Self {
        self.is_view = true;
        self
    }

    /// Made as a view in backward.
    pub fn is_part(&self) -> bool {
        self.is_view
    }

    /// Nobody else holds its memory.
    pub fn is_sole(&self) -> bool {
        self.memory.as_ref().is_none_or(|memory| Rc::strong_count(memory) == 1)
    }

    /// The same memory, its gradient going elsewhere.
    #[must_use]
    pub fn with_edge(mut self, edge: Edge) -> Self {
        self.edge = edge;
        self
    }

    #[must_use]
    pub fn detach(&self) -> Self {
        self.clone().with_edge(Edge::None)
    }

    /// A view of `n` of its elements.
    #[must_use]
    pub fn view(&self, n: u64) -> Self {
        Self { n, ..self.clone() }
    }
}
