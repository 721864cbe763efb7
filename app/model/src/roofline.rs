//! The roofline: the best rate a kernel can reach under a compute ceiling and the bandwidth of each memory level.
//!
//! Question: FLOPs, bytes at each level, the ceilings, optionally a fixed floor (a launch) and a measured time. Answer:
//! intensity and attainable rate at each level, the ceiling that binds, the shortest time, and how much of it a
//! measured time uses.
//! Assumption: work and every transfer overlap fully, and each runs at its ceiling throughout. A kernel short of bytes
//! in flight (`bytes_in_flight`) stays below all roofs; the model does not see that. A level without bytes sets no limit.
//! Source: S. Williams, A. Waterman, D. Patterson, "Roofline: An Insightful Visual Performance Model for Multicore
//! Architectures", CACM 52(4), 2009; levels as in C. Yang, T. Kurth, S. Williams, "Hierarchical Roofline Analysis for
//! GPUs: Accelerating Performance Optimization for the NERSC-9 Perlmutter System", Concurrency and Computation 32(20),
//! 2020.
//! Errors: ceilings that are not positive, a level with bytes but no ceiling or the reverse, no work at all, and a
//! measured time that is shorter than the ceilings allow: then the counters or a ceiling are wrong.

mod wrap;

pub use wrap::Roofline;

/// A measured time may fall short of the floor by this factor before the answer is refused: clocks and counters are
/// that exact.
pub const MOST_UTILISATION: f64 = 1.02;

/// Traffic at one memory level and what the level can carry. FLOP/s and bytes/s throughout this file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    pub bytes: f64,
    pub bytes_per_s: f64,
}

impl Level {
    pub fn secs(&self) -> f64 {
        self.bytes / self.bytes_per_s
    }

    /// FLOP per byte; `None` where nothing moves.
    pub fn intensity(&self, flops: f64) -> Option<f64> {
        (self.bytes > 0.0).then(|| flops / self.bytes)
    }

    /// The rate under this level's slope alone.
    pub fn flop_per_s(&self, flops: f64) -> Option<f64> {
        self.intensity(flops).map(|intensity| intensity * self.bytes_per_s)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    pub flops: f64,
    pub flop_per_s: f64,
    pub hbm: Level,
    pub l2: Option<Level>,
    pub l1: Option<Level>,
    /// A time below which no launch comes.
    pub floor_secs: f64,
}

/// What sets the shortest time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    Compute,
    Hbm,
    L2,
    L1,
    Launch,
}

impl Bound {
    pub const ALL: [Self; 5] = [Self::Compute, Self::Hbm, Self::L2, Self::L1, Self::Launch];

    pub fn id(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Hbm => "hbm",
            Self::L2 => "l2",
            Self::L1 => "l1",
            Self::Launch => "launch",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    pub attainable_flop_per_s: f64,
    pub bound: Bound,
    pub floor_secs: f64,
    /// FLOP per byte at which the HBM slope meets the compute ceiling.
    pub ridge: f64,
}

/// `None` if there is nothing to do: no FLOP and no byte.
pub fn run(question: &Question) -> Option<Answer> {
    let Question { flops, flop_per_s, hbm, l2, l1, floor_secs } = *question;
    let times = [
        (Bound::Compute, flops / flop_per_s),
        (Bound::Hbm, hbm.secs()),
        (Bound::L2, l2.map_or(0.0, |level| level.secs())),
        (Bound::L1, l1.map_or(0.0, |level| level.secs())),
        (Bound::Launch, floor_secs),
    ];
    // Of equal times the first counts: on the ridge a kernel has the whole compute ceiling.
    let longest = times.into_iter().fold((Bound::Compute, 0.0), |best, next| if next.1 > best.1 { next } else { best });
    let (bound, floor) = longest;
    let slope = |level: Option<Level>| level.and_then(|level| level.flop_per_s(flops));
    let attainable = match bound {
        Bound::Compute => Some(flop_per_s),
        Bound::Hbm => slope(Some(hbm)),
        Bound::L2 => slope(l2),
        Bound::L1 => slope(l1),
        Bound::Launch => Some(flops / floor),
    };
    (floor > 0.0).then(|| Answer {
        attainable_flop_per_s: attainable.unwrap_or_default(),
        bound,
        floor_secs: floor,
        ridge: flop_per_s / hbm.bytes_per_s,
    })
}

/// The share of a measured time that the ceilings explain; above [`MOST_UTILISATION`] one of the inputs is wrong.
pub fn utilisation(floor_secs: f64, measured_secs: f64) -> f64 {
    floor_secs / measured_secs
}

#[cfg(test)]
mod tests;
