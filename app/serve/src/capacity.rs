//! How many blocks a pool has, as engines print it.
//!
//! pool = card · utilisation − weights − what is outside of PyTorch − the peak of activations; blocks = pool ÷ bytes of a
//! block, rounded down; concurrency = blocks · block tokens ÷ longest request. Swap space on the host is counted the same
//! way. Source: vLLM, `determine_num_available_blocks` (0.6), `get_num_blocks` (V1), whose lines are the tests.

use crate::Problem;

/// What an engine finds on a card before it makes its pool. Bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Card {
    pub total: f64,
    /// The part of the card that the engine may use, 0 to 1.
    pub utilisation: f64,
    pub weights: f64,
    /// Context, libraries, other libraries' buffers: what the allocator does not know.
    pub non_torch: f64,
    /// Largest sum of activations in a profiled step, beyond the weights.
    pub activation_peak: f64,
    /// Graphs that are captured, where the engine counts them beforehand.
    pub graphs: f64,
}

/// What an engine takes its share of. Sources: `assets/engines.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reserve {
    /// Of the card; everything it needs comes out of that share. vLLM.
    Card,
    /// Of what is free when weights and activations have their place. TensorRT-LLM.
    Rest,
    /// Of what was free before loading, for weights and pool; activations and graphs get the other part. SGLang.
    Start,
    /// Of nothing: the cache grows until the card is full. Transformers.
    Grows,
}

impl Card {
    pub fn pool(&self) -> f64 {
        self.pool_by(Reserve::Card)
    }

    /// Bytes that are left for keys and values; negative where the rest does not fit.
    pub fn pool_by(&self, reserve: Reserve) -> f64 {
        let needs = self.weights + self.non_torch + self.activation_peak + self.graphs;
        match reserve {
            Reserve::Card => self.total * self.utilisation - needs,
            Reserve::Rest => (self.total - needs) * self.utilisation,
            Reserve::Start => (self.total - self.non_torch) * self.utilisation - self.weights,
            Reserve::Grows => self.total - needs,
        }
    }

    /// What an engine sets aside for activations and graphs does not hold them: it dies later, in a long prompt.
    pub fn is_short(&self, reserve: Reserve) -> bool {
        let aside = (self.total - self.non_torch) * (1.0 - self.utilisation);
        reserve == Reserve::Start && aside < self.activation_peak + self.graphs
    }
}

/// A pool in blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pool {
    pub block_bytes: f64,
    pub gpu_blocks: u64,
    pub cpu_blocks: u64,
    pub tokens: u64,
}

impl Pool {
    pub fn new(pool_bytes: f64, swap_bytes: f64, bytes_per_token: f64, block_tokens: u64) -> Result<Self, Problem> {
        let block_bytes = bytes_per_token * block_tokens as f64;
        if block_bytes.is_nan() || block_bytes <= 0.0 {
            let en = format!("a block of {block_tokens} tokens with {bytes_per_token} B each holds nothing");
            return Err(Problem::new(
                "block_tokens",
                format!("一块 {block_tokens} 个 token、每个 {bytes_per_token} B，什么也存不下"),
                en,
            ));
        }
        let blocks = |bytes: f64| (bytes.max(0.0) / block_bytes).floor() as u64;
        let gpu_blocks = blocks(pool_bytes);
        Ok(Self {
            block_bytes,
            gpu_blocks,
            cpu_blocks: blocks(swap_bytes),
            tokens: gpu_blocks.saturating_mul(block_tokens),
        })
    }

    /// Requests of `max_len` tokens that fit at once, as the engine prints it.
    pub fn concurrency(&self, max_len: u64) -> f64 {
        self.tokens as f64 / max_len.max(1) as f64
    }

