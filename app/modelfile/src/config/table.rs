//! Which keys a number may have, which models are counted exactly, and what their code takes where a key is absent.
//!
//! Sources: the configuration classes of transformers, one for each `model_type` (`src/transformers/models/*/configuration_*.py`).

use super::lookup::Lookup;
use crate::arch::{Architecture, Family, Origin, missing};
use crate::field::Field;
use crate::problem::Problem;
use vramlab_units::Localized;

/// A number and its keys, newest name first.
pub struct Row {
    pub field: Field,
    pub keys: &'static [&'static str],
}

const fn row(field: Field, keys: &'static [&'static str]) -> Row {
    Row { field, keys }
}

pub const ROWS: &[Row] = &[
    row(Field::Layers, &["num_hidden_layers", "n_layer", "num_layers", "n_layers"]),
    row(Field::Hidden, &["hidden_size", "n_embd", "d_model", "dim"]),
    row(Field::Heads, &["num_attention_heads", "n_head", "n_heads", "num_heads"]),
    row(Field::KvHeads, &["num_key_value_heads", "n_head_kv", "num_kv_heads", "multi_query_group_num"]),
    row(Field::HeadDim, &["head_dim", "kv_channels", "d_head"]),
    row(Field::Intermediate, &["intermediate_size", "n_inner", "ffn_hidden_size", "ffn_dim", "d_ff"]),
    row(Field::Vocab, &["vocab_size", "padded_vocab_size"]),
    row(Field::Positions, &["max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length"]),
    row(Field::Tied, &["tie_word_embeddings"]),
    row(Field::QkvBias, &["attention_bias", "qkv_bias", "add_qkv_bias"]),
    row(Field::MlpBias, &["mlp_bias"]),
    row(Field::Window, &["sliding_window", "attention_chunk_size"]),
    row(Field::WindowEvery, &["sliding_window_pattern", "_sliding_window_pattern"]),
    row(Field::WindowFrom, &["max_window_layers"]),
    row(Field::FullEvery, &["full_attention_interval"]),
    row(Field::Experts, &["num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"]),
    row(Field::ActiveExperts, &["num_experts_per_tok", "num_experts_per_token", "moe_top_k", "moe_topk"]),
    row(Field::ExpertIntermediate, &["moe_intermediate_size"]),
    row(Field::SharedIntermediate, &["shared_expert_intermediate_size"]),
    row(Field::FirstDense, &["first_k_dense_replace"]),
    row(Field::MoeEvery, &["moe_layer_freq", "decoder_sparse_step"]),
    row(Field::QRank, &["q_lora_rank"]),
    row(Field::KvRank, &["kv_lora_rank"]),
    row(Field::NopeDim, &["qk_nope_head_dim"]),
    row(Field::RopeDim, &["qk_rope_head_dim"]),
    row(Field::VHeadDim, &["v_head_dim"]),
    row(Field::MtpLayers, &["num_nextn_predict_layers"]),
    row(Field::VisionLayers, &["vision.num_hidden_layers"]),
    row(Field::VisionHidden, &["vision.hidden_size"]),
    row(Field::VisionIntermediate, &["vision.intermediate_size"]),
    row(Field::VisionPatch, &["vision.patch_size"]),
    row(Field::VisionImage, &["vision.image_size"]),
];

/// What holds where a key is absent.
#[derive(Clone, Copy, Debug)]
pub enum Otherwise {
    /// The configuration class of this type says so.
    Default(u64),
}

/// How the layers of a type attend where the file lists no `layer_types`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    Dense,
    /// All layers have the window, if there is one.
    Window,
    /// Only if `use_sliding_window`, and from `max_window_layers` on.
    WindowFrom,
    /// Every second layer, beginning with the first, has the window.
    Alternating,
    /// One layer in `window_every` sees everything, the others the window.
    OneInSome,
}

/// A `model_type` whose parameters are counted exactly.
pub struct Spec {
    pub model_type: &'static str,
    pub family: Family,
    pub pattern: Pattern,
    /// Whether layers may have experts.
    pub has_experts: bool,
    pub defaults: &'static [(Field, u64)],
}

use Field::{HeadDim, Heads, KvHeads, MoeEvery, OutBias, QkvBias, Tied, Vocab, Window, WindowEvery, WindowFrom};

const fn spec(
    model_type: &'static str,
    family: Family,
    pattern: Pattern,
    has_experts: bool,
    defaults: &'static [(Field, u64)],
) -> Spec {
    Spec { model_type, family, pattern, has_experts, defaults }
}

const GEMMA3: &[(Field, u64)] =
    &[(Tied, 1), (Heads, 8), (KvHeads, 4), (HeadDim, 256), (Vocab, 262_208), (Window, 4_096), (WindowEvery, 6)];

