//! A recorded run as a picture: memory by process over time, the card's own account of it, and lanes of kernels, copies and
//! allocations where CUPTI recorded them.
//!
//! Read `look.rs` first (window and cursor), then `timeline.rs` (the figure and what the reader does with it), `columns.rs`
//! (the sample that a pixel shows), `paint.rs`, `lanes.rs`, `words.rs`.

mod columns;
mod lanes;
mod look;
mod paint;
mod timeline;
mod words;

pub use look::{Look, Memory};
pub use timeline::{Scene, Timeline};
pub use words::{at as moment, legend};
