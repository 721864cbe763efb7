//! PyTorch memory snapshots: read, and replayed through the allocator that wrote them.
//!
//! Read `model.rs` first: what a snapshot is once it has been read. `pickle.rs` runs the opcodes of Python's pickles over
//! a few plain types and nothing else; `compact.rs` turns finished dictionaries into events and frames at once, so that a
//! file of a million events needs little more than itself; `read.rs` makes the model of what is left. `start.rs` walks
//! back to the state before the first event, `replay.rs` forward again through `vramlab_alloc`.

mod compact;
pub mod model;
pub mod pickle;
mod read;
pub mod replay;
mod start;
mod unpack;

pub use model::{Action, Annotation, Block, BlockState, Event, Frame, Segment, Snapshot, StackId};
pub use pickle::PickleError;
pub use read::{ReadError, read};
