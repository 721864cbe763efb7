//! Chapters: their schema, the parser with spans, the checker, packs, and the reader's progress.
//!
//! Read `chapter.rs` first: the types a chapter becomes. `fields.rs` is the format as data; `parse.rs` makes chapters
//! from TOML by it and collects every problem; `check.rs` asks a [`Registry`] what exists; `problem.rs` is the one
//! diagnostic type; `progress.rs` the reader's file. `schedule.rs` and `due.rs` say when a review comes back, `gap.rs` and
//! `calibration.rs` how predictions compare with the truth.
//! No egui, no files, no clock: text and bytes in, values out.

pub mod answer;
mod build;
pub mod calibration;
pub mod chapter;
pub mod check;
pub mod course;
pub mod due;
pub mod fields;
pub mod figure;
pub mod gap;
pub mod link;
pub mod markdown;
pub mod migrate;
pub mod pack;
pub mod parse;
pub mod problem;
pub mod progress;
pub mod read;
pub mod scaffold;
pub mod schedule;
pub mod schema;
mod slip;
pub mod source;
pub mod tree;

pub use chapter::*;
pub use check::{check, check_in_pack};
pub use figure::Figure;
pub use migrate::migrate;
pub use pack::{Limits, Pack, PackError, check_pack};
pub use parse::{Parsed, parse};
pub use problem::{MAX_PROBLEMS, Place, Problem, Severity, render};
pub use progress::Progress;
pub use scaffold::scaffold;
