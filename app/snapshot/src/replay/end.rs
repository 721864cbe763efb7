//! The blocks at the end, predicted and recorded.

use super::Run;
use crate::model::{BlockState, Snapshot};
use std::collections::BTreeMap;
use vramlab_alloc::caching::{State, View};

impl Run<'_> {
    /// Every block at the end, against the recorded segments.
    pub(super) fn compare_blocks(&mut self, snapshot: &Snapshot, device: usize) {
        let predicted: BTreeMap<u64, View> =
            self.machine.blocks().into_iter().filter(|view| view.is_mapped).map(|view| (view.address, view)).collect();
        let n_events = snapshot.traces.get(device).map_or(0, Vec::len);
        let mut n_recorded = 0;
        for segment in snapshot.segments.iter().filter(|segment| segment.device as usize == device) {
            for block in &segment.blocks {
                n_recorded += 1;
                let state = match block.state {
                    BlockState::Allocated => State::Allocated,
                    BlockState::Pending => State::Pending,
                    BlockState::Inactive => State::Free,
                };
                let is_same = predicted.get(&block.address).is_some_and(|view| {
                    let is_asked = state == State::Free || view.requested == block.requested;
                    (view.size, view.state) == (block.size, state) && is_asked
                });
                if !is_same {
                    let found = predicted.get(&block.address).map(|view| (view.size, view.state));
                    self.machine.device.mismatch(n_events, || {
                        format!(
                            "final block 0x{:x}: recorded {} bytes {state:?}, predicted {found:?}",
                            block.address, block.size
                        )
                    });
                }
            }
        }
        if n_recorded != predicted.len() {
            self.machine.device.mismatch(n_events, || {
                format!("{n_recorded} final blocks are recorded, {} predicted", predicted.len())
            });
        }
    }
}
