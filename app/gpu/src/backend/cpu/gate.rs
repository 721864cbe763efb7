//! A build against the one before it, on one core and in turn: the same multiply-adds, and some more that nobody sees.

use super::bench::{self, Taken};
use super::wide::multiply_add;
use super::{Input, Routine, Stage};
use crate::error::RunError;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::hint::black_box;
use vramlab_model::samples;
use vramlab_units::Text;

/// The factor and the summand, as the kernel's reference names them.
const A: f32 = 0.999;
const B: f32 = 0.0005;

pub const GATE: Routine = Routine {
    id: "regression_gate",
    about: Text::new("新构建和旧构建成对测：慢了没有", "a build beside the one before it, in pairs: is it slower?"),
    inputs: &[
        Input { name: "turns", min: 1, max: 1 << 16, about: "multiply-adds an element" },
        Input { name: "span", min: 64, max: 1 << 20, about: "elements, a multiple of 64" },
        Input { name: "more", min: 0, max: 1 << 20, about: "elements that the new build does on the side" },
    ],
    buffers: &["input", "out"],
    readings: &["ratio", "half_width_pct"],
    run,
};

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let (turns, span) = (stage.get("turns"), stage.get("span"));
    let more = stage.get("more").min(span);
    let (n_samples, cx) = (stage.n_samples, stage.cx);
    let (input, out) = stage.memory.pair("input", "out")?;
    let Some((input, out)) = input.get(..span).zip(out.get_mut(..span)) else {
        return Err(RunError::Content { what: format!("the buffers are too small for {span} words") });
    };
    let (out, mut side) = (RefCell::new(out), vec![0_u32; span]);
    let old = |_| {
        let mut out = out.borrow_mut();
        multiply_add(input, &mut out, turns, A, B);
        black_box(&mut **out);
    };
    let new = |launch| {
        old(launch);
        multiply_add(&input[..more], &mut side[..more], turns, A, B);
        black_box(&mut side);
    };
    let (samples_ns, old_ns) = bench::in_turn(n_samples, cx, new, old)?;
    let ratios: Vec<f64> = samples_ns.iter().zip(&old_ns).map(|(new, old)| new / old).collect();
    let width = samples::interval(&ratios).map(|it| 50.0 * (it.high - it.low) / it.median);
    let readings = [("ratio".to_owned(), ratios), ("half_width_pct".to_owned(), width.into_iter().collect())];
    Ok(Taken { samples_ns, readings: BTreeMap::from(readings) })
}