const SPECS: &[Spec] = &[
    spec("llama", Family::Llama, Pattern::Dense, false, &[(Tied, 0)]),
    spec("mistral", Family::Llama, Pattern::Window, false, &[(Tied, 0), (KvHeads, 8)]),
    spec("mixtral", Family::Llama, Pattern::Window, true, &[(Tied, 0), (KvHeads, 8)]),
    spec("phi3", Family::Llama, Pattern::Window, false, &[(Tied, 0)]),
    spec(
        "qwen2",
        Family::Llama,
        Pattern::WindowFrom,
        false,
        &[(Tied, 0), (KvHeads, 32), (QkvBias, 1), (OutBias, 0), (WindowFrom, 28)],
    ),
    spec(
        "qwen2_moe",
        Family::Llama,
        Pattern::WindowFrom,
        true,
        &[(Tied, 0), (KvHeads, 16), (QkvBias, 1), (OutBias, 0), (MoeEvery, 1), (WindowFrom, 28)],
    ),
    spec(
        "qwen3",
        Family::Llama,
        Pattern::WindowFrom,
        false,
        &[(Tied, 0), (KvHeads, 32), (HeadDim, 128), (WindowFrom, 28)],
    ),
    spec(
        "qwen3_moe",
        Family::Llama,
        Pattern::WindowFrom,
        true,
        &[(Tied, 0), (KvHeads, 4), (MoeEvery, 1), (WindowFrom, 28)],
    ),
    spec("gemma", Family::Gemma, Pattern::Dense, false, &[(Tied, 1), (HeadDim, 256), (KvHeads, 16), (Vocab, 256_000)]),
    spec(
        "gemma2",
        Family::Gemma,
        Pattern::Alternating,
        false,
        &[(Tied, 1), (HeadDim, 256), (KvHeads, 4), (Vocab, 256_000), (Window, 4_096)],
    ),
    spec("gemma3", Family::Gemma, Pattern::OneInSome, false, GEMMA3),
    spec("gemma3_text", Family::Gemma, Pattern::OneInSome, false, GEMMA3),
    spec("deepseek_v2", Family::DeepSeek, Pattern::Dense, true, &[(Tied, 0), (MoeEvery, 1)]),
    spec("deepseek_v3", Family::DeepSeek, Pattern::Dense, true, &[(Tied, 0), (MoeEvery, 1)]),
    spec("kimi_k2", Family::DeepSeek, Pattern::Dense, true, &[(Tied, 0), (MoeEvery, 1)]),
    spec("gpt2", Family::Gpt2, Pattern::Dense, false, &[(Tied, 1)]),
    spec("gpt_neox", Family::NeoX, Pattern::Dense, false, &[(Tied, 0), (QkvBias, 1)]),
];

/// Types whose layers all keep every key and value, although their parameters are not counted here.
const DENSE_CACHE: &[&str] =
    &["opt", "cohere", "stablelm", "granite", "olmo", "olmo2", "internlm2", "gptj", "bloom", "codegen", "persimmon"];

impl Spec {
    pub fn of(model_type: &str) -> Option<&'static Self> {
        SPECS.iter().find(|spec| spec.model_type == model_type)
    }

    pub fn types() -> impl Iterator<Item = &'static str> {
        SPECS.iter().map(|spec| spec.model_type)
    }

    pub fn otherwise(&self, field: Field) -> Option<Otherwise> {
        self.defaults.iter().find(|(known, _)| *known == field).map(|(_, value)| Otherwise::Default(*value))
    }
}

pub fn has_dense_cache(model_type: &str) -> bool {
    DENSE_CACHE.contains(&model_type)
}

fn derived(arch: &mut Architecture, field: Field, value: u64, zh: &str, en: &str) -> Result<(), Problem> {
    arch.set(field, value, Origin::Derived { from: Localized::both(zh, en) })
}

/// Numbers that follow from others.
pub fn derive(arch: &mut Architecture, lookup: &Lookup, spec: Option<&Spec>) -> Result<(), Problem> {
    heads(arch, lookup)?;
    let family = spec.map(|spec| spec.family);
    if arch.get(Field::Intermediate).is_none() && family == Some(Family::Gpt2) {
        let width = arch.need(Field::Hidden)? * 4;
        derived(
            arch,
            Field::Intermediate,
            width,
            "4 × 隐藏宽度（n_inner 为空）",
            "4 × hidden size, n_inner being empty",
        )?;
    }
    if arch.get(OutBias).is_none() && arch.get(QkvBias).is_some() {
        let bias = arch.get(QkvBias).unwrap_or_default();
        derived(arch, OutBias, bias, "attention_bias 也管输出", "attention_bias covers the output too")?;
    }
    if spec.is_some_and(|spec| spec.has_experts) {
        experts(arch, lookup, spec)?;
    }
    if let Some(spec) = spec {
        for row in needed(spec) {
            if arch.get(*row).is_none() && arch.family.is_some() {
                let problem = missing(*row);
                arch.unknown.push(crate::arch::Unknown { what: row.id().to_owned(), why: problem.text });
            }
        }
    }
    Ok(())
}

