//! What the reader sets: requests by text, by distribution or from a file, seats, tokens of a step, blocks, what is done with
//! prefixes, victims and priorities, and the step under the cursor.

use std::fmt::Write as _;
use std::sync::Arc;
use vramlab_serve::Request;
use vramlab_serve::arrivals::{Gaps, Length, Stream};
use vramlab_serve::schedule::{MAX_BLOCK, MAX_BUDGET, MAX_CACHED_POOL, MAX_SEQS, Policy, Preempt, Settings};
use vramlab_units::{Args, FieldKind, FieldSpec, Map, Text, Value};

pub const MOST_TEXT: usize = 8_192;
const MOST_BLOCKS: u32 = 1 << 20;

#[derive(Debug, PartialEq)]
pub struct Preset {
    pub id: &'static str,
    pub label: Text,
    /// Empty for the one that is drawn.
    text: &'static str,
    max_seqs: u32,
    token_budget: u32,
    block_tokens: u32,
    pool_blocks: u32,
    prefix: bool,
    is_priority: bool,
}

const MIXED: Preset = Preset {
    id: "mixed",
    label: Text::new("长短不一", "short and long ones"),
    text: "# arrival prompt output\n0 32 6\n0 48 24\n0 16 10\n0 64 4\n2 24 18\n4 40 5\n6 16 28\n9 56 8\n12 24 12\n15 32 6",
    max_seqs: 4,
    token_budget: 128,
    block_tokens: 8,
    pool_blocks: 64,
    prefix: false,
    is_priority: false,
};

pub const PRESETS: [Preset; 6] = [
    MIXED,
    Preset {
        id: "four",
        label: Text::new("四个请求、两个座位", "four requests, two seats"),
        text: "0 1 2\n0 1 5\n0 1 2\n0 1 3",
        max_seqs: 2,
        token_budget: 64,
        block_tokens: 16,
        ..MIXED
    },
    Preset {
        id: "tight",
        label: Text::new("块不够：有人被抢占", "too few blocks: some give way"),
        pool_blocks: 16,
        ..MIXED
    },
    Preset {
        id: "shared",
        label: Text::new("同一段开头", "one common beginning"),
        text: "# 96 tokens of each prompt are the same\n0 112 6 shared=96\n1 128 10 shared=96\n2 104 8 shared=96\n3 120 12 shared=96\n4 112 6 shared=96\n5 136 9 shared=96\n6 104 7 shared=96\n8 120 8 shared=96",
        token_budget: 64,
        block_tokens: 16,
        prefix: true,
        ..MIXED
    },
    Preset {
        id: "priority",
        label: Text::new("有急有缓", "urgent ones and others"),
        text: "# arrival prompt output priority: lower goes first\n0 32 20 1\n0 32 24 1\n0 48 20 1\n1 24 16 1\n6 16 6 0\n8 16 6 0\n12 24 16 1\n14 16 5 0",
        max_seqs: 4,
        pool_blocks: 20,
        is_priority: true,
        ..MIXED
    },
    Preset {
        id: "poisson",
        label: Text::new("随机到达", "random arrivals"),
        text: "",
        max_seqs: 16,
        token_budget: 512,
        block_tokens: 16,
        pool_blocks: 320,
        ..MIXED
    },
];

/// A stream by distribution, arrivals in steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawn {
    pub n_requests: u32,
    /// Requests a step.
    pub rate: f64,
    pub burstiness: f64,
    pub prompt: f64,
    pub output: f64,
    pub seed: u64,
}

impl Drawn {
    pub const START: Self = Self { n_requests: 80, rate: 0.5, burstiness: 1.0, prompt: 180.0, output: 40.0, seed: 7 };
}

