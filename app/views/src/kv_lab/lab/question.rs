//! What the reader sets: a preset or a text of one's own, seats, budget, blocks; the step and the request that is looked at.

use super::presets::{self, PRESETS, Preset};
use vramlab_serve::schedule::{MAX_BLOCK, MAX_BUDGET, MAX_SEQS};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text, Value};

/// Longest text of requests.
pub const MOST_TEXT: usize = 16_384;
/// Blocks that the picture is made for.
pub const MOST_BLOCKS: u32 = 65_536;
/// A step beyond the last is the last.
pub const MOST_STEPS: i64 = 1_000_000;

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
        Self { preset, text: preset.text().to_owned(), max_seqs, token_budget, block_tokens, pool_blocks }
    }

    pub fn is_own(&self) -> bool {
        self.text != self.preset.text()
    }

    pub fn fields() -> Vec<FieldSpec> {
        let count =
            |key, unit, max: u32, zh, en| FieldSpec::int(key, unit, 1, max.into(), Text::new(zh, en)).optional();
        let ids = PRESETS.iter().map(|preset| preset.id.into()).collect();
        let text = Text::new(
            "自己的请求：每行 到达步 提示 输出；fork 类写 a:6 b=a b+3 -a，prefix 类写 a:0-14 a+15-17 -a；空着用预设的",
            "Requests of one's own, a line each: arrival step, prompt, output; for forks a:6 b=a b+3 -a; for prefixes a:0-14 a+15-17 -a; empty for the preset's",
        );
        let which = Text::new("预设的请求流", "The stream that is played");
        let step = Text::new("走到第几步", "The step that is shown");
        let request = Text::new("盯着第几个请求，0 是没有", "The request that is outlined, by its number; 0 for none");
        vec![
            FieldSpec::new("preset", "", FieldKind::Choice { options: ids }, which).default_value("stream"),
            FieldSpec::new("requests", "", FieldKind::Text { max_len: MOST_TEXT }, text).default_value(""),
            count("max_seqs", "1", MAX_SEQS, "座位：同时运行的请求", "Seats: requests that run at once"),
            count("token_budget", "token", MAX_BUDGET, "一步最多多少 token", "Tokens of a step"),
            count("block_tokens", "token", MAX_BLOCK, "一块的 token 数", "Tokens of a block"),
            count("pool_blocks", "1", MOST_BLOCKS, "池里的块数", "Blocks of the pool"),
            FieldSpec::int("step", "1", 0, MOST_STEPS, step).optional(),
            FieldSpec::int("request", "1", 0, 4096, request).default_value(0),
        ]
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        let mut this = Self::of(presets::find(args.text("preset")).unwrap_or(&PRESETS[0]));
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
        Ok(this)
    }

    pub fn params(&self, step: usize, request: usize) -> Map {
        let text = if self.is_own() { self.text.as_str() } else { "" };
        let values: [(&str, Value); 8] = [
            ("preset", self.preset.id.into()),
            ("requests", text.into()),
            ("max_seqs", self.max_seqs.into()),
            ("token_budget", self.token_budget.into()),
            ("block_tokens", self.block_tokens.into()),
            ("pool_blocks", self.pool_blocks.into()),
            ("step", step.into()),
            ("request", request.into()),
        ];
        values.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}
