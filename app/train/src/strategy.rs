//! How the same step is done with less memory.

use serde::{Deserialize, Serialize};
use vramlab_units::{FieldError, Text};

/// A way to run a step. All of them compute the same gradient, except with `is_undivided`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Strategy {
    /// Keeps only the input of every so many layers and runs them again in the backward pass; 0 keeps all.
    pub checkpoint_every: usize,
    /// Parts of the batch that run one after another.
    pub micro_batches: usize,
    /// What is saved waits in the host's memory.
    pub is_offloaded: bool,
    /// The well-known mistake: the loss of a part is not divided by the number of parts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_undivided: bool,
}

impl Default for Strategy {
    fn default() -> Self {
        Self { checkpoint_every: 0, micro_batches: 1, is_offloaded: false, is_undivided: false }
    }
}

/// One of the course's own, by its number on an axis.
pub struct Named {
    pub id: &'static str,
    pub title: Text,
    pub strategy: Strategy,
}

const fn named(id: &'static str, title: Text, every: usize, parts: usize, is_offloaded: bool) -> Named {
    let strategy = Strategy { checkpoint_every: every, micro_batches: parts, is_offloaded, is_undivided: false };
    Named { id, title, strategy }
}

/// By number.
pub const STRATEGIES: [Named; 8] = [
    named("keep", Text::new("全部保留", "keep all"), 0, 1, false),
    named("checkpoint", Text::new("每层检查点", "checkpoint every layer"), 1, 1, false),
    named("checkpoint4", Text::new("每 4 层检查点", "checkpoint every 4 layers"), 4, 1, false),
    named("accumulate4", Text::new("累积 4 次", "accumulate in 4"), 0, 4, false),
    named("offload", Text::new("卸载到主机", "offload to the host"), 0, 1, true),
    named("checkpoint+accumulate4", Text::new("检查点加累积", "checkpoint and accumulate"), 1, 4, false),
    named("checkpoint+offload", Text::new("检查点加卸载", "checkpoint and offload"), 1, 1, true),
    Named {
        id: "undivided4",
        title: Text::new("累积却忘了除", "accumulate, undivided"),
        strategy: Strategy { checkpoint_every: 0, micro_batches: 4, is_offloaded: false, is_undivided: true },
    },
];

impl Strategy {
    /// By the number that experiments and models use.
    pub fn numbered(number: u64) -> Option<Self> {
        STRATEGIES.get(usize::try_from(number).ok()?).map(|named| named.strategy)
    }

    /// Reads `keep`, `checkpoint`, `checkpoint4`, `accumulate8`, `offload`, joined by `+`.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        let wrong = || {
            let legal = "keep, or checkpoint[N], accumulate[N] and offload joined by +, as in checkpoint2+accumulate4";
            FieldError::illegal("strategy", &text.into(), legal)
        };
        let mut strategy = Self::default();
        for part in text.split('+') {
            let at = part.find(|letter: char| letter.is_ascii_digit()).unwrap_or(part.len());
            let (word, number) = part.split_at(at);
            let number = match number {
                "" => None,
                digits => Some(digits.parse::<usize>().ok().filter(|n| (1..=1024).contains(n)).ok_or_else(wrong)?),
            };
            match (word, number) {
                ("keep", None) if text == "keep" => {}
                ("checkpoint", n) if strategy.checkpoint_every == 0 => strategy.checkpoint_every = n.unwrap_or(1),
                ("accumulate", n) if strategy.micro_batches == 1 => strategy.micro_batches = n.unwrap_or(4),
                ("offload", None) if !strategy.is_offloaded => strategy.is_offloaded = true,
                _ => return Err(wrong()),
            }
        }
        Ok(strategy)
    }

    /// What [`Self::parse`] reads.
    pub fn id(&self) -> String {
        let mut parts = Vec::new();
        match self.checkpoint_every {
            0 => {}
            1 => parts.push("checkpoint".to_owned()),
            n => parts.push(format!("checkpoint{n}")),
        }
        if self.micro_batches > 1 {
            let word = if self.is_undivided { "undivided" } else { "accumulate" };
            parts.push(format!("{word}{}", self.micro_batches));
        }
        if self.is_offloaded {
            parts.push("offload".to_owned());
        }
        if parts.is_empty() { "keep".to_owned() } else { parts.join("+") }
    }

    /// Whether the gradient is the baseline's bit for bit: nothing is summed in another order.
    pub fn is_exact(&self) -> bool {
        self.micro_batches == 1
    }

    /// Fits the batch?
    pub fn check(&self, batch: usize) -> Result<(), FieldError> {
        if self.micro_batches == 0 || !batch.is_multiple_of(self.micro_batches) {
            let why = format!("a batch of {batch} does not split into {} equal parts", self.micro_batches);
            return Err(FieldError::conflict("micro_batches", why));
        }
        Ok(())
    }
}
