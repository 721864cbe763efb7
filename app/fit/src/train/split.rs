//! The tape of one card's step where not all of it lies on that card: shards over several cards, optimizer states on the host, the
//! loss in pieces. Every item of the tape is counted by its share, and the fullest moment is looked for anew.
//!
//! Activations are the tape's. The shares follow ZeRO's stages: states over all cards from stage 1, gradients from 2, parameters
//! from 3, where two layers (and, as FSDP wraps them, embedding and head) are gathered in the type of the computation.
//! Copies (stage 0) keep DDP's buckets: every gradient once more. Requests are rounded to 512 bytes; there is no replay, so what
//! the allocator reserves beyond is the middle of recorded runs. One card could be measured, several could not.

use super::tape::moment_words;
use crate::ask::{Ask, MOST_ZERO, Precision, Train};
use crate::items::{self, Certainty, Item, Owner, Sums};
use vramlab_ledger::{Event, Item as Piece, Mark, Owner as Holder, Part, Run};
use vramlab_units::{Localized, Text};

const GRAIN: u64 = 512;

/// Kinds of bytes that are shared in different ways.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Weights,
    Gradients,
    States,
    /// Temporaries of the optimizer.
    Update,
    Casts,
    /// Scores, their softmax, and their gradients.
    Logits,
    Kept,
    Passing,
}

const N_KINDS: usize = 8;

impl Kind {
    fn of(piece: &Piece, part: Part) -> Self {
        let is_of_loss =
            piece.layer.is_none() && ["cross_entropy", "log_softmax", "nll_loss", "cast"].contains(&piece.op);
        match piece.owner {
            Holder::Parameter => Self::Weights,
            Holder::Gradient => Self::Gradients,
            Holder::Optimizer => Self::States,
            Holder::WeightCast => Self::Casts,
            Holder::Logits => Self::Logits,
            Holder::Input | Holder::Activation => Self::Kept,
            Holder::Temporary if part == Part::Step => Self::Update,
            Holder::ActivationGradient if is_of_loss => Self::Logits,
            Holder::ActivationGradient | Holder::Temporary => Self::Passing,
        }
    }
}

/// How much of each kind lies on a card, and what comes on top while layers are at work.
struct Shares {
    parts: [(u64, u64); N_KINDS],
    gathered: u64,
}

fn shares(run: &Run, ask: &Ask, train: &Train) -> Shares {
    let n = ask.n_cards;
    let from = |stage: u64| if train.zero >= stage { (1, n) } else { (1, 1) };
    let states = if train.offload { (0, 1) } else { from(1) };
    let is_sharded = n > 1 && train.zero == MOST_ZERO;
    let mut parts = [(1, 1); N_KINDS];
    parts[Kind::Weights as usize] = from(3);
    parts[Kind::Gradients as usize] = from(2);
    parts[Kind::States as usize] = states;
    parts[Kind::Update as usize] = states;
    // Gathered layers come in the type of the computation already.
    parts[Kind::Casts as usize] = (u64::from(!is_sharded), 1);
    parts[Kind::Logits as usize] = (1, train.loss_chunks);
    let compute = if train.precision == Precision::Fp32 { 4 } else { 2 };
    let plan = &run.plan;
    let outside = plan.vocab * plan.hidden * if plan.is_tied { 1 } else { 2 };
    let layers = run.n_params.saturating_sub(outside) / plan.layers.max(1) * 2;
    let copies = match (n > 1, train.zero) {
        (false, _) => 0,
        (true, 0) => run.n_trained * if train.precision == Precision::Bf16 { 2 } else { 4 },
        (true, MOST_ZERO) => compute * (outside + layers),
        (true, _) => 0,
    };
    Shares { parts, gathered: copies }
}

/// The fullest moment: bytes of each kind, where it is.
struct Fullest {
    held: [u64; N_KINDS],
    total: u64,
    part: Part,
    op: &'static str,
}

fn fullest(run: &Run, shares: &Shares) -> Fullest {
    let tape = &run.tape;
    let mut kinds = vec![Kind::Passing; tape.items.len()];
    let (mut held, mut part, mut step) = ([0_u64; N_KINDS], Part::Forward, 0);
    let mut best = Fullest { held, total: 0, part, op: "" };
    let share = |kind: usize, bytes: u64| bytes / shares.parts[kind].1 * shares.parts[kind].0;
    for event in &tape.events {
        match event {
            Event::Request(id) => {
                let piece = &tape.items[*id as usize];
                let kind = Kind::of(piece, part);
                kinds[*id as usize] = kind;
                held[kind as usize] += piece.bytes.next_multiple_of(GRAIN);
                let total = held.iter().enumerate().map(|(kind, bytes)| share(kind, *bytes)).sum();
                if step == 2 && total > best.total {
                    best = Fullest { held, total, part, op: piece.op };
                }
            }
            Event::Free(id) => {
                held[kinds[*id as usize] as usize] -= tape.items[*id as usize].bytes.next_multiple_of(GRAIN);
            }
            Event::Mark(mark) => {
                part = match mark {
                    Mark::StepStart => Part::Forward,
                    Mark::AfterForward => Part::Backward,
                    Mark::AfterBackward => Part::Step,
                    Mark::AfterStep => Part::Zero,
                    _ => part,
                };
                step += u64::from(*mark == Mark::StepStart);
            }
        }
    }
    for (kind, bytes) in best.held.iter_mut().enumerate() {
        *bytes = share(kind, *bytes);
    }
    best
}