    /// Whole requests of `len` tokens, each rounded up to blocks.
    pub fn requests(&self, len: u64, block_tokens: u64) -> u64 {
        self.gpu_blocks / len.div_ceil(block_tokens.max(1)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: f64 = 1_073_741_824.0;

    /// vllm-project/vllm#10517: Llama 3.1 8B on an RTX 3090. The printed terms are rounded to 0.01 GiB, five blocks.
    #[test]
    fn lines_of_an_engine_on_a_24_gib_card() {
        let card = Card {
            total: 23.58 * GIB,
            utilisation: 0.9,
            weights: 15.34 * GIB,
            non_torch: 0.35 * GIB,
            activation_peak: (17.06 - 15.34) * GIB,
            graphs: 0.0,
        };
        assert_eq!(format!("{:.2}", card.pool() / GIB), "3.81");
        let pool = Pool::new(card.pool(), 4.0 * GIB, 131_072.0, 16).unwrap();
        assert!(pool.gpu_blocks.abs_diff(1952) <= 3, "{}", pool.gpu_blocks);
        assert_eq!((pool.cpu_blocks, pool.block_bytes), (2048, 2.0 * 1_048_576.0));
        let printed = Pool { gpu_blocks: 1952, tokens: 1952 * 16, ..pool };
        assert_eq!(format!("{:.2}", printed.concurrency(20_000)), "1.56");
        // The same card with 29,000 tokens: 2.89 GiB, 1478 blocks, 0.82.
        let longer = Pool::new(2.89 * GIB, 4.0 * GIB, 131_072.0, 16).unwrap();
        assert!(longer.gpu_blocks.abs_diff(1478) <= 3, "{}", longer.gpu_blocks);
        assert_eq!(format!("{:.2}", Pool { tokens: 1478 * 16, ..longer }.concurrency(29_000)), "0.82");
    }

    /// vllm-project/vllm#12126: Llama 3.2 11B Vision on an H100, 40 layers · 8 heads · 128.
    #[test]
    fn lines_of_an_engine_on_an_80_gb_card() {
        let card = Card {
            total: 79.22 * GIB,
            utilisation: 0.9,
            weights: 19.86 * GIB,
            non_torch: 0.16 * GIB,
            activation_peak: 36.63 * GIB,
            graphs: 0.0,
        };
        // 14.648 from the rounded terms; the engine prints 14.65.
        assert!((card.pool() / GIB - 14.65).abs() < 0.005);
        let pool = Pool::new(14.65 * GIB, 4.0 * GIB, 163_840.0, 16).unwrap();
        assert!(pool.gpu_blocks.abs_diff(6001) <= 3, "{}", pool.gpu_blocks);
        assert_eq!((pool.cpu_blocks, pool.block_bytes), (1638, 2.5 * 1_048_576.0));
    }

    /// SGLang v0.5.8: what is free after loading − what was free before · (1 − fraction). The others by their descriptions.
    #[test]
    fn engines_reserve_in_their_ways() {
        let card =
            Card { total: 80.0, utilisation: 0.9, weights: 16.0, non_torch: 1.0, activation_peak: 2.0, graphs: 1.0 };
        let near = |reserve, expected: f64| assert!((card.pool_by(reserve) - expected).abs() < 1e-9, "{reserve:?}");
        near(Reserve::Card, 52.0);
        near(Reserve::Rest, 54.0);
        near(Reserve::Start, (79.0 - 16.0) - 79.0 * 0.1);
        near(Reserve::Grows, 60.0);
        assert!(!card.is_short(Reserve::Start) && !card.is_short(Reserve::Card));
        assert!(Card { activation_peak: 8.0, ..card }.is_short(Reserve::Start));
    }

    /// vllm-project/vllm#13596.
    #[test]
    fn tokens_and_concurrency() {
        let pool = Pool { block_bytes: 1.0, gpu_blocks: 127_626, cpu_blocks: 0, tokens: 127_626 * 16 };
        assert_eq!(pool.tokens, 2_042_016);
        assert_eq!(format!("{:.2}", pool.concurrency(2048)), "997.08");
    }

    /// Brief 21: 0.9 · 141e9 − 16.06e9 bytes, 131,072 a token, 8192 tokens each.
    #[test]
    fn requests_of_the_brief() {
        let card = Card {
            total: 141e9,
            utilisation: 0.9,
            weights: 16.06e9,
            non_torch: 0.0,
            activation_peak: 0.0,
            graphs: 0.0,
        };
        let pool = Pool::new(card.pool(), 0.0, 131_072.0, 16).unwrap();
        assert_eq!(pool.requests(8192, 16), 103);
        // 52,852 blocks: 103 · 513 fit, 103 · 514 do not.
        assert_eq!((pool.requests(8208, 16), pool.requests(8209, 16)), (103, 102));
        assert_eq!(Pool::new(-1.0, 0.0, 2.0, 16).unwrap().gpu_blocks, 0);
        assert_eq!(Pool::new(1.0, 0.0, 0.0, 16).unwrap_err().field, "block_tokens");
    }
}
