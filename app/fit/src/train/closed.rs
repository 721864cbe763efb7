//! The closed formula of a training step: three moments, the fullest of which counts.
//!
//! Loss: everything saved by the layers, and three copies of the logits in float32 (log-softmax, and two gradients of it).
//! First layer: all gradients, and what one layer saves. Step: gradients, states, and a temporary as large as all trained
//! parameters for AdamW over all of them at once. Derivation: chapter 05; the terms of one layer are those that PyTorch
//! saves with flash attention. Bias of scratch, tails and rounding are not in it.

use crate::ask::{Ask, Optimizer, Precision, Train};
use crate::items::{self, Certainty, Item, Owner, Sums};
use crate::serve::inner_width;
use crate::weights;
use vramlab_modelfile::arch::Family;
use vramlab_modelfile::parts::{self, Part, Role};
use vramlab_modelfile::{Architecture, Dtype, Field, Format, Model, Problem};
use vramlab_units::Localized;

/// Bytes of a value by what it is for.
#[derive(Clone, Copy, Debug)]
struct Widths {
    /// An input of a matrix product.
    e: u128,
    /// The residual stream.
    r: u128,
    /// A parameter, its gradient.
    w: u128,
    /// A float32 copy beside it.
    master: u128,
}

fn widths(precision: Precision) -> Widths {
    let (e, r, w, master) = match precision {
        Precision::Fp32 => (4, 4, 4, 0),
        Precision::Amp => (2, 4, 4, 0),
        Precision::Bf16 => (2, 2, 2, 0),
        Precision::Masters => (2, 2, 2, 4),
    };
    Widths { e, r, w, master }
}

/// Bytes of all parts.
#[derive(Clone, Copy, Debug, Default)]
struct Bytes {
    weights: u128,
    casts: u128,
    gradients: u128,
    states: u128,
    step_temporary: u128,
    gathered: u128,
    inputs: u128,
    layers: u128,
    one_layer: u128,
    logits: u128,
}

pub fn sums(model: &Model, ask: &Ask, train: &Train) -> Result<Sums, Problem> {
    let arch = &model.arch;
    let list = parts::parts(arch)?;
    let w = widths(train.precision);
    let n = u128::from(ask.n_cards);
    let trained = trained(arch, &list, train)?;
    let mut b = layers(arch, train, w)?;
    let all = parts::n_params(&list);
    b.weights = base(&list, train, w, all, trained).div_ceil(n);
    b.gradients = (trained * w.w).div_ceil(n);
    let state_width = if w.master > 0 { 4 } else { w.w };
    b.states = states(train.optimizer, trained, state_width).div_ceil(n) + (trained * w.master).div_ceil(n);
    b.step_temporary = match train.optimizer {
        Optimizer::AdamW if !train.fused => (trained * state_width).div_ceil(n),
        _ => 0,
    };
    if train.offload {
        (b.states, b.step_temporary) = (0, 0);
    }
    // Shards are gathered layer by layer in 16 bits and dropped again; a whole model keeps its casts until backward.
    if train.precision == Precision::Amp && n == 1 {
        let linear: u128 =
            list.iter().filter(|part| part.is_linear && part.role != Role::Vision).map(Part::params).sum();
        let head = u128::from(arch.need(Field::Hidden)?) * u128::from(arch.need(Field::Vocab)?);
        b.casts =
            2 * if train.recompute { linear / u128::from(arch.need(Field::Layers)?) + head } else { linear + head };
    }
    if n > 1 {
        b.gathered = 2 * w.e * all / u128::from(arch.need(Field::Layers)?);
    }
    say(arch, ask, train, &b, all, trained)
}

/// Parameters that get a gradient: all of them, or adapters of rank r on q and v.
fn trained(arch: &Architecture, list: &[Part], train: &Train) -> Result<u128, Problem> {
    let Some(rank) = train.lora else { return Ok(parts::n_params(list)) };
    let hidden = arch.need(Field::Hidden)?;
    let (q, v) = match arch.get(Field::HeadDim) {
        Some(size) => (arch.need(Field::Heads)? * size, arch.need(Field::KvHeads)? * size),
        None => (hidden, hidden),
    };
    Ok(u128::from(rank) * u128::from(hidden + q + hidden + v) * u128::from(arch.need(Field::Layers)?))
}

