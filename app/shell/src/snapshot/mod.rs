//! The page of a memory snapshot: the answer in words, memory over time, the segments at the cursor, the allocator's log,
//! stacks and sizes, and everything else that the file says.
//!
//! Read `desk.rs` first (what is open, and how a file is read without stopping the window), then `page.rs`. `shelf.rs`
//! holds what is open beside it, `together.rs` shows them at once, `paper.rs` and `refusal.rs` the texts that PyTorch prints. `ask.rs` lets a part
//! of a large file be chosen before it is read. The figures are
//! `vramlab_views::snapshot`; every number comes from `vramlab_snapshot`.

mod about;
mod answer;
mod ask;
mod counterpart;
mod desk;
mod empty;
mod figures;
mod filters;
mod limit;
mod page;
mod paper;
mod refusal;
mod rules;
mod shelf;
mod spoken;
mod together;

pub use desk::Desk;
pub use page::ui;
pub use shelf::MOST as MOST_BESIDE;

/// Whether a text is a table of `memory_summary()`, the counters of `memory_stats()`, or an out-of-memory error with its
/// numbers.
pub fn is_paper(text: &str) -> bool {
    paper::table_of(text).is_some() || vramlab_snapshot::message::read(text).is_some()
}
