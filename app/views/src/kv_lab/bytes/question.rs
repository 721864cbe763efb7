//! What the reader sets: the shape of a model, tokens of a request, and which mistake is made.

use crate::config_field::ConfigFacts;
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

/// How the cache is often miscounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    None,
    QueryHeads,
    FullContext,
    Gb,
    ActiveParams,
}

impl Mistake {
    pub const ALL: [Self; 5] = [Self::None, Self::QueryHeads, Self::FullContext, Self::Gb, Self::ActiveParams];

    pub fn id(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::QueryHeads => "query_heads",
            Self::FullContext => "full_context",
            Self::Gb => "gb",
            Self::ActiveParams => "active_params",
        }
    }

    pub fn label(self) -> Text {
        match self {
            Self::None => Text::new("算对", "none"),
            Self::QueryHeads => Text::new("拿 query 头当 KV 头", "query heads for KV heads"),
            Self::FullContext => Text::new("按满上下文算", "full context assumed"),
            Self::Gb => Text::new("GiB 当 GB", "GiB read as GB"),
            Self::ActiveParams => Text::new("激活参数当总参数", "active for total parameters"),
        }
    }
}

/// Shapes of published models; the numbers are their `config.json`'s and model cards'.
#[derive(Debug, PartialEq)]
pub struct Preset {
    pub id: &'static str,
    pub label: &'static str,
    pub shape: Shape,
    total_b: f64,
    active_b: f64,
}

/// The numbers that the six ways of attention are made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    pub layers: u64,
    pub q_heads: u64,
    pub kv_heads: u64,
    pub head_dim: u64,
    pub kv_rank: u64,
    pub rope_dim: u64,
    pub window: u64,
    /// Layers that see the window only.
    pub window_layers: u64,
    /// Layers of a hybrid that attend; the others keep a state.
    pub attention_layers: u64,
}

const LLAMA_8B: Shape = Shape {
    layers: 32,
    q_heads: 32,
    kv_heads: 8,
    head_dim: 128,
    kv_rank: 512,
    rope_dim: 64,
    window: 1024,
    window_layers: 27,
    attention_layers: 8,
};

pub const PRESETS: [Preset; 4] = [
    Preset { id: "llama3_8b", label: "Llama 3 8B", shape: LLAMA_8B, total_b: 8.03, active_b: 8.03 },
    Preset { id: "mixtral", label: "Mixtral 8x7B", shape: LLAMA_8B, total_b: 46.7, active_b: 12.9 },
    Preset {
        id: "llama3_70b",
        label: "Llama 3 70B",
        shape: Shape { layers: 80, q_heads: 64, window_layers: 68, attention_layers: 20, ..LLAMA_8B },
        total_b: 70.6,
        active_b: 70.6,
    },
    Preset {
        id: "opt_13b",
        label: "OPT-13B",
        shape: Shape { layers: 40, q_heads: 40, kv_heads: 40, window_layers: 34, attention_layers: 10, ..LLAMA_8B },
        total_b: 13.0,
        active_b: 13.0,
    },
];

pub const VALUE_BYTES: [&str; 4] = ["4", "2", "1", "0.5"];

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    pub preset: &'static Preset,
    pub shape: Shape,
    pub value_bytes: f64,
    pub tokens: u64,
    pub context: u64,
    pub total_b: f64,
    pub active_b: f64,
    pub mistake: Mistake,
}

fn shape_shares(shape: &Shape) -> bool {
    shape.q_heads.is_multiple_of(shape.kv_heads)
}

impl Question {
    pub fn of(preset: &'static Preset) -> Self {
        let Preset { shape, total_b, active_b, .. } = *preset;
        Self {
            preset,
            shape,
            value_bytes: 2.0,
            tokens: 4096,
            context: 32_768,
            total_b,
            active_b,
            mistake: Mistake::None,
        }
    }

    pub fn is_preset(&self) -> bool {
        self.shape == self.preset.shape
    }

    /// With what a configuration says; what it does not say stays, within the new layers.
    #[must_use]
    pub fn with(self, facts: &ConfigFacts) -> Self {
        let shape = &self.shape;
        let layers = facts.layers.unwrap_or(shape.layers).max(1);
        let q_heads = facts.q_heads.unwrap_or(shape.q_heads).max(1);
        let window_layers = facts.window_layers.filter(|n| *n > 0 && facts.window.is_some());
        let shape = Shape {
            layers,
            q_heads,
            kv_heads: facts.kv_heads.filter(|_| facts.kv_rank.is_none()).unwrap_or(q_heads),
            head_dim: facts.head_dim.unwrap_or(shape.head_dim),
            kv_rank: facts.kv_rank.unwrap_or(shape.kv_rank),
            rope_dim: facts.rope_dim.unwrap_or(shape.rope_dim),
            window: if window_layers.is_some() { facts.window.unwrap_or(shape.window) } else { shape.window },
            window_layers: window_layers.unwrap_or(shape.window_layers).min(layers),
            attention_layers: facts.attention_layers.filter(|n| *n < layers).unwrap_or(layers.div_ceil(4)),
        };
        let context = facts.context.unwrap_or(self.context).clamp(1, 1 << 24);
        let billions = |n: Option<u64>| n.map(|n| n as f64 / 1e9);
        let total_b = billions(facts.n_params).unwrap_or(self.total_b);
        let active_b = billions(facts.active_params).unwrap_or(self.active_b).min(total_b);
        Self { shape, context, tokens: self.tokens.min(context), total_b, active_b, ..self }
    }

