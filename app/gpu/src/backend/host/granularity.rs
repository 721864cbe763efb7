//! How much memory leaves the card for a request: free memory before and after.

use super::{Input, PAGE, Routine, Stage, Taken, steps};
use crate::error::RunError;
use vramlab_units::Text;

const BYTES: &str = "bytes";
const COUNT: &str = "n_requests";
/// Smallest piece that is known to be handed out on its own.
const LEAST: u64 = 512;

pub const GRANULARITY: Routine = Routine {
    id: "granularity",
    about: Text::new("申请以后，卡上的空闲显存少了多少", "how much free memory a request costs"),
    inputs: &[
        Input { name: BYTES, min: 1, max: 1 << 32, about: "size of a request" },
        Input { name: COUNT, min: 1, max: 4096, about: "requests one after another" },
    ],
    readings: &["gone_bytes"],
    checks: &["the blocks lie apart", "all memory is back at the end"],
    run,
};

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let holes = fill_holes(stage)?;
    let (bytes, n) = (stage.get(BYTES), stage.get(COUNT));
    let mut taken = Taken::default();
    let (mut lie_apart, mut is_back) = (true, true);
    for _ in 0..stage.n_samples {
        stage.cx.check()?;
        let before = stage.card.memory()?[0];
        let (mut blocks, ns) = steps::once(|| (0..n).map(|_| stage.must(bytes)).collect::<Result<Vec<_>, _>>())?;
        taken.samples_ns.push(ns / n as f64);
        taken.read("gone_bytes", before.saturating_sub(stage.card.memory()?[0]) as f64);
        blocks.sort_unstable();
        lie_apart &= blocks.windows(2).all(|pair| pair[0] + bytes <= pair[1]);
        for block in blocks {
            stage.card.free(block)?;
        }
        is_back &= stage.card.memory()?[0] == before;
    }
    for block in holes {
        stage.card.free(block)?;
    }
    taken.checks = vec![lie_apart, is_back];
    Ok(taken)
}

/// Pages that are shared by small requests have holes from earlier work. They are filled from the large end down, so that
/// the next request opens a page of its own.
fn fill_holes(stage: &mut Stage<'_>) -> Result<Vec<u64>, RunError> {
    let mut held = Vec::new();
    let mut size = PAGE / 2;
    while size >= LEAST {
        loop {
            let before = stage.card.memory()?[0];
            let block = stage.must(size)?;
            if stage.card.memory()?[0] < before {
                // It opened a page: there was no hole of this size.
                stage.card.free(block)?;
                break;
            }
            held.push(block);
        }
        size /= 2;
    }
    Ok(held)
}