pub fn sums(run: &Run, ask: &Ask, train: &Train) -> Sums {
    let shares = shares(run, ask, train);
    let best = fullest(run, &shares);
    let mut sums = Sums { moment: Some(moment_words(best.part, best.op)), ..Sums::default() };
    for (owner, bytes, certainty, (zh, en)) in states(&best, ask, train).into_iter().chain(work(&best, &shares, train))
    {
        if bytes > 0 {
            let part = part_of(owner, sums.items.last());
            sums.items.push(Item { part, ..Item::new(owner, bytes, certainty, zh, en) });
        }
    }
    let total = sums.total();
    sums.items.push(super::closed::reserve(total));
    sums.items.push(items::context());
    if ask.n_cards > 1 {
        sums.notes.push(Localized::both(
            "多卡没有实测：激活逐操作算，分片按张数除；通信缓冲另算，DeepSpeed 默认每块 5×10⁸ 个元素",
            "several cards were not measured: activations are by tape, shards by division; communication buffers come on top, \
             5×10⁸ elements each by DeepSpeed's defaults",
        ));
    }
    sums
}

/// The second item of an owner has a name of its own: the logits among what is kept, what cards gather among temporaries.
fn part_of(owner: Owner, before: Option<&Item>) -> Option<Text> {
    before.filter(|item| item.owner == owner)?;
    match owner {
        Owner::Activations => Some(Text::new("logits", "logits")),
        Owner::Workspace => Some(Text::new("通信缓冲", "communication")),
        _ => None,
    }
}

type Row = (Owner, u64, Certainty, (String, String));

/// Parameters, gradients and states, each from its stage on in shards.
fn states(best: &Fullest, ask: &Ask, train: &Train) -> [Row; 3] {
    let n = ask.n_cards;
    let row = |owner, kind: Kind, stage: u64, zh: &str, en: &str| {
        let is_divided = n > 1 && train.zero >= stage;
        let (more_zh, more_en) = match is_divided {
            true => (format!("，分到 {n} 张卡"), format!(", in shards on {n} cards")),
            false => Default::default(),
        };
        let sure = if is_divided { Certainty::Formula } else { Certainty::Tape };
        (owner, best.held[kind as usize], sure, (format!("{zh}{more_zh}"), format!("{en}{more_en}")))
    };
    [
        row(Owner::Weights, Kind::Weights, 3, "参数", "parameters"),
        row(
            Owner::Gradients,
            Kind::Gradients,
            2,
            "参数的梯度，到这一刻为止",
            "gradients of parameters, up to this moment",
        ),
        row(Owner::Optimizer, Kind::States, 1, "优化器状态", "states of the optimizer"),
    ]
}

/// What a step holds beside them.
fn work(best: &Fullest, shares: &Shares, train: &Train) -> [Row; 4] {
    let of = |kinds: &[Kind]| kinds.iter().map(|kind| best.held[*kind as usize]).sum::<u64>();
    let both = |zh: &str, en: &str| (zh.to_owned(), en.to_owned());
    let logits = if train.loss_chunks > 1 { Certainty::Formula } else { Certainty::Tape };
    [
        (Owner::Activations, of(&[Kind::Kept]), Certainty::Tape, both("为反向保存的张量", "tensors kept for backward")),
        (Owner::Activations, of(&[Kind::Logits]), logits, logits_words(train)),
        (
            Owner::Workspace,
            of(&[Kind::Casts, Kind::Passing, Kind::Update]),
            Certainty::Tape,
            both(
                "权重的 16 位副本、激活的梯度、临时张量",
                "16-bit copies of weights, gradients of activations, temporaries",
            ),
        ),
        (Owner::Workspace, shares.gathered, Certainty::Formula, gathered_words(train)),
    ]
}

fn logits_words(train: &Train) -> (String, String) {
    let n = train.loss_chunks;
    if n > 1 {
        return (format!("logits 和损失，分 {n} 块"), format!("logits and loss, in {n} pieces"));
    }
    ("logits 和损失".to_owned(), "logits and loss".to_owned())
}

fn gathered_words(train: &Train) -> (String, String) {
    if train.zero == 0 {
        return ("DDP 的通信桶：梯度再来一份".to_owned(), "DDP's buckets: every gradient once more".to_owned());
    }
    ("聚合起来的两层，以及词嵌入和输出层".to_owned(), "two gathered layers, and embedding and head".to_owned())
}
