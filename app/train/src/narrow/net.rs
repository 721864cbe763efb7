//! The net: layers of `gelu(x · W + b)` of any widths, out of the device's own operations, on the processor.

use super::squeeze::Matrix;
use super::task::Digits;
use crate::cpu::Cpu;
use crate::device::{Adam, Buf, Device as _, Op, Trouble};
use vramlab_units::Random;

/// One matrix product with a bias.
#[derive(Clone, Copy)]
struct Layer {
    from: usize,
    to: usize,
    /// Not bent: the first of two thin factors, and the last layer.
    is_bent: bool,
    w: Buf,
    b: Buf,
    /// Gradient and both moments of each.
    state: [[Buf; 3]; 2],
}

/// The widths that a net begins with, and what of it is not plain.
#[derive(Clone, Debug)]
pub struct Widths {
    /// Inputs, then units of each layer.
    pub of: Vec<usize>,
    /// Layers without a bend: the first of two thin factors.
    pub straight: Vec<usize>,
}

pub struct Net {
    cpu: Cpu<f32>,
    layers: Vec<Layer>,
    n_steps: i32,
}

/// What a pass leaves: the input of each layer, and its sums before the bend.
struct Pass {
    inputs: Vec<Buf>,
    sums: Vec<Buf>,
}

impl Net {
    pub fn new(widths: &Widths, seed: u64) -> Result<Self, Trouble> {
        let mut net = Self { cpu: Cpu::default(), layers: Vec::new(), n_steps: 0 };
        let mut random = Random::new(seed);
        let last = widths.of.len().saturating_sub(2);
        for (idx, pair) in widths.of.windows(2).enumerate() {
            let (from, to) = (pair[0], pair[1]);
            let spread = (2.0 / from as f64).sqrt();
            let weights: Vec<f64> = (0..from * to).map(|_| spread * random.normal()).collect();
            let is_bent = idx != last && !widths.straight.contains(&idx);
            let (w, b) = (net.made(&weights)?, net.made(&vec![0.0; to])?);
            let mut state = |n: usize| -> Result<[Buf; 3], Trouble> {
                Ok([net.made(&vec![0.0; n])?, net.made(&vec![0.0; n])?, net.made(&vec![0.0; n])?])
            };
            let state = [state(from * to)?, state(to)?];
            net.layers.push(Layer { from, to, is_bent, w, b, state });
        }
        Ok(net)
    }

    fn made(&mut self, values: &[f64]) -> Result<Buf, Trouble> {
        let bytes = values.len() as u64 * 4;
        let buf = self.cpu.malloc(values.len())?;
        let buf = buf.ok_or(Trouble::Refused { asked_bytes: bytes, live_bytes: self.cpu.held_bytes()[0] })?;
        self.cpu.put(buf, values)?;
        Ok(buf)
    }

    pub fn n_layers(&self) -> usize {
        self.layers.len()
    }

    /// Units and inputs of a layer.
    pub fn shape(&self, idx: usize) -> [usize; 2] {
        [self.layers[idx].to, self.layers[idx].from]
    }

    /// Biases, of which every form keeps four bytes.
    pub fn n_biases(&self) -> usize {
        self.layers.iter().map(|layer| layer.to).sum()
    }

    /// The weights of a layer, a row a unit.
    pub fn matrix(&mut self, idx: usize) -> Result<Matrix, Trouble> {
        let (rows, cols, w) = (self.layers[idx].to, self.layers[idx].from, self.layers[idx].w);
        let held = self.cpu.get(w, rows * cols)?;
        let values = (0..rows * cols).map(|at| held[at % cols * rows + at / cols]).collect();
        Ok(Matrix { rows, cols, values })
    }

    pub fn set_matrix(&mut self, idx: usize, matrix: &Matrix) -> Result<(), Trouble> {
        let (rows, cols) = (matrix.rows, matrix.cols);
        let held: Vec<f64> = (0..rows * cols).map(|at| matrix.values[at % rows * cols + at / rows]).collect();
        self.cpu.put(self.layers[idx].w, &held)
    }

    pub fn biases(&mut self, idx: usize) -> Result<Vec<f64>, Trouble> {
        let (b, n) = (self.layers[idx].b, self.layers[idx].to);
        self.cpu.get(b, n)
    }

