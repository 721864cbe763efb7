//! What can be changed: each lever turns the question into another one and says what that costs.

use crate::ask::{Ask, MOST_ZERO, Optimizer, Precision, Serve, Train, Work};
use crate::{answer, weights};
use vramlab_modelfile::{Dtype, Field, Format, Model};
use vramlab_units::{Localized, Text};

/// Bytes a second over PCIe 4.0 ×16 as programs reach them; an assumption, printed with every time that follows from it.
pub const PCIE_GB_PER_S: f64 = 25.0;
/// Share of the published peak that a training step reaches; an assumption as well.
pub const STEP_EFFICIENCY: f64 = 0.4;

pub struct Lever {
    pub id: &'static str,
    pub title: Text,
    /// The changed question; nothing where the lever is pulled already or does not exist.
    pub apply: fn(&Model, &Ask) -> Option<Ask>,
    /// What it costs, with numbers where they can be computed.
    pub cost: fn(&Model, &Ask, &Ask) -> Localized,
    /// Extra time in percent, where a rule gives it; what a plan adds up.
    pub percent: fn(&Model, &Ask, &Ask) -> f64,
    /// Numbers change, so that a quality check is due.
    pub needs_check: bool,
    /// Whether a plan may use it: recompute, chunks, precision, offload.
    pub in_plans: bool,
}

impl std::fmt::Debug for Lever {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.id)
    }
}

