//! Gradients of which only the largest are sent, and the debt that keeps what was not.
//!
//! p = g + residual; the k largest magnitudes of p go, the lower index of equals; residual = p − sent. Source: Stich et al.
//! 2018 (Sparsified SGD with memory); Karimireddy et al. 2019 (error feedback fixes SignSGD). The problem to try it on is
//! convex with a known optimum: workers whose quadratics have their minima at different places, so that gradients cancel only
//! in their sum.

use crate::problem::finite;
use crate::{Problem, Random};

/// What one round sends: places, in the order of their size, and the vector with zeros elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Sent {
    pub places: Vec<usize>,
    pub values: Vec<f64>,
}

/// Sends the largest `k` of `gradient + residual` and keeps the rest in `residual`.
pub fn send(gradient: &[f64], residual: &mut [f64], k: usize) -> Result<Sent, Problem> {
    let n = gradient.len();
    if !(1..=n).contains(&k) {
        let en = format!("k = {k} must be an integer from 1 to {n}");
        return Err(Problem::new("k", format!("k = {k} 应是 1 到 {n} 的整数"), en));
    }
    if residual.len() != n {
        let m = residual.len();
        let en = format!("a residual of {m} values for a gradient of {n}");
        return Err(Problem::new("gradient", format!("残差有 {m} 个值，梯度有 {n} 个"), en));
    }
    finite(gradient)?;
    for (debt, value) in residual.iter_mut().zip(gradient) {
        *debt += value;
    }
    let mut places: Vec<usize> = (0..n).collect();
    // Stable: of equals the lower place first.
    places.sort_by(|a, b| residual[*b].abs().total_cmp(&residual[*a].abs()));
    places.truncate(k);
    let mut values = vec![0.0; n];
    for place in &places {
        values[*place] = std::mem::take(&mut residual[*place]);
    }
    Ok(Sent { places, values })
}

/// Workers with f_w(x) = ½ Σ aᵢ (xᵢ − b_wᵢ)²: the optimum of their mean is the mean of the b_w.
#[derive(Clone, Debug)]
pub struct Quadratics {
    curvature: Vec<f64>,
    /// One a worker.
    minima: Vec<Vec<f64>>,
    pub optimum: Vec<f64>,
}

/// What is sent of each worker's gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compress {
    Nothing,
    TopK { k: usize, has_feedback: bool },
}

impl Quadratics {
    /// Curvatures between 0.1 and 1, minima normal around a common place.
    pub fn new(n_dims: usize, n_workers: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let curvature: Vec<f64> = (0..n_dims).map(|_| 0.1 + 0.9 * random.unit()).collect();
        let common: Vec<f64> = (0..n_dims).map(|_| 3.0 * random.normal()).collect();
        let minima: Vec<Vec<f64>> =
            (0..n_workers.max(1)).map(|_| common.iter().map(|place| place + random.normal()).collect()).collect();
        let mean = |dim: usize| minima.iter().map(|one| one[dim]).sum::<f64>() / minima.len() as f64;
        let optimum = (0..n_dims).map(mean).collect();
        Self { curvature, minima, optimum }
    }

    /// f(x) − f(optimum): ½ Σ aᵢ (xᵢ − x*ᵢ)².
    pub fn excess(&self, x: &[f64]) -> f64 {
        let part = |((x, best), a): ((&f64, &f64), &f64)| 0.5 * a * (x - best).powi(2);
        x.iter().zip(&self.optimum).zip(&self.curvature).map(part).sum()
    }

