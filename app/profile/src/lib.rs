//! A recorded run of a foreign program: memory over time as NVML and the system saw it, and CUPTI's activities where the
//! library of ours could be loaded. Pure: bytes in, answers out.
//!
//! Read `record.rs` first (what a file holds; columns, versioned JSON), then `read.rs` (checked before anything is shown),
//! `wire.rs` (the file that the injected library leaves) and `activity.rs` (that file, read), `live.rs` (allocations alive
//! over time), `report.rs` (peak, when, by whom, what NVML cannot see), `lanes.rs` (activities for a picture's pixels),
//! `name.rs` (kernel names for reading), `words.rs` (the report in both languages).

pub mod activity;
pub mod lanes;
pub mod live;
pub mod name;
pub mod read;
pub mod record;
pub mod report;
#[cfg(test)]
mod tests;
pub mod wire;
pub mod words;

pub use read::{ReadError, read};
pub use record::Profile;
pub use report::Report;