/// Heads that the file leaves out.
fn heads(arch: &mut Architecture, lookup: &Lookup) -> Result<(), Problem> {
    if super::is_latent(arch) {
        return Ok(());
    }
    let (hidden, heads) = (arch.get(Field::Hidden), arch.get(Heads));
    if let (Some(heads), None) = (heads, arch.get(KvHeads))
        && !arch.unknown.iter().any(|unknown| unknown.what == KvHeads.id())
    {
        let is_single = lookup.flag("multi_query") == Some(true);
        let (value, zh, en) = if is_single {
            (1, "multi_query：所有头共用一组 K 和 V", "multi_query: all heads share one key and value")
        } else {
            (heads, "没有写 KV 头数：每个注意力头各有一组", "no KV heads are given, so each attention head has its own")
        };
        derived(arch, KvHeads, value, zh, en)?;
    }
    if let (Some(hidden), Some(heads), None) = (hidden, heads, arch.get(HeadDim)) {
        if hidden % heads != 0 {
            let problem = Problem::new(
                format!("hidden_size = {hidden} 不能被 num_attention_heads = {heads} 整除，head_dim 不会是分数；请写明 head_dim"),
                format!(
                    "hidden_size = {hidden} is not divisible by num_attention_heads = {heads}, and head_dim is no fraction; \
                     state head_dim"
                ),
            )
            .field("head_dim");
            let key = ["hidden_size", "n_embd", "d_model"].iter().find_map(|key| lookup.find(key));
            return Err(key.map_or(problem.clone(), |entry| entry.at(problem)));
        }
        derived(arch, HeadDim, hidden / heads, "隐藏宽度 ÷ 注意力头", "hidden size ÷ attention heads")?;
    }
    Ok(())
}

/// Widths of experts where the file says them otherwise.
fn experts(arch: &mut Architecture, lookup: &Lookup, spec: Option<&Spec>) -> Result<(), Problem> {
    let model_type = spec.map_or("", |spec| spec.model_type);
    if model_type == "mixtral"
        && let (None, Some(width)) = (arch.get(Field::ExpertIntermediate), arch.get(Field::Intermediate))
    {
        derived(
            arch,
            Field::ExpertIntermediate,
            width,
            "intermediate_size 就是专家的宽度",
            "intermediate_size is an expert's",
        )?;
    }
    if spec.is_some_and(|spec| spec.family == Family::DeepSeek) {
        let n = lookup.find("n_shared_experts").and_then(|entry| entry.node.uint());
        if let (Some(n), Some(width)) = (n, arch.get(Field::ExpertIntermediate)) {
            let sum = n.saturating_mul(width);
            derived(
                arch,
                Field::SharedIntermediate,
                sum,
                "n_shared_experts × moe_intermediate_size",
                "n_shared_experts × moe_intermediate_size",
            )?;
        }
        let has_bias = model_type != "deepseek_v2" || lookup.text("topk_method").as_deref() == Some("noaux_tc");
        derived(
            arch,
            Field::RouterBias,
            has_bias.into(),
            "由 model_type 与 topk_method",
            "from model_type and topk_method",
        )?;
    }
    Ok(())
}

/// What the count of a type cannot do without.
fn needed(spec: &Spec) -> &'static [Field] {
    match spec.family {
        Family::Llama | Family::Gemma => {
            if spec.has_experts {
                &[
                    Field::Layers,
                    Field::Hidden,
                    Heads,
                    Vocab,
                    Field::Experts,
                    Field::ActiveExperts,
                    Field::ExpertIntermediate,
                ]
            } else {
                &[Field::Layers, Field::Hidden, Heads, Vocab, Field::Intermediate]
            }
        }
        Family::DeepSeek => &[
            Field::Layers,
            Field::Hidden,
            Heads,
            Vocab,
            Field::Intermediate,
            Field::KvRank,
            Field::NopeDim,
            Field::RopeDim,
            Field::VHeadDim,
        ],
        Family::Gpt2 => &[Field::Layers, Field::Hidden, Heads, Vocab, Field::Positions],
        Family::NeoX => &[Field::Layers, Field::Hidden, Heads, Vocab, Field::Intermediate],
    }
}