impl PartialEq for Lever {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

fn serve(ask: &Ask, change: impl FnOnce(&Serve) -> Option<Serve>) -> Option<Ask> {
    let Work::Serve(work) = &ask.work else { return None };
    Some(Ask { work: Work::Serve(change(work)?), ..ask.clone() })
}

fn train(ask: &Ask, change: impl FnOnce(&Train) -> Option<Train>) -> Option<Ask> {
    let Work::Train(work) = &ask.work else { return None };
    Some(Ask { work: Work::Train(change(work)?), ..ask.clone() })
}

fn none(_: &Model, _: &Ask, _: &Ask) -> f64 {
    0.0
}

/// A constant cost in words.
macro_rules! words {
    ($zh:expr, $en:expr) => {
        |_, _, _| Localized::both($zh, $en)
    };
}

/// The weights in another format, if it is smaller than the one at hand.
fn weights_in(model: &Model, ask: &Ask, id: &str) -> Option<Ask> {
    let format = Format::from_id(id).ok()?;
    serve(ask, |work| {
        let now = work.weights.unwrap_or_else(|| weights::stored(model).0);
        (format.bits() < now.bits() - 0.5).then_some(Serve { weights: Some(format), ..*work })
    })
}

pub const LEVERS: &[Lever] = &[
    Lever {
        id: "weights_fp8",
        title: Text::new("权重用 fp8", "weights in fp8"),
        apply: |model, ask| weights_in(model, ask, "fp8_b128"),
        cost: words!(
            "数值变了，要在自己的任务上复核质量；每 token 读的权重字节同比减少；需要支持 fp8 的卡（计算能力 8.9 起）",
            "numbers change: check the quality on your own task; fewer weight bytes are read a token; the card must know \
             fp8 (compute capability 8.9 on)"
        ),
        percent: none,
        needs_check: true,
        in_plans: true,
    },
    Lever {
        id: "weights_4bit",
        title: Text::new("权重用 4 位（AWQ，组 128）", "weights in 4 bits (AWQ, groups of 128)"),
        apply: |model, ask| weights_in(model, ask, "awq4_g128"),
        cost: words!(
            "误差比 fp8 大，必须复核质量；要先做一次量化；批大时反量化拖慢计算",
            "larger errors than fp8, so the quality must be checked; the model is quantised once beforehand; large batches \
             lose time unpacking"
        ),
        percent: |_, _, _| 10.0,
        needs_check: true,
        in_plans: true,
    },
    Lever {
        id: "kv_fp8",
        title: Text::new("KV 缓存用 fp8", "KV cache in fp8"),
        apply: |_, ask| serve(ask, |work| (work.kv.bits() > 8.5).then_some(Serve { kv: Dtype::F8_E4M3, ..*work })),
        cost: words!("长上下文的质量要复核", "check the quality at long contexts"),
        percent: none,
        needs_check: true,
        in_plans: true,
    },
    Lever {
        id: "prefill_chunk",
        title: Text::new("预填充分成更小的块", "smaller prefill chunks"),
        apply: |_, ask| {
            serve(ask, |work| (work.chunk > 512).then_some(Serve { chunk: (work.chunk / 4).max(512), ..*work }))
        },
        cost: words!("长提示的首个 token 来得晚一些", "the first token of a long prompt comes a little later"),
        percent: |_, _, _| 3.0,
        needs_check: false,
        in_plans: true,
    },
    Lever {
        id: "fewer_requests",
        title: Text::new("并发请求减半", "half as many requests at once"),
        apply: |_, ask| {
            serve(ask, |work| (work.requests > 1).then_some(Serve { requests: work.requests.div_ceil(2), ..*work }))
        },
        cost: words!("吞吐减少，多出的请求排队", "less throughput; the others queue"),
        percent: |_, _, _| 50.0,
        needs_check: false,
        in_plans: false,
    },
    Lever {
        id: "shorter_context",
        title: Text::new("上下文减半", "half the context"),
        apply: |_, ask| {
            serve(ask, |work| (work.context > 512).then_some(Serve { context: work.context.div_ceil(2), ..*work }))
        },
        cost: words!("更长的输入会被截断或拒绝", "longer inputs are cut or refused"),
        percent: none,
        needs_check: true,
        in_plans: false,
    },
    Lever {
        id: "offload_weights",
        title: Text::new("把 1/8 的层放到主机内存", "one layer in eight in host memory"),
        apply: |_, ask| {
            serve(ask, |work| {
                (work.offload_eighths < 8).then_some(Serve { offload_eighths: work.offload_eighths + 1, ..*work })
            })
        },
        cost: |model, ask, changed| {
            if ask.card.gb_per_s.is_none() {
                return unknown_time();
            }
            let secs = moved(model, ask, changed) / (PCIE_GB_PER_S * 1e9);
            Localized::both(
                format!("每一步都要从 PCIe 读回：按 {PCIE_GB_PER_S} GB/s 至少多 {:.0} ms", secs * 1e3),
                format!(
                    "read back over PCIe in every step: at {PCIE_GB_PER_S} GB/s at least {:.0} ms more",
                    secs * 1e3
                ),
            )
        },
        percent: host_percent,
        needs_check: false,
        in_plans: true,
    },
    Lever {
        id: "more_cards",
        title: Text::new("卡数翻倍", "twice as many cards"),
        apply: |model, ask| {
            let n = ask.n_cards * 2;
            let is_shared = model.arch.get(Field::Heads).is_none_or(|heads| heads.is_multiple_of(n));
            let may = matches!(ask.work, Work::Train(_)) || is_shared;
            (may && n <= 65_536).then(|| Ask { n_cards: n, ..ask.clone() })
        },
        cost: |_, ask, _| {
            let n = ask.n_cards;
            let s = if n == 1 { "" } else { "s" };
            match ask.work {
                Work::Serve(_) => Localized::both(
                    format!("多 {n} 张卡；每层两次 all-reduce，要快的互连"),
                    format!("{n} more card{s}; two all-reduces a layer, so a fast link"),
                ),
                Work::Train(work) if work.zero < MOST_ZERO => Localized::both(
                    format!("多 {n} 张卡；梯度每步规约一次，更新过的参数聚合一次（ZeRO-{}）", work.zero),
                    format!(
                        "{n} more card{s}; gradients are reduced and updated parameters gathered once a step (ZeRO-{})",
                        work.zero
                    ),
                ),
                Work::Train(_) => Localized::both(
                    format!("多 {n} 张卡；参数每步聚合两次、梯度规约一次（ZeRO-3）"),
                    format!(
                        "{n} more card{s}; parameters are gathered twice a step and gradients reduced once (ZeRO-3)"
                    ),
                ),
            }
        },
        percent: |_, _, _| 20.0,
        needs_check: false,
        in_plans: false,
    },
    Lever {
        id: "recompute",
        title: Text::new("重算每一层（checkpoint）", "recompute each layer (checkpoint)"),
        apply: |_, ask| train(ask, |work| (!work.recompute).then_some(Train { recompute: true, ..*work })),
        cost: words!("多一遍前向：计算量约多三分之一", "one more forward: about a third more compute"),
        percent: |_, _, _| 33.0,
        needs_check: false,
        in_plans: true,
    },
    Lever {
        id: "loss_chunks",
        title: Text::new("损失分块计算", "the loss in chunks"),
        apply: |_, ask| {
            train(ask, |work| (work.loss_chunks < 64).then_some(Train { loss_chunks: work.loss_chunks * 8, ..*work }))
        },
        cost: words!(
            "要改损失那几行代码；结果不变，多几次启动",
            "the code of the loss changes; same result, a few more launches"
        ),
        percent: |_, _, _| 1.0,
        needs_check: false,
        in_plans: true,
    },
    Lever {
        id: "smaller_batch",
        title: Text::new("微批减半，累积翻倍", "half the micro-batch, twice the accumulation"),
        apply: |_, ask| {
            train(ask, |work| {
                (work.batch > 1).then_some(Train {
                    batch: work.batch.div_ceil(2),
                    accumulation: work.accumulation * 2,
                    ..*work
                })
            })
        },
        cost: words!(
            "总计算量不变，小矩阵更慢；梯度一直占着",
            "the same arithmetic in smaller products; gradients stay between them"
        ),
        percent: |_, _, _| 5.0,
        needs_check: false,
        in_plans: true,
    },
    Lever {
        id: "fused_update",
        title: Text::new("AdamW 用融合内核（fused=True）", "AdamW in one kernel (fused=True)"),
        apply: |_, ask| {
            train(ask, |work| {
                (work.optimizer == Optimizer::AdamW && !work.fused).then_some(Train { fused: true, ..*work })
            })
        },
        cost: words!(
            "算式不变，只是不再为全部参数一起开临时张量；一般还更快",
            "the same arithmetic without temporaries for all parameters at once; as a rule faster too"
        ),
        percent: none,
        needs_check: false,
        in_plans: true,
    },
    Lever {
        id: "adamw8",
        title: Text::new("8 位优化器状态", "8-bit optimizer states"),
        apply: |_, ask| {
            train(ask, |work| {
                (work.optimizer == Optimizer::AdamW).then_some(Train { optimizer: Optimizer::AdamW8, ..*work })
            })
        },
        cost: words!("状态有量化误差，要比较损失曲线", "states are rounded: compare the loss curves"),
        percent: none,
        needs_check: true,
        in_plans: true,
    },
    Lever {
        id: "bf16",
        title: Text::new("参数、梯度和状态全用 bf16", "parameters, gradients and states all in bf16"),
        apply: |_, ask| {
            train(ask, |work| {
                (work.precision != Precision::Bf16).then_some(Train { precision: Precision::Bf16, ..*work })
            })
        },
        cost: words!(
            "小更新会被舍掉，训练可能停滞；先短跑对比",
            "small updates round to nothing and training may stall: try it first"
        ),
        percent: none,
        needs_check: true,
        in_plans: true,
    },
    Lever {
        id: "flash",
        title: Text::new("注意力换成 flash", "flash attention"),
        apply: |_, ask| train(ask, |work| work.math.then_some(Train { math: false, ..*work })),
        cost: words!("结果在舍入误差内相同，而且更快", "the same up to rounding, and faster"),
        percent: none,
        needs_check: false,
        in_plans: true,
    },
    Lever {
        id: "offload_optimizer",
        title: Text::new("优化器状态放到主机内存", "optimizer state in host memory"),
        apply: |_, ask| train(ask, |work| (!work.offload).then_some(Train { offload: true, ..*work })),
        cost: |model, ask, changed| {
            if ask.card.bf16_tflop_per_s.is_none() {
                return unknown_time();
            }
            let secs = transfer(model, ask, changed);
            let percent = offload_percent(model, ask, changed);
            let (zh, en) = (format!("，约为一步的 {percent:.0} %"), format!(", about {percent:.0} % of it"));
            Localized::both(
                format!("梯度下行、参数上行：按 {PCIE_GB_PER_S} GB/s 每步至少 {secs:.2} s{zh}"),
                format!("gradients down, parameters up: at {PCIE_GB_PER_S} GB/s at least {secs:.2} s a step{en}"),
            )
        },
        percent: offload_percent,
        needs_check: false,
        in_plans: true,
    },
    Lever {
        id: "lora",
        title: Text::new("只训练 LoRA（秩 16）", "train adapters only (LoRA, rank 16)"),
        apply: |_, ask| train(ask, |work| work.lora.is_none().then_some(Train { lora: Some(16), ..*work })),
        cost: words!("训练的是另一个东西：原权重不变", "another thing is trained: the weights stay as they are"),
        percent: none,
        needs_check: true,
        in_plans: false,
    },
    Lever {
        id: "qlora",
        title: Text::new("冻结的权重用 4 位（QLoRA）", "frozen weights in 4 bits (QLoRA)"),
        apply: |_, ask| {
            train(ask, |work| (!work.nf4).then_some(Train { lora: Some(work.lora.unwrap_or(16)), nf4: true, ..*work }))
        },
        cost: words!("同 LoRA，另外每次用权重都要反量化", "as LoRA, and every use of a weight unpacks it"),
        percent: |_, _, _| 30.0,
        needs_check: true,
        in_plans: false,
    },
];

/// A bare size has no link and no speed.
fn unknown_time() -> Localized {
    Localized::both(
        "要多久说不准：只给了大小，没说是哪张卡。用卡名再问一次，例如 --gpu rtx4090",
        "how long that takes is not known: a size alone has no link and no speed. Ask with a card's name, such as --gpu rtx4090",
    )
}

/// Whether the time of an offload can be told for this card.
pub fn knows_time(ask: &Ask) -> bool {
    match ask.work {
        Work::Serve(_) => ask.card.gb_per_s.is_some(),
        Work::Train(_) => ask.card.bf16_tflop_per_s.is_some(),
    }
}

/// What an offload of unknown time counts in a search: it comes last.
const LAST_PERCENT: f64 = 1000.0;

/// Bytes that a lever takes off the card.
fn moved(model: &Model, ask: &Ask, changed: &Ask) -> f64 {
    let total = |ask: &Ask| answer::quick(model, ask).map_or(0, |sums| sums.total());
    total(ask).saturating_sub(total(changed)) as f64
}

/// Time over PCIe beside one reading of all weights from the card's own memory, which a step of decoding cannot go below.
fn host_percent(model: &Model, ask: &Ask, changed: &Ask) -> f64 {
    let all = answer::quick(model, ask).map_or(0, |sums| sums.of(crate::Owner::Weights)) as f64;
    let Some(peak) = ask.card.gb_per_s.filter(|_| all > 0.0) else { return LAST_PERCENT };
    100.0 * (moved(model, ask, changed) / PCIE_GB_PER_S) / (all / peak)
}

/// Seconds over PCIe in a step: gradients to the host, updated parameters back.
fn transfer(model: &Model, ask: &Ask, changed: &Ask) -> f64 {
    let sums = answer::quick(model, changed).unwrap_or_default();
    let Work::Train(work) = &ask.work else { return 0.0 };
    let width = if work.precision == Precision::Bf16 || work.precision == Precision::Masters { 2.0 } else { 4.0 };
    let n = weights::n_params(model).unwrap_or(0) as f64 / ask.n_cards as f64;
    let trained = if work.lora.is_some() { sums.of(crate::Owner::Gradients) as f64 / width } else { n };
    2.0 * trained * width / (PCIE_GB_PER_S * 1e9)
}

/// That time beside the step's own: six operations for a parameter and token, at a share of the card's peak.
fn offload_percent(model: &Model, ask: &Ask, changed: &Ask) -> f64 {
    let (Work::Train(work), Some(peak), Some(flop)) =
        (&ask.work, ask.card.bf16_tflop_per_s, weights::flop_per_token(model))
    else {
        return LAST_PERCENT;
    };
    let tokens = (work.batch * work.seq_len * work.accumulation) as f64;
    let step = 3.0 * flop * tokens / (peak * 1e12 * STEP_EFFICIENCY);
    100.0 * transfer(model, ask, changed) / step
}
