//! Tensors of a net that was really trained here: what codecs and formats are tried on beside normal values.
//!
//! An MLP of two layers learns 64 classes by heart; it is made once in a child and kept.

use crate::error::RunError;
use std::sync::OnceLock;
use vramlab_codec::Random;
use vramlab_train::cpu::Cpu;
use vramlab_train::net::{Dtype, Kind, Optimizer};
use vramlab_train::{Strategy, Trainer, Workload, data};

const WORK: Workload = Workload {
    net: Kind::Mlp,
    n_layers: 2,
    width: 256,
    n_heads: 1,
    seq_len: 1,
    batch: 64,
    n_classes: 64,
    dtype: Dtype::Fp32,
    optimizer: Optimizer::Adamw,
    seed: 11,
    n_steps: 150,
};
/// One of so many entries of a gradient is left.
const ONE_OF: usize = 100;

/// Values in single precision, tensor after tensor.
pub struct RealNet {
    pub start: Vec<f32>,
    pub trained: Vec<f32>,
    /// Of the first layer, for many inputs.
    pub activations: Vec<f32>,
    pub gradient: Vec<f32>,
    /// The largest of it; zeros elsewhere.
    pub largest: Vec<f32>,
}

/// The net, trained at the first call.
pub fn real_net() -> Result<&'static RealNet, RunError> {
    static NET: OnceLock<Result<RealNet, String>> = OnceLock::new();
    let made = NET.get_or_init(|| train().map(|(net, _)| net).map_err(|trouble| trouble.to_string()));
    made.as_ref().map_err(|what| RunError::Content { what: what.clone() })
}

/// And the loss before the first step and at the last.
fn train() -> Result<(RealNet, [f64; 2]), vramlab_train::device::Trouble> {
    let mut cpu = Cpu::<f32>::default();
    let mut trainer = Trainer::new(WORK, Strategy::default(), &mut cpu, None)?;
    let matrices = |params: Vec<Vec<f64>>| -> Vec<f32> {
        params.into_iter().filter(|param| param.len() > WORK.width).flatten().map(|value| value as f32).collect()
    };
    let start = matrices(trainer.params()?);
    let first = trainer.step()?;
    for _ in 2..WORK.n_steps {
        trainer.step()?;
    }
    let last = trainer.gradients_of_batch()?;
    let gradient = matrices(trainer.gradients()?);
    trainer.update()?;
    let params = trainer.params()?;
    let activations = activations(&params[0], &params[1]);
    let trained = matrices(params);
    trainer.close()?;
    let largest = largest(&gradient);
    Ok((RealNet { start, trained, activations, gradient, largest }, [first, last]))
}

/// GELU of x · W + b for inputs that the net has not seen.
fn activations(weight: &[f64], bias: &[f64]) -> Vec<f32> {
    let (input, _) = data::samples(&WORK, WORK.batch, 8 * WORK.batch);
    let row = |x: &[f64]| -> Vec<f32> {
        let mut sums = bias.to_vec();
        for (x, row) in x.iter().zip(weight.chunks_exact(WORK.width)) {
            sums.iter_mut().zip(row).for_each(|(sum, w)| *sum += x * w);
        }
        let bend = |x: f64| 0.5 * x * (1.0 + (0.797_884_560_8 * (x + 0.044_715 * x.powi(3))).tanh());
        sums.into_iter().map(|x| bend(x) as f32).collect()
    };
    input.chunks_exact(WORK.width).flat_map(row).collect()
}

fn largest(gradient: &[f32]) -> Vec<f32> {
    let mut sizes: Vec<f32> = gradient.iter().map(|value| value.abs()).collect();
    let at = sizes.len() - sizes.len() / ONE_OF;
    let least = *sizes.select_nth_unstable_by(at, f32::total_cmp).1;
    gradient.iter().map(|value| if value.abs() >= least { *value } else { 0.0 }).collect()
}

/// Normal values with one of `outlier` times their σ, at half the length, or none.
pub fn normal(n: usize, outlier: f64, seed: u64) -> Vec<f64> {
    let mut random = Random::new(seed);
    let mut values: Vec<f64> = (0..n).map(|_| random.normal()).collect();
    if outlier > 0.0 {
        values[n / 2] = outlier;
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 64 samples of 64 classes: chance is ln 64 = 4.16, and a net of this size learns them by heart.
    #[test]
    fn the_net_learns() {
        let (net, losses) = train().unwrap();
        assert!((losses[0] - 4.16).abs() < 0.3 && losses[1] < 1.0, "{losses:?}");
        let n = 2 * 256 * 256 + 256 * 64;
        assert_eq!([net.start.len(), net.trained.len(), net.gradient.len()], [n; 3]);
        // Even from −1/16 to 1/16 at the start; training moves beyond.
        let most = |values: &[f32]| values.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
        assert!(most(&net.start) <= 0.0625 && most(&net.trained) > 0.0625);
        let left = net.largest.iter().filter(|value| **value != 0.0).count();
        assert!((left as f64 / n as f64 - 0.01).abs() < 1e-3, "{left}");
    }
}
