//! Does a model fit a card, what fills it, and what to change first.
//!
//! Read `ask.rs` first: the question. [`answer`] adds up what lies on one card (`serve.rs`, `train/`), tries every lever of
//! `levers.rs` on the same sums, and searches the cheapest plan under a budget (`plan.rs`). A lever changes the question
//! and is judged by the sums of the changed question, so that what it saves is never an estimate of its own. Where no plan does,
//! `instead.rs` looks for other ways. `words.rs` are the sentences that window and command line share.
//! What a model file does not say is marked as assumed where there is a convention; else it stays unknown, and so does the
//! verdict that would need it.

mod answer;
mod ask;
mod instead;
mod items;
mod levers;
mod plan;
mod serve;
mod train;
mod weights;
mod words;

pub use answer::{Answer, Fits, Limit, Tried, answer, quick, sums};
pub use ask::{Ask, Card, MOST_ZERO, Optimizer, Precision, Scenario, Serve, Train, Work};
pub use instead::{Enough, SLOW_PERCENT};
pub use items::{Certainty, Item, Owner, Sums};
pub use levers::{LEVERS, Lever};
pub use plan::{Plan, Step};

use vramlab_modelfile::Problem;

/// A sum that must stay in the numbers of a machine.
pub(crate) fn bytes(value: u128) -> Result<u64, Problem> {
    u64::try_from(value).ok().filter(|bytes| *bytes < 1 << 60).ok_or_else(|| {
        Problem::new(
            "算出的字节数超过 2⁶⁰：请检查批大小、长度和并发数",
            "the bytes exceed 2⁶⁰: check batch, length and number of requests",
        )
    })
}
