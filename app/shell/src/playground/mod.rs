//! The playground: a page of all kernels of the course, each in an editor, and what every figure shares with it. What the reader writes
//! is kept like answers are; what runs, runs beside the window.
//!
//! `desks.rs` holds the desks that are open and does what they wish for: checks beside the frame, jobs of the GPU's runner. `drafts.rs`
//! is the document of the reader's texts, `page.rs` the page.

mod desks;
pub mod drafts;
mod page;

pub use desks::Desks;
pub use page::ui;
