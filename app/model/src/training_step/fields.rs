//! The fields of the question, as a plan, and of the answer.

use crate::fields::choice;
use vramlab_ledger::{Attention, Extras, Holder, Net, Norm, Optimizer, Owner, Part, Plan, Precision, Timeline, Update};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Text};

/// Figures stay below 2^60 bytes.
const MOST: i64 = 1 << 60;

pub(super) fn question() -> Vec<FieldSpec> {
    let mut out = sizes();
    out.extend(ways());
    out.extend(llama());
    out.extend(more());
    out
}

/// Whole numbers that describe the model.
fn sizes() -> Vec<FieldSpec> {
    let size = |key, unit, max, zh, en| FieldSpec::int(key, unit, 1, max, Text::new(zh, en)).optional();
    vec![
        size("layers", "1", 512, "层数；resnet50 不需要", "Blocks; not for resnet50"),
        size("hidden", "1", 65_536, "隐藏维；resnet50 不需要", "Hidden width; not for resnet50"),
        size("heads", "1", 1024, "注意力头数，要整除 hidden", "Attention heads; they divide hidden"),
        size("vocab", "1", 1 << 22, "词表大小", "Entries of the vocabulary"),
        size("seq_len", "1", 1 << 22, "序列长度", "Length of a sequence"),
        FieldSpec::int("batch", "1", 1, 1 << 20, Text::new("批里的序列（图像）数", "Sequences or images of a batch")),
    ]
}

fn ways() -> Vec<FieldSpec> {
    let flag = |key, zh, en| FieldSpec::new(key, "", FieldKind::Bool, Text::new(zh, en));
    vec![
        choice(
            "attention",
            "",
            &["flash", "math"],
            Text::new(
                "flash：融合内核；math：逐步写出来，存下整张分数",
                "flash: the fused kernel; math: written out, all scores kept",
            ),
        )
        .default_value("flash"),
        flag("checkpoint", "每块重算", "Recompute every block").default_value(false),
        choice(
            "precision",
            "",
            &["fp32", "amp", "bf16"],
            Text::new(
                "amp：fp32 权重加 bf16 autocast；bf16：全部 bf16",
                "amp: float32 weights under autocast to bf16; bf16: everything",
            ),
        )
        .default_value("amp"),
        choice(
            "optimizer",
            "",
            &["adamw", "sgd", "sgdm", "adamw8bit"],
            Text::new("sgdm：带动量；adamw8bit：8 位状态", "sgdm: with momentum; adamw8bit: states of 8 bits"),
        )
        .default_value("adamw"),
        choice(
            "net",
            "",
            &["gpt", "llama", "moe", "resnet50"],
            Text::new(
                "gpt：LayerNorm、GELU、学得的位置；llama：RMSNorm、RoPE、SwiGLU；moe：llama 换成专家",
                "gpt: LayerNorm, GELU, learned positions; llama: RMSNorm, RoPE, SwiGLU; moe: llama with experts",
            ),
        )
        .default_value("gpt"),
    ]
}

fn llama() -> Vec<FieldSpec> {
    vec![
        FieldSpec::int(
            "kv_heads",
            "1",
            1,
            1024,
            Text::new(
                "键值头数，缺省等于 heads；llama、moe",
                "Heads of keys and values, as many as heads by default; llama, moe",
            ),
        )
        .optional(),
        FieldSpec::int(
            "ffn",
            "1",
            1,
            1 << 20,
            Text::new(
                "前馈的内层宽度，缺省 4·hidden；llama、moe",
                "Inner width of the feed-forward, 4·hidden by default; llama, moe",
            ),
        )
        .optional(),
        choice(
            "norm",
            "",
            &["fused", "plain"],
            Text::new("RMSNorm：一个内核，或用 fp32 逐步写出", "RMSNorm: one kernel, or written out in float32"),
        )
        .default_value("plain"),
        FieldSpec::int("experts", "1", 1, 4096, Text::new("专家数；moe", "Experts; moe")).default_value(8),
        FieldSpec::int("top_k", "1", 1, 64, Text::new("每个 token 选几个专家；moe", "Experts of a token; moe"))
            .default_value(2),
        FieldSpec::num(
            "capacity_factor",
            "1",
            0.01,
            64.0,
            Text::new("专家容量 ÷ 平均分到的；moe", "Places of an expert ÷ its even share; moe"),
        )
        .default_value(1.25),
        FieldSpec::int(
            "lora_rank",
            "1",
            0,
            4096,
            Text::new(
                "q、v 上低秩适配器的秩，其余冻结；0 不用；llama",
                "Rank of adapters on q and v, the rest frozen; 0: none; llama",
            ),
        )
        .default_value(0),
        choice(
            "base_weights",
            "",
            &["full", "nf4"],
            Text::new(
                "冻结的块矩阵：照精度，或 NF4（QLoRA）",
                "Frozen matrices of the blocks: as the precision says, or NF4 (QLoRA)",
            ),
        )
        .default_value("full"),
    ]
}

