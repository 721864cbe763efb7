//! A card that is really full: requests of one size until the driver refuses one, then what it says, then back.

use super::{Input, PAGE, Routine, Stage, Taken, steps};
use crate::error::RunError;
use vramlab_alloc::MIB;
use vramlab_units::Text;

const PARTS: &str = "parts";
/// A request that must succeed after the card was full.
const AFTER: u64 = 64 * MIB;

pub const FILL_CARD: Routine = Routine {
    id: "fill_card",
    about: Text::new(
        "一直申请到驱动拒绝，看它说什么，再全部还回去",
        "requests until the driver refuses, what it then says, and all back",
    ),
    inputs: &[Input { name: PARTS, min: 2, max: 256, about: "a request is this part of the card's total" }],
    readings: &["served", "refused_free_mib", "asked_mib", "refused_us"],
    checks: &[
        "the card refused in the end",
        "after that, and with all given back, a request succeeds",
        "all memory is back",
    ],
    run,
};

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let [start, total] = stage.card.memory()?;
    let asked = total / stage.get(PARTS) / PAGE * PAGE;
    let (mut taken, mut refuses, mut works) = (Taken::default(), true, true);
    for _ in 0..stage.n_samples {
        stage.cx.check()?;
        let (mut held, mut refused_ns) = (Vec::new(), 0.0);
        let (_, ns) = steps::once(|| {
            loop {
                let (served, ns) = steps::once(|| stage.card.malloc(asked))?;
                let Some(address) = served else {
                    refused_ns = ns;
                    break Ok(());
                };
                held.push(address);
                if held.len() as u64 > stage.get(PARTS) {
                    break Ok(());
                }
            }
        })?;
        refuses &= held.len() as u64 <= stage.get(PARTS);
        taken.samples_ns.push(ns);
        taken.read("served", held.len() as f64);
        taken.read("asked_mib", asked as f64 / MIB as f64);
        taken.read("refused_us", refused_ns / 1e3);
        taken.read("refused_free_mib", stage.card.memory()?[0] as f64 / MIB as f64);
        for address in held {
            stage.card.free(address)?;
        }
        let after = stage.card.malloc(AFTER)?;
        works &= after.is_some();
        if let Some(address) = after {
            stage.card.free(address)?;
        }
    }
    let is_back = stage.card.memory()?[0] + 16 * PAGE >= start;
    taken.checks = vec![refuses, works, is_back];
    Ok(taken)
}
