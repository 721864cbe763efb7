//! The page of a memory snapshot: the answer in words, memory over time, the segments at the cursor, the allocator's log,
//! stacks and sizes, and everything else that the file says.
//!
//! Read `desk.rs` first (what is open, and how a file is read without stopping the window), then `page.rs`. The figures are
//! `vramlab_views::snapshot`; every number comes from `vramlab_snapshot`.

mod about;
mod answer;
mod desk;
mod empty;
mod figures;
mod page;
mod spoken;

pub use desk::Desk;
pub use page::ui;