fn more() -> Vec<FieldSpec> {
    let flag = |key, zh, en| FieldSpec::new(key, "", FieldKind::Bool, Text::new(zh, en));
    vec![
        FieldSpec::int(
            "head_dim",
            "1",
            1,
            1024,
            Text::new(
                "每头宽度，缺省 hidden ÷ heads；llama、moe",
                "Width of a head, hidden ÷ heads by default; llama, moe",
            ),
        )
        .optional(),
        flag("qkv_bias", "q、k、v 有偏置（Qwen 2）；llama、moe", "Biases on q, k and v (Qwen 2); llama, moe")
            .default_value(false),
        flag(
            "head_norms",
            "q、k 的每头先归一化（Qwen 3）；llama、moe",
            "A norm over each head of q and k (Qwen 3); llama, moe",
        )
        .default_value(false),
        flag(
            "post_norms",
            "注意力和前馈之后也归一化（Gemma 2、3）；llama",
            "Norms behind attention and feed-forward too (Gemma 2, 3); llama",
        )
        .default_value(false),
        flag("capped", "logits 经过 tanh（Gemma 2）；llama、moe", "The scores go through a tanh (Gemma 2); llama, moe")
            .default_value(false),
        FieldSpec::int(
            "checkpoint_every",
            "1",
            1,
            512,
            Text::new("重算时几块一组", "Blocks that are recomputed together"),
        )
        .default_value(1),
        flag("tied", "输出层与词嵌入共用权重", "The head's weight is the embedding's").default_value(false),
        flag("dropout", "proj 和 fc2 之后有 dropout；gpt", "Dropout after proj and fc2; gpt").default_value(false),
        FieldSpec::int("accumulation", "1", 1, 65_536, Text::new("梯度累积的微批数", "Micro-batches of a step"))
            .default_value(1),
        flag(
            "set_to_none",
            "zero_grad 释放梯度；否则清成零",
            "zero_grad frees gradients; else it fills them with zeros",
        )
        .default_value(true),
        flag("master_weights", "bf16 权重另存 fp32 主副本", "Float32 masters beside bf16 weights").default_value(false),
        choice(
            "update",
            "",
            &["foreach", "loop", "fused"],
            Text::new("AdamW 的走法：一起、逐个、融合内核", "How AdamW walks: all at once, one by one, one kernel"),
        )
        .default_value("foreach"),
        flag("channels_last", "resnet50 用 NHWC 布局", "resnet50 in NHWC order").default_value(false),
        FieldSpec::int("step", "1", 0, 1, Text::new("0：第一步；1：稳态", "0: the first step; 1: the steady state"))
            .default_value(1),
    ]
}

/// The plan that a question describes.
pub(super) fn plan(args: &Args) -> Result<Plan, FieldError> {
    let is_net = args.text("net") != "resnet50";
    let size = |key: &'static str| match args.has(key) {
        true => Ok(args.uint(key)),
        false if !is_net => Ok(1),
        false => Err(FieldError::Missing { field: key.to_owned(), legal: "an integer, at least 1".to_owned() }),
    };
    let (hidden, heads) = (size("hidden")?, size("heads")?);
    let or = |key: &str, default| if args.has(key) { args.uint(key) } else { default };
    Ok(Plan {
        net: match args.text("net") {
            "llama" => Net::Llama,
            "moe" => Net::Moe,
            "resnet50" => Net::Resnet50,
            _ => Net::Gpt,
        },
        layers: size("layers")?,
        hidden,
        heads,
        kv_heads: or("kv_heads", heads),
        ffn: or("ffn", 4 * hidden),
        vocab: size("vocab")?,
        seq_len: size("seq_len")?,
        batch: args.uint("batch"),
        attention: if args.text("attention") == "math" { Attention::Math } else { Attention::Flash },
        is_attention_apart: false,
        head_size: or("head_dim", 0),
        extras: Extras {
            has_qkv_bias: args.flag("qkv_bias"),
            has_head_norms: args.flag("head_norms"),
            has_post_norms: args.flag("post_norms"),
            is_scaled: false,
            is_capped: args.flag("capped"),
        },
        norm: if args.text("norm") == "fused" { Norm::Fused } else { Norm::Plain },
        precision: match args.text("precision") {
            "fp32" => Precision::Fp32,
            "bf16" => Precision::Bf16,
            _ => Precision::Amp,
        },
        optimizer: match args.text("optimizer") {
            "sgd" => Optimizer::Sgd,
            "sgdm" => Optimizer::Sgdm,
            "adamw8bit" => Optimizer::AdamW8bit,
            _ => Optimizer::AdamW,
        },
        update: match args.text("update") {
            "loop" => Update::Loop,
            "fused" => Update::Fused,
            _ => Update::Foreach,
        },
        checkpoint_every: if args.flag("checkpoint") { args.uint("checkpoint_every") } else { 0 },
        is_tied: args.flag("tied"),
        has_dropout: args.flag("dropout"),
        lora_rank: args.uint("lora_rank"),
        is_nf4: args.text("base_weights") == "nf4",
        experts: args.uint("experts"),
        top_k: args.uint("top_k"),
        capacity_factor: args.num("capacity_factor"),
        accumulation: args.uint("accumulation"),
        sets_grads_to_none: args.flag("set_to_none"),
        has_masters: args.flag("master_weights"),
        is_channels_last: args.flag("channels_last"),
    })
}

