//! The figures of a memory snapshot: memory over time, the segments at a moment, the allocator's log, stacks, sizes.
//!
//! Read `look.rs` first: what is looked at (window, cursor, filters), shared by all figures, so that a moment chosen in one
//! is shown by the others. `scene.rs` is what they draw: the snapshot, its analysis, and the colour of every block. Nothing
//! here computes what the snapshot crate can say; figures only choose what a pixel shows.

mod columns;
mod histogram;
mod icicle;
mod log;
mod look;
mod map;
mod scene;
mod timeline;
mod words;

pub use histogram::Histogram;
pub use icicle::Icicle;
pub use log::Log;
pub use look::{Filter, Kind, Look};
pub use map::Map;
pub use scene::{Colour, Scene, band_chip};
pub use timeline::{Timeline, life_lines};
pub use words::{moment, stack_lines};
