//! The question: a card or several, a budget, and the work.

use vramlab_modelfile::{Dtype, Format, Problem};
use vramlab_units::{Bytes, Text, show};

/// A card, as far as memory and time are concerned.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    pub name: String,
    pub total_bytes: u64,
    /// Where the size comes from.
    pub source: String,
    /// Peak of its memory.
    pub gb_per_s: Option<f64>,
    /// Products in bfloat16 as the vendor prints them; only for how long an offload takes beside a step.
    pub bf16_tflop_per_s: Option<f64>,
}

/// What the answer is for: it decides which of two plans counts as cheaper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scenario {
    /// People wait for each answer.
    #[default]
    Online,
    /// Throughput counts, nobody waits.
    Batch,
    /// One user, a small card.
    Edge,
}

impl Scenario {
    pub const ALL: [Self; 3] = [Self::Online, Self::Batch, Self::Edge];

    /// What counts where nobody says: in training nobody waits.
    pub fn usual(is_training: bool) -> Self {
        if is_training { Self::Batch } else { Self::Online }
    }

    pub fn id(self) -> &'static str {
        match self {
            Self::Online => "online",
            Self::Batch => "batch",
            Self::Edge => "edge",
        }
    }

    pub fn name(self) -> Text {
        match self {
            Self::Online => Text::new("在线：有人在等", "online: somebody waits"),
            Self::Batch => Text::new("批处理：看吞吐", "batch: throughput counts"),
            Self::Edge => Text::new("端侧：一人一卡", "edge: one user, a small card"),
        }
    }

    /// Percent of extra time that one change of numbers, which asks for a quality check, is worth.
    pub fn check_points(self) -> f64 {
        match self {
            Self::Online => 30.0,
            Self::Batch => 120.0,
            Self::Edge => 10.0,
        }
    }

    /// Requests at once, where none are given.
    pub fn requests(self) -> u64 {
        match self {
            Self::Online => 16,
            Self::Batch => 128,
            Self::Edge => 1,
        }
    }

    /// Share of a card, in percent, that a server may take.
    pub fn utilisation(self) -> u64 {
        if self == Self::Edge { 85 } else { 90 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Serve {
    /// Tokens that each request may reach.
    pub context: u64,
    pub requests: u64,
    /// As the file stores them where absent.
    pub weights: Option<Format>,
    pub kv: Dtype,
    /// Tokens of one prefill step.
    pub chunk: u64,
    /// Eighths of the layers whose weights stay in host memory.
    pub offload_eighths: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    Fp32,
    /// Float32 weights under autocast to bfloat16.
    Amp,
    Bf16,
    /// bfloat16 weights, float32 copies for the optimizer.
    Masters,
}

impl Precision {
    pub const ALL: [Self; 4] = [Self::Fp32, Self::Amp, Self::Bf16, Self::Masters];

    pub fn id(self) -> &'static str {
        match self {
            Self::Fp32 => "fp32",
            Self::Amp => "amp",
            Self::Bf16 => "bf16",
            Self::Masters => "masters",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Optimizer {
    AdamW,
    /// Two states of one byte and a float32 scale for 256 values.
    AdamW8,
    Sgd,
    Momentum,
}

impl Optimizer {
    pub const ALL: [Self; 4] = [Self::AdamW, Self::AdamW8, Self::Sgd, Self::Momentum];

    pub fn id(self) -> &'static str {
        match self {
            Self::AdamW => "adamw",
            Self::AdamW8 => "adamw8",
            Self::Sgd => "sgd",
            Self::Momentum => "sgdm",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Train {
    /// Sequences in one forward pass on one card.
    pub batch: u64,
    pub seq_len: u64,
    pub precision: Precision,
    pub optimizer: Optimizer,
    /// Each layer is recomputed in backward.
    pub recompute: bool,
    /// Pieces in which the loss is computed.
    pub loss_chunks: u64,
    /// Micro-batches of a step.
    pub accumulation: u64,
    /// Rank of adapters on q and v; everything else is frozen.
    pub lora: Option<u64>,
    /// Frozen weights in four bits.
    pub nf4: bool,
    /// Optimizer state (and float32 copies) in host memory.
    pub offload: bool,
    /// Attention written out, with its T × T matrices.
    pub math: bool,
    /// AdamW in one kernel: no temporaries as large as all parameters.
    pub fused: bool,
    /// What several cards share: 0 nothing (each a copy), 1 optimizer states, 2 gradients too, 3 parameters too.
    pub zero: u64,
}

impl Default for Serve {
    fn default() -> Self {
        let requests = Scenario::Online.requests();
        Self { context: 4096, requests, weights: None, kv: Dtype::BF16, chunk: 8192, offload_eighths: 0 }
    }
}

impl Default for Train {
    fn default() -> Self {
        Self {
            batch: 1,
            seq_len: 2048,
            precision: Precision::Amp,
            optimizer: Optimizer::AdamW,
            recompute: false,
            loss_chunks: 1,
            accumulation: 1,
            lora: None,
            nf4: false,
            offload: false,
            math: false,
            fused: false,
            zero: MOST_ZERO,
        }
    }
}

/// ZeRO's last stage: everything is shared.
pub const MOST_ZERO: u64 = 3;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Work {
    Serve(Serve),
    Train(Train),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    pub card: Card,
    /// Cards that share one copy of the model: by heads and widths when serving, by shards, or by what `zero` says, when training.
    pub n_cards: u64,
    /// Bytes of each card that may be used.
    pub budget: Option<u64>,
    pub scenario: Scenario,
    pub work: Work,
}

impl Ask {
    /// Refuses what is out of range, with the range.
    pub fn check(&self) -> Result<(), Problem> {
        let in_range = |key: &str, value: u64, min: u64, max: u64| {
            if (min..=max).contains(&value) {
                return Ok(());
            }
            let (zh, en) = (
                format!("{key} = {value} 不合法；应为 {min} 到 {max} 的整数"),
                format!("{key} = {value} is not allowed; it must be an integer from {min} to {max}"),
            );
            Err(Problem::new(zh, en).field(key))
        };
        in_range("gpus", self.n_cards, 1, 65_536)?;
        if let Some(budget) = self.budget.filter(|budget| *budget > self.card.total_bytes) {
            let size = |bytes| show::bytes_binary(Bytes(bytes));
            let (budget, there) = (size(budget), size(self.card.total_bytes));
            let (zh, en) = (
                format!("预算 {budget} 比卡的 {there} 还大；预算是每张卡上可以用的部分"),
                format!(
                    "a budget of {budget} is more than the card's {there}; it is the part of each card that may be used"
                ),
            );
            return Err(Problem::new(zh, en).field("budget"));
        }
        match &self.work {
            Work::Serve(serve) => {
                in_range("context", serve.context, 1, 1 << 30)?;
                in_range("requests", serve.requests, 1, 1 << 24)?;
                in_range("chunk", serve.chunk, 1, 1 << 24)
            }
            Work::Train(train) => {
                in_range("batch", train.batch, 1, 1 << 24)?;
                in_range("seq-len", train.seq_len, 1, 1 << 24)?;
                in_range("loss-chunks", train.loss_chunks, 1, 1 << 20)?;
                in_range("accumulation", train.accumulation, 1, 1 << 20)?;
                in_range("zero", train.zero, 0, MOST_ZERO)?;
                train.lora.map_or(Ok(()), |rank| in_range("lora", rank, 1, 1 << 16))
            }
        }
    }
}
