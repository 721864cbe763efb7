//! The file that the injected library leaves, read into columns. A file of a killed process is read as far as it goes.

use crate::record::Activity;
use crate::wire::{HEADER_BYTES, Kind, MAGIC, RECORD_BYTES, Record, State};
use std::collections::BTreeMap;

/// Why there are no records from a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Without {
    NoCupti,
    UnknownVersion(u32),
    /// With CUPTI's error code.
    Refused(u32),
    /// No file of ours.
    NotOurs,
}

/// Reads a file. `zero_ns`: the monotonic clock when the program began, from which all times are counted.
pub fn read(bytes: &[u8], zero_ns: u64) -> Result<Activity, Without> {
    let header = bytes.get(..HEADER_BYTES).filter(|header| header.starts_with(MAGIC)).ok_or(Without::NotOurs)?;
    let version = u32_at(header, 12);
    let state = u32_at(header, 88);
    if state == State::NoCupti as u32 {
        return Err(Without::NoCupti);
    }
    if state == State::UnknownVersion as u32 {
        return Err(Without::UnknownVersion(version));
    }
    if state == State::Refused as u32 {
        return Err(Without::Refused(u32_at(header, 92)));
    }
    let clock = Clock { theirs: u64_at(header, 16), ours: u64_at(header, 24), zero: zero_ns };
    let mut out = Activity {
        pid: u32_at(header, 8),
        cupti_version: version,
        is_whole: state == State::Ended as u32,
        n_dropped: u64_at(header, 56),
        n_over: u64_at(header, 64),
        n_unknown: u64_at(header, 72),
        own_ns: u64_at(header, 80),
        ..Activity::default()
    };
    let mut rows = Rows::default();
    rows.read(&bytes[HEADER_BYTES..], &mut out);
    rows.into_columns(&clock, &mut out);
    Ok(out)
}

/// From CUPTI's clock to time since the beginning of the program.
struct Clock {
    theirs: u64,
    ours: u64,
    zero: u64,
}

impl Clock {
    /// What lies before the beginning counts as the beginning.
    fn since(&self, theirs: u64) -> u64 {
        let ours = i128::from(theirs) - i128::from(self.theirs) + i128::from(self.ours) - i128::from(self.zero);
        u64::try_from(ours.clamp(0, i128::from(u64::MAX >> 2))).unwrap_or_default()
    }
}

/// Records of each kind; CUPTI hands buffers over in no order.
#[derive(Default)]
struct Rows {
    kernels: Vec<Record>,
    copies: Vec<Record>,
    sets: Vec<Record>,
    memory: Vec<Record>,
    overhead: BTreeMap<u8, u64>,
}

impl Rows {
    fn read(&mut self, mut bytes: &[u8], out: &mut Activity) {
        while let Some((record, rest)) = bytes.split_at_checked(RECORD_BYTES) {
            bytes = rest;
            let Some(record) = record_of(record) else {
                out.n_unknown += 1;
                continue;
            };
            match record.kind {
                Kind::Kernel => self.kernels.push(record),
                Kind::Copy => self.copies.push(record),
                Kind::Set => self.sets.push(record),
                Kind::Alloc | Kind::Free => self.memory.push(record),
                Kind::Overhead => {
                    let ns = record.words[1].saturating_sub(record.words[0]);
                    *self.overhead.entry(record.detail).or_default() += ns;
                }
                Kind::Name => match name(&record, bytes) {
                    Some((text, n_bytes)) => {
                        out.names.push(text);
                        bytes = bytes.get(n_bytes..).unwrap_or_default();
                    }
                    None => return,
                },
            }
        }
    }

    fn into_columns(mut self, clock: &Clock, out: &mut Activity) {
        for rows in [&mut self.kernels, &mut self.copies, &mut self.sets, &mut self.memory] {
            rows.sort_by_key(|record| record.words[0]);
        }
        let n_names = out.names.len() as u32;
        let n_all = self.kernels.len();
        self.kernels.retain(|record| record.stream < n_names);
        out.n_unknown += (n_all - self.kernels.len()) as u64;
        for record in &self.kernels {
            out.kernels.start_ns.push(clock.since(record.words[0]));
            out.kernels.ns.push(length(record));
            out.kernels.name.push(record.stream);
            out.kernels.stream.push(record.words[2] as u32);
        }
        for (rows, to) in [(&self.copies, &mut out.copies), (&self.sets, &mut out.sets)] {
            for record in rows {
                to.start_ns.push(clock.since(record.words[0]));
                to.ns.push(length(record));
                to.bytes.push(record.words[2]);
                to.kind.push(record.detail);
            }
        }
        for record in &self.memory {
            out.memory.t_ns.push(clock.since(record.words[0]));
            out.memory.is_free.push(record.kind == Kind::Free);
            out.memory.kind.push(record.detail);
            out.memory.address.push(record.words[1]);
            out.memory.bytes.push(record.words[2]);
            out.memory.is_pool.push(record.words[3] != 0);
        }
        out.overhead = self.overhead.into_iter().collect();
    }
}

/// A length that no clock of this century makes overflow.
fn length(record: &Record) -> u64 {
    record.words[1].saturating_sub(record.words[0]).min(u64::MAX >> 2)
}

fn record_of(bytes: &[u8]) -> Option<Record> {
    let kind = Kind::from_u8(*bytes.first()?)?;
    let device = u16::from_le_bytes(bytes.get(2..4)?.try_into().ok()?);
    let words = [8, 16, 24, 32].map(|at| u64_at(bytes, at));
    Some(Record { kind, detail: bytes[1], device, stream: u32_at(bytes, 4), words })
}

/// A name, and how many bytes it takes with its padding.
fn name(record: &Record, bytes: &[u8]) -> Option<(String, usize)> {
    let length = usize::try_from(record.words[0]).ok().filter(|length| *length <= bytes.len())?;
    Some((String::from_utf8_lossy(&bytes[..length]).into_owned(), length.next_multiple_of(8)))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|part| part.try_into().ok()).map(u32::from_le_bytes).unwrap_or_default()
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|part| part.try_into().ok()).map(u64::from_le_bytes).unwrap_or_default()
}