/// The model's own weights, frozen ones in four bits where that is asked.
fn base(list: &[Part], train: &Train, w: Widths, all: u128, trained: u128) -> u128 {
    if train.lora.is_none() {
        return all * w.w;
    }
    let frozen = if train.nf4 {
        parts::bytes(list, Format::Nf4 { double: true }, Format::Plain(Dtype::BF16))
    } else {
        all * w.w
    };
    frozen + trained * w.w
}

fn states(optimizer: Optimizer, trained: u128, width: u128) -> u128 {
    match optimizer {
        Optimizer::AdamW => 2 * trained * width,
        Optimizer::AdamW8 => 2 * (trained + trained.div_ceil(256) * 4),
        Optimizer::Momentum => trained * width,
        Optimizer::Sgd => 0,
    }
}

/// What the layers and the loss save.
fn layers(arch: &Architecture, train: &Train, w: Widths) -> Result<Bytes, Problem> {
    let hidden = u128::from(arch.need(Field::Hidden)?);
    let vocab = u128::from(arch.need(Field::Vocab)?);
    let n_layers = u128::from(arch.need(Field::Layers)?);
    let heads = u128::from(arch.need(Field::Heads)?);
    let tokens = u128::from(train.batch) * u128::from(train.seq_len);
    let attention = attention(arch, heads, hidden)?;
    let width = inner_width(arch)?;
    let is_gated = !matches!(arch.family, Some(Family::Gpt2 | Family::NeoX));
    // Values a token: inputs of q, k, v and of the feed-forward, attention's own, gate, up, SiLU and product.
    let values = 2 * hidden + attention + width * if is_gated { 4 } else { 2 };
    let extra_norms =
        if arch.family == Some(Family::Gemma) && arch.model_type != "gemma" { 2 * w.e * hidden } else { 0 };
    let statistics = 16 + 4 * heads;
    let mut per_token = w.e * values + w.r * hidden + extra_norms + statistics;
    if let Some(experts) = arch.get(Field::Experts) {
        // Router: float32 probabilities, and the tokens once for each expert they go to.
        per_token += 4 * u128::from(experts) + w.e * hidden * u128::from(arch.get(Field::ActiveExperts).unwrap_or(1));
    }
    let mut one_layer = per_token.saturating_mul(tokens);
    if train.math {
        let scores = heads.saturating_mul(u128::from(train.batch)).saturating_mul(u128::from(train.seq_len).pow(2));
        let width = if w.e == 4 {
            4
        } else if w.r == 4 {
            6
        } else {
            2
        };
        one_layer = one_layer.saturating_add(scores.saturating_mul(width));
    }
    let input = w.r * hidden * tokens;
    let kept = vocab.saturating_mul(tokens) / u128::from(train.loss_chunks);
    Ok(Bytes {
        inputs: input.saturating_mul(n_layers + 1) + w.e * hidden * tokens,
        layers: one_layer.saturating_mul(n_layers),
        one_layer,
        logits: 12 * kept,
        ..Bytes::default()
    })
}

/// Values of a token that attention saves: q, k, v and the output; low-rank ones for latent attention.
fn attention(arch: &Architecture, heads: u128, hidden: u128) -> Result<u128, Problem> {
    if arch.get(Field::KvRank).is_some() {
        let get = |field| arch.need(field).map(u128::from);
        let (nope, rope, v) = (get(Field::NopeDim)?, get(Field::RopeDim)?, get(Field::VHeadDim)?);
        let ranks = get(Field::KvRank)? + arch.get(Field::QRank).map_or(0, u128::from);
        return Ok(2 * ranks + heads * (2 * (nope + rope) + 2 * v));
    }
    match (arch.get(Field::HeadDim), arch.get(Field::KvHeads)) {
        (Some(size), Some(kv)) => Ok(u128::from(size) * (2 * heads + 2 * u128::from(kv))),
        _ => Ok(4 * hidden),
    }
}

