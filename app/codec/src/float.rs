//! Floating-point formats of 16 bits and fewer: sign, exponent, mantissa, and what stands at the top.
//!
//! Rounding is to the nearest, ties to the even code; subnormals are kept. Source: IEEE 754 (binary16), bfloat16 as the upper
//! half of binary32, E4M3 and E5M2: Micikevicius et al. 2022 (arXiv 2209.05433), table 1; E3M2, E2M3, E2M1 and E8M0: OCP
//! Microscaling Formats 1.0.

/// What the largest codes mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Top {
    /// The largest exponent holds infinity and NaN.
    Ieee,
    /// The last code of each sign is NaN, there is no infinity ("fn").
    OneNan,
    /// Every code is a number.
    Numbers,
}

/// A format by its widths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    pub name: &'static str,
    pub exponent_bits: u32,
    pub mantissa_bits: u32,
    pub bias: i32,
    pub top: Top,
}

/// What a number becomes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stored {
    Number(f64),
    /// With its sign.
    Infinity(f64),
    Nan,
}

const fn format(name: &'static str, exponent_bits: u32, mantissa_bits: u32, bias: i32, top: Top) -> Format {
    Format { name, exponent_bits, mantissa_bits, bias, top }
}

pub const F16: Format = format("fp16", 5, 10, 15, Top::Ieee);
pub const BF16: Format = format("bf16", 8, 7, 127, Top::Ieee);
pub const E4M3: Format = format("e4m3", 4, 3, 7, Top::OneNan);
pub const E5M2: Format = format("e5m2", 5, 2, 15, Top::Ieee);
pub const E3M2: Format = format("e3m2", 3, 2, 3, Top::Numbers);
pub const E2M3: Format = format("e2m3", 2, 3, 1, Top::Numbers);
pub const E2M1: Format = format("e2m1", 2, 1, 1, Top::Numbers);

/// Every format here, the widest first.
pub const FORMATS: &[Format] = &[F16, BF16, E4M3, E5M2, E3M2, E2M3, E2M1];

/// By its name.
pub fn find(name: &str) -> Option<Format> {
    FORMATS.iter().copied().find(|format| format.name == name)
}

impl Format {
    pub fn bits(&self) -> u32 {
        1 + self.exponent_bits + self.mantissa_bits
    }

    pub fn n_codes(&self) -> u32 {
        1 << self.bits()
    }

    fn sign_bit(&self) -> u32 {
        1 << (self.bits() - 1)
    }

    /// Exponent of the smallest normal number.
    pub fn min_exponent(&self) -> i32 {
        1 - self.bias
    }

    pub fn min_normal(&self) -> f64 {
        2.0_f64.powi(self.min_exponent())
    }

    /// The smallest positive number.
    pub fn smallest(&self) -> f64 {
        2.0_f64.powi(self.min_exponent() - self.mantissa_bits as i32)
    }

    /// Code of the largest number.
    fn last_code(&self) -> u32 {
        let all = self.sign_bit() - 1;
        match self.top {
            Top::Ieee => (all >> self.mantissa_bits << self.mantissa_bits) - 1,
            Top::OneNan => all - 1,
            Top::Numbers => all,
        }
    }

    pub fn largest(&self) -> f64 {
        self.magnitude(self.last_code())
    }

    /// Exponent of the largest number: 8 for E4M3, 2 for E2M1.
    pub fn max_exponent(&self) -> i32 {
        (self.last_code() >> self.mantissa_bits) as i32 - self.bias
    }

    fn magnitude(&self, code: u32) -> f64 {
        let mantissa = code & ((1 << self.mantissa_bits) - 1);
        let exponent = (code >> self.mantissa_bits) as i32;
        let step = |exponent: i32| 2.0_f64.powi(exponent - self.bias - self.mantissa_bits as i32);
        if exponent == 0 {
            f64::from(mantissa) * step(1)
        } else {
            f64::from(mantissa + (1 << self.mantissa_bits)) * step(exponent)
        }
    }

    /// The number of a code; infinities and NaN where the format has them.
    pub fn decode(&self, code: u32) -> f64 {
        let sign = if code & self.sign_bit() == 0 { 1.0 } else { -1.0 };
        let code = code & (self.sign_bit() - 1);
        if code <= self.last_code() {
            return sign * self.magnitude(code);
        }
        if self.top == Top::Ieee && code == self.last_code() + 1 { sign * f64::INFINITY } else { f64::NAN }
    }

