//! Kernels, experiments and the child process that runs them.
//!
//! Read `manifest.rs` (what `kernel.toml` and `experiment.toml` say) and `lens.rs` (other observables of a run), then `read/` (their text, with every problem and
//! its place; `Library` is all of them), `vars.rs` (the names that formulas know), `plan.rs` (an experiment for the device
//! at hand), `predict.rs` (what the model expects, for plans and runs alike), `oracle/` (the CPU references), `verdict/`
//! (did the effect show, and which number may be printed), `hash.rs` (is a trace older than its kernel), `hardware.rs`
//! (published devices), `play.rs` and `exercise.rs` (a kernel played without a GPU, and tasks over it), `small.rs` (sizes at which one can be played), `bench.rs` (an edited kernel on a device) and `build.rs` (what the compiler made of it), `sanitizer/` (what NVIDIA's checkers printed, as findings), `protocol.rs` (what parent and child say to each other), `client.rs` (the parent's side: deadline,
//! kill, restart). `backend/` is what runs inside the child. Without features this crate is pure.

#[cfg(feature = "spawn")]
pub mod backend;
pub mod bench;
pub mod build;
#[cfg(feature = "spawn")]
pub mod child;
#[cfg(feature = "spawn")]
pub mod client;
pub mod error;
pub mod exercise;
pub mod hardware;
pub mod hash;
pub mod launch;
pub mod lens;
pub mod manifest;
pub mod oracle;
pub mod plan;
pub mod play;
pub mod predict;
pub mod protocol;
pub mod read;
pub mod sanitizer;
pub mod small;
#[cfg(feature = "spawn")]
mod sys;
#[cfg(test)]
mod testing;
pub mod vars;
pub mod verdict;
#[cfg(feature = "spawn")]
pub mod wire;

pub use error::RunError;
