//! Seeded numbers: parameters and data are the same for the same seed on every device.

use crate::net::{Param, Start, Workload};
use vramlab_units::Random;

/// The same sequence everywhere, one for each tensor.
pub struct Seeded(Random);

impl Seeded {
    pub fn new(seed: u64, stream: u64) -> Self {
        Self(Random::new(seed ^ stream.wrapping_mul(0xd134_2543_de82_ef95)))
    }

    pub fn word(&mut self) -> u64 {
        self.0.word()
    }

    /// Evenly in −1 to 1, with 23 bits, so that single precision holds it exactly.
    pub fn even(&mut self) -> f64 {
        (self.word() >> 41) as f64 / f64::from(1 << 22) - 1.0
    }
}

/// The first values of a parameter.
pub fn param(seed: u64, idx: usize, param: &Param) -> Vec<f64> {
    let mut seeded = Seeded::new(seed, idx as u64 + 1);
    (0..param.words)
        .map(|_| match param.start {
            Start::One => 1.0,
            // Rounded to single precision, so that every format starts from the same numbers.
            Start::Even(most) => f64::from((seeded.even() * most) as f32),
        })
        .collect()
}

/// Input and classes of samples `first .. first + n`.
pub fn samples(work: &Workload, first: usize, n: usize) -> (Vec<f64>, Vec<f64>) {
    let mut x = Vec::with_capacity(n * work.seq_len * work.width);
    let mut classes = Vec::with_capacity(n * work.seq_len);
    for sample in first..first + n {
        let mut seeded = Seeded::new(work.seed, (1 << 32) + sample as u64);
        x.extend((0..work.seq_len * work.width).map(|_| seeded.even()));
        classes.extend((0..work.seq_len).map(|_| (seeded.word() % work.n_classes as u64) as f64));
    }
    (x, classes)
}
