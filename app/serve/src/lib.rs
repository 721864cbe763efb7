//! How a serving engine spends the memory that is left for keys and values: pages, requests, steps.
//!
//! Read `schedule/mod.rs` first: one step of continuous batching after another, with static batching beside it. `tables.rs`
//! are block tables with fork and copy-on-write, `prefix.rs` is the pool that recognises prompts by their blocks;
//! `arrivals.rs` makes request streams and `request.rs` reads them, `latency.rs` sums up what the requests saw.
//! `capacity.rs` counts blocks as engines print them, `log/` reads what they printed; `speculate.rs` says when drafts pay;
//! `replay.rs` gives the work of each step of a run, and the time of a step on a card that does one part after another.
//! Every run can be kept as events that a cursor steps through in both directions. No files, clocks or threads.

pub mod arrivals;
pub mod capacity;
pub mod latency;
pub mod log;
pub mod prefix;
mod problem;
mod queue;
pub mod replay;
pub mod request;
pub mod schedule;
pub mod speculate;
pub mod step_time;
pub mod tables;

pub use problem::Problem;
pub use request::Request;
pub use vramlab_units::Random;
