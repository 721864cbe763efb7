//! What training runs on: memory by handle, a handful of operations, copies to the host.
//!
//! [`Op`] is the whole vocabulary. Every device computes it in a fixed order, so that the same operation on the same
//! bits gives the same bits again; that is what lets a recomputed activation stand in for a kept one.

use crate::net::Heads;

/// Memory on the device. Nobody but the device knows what the number means.
pub type Buf = u64;

/// Why a step did not end.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Trouble {
    /// The budget that the caller set; a result, not a failure.
    #[error("{label} asks for {asked_bytes} B with {live_bytes} B in use: {over} B over the budget of {budget_bytes} B", over = live_bytes + asked_bytes - budget_bytes)]
    OverBudget { asked_bytes: u64, live_bytes: u64, budget_bytes: u64, label: String, phase: Phase },
    /// The device itself has no more.
    #[error("the device refused {asked_bytes} B with {live_bytes} B in use")]
    Refused { asked_bytes: u64, live_bytes: u64 },
    /// Whatever else the device says.
    #[error("{0}")]
    Device(String),
}

/// The parts of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    #[default]
    Start,
    Forward,
    Backward,
    /// A forward pass done again within the backward pass.
    Recompute,
    Update,
}

impl Phase {
    pub fn id(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Forward => "forward",
            Self::Backward => "backward",
            Self::Recompute => "recompute",
            Self::Update => "update",
        }
    }
}

/// One operation. Matrices lie row by row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    /// `out = A · B`, or `out += A · B` with `add`: the product is summed first and added once. `ta`: A lies as k × m.
    Gemm {
        out: Buf,
        a: Buf,
        b: Buf,
        m: usize,
        n: usize,
        k: usize,
        ta: bool,
        tb: bool,
        add: bool,
    },
    /// `y += bias` in every row.
    Bias {
        y: Buf,
        bias: Buf,
        rows: usize,
        cols: usize,
    },
    /// Sums of the columns of `dy`.
    BiasGrad {
        out: Buf,
        dy: Buf,
        rows: usize,
        cols: usize,
        add: bool,
    },
    /// GELU in its tanh form.
    Gelu {
        y: Buf,
        x: Buf,
        n: usize,
    },
    /// `dx = dy · gelu'(x)`; `dx` may be `dy`.
    GeluBack {
        dx: Buf,
        dy: Buf,
        x: Buf,
        n: usize,
    },
    /// LayerNorm; mean and 1/σ of each row go to `stats`.
    Norm {
        y: Buf,
        stats: Buf,
        x: Buf,
        gamma: Buf,
        beta: Buf,
        rows: usize,
        cols: usize,
    },
    NormBack {
        dx: Buf,
        dy: Buf,
        x: Buf,
        stats: Buf,
        gamma: Buf,
        rows: usize,
        cols: usize,
    },
    NormGrad {
        dgamma: Buf,
        dbeta: Buf,
        dy: Buf,
        x: Buf,
        stats: Buf,
        rows: usize,
        cols: usize,
        add: bool,
    },
    /// Causal softmax of q · kᵀ / √head, a row a query.
    Scores {
        p: Buf,
        qkv: Buf,
        heads: Heads,
    },
    /// `out = p · v`.
    Mix {
        out: Buf,
        p: Buf,
        qkv: Buf,
        heads: Heads,
    },
    /// The gradient of the scores before softmax, from that of the output.
    ScoresBack {
        ds: Buf,
        dout: Buf,
        p: Buf,
        qkv: Buf,
        heads: Heads,
    },
    /// The gradients of q, k and v.
    MixBack {
        dqkv: Buf,
        ds: Buf,
        dout: Buf,
        p: Buf,
        qkv: Buf,
        heads: Heads,
    },
    /// `y += x`.
    Add {
        y: Buf,
        x: Buf,
        n: usize,
    },
    /// `out = a + b`.
    Sum {
        out: Buf,
        a: Buf,
        b: Buf,
        n: usize,
    },
    /// Cross-entropy of each row; `logits` become their gradient times `scale`.
    Loss {
        loss: Buf,
        logits: Buf,
        targets: Buf,
        rows: usize,
        cols: usize,
        scale: f64,
    },
    Sgd {
        w: Buf,
        g: Buf,
        n: usize,
        rate: f64,
    },
    AdamW {
        w: Buf,
        g: Buf,
        m: Buf,
        v: Buf,
        n: usize,
        adam: Adam,
    },
}

/// The numbers of one AdamW update.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    pub rate: f64,
    pub beta1: f64,
    pub beta2: f64,
    pub eps: f64,
    pub decay: f64,
    /// 1 − β₁ᵗ and 1 − β₂ᵗ.
    pub correct1: f64,
    pub correct2: f64,
}

/// Something to train on.
pub trait Device {
    /// Bytes of one number.
    fn word(&self) -> u64;
    /// Only counts: nobody needs to make data for it.
    fn is_dry(&self) -> bool {
        false
    }
    /// `None`: no memory left.
    fn malloc(&mut self, words: usize) -> Result<Option<Buf>, Trouble>;
    fn free(&mut self, buf: Buf) -> Result<(), Trouble>;
    fn put(&mut self, buf: Buf, values: &[f64]) -> Result<(), Trouble>;
    fn get(&mut self, buf: Buf, words: usize) -> Result<Vec<f64>, Trouble>;
    fn run(&mut self, op: &Op) -> Result<(), Trouble>;
    /// Copies a buffer to the host; a handle of the copy.
    fn park(&mut self, buf: Buf, words: usize) -> Result<u64, Trouble>;
    /// Copies it back and drops the host's copy.
    fn unpark(&mut self, parked: u64, buf: Buf, words: usize) -> Result<(), Trouble>;
    /// Waits until everything is done.
    fn sync(&mut self) -> Result<(), Trouble> {
        Ok(())
    }
}
