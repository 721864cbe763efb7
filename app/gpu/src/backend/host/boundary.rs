//! The largest batch that a step still fits: found by really taking the memory. A refusal is a result, counted and kept.

use super::{Input, PAGE, Routine, Stage, Taken, steps};
use crate::error::RunError;
use vramlab_alloc::MIB;
use vramlab_units::Text;

const FIXED: &str = "fixed_mib";
const SLOTS: &str = "n_slots";
const ITEM: &str = "item_bytes";
const GUESS: &str = "guess";
/// The last word for what is written to and read from the memory of each trial.
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
    // The first search starts a third below the guess, the next where the last ended: two trials, if nothing moved.
    let mut from = stage.get(GUESS) * 2 / 3;
    for _ in 0..stage.n_samples {
        let mut n_refused = 0;
        let (batch, ns) = steps::once(|| largest(stage, from, &mut n_refused))?;
        let best = trial(stage, batch)?;
        (holds, is_boundary) = (holds && best.holds && best.fits, is_boundary && n_refused > 0);
        from = batch;
        taken.samples_ns.push(ns);
        taken.read("batch", batch as f64);
        taken.read("n_refused", f64::from(n_refused));
        taken.read("left_mib", best.left as f64 / MIB as f64);
    }
    if let Some(address) = weights {
        stage.card.free(address)?;
    }
    let is_back = stage.card.memory()?[0] + 16 * PAGE >= start;
    taken.checks = vec![holds, is_boundary, is_back];
    Ok(taken)
}

/// The largest batch: from `from` on, steps that double until one side answers otherwise, then halves.
fn largest(stage: &mut Stage<'_>, from: u64, n_refused: &mut u32) -> Result<u64, RunError> {
    let mut fits = |batch: u64, stage: &mut Stage<'_>| {
        let fits = trial(stage, batch)?.fits;
        *n_refused += u32::from(!fits);
        Ok::<bool, RunError>(fits)
    };
    let (mut served, mut refused) = (0, 0);
    let (mut at, mut step) = (from, 1);
    let goes_up = fits(at, stage)?;
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
        if fits(at, stage)? != goes_up {
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
        if fits(middle, stage)? { served = middle } else { refused = middle }
    }
    Ok(served)
}

/// Takes what a batch needs, marks the end of each tensor, gives all back.
fn trial(stage: &mut Stage<'_>, batch: u64) -> Result<Trial, RunError> {
    stage.cx.check()?;
    let (n, bytes) = (stage.get(SLOTS), batch * stage.get(ITEM));
    let mut out = Trial { fits: true, left: 0, holds: true };
    if bytes == 0 {
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
