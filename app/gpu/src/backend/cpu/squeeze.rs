//! A small net that is really trained, then made smaller in one of several ways, and examined on pictures that it never saw.

use super::bench::Taken;
use super::{Input, Routine, Stage};
use crate::error::RunError;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use vramlab_train::device::Trouble;
use vramlab_train::narrow::{Outcome, Stop, Stored, Teacher, Way};
use vramlab_units::Text;

const OUT: &str = "out";

pub const SQUEEZE: Routine = Routine {
    id: "squeeze",
    about: Text::new(
        "在处理器上训练一个认数字的小网络，再用一种办法把它变小",
        "a small net that reads digits, trained on the processor, then made smaller in one way",
    ),
    inputs: &[
        Input {
            name: "way",
            min: 0,
            max: 11,
            about: "0 as trained, 1 quantised afterwards, 2 trained with quantised weights, 3 two of four, 4 the same and \
                    tuned, 5 a tenth, 6 the same and tuned, 7 a narrower net on few labels, 8 on all of them, 9 on the \
                    net's answers, 10 thin factors, 11 half precision",
        },
        Input { name: "bits", min: 2, max: 8, about: "bits of a weight, for ways 1 and 2" },
        Input { name: "seed", min: 0, max: 1 << 32, about: "seed of pictures and weights" },
    ],
    buffers: &[OUT],
    readings: &["bytes", "loss", "wrong", "first_loss"],
    run,
};

/// The net that was trained last: the points of an experiment begin with the same one.
static LAST: Mutex<Option<Arc<Teacher>>> = Mutex::new(None);

fn told(trouble: &Trouble) -> RunError {
    RunError::Content { what: trouble.to_string() }
}

fn teacher(seed: u64, stop: &mut Stop<'_>) -> Result<Arc<Teacher>, Trouble> {
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = last.as_ref().filter(|teacher| teacher.seed() == seed) {
        return Ok(Arc::clone(known));
    }
    let made = Arc::new(Teacher::train(seed, stop)?);
    *last = Some(Arc::clone(&made));
    Ok(made)
}

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let (number, bits, seed) = (stage.get("way") as u64, stage.get("bits") as u32, stage.get("seed") as u64);
    let way = Way::of(number, bits);
    let way = way.ok_or_else(|| RunError::Content { what: format!("there is no way number {number}") })?;
    let cx = stage.cx;
    let mut cancelled = None;
    let mut stop = || {
        cx.check().map_err(|error| {
            let trouble = Trouble::Device(error.to_string());
            cancelled = Some(error);
            trouble
        })
    };
    let done = teacher(seed, &mut stop).and_then(|teacher| vramlab_train::narrow::run(way, &teacher, &mut stop));
    let (outcome, stored) = done.map_err(|trouble| cancelled.unwrap_or_else(|| told(&trouble)))?;
    let (samples_ns, is_same) = pass(stage, &outcome, stored)?;
    let checks = [outcome.is_stored, is_same];
    for (word, holds) in stage.memory.output(OUT)?.iter_mut().zip(checks) {
        *word = u32::from(holds);
    }
    let readings = [
        ("bytes", outcome.bytes as f64),
        ("loss", outcome.loss),
        ("wrong", outcome.wrong),
        ("first_loss", outcome.first_loss),
    ];
    let readings = readings.map(|(name, value)| (name.to_owned(), vec![value]));
    Ok(Taken { samples_ns, readings: BTreeMap::from(readings) })
}

/// Times passes over all test pictures; whether each told the same loss.
fn pass(stage: &Stage<'_>, outcome: &Outcome, mut stored: Stored) -> Result<(Vec<f64>, bool), RunError> {
    let (mut samples_ns, mut is_same) = (Vec::new(), true);
    for _ in 0..stage.n_samples.max(1) {
        stage.cx.check()?;
        let start = Instant::now();
        let [loss, wrong] = stored.examine().map_err(|trouble| told(&trouble))?;
        samples_ns.push((start.elapsed().as_nanos() as f64).max(1.0));
        is_same &= loss.to_bits() == outcome.loss.to_bits() && wrong.to_bits() == outcome.wrong.to_bits();
    }
    Ok((samples_ns, is_same))
}
