//! The open snapshot, for a page that compares it with something else.

use super::desk::{Desk, State};
use std::sync::Arc;
use vramlab_snapshot::Snapshot;

impl Desk {
    /// Name and content of the snapshot that is looked at.
    pub fn counterpart(&self) -> Option<(&str, &Arc<Snapshot>)> {
        match &self.state {
            State::Open(opened) => Some((&opened.name, &opened.scene.snapshot)),
            _ => None,
        }
    }
}
