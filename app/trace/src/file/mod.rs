//! The trace file: `.vltrace`, versioned, over byte slices.
//!
//! ```text
//! 0    8  magic 89 "VLTR" 0D 0A 1A: a file sent as text does not pass for one
//! 8    2  version, little-endian, as every number here
//! 10   2  version with all bits flipped, so that damage does not pass for the future
//! 12   …  blocks
//! ```
//!
//! A block (version 1, `v1.rs`) is a 24-byte head (mark, kind, codec, number, stored and plain length, checksum of the
//! content, checksum of the head) and its content. The first block describes the run, the last repeats it, those between
//! carry points. A damaged block costs its own points: the reader finds the next mark and goes on.
//!
//! Traces are written by `record` alone. Every version that was ever written stays readable; `tests/data/traces` keeps a
//! sample of each.

mod looks;
mod problem;
mod v1;

pub use looks::Looks;
pub use problem::{TraceError, TraceProblem};

use crate::Run;

/// Extension of trace files, without the dot.
pub const EXTENSION: &str = "vltrace";
/// The version that this program writes.
pub const VERSION: u16 = 1;
/// Largest accepted file. Runs are a few kilobytes.
pub const MAX_FILE_BYTES: usize = 64 << 20;

const MAGIC: [u8; 8] = *b"\x89VLTR\r\n\x1a";
const START_BYTES: usize = 12;

/// A trace as far as it could be read.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadTrace {
    /// With every point of every whole block.
    pub run: Run,
    pub version: u16,
    /// Points that the recording says it has.
    pub n_points: usize,
    /// What was wrong, in the order of the file; empty for a whole file.
    pub problems: Vec<TraceProblem>,
}

/// The file of a run, whole in memory.
pub fn write(run: &Run) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend(VERSION.to_le_bytes());
    out.extend((!VERSION).to_le_bytes());
    v1::write(run, &mut out);
    out
}

/// True if the bytes begin like a trace, of whatever version.
pub fn is_trace(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// Reads a trace of any version. Damage is listed beside what could be read; an error means that nothing could.
pub fn read(bytes: &[u8]) -> Result<ReadTrace, TraceError> {
    if bytes.len() > MAX_FILE_BYTES {
        return Err(TraceError::TooLarge { n_bytes: bytes.len(), max: MAX_FILE_BYTES });
    }
    let mut problems = Vec::new();
    if !is_trace(bytes) {
        // A prefix of the magic is a recording cut short; a mark in its place, damage in the first bytes.
        if !bytes.is_empty() && MAGIC.starts_with(bytes) {
            return Err(TraceError::NoDescription {
                problems: vec![TraceProblem::EndsEarly { n_read: 0, n_points: None }],
            });
        }
        if !bytes.get(START_BYTES..).is_some_and(v1::begins_with_mark) {
            return Err(TraceError::NotATrace { looks: Looks::of(bytes) });
        }
        problems.push(TraceProblem::DamagedStart);
    }
    let Some(start) = bytes.get(8..START_BYTES) else {
        return Err(TraceError::NoDescription {
            problems: vec![TraceProblem::EndsEarly { n_read: 0, n_points: None }],
        });
    };
    let version = u16::from_le_bytes([start[0], start[1]]);
    let is_sound = version == !u16::from_le_bytes([start[2], start[3]]);
    match version {
        1 => {}
        newer if is_sound && newer > VERSION => return Err(TraceError::Future { version: newer, ours: VERSION }),
        _ => {}
    }
    if !is_sound || version == 0 {
        problems.push(TraceProblem::DamagedStart);
        problems.dedup();
    }
    v1::read(&bytes[START_BYTES..], problems)
}

#[cfg(test)]
mod tests;
