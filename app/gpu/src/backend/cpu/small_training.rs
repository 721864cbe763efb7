//! A small net trained on the processor under a strategy, beside the same net that keeps everything: the evidence that a
//! processor can give, which is about gradients and about bytes that are asked for.

use super::bench::Taken;
use super::{Input, Routine, Stage};
use crate::backend::training::{self, Ran};
use crate::error::RunError;
use vramlab_train::cpu::Cpu;
use vramlab_train::{Strategy, Workload};
use vramlab_units::Text;

const OUT: &str = "out";
const COMMON: usize = training::INPUTS.len();

pub const SMALL_TRAINING: Routine = Routine {
    id: "small_training",
    about: Text::new(
        "在处理器上训练一个小网络：一种省内存的策略，对照全部保留",
        "a small net trained on the processor: a strategy that saves memory beside keeping everything",
    ),
    inputs: &INPUTS,
    buffers: &[OUT],
    readings: training::READINGS,
    run,
};

const INPUTS: [Input; COMMON] = {
    let mut all = [const { Input { name: "", min: 0, max: 0, about: "" } }; COMMON];
    let mut at = 0;
    while at < COMMON {
        let (name, min, max, about) = training::INPUTS[at];
        all[at] = Input { name, min, max, about };
        at += 1;
    }
    all
};

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let (work, strategy, limit) = training::chosen(&stage.inputs)?;
    let (base, _) = train(stage, (work, Strategy::default(), None))?;
    let (ran, is_back) = train(stage, (work, strategy, limit))?;
    let mut checks = training::checks(strategy, &base, &ran);
    checks.push(is_back);
    for (word, holds) in stage.memory.output(OUT)?.iter_mut().zip(checks) {
        *word = u32::from(holds);
    }
    Ok(Taken { readings: training::readings(&base, &ran, 0.0), samples_ns: ran.samples_ns })
}

fn train(stage: &Stage<'_>, job: (Workload, Strategy, Option<u64>)) -> Result<(Ran, bool), RunError> {
    let mut cpu = Cpu::<f32>::default();
    let done = training::train(job, &mut cpu, stage.n_samples, stage.cx);
    let mut ran = done.map_err(|trouble| RunError::Content { what: trouble.to_string() })?;
    let [_, most] = cpu.held_bytes();
    (ran.used, ran.reserved) = (most, most);
    Ok((ran, cpu.is_empty()))
}