    pub fn set_biases(&mut self, idx: usize, values: &[f64]) -> Result<(), Trouble> {
        self.cpu.put(self.layers[idx].b, values)
    }

    fn forward(&mut self, x: &[f64], rows: usize) -> Result<(Pass, Vec<f64>), Trouble> {
        let mut pass = Pass { inputs: vec![self.made(x)?], sums: Vec::new() };
        let mut logits = Vec::new();
        for idx in 0..self.layers.len() {
            let Layer { from, to, is_bent, w, b, .. } = self.layers[idx];
            let (input, sums) = (pass.inputs[idx], self.made(&vec![0.0; rows * to])?);
            let (m, n, k) = (rows, to, from);
            self.cpu.run(&Op::Gemm { out: sums, a: input, b: w, m, n, k, ta: false, tb: false, add: false })?;
            self.cpu.run(&Op::Bias { y: sums, bias: b, rows, cols: to })?;
            pass.sums.push(sums);
            if idx + 1 == self.layers.len() {
                logits = self.cpu.get(sums, rows * to)?;
            } else if is_bent {
                let y = self.made(&vec![0.0; rows * to])?;
                self.cpu.run(&Op::Gelu { y, x: sums, n: rows * to })?;
                pass.inputs.push(y);
            } else {
                pass.inputs.push(sums);
            }
        }
        Ok((pass, logits))
    }

    /// Leaves the gradients in the layers' state. `slopes`: the gradient of the logits.
    fn backward(&mut self, pass: &Pass, slopes: &[f64], rows: usize) -> Result<(), Trouble> {
        let mut dy = self.made(slopes)?;
        for idx in (0..self.layers.len()).rev() {
            let Layer { from, to, w, state, .. } = self.layers[idx];
            let (m, n, k) = (from, to, rows);
            let input = pass.inputs[idx];
            self.cpu.run(&Op::Gemm { out: state[0][0], a: input, b: dy, m, n, k, ta: true, tb: false, add: false })?;
            self.cpu.run(&Op::BiasGrad { out: state[1][0], dy, rows, cols: to, add: false })?;
            if idx > 0 {
                let dx = self.made(&vec![0.0; rows * from])?;
                let (m, n, k) = (rows, from, to);
                self.cpu.run(&Op::Gemm { out: dx, a: dy, b: w, m, n, k, ta: false, tb: true, add: false })?;
                if self.layers[idx - 1].is_bent {
                    let x = pass.sums[idx - 1];
                    self.cpu.run(&Op::GeluBack { dx, dy: dx, x, n: rows * from })?;
                }
                self.cpu.free(dy)?;
                dy = dx;
            }
        }
        self.cpu.free(dy)
    }

    fn drop_pass(&mut self, pass: Pass) -> Result<(), Trouble> {
        let mut bufs: Vec<Buf> = pass.inputs.into_iter().chain(pass.sums).collect();
        bufs.sort_unstable();
        bufs.dedup();
        bufs.into_iter().try_for_each(|buf| self.cpu.free(buf))
    }

    /// One row of logits a picture.
    pub fn logits(&mut self, x: &[f64]) -> Result<Vec<f64>, Trouble> {
        let rows = x.len() / self.layers.first().map_or(1, |layer| layer.from);
        let (pass, logits) = self.forward(x, rows)?;
        self.drop_pass(pass)?;
        Ok(logits)
    }

    /// Loss against `wanted`, a row of shares of the classes for each picture; its gradients stay.
    pub fn gradients(&mut self, x: &[f64], wanted: &[f64], rows: usize) -> Result<f64, Trouble> {
        let (pass, logits) = self.forward(x, rows)?;
        let cols = logits.len() / rows;
        let shares = softmax(&logits, cols);
        let loss = -shares.iter().zip(wanted).map(|(p, want)| want * p.max(1e-300).ln()).sum::<f64>() / rows as f64;
        let slopes: Vec<f64> = shares.iter().zip(wanted).map(|(p, want)| (p - want) / rows as f64).collect();
        self.backward(&pass, &slopes, rows)?;
        self.drop_pass(pass)?;
        Ok(loss)
    }

