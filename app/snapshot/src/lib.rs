//! PyTorch memory snapshots: read, and replayed through the allocator that wrote them.
//!
//! Read `model.rs` first: what a snapshot is once it has been read. `pickle.rs` runs the opcodes of Python's pickles over
//! a few plain types and nothing else; `compact.rs` turns finished dictionaries into events and frames at once, so that a
//! file of a million events needs little more than itself; `read.rs` makes the model of what is left. `range.rs` keeps a part of
//! the events. `start.rs` walks back to the state before the first event, `replay.rs` forward again through `vramlab_alloc`.
//!
//! What is asked of a snapshot begins at `analysis.rs`: every block's life and the running totals (`lives.rs`, `alive.rs`, `spans.rs`,
//! `timeline.rs`), who held the memory (`peak.rs`, `bands.rs`, `sites.rs`, `roles.rs`), steps and what grows over them
//! (`steps.rs`, `growth.rs`), the address space at any event (`segments.rs`), why a request was refused (`oom.rs`), other
//! settings (`what_if.rs`), all of it in words (`findings.rs`), and what to do first (`advice.rs`). `rules.rs` are the reader's own words about roles.
//! Two snapshots are held against each other by `compare.rs`, the ranks of a job by `ranks.rs`; `pools.rs` takes the
//! address space apart by pool. `summary.rs` explains PyTorch's own tables, `message.rs` the text of an
//! out-of-memory error.

pub mod advice;
pub mod alive;
pub mod analysis;
pub mod bands;
mod compact;
pub mod compare;
mod fast;
pub mod findings;
pub mod ground;
pub mod growth;
mod homes;
pub mod kin;
pub mod lives;
pub mod message;
pub mod model;
pub mod oom;
pub mod peak;
pub mod pickle;
pub mod policies;
pub mod pools;
mod range;
pub mod ranks;
mod read;
pub mod replay;
pub mod roles;
pub mod rules;
pub mod segments;
pub mod sites;
pub mod spans;
mod start;
pub mod steps;
pub mod summary;
pub mod timeline;
mod told;
mod unpack;
pub mod what_if;

pub use analysis::{Analysis, Options};
pub use model::{Action, Annotation, Block, BlockState, Event, Frame, Segment, Shown, Snapshot, StackId};
pub use pickle::PickleError;
pub use pickle::Progress;
pub use range::{Range, read_range};
pub use read::{Counts, DeviceCount, ReadError, count, read, read_with};
pub use unpack::unpacked_head;
