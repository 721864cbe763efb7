//! Bytes of a matrix in a storage format: packed values, scales, zero points.

use crate::dtype::Dtype;
use crate::problem::Problem;

/// How the weights of linear layers are stored. Embeddings, norms and the head stay in 16 bits unless the format is plain
/// or one of GGUF's, whose files convert them too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Format {
    /// One number after the other, or GGUF's blocks along a row.
    Plain(Dtype),
    /// One byte each and a float32 scale for each output row (LLM.int8).
    Int8,
    /// Four bits (NF4 or FP4), one scale for 64 values; `double` stores the scales in one byte and a float32 for 256 of them.
    /// Source: QLoRA, section 3 (0.127 bits a parameter with double quantisation, 0.5 without).
    Nf4 { double: bool },
    /// Packed integers with half-precision scales and packed zero points, one of each for `group` inputs.
    /// Source: the layouts of AutoAWQ and of GPTQ checkpoints; the latter add an int32 group index for each input.
    Grouped { bits: u64, group: u64, has_index: bool },
    /// One byte each; a float32 scale for each block of `block` × `block`, or one for the whole matrix (0).
    Fp8 { block: u64 },
}

impl Format {
    /// Bytes of `n` matrices with `inputs` × `outputs` values each.
    pub fn bytes(self, inputs: u64, outputs: u64, n: u64) -> u128 {
        let (rows, columns) = (u128::from(outputs), u128::from(inputs));
        let values = rows.saturating_mul(columns);
        let one = match self {
            Self::Plain(dtype) if dtype.values == 1 => dtype.bytes_of(values),
            Self::Plain(dtype) => dtype.bytes_of(columns).saturating_mul(rows),
            Self::Int8 => values.saturating_add(rows.saturating_mul(4)),
            Self::Nf4 { double } => {
                let blocks = values.div_ceil(64);
                let scales = if double { blocks + blocks.div_ceil(256) * 4 } else { blocks.saturating_mul(4) };
                values.div_ceil(2).saturating_add(scales)
            }
            Self::Grouped { bits, group, has_index } => {
                let groups = columns.div_ceil(u128::from(group.max(1)));
                let packed = (columns + groups).saturating_mul(rows).saturating_mul(bits.into()).div_ceil(8);
                let index = if has_index { columns * 4 } else { 0 };
                packed.saturating_add(groups.saturating_mul(rows) * 2).saturating_add(index)
            }
            Self::Fp8 { block: 0 } => values + 4,
            Self::Fp8 { block } => {
                let block = u128::from(block);
                values.saturating_add(rows.div_ceil(block).saturating_mul(columns.div_ceil(block)) * 4)
            }
        };
        one.saturating_mul(n.into())
    }

    /// Whether the format reaches matrices other than those of linear layers.
    pub fn takes_everything(self) -> bool {
        matches!(self, Self::Plain(_))
    }

    /// Whether a router, itself a small linear layer, is converted too.
    pub fn takes_routers(self) -> bool {
        matches!(self, Self::Plain(_) | Self::Nf4 { .. } | Self::Int8)
    }

    /// Bits a parameter of a large matrix takes.
    pub fn bits(self) -> f64 {
        const SIDE: u64 = 1 << 14;
        self.bytes(SIDE, SIDE, 1) as f64 * 8.0 / (SIDE as f64 * SIDE as f64)
    }

    pub fn id(self) -> String {
        match self {
            Self::Plain(dtype) => dtype.name.to_owned(),
            Self::Int8 => "int8".to_owned(),
            Self::Nf4 { double: true } => "nf4".to_owned(),
            Self::Nf4 { double: false } => "nf4_single".to_owned(),
            Self::Grouped { bits, group, has_index: false } => format!("awq{bits}_g{group}"),
            Self::Grouped { bits, group, has_index: true } => format!("gptq{bits}_g{group}"),
            Self::Fp8 { block: 0 } => "fp8".to_owned(),
            Self::Fp8 { block } => format!("fp8_b{block}"),
        }
    }

