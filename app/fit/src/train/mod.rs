//! What a training step holds on one card at its fullest moment.
//!
//! `tape.rs` asks the operation tape of the ledger where the model is one that it plays; `closed.rs` is the closed formula
//! for all others, for shards over several cards and for what the tape does not know. Each item says which of the two it is.

mod closed;
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
