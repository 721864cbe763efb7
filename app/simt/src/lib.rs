//! A small CUDA C on the processor: a kernel's source in; its effect on memory, and how it treated memory, out.
//!
//! It plays what the course's exercises are written in and refuses the rest by name ([`fault`]). Played are all threads of a block
//! together, so that a warp's accesses are requests as the hardware makes them: sectors by the rule of the model `coalescing`, wavefronts
//! by `bank_conflicts`. DRAM bytes are the least that caches of any size would leave. Nothing here is time: how fast it is, only a GPU
//! tells.
//!
//! First file to read: `tree` (what a kernel becomes), then `read` and `run`. No file, clock or thread.

pub mod fault;
mod ops;
mod read;
pub mod run;
pub mod tree;
pub mod types;

pub use fault::Fault;
pub use read::read;
pub use run::count::{Act, Key, Report, Site};
pub use run::memory::{Buffer, Space};
pub use run::{Arg, Launch, Playing, run};