    /// The formats that a reader may name; `awq4_g64` and `gptq3_g32` follow the same pattern.
    pub const NAMES: &'static str =
        "f32, bf16, f16, fp8, fp8_b128, int8, nf4, nf4_single, awq4_g128, gptq4_g128, q8_0, q6_k, q5_k, q4_k, q4_0, …";

    pub fn from_id(id: &str) -> Result<Self, Problem> {
        let id = id.trim().to_ascii_lowercase().replace('-', "_");
        let grouped = |rest: &str, has_index| {
            let (bits, group) =
                if rest.is_empty() { ("4", "128") } else { rest.split_once("_g").unwrap_or((rest, "128")) };
            let (bits, group) = (bits.parse().ok()?, group.parse().ok()?);
            ([2, 3, 4, 8].contains(&bits) && (1..=65_536).contains(&group)).then_some(Self::Grouped {
                bits,
                group,
                has_index,
            })
        };
        let found = match id.as_str() {
            "int8" => Some(Self::Int8),
            "nf4" | "fp4" | "4bit" => Some(Self::Nf4 { double: true }),
            "nf4_single" => Some(Self::Nf4 { double: false }),
            "fp8" => Some(Self::Fp8 { block: 0 }),
            id if id.starts_with("fp8_b") => {
                id[5..].parse().ok().filter(|block| (1..=65_536).contains(block)).map(|block| Self::Fp8 { block })
            }
            id if id.starts_with("awq") => grouped(&id[3..], false),
            id if id.starts_with("gptq") => grouped(&id[4..], true),
            id => Dtype::from_name(id).map(Self::Plain),
        };
        found.ok_or_else(|| {
            Problem::new(
                format!("没有叫 “{id}” 的权重格式；有 {}", Self::NAMES),
                format!("there is no weight format \"{id}\"; there are {}", Self::NAMES),
            )
            .field("weights")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn bits(id: &str, expected: f64) {
        let found = Format::from_id(id).unwrap().bits();
        assert!((found - expected).abs() < 5e-4, "{id}: {found}");
    }

    /// QLoRA, section 3: 32/64 = 0.5 bits without, 8/64 + 32/(64 · 256) = 0.127 bits with double quantisation.
    /// AWQ and GPTQ at four bits and groups of 128: 16/128 for the scale and 4/128 for the zero point.
    #[test]
    fn bits_of_a_parameter_are_those_of_the_papers() {
        bits("nf4", 4.0 + 0.127);
        bits("nf4_single", 4.5);
        bits("awq4_g128", 4.0 + 20.0 / 128.0);
        bits("gptq4_g32", 4.0 + 20.0 / 32.0 + 32.0 / 16384.0);
        bits("int8", 8.0 + 32.0 / 16384.0);
        bits("fp8_b128", 8.0 + 32.0 / 16384.0);
        bits("q4_k", 4.5);
        bits("bf16", 16.0);
    }

    #[test]
    fn rows_that_do_not_fill_a_block_are_padded_one_by_one() {
        let q4 = Format::from_id("q4_0").unwrap();
        assert_eq!(q4.bytes(33, 10, 1), 360, "each row of 33 takes two blocks");
        assert_eq!(Format::Nf4 { double: false }.bytes(65, 1, 1), 33 + 8);
        assert_eq!(Format::Fp8 { block: 128 }.bytes(129, 128, 1), 129 * 128 + 8);
    }

    #[test]
    fn a_format_that_is_none_names_those_that_are() {
        for id in ["bf15", "awq5", "gptq4_g0", "fp8_b0", ""] {
            assert!(Format::from_id(id).unwrap_err().to_string().contains("awq4_g128"), "{id}");
        }
        for id in ["nf4", "awq4_g64", "gptq3_g32", "fp8_b128", "q6_k", "int8", "bf16"] {
            assert_eq!(Format::from_id(id).unwrap().id(), id);
        }
    }
}
