//! The blocks at the end, predicted and recorded.

use super::Run;
use crate::model::{BlockState, Snapshot};
use std::collections::BTreeMap;
use vramlab_alloc::caching::{State, View};
use vramlab_units::Localized;

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
                        let (at, size) = (block.address, block.size);
                        Localized::both(
                            format!("结尾的块 0x{at:x}：录下 {size} 字节 {state:?}，预测 {found:?}"),
                            format!("final block 0x{at:x}: recorded {size} bytes {state:?}, predicted {found:?}"),
                        )
                    });
                }
            }
        }
        if n_recorded != predicted.len() {
            self.machine.device.mismatch(n_events, || {
                let n = predicted.len();
                Localized::both(
                    format!("结尾录下 {n_recorded} 块，预测 {n} 块"),
                    format!("{n_recorded} final blocks are recorded, {n} predicted"),
                )
            });
        }
    }
}
