//! Requests on the processor: the system's malloc, an arena that is emptied at once, a pool of blocks of one size.

use super::bench::{self, Taken};
use super::{Input, Routine, Stage};
use crate::error::RunError;
use std::collections::BTreeMap;
use std::hint::black_box;
use vramlab_units::Text;

const MODE: &str = "mode";
const BYTES: &str = "bytes";
const LIVE: &str = "n_live";
const OUT: &str = "out";
/// Requests of one launch.
const ROUNDS: usize = 4;
/// What malloc aligns to on 64-bit systems; the arena and the pool do the same.
const ALIGN: usize = 16;

pub const ALLOC: Routine = Routine {
    id: "alloc",
    about: Text::new("malloc、arena、pool：一次申请要多久", "malloc, an arena, a pool: the time of a request"),
    inputs: &[
        Input { name: MODE, min: 0, max: 2, about: "0 malloc, 1 arena, 2 pool" },
        Input { name: BYTES, min: 1, max: 1 << 24, about: "size of a block" },
        Input { name: LIVE, min: 1, max: 4096, about: "blocks that live at once" },
    ],
    buffers: &[OUT],
    readings: &[],
    run,
};

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let (mode, bytes, n_live) = (stage.get(MODE), stage.get(BYTES), stage.get(LIVE));
    let (n_samples, cx) = (stage.n_samples, stage.cx);
    let mut last = vec![0_u32; n_live];
    let samples_ns = match mode {
        0 => bench::alone(n_samples, cx, |_| malloc(bytes, n_live, &mut last))?,
        1 => {
            let mut arena = Arena::new(bytes, n_live);
            bench::alone(n_samples, cx, |_| arena.round(bytes, n_live, &mut last))?
        }
        _ => {
            let mut pool = Pool::new(bytes, n_live);
            bench::alone(n_samples, cx, |_| pool.round(n_live, &mut last))?
        }
    };
    // Every block of the last round held what its owner wrote.
    for (word, found) in stage.memory.output(OUT)?.iter_mut().zip(last) {
        *word = found;
    }
    Ok(Taken { samples_ns, readings: BTreeMap::new() })
}

/// The mark that the owner of a block writes to its first byte.
fn mark(idx: usize) -> u8 {
    (idx % 255) as u8 + 1
}

fn malloc(bytes: usize, n_live: usize, held: &mut [u32]) {
    for _ in 0..ROUNDS {
        let mut blocks: Vec<Vec<u8>> = Vec::with_capacity(n_live);
        for idx in 0..n_live {
            let mut block = black_box(Vec::with_capacity(bytes));
            block.push(mark(idx));
            blocks.push(block);
        }
        for (idx, (block, held)) in blocks.iter().zip(&mut *held).enumerate() {
            *held = u32::from(block.first() == Some(&mark(idx)));
        }
        black_box(blocks);
    }
}

fn slot(bytes: usize) -> usize {
    bytes.next_multiple_of(ALIGN)
}

/// One piece of memory; requests move a mark, and all of it is free again at once.
struct Arena {
    memory: Vec<u8>,
    used: usize,
}

impl Arena {
    fn new(bytes: usize, n_live: usize) -> Self {
        Self { memory: vec![0; slot(bytes) * n_live], used: 0 }
    }

    fn take(&mut self, bytes: usize) -> Option<usize> {
        let start = self.used;
        let end = start + slot(bytes);
        (end <= self.memory.len()).then(|| {
            self.used = end;
            start
        })
    }

    fn round(&mut self, bytes: usize, n_live: usize, held: &mut [u32]) {
        let mut blocks = vec![0; n_live];
        for _ in 0..ROUNDS {
            for (idx, block) in blocks.iter_mut().enumerate() {
                *block = black_box(self.take(bytes)).unwrap_or_default();
                self.memory[*block] = mark(idx);
            }
            for (idx, (block, held)) in blocks.iter().zip(&mut *held).enumerate() {
                *held = u32::from(self.memory[*block] == mark(idx));
            }
            self.used = 0;
        }
        black_box(&self.memory);
    }
}

/// Blocks of one size and a list of those that are free.
struct Pool {
    memory: Vec<u8>,
    free: Vec<usize>,
}

impl Pool {
    fn new(bytes: usize, n_live: usize) -> Self {
        let slot = slot(bytes);
        Self { memory: vec![0; slot * n_live], free: (0..n_live).map(|idx| idx * slot).collect() }
    }

    fn round(&mut self, n_live: usize, held: &mut [u32]) {
        let mut blocks = vec![0; n_live];
        for _ in 0..ROUNDS {
            for (idx, block) in blocks.iter_mut().enumerate() {
                *block = black_box(self.free.pop()).unwrap_or_default();
                self.memory[*block] = mark(idx);
            }
            for (idx, (block, held)) in blocks.iter().zip(&mut *held).enumerate() {
                *held = u32::from(self.memory[*block] == mark(idx));
                self.free.push(*block);
            }
        }
        black_box(&self.memory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_gives_blocks_of_their_own() {
        for bytes in [1, 100, 4096] {
            let mut held = vec![0; 300];
            malloc(bytes, 300, &mut held);
            assert_eq!(held, [1; 300]);
            held.fill(0);
            Arena::new(bytes, 300).round(bytes, 300, &mut held);
            assert_eq!(held, [1; 300]);
            held.fill(0);
            Pool::new(bytes, 300).round(300, &mut held);
            assert_eq!(held, [1; 300]);
        }
    }

    #[test]
    fn an_arena_that_is_full_gives_nothing() {
        let mut arena = Arena::new(100, 2);
        assert_eq!((arena.take(100), arena.take(100), arena.take(1)), (Some(0), Some(112), None));
    }
}
