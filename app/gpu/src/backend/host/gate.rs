//! A build against the one before it: pairs in turn, or one after the other; the ratio of their times, a number a pair.

use super::{Input, Routine, Stage, Taken, steps};
use crate::error::RunError;
use vramlab_model::samples;
use vramlab_units::Text;

const TURNS: &str = "turns";
const MORE: &str = "more";
const HOW: &str = "how";
const N: u64 = 1 << 22;
const BLOCK: u32 = 256;
const BYTES: u64 = 4 * N;
const WARM: usize = 5;

pub const GATE: Routine = Routine {
    id: "regression_gate",
    about: Text::new("新构建和旧构建成对测：慢了没有", "a build beside the one before it, in pairs: is it slower?"),
    inputs: &[
        Input { name: TURNS, min: 1, max: 1 << 16, about: "multiply-adds of both builds" },
        Input { name: MORE, min: 0, max: 1 << 16, about: "multiply-adds that the new build does on the side" },
        Input { name: HOW, min: 0, max: 1, about: "0 in turn, 1 all of the old build and then all of the new one" },
    ],
    readings: &["ratio", "half_width_pct"],
    checks: &["both builds give the same bits", "all memory is back at the end"],
    run,
};

struct Builds {
    input: u64,
    out: [u64; 2],
    turns: u64,
    more: u64,
}

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let before = stage.card.memory()?[0];
    let (turns, more) = (stage.get(TURNS), stage.get(MORE));
    let builds = Builds { input: stage.must(BYTES)?, out: [stage.must(BYTES)?, stage.must(BYTES)?], turns, more };
    let grid = u32::try_from(N).unwrap_or(u32::MAX) / BLOCK;
    stage.card.launch("gate_input", grid, BLOCK, &[builds.input])?;
    for _ in 0..WARM {
        builds.time(stage, 0)?;
        builds.time(stage, 1)?;
    }
    let [old, new] = if stage.get(HOW) == 0 { builds.in_turn(stage)? } else { builds.one_by_one(stage)? };
    let mut taken = Taken::default();
    // One after the other has no pairs: each new time stands over the median of the old ones.
    let median_old = vramlab_trace::run::median(&old).unwrap_or(1.0);
    let is_paired = stage.get(HOW) == 0;
    let ratios: Vec<f64> =
        new.iter().zip(&old).map(|(new, old)| new / if is_paired { *old } else { median_old }).collect();
    for ratio in &ratios {
        taken.read("ratio", *ratio);
    }
    let interval = samples::interval(&ratios);
    let half_width = interval.map_or(f64::NAN, |it| 50.0 * (it.high - it.low) / it.median);
    taken.read("half_width_pct", half_width);
    taken.samples_ns = new;
    let is_same = builds.is_same(stage)?;
    for address in [builds.input, builds.out[0], builds.out[1]] {
        stage.card.free(address)?;
    }
    let is_back = stage.card.memory()?[0] + 16 * super::PAGE >= before;
    taken.checks = vec![is_same, is_back];
    Ok(taken)
}

impl Builds {
    /// One launch of a build, waited for.
    fn time(&self, stage: &mut Stage<'_>, which: usize) -> Result<f64, RunError> {
        let grid = u32::try_from(N).unwrap_or(u32::MAX) / BLOCK;
        let args = [self.input, self.out[which], self.turns, if which == 1 { self.more } else { 0 }];
        stage.cx.check()?;
        let card = &mut *stage.card;
        steps::once(|| card.launch("gate", grid, BLOCK, &args).and_then(|()| card.sync())).map(|((), ns)| ns)
    }

    /// Old, new, new, old, …: whatever drifts meets both alike.
    fn in_turn(&self, stage: &mut Stage<'_>) -> Result<[Vec<f64>; 2], RunError> {
        let mut out = [Vec::new(), Vec::new()];
        for pair in 0..stage.n_samples {
            let order = if pair % 2 == 0 { [0, 1] } else { [1, 0] };
            for which in order {
                out[which].push(self.time(stage, which)?);
            }
        }
        Ok(out)
    }

    fn one_by_one(&self, stage: &mut Stage<'_>) -> Result<[Vec<f64>; 2], RunError> {
        let mut out = [Vec::new(), Vec::new()];
        for (which, times) in out.iter_mut().enumerate() {
            for _ in 0..stage.n_samples {
                times.push(self.time(stage, which)?);
            }
        }
        Ok(out)
    }

    fn is_same(&self, stage: &mut Stage<'_>) -> Result<bool, RunError> {
        let (mut old, mut new) = (vec![0_u8; BYTES as usize], vec![0_u8; BYTES as usize]);
        stage.card.get(self.out[0], &mut old)?;
        stage.card.get(self.out[1], &mut new)?;
        Ok(old == new)
    }
}
