//! Kernels, experiments and the child process that runs them.
//!
//! Read `manifest.rs` (what `kernel.toml` and `experiment.toml` say), then `plan.rs` (an experiment for the device at
//! hand, with its predictions), `verdict.rs` (did the effect show, and which number may be printed), `protocol.rs` (what
//! parent and child say to each other), `client.rs` (the parent's side: deadline, kill, restart). `backend/` is what runs
//! inside the child. Without features this crate is pure: manifests, plans, verdicts, protocol values.

#[cfg(feature = "spawn")]
pub mod backend;
#[cfg(feature = "spawn")]
pub mod child;
#[cfg(feature = "spawn")]
pub mod client;
pub mod error;
pub mod hardware;
pub mod hash;
pub mod launch;
pub mod manifest;
pub mod oracle;
pub mod plan;
pub mod predict;
pub mod protocol;
pub mod read;
#[cfg(feature = "spawn")]
mod sys;
#[cfg(test)]
mod testing;
pub mod vars;
pub mod verdict;
#[cfg(feature = "spawn")]
pub mod wire;

pub use error::RunError;
