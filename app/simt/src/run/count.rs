//! What is counted while a kernel is played: requests and sectors of global memory by source line, wavefronts of shared memory,
//! bytes that must come from DRAM at least, branches within a warp, and who touched shared memory without a barrier between.

use super::memory::Space;
use crate::fault::Place;
use std::collections::BTreeMap;
use vramlab_model::access::LaneAddrs;
use vramlab_model::{bank_conflicts, coalescing};
use vramlab_units::Bytes;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Act {
    Load,
    Store,
    Atomic,
}

/// One access in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub at: Place,
    pub space: Space,
    pub act: Act,
    /// Bytes of one lane's access.
    pub width: u64,
}

/// All its requests added up: a request is one warp's access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Site {
    pub requests: u64,
    /// Sectors of global memory, wavefronts of shared memory.
    pub moved: u64,
    /// The fewest that the same bytes would need: the bytes asked for, packed.
    pub least: u64,
    /// Different bytes asked for, request by request.
    pub useful_bytes: u64,
}

/// Two warps touched the same word of shared memory, at least one wrote, and no barrier lies between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Race {
    pub first: Place,
    pub second: Place,
    pub byte: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub sites: BTreeMap<Key, Site>,
    /// Bytes that DRAM must deliver if every cache were large enough: different 64-byte pieces.
    pub dram_read_bytes: u64,
    /// Bytes that must go back: different 32-byte sectors that were written.
    pub dram_write_bytes: u64,
    pub flop: u64,
    /// Branches at which a warp went both ways.
    pub divergent: u64,
    pub barriers: u64,
    pub races: Vec<Race>,
    /// Reads of shared memory that nobody had written.
    pub unwritten: Vec<Place>,
    /// Operations played, lane by lane.
    pub steps: u64,
}

/// Races that are listed; a loop would make millions.
const MOST_LISTED: usize = 16;

impl Report {
    /// One warp's access. The addresses are checked: none is misaligned.
    pub(super) fn access(&mut self, key: Key, addrs: &LaneAddrs) {
        let site = self.sites.entry(key).or_default();
        site.requests += 1;
        let width = Bytes(key.width);
        let lanes = addrs.iter().flatten().count() as u64;
        match key.space {
            Space::Global => {
                if let Ok(found) = coalescing::run(addrs, width) {
                    site.moved += found.sectors.len() as u64;
                    site.least += found.bytes_used.0.div_ceil(coalescing::SECTOR.0);
                    site.useful_bytes += found.bytes_used.0;
                }
            }
            Space::Shared => {
                if let Ok(found) = bank_conflicts::run(addrs, width) {
                    site.moved += u64::from(found.wavefronts());
                    site.least += found.phases.iter().filter(|phase| phase.passes > 0).count() as u64;
                    site.useful_bytes += lanes * key.width;
                }
            }
            Space::Local => {}
        }
    }

    pub(super) fn race(&mut self, race: Race) {
        let is_known = self.races.iter().any(|known| (known.first, known.second) == (race.first, race.second));
        if !is_known && self.races.len() < MOST_LISTED {
            self.races.push(race);
        }
    }

    pub(super) fn unwritten(&mut self, at: Place) {
        if !self.unwritten.contains(&at) && self.unwritten.len() < MOST_LISTED {
            self.unwritten.push(at);
        }
    }

    /// The sum over the sites of a memory and an act.
    pub fn sum(&self, space: Space, act: Act) -> Site {
        let mut out = Site::default();
        for (_, site) in self.sites.iter().filter(|(key, _)| key.space == space && key.act == act) {
            out.requests += site.requests;
            out.moved += site.moved;
            out.least += site.least;
            out.useful_bytes += site.useful_bytes;
        }
        out
    }
}

/// Which pieces of a buffer were read and which sectors written.
#[derive(Clone, Debug, Default)]
pub(super) struct Touched {
    read: Vec<bool>,
    written: Vec<bool>,
}

impl Touched {
    pub fn of(bytes: usize) -> Self {
        let n = |size: u64| vec![false; bytes.div_ceil(size as usize)];
        Self { read: n(coalescing::DRAM_PIECE.0), written: n(coalescing::SECTOR.0) }
    }

    /// Marks an access; the bytes that it adds to what DRAM reads and writes.
    pub fn mark(&mut self, byte: u64, act: Act) -> (u64, u64) {
        let (piece, sector) = (coalescing::DRAM_PIECE.0, coalescing::SECTOR.0);
        let mut added = (0, 0);
        let at = (byte / sector) as usize;
        let is_own = self.written[at];
        if act != Act::Store && !is_own && !std::mem::replace(&mut self.read[(byte / piece) as usize], true) {
            added.0 = piece;
        }
        if act != Act::Load && !std::mem::replace(&mut self.written[at], true) {
            added.1 = sector;
        }
        added
    }
}

/// Who touched a word of shared memory last, and in which stretch between two barriers.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    /// Stretches count from 1; 0 is never.
    written_in: u32,
    written_by: u32,
    written_at: Place,
    read_in: u32,
    read_by: u32,
    read_at: Place,
    is_read_by_many: bool,
}

/// Shared memory's history within one block.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    words: Vec<Word>,
    stretch: u32,
}

impl History {
    pub fn of(bytes: usize) -> Self {
        Self { words: vec![Word::default(); bytes.div_ceil(4)], stretch: 1 }
    }

    pub fn barrier(&mut self) {
        self.stretch += 1;
    }

    /// One lane's access to the words of `[byte, byte + width)`.
    pub fn touch(&mut self, byte: u64, width: u64, warp: u32, at: Place, act: Act, report: &mut Report) {
        // Warps may share a word by its bytes.
        if width < 4 {
            return;
        }
        let now = self.stretch;
        for index in byte / 4..(byte + width).div_ceil(4) {
            let word = &mut self.words[index as usize];
            let other_wrote = word.written_in == now && word.written_by != warp;
            let other_read = word.read_in == now && (word.is_read_by_many || word.read_by != warp);
            let byte = index * 4;
            if act == Act::Load {
                if other_wrote {
                    report.race(Race { first: word.written_at, second: at, byte });
                }
                if word.written_in == 0 {
                    report.unwritten(at);
                }
                word.is_read_by_many = word.read_in == now && (word.is_read_by_many || word.read_by != warp);
                (word.read_in, word.read_by, word.read_at) = (now, warp, at);
            } else if act == Act::Store {
                if other_wrote {
                    report.race(Race { first: word.written_at, second: at, byte });
                } else if other_read {
                    report.race(Race { first: word.read_at, second: at, byte });
                }
                (word.written_in, word.written_by, word.written_at) = (now, warp, at);
            } else if word.written_in == 0 {
                word.written_in = now;
                (word.written_by, word.written_at) = (warp, at);
            }
        }
    }
}
