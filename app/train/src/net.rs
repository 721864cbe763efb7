//! What is trained: a small net, its sizes, its data. Two runs are comparable only if all of it is equal.

use serde::{Deserialize, Serialize};
use vramlab_units::FieldError;

/// The kind of net.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Layers of `gelu(x · W + b)`.
    Mlp,
    /// Transformer blocks: LayerNorm, causal attention, LayerNorm, a GELU MLP of four times the width.
    #[default]
    Block,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Optimizer {
    Sgd,
    #[default]
    Adamw,
}

/// Format of every number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dtype {
    #[default]
    Fp32,
    Fp64,
}

impl Dtype {
    pub fn bytes(self) -> u64 {
        match self {
            Self::Fp32 => 4,
            Self::Fp64 => 8,
        }
    }

    pub fn id(self) -> &'static str {
        match self {
            Self::Fp32 => "fp32",
            Self::Fp64 => "fp64",
        }
    }
}

/// The fixed work of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    pub net: Kind,
    pub n_layers: usize,
    pub width: usize,
    /// Heads of the attention; 1 in an MLP.
    pub n_heads: usize,
    /// Rows of one sample.
    pub seq_len: usize,
    /// Samples of one step.
    pub batch: usize,
    pub n_classes: usize,
    pub dtype: Dtype,
    pub optimizer: Optimizer,
    pub seed: u64,
    /// Steps that are run.
    pub n_steps: usize,
}

/// Name, smallest and largest value of each size.
pub const RANGES: [(&str, usize, usize); 7] = [
    ("n_layers", 1, 128),
    ("width", 1, 16_384),
    ("n_heads", 1, 128),
    ("seq_len", 1, 8192),
    ("batch", 1, 65_536),
    ("n_classes", 2, 262_144),
    ("n_steps", 1, 1000),
];

/// The shape of attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heads {
    pub batch: usize,
    pub seq: usize,
    pub heads: usize,
    /// Numbers of one head.
    pub size: usize,
}

impl Heads {
    pub fn width(self) -> usize {
        self.heads * self.size
    }

    /// Numbers of all scores.
    pub fn scores(self) -> usize {
        self.batch * self.heads * self.seq * self.seq
    }
}

/// A tensor of parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    pub name: String,
    pub words: usize,
    pub start: Start,
}

/// What a parameter begins as.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Start {
    /// Evenly from −x to x.
    Even(f64),
    One,
}

impl Workload {
    fn sizes(&self) -> [usize; 7] {
        [self.n_layers, self.width, self.n_heads, self.seq_len, self.batch, self.n_classes, self.n_steps]
    }

    /// Names the field, the value and what is legal.
    pub fn check(&self) -> Result<(), FieldError> {
        for ((name, min, max), value) in RANGES.iter().zip(self.sizes()) {
            if !(*min..=*max).contains(&value) {
                return Err(FieldError::illegal(name, &value.into(), format!("a whole number from {min} to {max}")));
            }
        }
        if !self.width.is_multiple_of(self.n_heads) {
            let why = format!("a width of {} cannot be shared by {} heads", self.width, self.n_heads);
            return Err(FieldError::conflict("n_heads", why));
        }
        Ok(())
    }

    /// Rows of all samples.
    pub fn rows(&self) -> usize {
        self.batch * self.seq_len
    }

    /// Tensors of one layer.
    pub fn params_of_layer(&self) -> usize {
        match self.net {
            Kind::Mlp => 2,
            Kind::Block => 12,
        }
    }

    /// Every parameter, in the order of the forward pass.
    pub fn params(&self) -> Vec<Param> {
        let mut all = Vec::new();
        let d = self.width;
        for layer in 0..self.n_layers {
            match self.net {
                Kind::Mlp => linear(&mut all, &format!("layer {layer} · "), d, d),
                Kind::Block => {
                    norm(&mut all, &format!("layer {layer} · norm 1"), d);
                    linear(&mut all, &format!("layer {layer} · qkv "), d, 3 * d);
                    linear(&mut all, &format!("layer {layer} · out "), d, d);
                    norm(&mut all, &format!("layer {layer} · norm 2"), d);
                    linear(&mut all, &format!("layer {layer} · up "), d, 4 * d);
                    linear(&mut all, &format!("layer {layer} · down "), 4 * d, d);
                }
            }
        }
        if self.net == Kind::Block {
            norm(&mut all, "head · norm", d);
        }
        linear(&mut all, "head · ", d, self.n_classes);
        all
    }

    /// Numbers in all parameters.
    pub fn n_params(&self) -> usize {
        self.params().iter().map(|param| param.words).sum()
    }
}

fn linear(all: &mut Vec<Param>, name: &str, from: usize, to: usize) {
    let most = 1.0 / (from as f64).sqrt();
    all.push(Param { name: format!("{name}weight"), words: from * to, start: Start::Even(most) });
    all.push(Param { name: format!("{name}bias"), words: to, start: Start::Even(most) });
}

fn norm(all: &mut Vec<Param>, name: &str, width: usize) {
    all.push(Param { name: format!("{name} scale"), words: width, start: Start::One });
    all.push(Param { name: format!("{name} shift"), words: width, start: Start::Even(0.1) });
}
