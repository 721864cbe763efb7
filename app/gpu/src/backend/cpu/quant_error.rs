//! Normal numbers as integers in groups, some of them outliers: every error against half a step, and how large they are.

use super::bench::{self, Taken};
use super::{Input, Routine, Stage};
use crate::error::RunError;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::hint::black_box;
use vramlab_codec::int::{Grouping, Quantised, Scheme, quantise};
use vramlab_units::{Random, Text};

/// Rounding of doubles themselves.
const SLACK: f64 = 1.0 + 1e-9;

pub const QUANT_ERROR: Routine = Routine {
    id: "quant_error",
    about: Text::new(
        "把正态分布的数量化成整数，逐个核对误差",
        "normal numbers quantised to integers, every error checked",
    ),
    inputs: &[
        Input { name: "bits", min: 2, max: 8, about: "bits of a code: 2, 3, 4 or 8" },
        Input { name: "group", min: 1, max: 1 << 20, about: "numbers that share a scale" },
        Input { name: "cols", min: 1, max: 1 << 20, about: "numbers of a row" },
        Input { name: "rows", min: 1, max: 1 << 16, about: "rows" },
        Input { name: "outlier", min: 0, max: 1 << 20, about: "size of an outlier in standard deviations" },
        Input { name: "one_in", min: 0, max: 1 << 30, about: "one number in so many is an outlier; 0 for none" },
        Input { name: "seed", min: 0, max: 1 << 32, about: "seed of the numbers" },
    ],
    buffers: &["out"],
    readings: &["rms", "most_steps", "share_hit"],
    run,
};

/// The numbers, and which of them are outliers.
fn numbers(stage: &Stage<'_>) -> Result<(Vec<f64>, Vec<bool>), RunError> {
    let n = stage.get("rows") * stage.get("cols");
    let (outlier, one_in) = (stage.get("outlier") as f64, stage.get("one_in") as u64);
    let mut random = Random::new(stage.get("seed") as u64);
    let (mut values, mut is_far) = (Vec::with_capacity(n), Vec::with_capacity(n));
    for at in 0..n {
        if at.is_multiple_of(65_536) {
            stage.cx.check()?;
        }
        let value = random.normal();
        let far = one_in > 0 && random.word().is_multiple_of(one_in);
        values.push(if far { outlier.copysign(value) } else { value });
        is_far.push(far);
    }
    Ok((values, is_far))
}

fn coded(stage: &Stage<'_>, values: &[f64]) -> Result<Quantised, RunError> {
    let (rows, bits, group) = (stage.get("rows"), stage.get("bits") as u32, stage.get("group"));
    quantise(values, rows, bits, Scheme::Symmetric, Grouping::Group(group))
        .map_err(|problem| RunError::Content { what: problem.to_string() })
}

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let (values, is_far) = numbers(stage)?;
    let got = coded(stage, &values)?;
    let decoded = got.decode();
    let (mut sum, mut n_plain, mut most_steps) = (0.0, 0_usize, 0.0_f64);
    let mut holds = Vec::with_capacity(values.len());
    for (at, (value, back)) in values.iter().zip(&decoded).enumerate() {
        let (error, step) = ((value - back).abs(), got.scale_at(at));
        holds.push(u32::from(error <= 0.5 * step * SLACK));
        most_steps = most_steps.max(if step > 0.0 { error / step } else { 0.0 });
        if !is_far[at] {
            sum += error * error;
            n_plain += 1;
        }
    }
    let n_groups = is_far.chunks(stage.get("group")).len();
    let n_hit = is_far.chunks(stage.get("group")).filter(|group| group.contains(&true)).count();
    let rms = (sum / n_plain.max(1) as f64).sqrt();
    let failed = RefCell::new(None);
    let launch = |_| {
        if let Err(error) = coded(stage, &values).map(|got| black_box(got.codes.len())) {
            *failed.borrow_mut() = Some(error);
        }
    };
    let samples_ns = bench::alone(stage.n_samples, stage.cx, launch)?;
    if let Some(error) = failed.into_inner() {
        return Err(error);
    }
    let readings = [
        ("rms".to_owned(), vec![rms]),
        ("most_steps".to_owned(), vec![most_steps]),
        ("share_hit".to_owned(), vec![n_hit as f64 / n_groups as f64]),
    ];
    for (word, holds) in stage.memory.output("out")?.iter_mut().zip(holds) {
        *word = holds;
    }
    Ok(Taken { samples_ns, readings: BTreeMap::from(readings) })
}
