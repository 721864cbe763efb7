//! What a token leaves in the cache, layer by layer.
//!
//! Multi-head, grouped and multi-query attention keep `2 · KV heads · head size` values; latent attention (MLA) keeps one
//! vector of `kv_rank + rope_dim`; a layer with a sliding window keeps its last tokens only; a recurrent layer keeps no
//! token at all but a state, which is not counted here. All sums are 128-bit.

use crate::arch::{Architecture, Attention, missing};
use crate::dtype::Dtype;
use crate::field::Field;
use crate::problem::Problem;

/// Layers that keep the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    pub n_layers: u64,
    /// Values that one token leaves in one layer.
    pub values: u64,
    /// Tokens that are kept at most.
    pub window: Option<u64>,
}

/// The cache of one model.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Cache {
    pub groups: Vec<Group>,
    /// Layers with a state instead of a cache.
    pub n_recurrent: u64,
    /// One latent vector for all heads, which no tensor parallelism divides.
    pub is_latent: bool,
    pub kv_heads: u64,
}

impl Cache {
    pub fn of(arch: &Architecture) -> Result<Self, Problem> {
        if arch.layers.is_empty() {
            return Err(unknown_layers(arch));
        }
        let (values, is_latent) = values(arch)?;
        let mut groups: Vec<Group> = Vec::new();
        let mut n_recurrent = 0;
        for layer in &arch.layers {
            let window = match layer.attention {
                Attention::Full => None,
                Attention::Sliding { window } => Some(window),
                Attention::Recurrent => {
                    n_recurrent += 1;
                    continue;
                }
            };
            match groups.iter_mut().find(|group| group.window == window) {
                Some(group) => group.n_layers += 1,
                None => groups.push(Group { n_layers: 1, values, window }),
            }
        }
        let kv_heads = if is_latent { 1 } else { arch.need(Field::KvHeads)? };
        Ok(Self { groups, n_recurrent, is_latent, kv_heads })
    }

    /// Bytes that one more token takes while no window is full.
    pub fn bytes_per_token(&self, dtype: Dtype) -> u128 {
        self.bytes(1, dtype)
    }

    /// Bytes of one sequence of `tokens`.
    pub fn bytes(&self, tokens: u64, dtype: Dtype) -> u128 {
        let of = |group: &Group| {
            let kept = group.window.map_or(tokens, |window| window.min(tokens));
            dtype.bytes_of(u128::from(group.values)).saturating_mul(group.n_layers.into()).saturating_mul(kept.into())
        };
        self.groups.iter().map(of).fold(0, u128::saturating_add)
    }

    /// Bytes that a token adds once every window is full.
    pub fn growth(&self, dtype: Dtype) -> u128 {
        let endless = Self {
            groups: self.groups.iter().copied().filter(|group| group.window.is_none()).collect(),
            ..self.clone()
        };
        endless.bytes(1, dtype)
    }

    /// The part of the cache that one of `n` cards holds under tensor parallelism: heads are divided, a latent vector and a
    /// single head are not. As numerator and denominator.
    pub fn share(&self, n: u64) -> (u64, u64) {
        if self.is_latent { (1, 1) } else { (self.kv_heads.div_ceil(n.max(1)), self.kv_heads) }
    }
}

/// Values of one token in one layer that keeps any.
fn values(arch: &Architecture) -> Result<(u64, bool), Problem> {
    if let Some(rank) = arch.get(Field::KvRank) {
        return Ok((rank + arch.need(Field::RopeDim)?, true));
    }
    if crate::config::is_latent(arch) {
        return Err(missing(Field::KvRank));
    }
    let (heads, size) = (arch.need(Field::KvHeads)?, arch.need(Field::HeadDim)?);
    let v_size = arch.get(Field::VHeadDim).unwrap_or(size);
    Ok((heads * (size + v_size), false))
}

fn unknown_layers(arch: &Architecture) -> Problem {
    let name = &arch.model_type;
    Problem::new(
        format!(
            "不知道 “{name}” 的每一层存什么；若每层都存全部 K 和 V，请加 --set layer_types=full_attention，否则逐层列出"
        ),
        format!(
            "what each layer of \"{name}\" keeps is not known; if every layer keeps all keys and values, add --set \
             layer_types=full_attention, else list them layer by layer"
        ),
    )
    .field("layer_types")
}

/// Blocks of `block_tokens` tokens that fit into a pool: how paged caches count. Source: vLLM, `determine_num_available_blocks`.
pub fn blocks(pool_bytes: u128, bytes_per_token: u128, block_tokens: u64) -> u128 {
    let block = bytes_per_token.saturating_mul(block_tokens.into());
    pool_bytes.checked_div(block).unwrap_or(0)
}
