//! What the reader sets: a model, how it is trained, the card. It becomes a plan of `vramlab_ledger`.

use vramlab_ledger::{Attention, Net, Norm, Optimizer, Plan, Precision, Update};
use vramlab_model::training_step;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text};

/// The fields as they are kept: checked, by key.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    args: Args,
}

/// A known model.
pub struct Preset {
    pub label: Text,
    pub id: &'static str,
    /// net, layers, heads, head_dim, heads_per_kv, ffn, vocab
    sizes: (&'static str, [u64; 6]),
    seq_len: u64,
    batch: u64,
    precision: &'static str,
}

pub const PRESETS: &[Preset] = &[
    Preset {
        label: Text::new("GPT-2 小", "GPT-2 small"),
        id: "gpt2",
        sizes: ("gpt", [12, 12, 64, 1, 3072, 50_257]),
        seq_len: 1024,
        batch: 4,
        precision: "amp",
    },
    Preset {
        label: Text::new("GPT-2 XL", "GPT-2 XL"),
        id: "gpt2_xl",
        sizes: ("gpt", [48, 25, 64, 1, 6400, 50_257]),
        seq_len: 1024,
        batch: 8,
        precision: "amp",
    },
    Preset {
        label: Text::new("Llama-3-8B 的形状", "Shape of Llama-3-8B"),
        id: "llama3_8b",
        sizes: ("llama", [32, 32, 128, 4, 14_336, 128_256]),
        seq_len: 4096,
        batch: 1,
        precision: "bf16",
    },
    Preset {
        label: Text::new("Llama-3-70B 的形状", "Shape of Llama-3-70B"),
        id: "llama3_70b",
        sizes: ("llama", [80, 64, 128, 8, 28_672, 128_256]),
        seq_len: 4096,
        batch: 1,
        precision: "bf16",
    },
    Preset {
        label: Text::new("8 个专家", "8 experts"),
        id: "moe",
        sizes: ("moe", [12, 16, 64, 4, 3584, 32_000]),
        seq_len: 2048,
        batch: 4,
        precision: "bf16",
    },
    Preset {
        label: Text::new("ResNet-50", "ResNet-50"),
        id: "resnet50",
        sizes: ("resnet50", [1, 1, 64, 1, 1024, 1000]),
        seq_len: 128,
        batch: 64,
        precision: "amp",
    },
];

fn choice(key: &'static str, options: &[&'static str], zh: &'static str, en: &'static str) -> FieldSpec {
    let options: Vec<_> = options.iter().map(|option| (*option).into()).collect();
    let first = options.first().map_or_else(String::new, ToString::to_string);
    FieldSpec::new(key, "", FieldKind::Choice { options }, Text::new(zh, en)).default_value(first)
}

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let int = |key, min, max, default: i64, zh, en| {
            FieldSpec::int(key, "1", min, max, Text::new(zh, en)).default_value(default)
        };
        let flag = |key, zh, en| FieldSpec::new(key, "", FieldKind::Bool, Text::new(zh, en)).default_value(false);
        vec![
            choice("net", &["gpt", "llama", "moe", "resnet50"], "网络", "Net"),
            int("layers", 1, 128, 12, "层数", "Blocks"),
            int("heads", 1, 128, 12, "注意力头数", "Heads"),
            FieldSpec::int(
                "head_dim",
                "1",
                8,
                256,
                Text::new("一个头的宽度，8 的倍数", "Width of a head, a multiple of 8"),
            )
            .default_value(64),
            int("heads_per_kv", 1, 128, 1, "几个头共用一份键值", "Heads that share keys and values"),
            int("ffn", 64, 65_536, 3072, "前馈宽度；llama、moe", "Width of the feed-forward; llama, moe"),
            int("vocab", 64, 262_144, 50_257, "词表", "Vocabulary"),
            int("seq_len", 16, 131_072, 1024, "序列长度", "Length"),
            int("batch", 1, 1024, 4, "批大小", "Batch"),
            choice("precision", &["amp", "bf16", "fp32"], "精度", "Precision"),
            choice(
                "attention",
                &["auto", "flash", "math"],
                "auto：有内核就用 flash",
                "auto: flash where it has a kernel",
            ),
            choice("optimizer", &["adamw", "sgd", "sgdm", "adamw8bit"], "优化器", "Optimizer"),
            int(
                "checkpoint_every",
                0,
                128,
                0,
                "几块一起重算；0 全留着",
                "Blocks recomputed together; 0 keeps everything",
            ),
            choice("norm", &["fused", "plain"], "RMSNorm 的写法", "How RMSNorm is written"),
            int("experts", 1, 64, 8, "专家数；moe", "Experts; moe"),
            int("top_k", 1, 8, 2, "每个 token 的专家；moe", "Experts of a token; moe"),
            FieldSpec::num("capacity_factor", "1", 0.25, 8.0, Text::new("专家容量系数；moe", "Capacity factor; moe"))
                .default_value(1.25),
            int("lora_rank", 0, 512, 0, "适配器的秩；llama", "Rank of adapters; llama"),
            flag("nf4", "冻结权重用 4 位；要 lora_rank", "Frozen weights in 4 bits; needs lora_rank"),
            flag("tied", "输出层共用词嵌入", "Head tied to the embedding"),
            flag("dropout", "dropout；gpt", "Dropout; gpt"),
            int("accumulation", 1, 64, 1, "梯度累积", "Accumulation"),
            flag("keeps_grads", "zero_grad 不释放梯度", "zero_grad keeps gradients"),
            flag("master_weights", "bf16 另存 fp32 主副本", "Float32 masters of bf16 weights"),
            choice("update", &["foreach", "loop", "fused"], "AdamW 的走法", "How AdamW walks"),
            flag("channels_last", "NHWC；resnet50", "NHWC; resnet50"),
            FieldSpec::int("step", "1", 0, 1, Text::new("0：第一步；1：稳态", "0: the first step; 1: steady"))
                .default_value(1),
            FieldSpec::num("card_gib", "GiB", 1.0, 2048.0, Text::new("卡的显存", "Memory of the card"))
                .default_value(80),
        ]
    }

    pub fn from_args(args: &Args) -> Self {
        let keys: Vec<String> = Self::fields().iter().map(|field| field.key.to_string()).collect();
        let known: Map = args
            .map()
            .iter()
            .filter(|(key, _)| keys.contains(key))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        Self { args: Args::check(&Self::fields(), &known).unwrap_or_default() }
    }

    pub fn params(&self) -> Map {
        self.args.map().clone()
    }

    pub fn int(&self, key: &str) -> u64 {
        self.args.uint(key)
    }

    pub fn num(&self, key: &str) -> f64 {
        self.args.num(key)
    }

    pub fn flag(&self, key: &str) -> bool {
        self.args.flag(key)
    }

    pub fn text(&self, key: &str) -> &str {
        self.args.text(key)
    }

    /// The same with another value of a field, if it is legal.
    #[must_use]
    pub fn with(&self, key: &str, value: impl Into<vramlab_units::Value>) -> Self {
        let mut map = self.params();
        map.insert(key.to_owned(), value.into());
        Args::check(&Self::fields(), &map).map_or_else(|_| self.clone(), |args| Self { args })
    }

    /// A known model, trained as it usually is.
    pub fn of(preset: &Preset) -> Self {
        let (net, [layers, heads, head_dim, heads_per_kv, ffn, vocab]) = preset.sizes;
        let mut map = Map::new();
        for (key, value) in
            [("layers", layers), ("heads", heads), ("head_dim", head_dim), ("heads_per_kv", heads_per_kv)]
                .into_iter()
                .chain([("ffn", ffn), ("vocab", vocab), ("seq_len", preset.seq_len), ("batch", preset.batch)])
        {
            map.insert(key.to_owned(), value.into());
        }
        map.insert("net".to_owned(), net.into());
        map.insert("precision".to_owned(), preset.precision.into());
        map.insert("channels_last".to_owned(), (net == "resnet50").into());
        Self { args: Args::check(&Self::fields(), &map).unwrap_or_default() }
    }

    /// Its sizes are those of a known model.
    pub fn is_of(&self, preset: &Preset) -> bool {
        let (net, [layers, heads, head_dim, heads_per_kv, ffn, vocab]) = preset.sizes;
        let same = |key: &str, value: u64| self.int(key) == value;
        self.text("net") == net
            && (net == "resnet50"
                || (same("layers", layers)
                    && same("heads", heads)
                    && same("head_dim", head_dim)
                    && same("heads_per_kv", heads_per_kv)
                    && same("vocab", vocab)
                    && (net == "gpt" || same("ffn", ffn))))
    }

    pub fn net(&self) -> Net {
        match self.text("net") {
            "llama" => Net::Llama,
            "moe" => Net::Moe,
            "resnet50" => Net::Resnet50,
            _ => Net::Gpt,
        }
    }

    pub fn plan(&self) -> Plan {
        let (heads, head_dim) = (self.int("heads"), self.int("head_dim"));
        let precision = match self.text("precision") {
            "fp32" => Precision::Fp32,
            "bf16" => Precision::Bf16,
            _ => Precision::Amp,
        };
        let is_math = match self.text("attention") {
            "auto" => precision == Precision::Fp32,
            word => word == "math",
        };
        Plan {
            net: self.net(),
            layers: self.int("layers"),
            hidden: heads * head_dim,
            heads,
            kv_heads: heads / self.int("heads_per_kv").max(1),
            ffn: self.int("ffn"),
            vocab: self.int("vocab"),
            seq_len: self.int("seq_len"),
            batch: self.int("batch"),
            attention: if is_math { Attention::Math } else { Attention::Flash },
            is_attention_apart: false,
            norm: if self.text("norm") == "plain" { Norm::Plain } else { Norm::Fused },
            precision,
            optimizer: match self.text("optimizer") {
                "sgd" => Optimizer::Sgd,
                "sgdm" => Optimizer::Sgdm,
                "adamw8bit" => Optimizer::AdamW8bit,
                _ => Optimizer::AdamW,
            },
            update: match self.text("update") {
                "loop" => Update::Loop,
                "fused" => Update::Fused,
                _ => Update::Foreach,
            },
            checkpoint_every: self.int("checkpoint_every"),
            is_tied: self.flag("tied"),
            has_dropout: self.flag("dropout"),
            lora_rank: self.int("lora_rank"),
            is_nf4: self.flag("nf4"),
            experts: self.int("experts"),
            top_k: self.int("top_k"),
            capacity_factor: self.num("capacity_factor"),
            accumulation: self.int("accumulation"),
            sets_grads_to_none: !self.flag("keeps_grads"),
            has_masters: self.flag("master_weights"),
            is_channels_last: self.flag("channels_last"),
            ..Plan::default()
        }
    }

    /// The tape of two steps, or which field does not go with the others.
    pub fn record(&self) -> Result<vramlab_ledger::Run, FieldError> {
        let per_kv = self.int("heads_per_kv");
        if self.net() != Net::Gpt && !self.int("heads").is_multiple_of(per_kv.max(1)) {
            return Err(FieldError::conflict(
                "heads_per_kv",
                format!("{per_kv} does not divide heads = {}", self.int("heads")),
            ));
        }
        training_step::record(&self.plan()).map_err(|error| {
            // The plan's names for what is called otherwise here.
            let field = match error.field() {
                "base_weights" => "nf4",
                "heads" => "head_dim",
                "kv_heads" => "heads_per_kv",
                other => other,
            };
            match &error {
                FieldError::Conflict { reason, .. } => FieldError::conflict(field, reason.clone()),
                other => other.clone(),
            }
        })
    }
}
