//! Recorded runs: what an experiment measured, on which device, and the file it is kept in.
//!
//! Read `run.rs` first: [`Run`] is the one record of an experiment, whether it is happening now, was made a minute ago
//! or comes out of a trace file. `file.rs` reads and writes the versioned file format over byte slices. Planning,
//! predicting and judging a run live in `vramlab-gpu`; nothing here measures anything.

pub mod file;
pub mod run;

pub use file::{ReadTrace, TraceError, TraceProblem};
pub use run::{Backend, DeviceFacts, Invalid, OracleOutcome, Point, Run, Telemetry};
