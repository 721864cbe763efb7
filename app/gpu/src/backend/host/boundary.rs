//! The largest batch that a step still fits: found by really taking the memory. A refusal is a result, counted and kept.

use super::{Input, PAGE, Routine, Stage, Taken, steps};
use crate::error::RunError;
use vramlab_alloc::MIB;
use vramlab_units::Text;

const FIXED: &str = "fixed_mib";
const SLOTS: &str = "n_slots";
const ITEM: &str = "item_bytes";
const GUESS: &str = "guess";
/// What is written to the end of each tensor of a trial, and read back.
const MARK: u8 = 0x5A;

pub const BOUNDARY: Routine = Routine {
    id: "capacity_boundary",
    about: Text::new(
        "一步放得下的最大批：二分，真的申请",
        "the largest batch of a step, by bisection, with memory really taken",
    ),
    inputs: &[
        Input { name: FIXED, min: 0, max: 1 << 20, about: "MiB that no batch changes: weights and their state" },
        Input { name: SLOTS, min: 1, max: 256, about: "tensors of the batch that are alive at the peak" },
        Input { name: ITEM, min: 1, max: 1 << 32, about: "bytes of one item in one such tensor" },
        Input { name: GUESS, min: 0, max: 1 << 24, about: "where to look first; the result does not depend on it" },
    ],
    readings: &["batch", "n_refused", "left_mib"],
    checks: &[
        "the memory of the largest batch holds what is written",
        "a refusal was met on the way",
        "all memory is back",
    ],
    run,
};

#[derive(Clone, Copy, Default)]
struct Trial {
    fits: bool,
    left: u64,
    holds: bool,
}

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let start = stage.card.memory()?[0];
    let fixed = stage.get(FIXED) * MIB;
    let weights = if fixed > 0 { Some(stage.must(fixed)?) } else { None };
    let (mut taken, mut holds, mut is_boundary) = (Taken::default(), true, true);
    // The first search starts at the guess, the next where the last ended: two trials, if nothing moved.
    let mut from = stage.get(GUESS);
    for _ in 0..stage.n_samples {
        let (found, ns) = steps::once(|| largest(stage, from))?;
        (holds, is_boundary) = (holds && found.best.holds, is_boundary && found.n_refused > 0);
        from = found.batch;
        taken.samples_ns.push(ns);
        taken.read("batch", found.batch as f64);
        taken.read("n_refused", f64::from(found.n_refused));
        taken.read("left_mib", found.best.left as f64 / MIB as f64);
    }
    if let Some(address) = weights {
        stage.card.free(address)?;
    }
    let is_back = stage.card.memory()?[0] + 16 * PAGE >= start;
    taken.checks = vec![holds, is_boundary, is_back];
    Ok(taken)
}

/// What a search ended with.
struct Found {
    batch: u64,
    /// The trial of that batch.
    best: Trial,
    n_refused: u32,
}

/// The largest batch: from `from` on, steps that double until one side answers otherwise, then halves.
fn largest(stage: &mut Stage<'_>, from: u64) -> Result<Found, RunError> {
    let mut found = Found { batch: 0, best: Trial { fits: true, left: 0, holds: true }, n_refused: 0 };
    let mut fits = |batch: u64| {
        let trial = trial(stage, batch)?;
        if trial.fits && batch >= found.batch {
            (found.batch, found.best) = (batch, trial);
        }
        found.n_refused += u32::from(!trial.fits);
        Ok::<bool, RunError>(trial.fits)
    };
    let (mut served, mut refused) = (0, 0);
    let (mut at, mut step) = (from, 1);
    let goes_up = fits(at)?;
    loop {
        if goes_up {
            served = at
        } else {
            refused = at
        }
        at = if goes_up { at + step } else { at.saturating_sub(step) };
        step *= 2;
        if at == 0 {
            break;
        }
        if fits(at)? != goes_up {
            if goes_up {
                refused = at
            } else {
                served = at
            }
            break;
        }
    }
    while served + 1 < refused {
        let middle = served.midpoint(refused);
        if fits(middle)? { served = middle } else { refused = middle }
    }
    Ok(found)
}

/// Takes what a batch needs, marks the end of each tensor, gives all back.
fn trial(stage: &mut Stage<'_>, batch: u64) -> Result<Trial, RunError> {
    stage.cx.check()?;
    let (n, bytes) = (stage.get(SLOTS), batch * stage.get(ITEM));
    let mut out = Trial { fits: true, left: 0, holds: true };
    if bytes == 0 {
        out.left = stage.card.memory()?[0];
        return Ok(out);
    }
    let mut held = Vec::new();
    for _ in 0..n {
        match stage.card.malloc(bytes)? {
            Some(address) => held.push(address),
            None => {
                out.fits = false;
                break;
            }
        }
    }
    if out.fits {
        out.left = stage.card.memory()?[0];
        for address in &held {
            let mut found = [0];
            stage.card.set(address + bytes - 1, MARK, 1)?;
            stage.card.get(address + bytes - 1, &mut found)?;
            out.holds &= found == [MARK];
        }
    }
    for address in held {
        stage.card.free(address)?;
    }
    Ok(out)
}
