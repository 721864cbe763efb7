//! `torch.utils.checkpoint` without re-entry: forward saves nothing inside; the first saved tensor that backward asks for
//! runs the whole block again, up to the moment when everything that was saved is there.

use super::{Sim, Tensor};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A block: its output, and what else it computes.
pub(crate) type Output = (Tensor, Option<Tensor>);
type Body = Rc<dyn Fn(&Sim, &Tensor) -> Output>;

/// One checkpointed call.
pub(crate) struct Frame {
    input: Tensor,
    body: Body,
    is_autocast: bool,
    n_saved: Cell<usize>,
    again: RefCell<Vec<Option<Tensor>>>,
    is_recomputed: Cell<bool>,
}

/// The frame at work.
#[derive(Default)]
pub(super) enum Frames {
    #[default]
    None,
    Forward(Rc<Frame>),
    Recompute(Rc<Frame>),
}

/// A saved tensor of a node.
pub(crate) enum Saved {
    Held(Tensor),
    /// To be computed again; the index among what the frame saves.
    Later(Rc<Frame>, usize),
}

impl Saved {
    /// The tensor, for the time of a formula. A recomputed one is handed over: its memory goes when the formula is done.
    pub fn get(&self, sim: &Sim) -> Tensor {
        match self {
            Self::Held(tensor) => tensor.clone(),
            Self::Later(frame, idx) => {
                if !frame.is_recomputed.get() {
                    sim.recompute(frame);
                }
                let tensor = frame.again.borrow_mut()[*idx].take();
                tensor.expect("a saved tensor is asked for once")
            }
        }
    }
}

impl Sim {
    /// Saves a tensor for backward. Called before the output exists, as PyTorch does, unless the output is what is saved.
    pub fn save(&self, tensor: &Tensor) -> Saved {
        if self.is_stopped.get() {
            return Saved::Held(tensor.detach());
        }
        let frames = self.frames.borrow();
        match &*frames {
            Frames::None => {
                self.keep(tensor);
                Saved::Held(tensor.clone())
            }
            Frames::Forward(frame) => {
                let idx = frame.n_saved.get();
                frame.n_saved.set(idx + 1);
                Saved::Later(Rc::clone(frame), idx)
            }
            Frames::Recompute(frame) => {
                self.keep(tensor);
                let mut again = frame.again.borrow_mut();
                again.push(Some(tensor.detach()));
                self.is_stopped.set(again.len() == frame.n_saved.get());
                Saved::Held(tensor.detach())
            }
        }
    }

    /// As [`Self::save`], if it is needed.
    pub fn save_if(&self, is_needed: bool, tensor: &Tensor) -> Option<Saved> {
        (is_needed && self.is_grad_enabled.get()).then(|| self.save(tensor))
    }

    /// `checkpoint(body, input, use_reentrant=False)`.
    pub fn checkpoint(&self, body: Body, input: &Tensor) -> Output {
        let frame = Rc::new(Frame {
            input: input.clone(),
            body,
            is_autocast: self.is_autocast(),
            n_saved: Cell::new(0),
            again: RefCell::default(),
            is_recomputed: Cell::new(false),
        });
        self.keep(input);
        *self.frames.borrow_mut() = Frames::Forward(Rc::clone(&frame));
        let out = (frame.body)(self, input);
        *self.frames.borrow_mut() = Frames::None;
        out
    }

    fn recompute(&self, frame: &Rc<Frame>) {
        let (layer, op) = (self.layer.get(), self.op.get());
        frame.is_recomputed.set(true);
        *self.frames.borrow_mut() = Frames::Recompute(Rc::clone(frame));
        self.is_backward.set(false);
        self.is_grad_enabled.set(true);
        self.in_own_graph(|| {
            self.autocast(frame.is_autocast, || {
                (frame.body)(self, &frame.input);
            });
        });
        self.is_stopped.set(false);
        self.is_grad_enabled.set(false);
        self.is_backward.set(true);
        *self.frames.borrow_mut() = Frames::None;
        self.layer.set(layer);
        self.op.set(op);
    }
}
