//! The wordings, as a table: which words stand before or behind a number, and what the number is.
//!
//! Read in: vllm-project/vllm#2031 (`# GPU blocks` of 0.2), #10517 (0.6.3: one line of profiling results), #10511 (0.6.5: one
//! line each), #12126 (0.6.6 to 0.8: sentences), #12569 and #13596 (first V1), #16118 and #34076 (refusals), #21348
//! (`Available KV cache memory`, SGLang beside it), #57936 (`Free memory on device` of the present V1); sgl-project/sglang#29575;
//! NVIDIA/TensorRT-LLM#1400, #2268, triton-inference-server/tutorials#150.

use super::Engine;

/// What a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    Total,
    Utilisation,
    /// total · utilisation
    Usable,
    Weights,
    NonTorch,
    /// Weights and what is outside of PyTorch, in one sum.
    Consumed,
    ActivationPeak,
    /// PyTorch's peak in the profiled step, weights included.
    TorchPeak,
    Graphs,
    Pool,
    GpuBlocks,
    CpuBlocks,
    BlockTokens,
    Tokens,
    Concurrency,
    /// Tokens of the requests that concurrency counts, or the longest that the model takes.
    MaxLen,
    /// Bytes that one request of the longest length needs, in a refusal.
    Needed,
    EstimatedLen,
    /// Tokens that the pool holds, in a refusal.
    MostTokens,
    KeyBytes,
    ValueBytes,
    Cards,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Bytes,
    Count,
    Ratio,
}

impl Key {
    /// As a field of an answer.
    pub fn name(self) -> &'static str {
        match self {
            Self::Total => "total_bytes",
            Self::Utilisation => "utilisation",
            Self::Usable => "usable_bytes",
            Self::Weights => "weight_bytes",
            Self::NonTorch => "non_torch_bytes",
            Self::Consumed => "consumed_bytes",
            Self::ActivationPeak => "activation_bytes",
            Self::TorchPeak => "torch_peak_bytes",
            Self::Graphs => "graph_bytes",
            Self::Pool => "pool_bytes",
            Self::GpuBlocks => "gpu_blocks",
            Self::CpuBlocks => "cpu_blocks",
            Self::BlockTokens => "block_tokens",
            Self::Tokens => "pool_tokens",
            Self::Concurrency => "concurrency",
            Self::MaxLen => "max_len_tokens",
            Self::Needed => "needed_bytes",
            Self::EstimatedLen => "estimated_len_tokens",
            Self::MostTokens => "most_tokens",
            Self::KeyBytes => "k_bytes",
            Self::ValueBytes => "v_bytes",
            Self::Cards => "cards",
        }
    }

    pub fn unit(self) -> Unit {
        match self {
            Self::Utilisation | Self::Concurrency => Unit::Ratio,
            Self::GpuBlocks
            | Self::CpuBlocks
            | Self::BlockTokens
            | Self::Tokens
            | Self::MaxLen
            | Self::EstimatedLen
            | Self::MostTokens
            | Self::Cards => Unit::Count,
            _ => Unit::Bytes,
        }
    }

    /// Room, of which the smallest counts where several cards print theirs.
    pub(super) fn is_room(self) -> bool {
        matches!(self, Self::Pool | Self::GpuBlocks | Self::CpuBlocks | Self::Tokens | Self::Usable | Self::Total)
    }
}

