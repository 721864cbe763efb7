//! Pure memory models: a question in, an answer out. No pixels, files, clocks, threads or GPU calls.
//!
//! Read `coalescing.rs` first. Each model is a typed function with its assumptions and source in its docs; the same
//! file wraps it as a [`registry::Model`], which takes and gives one flat JSON object, so that `vramlab eval`, lessons,
//! experiments and checks all ask the same code.

pub mod access;
pub mod bank_conflicts;
pub mod coalescing;
mod fields;
pub mod registry;

pub use registry::{Entry, MODELS, eval, find};
