//! What the reader sets for each of the three cases, and what the models answer.

use super::{diffusion, measured};
use vramlab_kit::Role;
use vramlab_model::eval;
use vramlab_model::kv_capacity::{Budget, Pool};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

pub const GB: f64 = 1.0e9;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    Training,
    Serving,
    Diffusion,
}

impl Case {
    pub const ALL: [Self; 3] = [Self::Training, Self::Serving, Self::Diffusion];

    pub fn id(self) -> &'static str {
        match self {
            Self::Training => "training",
            Self::Serving => "serving",
            Self::Diffusion => "diffusion",
        }
    }
}

/// A language model to serve: its name, weights in 16 bits, bytes of a token in the cache.
pub struct Llm {
    pub id: &'static str,
    pub name: &'static str,
    pub weights: f64,
    pub token_bytes: u64,
}

/// Parameters are those of the published configurations, two bytes each.
pub const LLMS: [Llm; 3] = [
    Llm { id: "llama3_8b", name: "Llama-3-8B", weights: 2.0 * 8_030_261_248.0, token_bytes: 131_072 },
    Llm { id: "llama2_13b", name: "Llama-2-13B", weights: 2.0 * 13_015_864_320.0, token_bytes: 819_200 },
    Llm { id: "llama3_70b", name: "Llama-3-70B", weights: 2.0 * 70_553_706_496.0, token_bytes: 327_680 },
];

/// All fields of all cases; a case looks at its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub case: Case,
    pub card_gb: f64,
    pub batch: u64,
    pub is_amp: bool,
    pub llm: usize,
    pub weight_bits: u64,
    pub util: f64,
    pub max_len: u64,
    pub size_px: u64,
    pub pictures: u64,
    pub attention: Attention,
    pub is_tiled: bool,
}

/// How the denoiser's attention is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attention {
    /// All scores at once.
    Whole,
    /// One head of one picture at a time.
    Sliced,
    /// One kernel that keeps no scores.
    Fused,
}

impl Attention {
    pub const ALL: [Self; 3] = [Self::Whole, Self::Sliced, Self::Fused];

    pub fn id(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Sliced => "sliced",
            Self::Fused => "fused",
        }
    }
}

/// What a part of a bar is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    Of(Role),
    Cached,
    /// There, but not to be used.
    Barred,
    /// Free within what may be used.
    Free,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub name: Text,
    pub bytes: f64,
    pub look: Look,
    /// Cut into this many equal pieces: requests, tiles.
    pub pieces: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    pub name: Text,
    pub parts: Vec<Part>,
    /// A recorded total.
    pub measured: Option<f64>,
}

impl Bar {
    /// What is used; free and barred parts are not.
    pub fn used(&self) -> f64 {
        let is_used = |part: &&Part| matches!(part.look, Look::Of(_) | Look::Cached);
        self.parts.iter().filter(is_used).map(|part| part.bytes).sum()
    }
}

pub fn part(name: Text, bytes: f64, look: Look) -> Part {
    Part { name, bytes, look, pieces: 1 }
}

/// The answer of the serving case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Served {
    pub pool: Result<Pool, f64>,
    pub token_bytes: u64,
}

fn words(key: &'static str, options: &[&'static str], default: &'static str, doc: Text) -> FieldSpec {
    let options = options.iter().map(|option| (*option).into()).collect();
    FieldSpec::new(key, "", FieldKind::Choice { options }, doc).default_value(default)
}

