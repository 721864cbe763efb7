//! The operation tape of the ledger, where it plays the model.

use crate::ask::{Ask, Train};
use crate::items::Sums;
use vramlab_modelfile::Model;

/// The step by its tape; nothing where the tape does not know the model or the way of training.
pub fn sums(_model: &Model, _ask: &Ask, _train: &Train) -> Option<Sums> {
    None
}
