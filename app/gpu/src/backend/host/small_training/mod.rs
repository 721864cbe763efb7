//! A small net trained on the card under a strategy, beside the same net that keeps everything.
//!
//! Both run one after the other, each in a pool of its own, whose counter says what was really in use. The gradient of
//! the first step is compared number by number, on request also with the processor's.

mod device;

use super::{Input, Routine, Stage, Taken};
use crate::backend::training::{self, Ran};
use crate::error::RunError;
use device::OnCard;
use vramlab_train::compare::{Gap, SINGLE_BITS};
use vramlab_train::cpu::Cpu;
use vramlab_train::device::Trouble;
use vramlab_train::{Strategy, Trainer, Workload};
use vramlab_units::Text;

const WITH_CPU: &str = "with_cpu";
const COMMON: usize = training::INPUTS.len();

pub const SMALL_TRAINING: Routine = Routine {
    id: "small_training",
    about: Text::new(
        "在卡上训练一个小网络：一种省显存的策略，对照全部保留",
        "a small net trained on the card: a strategy that saves memory beside keeping everything",
    ),
    inputs: &INPUTS,
    readings: training::READINGS,
    checks: training::CHECKS,
    run,
};

/// Those of both halves, and one of the card's own.
const INPUTS: [Input; COMMON + 1] = {
    let own = Input { name: WITH_CPU, min: 0, max: 1, about: "1: compare with the processor too" };
    let mut all = [const { Input { name: "", min: 0, max: 0, about: "" } }; COMMON + 1];
    let mut at = 0;
    while at < COMMON {
        let (name, min, max, about) = training::INPUTS[at];
        all[at] = Input { name, min, max, about };
        at += 1;
    }
    all[COMMON] = own;
    all
};

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let (work, strategy, limit) = training::chosen(&stage.inputs)?;
    let before = stage.card.memory()?[0];
    let base = train(stage, (work, Strategy::default(), None))?;
    let ran = train(stage, (work, strategy, limit))?;
    let cpu_bits = if stage.get(WITH_CPU) == 1 { on_cpu(work, &base.gradients)?.bits(SINGLE_BITS) } else { 0.0 };
    let is_back = stage.card.memory()?[0] + 16 * super::PAGE >= before;
    let mut checks = training::checks(strategy, &base, &ran);
    checks.push(is_back);
    Ok(Taken { readings: training::readings(&base, &ran, cpu_bits), samples_ns: ran.samples_ns, checks })
}

/// Trains in a pool of its own.
fn train(stage: &mut Stage<'_>, job: (Workload, Strategy, Option<u64>)) -> Result<Ran, RunError> {
    stage.card.open_pool(u64::MAX)?;
    let (n_samples, cx) = (stage.n_samples, stage.cx);
    let mut device = OnCard::new(&mut *stage.card);
    let done = training::train(job, &mut device, n_samples, cx);
    let fault = device.fault.take();
    drop(device);
    let mut ran = done.map_err(|trouble| fault.unwrap_or(RunError::Content { what: trouble.to_string() }))?;
    stage.card.sync()?;
    let pool = stage.card.pool_bytes()?;
    (ran.used, ran.reserved) = (pool.most_used, pool.most_reserved);
    stage.card.close_pool()?;
    Ok(ran)
}

/// The gradient of the same step on the processor.
fn on_cpu(work: Workload, gradients: &[Vec<f64>]) -> Result<Gap, RunError> {
    let content = |error: Trouble| RunError::Content { what: error.to_string() };
    let mut cpu = Cpu::<f32>::default();
    let mut trainer = Trainer::new(work, Strategy::default(), &mut cpu, None).map_err(content)?;
    trainer.gradients_of_batch().map_err(content)?;
    Ok(Gap::between(gradients, &trainer.gradients().map_err(content)?))
}

#[cfg(test)]
mod tests {
    use crate::backend::host::sim::Sim;
    use crate::backend::host::{Card as _, Stage};
    use crate::backend::{PointCx, training};
    use std::collections::BTreeMap;
    use vramlab_train::forecast;

    fn inputs(strategy: u64) -> BTreeMap<&'static str, u64> {
        let sizes = [("net", 1), ("n_layers", 8), ("width", 128), ("n_heads", 4), ("seq_len", 64), ("batch", 8)];
        let rest = [("n_classes", 128), ("optimizer", 1), ("seed", 1), ("with_cpu", 0), ("limit_mib", 0)];
        let own = [("strategy", strategy), ("checkpoint_every", 0), ("micro_batches", 1), ("is_offloaded", 0)];
        sizes.into_iter().chain(rest).chain(own).collect()
    }

    /// The simulated driver's own counter shows the peak that the tape predicts, and nothing stays behind.
    #[test]
    fn the_drivers_counter_shows_the_predicted_peak() {
        for strategy in 0..=7 {
            let mut card = Sim::new(4 << 30);
            let before = card.memory().unwrap();
            let cx = PointCx::alone();
            let mut stage = Stage { inputs: inputs(strategy), card: &mut card, n_samples: 3, cx: &cx };
            let (work, way, _) = training::chosen(&stage.inputs).unwrap();
            let taken = super::run(&mut stage).unwrap();
            let predicted = forecast(&work, way).unwrap();
            let mib = predicted.peak.total() as f64 / 1_048_576.0;
            assert_eq!(taken.readings["counted_mib"], [mib; 3], "strategy {strategy}");
            let used = taken.readings["peak_mib"][0];
            assert!((mib..mib * 1.01 + 0.0625).contains(&used), "strategy {strategy}: {used} for {mib}");
            assert_eq!(taken.readings["activations_mib"][0], predicted.peak.activations as f64 / 1_048_576.0);
            assert_eq!(taken.readings["refused_mib"][0], 0.0);
            assert!(taken.checks[2] && taken.checks[3], "strategy {strategy}: {:?}", taken.checks);
            assert_eq!(card.memory().unwrap(), before, "strategy {strategy}");
        }
    }

    /// A limit one step too low is a reading, and all memory is back all the same.
    #[test]
    fn what_does_not_fit_is_a_result() {
        let mut card = Sim::new(4 << 30);
        let before = card.memory().unwrap();
        let cx = PointCx::alone();
        let mut inputs = inputs(0);
        inputs.insert("limit_mib", 40);
        let mut stage = Stage { inputs, card: &mut card, n_samples: 3, cx: &cx };
        let taken = super::run(&mut stage).unwrap();
        assert!(taken.readings["refused_mib"][0] > 40.0, "{:?}", taken.readings["refused_mib"]);
        assert!(taken.checks.iter().all(|holds| *holds), "{:?}", taken.checks);
        assert_eq!(card.memory().unwrap(), before);
    }
}
