//! The operation tape of the ledger, where it plays the model: every request of a step through the caching allocator.
//!
//! It plays the GPT block and the Llama block with what Qwen, Mixtral and Gemma add: grouped heads of any width, biases of q, k
//! and v, norms on heads and behind each half, a tied head, experts. Positions beyond the sequence are not on it; a model
//! whose parameters differ by more than half a percent for such reasons goes to the closed formula.

use super::split;
use crate::ask::{Ask, Optimizer, Precision, Train};
use crate::items::{self, Certainty, Item, Owner, Sums};
use std::cell::{OnceCell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use vramlab_ledger as ledger;
use vramlab_ledger::{Extras, Holder, Net, Part, Plan, Run, Start, Timeline, Update};
use vramlab_modelfile::arch::Family;
use vramlab_modelfile::{Architecture, Field, Model, parts};
use vramlab_units::Localized;

/// Parameters that may be missing from the tape, as a share of all.
const MISSED: f64 = 0.005;
/// Longer tapes are left to the formula, so that an answer does not take seconds.
const MOST_LAYERS: u64 = 160;

/// The step by its tape; nothing where the tape does not know the model or the way of training.
pub fn sums(model: &Model, ask: &Ask, train: &Train) -> Option<Sums> {
    let played = played(plan(model, train)?)?;
    let (plan, run) = (&played.plan, &played.run);
    let n_params = parts::n_params(&parts::parts(&model.arch).ok()?);
    let adapters = if plan.lora_rank > 0 { run.n_trained } else { 0 };
    let missed = (run.n_params as f64 - adapters as f64 - n_params as f64).abs() / n_params as f64;
    if missed > MISSED {
        return None;
    }
    let is_whole = ask.n_cards == 1 && train.loss_chunks == 1 && !train.offload;
    let whole = || told(&Timeline::new(run, Start::default(), 1));
    let mut sums = if is_whole { played.whole.get_or_init(whole).clone() } else { split::sums(run, ask, train) };
    remarks(&model.arch, plan, &mut sums);
    Some(sums)
}

/// Tapes that are kept: a search over cards and budgets asks for the same ones again and again.
const MOST_KEPT: usize = 24;

/// A tape, and what it says of a step on one card.
struct Played {
    plan: Plan,
    run: Run,
    whole: OnceCell<Sums>,
}

thread_local! {
    static KEPT: RefCell<VecDeque<Rc<Played>>> = const { RefCell::new(VecDeque::new()) };
}

/// The tape of a plan, from the last few if it is among them.
fn played(plan: Plan) -> Option<Rc<Played>> {
    let known = KEPT.with_borrow(|kept| kept.iter().find(|one| one.plan == plan).cloned());
    if known.is_some() {
        return known;
    }
    let run = ledger::record(&plan).ok()?;
    let new = Rc::new(Played { plan, run, whole: OnceCell::new() });
    KEPT.with_borrow_mut(|kept| {
        kept.truncate(MOST_KEPT - 1);
        kept.push_front(Rc::clone(&new));
    });
    Some(new)
}

/// Network, feed-forward width and extras of a model that the tape plays.
fn kind(arch: &Architecture) -> Option<(Net, u64, Extras)> {
    let width = arch.get(Field::Intermediate);
    let gemma = |names: &[&str]| names.contains(&arch.model_type.as_str());
    let mut extras = Extras { has_qkv_bias: arch.flag(Field::QkvBias), ..Extras::default() };
    match arch.family? {
        Family::Gpt2 if width? == 4 * arch.get(Field::Hidden)? => Some((Net::Gpt, width?, Extras::default())),
        Family::Llama => {
            extras.has_head_norms = gemma(&["qwen3", "qwen3_moe"]);
            let n_moe = arch.layers.iter().filter(|layer| layer.has_experts).count();
            if n_moe == 0 {
                return Some((Net::Llama, width?, extras));
            }
            let is_pure = n_moe == arch.layers.len() && arch.get(Field::SharedIntermediate).unwrap_or(0) == 0;
            is_pure.then_some((Net::Moe, arch.get(Field::ExpertIntermediate)?, extras))
        }
        Family::Gemma => {
            extras.is_scaled = true;
            extras.has_post_norms = arch.model_type != "gemma";
            extras.has_head_norms = gemma(&["gemma3", "gemma3_text"]);
            extras.is_capped = arch.model_type == "gemma2";
            Some((Net::Llama, width?, extras))
        }
        _ => None,
    }
}

/// The run of the ledger that this training is.
fn plan(model: &Model, train: &Train) -> Option<Plan> {
    let arch = &model.arch;
    let get = |field| arch.get(field);
    let (net, ffn, extras) = kind(arch)?;
    let (hidden, heads, layers) = (get(Field::Hidden)?, get(Field::Heads)?, get(Field::Layers)?);
    let head_dim = get(Field::HeadDim)?;
    if get(Field::VisionLayers).is_some() || layers > MOST_LAYERS {
        return None;
    }
    Some(Plan {
        net,
        layers,
        hidden,
        heads,
        kv_heads: get(Field::KvHeads)?,
        head_size: if head_dim * heads == hidden { 0 } else { head_dim },
        extras,
        ffn,
        experts: get(Field::Experts).unwrap_or(1),
        top_k: get(Field::ActiveExperts).unwrap_or(1),
        // Every token finds room and no place stays empty.
        capacity_factor: 1.0,
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
        update: if train.fused { Update::Fused } else { Update::Foreach },
        checkpoint_every: u64::from(train.recompute),
        is_tied: arch.flag(Field::Tied),
        lora_rank: train.lora.unwrap_or(0),
        is_nf4: train.nf4,
        accumulation: train.accumulation,
        ..Plan::default()
    })
}

/// The owners at the peak, and what the allocator held beyond it.
fn told(timeline: &Timeline) -> Sums {
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
    sums
}

/// What the tape takes differently from the model.
fn remarks(arch: &Architecture, plan: &Plan, sums: &mut Sums) {
    if plan.net == Net::Moe {
        sums.notes.push(Localized::both(
            "专家按每个 token 都分到、没有空位算；分得不均时要得更多",
            "experts are counted with every token placed and no place empty; an uneven spread takes more",
        ));
    }
    if plan.extras.is_capped {
        sums.notes.push(Localized::both(
            "注意力分数的 tanh 上限按融合内核算；逐步写出的注意力要得多得多",
            "the cap on attention scores is taken to be inside a fused kernel; written out, attention takes far more",
        ));
    }
    if arch.flag(Field::OutBias) && plan.net != Net::Gpt {
        sums.notes
            .push(Localized::both("注意力输出的偏置没有算进来", "biases of the attention's output are not counted"));
    }
}

fn moment(timeline: &Timeline) -> Localized {
    moment_words(timeline.peak.part, timeline.peak.item.op)
}

/// Phase and operation of the fullest moment.
pub(super) fn moment_words(part: Part, op: &str) -> Localized {
    let (zh, en) = match part {
        Part::Forward => ("前向", "forward"),
        Part::Backward => ("反向", "backward"),
        Part::Step => ("优化器更新", "the optimizer's update"),
        Part::Zero => ("清梯度", "zeroing the gradients"),
    };
    if op.is_empty() {
        return Localized::both(zh, en);
    }
    Localized::both(format!("{zh}，{op}"), format!("{en}, {op}"))
}
