//! What a block of each format is made of. Sources: ggml-common.h (GGUF), the layouts of GPTQ and AWQ checkpoints, QLoRA
//! section 3 (NF4), OCP Microscaling Formats 1.0 (MXFP4), bitsandbytes (LLM.int8).

use vramlab_units::Text;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    Plain,
    Gguf,
    Grouped,
    Other,
}

#[derive(Debug, PartialEq)]
pub struct Format {
    /// As the model `weights` calls it.
    pub id: &'static str,
    pub name: &'static str,
    pub family: Family,
    pub block: Text,
}

const fn format(id: &'static str, name: &'static str, family: Family, zh: &'static str, en: &'static str) -> Format {
    Format { id, name, family, block: Text::new(zh, en) }
}

use Family::{Gguf, Grouped, Other, Plain};

pub const FORMATS: [Format; 20] = [
    format("bf16", "BF16", Plain, "每个值 2 字节", "2 bytes a value"),
    format(
        "fp8",
        "FP8",
        Plain,
        "每个值 1 字节，每个矩阵一个 4 字节缩放",
        "1 byte a value, a scale of 4 bytes a matrix",
    ),
    format("int8", "LLM.int8", Other, "每个值 1 字节，每行一个 4 字节缩放", "1 byte a value, a scale of 4 bytes a row"),
    format("q8_0", "Q8_0", Gguf, "32 个值 34 字节：缩放 2，码 32", "32 values in 34 bytes: scale 2, codes 32"),
    format(
        "q6_k",
        "Q6_K",
        Gguf,
        "256 个值 210 字节：低 4 位 128，高 2 位 64，16 个 8 位缩放 16，总缩放 2",
        "256 values in 210 bytes: low bits 128, high bits 64, sixteen 8-bit scales 16, a scale over them 2",
    ),
    format(
        "q5_1",
        "Q5_1",
        Gguf,
        "32 个值 24 字节：缩放 2，最小值 2，第五位 4，低 4 位 16",
        "32 values in 24 bytes: scale 2, minimum 2, fifth bits 4, low bits 16",
    ),
    format(
        "q5_k",
        "Q5_K",
        Gguf,
        "256 个值 176 字节：缩放和最小值 4 + 12，第五位 32，低 4 位 128",
        "256 values in 176 bytes: scales and minima 4 + 12, fifth bits 32, low bits 128",
    ),
    format(
        "q5_0",
        "Q5_0",
        Gguf,
        "32 个值 22 字节：缩放 2，第五位 4，低 4 位 16",
        "32 values in 22 bytes: scale 2, fifth bits 4, low bits 16",
    ),
    format(
        "q4_1",
        "Q4_1",
        Gguf,
        "32 个值 20 字节：缩放 2，最小值 2，码 16",
        "32 values in 20 bytes: scale 2, minimum 2, codes 16",
    ),
    format(
        "q4_k",
        "Q4_K",
        Gguf,
        "256 个值 144 字节：两个总缩放 4，八组 6 位的缩放和最小值 12，码 128",
        "256 values in 144 bytes: two overall scales 4, eight 6-bit scales and minima 12, codes 128",
    ),
    format("q4_0", "Q4_0", Gguf, "32 个值 18 字节：缩放 2，码 16", "32 values in 18 bytes: scale 2, codes 16"),
    format(
        "iq4_xs",
        "IQ4_XS",
        Gguf,
        "256 个值 136 字节：总缩放 2，八个 6 位缩放 6，查表的码 128",
        "256 values in 136 bytes: overall scale 2, eight 6-bit scales 6, codes into a table 128",
    ),
    format(
        "mxfp4",
        "MXFP4",
        Other,
        "32 个值 17 字节：2 的幂的缩放 1，E2M1 码 16；存成 GGUF 时",
        "32 values in 17 bytes: a power-of-two scale 1, E2M1 codes 16; as GGUF stores it",
    ),
    format(
        "q3_k",
        "Q3_K",
        Gguf,
        "256 个值 110 字节：高位 32，低 2 位 64，16 个 6 位缩放 12，总缩放 2",
        "256 values in 110 bytes: high bits 32, low bits 64, sixteen 6-bit scales 12, overall scale 2",
    ),
    format(
        "q2_k",
        "Q2_K",
        Gguf,
        "256 个值 84 字节：16 组 4 位的缩放和最小值 16，码 64，总缩放 4",
        "256 values in 84 bytes: sixteen 4-bit scales and minima 16, codes 64, overall scales 4",
    ),
    format(
        "gptq4_g32",
        "GPTQ 4 g32",
        Grouped,
        "每 32 个输入：码 16 字节，缩放 2，零点半字节；另有每个输入 4 字节的组号",
        "each 32 inputs: codes 16 bytes, scale 2, zero point a half; and 4 bytes an input for the order of groups",
    ),
    format(
        "gptq4_g128",
        "GPTQ 4 g128",
        Grouped,
        "每 128 个输入：码 64 字节，缩放 2，零点半字节；另有每个输入 4 字节的组号",
        "each 128 inputs: codes 64 bytes, scale 2, zero point a half; and 4 bytes an input for the order of groups",
    ),
    format(
        "awq4_g128",
        "AWQ 4 g128",
        Grouped,
        "每 128 个输入：码 64 字节，缩放 2，零点半字节",
        "each 128 inputs: codes 64 bytes, scale 2, zero point a half",
    ),
    format(
        "gptq3_g128",
        "GPTQ 3 g128",
        Grouped,
        "每 128 个输入：码 48 字节，缩放 2，3 位零点；另有组号",
        "each 128 inputs: codes 48 bytes, scale 2, zero point 3 bits; and the order of groups",
    ),
    format(
        "nf4",
        "NF4",
        Other,
        "64 个值：码 32 字节，8 位缩放 1；每 256 个缩放再加 4 字节",
        "64 values: codes 32 bytes, an 8-bit scale; 4 bytes more for 256 scales",
    ),
];
