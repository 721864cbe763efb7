//! The device as it was recorded: it gives what the recording says it gave, and refuses where something went back first.

use super::Mismatch;
use crate::model::{Action, Event};
use std::collections::VecDeque;
use vramlab_alloc::caching::{BlockId, Device, Returns};
use vramlab_units::{Localized, Text};

pub(super) const MOST_MISMATCHES: usize = 20;
/// Address space is never what runs out; the device's size is not in a snapshot.
const TOTAL_BYTES: u64 = 1 << 40;

/// Segment events since the last request, and what the allocator did against them.
#[derive(Clone, Default)]
pub(super) struct Recorded {
    pub queue: VecDeque<(usize, Event)>,
    pub wrong: Vec<Mismatch>,
    /// All that were found; only the first are kept.
    pub n_wrong: u64,
    pub at: usize,
    pub n_given: u64,
    /// Pending blocks that the allocator waited for, in their order.
    pub waited: Vec<BlockId>,
    /// Most that was ever reserved.
    pub most_reserved: u64,
    /// A refusal is recorded: nothing more is given.
    pub refuses: bool,
    /// The segment that a prediction about its return was wrong of.
    pub suspect: Option<u64>,
    /// Given although nothing was recorded: outside every recorded address.
    pub invented: u64,
}

impl Recorded {
    pub fn mismatch(&mut self, event: usize, what: impl FnOnce() -> Localized) {
        self.n_wrong += 1;
        if self.wrong.len() < MOST_MISMATCHES {
            self.wrong.push(Mismatch { event, what: what() });
        }
    }

    pub fn returns(event: &Event) -> bool {
        matches!(event.action, Action::SegmentFree | Action::SegmentUnmap)
    }

    /// Whether something went back before the request at hand.
    pub fn has_returns(&self) -> bool {
        self.queue.iter().any(|(_, event)| Self::returns(event))
    }

    fn invent(&mut self, what: Text, bytes: u64) -> u64 {
        self.mismatch(self.at, || {
            Localized::both(
                format!("预测要{} {bytes} 字节，录制里没有", what.zh),
                format!("{} of {bytes} bytes was predicted, none is recorded", what.en),
            )
        });
        self.invented += 1;
        self.invented << 41
    }

    /// Pools of graphs, and streams, are emptied in an order that is not recorded.
    fn given_back(&mut self, action: Action, address: u64, bytes: u64) {
        let run = self.queue.iter().take_while(|(_, event)| Self::returns(event));
        let is_it = |event: &Event| event.action == action && (event.address, event.size) == (address, bytes);
        let found = run.into_iter().position(|(_, event)| is_it(event));
        if found.is_none() {
            self.suspect = self.suspect.or(Some(address));
        }
        match (found, self.queue.front().copied()) {
            (Some(place), _) => {
                self.queue.remove(place);
            }
            (None, Some((at, event))) => self.mismatch(at, || {
                let (action, at, n) = (event.action, event.address, event.size);
                Localized::both(
                    format!("预测归还 0x{address:x}（{bytes} 字节），录下的是 {action:?} 0x{at:x}（{n} 字节）"),
                    format!("0x{address:x}, {bytes} bytes, goes back; recorded is {action:?} of 0x{at:x}, {n} bytes"),
                )
            }),
            (None, None) => {
                self.mismatch(self.at, || {
                    Localized::both(
                        format!("预测归还 0x{address:x}（{bytes} 字节），录制里没有"),
                        format!("0x{address:x}, {bytes} bytes, goes back; nothing is recorded"),
                    )
                });
            }
        }
    }
}

impl Device for Recorded {
    fn segment(&mut self, bytes: u64) -> Option<u64> {
        match self.queue.front().copied() {
            Some((at, event)) if event.action == Action::SegmentAlloc => {
                self.queue.pop_front();
                if event.size != bytes {
                    self.mismatch(at, || {
                        let n = event.size;
                        Localized::both(
                            format!("预测要一段 {bytes} 字节，录下的是 {n}"),
                            format!("a segment of {bytes} bytes is asked for; recorded are {n}"),
                        )
                    });
                }
                self.n_given += 1;
                Some(event.address)
            }
            // The cache was flushed: the device had refused.
            Some(_) => None,
            None if self.refuses => None,
            None => Some(self.invent(Text::new("一段", "a segment"), bytes)),
        }
    }

    fn release(&mut self, address: u64, bytes: u64) {
        self.given_back(Action::SegmentFree, address, bytes);
    }

    fn range(&mut self, bytes: u64) -> Option<u64> {
        match self.queue.front() {
            Some((_, event)) if event.action == Action::SegmentMap => Some(event.address),
            Some(_) => None,
            None if self.refuses => None,
            None => Some(self.invent(Text::new("一段地址", "a range"), bytes)),
        }
    }

    fn map(&mut self, address: u64, bytes: u64) -> bool {
        match self.queue.front().copied() {
            Some((at, event)) if event.action == Action::SegmentMap => {
                self.queue.pop_front();
                if (event.address, event.size) != (address, bytes) {
                    self.mismatch(at, || {
                        let (at, n) = (event.address, event.size);
                        Localized::both(
                            format!("预测映射 0x{address:x}（{bytes} 字节），录下的是 0x{at:x}（{n} 字节）"),
                            format!("0x{address:x}, {bytes} bytes, is mapped; recorded is 0x{at:x}, {n} bytes"),
                        )
                    });
                }
                self.n_given += 1;
                true
            }
            Some(_) => false,
            None if self.refuses => false,
            None => {
                self.invent(Text::new("映射", "mapping"), bytes);
                true
            }
        }
    }

    fn unmap(&mut self, address: u64, bytes: u64) {
        self.given_back(Action::SegmentUnmap, address, bytes);
    }

    fn total_bytes(&self) -> u64 {
        TOTAL_BYTES
    }

    fn synchronized(&mut self) -> Vec<BlockId> {
        std::mem::take(&mut self.waited)
    }

    fn recorded_returns(&self) -> Option<Returns> {
        let run = self.queue.iter().take_while(|(_, event)| event.action == Action::SegmentFree);
        let segments = run.map(|(_, event)| event.address).collect();
        Some(Returns { segments, most_reserved: self.most_reserved })
    }
}
