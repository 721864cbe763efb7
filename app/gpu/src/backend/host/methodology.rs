//! One and the same kernel under different habits of measuring: the number that each of them prints.

use super::{Input, Routine, Stage, Taken};
use crate::error::RunError;
use std::time::{Duration, Instant};
use vramlab_units::Text;

const HABIT: &str = "habit";
const BYTES: &str = "bytes";
const FLUSH: &str = "flush_bytes";
const RANGE: &str = "per_range";
/// Bytes of a block: 256 threads, four loads of 16 bytes each.
const BLOCK: u64 = 256 * 64;
/// Launches between two events where a run is too short for them.
const BATCH: u32 = 16;
/// Kernels of a sample where ranges of the profiler are counted, and ranges at most.
const RANGED: u64 = 256;
const MOST_RANGES: u64 = 12;
/// How long the card is left alone before it is asked again.
const PAUSE: Duration = Duration::from_millis(700);
/// Copies of the kernel, each loaded when first launched.
const COLD: [&str; 8] = ["cold_0", "cold_1", "cold_2", "cold_3", "cold_4", "cold_5", "cold_6", "cold_7"];

pub const METHODOLOGY: Routine = Routine {
    id: "methodology",
    about: Text::new("同一个内核，换一种量法", "one kernel, measured in different ways"),
    inputs: &[
        Input {
            name: HABIT,
            min: 0,
            max: 7,
            about: "0 all controlled, 1 the first run, 2 L2 not flushed, 3 after a pause, 4 host clock and a sync in the \
                    loop, 5 host clock without a sync, 6 many launches in a row, 7 the same inside ranges of the profiler",
        },
        Input { name: BYTES, min: BLOCK, max: 1 << 33, about: "what the kernel reads" },
        Input { name: FLUSH, min: 1 << 20, max: 1 << 30, about: "what is read to drive the input out of L2" },
        Input { name: RANGE, min: 1, max: RANGED, about: "kernels of a range" },
    ],
    readings: &["sm_mhz", "ranged"],
    checks: &["the sums are those of the processor", "all memory is back at the end"],
    run,
};

struct Desk<'a, 'b> {
    stage: &'a mut Stage<'b>,
    n_blocks: u32,
    args: [u64; 2],
    /// Blocks and addresses of the flush.
    flush: (u32, [u64; 2]),
}

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let before = stage.card.memory()?[0];
    let (n_blocks, flush_blocks) = (stage.get(BYTES) / BLOCK, stage.get(FLUSH) / BLOCK);
    let (input, out) = (stage.must(n_blocks * BLOCK)?, stage.must(n_blocks * 32)?);
    let (scratch, spare) = (stage.must(flush_blocks * BLOCK)?, stage.must(flush_blocks * 32)?);
    let probe = stage.must(512)?;
    let n_blocks = u32::try_from(n_blocks).unwrap_or(u32::MAX);
    stage.card.set(scratch, 0x5A, flush_blocks * BLOCK)?;
    stage.card.launch("fill", n_blocks, 256, &[input])?;
    stage.card.sync()?;
    let flush = (u32::try_from(flush_blocks).unwrap_or(u32::MAX), [scratch, spare]);
    let mut desk = Desk { stage, n_blocks, args: [input, out], flush };
    let mut taken = Taken::default();
    desk.settle()?;
    for sample in 0..desk.stage.n_samples {
        desk.stage.cx.check()?;
        let (ns, is_ranged) = desk.sample(sample)?;
        let mhz = desk.clock(probe)?;
        taken.samples_ns.push(ns.max(1.0));
        taken.read("sm_mhz", mhz);
        taken.read("ranged", f64::from(u8::from(is_ranged)));
    }
    let is_right = desk.is_right(out)?;
    for address in [input, out, probe, scratch, spare] {
        stage.card.free(address)?;
    }
    let is_back = stage.card.memory()?[0] + 16 * super::PAGE >= before;
    taken.checks = vec![is_right, is_back];
    Ok(taken)
}

impl Desk<'_, '_> {
    fn read(&mut self, entry: &str) -> Result<(), RunError> {
        self.stage.card.launch(entry, self.n_blocks, 256, &self.args)
    }

    /// Reads a buffer larger than L2. To write one would leave L2 full of lines that the kernel has to write back.
    fn flush(&mut self) -> Result<(), RunError> {
        let (n_blocks, args) = self.flush;
        self.stage.card.launch("sums", n_blocks, 256, &args)
    }

    /// Warm by time, not by count: clocks rise within tens of milliseconds.
    fn settle(&mut self) -> Result<(), RunError> {
        let start = Instant::now();
        let mut n = 0;
        while n < 2 || (start.elapsed() < Duration::from_millis(60) && n < 5_000) {
            self.stage.cx.check()?;
            for _ in 0..8 {
                self.read("sums")?;
            }
            self.stage.card.sync()?;
            n += 1;
        }
        Ok(())
    }

