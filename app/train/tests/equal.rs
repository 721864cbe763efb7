//! Every strategy computes the baseline's gradient, and the gradient is right by central differences.
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its case fails")]

use proptest::prelude::*;
use vramlab_train::compare::{Gap, tolerance};
use vramlab_train::cpu::{Cpu, Real};
use vramlab_train::forecast;
use vramlab_train::net::{Dtype, Kind, Optimizer};
use vramlab_train::strategy::STRATEGIES;
use vramlab_train::{Strategy, Trainer, Workload};

fn work(net: Kind, dtype: Dtype) -> Workload {
    Workload {
        net,
        n_layers: 3,
        width: 6,
        n_heads: 2,
        seq_len: 5,
        batch: 4,
        n_classes: 7,
        dtype,
        optimizer: Optimizer::Adamw,
        seed: 11,
        n_steps: 2,
    }
}

/// Losses and gradients of the last of `n_steps` steps.
fn train<R: Real>(work: Workload, strategy: Strategy) -> (Vec<f64>, Vec<Vec<f64>>) {
    let mut cpu = Cpu::<R>::default();
    let mut trainer = Trainer::new(work, strategy, &mut cpu, None).unwrap();
    let mut losses = Vec::new();
    for _ in 1..work.n_steps {
        losses.push(trainer.step().unwrap());
    }
    losses.push(trainer.gradients_of_batch().unwrap());
    let gradients = trainer.gradients().unwrap();
    trainer.close().unwrap();
    assert!(cpu.is_empty(), "memory is left behind");
    (losses, gradients)
}

/// The loss at shifted parameters, in double precision: (f(w + h) − f(w − h)) / 2h.
#[test]
fn gradients_are_those_of_central_differences() {
    for net in [Kind::Mlp, Kind::Block] {
        let work = Workload { n_steps: 1, n_layers: 2, ..work(net, Dtype::Fp64) };
        let (_, gradients) = train::<f64>(work, Strategy::default());
        let h = 1e-5;
        for (idx, param) in work.params().iter().enumerate() {
            for at in [0, param.words / 2, param.words - 1] {
                let loss = |shift: f64| {
                    let mut cpu = Cpu::<f64>::default();
                    let mut trainer = Trainer::new(work, Strategy::default(), &mut cpu, None).unwrap();
                    let mut values = trainer.params().unwrap()[idx].clone();
                    values[at] += shift;
                    trainer.set_param(idx, &values).unwrap();
                    trainer.gradients_of_batch().unwrap()
                };
                let slope = (loss(h) - loss(-h)) / (2.0 * h);
                let found = gradients[idx][at];
                assert!((slope - found).abs() < 1e-8, "{net:?} {} [{at}]: {found} for {slope}", param.name);
            }
        }
    }
}

#[test]
fn every_strategy_of_the_course_keeps_its_promise() {
    for net in [Kind::Mlp, Kind::Block] {
        let work = Workload { n_layers: 9, ..work(net, Dtype::Fp32) };
        let (losses, gradients) = train::<f32>(work, Strategy::default());
        for named in &STRATEGIES {
            let (other_losses, other) = train::<f32>(work, named.strategy);
            let gap = Gap::between(&gradients, &other);
            let id = named.id;
            if named.strategy.is_undivided {
                // Every gradient is four times as large at the first step; afterwards the paths part.
                assert!(gap.relative > 0.5, "{id}: {gap:?}");
            } else if named.strategy.is_exact() {
                assert!(gap.is_equal() && losses == other_losses, "{id}: {gap:?}");
            } else {
                assert!(!gap.is_equal() && gap.relative < tolerance(4), "{id}: {gap:?}");
                assert!((losses[1] - other_losses[1]).abs() < 1e-5, "{id}");
            }
        }
    }
}

/// The mistake in one number: the gradient is as many times too large as there are parts.
#[test]
fn an_undivided_loss_multiplies_the_gradient_by_the_parts() {
    let work = Workload { n_steps: 1, ..work(Kind::Block, Dtype::Fp64) };
    let (_, right) = train::<f64>(work, Strategy::numbered(3).unwrap());
    let (_, wrong) = train::<f64>(work, Strategy::numbered(7).unwrap());
    for (right, wrong) in right.iter().flatten().zip(wrong.iter().flatten()) {
        assert!((4.0 * right - wrong).abs() < 1e-12);
    }
}

fn any_work() -> impl Strategy_ {
    (any::<bool>(), 1..6_usize, 1..4_usize, 1..4_usize, 1..7_usize, 1..4_usize, 2..9_usize, any::<bool>(), 0..1000_u64)
}

trait Strategy_: proptest::strategy::Strategy<Value = (bool, usize, usize, usize, usize, usize, usize, bool, u64)> {}
impl<T: proptest::strategy::Strategy<Value = (bool, usize, usize, usize, usize, usize, usize, bool, u64)>> Strategy_
    for T
{
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// Any net, any strategy: losses and gradients equal; the counted peak is the predicted one and what the vectors
    /// themselves took.
    #[test]
    fn any_net_under_any_strategy(
        (is_block, n_layers, n_heads, size, seq_len, parts, n_classes, is_adamw, seed) in any_work(),
        checkpoint_every in 0..5_usize, is_offloaded in any::<bool>(), is_split in any::<bool>(),
    ) {
        let work = Workload {
            net: if is_block { Kind::Block } else { Kind::Mlp },
            n_layers, width: n_heads * size, n_heads, seq_len, batch: 2 * parts, n_classes,
            dtype: Dtype::Fp32,
            optimizer: if is_adamw { Optimizer::Adamw } else { Optimizer::Sgd },
            seed, n_steps: 2,
        };
        let micro_batches = if is_split { parts } else { 1 };
        let strategy = Strategy { checkpoint_every, micro_batches, is_offloaded, is_undivided: false };
        if strategy.is_exact() {
            let (losses, gradients) = train::<f32>(work, Strategy::default());
            let (other_losses, other) = train::<f32>(work, strategy);
            let gap = Gap::between(&gradients, &other);
            prop_assert!(gap.is_equal(), "{gap:?}");
            prop_assert_eq!(&losses, &other_losses);
        } else {
            // Of such small nets some gradients are nothing but rounding (a layer norm over two numbers has none), so
            // what another order of summing leaves is judged in double precision, before an optimizer enlarges it.
            let work = Workload { dtype: Dtype::Fp64, n_steps: 1, ..work };
            let (_, gradients) = train::<f64>(work, Strategy::default());
            let (_, other) = train::<f64>(work, strategy);
            let gap = Gap::between(&gradients, &other);
            prop_assert!(gap.relative < 1e-7 && !gap.is_broken, "{:?}", gap);
        }
        let mut cpu = Cpu::<f32>::default();
        let mut trainer = Trainer::new(work, strategy, &mut cpu, None).unwrap();
        for _ in 0..2 {
            trainer.step().unwrap();
        }
        let counted = trainer.peak().bytes.total();
        trainer.close().unwrap();
        let forecast = forecast(&work, strategy).unwrap();
        prop_assert_eq!(forecast.peak.total(), counted);
        prop_assert_eq!(cpu.held_bytes()[1], counted);
    }
}