/// Context and others, and the activations' peak of a server: given, not computed.
pub const SERVER_ACTIVATIONS: f64 = 2.0 * GB;
pub const SERVER_OTHER: f64 = 1.0 * GB;
const MOST_PX: i64 = 2048;
pub const ACTIVATIONS: Text = Text::new("激活", "activations");

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let int = |key, unit, min, max, default: u64, zh, en| {
            FieldSpec::int(key, unit, min, max, Text::new(zh, en)).default_value(default)
        };
        let share = Text::new("服务进程最多占整卡的多少", "Share of the card that the server may take");
        let llms = LLMS.map(|llm| llm.id);
        let ways = Attention::ALL.map(Attention::id);
        let cases = Case::ALL.map(Case::id);
        let flag = |key, zh, en| FieldSpec::new(key, "", FieldKind::Bool, Text::new(zh, en));
        vec![
            words("case", &cases, "training", Text::new("哪个案例", "Which case")),
            FieldSpec::num("card_gb", "GB", 4.0, 1000.0, Text::new("卡的显存", "Memory of the card")).default_value(24),
            int("batch", "1", 1, 2048, 64, "训练：批大小", "Training: batch"),
            flag("amp", "训练：autocast 加 channels-last", "Training: autocast and channels-last").default_value(false),
            words("model", &llms, "llama3_8b", Text::new("服务：模型", "Serving: model")),
            words("weight_bits", &["4", "8", "16"], "16", Text::new("服务：权重位数", "Serving: bits of a weight")),
            FieldSpec::num("util", "1", 0.3, 1.0, share).default_value(0.92),
            int("max_len", "token", 256, 131_072, 8192, "服务：最长请求", "Serving: longest request"),
            int("size_px", "px", 256, MOST_PX, 512, "出图：边长，64 的倍数", "Diffusion: side, a multiple of 64"),
            int("pictures", "1", 1, 8, 1, "出图：一次几张", "Diffusion: pictures at once"),
            words("attention", &ways, "whole", Text::new("出图：注意力", "Diffusion: attention")),
            flag("tiled", "出图：分块解码", "Diffusion: decode in tiles").default_value(false),
        ]
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        let size_px = args.uint("size_px");
        if !size_px.is_multiple_of(64) {
            return Err(FieldError::conflict("size_px", format!("{size_px} is no multiple of 64")));
        }
        let find = |key: &str, ids: &[&str]| ids.iter().position(|id| *id == args.text(key)).unwrap_or_default();
        Ok(Self {
            case: Case::ALL[find("case", &Case::ALL.map(Case::id))],
            card_gb: args.num("card_gb"),
            batch: args.uint("batch"),
            is_amp: args.flag("amp"),
            llm: find("model", &LLMS.map(|llm| llm.id)),
            weight_bits: args.text("weight_bits").parse().unwrap_or(16),
            util: args.num("util"),
            max_len: args.uint("max_len"),
            size_px,
            pictures: args.uint("pictures"),
            attention: Attention::ALL[find("attention", &Attention::ALL.map(Attention::id))],
            is_tiled: args.flag("tiled"),
        })
    }

    pub fn params(&self) -> Map {
        let pairs: [(&str, Value); 12] = [
            ("case", self.case.id().into()),
            ("card_gb", whole(self.card_gb)),
            ("batch", self.batch.into()),
            ("amp", self.is_amp.into()),
            ("model", LLMS[self.llm].id.into()),
            ("weight_bits", self.weight_bits.to_string().into()),
            ("util", self.util.into()),
            ("max_len", self.max_len.into()),
            ("size_px", self.size_px.into()),
            ("pictures", self.pictures.into()),
            ("attention", self.attention.id().into()),
            ("tiled", self.is_tiled.into()),
        ];
        pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    pub fn card(&self) -> f64 {
        self.card_gb * GB
    }

    pub fn bars(&self) -> Result<Vec<Bar>, FieldError> {
        match self.case {
            Case::Training => self.training().map(|bar| vec![bar]),
            Case::Serving => Ok(vec![self.serving()]),
            Case::Diffusion => Ok(vec![diffusion::denoise(self)?, diffusion::decode(self)?]),
        }
    }

    fn training(&self) -> Result<Bar, FieldError> {
        let precision = if self.is_amp { "amp" } else { "fp32" };
        let asked = ask(&[
            ("net", "resnet50".into()),
            ("batch", self.batch.into()),
            ("precision", precision.into()),
            ("channels_last", self.is_amp.into()),
            ("optimizer", "sgdm".into()),
        ]);
        let found = eval("training_step", &asked)?;
        let at = |key: &str| found.get(key).and_then(Value::as_f64).unwrap_or_default();
        let sum = |keys: &[&str]| keys.iter().map(|key| at(key)).sum::<f64>();
        let peak = at("peak_step");
        let named = [
            (Text::new("参数", "parameters"), sum(&["peak_parameters"]), Role::Parameters),
            (Text::new("梯度", "gradients"), sum(&["peak_gradients"]), Role::Gradients),
            (Text::new("动量", "momentum"), sum(&["peak_optimizer"]), Role::Optimizer),
            (
                Text::new("激活", "activations"),
                sum(&["peak_activations", "peak_activation_gradients", "peak_inputs", "peak_logits"]),
                Role::Activations,
            ),
        ];
        let mut parts: Vec<Part> = named.map(|(name, bytes, role)| part(name, bytes, Look::Of(role))).into();
        let rest = (peak - parts.iter().map(|part| part.bytes).sum::<f64>()).max(0.0);
        parts.push(part(Text::new("临时", "temporaries"), rest, Look::Of(Role::Workspace)));
        parts.push(part(Text::new("缓存，空闲", "cached, free"), (at("reserved") - peak).max(0.0), Look::Cached));
        let measured = measured::resnet(self.batch, self.is_amp).map(|row| row.reserved as f64);
        Ok(Bar { name: Text::new("一个训练步", "one step"), parts, measured })
    }

    pub fn budget(&self) -> Budget {
        Budget {
            total: self.card(),
            util: self.util,
            weights: LLMS[self.llm].weights * self.weight_bits as f64 / 16.0,
            act_peak: SERVER_ACTIVATIONS,
            other: SERVER_OTHER,
        }
    }

    pub fn served(&self) -> Served {
        let token_bytes = LLMS[self.llm].token_bytes;
        Served { pool: self.budget().pool(token_bytes, 16, self.max_len), token_bytes }
    }

    fn serving(&self) -> Bar {
        let budget = self.budget();
        let served = self.served();
        let mut parts = vec![
            part(Text::new("权重", "weights"), budget.weights, Look::Of(Role::Parameters)),
            part(Text::new("激活", "activations"), budget.act_peak, Look::Of(Role::Activations)),
            part(Text::new("其他", "others"), budget.other, Look::Of(Role::Workspace)),
        ];
        if let Ok(pool) = served.pool {
            let n = pool.concurrency.floor();
            let requests = n * self.max_len as f64 * served.token_bytes as f64;
            let name = Text::new("KV 页", "KV pages");
            parts.push(Part { name, bytes: requests, look: Look::Of(Role::KvCache), pieces: n as u64 });
            parts.push(part(
                Text::new("不够一个请求", "less than a request"),
                pool.bytes as f64 - requests,
                Look::Free,
            ));
            let barred = budget.total * (1.0 - budget.util);
            parts.push(part(Text::new("份额以外", "beyond the share"), barred, Look::Barred));
        }
        Bar { name: Text::new("服务进程", "the server"), parts, measured: None }
    }
}

/// A number as an address has it: 24, not 24.0.
fn whole(number: f64) -> Value {
    if number.fract() == 0.0 { Value::from(number as i64) } else { Value::from(number) }
}

pub fn ask(pairs: &[(&str, Value)]) -> Map {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
}
