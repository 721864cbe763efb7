//! The buffers of a job: allocated on line and large-page bounds, filled by the generator, kept from point to point.

use super::wide;
use crate::backend::PointCx;
use crate::error::RunError;
use crate::manifest::{Buffer, Fill};
use crate::oracle::{Buffers, buffer_seed, fill_bytes};
use crate::plan::PointPlan;
use crate::protocol::Job;
use crate::sys;
use std::collections::BTreeMap;
use std::thread;

/// Buffers start on such a bound, so that the system can put large pages behind them.
const ALIGN_BYTES: usize = 2 << 20;
/// Filled without a look at the cancel flag: about a millisecond.
const FILL_STEP_WORDS: usize = 1 << 20;

/// Words on a large-page bound.
struct Aligned {
    raw: Vec<u32>,
    start: usize,
    len: usize,
}

impl Aligned {
    fn new(len: usize) -> Self {
        let mut raw = vec![0u32; len + ALIGN_BYTES / 4];
        let start = raw.as_ptr().align_offset(ALIGN_BYTES).min(ALIGN_BYTES / 4);
        sys::prefer_large_pages(&mut raw[start..start + len]);
        Self { raw, start, len }
    }

    fn words(&self) -> &[u32] {
        &self.raw[self.start..self.start + self.len]
    }

    fn words_mut(&mut self) -> &mut [u32] {
        &mut self.raw[self.start..self.start + self.len]
    }
}

struct Held {
    words: Aligned,
    fill: Fill,
    seed: u64,
}

/// Buffers by name.
#[derive(Default)]
pub struct Memory {
    held: BTreeMap<String, Held>,
}

impl Memory {
    /// Makes every buffer of the kernel as the point wants it. An input that is already there is kept.
    pub fn prepare(&mut self, job: &Job, point: &PointPlan, cx: &PointCx) -> Result<(), RunError> {
        // What another size replaces goes first, so that the peak stays within the plan.
        let size = |buffer: &Buffer| size_words(buffer, point);
        for buffer in &job.kernel.buffers {
            let len = size(buffer)?;
            if self.held.get(&buffer.name).is_some_and(|held| held.words.len != len) {
                self.held.remove(&buffer.name);
            }
        }
        for (position, buffer) in job.kernel.buffers.iter().enumerate() {
            cx.check()?;
            let seed = buffer_seed(job.seed, position);
            let is_output = matches!(buffer.fill, Fill::Poison | Fill::Zero);
            let is_there = |held: &Held| held.fill == buffer.fill && held.seed == seed;
            if !is_output && self.held.get(&buffer.name).is_some_and(is_there) {
                continue;
            }
            let held = self.held.remove(&buffer.name);
            let mut words = held.map_or_else(|| size(buffer).map(Aligned::new), |held| Ok(held.words))?;
            fill(words.words_mut(), buffer.fill, seed, cx)?;
            self.held.insert(buffer.name.clone(), Held { words, fill: buffer.fill, seed });
        }
        Ok(())
    }

    /// An input and an output together.
    pub fn pair(&mut self, input: &str, output: &str) -> Result<(&[u32], &mut [u32]), RunError> {
        let (mut read, mut write) = (None, None);
        for (name, held) in &mut self.held {
            if name == input {
                read = Some(held.words.words());
            } else if name == output {
                write = Some(held.words.words_mut());
            }
        }
        read.zip(write).ok_or_else(|| missing(&format!("{input}\" and \"{output}")))
    }

    /// An output alone.
    pub fn output(&mut self, name: &str) -> Result<&mut [u32], RunError> {
        self.held.get_mut(name).map(|held| held.words.words_mut()).ok_or_else(|| missing(name))
    }
}

impl Buffers for Memory {
    fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.held.get(name).map(|held| bytes_of(held.words.words()))
    }
}

fn missing(name: &str) -> RunError {
    RunError::Content { what: format!("the routine needs the buffer \"{name}\", and the kernel has none of that name") }
}

fn size_words(buffer: &Buffer, point: &PointPlan) -> Result<usize, RunError> {
    let name = format!("bytes.{}", buffer.name);
    let bytes = point.vars.get(&name).copied();
    let bytes = bytes.ok_or_else(|| RunError::Content { what: format!("the plan does not tell {name}") })?;
    Ok((bytes / 4.0).ceil() as usize)
}

/// Fills with two threads where there are two, a step at a time.
fn fill(words: &mut [u32], fill: Fill, seed: u64, cx: &PointCx) -> Result<(), RunError> {
    let n_threads = thread::available_parallelism().map_or(1, usize::from).min(4);
    let share = words.len().div_ceil(n_threads).next_multiple_of(FILL_STEP_WORDS).max(1);
    thread::scope(|scope| {
        for (part_idx, part) in words.chunks_mut(share).enumerate() {
            scope.spawn(move || {
                for (step_idx, step) in part.chunks_mut(FILL_STEP_WORDS).enumerate() {
                    if cx.check().is_err() {
                        return;
                    }
                    let first = (part_idx * share + step_idx * FILL_STEP_WORDS) as u64;
                    match fill {
                        Fill::Random => wide::fill_random(step, seed, first),
                        _ => fill_bytes(fill, seed, 4 * first, bytes_of_mut(step)),
                    }
                }
            });
        }
    });
    cx.check()
}

#[expect(unsafe_code, reason = "the oracles and the generator speak bytes, the routines words")]
fn bytes_of(words: &[u32]) -> &[u8] {
    // SAFETY: every bit pattern is a byte, bytes need no alignment, and the length is that of the same memory.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), size_of_val(words)) }
}

#[expect(unsafe_code, reason = "the oracles and the generator speak bytes, the routines words")]
fn bytes_of_mut(words: &mut [u32]) -> &mut [u8] {
    // SAFETY: as above; every four bytes are a word, and the borrow is exclusive.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), size_of_val(words)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::word_at;

    #[test]
    fn a_fill_by_threads_equals_the_generator_word_by_word() {
        let n = 2 * FILL_STEP_WORDS + 5;
        let mut words = Aligned::new(n);
        fill(words.words_mut(), Fill::Random, 9, &PointCx::alone()).unwrap();
        assert_eq!(words.words().as_ptr().align_offset(ALIGN_BYTES), 0);
        for index in (0..n).step_by(4999).chain([n - 1]) {
            assert_eq!(words.words()[index], word_at(9, index as u64), "{index}");
        }
    }

    #[test]
    fn poison_is_all_ones() {
        let mut words = Aligned::new(100);
        fill(words.words_mut(), Fill::Poison, 9, &PointCx::alone()).unwrap();
        assert!(words.words().iter().all(|word| *word == u32::MAX));
    }
}
