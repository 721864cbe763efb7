//! The figures of a memory snapshot: memory over time, the segments at a moment, the allocator's log, stacks, sizes.
//!
//! Read `look.rs` first: what is looked at (window, cursor, filters), shared by all figures, so that a moment chosen in one
//! is shown by the others. `scene.rs` is what they draw: the snapshot, its analysis, and the colour of every block; a filter
//! (`filter.rs`) narrows it for all of them. Nothing here computes what the snapshot crate can say; figures only choose
//! what a pixel shows. `ranks.rs` and `change.rs` show several snapshots at once.

mod area;
mod change;
mod columns;
mod detail;
mod filter;
mod histogram;
mod icicle;
mod log;
mod look;
mod map;
mod marks;
mod overview;
mod ranks;
mod scene;
mod summary;
mod tell;
mod timeline;
mod words;

pub use change::{changes_ui, gained};
pub use histogram::Histogram;
pub use icicle::Icicle;
pub use log::Log;
pub use look::{Filter, Kind, Look};
pub use map::Map;
pub use ranks::{Lane, Ranks, sites_ui};
pub use scene::{Colour, Scene, band_chip};
pub use summary::SummaryTable;
pub use timeline::{Timeline, life_lines};
pub use words::{moment, stack_lines};
