//! The operation tape of the ledger, where it plays the model: every request of a step through the caching allocator.
//!
//! It plays the GPT block and the Llama block on one card. Biases of q, k and v, and positions beyond the sequence, are
//! not on it; a model whose parameters differ by more than half a percent for such reasons goes to the closed formula.

use crate::ask::{Ask, Optimizer, Precision, Train};
use crate::items::{self, Certainty, Item, Owner, Sums};
use vramlab_ledger as ledger;
use vramlab_ledger::{Holder, Part, Plan, Start, Timeline};
use vramlab_modelfile::arch::Family;
use vramlab_modelfile::{Field, Model, parts};
use vramlab_units::Localized;

/// Parameters that may be missing from the tape, as a share of all.
const MISSED: f64 = 0.005;
/// Longer tapes are left to the formula, so that an answer does not take seconds.
const MOST_LAYERS: u64 = 160;

/// The step by its tape; nothing where the tape does not know the model or the way of training.
pub fn sums(model: &Model, ask: &Ask, train: &Train) -> Option<Sums> {
    let plan = plan(model, ask, train)?;
    let n_params = parts::n_params(&parts::parts(&model.arch).ok()?);
    let run = ledger::record(&plan).ok()?;
    let adapters = if plan.lora_rank > 0 { run.n_trained } else { 0 };
    let missed = (run.n_params as f64 - adapters as f64 - n_params as f64).abs() / n_params as f64;
    if missed > MISSED {
        return None;
    }
    let timeline = Timeline::new(&run, Start::default(), 1);
    Some(told(&timeline, &plan, model.arch.flag(Field::QkvBias)))
}

/// The run of the ledger that this training is.
fn plan(model: &Model, ask: &Ask, train: &Train) -> Option<Plan> {
    let arch = &model.arch;
    let get = |field| arch.get(field);
    let net = match arch.family? {
        Family::Gpt2 if get(Field::Intermediate)? == 4 * get(Field::Hidden)? => ledger::Net::Gpt,
        Family::Llama if get(Field::Experts).is_none() => ledger::Net::Llama,
        _ => return None,
    };
    let (hidden, heads) = (get(Field::Hidden)?, get(Field::Heads)?);
    let is_plain = get(Field::HeadDim)? * heads == hidden && get(Field::VisionLayers).is_none();
    let is_local = ask.n_cards == 1 && train.loss_chunks == 1 && !train.offload;
    let layers = get(Field::Layers)?;
    if !is_plain || !is_local || layers > MOST_LAYERS {
        return None;
    }
    Some(Plan {
        net,
        layers,
        hidden,
        heads,
        kv_heads: get(Field::KvHeads)?,
        ffn: get(Field::Intermediate)?,
        vocab: get(Field::Vocab)?,
        seq_len: train.seq_len,
        batch: train.batch,
        attention: if train.math { ledger::Attention::Math } else { ledger::Attention::Flash },
        precision: match train.precision {
            Precision::Fp32 => ledger::Precision::Fp32,
            Precision::Amp => ledger::Precision::Amp,
            Precision::Bf16 | Precision::Masters => ledger::Precision::Bf16,
        },
        has_masters: train.precision == Precision::Masters,
        optimizer: match train.optimizer {
            Optimizer::AdamW => ledger::Optimizer::AdamW,
            Optimizer::AdamW8 => ledger::Optimizer::AdamW8bit,
            Optimizer::Sgd => ledger::Optimizer::Sgd,
            Optimizer::Momentum => ledger::Optimizer::Sgdm,
        },
        checkpoint_every: u64::from(train.recompute),
        is_tied: arch.flag(Field::Tied),
        lora_rank: train.lora.unwrap_or(0),
        is_nf4: train.nf4,
        accumulation: train.accumulation,
        ..Plan::default()
    })
}

/// The owners at the peak, and what the allocator held beyond it.
fn told(timeline: &Timeline, plan: &Plan, has_bias: bool) -> Sums {
    let held = timeline.at(timeline.peak.at);
    let of =
        |wanted: &[Holder]| held.iter().filter(|(holder, _)| wanted.contains(holder)).map(|(_, bytes)| bytes).sum();
    let owner = Holder::Owner;
    use ledger::Owner as L;
    let rows: [(Owner, u64, &str, &str); 5] = [
        (Owner::Weights, of(&[owner(L::Parameter)]), "参数", "parameters"),
        (
            Owner::Gradients,
            of(&[owner(L::Gradient)]),
            "参数的梯度，到这一刻为止",
            "gradients of parameters, up to this moment",
        ),
        (Owner::Optimizer, of(&[owner(L::Optimizer)]), "优化器状态", "states of the optimizer"),
        (
            Owner::Activations,
            of(&[owner(L::Activation), owner(L::Input), owner(L::Logits)]),
            "为反向保存的张量、logits 和损失",
            "tensors kept for backward, logits and loss",
        ),
        (
            Owner::Workspace,
            of(&[owner(L::WeightCast), owner(L::ActivationGradient), owner(L::Temporary), Holder::Rest]),
            "权重的 16 位副本、激活的梯度、临时张量、切不下来的余量",
            "16-bit copies of weights, gradients of activations, temporaries, unsplit rests",
        ),
    ];
    let mut sums = Sums { moment: Some(moment(timeline)), ..Sums::default() };
    for (owner, bytes, zh, en) in rows {
        if bytes > 0 {
            sums.items.push(Item::new(owner, bytes, Certainty::Tape, zh, en));
        }
    }
    let beyond = timeline.figures.reserved.saturating_sub(timeline.peak.bytes);
    sums.items.push(Item::new(
        Owner::Reserve,
        beyond,
        Certainty::Tape,
        "分配器拿着没用上的，含 68 MiB 库工作区",
        "held by the allocator beyond that, with 68 MiB of library workspaces",
    ));
    sums.items.push(items::context());
    if has_bias && plan.net == ledger::Net::Llama {
        sums.notes.push(Localized::both("q、k、v 的偏置没有算进来", "biases of q, k and v are not counted"));
    }
    sums
}

fn moment(timeline: &Timeline) -> Localized {
    let (zh, en) = match timeline.peak.part {
        Part::Forward => ("前向", "forward"),
        Part::Backward => ("反向", "backward"),
        Part::Step => ("优化器更新", "the optimizer's update"),
        Part::Zero => ("清梯度", "zeroing the gradients"),
    };
    let op = timeline.peak.item.op;
    if op.is_empty() {
        return Localized::both(zh, en);
    }
    Localized::both(format!("{zh}，{op}"), format!("{en}, {op}"))
}