pub(super) fn answer() -> Vec<FieldSpec> {
    let bytes = |key, zh, en| FieldSpec::int(key, "B", 0, MOST, Text::new(zh, en));
    let count = |key, zh, en| FieldSpec::int(key, "1", 0, MOST, Text::new(zh, en));
    let word = |key, doc| FieldSpec::new(key, "", FieldKind::Text { max_len: 64 }, doc);
    let mut out = vec![
        bytes("after_model", "建好模型之后", "After the model is built"),
        bytes("after_forward", "前向之后，logits 还在", "After forward, the logits still there"),
        bytes("peak_forward", "前向里的峰值", "Peak of forward"),
        bytes("after_backward", "反向之后：参数、梯度、状态", "After backward: parameters, gradients, state"),
        bytes("peak_backward", "本步到反向为止的峰值", "Peak of the step up to backward"),
        bytes("after_step", "更新之后，梯度还没清", "After the step, gradients still there"),
        bytes("peak_step", "整步的峰值", "Peak of the whole step"),
        bytes(
            "reserved",
            "分配器向卡要的，含 68 MiB 工作区",
            "Taken from the card by the allocator, 68 MiB of workspaces included",
        ),
        FieldSpec::num("peak_gib", "GiB", 0.0, 1.0e9, Text::new("整步的峰值", "Peak of the whole step")),
        FieldSpec::num(
            "reserved_gib",
            "GiB",
            0.0,
            1.0e9,
            Text::new("分配器向卡要的", "Taken from the card by the allocator"),
        ),
        count("n_params", "参数个数", "Parameters"),
        count("n_trained", "其中训练的", "Those that are trained"),
        word("peak_phase", Text::new("峰值所在的阶段", "The phase of the peak")),
        word("peak_op", Text::new("造成峰值的操作", "The operation that makes the peak")),
        FieldSpec::int("peak_layer", "1", 1, 4096, Text::new("它在第几块", "The block it belongs to")).optional(),
    ];
    for moment in MOMENTS {
        for holder in Holder::all() {
            out.push(FieldSpec::int(owner_key(moment, holder), "B", 0, MOST, holder.title()));
        }
    }
    out
}

pub(super) fn phase(part: Part) -> &'static str {
    match part {
        Part::Forward => "forward",
        Part::Backward => "backward",
        Part::Step => "step",
        Part::Zero => "zero",
    }
}

/// Moments at which owners are told apart.
#[derive(Clone, Copy)]
pub(super) enum Moment {
    AfterForward,
    Peak,
    AfterBackward,
    AfterStep,
}

pub(super) const MOMENTS: [Moment; 4] = [Moment::AfterForward, Moment::Peak, Moment::AfterBackward, Moment::AfterStep];

/// The event of a moment.
pub(super) fn moment_at(timeline: &Timeline, moment: Moment) -> usize {
    let end_of = |part| {
        let phase = timeline.phases.iter().find(|phase| phase.part == part);
        phase.map_or(0, |phase| phase.until.saturating_sub(1))
    };
    match moment {
        Moment::AfterForward => end_of(Part::Forward),
        Moment::Peak => timeline.peak.at,
        Moment::AfterBackward => end_of(Part::Backward),
        Moment::AfterStep => end_of(Part::Step),
    }
}

/// `after_forward_activations`, `peak_logits`, …
pub(super) fn owner_key(moment: Moment, holder: Holder) -> &'static str {
    macro_rules! key {
        ($($moment:ident $prefix:literal),+) => {
            match moment {
                $(Moment::$moment => match holder {
                    Holder::Owner(Owner::Parameter) => concat!($prefix, "_parameters"),
                    Holder::Owner(Owner::Optimizer) => concat!($prefix, "_optimizer"),
                    Holder::Owner(Owner::Gradient) => concat!($prefix, "_gradients"),
                    Holder::Owner(Owner::Input) => concat!($prefix, "_inputs"),
                    Holder::Owner(Owner::Activation) => concat!($prefix, "_activations"),
                    Holder::Owner(Owner::WeightCast) => concat!($prefix, "_weight_casts"),
                    Holder::Owner(Owner::Logits) => concat!($prefix, "_logits"),
                    Holder::Owner(Owner::ActivationGradient) => concat!($prefix, "_activation_gradients"),
                    Holder::Owner(Owner::Temporary) => concat!($prefix, "_temporaries"),
                    Holder::Rest => concat!($prefix, "_unsplit_rests"),
                },)+
            }
        };
    }
    key!(AfterForward "after_forward", Peak "peak", AfterBackward "after_backward", AfterStep "after_step")
}
