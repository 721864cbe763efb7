//! CPU references. Every run's results are held against one before its time may be shown.
//!
//! Read `words.rs` first: every input is a counter-based generator, so that a reference recomputes just the elements it
//! wants.

pub mod words;

pub use words::{buffer_seed, fill_bytes, unit_f32_at, unit_f64_at, word_at};