    /// Nanoseconds of one run, as the habit has them, and whether the profiler was on.
    fn sample(&mut self, sample: usize) -> Result<(f64, bool), RunError> {
        let plain = |ns: f64| (ns, false);
        match self.stage.get(HABIT) {
            1 => self.cold(COLD[sample % COLD.len()]).map(plain),
            2 => self.unflushed().map(plain),
            3 => self.idle().map(plain),
            4 => self.on_host(true).map(plain),
            5 => self.on_host(false).map(plain),
            6 => self.in_a_row().map(plain),
            7 => self.ranged(),
            _ => self.controlled().map(plain),
        }
    }

    /// The input out of L2, events on the card, the queue never empty.
    fn controlled(&mut self) -> Result<f64, RunError> {
        self.flush()?;
        self.stage.card.busy(40)?;
        self.stage.card.start_clock()?;
        self.read("sums")?;
        self.stage.card.stop_clock()
    }

    fn unflushed(&mut self) -> Result<f64, RunError> {
        self.read("sums")?;
        self.stage.card.busy(40 + 6 * u64::from(BATCH))?;
        self.stage.card.start_clock()?;
        for _ in 0..BATCH {
            self.read("sums")?;
        }
        Ok(self.stage.card.stop_clock()? / f64::from(BATCH))
    }

    /// The very first run of a kernel: its code is loaded on the way.
    fn cold(&mut self, entry: &str) -> Result<f64, RunError> {
        self.flush()?;
        self.stage.card.sync()?;
        let start = Instant::now();
        self.read(entry)?;
        self.stage.card.sync()?;
        Ok(start.elapsed().as_nanos() as f64)
    }

    fn idle(&mut self) -> Result<f64, RunError> {
        self.flush()?;
        self.stage.card.sync()?;
        if cfg!(not(test)) {
            std::thread::sleep(PAUSE);
        }
        self.stage.card.start_clock()?;
        self.read("sums")?;
        self.stage.card.stop_clock()
    }

    fn on_host(&mut self, is_waited_for: bool) -> Result<f64, RunError> {
        self.flush()?;
        self.stage.card.sync()?;
        let start = Instant::now();
        self.read("sums")?;
        if is_waited_for {
            self.stage.card.sync()?;
        }
        let ns = start.elapsed().as_nanos() as f64;
        self.stage.card.sync()?;
        Ok(ns)
    }

    fn in_a_row(&mut self) -> Result<f64, RunError> {
        let start = Instant::now();
        for _ in 0..RANGED {
            self.read("sums")?;
        }
        self.stage.card.sync()?;
        Ok(start.elapsed().as_nanos() as f64 / RANGED as f64)
    }

    fn ranged(&mut self) -> Result<(f64, bool), RunError> {
        let per_range = self.stage.get(RANGE);
        let (n_blocks, args) = (self.n_blocks, self.args);
        // The first range opens the profiler.
        if self.stage.card.in_range("sums", 1, n_blocks, &args)?.is_none() {
            return self.in_a_row().map(|ns| (ns, false));
        }
        let (mut ns, n_ranges) = (0.0, (RANGED / per_range).clamp(1, MOST_RANGES));
        for _ in 0..n_ranges {
            self.stage.cx.check()?;
            ns += self.stage.card.in_range("sums", per_range, n_blocks, &args)?.unwrap_or_default();
        }
        Ok((ns / (n_ranges * per_range) as f64, true))
    }

    /// The SM clock now, from the card's two counters.
    fn clock(&mut self, probe: u64) -> Result<f64, RunError> {
        self.stage.card.launch("clocks", 1, 1, &[probe])?;
        self.stage.card.sync()?;
        let mut bytes = [0_u8; 16];
        self.stage.card.get(probe, &mut bytes)?;
        let word = |at: usize| bytes[at..at + 8].iter().rev().fold(0_u64, |all, byte| all << 8 | u64::from(*byte));
        Ok(word(0) as f64 * 1000.0 / (word(8) as f64).max(1.0))
    }

    /// The first and the last warp's sum against the processor's.
    fn is_right(&mut self, out: u64) -> Result<bool, RunError> {
        let n_warps = u64::from(self.n_blocks) * 8;
        for warp in [0, n_warps / 2, n_warps - 1] {
            let mut bytes = [0_u8; 4];
            self.stage.card.get(out + 4 * warp, &mut bytes)?;
            let first = warp * 32 * 16;
            let sum = (first..first + 512).fold(0_u32, |sum, at| sum.wrapping_add(word_at(at)));
            if u32::from_le_bytes(bytes) != sum {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// What the kernel `fill` writes.
fn word_at(at: u64) -> u32 {
    (at as u32).wrapping_mul(2_654_435_761) ^ 0x5bd1_e995
}
