//! A run to be predicted: the model, its sizes, how it is trained.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Net {
    /// Learned positions, LayerNorm, one qkv matrix with biases, GELU.
    Gpt,
    /// RMSNorm, rotary positions, grouped heads, SwiGLU, no biases.
    Llama,
    /// As Llama, its feed-forward a mixture of experts.
    Moe,
    /// torchvision's, 224×224 images.
    Resnet50,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attention {
    Flash,
    Math,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    Fp32,
    /// Float32 weights under autocast to bfloat16.
    Amp,
    /// Everything bfloat16.
    Bf16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    Fused,
    /// Written out in float32.
    Plain,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Optimizer {
    AdamW,
    /// States of 8 bits with a float32 scale for every 256 (bitsandbytes).
    AdamW8bit,
    Sgd,
    /// SGD with momentum.
    Sgdm,
}

/// How the optimizer walks over the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// All at once: its temporaries are as large as all parameters. PyTorch's default.
    Foreach,
    /// One after the other.
    Loop,
    /// One kernel, no temporaries; step counters on the card.
    Fused,
}

/// Parts of a Llama block that Qwen and Gemma add.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// Biases on q, k and v.
    pub has_qkv_bias: bool,
    /// A norm over each head of q and k.
    pub has_head_norms: bool,
    /// Norms behind attention and feed-forward too.
    pub has_post_norms: bool,
    /// The embedding times the root of its width.
    pub is_scaled: bool,
    /// The scores go through a tanh.
    pub is_capped: bool,
}

/// A training run.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub net: Net,
    pub layers: u64,
    pub hidden: u64,
    pub heads: u64,
    /// Heads of keys and values; Llama and MoE.
    pub kv_heads: u64,
    /// Width of a head where it is not hidden / heads, else 0; Llama and MoE.
    pub head_size: u64,
    /// Inner width of the feed-forward; Llama and MoE. GPT's is 4 hidden.
    pub ffn: u64,
    pub vocab: u64,
    pub seq_len: u64,
    pub batch: u64,
    pub attention: Attention,
    /// Written-out attention is a function of its own: its scaled scores live until it returns.
    pub is_attention_apart: bool,
    pub norm: Norm,
    /// What a Llama block has beyond Llama's.
    pub extras: Extras,
    pub precision: Precision,
    pub optimizer: Optimizer,
    pub update: Update,
    /// Blocks that are recomputed together; 0 keeps everything.
    pub checkpoint_every: u64,
    /// The head's weight is the embedding's.
    pub is_tied: bool,
    pub has_dropout: bool,
    /// Adapters on q and v; the rest is frozen. 0: none.
    pub lora_rank: u64,
    /// Frozen matrices of the blocks in 4 bits (QLoRA).
    pub is_nf4: bool,
    pub experts: u64,
    pub top_k: u64,
    pub capacity_factor: f64,
    /// Micro-batches of a step.
    pub accumulation: u64,
    pub sets_grads_to_none: bool,
    /// Float32 copies of bfloat16 weights, which the optimizer works on.
    pub has_masters: bool,
    /// ResNet-50 in channels-last order.
    pub is_channels_last: bool,
}

impl Default for Plan {
    /// GPT-2 small under autocast.
    fn default() -> Self {
        Self {
            net: Net::Gpt,
            layers: 12,
            hidden: 768,
            heads: 12,
            kv_heads: 12,
            head_size: 0,
            ffn: 3072,
            vocab: 50_257,
            seq_len: 1024,
            batch: 4,
            attention: Attention::Flash,
            is_attention_apart: false,
            norm: Norm::Plain,
            extras: Extras::default(),
            precision: Precision::Amp,
            optimizer: Optimizer::AdamW,
            update: Update::Foreach,
            checkpoint_every: 0,
            is_tied: false,
            has_dropout: false,
            lora_rank: 0,
            is_nf4: false,
            experts: 8,
            top_k: 2,
            capacity_factor: 1.25,
            accumulation: 1,
            sets_grads_to_none: true,
            has_masters: false,
            is_channels_last: false,
        }
    }
}

/// Why a plan cannot run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    pub field: &'static str,
    pub reason: String,
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.reason)
    }
}

impl std::error::Error for PlanError {}

/// Bytes of a plan's largest tensors stay below.
const MOST_BYTES: u128 = 1 << 52;

impl Plan {
    pub fn is_recomputed(&self) -> bool {
        self.checkpoint_every > 0
    }

    pub fn head_dim(&self) -> u64 {
        if self.head_size > 0 { self.head_size } else { self.hidden / self.heads }
    }

    pub fn n_tokens(&self) -> u64 {
        self.batch * self.seq_len
    }

    /// Places of an expert.
    pub fn expert_capacity(&self) -> u64 {
        (self.capacity_factor * (self.n_tokens() * self.top_k) as f64 / self.experts as f64).ceil() as u64
    }

    /// Refuses what PyTorch would refuse, and what would not fit into any machine's numbers.
    pub fn check(&self) -> Result<(), PlanError> {
        let refuse = |field, reason: String| Err(PlanError { field, reason });
        for (field, value) in [
            ("layers", self.layers),
            ("hidden", self.hidden),
            ("heads", self.heads),
            ("vocab", self.vocab),
            ("seq_len", self.seq_len),
            ("batch", self.batch),
            ("accumulation", self.accumulation),
        ] {
            if value == 0 {
                return refuse(field, format!("{field} = 0; it must be at least 1"));
            }
        }
        if self.net == Net::Resnet50 {
            return self.check_resnet();
        }
        self.check_attention()?;
        self.check_training()?;
        self.check_sizes()
    }