    pub fn fields() -> Vec<FieldSpec> {
        let count = |key, unit, most, zh, en| FieldSpec::int(key, unit, 1, most, Text::new(zh, en)).optional();
        let choice = |key, unit, options: Vec<_>, doc| FieldSpec::new(key, unit, FieldKind::Choice { options }, doc);
        let ids = PRESETS.iter().map(|preset| preset.id.into()).collect();
        let mistakes = Mistake::ALL.iter().map(|mistake| mistake.id().into()).collect();
        let bytes = VALUE_BYTES.iter().map(|bytes| (*bytes).into()).collect();
        let params = |key, zh, en| FieldSpec::num(key, "1e9", 1e-3, 1e5, Text::new(zh, en)).optional();
        vec![
            choice("model", "", ids, Text::new("哪个模型的形状", "Whose shape")).default_value("llama3_8b"),
            count("layers", "1", 1024, "层数", "Layers"),
            count("q_heads", "1", 1024, "query 头数", "Query heads"),
            count("kv_heads", "1", 1024, "GQA 的 KV 头数", "KV heads of GQA"),
            count("head_dim", "1", 1024, "每头的维度", "Size of a head"),
            count("kv_rank", "1", 8192, "MLA 的秩", "Rank of MLA"),
            count("rope_dim", "1", 1024, "MLA 带位置的维度", "Size of MLA's part with position"),
            count("window", "token", 1 << 20, "滑动窗口", "Sliding window"),
            count("window_layers", "1", 1024, "只看窗口的层数", "Layers that see the window only"),
            count("attention_layers", "1", 1024, "混合模型里做注意力的层数", "Layers of a hybrid that attend"),
            choice("value_bytes", "B", bytes, Text::new("一个值的字节数", "Bytes of a value")).default_value("2"),
            count("tokens", "token", 1 << 24, "真正在缓存里的 token", "Tokens that are really there"),
            count("context", "token", 1 << 24, "最长的上下文", "The longest context"),
            params("total_params_b", "总参数，十亿", "All parameters, 10⁹"),
            params("active_params_b", "每个 token 用到的参数，十亿", "Parameters that a token uses, 10⁹"),
            choice("mistake", "", mistakes, Text::new("哪种错法", "Which mistake")).default_value("none"),
        ]
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        let preset = PRESETS.iter().find(|preset| preset.id == args.text("model")).unwrap_or(&PRESETS[0]);
        let mut this = Self::of(preset);
        let shape = &mut this.shape;
        for (key, place) in [
            ("layers", &mut shape.layers),
            ("q_heads", &mut shape.q_heads),
            ("kv_heads", &mut shape.kv_heads),
            ("head_dim", &mut shape.head_dim),
            ("kv_rank", &mut shape.kv_rank),
            ("rope_dim", &mut shape.rope_dim),
            ("window", &mut shape.window),
            ("window_layers", &mut shape.window_layers),
            ("attention_layers", &mut shape.attention_layers),
        ] {
            if args.has(key) {
                *place = args.uint(key);
            }
        }
        if args.has("layers") {
            // What was of the preset's layers keeps within the new ones.
            for (key, place) in
                [("window_layers", &mut shape.window_layers), ("attention_layers", &mut shape.attention_layers)]
            {
                if !args.has(key) {
                    *place = (*place).min(shape.layers);
                }
            }
        }
        if args.has("total_params_b") {
            this.total_b = args.num("total_params_b");
            this.active_b = this.active_b.min(this.total_b);
        }
        if args.has("active_params_b") {
            this.active_b = args.num("active_params_b");
        }
        this.value_bytes = args.text("value_bytes").parse().unwrap_or(2.0);
        if args.has("q_heads") && !args.has("kv_heads") && !shape_shares(&this.shape) {
            this.shape.kv_heads = this.shape.q_heads;
        }
        this.lengths(args);
        this.mistake = Mistake::ALL.into_iter().find(|one| one.id() == args.text("mistake")).unwrap_or(Mistake::None);
        Ok(this)
    }

    /// Tokens and context; the one that is not given keeps to the other.
    fn lengths(&mut self, args: &Args) {
        if args.has("tokens") {
            self.tokens = args.uint("tokens");
            self.context = self.context.max(self.tokens);
        }
        if args.has("context") {
            self.context = args.uint("context");
            if !args.has("tokens") {
                self.tokens = self.tokens.min(self.context);
            }
        }
    }

    pub fn params(&self) -> Map {
        let shape = &self.shape;
        let values: [(&str, Value); 16] = [
            ("model", self.preset.id.into()),
            ("layers", shape.layers.into()),
            ("q_heads", shape.q_heads.into()),
            ("kv_heads", shape.kv_heads.into()),
            ("head_dim", shape.head_dim.into()),
            ("kv_rank", shape.kv_rank.into()),
            ("rope_dim", shape.rope_dim.into()),
            ("window", shape.window.into()),
            ("window_layers", shape.window_layers.into()),
            ("attention_layers", shape.attention_layers.into()),
            ("value_bytes", self.value_bytes.to_string().into()),
            ("tokens", self.tokens.into()),
            ("context", self.context.into()),
            ("total_params_b", self.total_b.into()),
            ("active_params_b", self.active_b.into()),
            ("mistake", self.mistake.id().into()),
        ];
        values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}