/// The stream of a distribution as text, whole steps as its arrivals.
fn written(drawn: &Drawn) -> String {
    let Drawn { n_requests, rate, burstiness, prompt, output, seed } = *drawn;
    let stream = Stream {
        n_requests: n_requests as usize,
        gaps: Gaps::Gamma { rate, burstiness },
        prompt: Length::LogNormal { mean: prompt, sigma: 0.7, most: 1024 },
        output: Length::LogNormal { mean: output, sigma: 0.8, most: 200 },
        seed,
    };
    let mut text = String::new();
    for request in stream.requests().unwrap_or_default() {
        let written = writeln!(text, "{:.0} {} {}", request.arrival.floor(), request.prompt, request.output);
        debug_assert!(written.is_ok());
    }
    text
}

impl Preset {
    pub fn text(&self, drawn: &Drawn) -> String {
        if self.is_drawn() { written(drawn) } else { self.text.to_owned() }
    }

    pub fn is_drawn(&self) -> bool {
        self.text.is_empty()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    pub preset: &'static Preset,
    pub text: String,
    pub max_seqs: u32,
    pub token_budget: u32,
    pub block_tokens: u32,
    pub pool_blocks: u32,
    pub prefix: bool,
    pub is_priority: bool,
    /// Blocks on the host for victims; none means that they are computed again.
    pub host_blocks: u32,
    pub drawn: Drawn,
    /// A file of the reader's, in the place of the text.
    pub file: Option<Arc<Vec<Request>>>,
}

impl Question {
    pub fn of(preset: &'static Preset) -> Self {
        let Preset { max_seqs, token_budget, block_tokens, pool_blocks, prefix, is_priority, .. } = *preset;
        let (drawn, text) = (Drawn::START, preset.text(&Drawn::START));
        let (host_blocks, file) = (0, None);
        Self {
            preset,
            text,
            max_seqs,
            token_budget,
            block_tokens,
            pool_blocks,
            prefix,
            is_priority,
            host_blocks,
            drawn,
            file,
        }
    }

    pub fn is_own(&self) -> bool {
        self.text != self.preset.text(&self.drawn)
    }

    pub fn settings(&self) -> Settings {
        let mut settings = Settings::new(self.max_seqs, self.token_budget, self.block_tokens, self.pool_blocks);
        settings.prefix = self.prefix && self.pool_blocks <= MAX_CACHED_POOL;
        if self.is_priority {
            settings.policy = Policy::Priority;
        }
        if self.host_blocks > 0 {
            settings.preempt = Preempt::Swap { host_blocks: self.host_blocks };
        }
        settings
    }

    /// Another distribution: its stream takes the place of the text.
    pub fn redraw(&mut self, drawn: Drawn) {
        self.drawn = drawn;
        self.text = self.preset.text(&drawn);
    }

