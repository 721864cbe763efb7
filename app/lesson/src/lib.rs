//! Chapters: their schema, the parser with spans, the checker, packs, and the reader's progress.
//!
//! Read `chapter.rs` first: the types a chapter becomes. `parse.rs` makes them from TOML and collects every problem;
//! `check.rs` asks a [`Registry`] what exists; `problem.rs` is the one diagnostic type; `progress.rs` the reader's file.
//! No egui, no files, no clock: text and bytes in, values out.

pub mod chapter;
pub mod problem;

pub use chapter::*;
pub use problem::{Place, Problem, Severity};
