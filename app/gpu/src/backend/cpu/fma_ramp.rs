//! x ← x · a + b some times over on each element of a long array: few times waits for memory, many for the arithmetic.
//! A launch works on one span of arrays much larger than the last cache, the next one on the next.

use super::bench::{self, Taken};
use super::wide::multiply_add;
use super::{Input, Routine, Stage};
use crate::error::RunError;
use std::collections::BTreeMap;
use vramlab_units::Text;

/// The factor and the summand, as the kernels' references name them.
const A: f32 = 0.999;
const B: f32 = 0.0005;

pub const FMA_RAMP: Routine = Routine {
    id: "fma_ramp",
    about: Text::new("每个元素做若干次乘加，再写回", "some multiply-adds on each element, then written"),
    inputs: &[
        Input { name: "turns", min: 0, max: 1 << 16, about: "multiply-adds an element" },
        Input { name: "span", min: 64, max: 1 << 24, about: "elements of one launch, a multiple of 64" },
        Input { name: "n_checked", min: 64, max: 1 << 30, about: "elements that stand in the output at the end" },
    ],
    buffers: &["input", "out"],
    readings: &[],
    run,
};

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let (turns, span, n_checked) = (stage.get("turns"), stage.get("span"), stage.get("n_checked"));
    let (n_samples, cx) = (stage.n_samples, stage.cx);
    let (input, out) = stage.memory.pair("input", "out")?;
    let n_spans = (input.len().min(out.len()) / span).max(1);
    let span = span.min(input.len()).min(out.len());
    let work = |launch: usize, out: &mut [u32]| {
        let first = launch % n_spans * span;
        multiply_add(&input[first..first + span], &mut out[first..first + span], turns, A, B);
    };
    let samples_ns = bench::alone(n_samples, cx, |launch| work(launch, out))?;
    for launch in 0..n_checked.div_ceil(span).min(n_spans) {
        cx.check()?;
        work(launch, out);
    }
    Ok(Taken { samples_ns, readings: BTreeMap::new() })
}
