//! Every matrix and vector of a model: what the parameters are, and how many.
//!
//! Exact for the families of [`crate::arch::Family`]; for all others there is no list and no number. Sources of the
//! layouts: the modelling code of transformers for each `model_type`; the tests hold the sums against published counts.

use crate::arch::{Architecture, Family, missing};
use crate::field::Field;
use crate::format::Format;
use crate::problem::Problem;
use vramlab_units::Text;

/// What a matrix is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    Embedding,
    Attention,
    FeedForward,
    Experts,
    SharedExperts,
    Router,
    Norms,
    Head,
    Vision,
    /// Stored beside the model, not part of it: layers that predict further tokens.
    Extra,
}

impl Role {
    pub const ALL: [Self; 10] = [
        Self::Embedding,
        Self::Attention,
        Self::FeedForward,
        Self::Experts,
        Self::SharedExperts,
        Self::Router,
        Self::Norms,
        Self::Head,
        Self::Vision,
        Self::Extra,
    ];

    pub fn id(self) -> &'static str {
        match self {
            Self::Embedding => "embedding",
            Self::Attention => "attention",
            Self::FeedForward => "feed_forward",
            Self::Experts => "experts",
            Self::SharedExperts => "shared_experts",
            Self::Router => "router",
            Self::Norms => "norms",
            Self::Head => "head",
            Self::Vision => "vision",
            Self::Extra => "extra",
        }
    }

    pub fn name(self) -> Text {
        match self {
            Self::Embedding => Text::new("词嵌入", "embeddings"),
            Self::Attention => Text::new("注意力", "attention"),
            Self::FeedForward => Text::new("前馈", "feed-forward"),
            Self::Experts => Text::new("路由专家", "routed experts"),
            Self::SharedExperts => Text::new("共享专家", "shared experts"),
            Self::Router => Text::new("路由", "routers"),
            Self::Norms => Text::new("归一化", "norms"),
            Self::Head => Text::new("输出层", "output head"),
            Self::Vision => Text::new("图像塔", "image tower"),
            Self::Extra => Text::new("多 token 预测", "multi-token prediction"),
        }
    }
}

/// `n` equal matrices, or vectors (`outputs` is 1 then).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub role: Role,
    pub inputs: u64,
    pub outputs: u64,
    pub n: u64,
    /// The weight of a linear layer that quantisation takes.
    pub is_linear: bool,
}

impl Part {
    pub fn params(&self) -> u128 {
        u128::from(self.inputs) * u128::from(self.outputs).saturating_mul(self.n.into())
    }

    /// Bytes when linear layers are in `format` and all else in `plain`.
    pub fn bytes(&self, format: Format, plain: Format) -> u128 {
        let takes = match self.role {
            Role::Router => self.is_linear && format.takes_routers(),
            Role::Vision => false,
            _ => self.is_linear,
        };
        let format = if takes || format.takes_everything() { format } else { plain };
        // Vectors are never packed in blocks.
        let format = if self.outputs == 1 && format.bits() < 16.0 { plain } else { format };
        format.bytes(self.inputs, self.outputs, self.n)
    }
}

/// The model's own parameters.
pub fn n_params(parts: &[Part]) -> u128 {
    parts.iter().filter(|part| part.role != Role::Extra).map(Part::params).fold(0, u128::saturating_add)
}

/// Of these, what one token passes through.
pub fn n_active(parts: &[Part], arch: &Architecture) -> u128 {
    let (experts, active) = (arch.get(Field::Experts).unwrap_or(1), arch.get(Field::ActiveExperts).unwrap_or(1));
    let of = |part: &Part| match part.role {
        Role::Extra => 0,
        Role::Experts => part.params() / u128::from(experts) * u128::from(active.min(experts)),
        _ => part.params(),
    };
    parts.iter().map(of).fold(0, u128::saturating_add)
}

/// Bytes of the model's own parameters.
pub fn bytes(parts: &[Part], format: Format, plain: Format) -> u128 {
    let own = parts.iter().filter(|part| part.role != Role::Extra);
    own.map(|part| part.bytes(format, plain)).fold(0, u128::saturating_add)
}

/// The list for `arch`, or what is missing for it.
pub fn parts(arch: &Architecture) -> Result<Vec<Part>, Problem> {
    let family = arch.family.ok_or_else(|| not_counted(arch))?;
    if arch.layers.is_empty() {
        return Err(missing(Field::Layers));
    }
    let mut list = List::new(arch)?;
    match family {
        Family::Llama | Family::Gemma => list.llama(family)?,
        Family::DeepSeek => list.deepseek()?,
        Family::Gpt2 => list.gpt2()?,
        Family::NeoX => list.neox()?,
    }
    if arch.get(Field::VisionLayers).is_some() {
        list.siglip()?;
    }
    Ok(list.parts)
}

