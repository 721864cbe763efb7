//! What one allocation and its free cost, by who serves them.

use super::stock::{Memory as _, Plain};
use super::{Input, PAGE, Routine, Stage, Taken, steps};
use crate::error::RunError;
use std::time::Instant;
use vramlab_alloc::caching::{Caching, Config};
use vramlab_units::Text;

const MODE: &str = "mode";
const BYTES: &str = "bytes";
const BUSY: &str = "busy_us";
const KEEP_ALL: u64 = u64::MAX;

pub const ALLOC_COST: Routine = Routine {
    id: "alloc_cost",
    about: Text::new("分配一块再释放，要多久", "how long an allocation and its free take"),
    inputs: &[
        Input {
            name: MODE,
            min: 0,
            max: 4,
            about: "0 cudaMalloc, 1 pool of threshold 0 with a sync, 2 pool that keeps all with a sync, 3 without, 4 our own",
        },
        Input { name: BYTES, min: 1, max: 1 << 36, about: "size of the block" },
        Input { name: BUSY, min: 0, max: 100_000, about: "a kernel of so many microseconds runs meanwhile" },
    ],
    readings: &[],
    checks: &["a block holds what is written to its first and last byte", "all memory is back at the end"],
    run,
};

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let bytes = stage.get(BYTES);
    let is_writable = writes(stage, bytes)?;
    let before = stage.card.memory()?[0];
    let samples_ns = match stage.get(MODE) {
        0 => pairs(stage, |stage| {
            let address = stage.must(bytes)?;
            stage.card.free(address)
        })?,
        4 => own(stage, bytes)?,
        mode => pooled(stage, bytes, mode)?,
    };
    stage.card.sync()?;
    let is_back = stage.card.memory()?[0] + 16 * PAGE >= before;
    Ok(Taken { samples_ns, checks: vec![is_writable, is_back], ..Taken::default() })
}

/// Whether the first and last byte of a block hold what they are given.
fn writes(stage: &mut Stage<'_>, bytes: u64) -> Result<bool, RunError> {
    let address = stage.must(bytes)?;
    let mut found = [0_u8; 2];
    for (at, byte) in found.iter_mut().zip([0, bytes - 1]) {
        stage.card.set(address + byte, 0xA5, 1)?;
        stage.card.get(address + byte, std::slice::from_mut(at))?;
    }
    stage.card.free(address)?;
    Ok(found == [0xA5; 2])
}

fn pooled(stage: &mut Stage<'_>, bytes: u64, mode: u64) -> Result<Vec<f64>, RunError> {
    stage.card.open_pool(if mode == 1 { 0 } else { KEEP_ALL })?;
    let samples = pairs(stage, |stage| {
        let Some(address) = stage.card.pool_malloc(bytes)? else { return Err(super::refused(stage.card, bytes)) };
        stage.card.pool_free(address)?;
        if mode == 3 { Ok(()) } else { stage.card.sync() }
    });
    stage.card.sync()?;
    stage.card.close_pool()?;
    samples
}

/// Our own allocator over the card: one segment from the driver, then its cache.
fn own(stage: &mut Stage<'_>, bytes: u64) -> Result<Vec<f64>, RunError> {
    let (n_samples, cx, busy_us) = (stage.n_samples, stage.cx, stage.get(BUSY));
    let mut pool = Caching::new(Config::default(), Plain::new(&mut *stage.card, u64::MAX / 2));
    let first = pool.malloc(bytes, 0).ok().flatten();
    let Some(first) = first else {
        pool.device.trouble.end()?;
        return Err(super::refused(pool.device.card, bytes));
    };
    let _ = pool.free(first.id);
    let mut samples = Vec::new();
    for _ in 0..n_samples {
        cx.check()?;
        let repeats = if busy_us == 0 { 2_000 } else { 1 };
        if busy_us > 0 {
            pool.device.card.busy(busy_us)?;
        }
        // After a wait of milliseconds the processor's first call is slow: it is made before the clock starts.
        for _ in 0..u32::from(busy_us > 0) {
            if let Ok(Some(served)) = pool.malloc(bytes, 0) {
                let _ = pool.free(served.id);
            }
        }
        let start = Instant::now();
        for _ in 0..repeats {
            if let Ok(Some(served)) = pool.malloc(bytes, 0) {
                let _ = pool.free(served.id);
            }
        }
        samples.push(start.elapsed().as_nanos().max(1) as f64 / f64::from(repeats));
        pool.device.card.sync()?;
    }
    pool.device.close()?;
    Ok(samples)
}

/// Pairs in a row, or each behind a kernel that keeps the card busy.
fn pairs(
    stage: &mut Stage<'_>,
    mut pair: impl FnMut(&mut Stage<'_>) -> Result<(), RunError>,
) -> Result<Vec<f64>, RunError> {
    let busy_us = stage.get(BUSY);
    if busy_us == 0 {
        return steps::timed(stage, pair);
    }
    for _ in 0..2 {
        pair(stage)?;
    }
    let mut samples = Vec::new();
    for _ in 0..stage.n_samples {
        stage.cx.check()?;
        stage.card.busy(busy_us)?;
        if stage.get(MODE) == 3 {
            // Does not wait; as above.
            pair(stage)?;
        }
        samples.push(steps::once(|| pair(stage))?.1);
        stage.card.sync()?;
    }
    Ok(samples)
}
