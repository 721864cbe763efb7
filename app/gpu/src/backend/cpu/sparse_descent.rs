//! Descent on a convex problem whose optimum is known, with all of each worker's gradient, with its largest entries and the
//! rest owed, and with the rest dropped. The k largest are found by selection, not by sorting.

use super::bench::{self, Taken};
use super::{Input, Routine, Stage};
use crate::error::RunError;
use std::collections::BTreeMap;
use std::hint::black_box;
use vramlab_codec::Random;
use vramlab_units::Text;

const OUT: &str = "out";
/// The rate falls as 1 ÷ (1 + step ÷ this).
const DECAY: f64 = 50.0;

pub const SPARSE_DESCENT: Routine = Routine {
    id: "sparse_descent",
    about: Text::new(
        "凸问题上的稀疏梯度下降：记账与不记账",
        "descent with sparse gradients on a convex problem, the rest owed or dropped",
    ),
    inputs: &[
        Input {
            name: "mode",
            min: 0,
            max: 2,
            about: "0 all entries, 1 the largest and the rest owed, 2 the largest only",
        },
        Input { name: "dims", min: 2, max: 65_536, about: "dimensions" },
        Input { name: "workers", min: 1, max: 64, about: "workers" },
        Input { name: "k", min: 1, max: 65_536, about: "entries that a worker sends" },
        Input { name: "steps", min: 1, max: 100_000, about: "steps" },
        Input { name: "seed", min: 0, max: 1 << 32, about: "the seed of the problem" },
    ],
    buffers: &[OUT],
    readings: &["excess", "start", "traffic_pct", "step_ns"],
    run,
};

/// f(x) = mean over workers of ½ Σ aᵢ (xᵢ − bᵢ)².
struct Problem {
    curvature: Vec<f64>,
    minima: Vec<Vec<f64>>,
    optimum: Vec<f64>,
}

impl Problem {
    /// Curvatures between 0.1 and 1, minima normal around a common place.
    fn new(dims: usize, workers: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let curvature = (0..dims).map(|_| 0.1 + 0.9 * random.unit()).collect();
        let common: Vec<f64> = (0..dims).map(|_| 3.0 * random.normal()).collect();
        let minima: Vec<Vec<f64>> =
            (0..workers).map(|_| common.iter().map(|place| place + random.normal()).collect()).collect();
        let optimum = (0..dims).map(|dim| minima.iter().map(|one| one[dim]).sum::<f64>() / workers as f64).collect();
        Self { curvature, minima, optimum }
    }

    fn excess(&self, x: &[f64]) -> f64 {
        let part = |((x, best), a): ((&f64, &f64), &f64)| 0.5 * a * (x - best).powi(2);
        x.iter().zip(&self.optimum).zip(&self.curvature).map(part).sum()
    }
}

/// How a run went.
struct Descent {
    x: Vec<f64>,
    /// Largest gap between what was sent and owed, and the sum of all gradients: nothing may be lost.
    gap: f64,
}

fn descend(problem: &Problem, mode: usize, k: usize, steps: usize) -> Descent {
    let n = problem.curvature.len();
    let workers = problem.minima.len() as f64;
    let (mut x, mut owed) = (vec![0.0; n], vec![vec![0.0; n]; problem.minima.len()]);
    let (mut all, mut sizes) = (vec![0.0; n], vec![0.0; n]);
    for step in 0..steps {
        let rate = 1.0 / (1.0 + step as f64 / DECAY);
        let mut sum = vec![0.0; n];
        for (minimum, owed) in problem.minima.iter().zip(&mut owed) {
            for dim in 0..n {
                let gradient = rate * problem.curvature[dim] * (x[dim] - minimum[dim]);
                all[dim] += gradient;
                owed[dim] = if mode == 2 { gradient } else { owed[dim] + gradient };
            }
            let least = if mode == 0 { 0.0 } else { threshold(owed, &mut sizes, k) };
            for (sum, owed) in sum.iter_mut().zip(owed.iter_mut()).filter(|(_, owed)| owed.abs() >= least) {
                *sum += std::mem::take(owed);
            }
        }
        x.iter_mut().zip(sum).for_each(|(x, sum)| *x -= sum / workers);
    }
    let debt = |dim: usize| owed.iter().map(|owed| owed[dim]).sum::<f64>();
    let gap = (0..n).map(|dim| (-x[dim] * workers + debt(dim) - all[dim]).abs()).fold(0.0, f64::max);
    Descent { x, gap }
}

/// The k-th largest magnitude.
fn threshold(values: &[f64], sizes: &mut [f64], k: usize) -> f64 {
    sizes.iter_mut().zip(values).for_each(|(size, value)| *size = value.abs());
    let at = sizes.len() - k.min(sizes.len());
    *sizes.select_nth_unstable_by(at, f64::total_cmp).1
}

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let (mode, steps) = (stage.get("mode"), stage.get("steps"));
    let k = stage.get("k").min(stage.get("dims"));
    let problem = Problem::new(stage.get("dims"), stage.get("workers"), stage.get("seed") as u64);
    let start = problem.excess(&vec![0.0; problem.curvature.len()]);
    let got = descend(&problem, mode, k, steps);
    let excess = problem.excess(&got.x);
    let checks = [excess.is_finite(), mode == 2 || got.gap <= 1e-9 * steps as f64];
    for (word, holds) in stage.memory.output(OUT)?.iter_mut().zip(checks) {
        *word = u32::from(holds);
    }
    let samples_ns = bench::alone(stage.n_samples, stage.cx, |_| drop(black_box(descend(&problem, mode, k, steps).x)))?;
    let per_step = samples_ns.iter().map(|ns| ns / steps as f64).collect();
    let sent = if mode == 0 { 1.0 } else { k as f64 / problem.curvature.len() as f64 };
    let readings = BTreeMap::from([
        ("excess".to_owned(), vec![excess.max(1e-300)]),
        ("start".to_owned(), vec![start]),
        ("traffic_pct".to_owned(), vec![100.0 * sent]),
        ("step_ns".to_owned(), per_step),
    ]);
    Ok(Taken { samples_ns, readings })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One worker, two dimensions, k = 1 by hand: g = −a·b; the larger goes, the smaller is owed and goes later.
    #[test]
    fn the_rest_is_owed() {
        let problem = Problem { curvature: vec![1.0, 1.0], minima: vec![vec![2.0, 1.0]], optimum: vec![2.0, 1.0] };
        let first = descend(&problem, 1, 1, 1);
        assert_eq!(first.x, [2.0, 0.0], "only the larger entry was sent");
        let second = descend(&problem, 1, 1, 2);
        // Owed −1, and −1 ÷ (1 + 1/50) more: both go at once.
        assert!((second.x[1] - (1.0 + 50.0 / 51.0)).abs() < 1e-12, "{:?}", second.x);
        assert!(first.gap < 1e-12 && second.gap < 1e-12);
    }

    /// Against the model's own descent, which sorts.
    #[test]
    fn selection_and_sorting_agree() {
        let problem = Problem::new(64, 4, 1);
        for (mode, key) in [(0, "dense"), (1, "with_feedback"), (2, "without_feedback")] {
            let excess = problem.excess(&descend(&problem, mode, 4, 300).x);
            let question = serde_json::json!({"dims": 64, "workers": 4, "k": 4, "steps": 300});
            let model = vramlab_model::eval("topk_descent", question.as_object().unwrap()).unwrap()[key].clone();
            assert!((excess / model.as_f64().unwrap() - 1.0).abs() < 1e-6, "{key}: {excess} {model}");
        }
    }
}
