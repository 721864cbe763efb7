//! What lies on the card: bytes with their owner, how they were found, and how sure that is.

use vramlab_units::{Localized, Text};

/// Whose bytes they are. The same owners, and colours, as everywhere in the course.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    Weights,
    Gradients,
    Optimizer,
    Kv,
    Activations,
    Workspace,
    Context,
    Reserve,
}

impl Owner {
    pub const ALL: [Self; 8] = [
        Self::Weights,
        Self::Gradients,
        Self::Optimizer,
        Self::Kv,
        Self::Activations,
        Self::Workspace,
        Self::Context,
        Self::Reserve,
    ];

    pub fn id(self) -> &'static str {
        match self {
            Self::Weights => "weights",
            Self::Gradients => "gradients",
            Self::Optimizer => "optimizer",
            Self::Kv => "kv_cache",
            Self::Activations => "activations",
            Self::Workspace => "workspace",
            Self::Context => "context",
            Self::Reserve => "reserve",
        }
    }

    pub fn name(self) -> Text {
        match self {
            Self::Weights => Text::new("权重", "weights"),
            Self::Gradients => Text::new("梯度", "gradients"),
            Self::Optimizer => Text::new("优化器", "optimizer"),
            Self::Kv => Text::new("KV 缓存", "KV cache"),
            Self::Activations => Text::new("激活", "activations"),
            Self::Workspace => Text::new("临时", "temporaries"),
            Self::Context => Text::new("上下文", "context"),
            Self::Reserve => Text::new("预留", "reserve"),
        }
    }
}

/// How sure a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// Arithmetic on what the file says.
    Exact,
    /// The operation tape of a training step, replayed through the allocator.
    Tape,
    /// A closed formula: right in its main terms.
    Formula,
    /// Measured once, elsewhere.
    Measured,
    /// A convention.
    Assumed,
}

impl Certainty {
    pub fn id(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Tape => "tape",
            Self::Formula => "formula",
            Self::Measured => "measured",
            Self::Assumed => "assumed",
        }
    }

    pub fn name(self) -> Text {
        match self {
            Self::Exact => Text::new("精确", "exact"),
            Self::Tape => Text::new("逐操作", "tape"),
            Self::Formula => Text::new("公式", "formula"),
            Self::Measured => Text::new("实测", "measured"),
            Self::Assumed => Text::new("约定", "assumed"),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    pub owner: Owner,
    pub bytes: u64,
    pub certainty: Certainty,
    /// How it was found, in words.
    pub how: Localized,
    /// Which part of its owner's bytes, where the owner has two items.
    pub part: Option<Text>,
}

impl Item {
    pub fn new(owner: Owner, bytes: u64, certainty: Certainty, zh: impl Into<String>, en: impl Into<String>) -> Self {
        Self { owner, bytes, certainty, how: Localized::both(zh, en), part: None }
    }

    /// Its name in a list: no two items of an answer have the same.
    pub fn name(&self) -> Text {
        self.part.unwrap_or(self.owner.name())
    }
}

/// Everything on one card at its fullest moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sums {
    pub items: Vec<Item>,
    /// The moment that is fullest, where there are several.
    pub moment: Option<Localized>,
    /// Owners whose bytes are not known, with the reason.
    pub unknown: Vec<(Owner, Localized)>,
    /// What makes the work itself doubtful, whether it fits or not.
    pub warnings: Vec<Localized>,
    pub notes: Vec<Localized>,
}

/// Sequences beyond the positions that a model was made for.
pub fn warn_of_length(model: &vramlab_modelfile::Model, tokens: u64, sums: &mut Sums) {
    if let Some(most) = model.arch.get(vramlab_modelfile::Field::Positions)
        && tokens > most
    {
        sums.warnings.push(Localized::both(
            format!("{tokens} token 超过模型的 {most} 个位置：装得下也用不了"),
            format!(
                "{tokens} tokens are more than the model's {most} positions: it cannot use them even where they fit"
            ),
        ));
    }
}

impl Sums {
    pub fn total(&self) -> u64 {
        self.items.iter().map(|item| item.bytes).fold(0, u64::saturating_add)
    }

    pub fn of(&self, owner: Owner) -> u64 {
        self.items.iter().filter(|item| item.owner == owner).map(|item| item.bytes).fold(0, u64::saturating_add)
    }
}

/// CUDA context and library images of a PyTorch process: what the card reports as used beyond what the allocator
/// reserved, in six recorded training runs (PyTorch 2.11, H200): 841 to 843 MiB.
pub const CONTEXT_BYTES: u64 = 843 << 20;

pub fn context() -> Item {
    Item::new(
        Owner::Context,
        CONTEXT_BYTES,
        Certainty::Measured,
        "CUDA 上下文和库：H200 上六次录制量得 841 到 843 MiB",
        "CUDA context and libraries: 841 to 843 MiB in six recordings on an H200",
    )
}