/// The three moments.
struct Moment {
    zh: &'static str,
    en: &'static str,
    gradients: u128,
    activations: u128,
    workspace: u128,
}

fn moments(train: &Train, b: &Bytes) -> [Moment; 3] {
    let saved = if train.recompute { b.inputs } else { b.inputs + b.layers };
    let held = if train.accumulation > 1 { b.gradients } else { 0 };
    [
        Moment {
            zh: "反向刚开始，损失的梯度",
            en: "backward begins: the gradient of the loss",
            gradients: held,
            activations: saved + b.logits,
            workspace: b.casts + b.gathered,
        },
        Moment {
            zh: "反向的最后一层",
            en: "the last layer of backward",
            gradients: b.gradients,
            activations: b.one_layer + b.inputs.min(b.one_layer),
            workspace: b.casts.min(b.one_layer) + b.gathered,
        },
        Moment {
            zh: "优化器更新",
            en: "the optimizer's update",
            gradients: b.gradients,
            activations: 0,
            workspace: b.step_temporary,
        },
    ]
}

fn say(arch: &Architecture, ask: &Ask, train: &Train, b: &Bytes, all: u128, trained: u128) -> Result<Sums, Problem> {
    let all_moments = moments(train, b);
    let sum = |moment: &Moment| moment.gradients + moment.activations + moment.workspace;
    let [first, rest @ ..] = &all_moments;
    let fullest = rest.iter().fold(first, |best, moment| if sum(moment) > sum(best) { moment } else { best });
    let mut sums = Sums { moment: Some(Localized::both(fullest.zh, fullest.en)), ..Sums::default() };
    let (n_all, n_trained) = (weights::billions(all), weights::billions(trained));
    let precision = train.precision.id();
    let (zh, en) = if ask.n_cards > 1 {
        (format!("，分到 {} 张卡", ask.n_cards), format!(", in shards on {} cards", ask.n_cards))
    } else {
        Default::default()
    };
    let mut push = |owner, value: u128, text: (String, String)| -> Result<(), Problem> {
        if value > 0 {
            sums.items.push(Item::new(owner, crate::bytes(value)?, Certainty::Formula, text.0, text.1));
        }
        Ok(())
    };
    push(
        Owner::Weights,
        b.weights,
        (format!("{n_all} 个参数，{precision}{zh}"), format!("{n_all} parameters, {precision}{en}")),
    )?;
    push(
        Owner::Gradients,
        fullest.gradients,
        (format!("{n_trained} 个可训练参数{zh}"), format!("{n_trained} trained parameters{en}")),
    )?;
    let optimizer = train.optimizer.id();
    push(Owner::Optimizer, b.states, (format!("{optimizer} 的状态{zh}"), format!("states of {optimizer}{en}")))?;
    let (batch, len) = (train.batch, train.seq_len);
    let kept = if train.recompute {
        ("只留每层的输入", "only each layer's input is kept")
    } else {
        ("各层保存的张量", "what the layers save")
    };
    push(
        Owner::Activations,
        fullest.activations,
        (format!("{batch} × {len} token：{}", kept.0), format!("{batch} × {len} tokens: {}", kept.1)),
    )?;
    push(Owner::Workspace, fullest.workspace, ("类型转换和临时张量".to_owned(), "casts and temporaries".to_owned()))?;
    let total = sums.total();
    sums.items.push(reserve(total));
    sums.items.push(items::context());
    unmodelled(arch, &mut sums);
    Ok(sums)
}

/// What the allocator reserves beyond what is allocated: 2 to 14 % in six recorded runs on an H200, 8 % in the middle.
pub(super) fn reserve(total: u64) -> Item {
    Item::new(
        Owner::Reserve,
        total / 100 * 8,
        Certainty::Measured,
        "分配器多占的 8 %：六次录制为 2 % 到 14 %",
        "8 % that the allocator holds beyond it: 2 to 14 % in six recordings",
    )
}

fn unmodelled(arch: &Architecture, sums: &mut Sums) {
    if arch.get(Field::VisionLayers).is_some() {
        sums.notes.push(Localized::both(
            "图像塔算进了权重，没有算它的激活",
            "the image tower is in the weights; its activations are not counted",
        ));
    }
}