fn not_counted(arch: &Architecture) -> Problem {
    let name = &arch.model_type;
    Problem::new(
        format!("“{name}” 的参数量这里不会数；若知道，请加 --set n_params=…"),
        format!("the parameters of \"{name}\" are not counted here; if you know their number, add --set n_params=…"),
    )
    .field(Field::Params.id())
}

struct List<'a> {
    arch: &'a Architecture,
    hidden: u64,
    n_layers: u64,
    n_moe: u64,
    parts: Vec<Part>,
}

impl<'a> List<'a> {
    fn new(arch: &'a Architecture) -> Result<Self, Problem> {
        let n_moe = arch.layers.iter().filter(|layer| layer.has_experts).count() as u64;
        Ok(Self {
            arch,
            hidden: arch.need(Field::Hidden)?,
            n_layers: arch.layers.len() as u64,
            n_moe,
            parts: Vec::new(),
        })
    }

    fn need(&self, field: Field) -> Result<u64, Problem> {
        self.arch.need(field)
    }

    fn push(&mut self, role: Role, inputs: u64, outputs: u64, n: u64, is_linear: bool) {
        if inputs > 0 && outputs > 0 && n > 0 {
            self.parts.push(Part { role, inputs, outputs, n, is_linear });
        }
    }

    /// A linear layer in each of `n` places, with a bias where the description says so.
    fn linear(&mut self, role: Role, inputs: u64, outputs: u64, n: u64, has_bias: bool) {
        self.push(role, inputs, outputs, n, true);
        if has_bias {
            self.push(role, outputs, 1, n, false);
        }
    }

    fn norms(&mut self, size: u64, n: u64) {
        self.push(Role::Norms, size, 1, n, false);
    }

    fn embedding_and_head(&mut self) -> Result<(), Problem> {
        let vocab = self.need(Field::Vocab)?;
        self.push(Role::Embedding, self.hidden, vocab, 1, false);
        if !self.arch.flag(Field::Tied) {
            self.push(Role::Head, self.hidden, vocab, 1, false);
        }
        Ok(())
    }

    /// Grouped attention with separate projections.
    fn attention(&mut self) -> Result<(), Problem> {
        let (heads, kv, size) = (self.need(Field::Heads)?, self.need(Field::KvHeads)?, self.need(Field::HeadDim)?);
        let (h, n) = (self.hidden, self.n_layers);
        let has_bias = self.arch.flag(Field::QkvBias);
        self.linear(Role::Attention, h, heads * size, n, has_bias);
        self.linear(Role::Attention, h, kv * size, 2 * n, has_bias);
        self.linear(Role::Attention, heads * size, h, n, self.arch.flag(Field::OutBias));
        Ok(())
    }

    /// Gate, up and down.
    fn gated(&mut self, role: Role, width: u64, n: u64, has_bias: bool) {
        self.linear(role, self.hidden, width, 2 * n, has_bias);
        self.linear(role, width, self.hidden, n, has_bias);
    }

    /// Dense layers, and layers of experts with their router.
    fn feed_forward(&mut self) -> Result<(), Problem> {
        let n_dense = self.n_layers - self.n_moe;
        if n_dense > 0 {
            let has_bias = self.arch.flag(Field::MlpBias);
            self.gated(Role::FeedForward, self.need(Field::Intermediate)?, n_dense, has_bias);
        }
        if self.n_moe == 0 {
            return Ok(());
        }
        let (experts, width) = (self.need(Field::Experts)?, self.need(Field::ExpertIntermediate)?);
        self.linear(Role::Router, self.hidden, experts, self.n_moe, false);
        if self.arch.flag(Field::RouterBias) {
            self.push(Role::Router, experts, 1, self.n_moe, false);
        }
        self.gated(Role::Experts, width, self.n_moe * experts, false);
        let shared = self.arch.get(Field::SharedIntermediate).unwrap_or(0);
        if shared > 0 {
            self.gated(Role::SharedExperts, shared, self.n_moe, false);
        }
        Ok(())
    }

    fn llama(&mut self, family: Family) -> Result<(), Problem> {
        self.embedding_and_head()?;
        self.attention()?;
        self.feed_forward()?;
        let (h, n) = (self.hidden, self.n_layers);
        let model_type = self.arch.model_type.as_str();
        // Gemma 2 and 3 normalise before and after each half of a layer.
        let n_norms = if family == Family::Gemma && model_type != "gemma" { 4 } else { 2 };
        self.norms(h, n_norms * n + 1);
        // Query and key are normalised head by head.
        if ["qwen3", "qwen3_moe", "gemma3", "gemma3_text"].contains(&model_type) {
            self.norms(self.need(Field::HeadDim)?, 2 * n);
        }
        // The shared expert of Qwen 2 has a gate of its own.
        if model_type == "qwen2_moe" && self.arch.get(Field::SharedIntermediate).unwrap_or(0) > 0 {
            self.push(Role::Router, h, 1, self.n_moe, true);
        }
        Ok(())
    }

