//! What a training step holds on one card at its fullest moment.
//!
//! `tape.rs` asks the operation tape of the ledger where the model is one that it plays: through the allocator where everything
//! lies on one card, and by `split.rs` where cards share it, the host holds a part or the loss comes in pieces. `closed.rs` is
//! the closed formula for all other models. Each item says how it was found.

mod closed;
mod split;
mod tape;

use crate::ask::{Ask, Train};
use crate::items::{self, Sums};
use vramlab_modelfile::{Model, Problem};

/// By the closed formula alone: quick enough for a search over thousands of plans.
pub fn quick(model: &Model, ask: &Ask, train: &Train) -> Result<Sums, Problem> {
    closed::sums(model, ask, train)
}

pub fn sums(model: &Model, ask: &Ask, train: &Train) -> Result<Sums, Problem> {
    let mut sums = match tape::sums(model, ask, train) {
        Some(sums) => sums,
        None => closed::sums(model, ask, train)?,
    };
    items::warn_of_length(model, train.seq_len, &mut sums);
    Ok(sums)
}