    /// The gradient of a layer's weights, a row a unit.
    pub fn gradient(&mut self, idx: usize) -> Result<Vec<f64>, Trouble> {
        let Layer { from, to, state, .. } = self.layers[idx];
        let held = self.cpu.get(state[0][0], from * to)?;
        Ok((0..from * to).map(|at| held[at % from * to + at / from]).collect())
    }

    /// One AdamW step at this rate.
    pub fn update(&mut self, rate: f64) -> Result<(), Trouble> {
        self.n_steps += 1;
        let (beta1, beta2) = (0.9_f64, 0.999_f64);
        let (correct1, correct2) = (1.0 - beta1.powi(self.n_steps), 1.0 - beta2.powi(self.n_steps));
        for Layer { from, to, w, b, state, .. } in &self.layers {
            for ((w, [g, m, v]), (n, decay)) in [*w, *b].into_iter().zip(*state).zip([(from * to, 0.01), (*to, 0.0)]) {
                let adam = Adam { rate, beta1, beta2, eps: 1e-8, decay, correct1, correct2 };
                self.cpu.run(&Op::AdamW { w, g, m, v, n, adam })?;
            }
        }
        Ok(())
    }

    /// Mean loss in nats, and the share of pictures that are taken for another digit.
    pub fn examine(&mut self, digits: &Digits) -> Result<[f64; 2], Trouble> {
        let logits = self.logits(&digits.x)?;
        let cols = logits.len() / digits.len().max(1);
        let shares = softmax(&logits, cols);
        let (mut loss, mut n_wrong) = (0.0, 0_usize);
        for (row, class) in shares.chunks_exact(cols).zip(&digits.classes) {
            loss -= row[*class].max(1e-300).ln();
            n_wrong += usize::from(row.iter().any(|share| *share > row[*class]));
        }
        let n = digits.len() as f64;
        Ok([loss / n, n_wrong as f64 / n])
    }
}

/// Shares of the classes, row by row.
pub fn softmax(logits: &[f64], cols: usize) -> Vec<f64> {
    let mut out = Vec::with_capacity(logits.len());
    for row in logits.chunks_exact(cols.max(1)) {
        let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let each: Vec<f64> = row.iter().map(|value| (value - most).exp()).collect();
        let sum: f64 = each.iter().sum();
        out.extend(each.iter().map(|value| value / sum));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Net {
        Net::new(&Widths { of: vec![6, 5, 3, 4], straight: vec![1] }, 7).unwrap()
    }

    /// Central differences of the loss, weight by weight.
    #[test]
    fn gradients_are_slopes_of_the_loss() {
        let mut random = Random::new(2);
        let x: Vec<f64> = (0..4 * 6).map(|_| random.normal()).collect();
        let wanted = softmax(&(0..16).map(|_| random.normal()).collect::<Vec<_>>(), 4);
        let mut net = small();
        net.gradients(&x, &wanted, 4).unwrap();
        for idx in 0..3 {
            let slopes = net.gradient(idx).unwrap();
            let at_first = net.matrix(idx).unwrap();
            for (at, slope) in slopes.iter().enumerate() {
                let loss = |by: f64| {
                    let mut moved = at_first.clone();
                    moved.values[at] += by;
                    let mut net = small();
                    net.set_matrix(idx, &moved).unwrap();
                    net.gradients(&x, &wanted, 4).unwrap()
                };
                let measured = (loss(1e-2) - loss(-1e-2)) / 2e-2;
                assert!((measured - slope).abs() < 2e-3, "layer {idx}, {at}: {measured} for {slope}");
            }
        }
    }

    #[test]
    fn nothing_of_a_pass_stays() {
        let mut net = small();
        let held = net.cpu.held_bytes()[0];
        net.gradients(&[0.5; 12], &[0.25; 8], 2).unwrap();
        net.logits(&[0.5; 12]).unwrap();
        assert_eq!(net.cpu.held_bytes()[0], held);
    }

    #[test]
    fn a_matrix_comes_back_as_it_was_set() {
        let mut net = small();
        let matrix = net.matrix(0).unwrap();
        assert_eq!((matrix.rows, matrix.cols), (5, 6));
        net.set_matrix(0, &matrix).unwrap();
        assert_eq!(net.matrix(0).unwrap(), matrix);
    }
}