impl Unit {
    /// What to multiply by, and whether GB stands for GiB. None where the unit is not of this kind.
    pub(super) fn factor(self, unit: &str, engine: Engine) -> Option<(f64, bool)> {
        let power = |n: i32| 1024.0_f64.powi(n);
        match (self, unit) {
            (Self::Bytes, "GiB") => Some((power(3), false)),
            // vLLM divided by 2³⁰ and printed GB until 0.8; SGLang does to this day.
            (Self::Bytes, "GB") if engine != Engine::TensorrtLlm => Some((power(3), true)),
            (Self::Bytes, "GB") => Some((1e9, false)),
            (Self::Bytes, "MiB") => Some((power(2), false)),
            (Self::Bytes, "bytes" | "B") => Some((1.0, false)),
            (Self::Bytes, _) => None,
            (Self::Ratio, "" | "x") | (Self::Count, _) => Some((1.0, false)),
            // `gpu_memory_utilization (0.90) = …`, `(0.9, 55.1 GiB)`: a word may follow.
            (Self::Ratio, _) => Some((1.0, false)),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Pattern {
    pub key: Key,
    pub engine: Engine,
    /// In lower case; the number stands behind it, apart from blanks and `: = (`.
    before: &'static str,
    /// In lower case; the number and its unit stand before it, where `before` is empty.
    behind: &'static str,
    /// Words that must stand in the line too.
    pub with: &'static [&'static str],
}

const fn after(key: Key, before: &'static str) -> Pattern {
    Pattern { key, engine: Engine::Vllm, before, behind: "", with: &[] }
}

const fn until(key: Key, behind: &'static str, with: &'static [&'static str]) -> Pattern {
    Pattern { key, engine: Engine::Vllm, before: "", behind, with }
}

const fn sglang(key: Key, before: &'static str, with: &'static [&'static str]) -> Pattern {
    Pattern { key, engine: Engine::Sglang, before, behind: "", with }
}

const fn trt(key: Key, before: &'static str, behind: &'static str, with: &'static [&'static str]) -> Pattern {
    Pattern { key, engine: Engine::TensorrtLlm, before, behind, with }
}

pub(super) const PATTERNS: &[Pattern] = &[
    // 0.6.3 to 0.8: profiling.
    after(Key::Total, "total_gpu_memory"),
    after(Key::Utilisation, "gpu_memory_utilization"),
    after(Key::Utilisation, "gpu-memory-utilization"),
    Pattern { with: &["total_gpu_memory"], ..after(Key::Usable, ") =") },
    after(Key::Usable, "the current vllm instance can use"),
    after(Key::Weights, "model weights take"),
    after(Key::Weights, "loading model weights took"),
    after(Key::Weights, "model loading took"),
    after(Key::NonTorch, "non_torch_memory takes"),
    after(Key::NonTorch, "non_torch_memory"),
    after(Key::ActivationPeak, "pytorch activation peak memory takes"),
    after(Key::ActivationPeak, "pytorch activation peak memory"),
    after(Key::TorchPeak, "peak_torch_memory"),
    after(Key::Pool, "the rest of the memory reserved for kv cache is"),
    after(Key::Pool, "kv_cache_size"),
    after(Key::Pool, "available_kv_cache_memory"),
    // V1.
    after(Key::Pool, "available kv cache memory:"),
    after(Key::Total, "free memory on device"),
    Pattern { with: &["free memory on device"], ..after(Key::Utilisation, "desired gpu memory utilization is") },
    until(Key::Weights, " for weights", &["actual usage"]),
    until(Key::Weights, " for weight,", &["actual usage"]),
    until(Key::Consumed, " for consumed memory", &[]),
    until(Key::ActivationPeak, " for peak activation", &[]),
    until(Key::NonTorch, " for non-torch memory", &[]),
    until(Key::Graphs, " for cudagraph memory", &[]),
    Pattern { with: &["graph capturing finished"], ..after(Key::Graphs, ", took") },
    after(Key::Graphs, "estimated cuda graph memory:"),
    // Blocks and tokens.
    after(Key::GpuBlocks, "gpu blocks:"),
    after(Key::GpuBlocks, "cuda blocks:"),
    after(Key::CpuBlocks, "cpu blocks:"),
    after(Key::Tokens, "gpu kv cache size:"),
    after(Key::MaxLen, "maximum concurrency for"),
    after(Key::Concurrency, "tokens per request:"),
    // Refusals.
    Pattern { with: &["max seq len"], ..after(Key::MaxLen, "max seq len") },
    until(Key::Needed, " kv cache is needed", &[]),
    after(Key::Pool, "available kv cache memory ("),
    after(Key::EstimatedLen, "estimated maximum model length is"),
    after(Key::MostTokens, "tokens that can be stored in kv cache"),
    // Arguments that are echoed.
    after(Key::MaxLen, "max_seq_len="),
    after(Key::MaxLen, "max_model_len="),
    after(Key::BlockTokens, "block_size="),
    after(Key::BlockTokens, "setting attention block size to"),
    after(Key::Cards, "tensor_parallel_size="),
    // SGLang.
    sglang(Key::Tokens, "#tokens:", &["kv cache is allocated"]),
    sglang(Key::KeyBytes, " k size:", &["kv cache is allocated"]),
    sglang(Key::Pool, " kv size:", &["kv cache is allocated"]),
    sglang(Key::ValueBytes, " v size:", &["kv cache is allocated"]),
    sglang(Key::Tokens, "max_total_num_tokens=", &[]),
    sglang(Key::MaxLen, "context_len=", &["max_total_num_tokens"]),
    sglang(Key::Weights, "mem usage=", &["load weight end"]),
    // TensorRT-LLM.
    trt(Key::Pool, "[memusagechange] allocated", "", &["paged kv cache"]),
    trt(Key::Tokens, "max tokens in paged kv cache", "", &["allocated"]),
    trt(Key::Pool, "allocate", "", &["bytes for k/v cache"]),
    trt(Key::Tokens, "using", "", &["tokens in paged kv cache"]),
    trt(Key::Total, "total:", "", &["calculating max tokens in paged kv cache"]),
    trt(Key::GpuBlocks, "kv cache primary pool:", "", &[]),
    trt(Key::GpuBlocks, "primary blocks=", "", &["kv cache blocks per sequence"]),
    trt(Key::BlockTokens, "number of tokens per block:", "", &[]),
    trt(Key::BlockTokens, "tokens per block=", "", &[]),
];

impl Pattern {
    /// Where the number begins, in a line in lower case.
    pub fn find(&self, lower: &str) -> Option<usize> {
        if self.before.is_empty() {
            return self.find_behind(lower);
        }
        for (at, word) in lower.match_indices(self.before) {
            let at = at + word.len();
            let rest = &lower[at..];
            let begins = rest.trim_start_matches([' ', ':', '=', '(', '\u{a0}']);
            let gap = rest.len() - begins.len();
            if begins.starts_with(|c: char| c.is_ascii_digit()) {
                let number = at + gap;
                return Some(self.key_of_pair(lower, number));
            }
        }
        None
    }

    /// `free memory on device (43.93/44.42 GiB)`: the second is the card.
    fn key_of_pair(&self, lower: &str, number: usize) -> usize {
        if self.before != "free memory on device" {
            return number;
        }
        let digits = lower[number..].find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(0);
        if lower[number + digits..].starts_with('/') { number + digits + 1 } else { number }
    }

    /// The number whose unit ends where `behind` begins: `1.4 GiB for peak activation`.
    fn find_behind(&self, lower: &str) -> Option<usize> {
        let end = lower.find(self.behind)?;
        let unit = lower[..end].trim_end_matches(|c: char| c.is_ascii_alphabetic()).trim_end();
        let number = unit.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '_'));
        (number.len() < unit.len()).then_some(number.len())
    }
}
