//! Single and double precision behind one name.

use std::ops::{Add, AddAssign, Div, Mul, Sub};

pub trait Real:
    Copy
    + Default
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + 'static
{
    const BYTES: u64;
    fn of(value: f64) -> Self;
    fn wide(self) -> f64;
    fn exp(self) -> Self;
    fn ln(self) -> Self;
    fn tanh(self) -> Self;
    fn sqrt(self) -> Self;
}

macro_rules! real {
    ($name:ty, $bytes:literal) => {
        impl Real for $name {
            const BYTES: u64 = $bytes;
            fn of(value: f64) -> Self {
                value as $name
            }
            fn wide(self) -> f64 {
                f64::from(self)
            }
            fn exp(self) -> Self {
                <$name>::exp(self)
            }
            fn ln(self) -> Self {
                <$name>::ln(self)
            }
            fn tanh(self) -> Self {
                <$name>::tanh(self)
            }
            fn sqrt(self) -> Self {
                <$name>::sqrt(self)
            }
        }
    };
}

real!(f32, 4);
real!(f64, 8);