    /// Gradient descent from zero with rate `rate` ÷ (1 + step ÷ `decay`); the excess before each step and after the last.
    pub fn descend(&self, compress: Compress, n_steps: usize, rate: f64, decay: f64) -> Result<Vec<f64>, Problem> {
        let n = self.curvature.len();
        let mut x = vec![0.0; n];
        let mut residuals = vec![vec![0.0; n]; self.minima.len()];
        let mut history = vec![self.excess(&x)];
        for step in 0..n_steps {
            let rate = rate / (1.0 + step as f64 / decay);
            let mut sum = vec![0.0; n];
            for (minimum, residual) in self.minima.iter().zip(&mut residuals) {
                // The rate is part of what is sent, so that the debt stays right when it falls.
                let gradient: Vec<f64> =
                    (0..n).map(|dim| rate * self.curvature[dim] * (x[dim] - minimum[dim])).collect();
                let sent = match compress {
                    Compress::Nothing => gradient,
                    Compress::TopK { k, has_feedback } => {
                        if !has_feedback {
                            residual.fill(0.0);
                        }
                        send(&gradient, residual, k)?.values
                    }
                };
                sum.iter_mut().zip(sent).for_each(|(sum, value)| *sum += value);
            }
            x.iter_mut().zip(sum).for_each(|(x, sum)| *x -= sum / self.minima.len() as f64);
            history.push(self.excess(&x));
        }
        Ok(history)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Brief 25, fourth vector.
    #[test]
    fn the_vector_of_the_brief() {
        let gradient = [0.5, -0.4, 0.3, -0.2];
        let mut residual = [0.0; 4];
        let mut total = [0.0; 4];
        let mut places = Vec::new();
        for _ in 0..6 {
            let sent = send(&gradient, &mut residual, 1).unwrap();
            places.extend(sent.places);
            total.iter_mut().zip(sent.values).for_each(|(total, value)| *total += value);
        }
        assert_eq!(places, [0, 1, 0, 2, 1, 0]);
        for (idx, (sent, left)) in [3.0, -2.0, 1.2, 0.0].iter().zip([0.0, -0.4, 0.6, -1.2]).enumerate() {
            assert!(
                (total[idx] - sent).abs() < 1e-12 && (residual[idx] - left).abs() < 1e-12,
                "{total:?} {residual:?}"
            );
            assert!((total[idx] + residual[idx] - 6.0 * gradient[idx]).abs() < 1e-12, "nothing is lost");
        }
        assert_eq!(send(&gradient, &mut residual, 0).unwrap_err().field, "k");
        assert_eq!(send(&gradient, &mut residual, 5).unwrap_err().to_string(), "k = 5 must be an integer from 1 to 4");
        assert_eq!(send(&gradient, &mut [0.0], 1).unwrap_err().field, "gradient");
        assert_eq!(send(&[f64::NAN; 4], &mut residual, 1).unwrap_err().field, "values");
        assert_eq!(send(&[1.0, -1.0, 1.0], &mut [0.0; 3], 2).unwrap().places, [0, 1], "ties take the lower index");
    }

    /// With the debt the optimum is met at a sixteenth of the traffic; without it the descent stalls.
    #[test]
    fn feedback_finds_the_optimum() {
        let problem = Quadratics::new(64, 4, 1);
        let end = |compress| *problem.descend(compress, 4_000, 1.0, 50.0).unwrap().last().unwrap();
        let start = problem.excess(&[0.0; 64]);
        let dense = end(Compress::Nothing);
        let with = end(Compress::TopK { k: 4, has_feedback: true });
        let without = end(Compress::TopK { k: 4, has_feedback: false });
        assert!(dense < 1e-9 * start, "{dense}");
        assert!(with < 1e-4 * start, "{with} of {start}");
        assert!(without > 100.0 * with, "{without} and {with}");
        // All of the gradient, with or without debt, is plain descent.
        let all = problem.descend(Compress::TopK { k: 64, has_feedback: true }, 50, 1.0, 200.0).unwrap();
        let plain = problem.descend(Compress::Nothing, 50, 1.0, 200.0).unwrap();
        assert!(all.iter().zip(&plain).all(|(a, b)| (a - b).abs() <= 1e-9 * (1.0 + b)));
    }
}
