//! A training laboratory: small nets, a tape of operations, and strategies that save memory without changing the gradient.
//!
//! Read `net.rs` (what is trained), `strategy.rs` (how), `device.rs` (the operations), then `step.rs` (one step under a
//! strategy), `tape.rs` and `layers.rs` (what is saved and how it runs backwards) and `arena.rs` (who owns which byte).
//! `cpu/` computes on the processor, `dry.rs` only counts: `forecast.rs` predicts peaks with it. `compare.rs` says how
//! far two gradients are apart. `project/` is the chain from a baseline to a decision, kept in one file.

pub mod arena;
pub mod compare;
pub mod cpu;
pub mod data;
pub mod device;
pub mod dry;
pub mod forecast;
mod layers;
pub mod narrow;
pub mod net;
pub mod project;
pub mod step;
pub mod strategy;
mod tape;

pub use forecast::{Forecast, forecast};
pub use net::Workload;
pub use step::Trainer;
pub use strategy::Strategy;
