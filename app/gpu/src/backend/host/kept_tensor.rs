//! A loop that keeps one block every so many steps: the pool's own counter at the ends of the steps, judged as a recording
//! is judged.

use super::{Input, Routine, Stage, Taken, refused, steps};
use crate::error::RunError;
use vramlab_alloc::MIB;
use vramlab_alloc::drift;
use vramlab_units::Text;

const EVERY: &str = "every";
const STEPS: &str = "n_steps";
const KEPT: &str = "kept_mib";
/// Blocks that come and go within a step.
const WORK: [u64; 3] = [8 * MIB, 3 * MIB, 12 * MIB];

pub const KEPT_TENSOR: Routine = Routine {
    id: "kept_tensor",
    about: Text::new(
        "每几步留下一块不还，看多快能发现",
        "one block kept every so many steps, and how soon it is noticed",
    ),
    inputs: &[
        Input { name: EVERY, min: 1, max: 64, about: "one is kept every so many steps" },
        Input { name: STEPS, min: 1, max: 512, about: "steps in all" },
        Input { name: KEPT, min: 1, max: 1024, about: "size of a block that is kept" },
    ],
    readings: &["slope_mib", "noticed_step", "rises"],
    checks: &["the pool counts exactly what was kept", "the pool is empty at the end"],
    run,
};

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let (every, n_steps, kept_bytes) = (stage.get(EVERY), stage.get(STEPS), stage.get(KEPT) * MIB);
    let (mut taken, mut is_exact, mut is_empty) = (Taken::default(), true, true);
    for _ in 0..stage.n_samples {
        stage.cx.check()?;
        stage.card.open_pool(u64::MAX)?;
        let (mut kept, mut ends) = (Vec::new(), Vec::new());
        let (_, ns) = steps::once(|| {
            for step in 1..=n_steps {
                let tensor = train(stage, kept_bytes)?;
                if step % every == 0 {
                    kept.push(tensor)
                } else {
                    stage.card.pool_free(tensor)?
                }
                stage.card.sync()?;
                ends.push(stage.card.pool_bytes()?.used);
            }
            Ok(())
        })?;
        is_exact &= ends.iter().zip(1..).all(|(end, step)| *end == step / every * kept_bytes);
        taken.samples_ns.push(ns / n_steps as f64);
        let (_, slope, rises) = drift::judge(&ends);
        taken.read("slope_mib", slope / MIB as f64);
        taken.read("rises", rises as f64);
        taken.read("noticed_step", drift::detected_at(&ends).unwrap_or_default() as f64);
        for tensor in kept {
            stage.card.pool_free(tensor)?;
        }
        stage.card.sync()?;
        is_empty &= stage.card.pool_bytes()?.used == 0;
        stage.card.close_pool()?;
    }
    taken.checks = vec![is_exact, is_empty];
    Ok(taken)
}

/// One step: work that comes and goes, and the tensor that somebody may keep.
fn train(stage: &mut Stage<'_>, kept_bytes: u64) -> Result<u64, RunError> {
    let mut work = Vec::new();
    for bytes in WORK {
        work.push(take(stage, bytes)?);
    }
    let tensor = take(stage, kept_bytes)?;
    for address in work {
        stage.card.pool_free(address)?;
    }
    Ok(tensor)
}

fn take(stage: &mut Stage<'_>, bytes: u64) -> Result<u64, RunError> {
    match stage.card.pool_malloc(bytes)? {
        Some(address) => Ok(address),
        None => Err(refused(stage.card, bytes)),
    }
}
