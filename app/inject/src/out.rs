//! The file of one process: written in whole buffers, so that a process that is killed leaves what was flushed; never
//! larger than its bound, and what is over it is counted.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use vramlab_profile::wire::{HEADER_BYTES, Header, Kind, RECORD_BYTES, Record, put_name};

/// Names longer than this are cut.
pub const NAME_BYTES: usize = 512;

pub struct Out {
    file: File,
    pub header: Header,
    names: HashMap<Vec<u8>, u32>,
    left: usize,
    buffer: Vec<u8>,
}

impl Out {
    pub fn create(path: &Path, most: usize, header: Header) -> Option<Self> {
        let mut file = File::options().write(true).create_new(true).open(path).ok()?;
        file.write_all(&header.bytes()).ok()?;
        let left = most.saturating_sub(HEADER_BYTES);
        Some(Self { file, header, names: HashMap::new(), left, buffer: Vec::new() })
    }

    /// Takes a record; one for which there is no room is counted.
    pub fn put(&mut self, record: Record) {
        if self.left < RECORD_BYTES {
            self.header.n_over += 1;
            return;
        }
        self.left -= RECORD_BYTES;
        self.header.n_records += 1;
        record.put(&mut self.buffer);
    }

    /// Takes a kernel with its name, which is written once.
    pub fn put_kernel(&mut self, mut record: Record, name: &[u8]) {
        record.stream = match self.names.get(name) {
            Some(number) => *number,
            None => {
                let room = RECORD_BYTES + name.len().next_multiple_of(8);
                if self.left < room + RECORD_BYTES {
                    self.header.n_over += 1;
                    return;
                }
                self.left -= room;
                let number = self.names.len() as u32;
                put_name(number, name, &mut self.buffer);
                self.names.insert(name.to_vec(), number);
                number
            }
        };
        debug_assert!(record.kind == Kind::Kernel, "only kernels have names");
        self.put(record);
    }

    /// Writes what was taken, then the header that counts it. A full disk loses records and says so by its counts.
    pub fn write(&mut self) {
        if !self.buffer.is_empty() && self.file.write_all(&self.buffer).is_err() {
            self.left = 0;
        }
        self.buffer.clear();
        // The counts are lost with the disk; nothing else can be done in a foreign process.
        let _unsaid = self.file.write_all_at(&self.header.bytes(), 0);
    }
}
