//! How many blocks of a kernel the driver puts on an SM, for one source under different caps of registers.

use super::{Input, Routine, Stage, Taken};
use crate::error::RunError;
use vramlab_units::Text;

const CAP: &str = "registers";
const THREADS: &str = "threads";
const SHARED: &str = "shared_bytes";
/// Threads of a launch: a whole number of blocks of every size offered.
const ALL_THREADS: u64 = 3 << 17;
/// Values that a thread keeps, and turns it takes: those of the source.
const KEEP: u32 = 248;
const TURNS: u32 = 16;
const ODD: u32 = 0x9E37_79B1;

pub const OCCUPANCY_TRUTH: Routine = Routine {
    id: "occupancy_truth",
    about: Text::new("问驱动：一个 SM 放得下几块", "asks the driver how many blocks an SM holds"),
    inputs: &[
        Input {
            name: CAP,
            min: 24,
            max: 255,
            about: "most registers of a thread; an entry of the source has this cap",
        },
        Input { name: THREADS, min: 32, max: 1024, about: "threads of a block" },
        Input { name: SHARED, min: 0, max: 1 << 20, about: "dynamic shared memory of a block" },
    ],
    readings: &["blocks_per_sm", "registers_taken", "local_bytes"],
    checks: &["every thread has its sum", "all memory is back at the end"],
    run,
};

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let before = stage.card.memory()?[0];
    let (entry, threads) = (format!("cap_{}", stage.get(CAP)), stage.get(THREADS));
    let shared = u32::try_from(stage.get(SHARED)).unwrap_or(u32::MAX);
    let shape = [(ALL_THREADS / threads) as u32, threads as u32, shared];
    let [blocks, registers, local] = stage.card.occupancy(&entry, shape[1], shared)?;
    let out = stage.must(4 * ALL_THREADS)?;
    stage.card.set(out, 0, 4 * ALL_THREADS)?;
    // What does not fit on an SM cannot be launched: there is a count, and no time.
    let is_possible = blocks > 0;
    let mut taken = Taken::default();
    for number in 0..=stage.n_samples {
        stage.cx.check()?;
        stage.card.start_clock()?;
        if is_possible {
            stage.card.launch_shared(&entry, shape, &[out])?;
        }
        let ns = stage.card.stop_clock()?.max(1.0);
        // The first launch loads the code.
        if number > 0 {
            taken.samples_ns.push(ns);
            taken.read("blocks_per_sm", f64::from(blocks));
            taken.read("registers_taken", f64::from(registers));
            taken.read("local_bytes", f64::from(local));
        }
    }
    let is_right = !is_possible || sums_are_right(stage, out, u64::from(shape[0]) * threads)?;
    stage.card.free(out)?;
    let is_back = stage.card.memory()?[0] + 16 * super::PAGE >= before;
    taken.checks = vec![is_right, is_back];
    Ok(taken)
}

fn sums_are_right(stage: &mut Stage<'_>, out: u64, n: u64) -> Result<bool, RunError> {
    for thread in [0, 1, n / 3, n / 2 + 5, n - 1] {
        let mut word = [0; 4];
        stage.card.get(out + 4 * thread, &mut word)?;
        if u32::from_le_bytes(word) != sum_of(thread as u32) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What a thread of the source writes.
fn sum_of(thread: u32) -> u32 {
    let mut values: Vec<u32> = (0..KEEP).map(|k| thread.wrapping_mul(KEEP).wrapping_add(k).wrapping_mul(ODD)).collect();
    let mut sum = 0_u32;
    for _ in 0..TURNS {
        for value in &mut values {
            *value ^= sum;
            sum = sum.wrapping_add(*value);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By a C program with the source's loop.
    #[test]
    fn sums_are_those_of_the_source() {
        assert_eq!([0, 1, 393_215].map(sum_of), [2_413_736_512, 3_952_266_880, 1_518_902_784]);
    }
}
