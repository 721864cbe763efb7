//! Seeded traces to start from: a training step, sequences that grow, sizes that alternate.

use crate::MIB;
use crate::trace::{Builder, Event, Trace, TraceError};

/// xorshift64*: the same numbers on every machine.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `end`; 0 for an `end` of 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let wide = u128::from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)) * u128::from(end);
        (wide >> 64) as u64
    }
}

/// A seeded pattern, as the presets of a trace editor name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Parameters and optimizer states stay; activations live from forward to backward, workspaces for an instant.
    TrainingStep { n_layers: u32, n_steps: u32 },
    /// Every step needs a little more than the one before, and frees all of it.
    GrowingSequence { n_steps: u32, first_bytes: u64, step_bytes: u64 },
    /// A large and a small request in turn; every other small one stays.
    AlternatingSizes { n_pairs: u32, large_bytes: u64, small_bytes: u64 },
    /// Requests and frees at random, at most `n_live` alive.
    Random { n_events: u32, n_live: u32, most_bytes: u64 },
}

impl Pattern {
    /// The trace of a seed. Fails only where a size of the pattern is too large.
    pub fn trace(self, seed: u64) -> Result<Trace, TraceError> {
        let mut writer = Writer { builder: Builder::default(), random: Random::new(seed), n_named: 0 };
        match self {
            Self::TrainingStep { n_layers, n_steps } => writer.training(n_layers, n_steps)?,
            Self::GrowingSequence { n_steps, first_bytes, step_bytes } => {
                writer.growing(n_steps, first_bytes, step_bytes)?;
            }
            Self::AlternatingSizes { n_pairs, large_bytes, small_bytes } => {
                writer.alternating(n_pairs, large_bytes, small_bytes)?;
            }
            Self::Random { n_events, n_live, most_bytes } => writer.at_random(n_events, n_live, most_bytes)?,
        }
        Ok(writer.builder.finish())
    }
}

struct Writer {
    builder: Builder,
    random: Random,
    n_named: u64,
}

impl Writer {
    fn take(&mut self, kind: &str, bytes: u64) -> Result<String, TraceError> {
        let name = format!("{kind}{}", self.n_named);
        self.n_named += 1;
        self.builder.malloc(&name, bytes.into(), 0)?;
        Ok(name)
    }

    fn give(&mut self, name: &str) -> Result<(), TraceError> {
        self.builder.free(name, None)
    }

    /// `bytes`, give or take an eighth.
    fn about(&mut self, bytes: u64) -> u64 {
        bytes - bytes / 8 + self.random.below(bytes / 4 + 1)
    }

    fn training(&mut self, n_layers: u32, n_steps: u32) -> Result<(), TraceError> {
        let weights: Vec<u64> = (0..n_layers).map(|_| self.about(12 * MIB)).collect();
        let activations: Vec<u64> = (0..n_layers).map(|_| self.about(6 * MIB)).collect();
        for bytes in &weights {
            self.take("w", *bytes)?;
            self.take("bias", 4096)?;
        }
        for step in 0..n_steps {
            let mut held = Vec::new();
            for bytes in &activations {
                held.push(self.take("act", *bytes)?);
                let scratch = self.take("ws", *bytes / 2)?;
                self.give(&scratch)?;
            }
            let mut gradients = Vec::new();
            let mut upstream = self.take("dact", activations.last().copied().unwrap_or(MIB))?;
            for layer in (0..n_layers as usize).rev() {
                gradients.push(self.take("dw", weights[layer])?);
                let next = self.take("dact", activations[layer])?;
                self.give(&upstream)?;
                upstream = next;
                if let Some(activation) = held.pop() {
                    self.give(&activation)?;
                }
            }
            self.give(&upstream)?;
            if step == 0 {
                for bytes in &weights {
                    self.take("m", *bytes)?;
                    self.take("v", *bytes)?;
                }
            }
            for gradient in gradients {
                self.give(&gradient)?;
            }
            self.builder.other(Event::Sync)?;
        }
        Ok(())
    }

    fn growing(&mut self, n_steps: u32, first_bytes: u64, step_bytes: u64) -> Result<(), TraceError> {
        for step in 0..u64::from(n_steps) {
            let bytes = first_bytes.saturating_add(step_bytes.saturating_mul(step));
            let both = [self.take("act", bytes)?, self.take("half", bytes / 2)?];
            for name in both {
                self.give(&name)?;
            }
        }
        Ok(())
    }

    fn alternating(&mut self, n_pairs: u32, large_bytes: u64, small_bytes: u64) -> Result<(), TraceError> {
        for pair in 0..n_pairs {
            let large = self.take("large", large_bytes)?;
            let small = self.take("small", small_bytes)?;
            self.give(&large)?;
            if pair % 2 == 1 {
                self.give(&small)?;
            }
        }
        Ok(())
    }

    fn at_random(&mut self, n_events: u32, n_live: u32, most_bytes: u64) -> Result<(), TraceError> {
        let mut live: Vec<String> = Vec::new();
        let n_doublings = u64::from(most_bytes.max(1).ilog2()) + 1;
        for _ in 0..n_events {
            let is_full = live.len() >= n_live as usize;
            if live.is_empty() || (!is_full && self.random.below(100) < 55) {
                let power = 1 << self.random.below(n_doublings);
                let bytes = (power + self.random.below(power)).min(most_bytes);
                live.push(self.take("r", bytes)?);
            } else {
                let idx = self.random.below(live.len() as u64) as usize;
                let name = live.swap_remove(idx);
                self.give(&name)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_trace_and_another_seed_another() {
        let pattern = Pattern::TrainingStep { n_layers: 4, n_steps: 2 };
        assert_eq!(pattern.trace(7), pattern.trace(7));
        assert_ne!(pattern.trace(7), pattern.trace(8));
    }

    /// 8 for the weights and biases, 3 a layer forward and backward and one more each step, 2 states a layer once.
    #[test]
    fn a_training_step_has_its_requests() {
        let trace = Pattern::TrainingStep { n_layers: 4, n_steps: 2 }.trace(1).unwrap();
        assert_eq!(trace.n_requests(), 8 + 2 * (4 * 2 + 1 + 4 * 2) + 8);
    }

    #[test]
    fn the_growing_batch_of_the_chapter() {
        let pattern = Pattern::GrowingSequence { n_steps: 4, first_bytes: 32 * MIB, step_bytes: MIB };
        assert_eq!(pattern.trace(0).unwrap(), {
            let words = "act0:32M half1:16M -act0 -half1 act2:33M half3:16.5M -act2 -half3 \
                         act4:34M half5:17M -act4 -half5 act6:35M half7:17.5M -act6 -half7";
            Trace::parse(words).unwrap()
        });
    }

    #[test]
    fn random_requests_stay_within_their_bounds() {
        let trace = Pattern::Random { n_events: 5000, n_live: 50, most_bytes: 1000 }.trace(3).unwrap();
        let mut n_live = 0_i32;
        for event in trace.events() {
            match event {
                Event::Malloc { bytes, .. } => {
                    assert!((1..=1000).contains(bytes));
                    n_live += 1;
                }
                _ => n_live -= 1,
            }
            assert!((0..=50).contains(&n_live));
        }
        assert_eq!(trace.events().len(), 5000);
    }
}
