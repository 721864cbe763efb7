//! How long one step takes: the bytes that it reads, or the sums that it computes, whichever takes longer.
//!
//! t = max((weights + cache that is read) ÷ bandwidth, 2 · parameters · tokens ÷ rate) + launch. Assumption: reads and sums
//! overlap; attention's own sums are left out. Source: roofline of one forward step, brief of chapter 21.

/// What a card and a model need for a step. All in base units: bytes, FLOP, seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepTime {
    pub weight_bytes: f64,
    pub kv_bytes_per_token: f64,
    pub bytes_per_s: f64,
    pub n_params: f64,
    pub flop_per_s: f64,
    pub launch_s: f64,
    /// Between card and host, for blocks that are swapped.
    pub link_bytes_per_s: f64,
}

/// What bounds a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    Memory,
    Compute,
}

impl StepTime {
    /// Seconds of a step that computes `tokens`, reads the cache of `context_tokens` and swaps `swapped_tokens`.
    pub fn seconds(&self, tokens: f64, context_tokens: f64, swapped_tokens: f64) -> f64 {
        let (read, sums) = self.parts(tokens, context_tokens);
        let swap = swapped_tokens * self.kv_bytes_per_token / self.link_bytes_per_s;
        read.max(sums) + self.launch_s + swap
    }

    pub fn bound(&self, tokens: f64, context_tokens: f64) -> Bound {
        let (read, sums) = self.parts(tokens, context_tokens);
        if read >= sums { Bound::Memory } else { Bound::Compute }
    }

    fn parts(&self, tokens: f64, context_tokens: f64) -> (f64, f64) {
        let read = (self.weight_bytes + self.kv_bytes_per_token * context_tokens) / self.bytes_per_s;
        (read, 2.0 * self.n_params * tokens / self.flop_per_s)
    }

    /// Tokens in a step from which on it is bound by sums, with no cache read.
    pub fn knee_tokens(&self) -> f64 {
        self.weight_bytes / self.bytes_per_s * self.flop_per_s / (2.0 * self.n_params)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// bf16 weights: the knee lies at F ÷ BW = 989 ÷ 4.8 ≈ 206 tokens (brief 21, experiment 1).
    #[test]
    fn the_knee_of_the_brief() {
        let card = StepTime {
            weight_bytes: 16.06e9,
            kv_bytes_per_token: 131_072.0,
            bytes_per_s: 4.8e12,
            n_params: 8.03e9,
            flop_per_s: 989e12,
            launch_s: 0.0,
            link_bytes_per_s: 55e9,
        };
        assert!((card.knee_tokens() - 206.04).abs() < 0.01);
        assert_eq!(card.bound(206.0, 0.0), Bound::Memory);
        assert_eq!(card.bound(207.0, 0.0), Bound::Compute);
        // Flat below the knee, linear above it.
        assert!((card.seconds(1.0, 0.0, 0.0) - card.seconds(200.0, 0.0, 0.0)).abs() < 1e-15);
        assert!((card.seconds(824.0, 0.0, 0.0) / card.seconds(412.0, 0.0, 0.0) - 2.0).abs() < 1e-12);
        // 131,072 B a token over 55 GB/s: 2.383 µs.
        assert!((card.seconds(1.0, 0.0, 1.0) - card.seconds(1.0, 0.0, 0.0) - 131_072.0 / 55e9).abs() < 1e-15);
    }
}
