//! Quantities that cross function boundaries. GB is 10⁹ bytes, GiB is 2³⁰.

use serde::{Deserialize, Serialize};
use std::ops::{Add, Div, Mul};

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// A byte address. Not a size: the difference of two is a [`Bytes`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ByteAddr(pub u64);

/// A duration in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nanos(pub f64);

/// A rate in 10⁹ bytes per second, as data sheets quote it.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GbPerSec(pub f64);

/// A dimensionless ratio; 1.0 is "equal", and 100 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ratio(pub f64);

impl Bytes {
    pub const KIB: Self = Self(1 << 10);
    pub const MIB: Self = Self(1 << 20);
    pub const GIB: Self = Self(1 << 30);
}

impl Nanos {
    pub fn as_secs(self) -> f64 {
        self.0 * 1e-9
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Mul<u64> for Bytes {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }
}

impl Div<Nanos> for Bytes {
    type Output = GbPerSec; // decimal, as data sheets quote it
    fn div(self, time: Nanos) -> GbPerSec {
        GbPerSec(self.0 as f64 / time.0) // one byte per nanosecond is exactly 1 GB/s
    }
}

impl Div<GbPerSec> for Bytes {
    type Output = Nanos;
    fn div(self, rate: GbPerSec) -> Nanos {
        Nanos(self.0 as f64 / rate.0)
    }
}