    /// The nearest code. Beyond the largest: the largest if `saturates` or if there is nothing else, else infinity or NaN.
    /// A NaN becomes NaN, and the largest where there is none.
    pub fn encode(&self, x: f64, saturates: bool) -> u32 {
        let sign = if x.is_sign_negative() { self.sign_bit() } else { 0 };
        let last = self.last_code();
        if x.is_nan() {
            return sign | if self.top == Top::Numbers { last } else { self.sign_bit() - 1 };
        }
        let code = self.nearest(x.abs());
        let beyond = match self.top {
            Top::Ieee | Top::OneNan if !saturates => last + 1,
            _ => last,
        };
        sign | if code > last { beyond } else { code }
    }

    /// Code of a magnitude, with the exponent going on beyond the largest.
    fn nearest(&self, x: f64) -> u32 {
        if x == 0.0 {
            return 0;
        }
        // The exponent field of the f64, and less for its subnormals, which are below every format here.
        let exponent = ((x.to_bits() >> 52) as i32 - 1023).max(self.min_exponent());
        if exponent > self.max_exponent() + 1 {
            return self.sign_bit();
        }
        let step = 2.0_f64.powi(exponent - self.mantissa_bits as i32);
        let n = (x / step).round_ties_even() as u32;
        // Subnormals count from 0, a normal number from 2^m: in both cases the codes go on one by one.
        (((exponent - self.min_exponent()) as u32) << self.mantissa_bits) + n
    }

    /// What is stored for a number.
    pub fn store(&self, x: f64, saturates: bool) -> Stored {
        let value = self.decode(self.encode(x, saturates));
        if value.is_nan() {
            Stored::Nan
        } else if value.is_infinite() {
            Stored::Infinity(value)
        } else {
            Stored::Number(value)
        }
    }

    /// Rounds with saturation: always a number for a number.
    pub fn round(&self, x: f64) -> f64 {
        self.decode(self.encode(x, true))
    }
}

/// The number of an E8M0 scale; 255 is NaN.
pub fn e8m0(code: u8) -> f64 {
    if code == u8::MAX { f64::NAN } else { 2.0_f64.powi(i32::from(code) - 127) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Brief 25, first vector, and the table of the FP8 paper.
    #[test]
    fn the_vectors_of_the_brief() {
        for (x, stored) in [
            (0.3, 0.3125),
            (1.0625, 1.0),
            (1.1875, 1.25),
            (17.0, 16.0),
            (19.0, 20.0),
            (300.0, 288.0),
            (449.0, 448.0),
            (464.0, 448.0),
            (2.0_f64.powi(-10), 0.0),
        ] {
            assert_eq!(E4M3.store(x, false), Stored::Number(stored), "{x}");
        }
        assert_eq!((E4M3.store(465.0, false), E4M3.store(465.0, true)), (Stored::Nan, Stored::Number(448.0)));
        let small = E4M3.round(-0.0009);
        assert!(small == 0.0 && small.is_sign_negative());
        assert_eq!(E5M2.store(500.0, false), Stored::Number(512.0));
        assert_eq!(E5M2.store(61_439.0, false), Stored::Number(57_344.0));
        assert_eq!(E5M2.store(61_440.0, false), Stored::Infinity(f64::INFINITY));
        assert_eq!(E5M2.store(-1e30, false), Stored::Infinity(f64::NEG_INFINITY));
        // [0.001, −0.5, 3, 896] with s = amax ÷ 448 = 2.
        let scaled = [0.001, -0.5, 3.0, 896.0].map(|x| 2.0 * E4M3.round(x / 2.0));
        assert_eq!(scaled, [0.0, -0.5, 3.0, 896.0]);
        for (format, largest, normal, smallest) in [
            (E4M3, 448.0, -6, -9),
            (E5M2, 57_344.0, -14, -16),
            (E3M2, 28.0, -2, -4),
            (E2M3, 7.5, 0, -3),
            (E2M1, 6.0, 0, -1),
        ] {
            assert_eq!(format.largest(), largest, "{}", format.name);
            assert_eq!(format.min_normal(), 2.0_f64.powi(normal));
            assert_eq!(format.smallest(), 2.0_f64.powi(smallest));
        }
    }

    /// Every code comes back as itself; NaN as some NaN.
    #[test]
    fn codes_are_kept() {
        for format in FORMATS {
            for code in 0..format.n_codes() {
                let value = format.decode(code);
                let again = format.encode(value, false);
                assert!(again == code || (value.is_nan() && format.decode(again).is_nan()), "{} {code:x}", format.name);
            }
        }
        assert_eq!(E2M1.round(f64::NAN), 6.0);
        assert_eq!(F16.encode(f64::MIN_POSITIVE / 4.0, false), 0);
    }
}
