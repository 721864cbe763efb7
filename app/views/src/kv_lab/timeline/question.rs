//! What the reader sets: requests, seats, tokens of a step, blocks, and the step under the cursor.

use std::fmt::Write as _;
use vramlab_serve::arrivals::{Gaps, Length, Stream};
use vramlab_serve::schedule::{MAX_BLOCK, MAX_BUDGET, MAX_SEQS};
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
}

const MIXED: Preset = Preset {
    id: "mixed",
    label: Text::new("长短不一", "short and long ones"),
    text: "# arrival prompt output\n0 32 6\n0 48 24\n0 16 10\n0 64 4\n2 24 18\n4 40 5\n6 16 28\n9 56 8\n12 24 12\n15 32 6",
    max_seqs: 4,
    token_budget: 128,
    block_tokens: 8,
    pool_blocks: 64,
};

pub const PRESETS: [Preset; 4] = [
    MIXED,
    Preset {
        id: "four",
        label: Text::new("四个请求、两个座位", "four requests, two seats"),
        text: "0 1 2\n0 1 5\n0 1 2\n0 1 3",
        max_seqs: 2,
        token_budget: 64,
        block_tokens: 16,
        pool_blocks: 64,
    },
    Preset {
        id: "tight",
        label: Text::new("块不够：有人被抢占", "too few blocks: some give way"),
        pool_blocks: 16,
        ..MIXED
    },
    Preset {
        id: "poisson",
        label: Text::new("八十个请求，随机到达", "eighty requests, arriving at random"),
        text: "",
        max_seqs: 16,
        token_budget: 512,
        block_tokens: 16,
        pool_blocks: 320,
    },
];

/// Eighty requests of a Poisson stream, whole steps as their arrivals.
fn drawn() -> String {
    let stream = Stream {
        n_requests: 80,
        gaps: Gaps::Gamma { rate: 0.5, burstiness: 1.0 },
        prompt: Length::LogNormal { mean: 180.0, sigma: 0.7, most: 1024 },
        output: Length::LogNormal { mean: 40.0, sigma: 0.8, most: 200 },
        seed: 7,
    };
    let mut text = String::new();
    for request in stream.requests().unwrap_or_default() {
        let written = writeln!(text, "{:.0} {} {}", request.arrival.floor(), request.prompt, request.output);
        debug_assert!(written.is_ok());
    }
    text
}

impl Preset {
    pub fn text(&self) -> String {
        if self.text.is_empty() { drawn() } else { self.text.to_owned() }
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
}

impl Question {
    pub fn of(preset: &'static Preset) -> Self {
        let Preset { max_seqs, token_budget, block_tokens, pool_blocks, .. } = *preset;
        Self { preset, text: preset.text(), max_seqs, token_budget, block_tokens, pool_blocks }
    }

    pub fn is_own(&self) -> bool {
        self.text != self.preset.text()
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
        ]
    }

    pub fn from_args(args: &Args) -> Self {
        let preset = PRESETS.iter().find(|preset| preset.id == args.text("preset")).unwrap_or(&PRESETS[0]);
        let mut this = Self::of(preset);
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
        let values: [(&str, Value); 7] = [
            ("preset", self.preset.id.into()),
            ("requests", text.into()),
            ("max_seqs", self.max_seqs.into()),
            ("token_budget", self.token_budget.into()),
            ("block_tokens", self.block_tokens.into()),
            ("pool_blocks", self.pool_blocks.into()),
            ("step", step.into()),
        ];
        values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}
