//! PyTorch without values: tensors, autograd, autocast, checkpoints.

mod autocast;
mod checkpoint;
mod graph;
mod tensor;

pub(crate) use checkpoint::Output;
pub(crate) use graph::{Edge, Grads, Input};
pub(crate) use tensor::{Dtype, Tensor};

use crate::tape::{Event, Item, Mark, NO_LAYER, Owner, Tape};
use checkpoint::Frames;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// What of the card decides sizes of scratch memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Card {
    pub sm_count: u64,
    pub threads_per_sm: u64,
}

/// The H200 on which the rules were checked.
pub(crate) const H200: Card = Card { sm_count: 132, threads_per_sm: 2048 };

/// The machine. Operations are its methods, in `ops/`.
pub(crate) struct Sim {
    tape: Rc<RefCell<Tape>>,
    pub card: Card,
    graph: RefCell<graph::Graph>,
    casts: RefCell<autocast::Casts>,
    frames: RefCell<Frames>,
    /// A recomputation has what it wanted: the rest of the block runs without effect.
    is_stopped: Cell<bool>,
    is_backward: Cell<bool>,
    is_grad_enabled: Cell<bool>,
    layer: Cell<u16>,
    op: Cell<&'static str>,
}

impl Sim {
    pub fn new(card: Card) -> Self {
        Self {
            tape: Rc::default(),
            card,
            graph: RefCell::default(),
            casts: RefCell::default(),
            frames: RefCell::default(),
            is_stopped: Cell::new(false),
            is_backward: Cell::new(false),
            is_grad_enabled: Cell::new(true),
            layer: Cell::new(NO_LAYER),
            op: Cell::new(""),
        }
    }

    /// A new tensor of `n` elements: an activation in forward, a gradient in backward.
    pub fn alloc(&self, n: u64, dtype: Dtype) -> Tensor {
        let owner = if self.is_backward.get() { Owner::ActivationGradient } else { Owner::Temporary };
        self.alloc_for(n, dtype, owner)
    }

    /// Memory that the operation gives back before it is done.
    pub fn scratch(&self, bytes: u64) -> Tensor {
        self.alloc_for(bytes, Dtype::U8, Owner::Temporary)
    }

    pub fn alloc_for(&self, n: u64, dtype: Dtype, owner: Owner) -> Tensor {
        if self.is_stopped.get() || n == 0 {
            return Tensor::phantom(n, dtype);
        }
        let mut tape = self.tape.borrow_mut();
        let id = tape.items.len() as u32;
        let layer = Some(self.layer.get()).filter(|layer| *layer != NO_LAYER);
        tape.items.push(Item { bytes: n * dtype.bytes(), owner, layer, op: self.op.get() });
        tape.events.push(Event::Request(id));
        drop(tape);
        Tensor::real(Rc::clone(&self.tape), id, n, dtype)
    }

    /// Names the owner of a tensor that is already there.
    pub fn own(&self, tensor: &Tensor, owner: Owner) {
        if let Some(id) = tensor.id() {
            self.tape.borrow_mut().items[id as usize].owner = owner;
        }
    }

    /// A temporary that is kept becomes an activation.
    fn keep(&self, tensor: &Tensor) {
        if let Some(id) = tensor.id() {
            let item = &mut self.tape.borrow_mut().items[id as usize];
            if matches!(item.owner, Owner::Temporary | Owner::ActivationGradient) {
                item.owner = Owner::Activation;
            }
        }
    }

    pub fn mark(&self, mark: Mark) {
        self.tape.borrow_mut().events.push(Event::Mark(mark));
    }

    /// What follows belongs to a block of the model, or to none.
    pub fn enter(&self, layer: Option<usize>) {
        self.layer.set(layer.map_or(NO_LAYER, |layer| layer as u16));
    }

    /// The operation that asks for what follows.
    pub fn name(&self, op: &'static str) {
        self.op.set(op);
    }

    /// `torch.no_grad()`.
    pub fn without_grad<T>(&self, body: impl FnOnce() -> T) -> T {
        let before = self.is_grad_enabled.replace(false);
        let out = body();
        self.is_grad_enabled.set(before);
        out
    }

    /// Ends the run; what is freed later is on no tape.
    pub fn into_tape(self) -> Tape {
        self.tape.take()
    }
}
