//! Losses, gradients and updated parameters against PyTorch's (tests/data/train/vectors.py).
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its case fails")]

use serde::Deserialize;
use vramlab_train::compare::Gap;
use vramlab_train::cpu::{Cpu, Real};
use vramlab_train::net::Dtype;
use vramlab_train::{Strategy, Trainer, Workload};

#[derive(Deserialize)]
struct File {
    made_by: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    work: Workload,
    losses: Vec<f64>,
    gradients: Vec<Vec<f64>>,
    params: Vec<Vec<f64>>,
}

fn check<R: Real>(case: &Case, strategy: Strategy, tolerance: f64) {
    let mut cpu = Cpu::<R>::default();
    let mut trainer = Trainer::new(case.work, strategy, &mut cpu, None).unwrap();
    for (step, expected) in case.losses.iter().enumerate() {
        let loss = trainer.gradients_of_batch().unwrap();
        assert!((loss - expected).abs() < tolerance, "{:?}: loss {loss} for {expected} at {step}", case.work);
        if step == 0 {
            let gap = Gap::between(&trainer.gradients().unwrap(), &case.gradients);
            assert!(!gap.is_broken && gap.relative < tolerance, "{:?} {}: {gap:?}", case.work, strategy.id());
        }
        trainer.update().unwrap();
    }
    let blank = |params: &[Vec<f64>]| without_key_biases(&case.work, params);
    let gap = Gap::between(&blank(&trainer.params().unwrap()), &blank(&case.params));
    assert!(!gap.is_broken && gap.relative < tolerance * 100.0, "{:?}: {gap:?}", case.work);
}

/// A bias of keys shifts all scores of a row alike, so its gradient is nothing but rounding, which AdamW blows up to whole
/// steps. In double precision its ε swallows that; in single precision these numbers say nothing.
fn without_key_biases(work: &Workload, params: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let named = work.params();
    let each = params.iter().zip(&named).map(|(values, param)| {
        let d = work.width;
        let is_key = |at: usize| param.name.ends_with("qkv bias") && (d..2 * d).contains(&at);
        values.iter().enumerate().map(|(at, value)| if is_key(at) { 0.0 } else { *value }).collect()
    });
    each.collect()
}

#[test]
fn small_nets_are_those_of_pytorch() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/train/vectors.json"));
    let file: File = serde_json::from_str(&text.unwrap()).unwrap();
    assert!(file.made_by.starts_with("PyTorch 2.") && file.cases.len() == 6, "{}", file.made_by);
    for case in &file.cases {
        for text in ["keep", "checkpoint", "accumulate2", "offload", "checkpoint2+accumulate4+offload"] {
            let strategy = Strategy::parse(text).unwrap();
            match case.work.dtype {
                Dtype::Fp64 => check::<f64>(case, strategy, 1e-10),
                Dtype::Fp32 => check::<f32>(case, strategy, 2e-6),
            }
        }
    }
}
