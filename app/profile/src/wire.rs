//! The file that the library leaves: a header of 128 bytes, then records. All numbers are little-endian.
//!
//! | header | bytes |
//! | --- | --- |
//! | `VRLACT01` | 0–7 |
//! | process id, CUPTI version (u32 each) | 8, 12 |
//! | CUPTI's clock and the system's monotonic clock at the start, ns (u64 each) | 16, 24 |
//! | the same two at the last flush | 32, 40 |
//! | records in the file, records that CUPTI dropped, records over the bound, records of unknown kinds (u64) | 48, 56, 64, 72 |
//! | time spent in the library's own callbacks, ns (u64) | 80 |
//! | state (u32, [`State`]), error code of CUPTI (u32) | 88, 92 |
//!
//! A record is 40 bytes: kind (u8), detail (u8), device (u16), stream or name (u32), then four u64 that depend on the
//! kind; see [`Record`]. A name is followed by its bytes, padded to a multiple of eight.

pub const MAGIC: &[u8; 8] = b"VRLACT01";
pub const HEADER_BYTES: usize = 128;
pub const RECORD_BYTES: usize = 40;

/// The folder that the files are written to; each process writes its own.
pub const DIR: &str = "VRAMLAB_INJECT_DIR";
/// The most bytes that one process may write.
pub const MAX_BYTES: &str = "VRAMLAB_INJECT_MAX_BYTES";
/// Where CUPTI is, if it is not where programs usually find it.
pub const CUPTI: &str = "VRAMLAB_CUPTI";

/// How far the library came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum State {
    /// Recording; a file that still says so after the end comes from a process that was killed.
    Recording = 1,
    Ended = 2,
    NoCupti = 3,
    /// A version whose structs are not known here.
    UnknownVersion = 4,
    /// CUPTI refused; the error code says why.
    Refused = 5,
}

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// `words`: start, end (ns), 0, 0; the name's number stands in the stream's place, the stream in the third word.
    Kernel = 1,
    /// start, end, bytes; detail: the kind of copy as CUPTI numbers it.
    Copy = 2,
    /// start, end, bytes.
    Set = 3,
    /// time, address, bytes, pool (0: none); detail: the kind of memory as CUPTI numbers it.
    Alloc = 4,
    Free = 5,
    /// start, end; detail: the kind of overhead, CUPTI's number shifted right by sixteen.
    Overhead = 6,
    /// The name with the number in the stream's place; first word: its length.
    Name = 7,
}

impl Kind {
    pub fn from_u8(byte: u8) -> Option<Self> {
        [Self::Kernel, Self::Copy, Self::Set, Self::Alloc, Self::Free, Self::Overhead, Self::Name]
            .into_iter()
            .find(|kind| *kind as u8 == byte)
    }
}

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    pub kind: Kind,
    pub detail: u8,
    pub device: u16,
    /// The stream, or a name's number.
    pub stream: u32,
    pub words: [u64; 4],
}

impl Record {
    pub fn put(&self, out: &mut Vec<u8>) {
        out.push(self.kind as u8);
        out.push(self.detail);
        out.extend_from_slice(&self.device.to_le_bytes());
        out.extend_from_slice(&self.stream.to_le_bytes());
        self.words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    }
}

/// Writes a name's record and its bytes.
pub fn put_name(number: u32, name: &[u8], out: &mut Vec<u8>) {
    let record = Record { kind: Kind::Name, detail: 0, device: 0, stream: number, words: [name.len() as u64, 0, 0, 0] };
    record.put(out);
    out.extend_from_slice(name);
    out.resize(out.len().next_multiple_of(8), 0);
}

/// What stands in the header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    pub pid: u32,
    pub cupti_version: u32,
    /// CUPTI's clock and the monotonic clock, ns.
    pub start: [u64; 2],
    pub last: [u64; 2],
    pub n_records: u64,
    pub n_dropped: u64,
    pub n_over: u64,
    pub n_unknown: u64,
    pub own_ns: u64,
    pub state: u32,
    pub error: u32,
}

impl Header {
    pub fn bytes(&self) -> [u8; HEADER_BYTES] {
        let mut out = Vec::with_capacity(HEADER_BYTES);
        out.extend_from_slice(MAGIC);
        for half in [self.pid, self.cupti_version] {
            out.extend_from_slice(&half.to_le_bytes());
        }
        let words = [
            self.start[0],
            self.start[1],
            self.last[0],
            self.last[1],
            self.n_records,
            self.n_dropped,
            self.n_over,
            self.n_unknown,
            self.own_ns,
        ];
        words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
        for half in [self.state, self.error] {
            out.extend_from_slice(&half.to_le_bytes());
        }
        let mut fixed = [0; HEADER_BYTES];
        fixed.iter_mut().zip(out).for_each(|(to, from)| *to = from);
        fixed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places of the table above, which the reader in `vramlab-profile` goes by.
    #[test]
    fn header_and_record_lie_where_the_table_says() {
        let header = Header { pid: 7, cupti_version: 130_001, start: [1, 2], state: 2, error: 9, ..Header::default() };
        let bytes = header.bytes();
        assert_eq!((&bytes[..8], bytes[8], bytes[16], bytes[24]), (MAGIC.as_slice(), 7, 1, 2));
        assert_eq!((bytes[88], bytes[92], bytes.len()), (2, 9, 128));
        let mut out = Vec::new();
        Record { kind: Kind::Alloc, detail: 3, device: 1, stream: 2, words: [10, 11, 12, 13] }.put(&mut out);
        assert_eq!((out.len(), out[0], out[1], out[2], out[4], out[8], out[16]), (RECORD_BYTES, 4, 3, 1, 2, 10, 11));
        put_name(5, b"kernel", &mut out);
        assert_eq!(out.len(), 2 * RECORD_BYTES + 8);
    }
}
