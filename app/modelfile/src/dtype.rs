//! Number formats and the bytes of a block of them. GGUF's block formats by their parts: scales and packed values.

/// How values are stored: blocks of `values` values in `bytes` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dtype {
    /// As files and flags write it: `bf16`, `q4_k`.
    pub name: &'static str,
    pub values: u64,
    pub bytes: u64,
}

impl Dtype {
    const fn plain(name: &'static str, bytes: u64) -> Self {
        Self { name, values: 1, bytes }
    }

    const fn block(name: &'static str, values: u64, bytes: u64) -> Self {
        Self { name, values, bytes }
    }

    pub const F64: Self = Self::plain("f64", 8);
    pub const F32: Self = Self::plain("f32", 4);
    pub const F16: Self = Self::plain("f16", 2);
    pub const BF16: Self = Self::plain("bf16", 2);
    pub const F8_E4M3: Self = Self::plain("f8_e4m3", 1);
    pub const F8_E5M2: Self = Self::plain("f8_e5m2", 1);
    pub const I64: Self = Self::plain("i64", 8);
    pub const I32: Self = Self::plain("i32", 4);
    pub const I16: Self = Self::plain("i16", 2);
    pub const I8: Self = Self::plain("i8", 1);
    pub const U8: Self = Self::plain("u8", 1);
    pub const BOOL: Self = Self::plain("bool", 1);

    /// Bytes of `n` values; a block that is begun counts whole.
    pub fn bytes_of(self, n: u128) -> u128 {
        n.div_ceil(self.values.into()).saturating_mul(self.bytes.into())
    }

    /// Bits of one value, scales included: 4.5 for `q4_0`.
    pub fn bits(self) -> f64 {
        self.bytes as f64 * 8.0 / self.values as f64
    }

    /// Whether it stores floating-point numbers one by one.
    pub fn is_float(self) -> bool {
        self.values == 1 && (self.name.starts_with('f') || self.name == "bf16")
    }

    /// By the names that configurations, safetensors headers, engines and readers use.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.trim().to_ascii_lowercase();
        let name = name.strip_prefix("torch.").unwrap_or(&name);
        Some(match name {
            "float64" | "f64" | "double" => Self::F64,
            "float32" | "f32" | "fp32" | "float" => Self::F32,
            "float16" | "f16" | "fp16" | "half" => Self::F16,
            "bfloat16" | "bf16" => Self::BF16,
            "float8_e4m3fn" | "f8_e4m3" | "fp8_e4m3" | "fp8" | "e4m3" => Self::F8_E4M3,
            "float8_e5m2" | "f8_e5m2" | "fp8_e5m2" | "e5m2" => Self::F8_E5M2,
            "int64" | "i64" | "u64" => Self::I64,
            "int32" | "i32" | "u32" => Self::I32,
            "int16" | "i16" | "u16" => Self::I16,
            "int8" | "i8" => Self::I8,
            "uint8" | "u8" => Self::U8,
            "bool" => Self::BOOL,
            other => GGUF_TYPES.iter().find(|(_, dtype)| dtype.name == other)?.1,
        })
    }

    /// By the number in a GGUF tensor info.
    pub fn from_gguf(code: u32) -> Option<Self> {
        GGUF_TYPES.iter().find(|(known, _)| *known == code).map(|(_, dtype)| *dtype)
    }
}

/// Bytes of a half-precision number.
const H: u64 = 2;

/// Type numbers of GGUF. Source: ggml, `ggml.h` (enum `ggml_type`) and `ggml-common.h` (the block structures), whose
/// parts the sums below follow: half-precision scales first, then small scales, then packed values.
const GGUF_TYPES: &[(u32, Dtype)] = &[
    (0, Dtype::F32),
    (1, Dtype::F16),
    (2, Dtype::block("q4_0", 32, H + 16)),
    (3, Dtype::block("q4_1", 32, 2 * H + 16)),
    (6, Dtype::block("q5_0", 32, H + 4 + 16)),
    (7, Dtype::block("q5_1", 32, 2 * H + 4 + 16)),
    (8, Dtype::block("q8_0", 32, H + 32)),
    (9, Dtype::block("q8_1", 32, 2 * H + 32)),
    (10, Dtype::block("q2_k", 256, 2 * H + 16 + 64)),
    (11, Dtype::block("q3_k", 256, H + 12 + 32 + 64)),
    (12, Dtype::block("q4_k", 256, 2 * H + 12 + 128)),
    (13, Dtype::block("q5_k", 256, 2 * H + 12 + 32 + 128)),
    (14, Dtype::block("q6_k", 256, H + 16 + 64 + 128)),
    (15, Dtype::block("q8_k", 256, 4 + 256 + 32)),
    (16, Dtype::block("iq2_xxs", 256, H + 64)),
    (17, Dtype::block("iq2_xs", 256, H + 64 + 8)),
    (18, Dtype::block("iq3_xxs", 256, H + 96)),
    (19, Dtype::block("iq1_s", 256, H + 32 + 16)),
    (20, Dtype::block("iq4_nl", 32, H + 16)),
    (21, Dtype::block("iq3_s", 256, H + 64 + 8 + 32 + 4)),
    (22, Dtype::block("iq2_s", 256, H + 64 + 8 + 8)),
    (23, Dtype::block("iq4_xs", 256, H + 2 + 4 + 128)),
    (24, Dtype::I8),
    (25, Dtype::I16),
    (26, Dtype::I32),
    (27, Dtype::I64),
    (28, Dtype::F64),
    (29, Dtype::block("iq1_m", 256, 32 + 16 + 8)),
    (30, Dtype::BF16),
    (34, Dtype::block("tq1_0", 256, 48 + 4 + H)),
    (35, Dtype::block("tq2_0", 256, 64 + H)),
    (39, Dtype::block("mxfp4", 32, 1 + 16)),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: the table of quantisation types with bits per weight in llama.cpp's documentation of `quantize`.
    #[test]
    fn bits_of_gguf_types_are_the_published_ones() {
        for (name, bits) in [
            ("q4_0", 4.5),
            ("q8_0", 8.5),
            ("q2_k", 2.625),
            ("q3_k", 3.4375),
            ("q4_k", 4.5),
            ("q5_k", 5.5),
            ("q6_k", 6.5625),
            ("iq2_xxs", 2.0625),
            ("iq2_xs", 2.3125),
            ("iq3_xxs", 3.0625),
            ("iq1_s", 1.5625),
            ("iq4_nl", 4.5),
            ("iq3_s", 3.4375),
            ("iq2_s", 2.5625),
            ("iq4_xs", 4.25),
            ("iq1_m", 1.75),
            ("tq1_0", 1.6875),
            ("tq2_0", 2.0625),
            ("mxfp4", 4.25),
        ] {
            assert_eq!(Dtype::from_name(name).unwrap().bits(), bits, "{name}");
        }
    }

    #[test]
    fn names_of_every_writer_are_understood() {
        for (name, bytes) in [("torch.bfloat16", 2), ("BF16", 2), ("F8_E4M3", 1), ("float32", 4), ("I64", 8)] {
            assert_eq!(Dtype::from_name(name).unwrap().bytes, bytes, "{name}");
        }
        assert_eq!(Dtype::from_name("bf17"), None);
        assert_eq!(Dtype::from_gguf(4), None, "a type that was withdrawn");
        assert_eq!(Dtype::from_name("q4_0").unwrap().bytes_of(33), 36);
    }
}
