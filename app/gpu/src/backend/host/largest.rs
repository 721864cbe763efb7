//! The largest single request that the card still serves, beside what it says is free.

use super::{Input, PAGE, Routine, Stage, Taken, steps};
use crate::error::RunError;
use vramlab_alloc::MIB;
use vramlab_units::Text;

const HELD: &str = "held_permille";

pub const LARGEST: Routine = Routine {
    id: "largest",
    about: Text::new(
        "一次最多能申请到多少，和报告的空闲差多少",
        "the largest single request that succeeds, beside the free memory that is told",
    ),
    inputs: &[Input { name: HELD, min: 0, max: 900, about: "thousandths of the free memory that are held meanwhile" }],
    readings: &["largest_mib", "free_mib", "gap_mib"],
    checks: &["one page more is refused", "all memory is back at the end"],
    run,
};

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let start = stage.card.memory()?[0];
    let held = start * stage.get(HELD) / 1000 / PAGE * PAGE;
    let ballast = if held > 0 { Some(stage.must(held)?) } else { None };
    let (mut taken, mut is_boundary) = (Taken::default(), true);
    for _ in 0..stage.n_samples {
        stage.cx.check()?;
        let free = stage.card.memory()?[0];
        let (largest, ns) = steps::once(|| boundary(stage, free))?;
        taken.samples_ns.push(ns);
        taken.read("largest_mib", largest as f64 / MIB as f64);
        taken.read("free_mib", free as f64 / MIB as f64);
        taken.read("gap_mib", (free as f64 - largest as f64) / MIB as f64);
        is_boundary &= !serves(stage, largest + PAGE)?;
    }
    if let Some(address) = ballast {
        stage.card.free(address)?;
    }
    let is_back = stage.card.memory()?[0] + 16 * PAGE >= start;
    taken.checks = vec![is_boundary, is_back];
    Ok(taken)
}

fn serves(stage: &mut Stage<'_>, bytes: u64) -> Result<bool, RunError> {
    let Some(address) = stage.card.malloc(bytes)? else { return Ok(false) };
    stage.card.free(address)?;
    Ok(true)
}

/// The largest multiple of a page that is served, near `free`: the distance is doubled until one side answers otherwise,
/// then halved.
fn boundary(stage: &mut Stage<'_>, free: u64) -> Result<u64, RunError> {
    let pages = |bytes: u64| bytes / PAGE;
    let (mut served, mut refused) = (0, pages(free) + 1);
    let mut step = 1;
    if serves(stage, refused * PAGE)? {
        // More than the card calls free: look above.
        served = refused;
        loop {
            stage.cx.check()?;
            if !serves(stage, (served + step) * PAGE)? {
                refused = served + step;
                break;
            }
            served += step;
            step *= 2;
        }
    } else {
        while refused > step {
            stage.cx.check()?;
            if serves(stage, (refused - step) * PAGE)? {
                served = refused - step;
                break;
            }
            refused -= step;
            step *= 2;
        }
    }
    while served + 1 < refused {
        stage.cx.check()?;
        let middle = served.midpoint(refused);
        if serves(stage, middle * PAGE)? { served = middle } else { refused = middle }
    }
    Ok(served * PAGE)
}
