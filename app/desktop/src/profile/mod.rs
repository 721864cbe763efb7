//! Watching a foreign program: it runs as a child with our terminal, a thread samples it, and what the injected library wrote
//! is read when it has ended.
//!
//! Read `watch.rs` first (the whole run), then `sampler.rs` (one sample, and what it costs), `tree.rs` (which processes are
//! the program's), `card.rs` (NVML), `inject.rs` (the library and its files), `child.rs` (start, signals, end), `sys.rs`
//! (what only the system can do).

mod card;
mod child;
mod inject;
mod sampler;
mod sys;
mod tree;
mod watch;

pub use watch::{Ask, Watched, missing, plain_us, run};