    fn deepseek(&mut self) -> Result<(), Problem> {
        self.embedding_and_head()?;
        let n = self.n_layers;
        self.latent(Role::Attention, n)?;
        self.feed_forward()?;
        self.norms(self.hidden, 2 * n + 1);
        self.prediction()
    }

    /// Latent attention in `n` layers: low-rank query (if it has one), compressed keys and values, their norms.
    fn latent(&mut self, role: Role, n: u64) -> Result<(), Problem> {
        let (heads, nope, rope) = (self.need(Field::Heads)?, self.need(Field::NopeDim)?, self.need(Field::RopeDim)?);
        let (rank, v) = (self.need(Field::KvRank)?, self.need(Field::VHeadDim)?);
        let h = self.hidden;
        let norm = if role == Role::Extra { Role::Extra } else { Role::Norms };
        let has_bias = self.arch.flag(Field::QkvBias);
        match self.arch.get(Field::QRank) {
            Some(q_rank) => {
                self.linear(role, h, q_rank, n, has_bias);
                self.push(norm, q_rank, 1, n, false);
                self.linear(role, q_rank, heads * (nope + rope), n, false);
            }
            None => self.linear(role, h, heads * (nope + rope), n, false),
        }
        self.linear(role, h, rank + rope, n, has_bias);
        self.push(norm, rank, 1, n, false);
        self.linear(role, rank, heads * (nope + v), n, false);
        self.linear(role, heads * v, h, n, has_bias);
        Ok(())
    }

    /// What DeepSeek V3 stores behind its last layer: one more layer of experts, its own copies of embedding and head, and
    /// the projection that joins them.
    fn prediction(&mut self) -> Result<(), Problem> {
        let n = self.arch.get(Field::MtpLayers).unwrap_or(0);
        if n == 0 {
            return Ok(());
        }
        let (h, vocab) = (self.hidden, self.need(Field::Vocab)?);
        let (experts, width) = (self.need(Field::Experts)?, self.need(Field::ExpertIntermediate)?);
        self.latent(Role::Extra, n)?;
        self.gated(Role::Extra, width, n * experts, false);
        self.gated(Role::Extra, self.arch.get(Field::SharedIntermediate).unwrap_or(0), n, false);
        self.push(Role::Extra, h, experts, n, false);
        self.push(Role::Extra, experts, 1, n, false);
        self.push(Role::Extra, h, 1, 5 * n, false);
        self.push(Role::Extra, 2 * h, h, n, false);
        self.push(Role::Extra, h, vocab, 2 * n, false);
        Ok(())
    }

    fn gpt2(&mut self) -> Result<(), Problem> {
        self.embedding_and_head()?;
        let (h, n) = (self.hidden, self.n_layers);
        self.push(Role::Embedding, h, self.need(Field::Positions)?, 1, false);
        self.linear(Role::Attention, h, 3 * h, n, true);
        self.linear(Role::Attention, h, h, n, true);
        let width = self.need(Field::Intermediate)?;
        self.linear(Role::FeedForward, h, width, n, true);
        self.linear(Role::FeedForward, width, h, n, true);
        self.norms(h, 2 * (2 * n + 1));
        Ok(())
    }

    fn neox(&mut self) -> Result<(), Problem> {
        self.embedding_and_head()?;
        let (h, n, width) = (self.hidden, self.n_layers, self.need(Field::Intermediate)?);
        let has_bias = self.arch.flag(Field::QkvBias);
        self.linear(Role::Attention, h, 3 * h, n, has_bias);
        self.linear(Role::Attention, h, h, n, has_bias);
        self.linear(Role::FeedForward, h, width, n, true);
        self.linear(Role::FeedForward, width, h, n, true);
        self.norms(h, 2 * (2 * n + 1));
        Ok(())
    }

    /// The image tower of Gemma 3 (SigLIP without a head) and the projection into the text model.
    fn siglip(&mut self) -> Result<(), Problem> {
        let (n, h) = (self.need(Field::VisionLayers)?, self.need(Field::VisionHidden)?);
        let (width, patch, image) =
            (self.need(Field::VisionIntermediate)?, self.need(Field::VisionPatch)?, self.need(Field::VisionImage)?);
        let text = self.hidden;
        let side = image / patch;
        self.linear(Role::Vision, 3 * patch * patch, h, 1, true);
        self.push(Role::Vision, h, side * side, 1, false);
        self.linear(Role::Vision, h, h, 4 * n, true);
        self.linear(Role::Vision, h, width, n, true);
        self.linear(Role::Vision, width, h, n, true);
        self.push(Role::Vision, h, 1, 4 * n + 2, false);
        self.push(Role::Vision, h, text, 1, false);
        self.push(Role::Vision, h, 1, 1, false);
        Ok(())
    }
}
