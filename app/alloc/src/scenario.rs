//! Traces and policies by number: what an experiment plays on a real card, and a model on a simulated one.

use crate::MIB;
use crate::bfc::Options;
use crate::caching::Config;
use crate::generate::Pattern;
use crate::replay::Kind;
use crate::trace::{Trace, TraceError};

/// A trace by its number in [`Scenario::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scenario {
    /// Requests and frees at random, of all sizes up to 16 MiB.
    Random,
    /// Three blocks of 6 MiB of which the middle one stays, then 10 and 12 MiB.
    TwoHoles,
    /// Three training steps of six layers.
    Training,
    /// Every step needs a MiB more than the one before.
    Growing,
}

impl Scenario {
    pub const ALL: [Self; 4] = [Self::Random, Self::TwoHoles, Self::Training, Self::Growing];

    /// The scenario of a number.
    pub fn of(number: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }

    pub fn trace(self, seed: u64) -> Result<Trace, TraceError> {
        match self {
            Self::Random => Pattern::Random { n_events: 400, n_live: 70, most_bytes: 16 * MIB }.trace(seed),
            Self::TwoHoles => Trace::parse("a:6M b:6M c:6M -a -c d:10M e:12M"),
            Self::Training => Pattern::TrainingStep { n_layers: 6, n_steps: 3 }.trace(seed),
            Self::Growing => {
                Pattern::GrowingSequence { n_steps: 24, first_bytes: 32 * MIB, step_bytes: MIB }.trace(seed)
            }
        }
    }
}

/// An allocator by its number in [`Policy::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// `cudaMalloc` and `cudaFree` each time.
    Plain,
    /// PyTorch's, with its defaults.
    Native,
    /// PyTorch's, with expandable segments.
    Expandable,
    /// TensorFlow's, growing.
    BfcGrowth,
    /// TensorFlow's, with the whole card from the start.
    BfcFixed,
    /// `cudaMallocAsync` that keeps what it took.
    PoolKeep,
    /// `cudaMallocAsync` with its default threshold of 0.
    PoolZero,
}

impl Policy {
    pub const ALL: [Self; 7] =
        [Self::Plain, Self::Native, Self::Expandable, Self::BfcGrowth, Self::BfcFixed, Self::PoolKeep, Self::PoolZero];

    /// The policy of a number.
    pub fn of(number: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// The allocator over a card of this size.
    pub fn kind(self, capacity_bytes: u64) -> Kind {
        match self {
            Self::Plain => Kind::Plain,
            Self::Native => Kind::Caching(Config::default()),
            Self::Expandable => Kind::Caching(Config { expandable_segments: true, ..Config::default() }),
            Self::BfcGrowth => Kind::Bfc(Options::growing(capacity_bytes)),
            Self::BfcFixed => Kind::Bfc(Options::fixed(capacity_bytes)),
            Self::PoolKeep => Kind::StreamPool { release_threshold_bytes: u64::MAX },
            Self::PoolZero => Kind::StreamPool { release_threshold_bytes: 0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay;

    /// Brief 24: under 40 MiB the native allocator refuses the last request, because no hole holds it.
    #[test]
    fn two_holes_end_at_the_last_request() {
        let refused = |policy: Policy| {
            let trace = Scenario::TwoHoles.trace(0).unwrap();
            let steps = replay::run(&trace, &policy.kind(40 * MIB), 40 * MIB);
            steps.iter().position(|step| step.refusal.is_some())
        };
        assert_eq!(refused(Policy::Native), Some(6));
        assert_eq!(refused(Policy::Expandable), None);
    }

    #[test]
    fn numbers_name_scenarios_and_policies() {
        for (number, scenario) in (0..).zip(Scenario::ALL) {
            assert_eq!(Scenario::of(number), Some(scenario));
            assert!(scenario.trace(1).is_ok());
        }
        assert_eq!((Scenario::of(4), Policy::of(7)), (None, None));
    }
}
