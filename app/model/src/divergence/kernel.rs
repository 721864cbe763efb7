//! A kernel of nine statements, walked by one warp: which lanes execute which statement in which issue slot.
//!
//! ```text
//! i = blockIdx.x * blockDim.x + threadIdx.x
//! if (i < n) {
//!     x = a[i]
//!     if (condition) { x = x * x; x = x + 1 } else { x = x - 1; x = x / 2 }
//!     a[i] = x
//! }
//! ```
//!
//! Assumption: a statement is one instruction and takes one slot, as in the parent module; a compiler makes several of
//! them, and turns sides as short as these into predicated instructions, which cost the same slots.

use crate::thread_index::{LANES, Launch};

/// A statement, in the order of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    Index,
    Guard,
    Load,
    Branch,
    IfFirst,
    IfSecond,
    ElseFirst,
    ElseSecond,
    Store,
}

impl Line {
    pub const ALL: [Self; 9] = [
        Self::Index,
        Self::Guard,
        Self::Load,
        Self::Branch,
        Self::IfFirst,
        Self::IfSecond,
        Self::ElseFirst,
        Self::ElseSecond,
        Self::Store,
    ];
}

/// What the branch asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// `i % 2 == 0`
    Even,
    /// `i % 32 < 16`
    Half,
    /// `i % 32 == 0`
    One,
    /// `i / 32 % 2 == 0`
    Warp,
    /// `x > 0`, with numbers that have no order.
    Data,
}

impl Condition {
    pub const ALL: [Self; 5] = [Self::Even, Self::Half, Self::One, Self::Warp, Self::Data];

    /// Id in parameters.
    pub fn id(self) -> &'static str {
        match self {
            Self::Even => "even",
            Self::Half => "half",
            Self::One => "one",
            Self::Warp => "warp",
            Self::Data => "data",
        }
    }

    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|condition| condition.id() == id)
    }

    /// Whether the thread with global index `i` takes the if.
    pub fn holds(self, i: u64) -> bool {
        match self {
            Self::Even => i.is_multiple_of(2),
            Self::Half => i % LANES < LANES / 2,
            Self::One => i.is_multiple_of(LANES),
            Self::Warp => (i / LANES).is_multiple_of(2),
            // The sign of made-up data: a multiplicative hash (Knuth's 2654435761) without visible order.
            Self::Data => (i.wrapping_mul(2_654_435_761) >> 13) & 1 == 0,
        }
    }
}

/// One issue slot: a statement and the lanes that execute it (bit i is lane i).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub line: Line,
    pub mask: u32,
}

/// What one warp does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walk {
    /// Lanes that hold a thread.
    pub threads: u32,
    /// Lanes that pass the guard.
    pub active: u32,
    /// Lanes that take the if.
    pub taken: u32,
    pub slots: Vec<Slot>,
}

impl Walk {
    /// Lane slots that did work, in the first `n_slots`.
    pub fn lane_slots_used(&self, n_slots: usize) -> u64 {
        self.slots.iter().take(n_slots).map(|slot| u64::from(slot.mask.count_ones())).sum()
    }

    /// The lanes that ever execute `line`.
    pub fn mask(&self, line: Line) -> Option<u32> {
        self.slots.iter().find(|slot| slot.line == line).map(|slot| slot.mask)
    }

    pub fn is_divergent(&self) -> bool {
        self.taken != 0 && self.taken != self.active
    }
}

/// Walks one warp of a launch through the kernel. A statement that no lane executes takes no slot.
pub fn walk(launch: Launch, block_idx: u64, warp: u64, condition: Condition) -> Walk {
    let threads = launch.thread_mask(warp);
    let active = launch.elem_mask(block_idx, warp);
    let first = block_idx * launch.block_threads + warp * LANES;
    let taken = (0..LANES).filter(|lane| condition.holds(first + lane)).fold(0, |mask, lane| mask | 1 << lane) & active;
    let mask = |line| match line {
        Line::Index | Line::Guard => threads,
        Line::Load | Line::Branch | Line::Store => active,
        Line::IfFirst | Line::IfSecond => taken,
        Line::ElseFirst | Line::ElseSecond => active & !taken,
    };
    let slots = Line::ALL.map(|line| Slot { line, mask: mask(line) });
    Walk { threads, active, taken, slots: slots.into_iter().filter(|slot| slot.mask != 0).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divergence::{Branch, run};

    const LAUNCH: Launch = Launch { n_elems: 1000, block_threads: 128 };

    /// By hand: two statements for all threads, three for all elements, two on each side.
    #[test]
    fn a_divided_warp_takes_nine_slots_and_a_united_one_seven() {
        assert_eq!(walk(LAUNCH, 2, 1, Condition::Even).slots.len(), 9);
        assert_eq!(walk(LAUNCH, 2, 1, Condition::Warp).slots.len(), 7);
        let even = walk(LAUNCH, 2, 1, Condition::Even);
        assert_eq!((even.taken, even.mask(Line::ElseFirst)), (0x5555_5555, Some(0xAAAA_AAAA)));
        assert_eq!(even.lane_slots_used(usize::MAX), 5 * 32 + 4 * 16);
    }

    #[test]
    fn the_walk_and_the_law_agree() {
        let branch = Branch { if_instr: 2, else_instr: 2, common_instr: 5 };
        for condition in Condition::ALL {
            for (block_idx, warp) in [(0, 0), (2, 1), (3, 3), (6, 2)] {
                let walked = walk(LAUNCH, block_idx, warp, condition);
                let cost = run(32, walked.taken.count_ones().into(), branch);
                assert_eq!(walked.slots.len() as u64, cost.issue_slots, "{condition:?}");
                assert_eq!(walked.lane_slots_used(usize::MAX), cost.lane_slots_used, "{condition:?}");
            }
        }
    }

    /// Elements 992 to 999 are the last; the other 24 threads of the warp leave at the guard.
    #[test]
    fn the_last_warp_keeps_its_threads_without_an_element_dark() {
        let last = walk(LAUNCH, 7, 3, Condition::Even);
        assert_eq!((last.threads, last.active, last.taken), (u32::MAX, 0xFF, 0x55));
        assert_eq!(last.mask(Line::Guard), Some(u32::MAX));
        assert_eq!(last.mask(Line::Load), Some(0xFF));
    }

    #[test]
    fn a_warp_beyond_the_last_element_ends_at_the_guard() {
        let idle = walk(Launch { n_elems: 32, block_threads: 64 }, 0, 1, Condition::Even);
        assert_eq!(idle.slots.iter().map(|slot| slot.line).collect::<Vec<_>>(), [Line::Index, Line::Guard]);
    }

    #[test]
    fn made_up_data_divides_nearly_every_warp() {
        let n_divided = (0..8)
            .flat_map(|block| (0..3).map(move |warp| (block, warp)))
            .filter(|(block, warp)| walk(LAUNCH, *block, *warp, Condition::Data).is_divergent())
            .count();
        assert_eq!(n_divided, 24);
    }
}
