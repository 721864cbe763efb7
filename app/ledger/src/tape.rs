//! What a run leaves behind: requests and frees in order, with marks where figures are taken.

use vramlab_units::Text;

/// Whose bytes they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Owner {
    Parameter,
    Optimizer,
    Gradient,
    /// Tokens, positions, images.
    Input,
    /// What a forward operation keeps for its backward.
    Activation,
    /// Half-precision copies of weights that autocast makes.
    WeightCast,
    /// The scores over the vocabulary, their softmax, the loss.
    Logits,
    /// Gradients on their way down.
    ActivationGradient,
    /// Held within an operation or until the next one only.
    Temporary,
}

impl Owner {
    pub const ALL: [Self; 9] = [
        Self::Parameter,
        Self::Optimizer,
        Self::Gradient,
        Self::Input,
        Self::Activation,
        Self::WeightCast,
        Self::Logits,
        Self::ActivationGradient,
        Self::Temporary,
    ];

    /// Id in answers: `parameters`.
    pub fn id(self) -> &'static str {
        match self {
            Self::Parameter => "parameters",
            Self::Optimizer => "optimizer",
            Self::Gradient => "gradients",
            Self::Input => "inputs",
            Self::Activation => "activations",
            Self::WeightCast => "weight_casts",
            Self::Logits => "logits",
            Self::ActivationGradient => "activation_gradients",
            Self::Temporary => "temporaries",
        }
    }

    pub fn title(self) -> Text {
        match self {
            Self::Parameter => Text::new("参数", "Parameters"),
            Self::Optimizer => Text::new("优化器状态", "Optimizer state"),
            Self::Gradient => Text::new("参数的梯度", "Gradients of parameters"),
            Self::Input => Text::new("输入", "Inputs"),
            Self::Activation => Text::new("为反向保存的激活", "Activations kept for backward"),
            Self::WeightCast => Text::new("权重的 16 位副本", "16-bit copies of weights"),
            Self::Logits => Text::new("logits 和损失", "Logits and loss"),
            Self::ActivationGradient => Text::new("激活的梯度", "Gradients of activations"),
            Self::Temporary => Text::new("临时张量", "Temporaries"),
        }
    }
}

/// A layer that is none of the blocks: embeddings, head, loss.
pub(crate) const NO_LAYER: u16 = u16::MAX;

/// One piece of memory, from its request to its free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// As requested, before rounding.
    pub bytes: u64,
    pub owner: Owner,
    /// The block it belongs to.
    pub layer: Option<u16>,
    /// The operation that asked for it.
    pub op: &'static str,
}

/// Where a figure is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    AfterModel,
    /// Peaks are reset.
    StepStart,
    AfterForward,
    AfterBackward,
    AfterStep,
    /// Gradients and loss are gone.
    StepEnd,
    /// `torch.cuda.empty_cache()`.
    EmptyCache,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Index of the item.
    Request(u32),
    Free(u32),
    Mark(Mark),
}

/// Requests, frees and marks of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tape {
    pub items: Vec<Item>,
    pub events: Vec<Event>,
}