    fn check_resnet(&self) -> Result<(), PlanError> {
        let refuse = |field, reason: &str| Err(PlanError { field, reason: reason.to_owned() });
        if self.precision == Precision::Bf16 {
            return refuse("precision", "resnet50 runs in fp32 or amp here; bf16 weights were never measured");
        }
        if self.lora_rank > 0 || self.is_nf4 {
            return refuse("lora_rank", "resnet50 has no attention for adapters to sit on");
        }
        if self.is_recomputed() || self.has_dropout || self.has_masters || self.is_tied {
            return refuse("net", "resnet50 takes no checkpoint, dropout, master weights or tied head here");
        }
        if self.batch > 1 << 20 {
            return refuse("batch", "more images than any card holds");
        }
        Ok(())
    }

    fn check_attention(&self) -> Result<(), PlanError> {
        let refuse = |field, reason: String| Err(PlanError { field, reason });
        if self.head_size == 0 && !self.hidden.is_multiple_of(self.heads) {
            return refuse("heads", format!("heads = {} must divide hidden = {}", self.heads, self.hidden));
        }
        let is_llama = self.net != Net::Gpt;
        if !is_llama && (self.head_size > 0 || self.extras != Extras::default()) {
            return refuse(
                "head_dim",
                "a gpt block has heads of hidden / heads and none of Qwen's or Gemma's parts".to_owned(),
            );
        }
        if is_llama && (self.kv_heads == 0 || !self.heads.is_multiple_of(self.kv_heads)) {
            return refuse("kv_heads", format!("kv_heads = {} must divide heads = {}", self.kv_heads, self.heads));
        }
        if is_llama && !self.head_dim().is_multiple_of(2) {
            return refuse("heads", format!("rotary positions need an even head size, not {}", self.head_dim()));
        }
        if is_llama && self.ffn == 0 {
            return refuse("ffn", "ffn = 0; it must be at least 1".to_owned());
        }
        if self.attention == Attention::Flash {
            if self.precision == Precision::Fp32 {
                return refuse("attention", "flash has no fp32 kernel; take amp, bf16 or math".to_owned());
            }
            let dim = self.head_dim();
            if dim > 256 {
                return refuse("heads", format!("flash takes head sizes up to 256; hidden / heads = {dim}"));
            }
        }
        if self.net == Net::Moe {
            if self.experts == 0 || self.top_k == 0 || self.top_k > self.experts {
                return refuse("top_k", format!("top_k = {} must be from 1 to experts = {}", self.top_k, self.experts));
            }
            if !(self.capacity_factor > 0.0 && self.capacity_factor <= 1024.0) {
                return refuse("capacity_factor", format!("{} must be above 0, up to 1024", self.capacity_factor));
            }
        }
        Ok(())
    }

    fn check_training(&self) -> Result<(), PlanError> {
        let refuse = |field, reason: &str| Err(PlanError { field, reason: reason.to_owned() });
        if self.lora_rank > 0 && self.net != Net::Llama {
            return refuse("lora_rank", "adapters are placed on q and v of a llama block");
        }
        if self.is_nf4 && self.lora_rank == 0 {
            return refuse("base_weights", "4-bit weights cannot be trained; give lora_rank as well");
        }
        if self.is_nf4 && self.precision == Precision::Fp32 {
            return refuse("base_weights", "4-bit weights are unpacked to bfloat16; take bf16 or amp");
        }
        if self.has_masters && self.precision != Precision::Bf16 {
            return refuse("master_weights", "weights are float32 already; masters belong to bf16");
        }
        if self.has_masters && !matches!(self.optimizer, Optimizer::AdamW | Optimizer::Sgd | Optimizer::Sgdm) {
            return refuse("master_weights", "8-bit states are kept beside the weights themselves");
        }
        Ok(())
    }

    fn check_sizes(&self) -> Result<(), PlanError> {
        let product = |list: &[u64]| list.iter().try_fold(8_u128, |all, n| all.checked_mul(u128::from(*n)));
        let heads = self.heads.saturating_mul(self.head_size).saturating_mul(4);
        let wide = self.hidden.saturating_mul(12).max(self.ffn.saturating_mul(3)).max(heads);
        let (experts, top_k) = if self.net == Net::Moe { (self.experts, self.top_k) } else { (1, 1) };
        // The flash kernels keep a number a row and no scores.
        let columns = if self.attention == Attention::Math { self.seq_len } else { 1 };
        for (field, size) in [
            ("hidden", product(&[self.layers, self.hidden, wide, experts])),
            ("vocab", product(&[self.batch, self.seq_len, self.vocab])),
            ("vocab", product(&[self.vocab, self.hidden])),
            ("seq_len", product(&[self.layers, self.batch, self.heads, self.seq_len, columns])),
            ("batch", product(&[self.layers, self.batch, self.seq_len, wide])),
            ("lora_rank", product(&[self.layers, self.hidden, self.lora_rank.max(1)])),
            ("batch", product(&[self.batch, self.seq_len, self.hidden, top_k, 1024])),
        ] {
            if size.is_none_or(|bytes| bytes > MOST_BYTES) {
                return Err(PlanError { field, reason: "the model is beyond 4 PiB".to_owned() });
            }
        }
        Ok(())
    }
}
