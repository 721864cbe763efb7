//! The project chain: one workload, a baseline, candidates, a decision under a budget, the reason, in one file.
//!
//! `file.rs` is what the file holds and how it is read (every mistake has its place, nothing is guessed), `rules.rs` what
//! may stand beside what, and which quality a candidate must keep, `decide.rs` the choice under a budget and where a
//! saving came from, `words.rs` the report for people. Nobody here runs anything or looks at a clock.

mod decide;
mod file;
mod label;
mod rules;
mod words;

pub use decide::{Decision, Interval, Rejected, Saving, decide, pareto, ratios, saving, time_ratio};
pub use file::{Device, Entry, Evidence, Gate, MAX_BYTES, Outcome, Project, ReadError, Run, SCHEMA, read, write};
pub use label::label;
pub use rules::{Difference, Judged, compare, judge};
pub use words::{explained, owner, report, size, why};