    pub fn fields() -> Vec<FieldSpec> {
        let count =
            |key, unit, max: u32, zh, en| FieldSpec::int(key, unit, 1, max.into(), Text::new(zh, en)).optional();
        let ids = PRESETS.iter().map(|preset| preset.id.into()).collect();
        let which = Text::new("预设的请求流", "The stream that is played");
        let text = Text::new(
            "自己的请求：每行 到达步 提示 输出；空着用预设的",
            "Requests of one's own, a line each: arrival step, prompt, output; empty for the preset's",
        );
        let flag = |key, zh, en| FieldSpec::new(key, "", FieldKind::Bool, Text::new(zh, en)).optional();
        let num = |key, unit, min, max, zh, en| FieldSpec::num(key, unit, min, max, Text::new(zh, en));
        let host = Text::new(
            "主机上给被抢占者的块数，0 是重算",
            "Blocks on the host for victims; with 0 they are computed again",
        );
        let step = Text::new("游标在第几步，0 是没有", "The step under the cursor, 0 for none");
        vec![
            FieldSpec::new("preset", "", FieldKind::Choice { options: ids }, which).default_value("mixed"),
            FieldSpec::new("requests", "", FieldKind::Text { max_len: MOST_TEXT }, text).default_value(""),
            count("max_seqs", "1", MAX_SEQS, "座位：同时运行的请求", "Seats: requests that run at once"),
            count(
                "token_budget",
                "token",
                MAX_BUDGET,
                "一步最多多少 token（静态批处理不用）",
                "Tokens of a step (not for static batches)",
            ),
            count("block_tokens", "token", MAX_BLOCK, "一块的 token 数", "Tokens of a block"),
            count("pool_blocks", "1", MOST_BLOCKS, "池里的块数", "Blocks of the pool"),
            FieldSpec::int("step", "1", 0, 1_000_000, step).default_value(0),
            flag("prefix", "认出相同的前缀", "Equal beginnings are recognised"),
            flag("priority", "按优先级排", "By priority"),
            FieldSpec::int("host_blocks", "1", 0, MOST_BLOCKS.into(), host).default_value(0),
            FieldSpec::int("n_requests", "1", 1, 240, Text::new("随机到达：几个请求", "Random: requests"))
                .default_value(80),
            num("rate", "1/step", 0.01, 16.0, "随机到达：每步几个", "Random: requests a step").default_value(0.5),
            num(
                "burstiness",
                "1",
                0.05,
                20.0,
                "随机到达：1 是 Poisson，越小越扎堆",
                "Random: 1 is Poisson, less comes in bursts",
            )
            .default_value(1),
            num("prompt_mean", "token", 1.0, 800.0, "随机到达：提示的平均长度", "Random: mean prompt")
                .default_value(180),
            num("output_mean", "token", 1.0, 150.0, "随机到达：输出的平均长度", "Random: mean output")
                .default_value(40),
            FieldSpec::int("seed", "1", 0, 1 << 20, Text::new("随机到达：种子", "Random: seed")).default_value(7),
        ]
    }

    pub fn from_args(args: &Args) -> Self {
        let preset = PRESETS.iter().find(|preset| preset.id == args.text("preset")).unwrap_or(&PRESETS[0]);
        let mut this = Self::of(preset);
        this.redraw(Drawn {
            n_requests: args.uint("n_requests") as u32,
            rate: args.num("rate"),
            burstiness: args.num("burstiness"),
            prompt: args.num("prompt_mean"),
            output: args.num("output_mean"),
            seed: args.uint("seed"),
        });
        this.host_blocks = args.uint("host_blocks") as u32;
        for (key, place) in [("prefix", &mut this.prefix), ("priority", &mut this.is_priority)] {
            if args.has(key) {
                *place = args.flag(key);
            }
        }
        if !args.text("requests").trim().is_empty() {
            args.text("requests").clone_into(&mut this.text);
        }
        for (key, place) in [
            ("max_seqs", &mut this.max_seqs),
            ("token_budget", &mut this.token_budget),
            ("block_tokens", &mut this.block_tokens),
            ("pool_blocks", &mut this.pool_blocks),
        ] {
            if args.has(key) {
                *place = args.uint(key) as u32;
            }
        }
        this
    }

    pub fn params(&self, step: usize) -> Map {
        let text = if self.is_own() { self.text.as_str() } else { "" };
        let values: [(&str, Value); 16] = [
            ("preset", self.preset.id.into()),
            ("requests", text.into()),
            ("max_seqs", self.max_seqs.into()),
            ("token_budget", self.token_budget.into()),
            ("block_tokens", self.block_tokens.into()),
            ("pool_blocks", self.pool_blocks.into()),
            ("step", step.into()),
            ("prefix", self.prefix.into()),
            ("priority", self.is_priority.into()),
            ("host_blocks", self.host_blocks.into()),
            ("n_requests", self.drawn.n_requests.into()),
            ("rate", self.drawn.rate.into()),
            ("burstiness", self.drawn.burstiness.into()),
            ("prompt_mean", self.drawn.prompt.into()),
            ("output_mean", self.drawn.output.into()),
            ("seed", self.drawn.seed.into()),
        ];
        values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}
