//! What the reader sets: the page, the longest request, which requests come, the step, and one request to look at.

use vramlab_model::kv_paging::{Lengths, MOST_STEPS, Setup, check};
use vramlab_units::{Args, FieldError, FieldKind, FieldSpec, Map, Text};

/// Slots of the pool. The figure is drawn for it: eight rows of 512.
pub const POOL_TOKENS: u64 = 4096;
pub const BLOCKS: [u64; 6] = [1, 8, 16, 32, 64, 128];
pub const LONGEST: [u64; 3] = [256, 512, 1024];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    pub block_tokens: u64,
    pub max_len: u64,
    pub lengths: Lengths,
}

fn choice(key: &'static str, unit: &'static str, options: &[u64], default: u64, doc: Text) -> FieldSpec {
    let options = options.iter().map(|option| option.to_string().into()).collect();
    FieldSpec::new(key, unit, FieldKind::Choice { options }, doc).default_value(default.to_string())
}

impl Question {
    pub fn fields() -> Vec<FieldSpec> {
        let which = Text::new("来的请求有多长", "How long the requests are");
        let kinds = Lengths::ALL.iter().map(|lengths| lengths.id().into()).collect();
        let step = Text::new("走了几步", "Steps taken");
        let picked = Text::new("看哪个请求的页表；0 是第一个", "The request whose table is shown; 0 is the first");
        vec![
            choice("block_tokens", "token", &BLOCKS, 16, Text::new("一页几个 token", "Tokens of a page")),
            choice("max_len", "token", &LONGEST, 512, Text::new("允许的最长请求", "The longest request allowed")),
            FieldSpec::new("lengths", "", FieldKind::Choice { options: kinds }, which).default_value("mixed"),
            FieldSpec::int("step", "1", 0, MOST_STEPS as i64, step).default_value(60),
            FieldSpec::int("request", "1", 0, vramlab_model::kv_paging::N_REQUESTS as i64 - 1, picked).default_value(0),
        ]
    }

    pub fn from_args(args: &Args) -> Result<Self, FieldError> {
        let number = |key: &str| args.text(key).parse().unwrap_or_default();
        let this = Self {
            block_tokens: number("block_tokens"),
            max_len: number("max_len"),
            lengths: Lengths::from_id(args.text("lengths")).unwrap_or(Lengths::Mixed),
        };
        check(this.setup())?;
        Ok(this)
    }

    pub fn params(&self, step: u64, request: usize) -> Map {
        let mut map = Map::new();
        map.insert("block_tokens".into(), self.block_tokens.to_string().into());
        map.insert("max_len".into(), self.max_len.to_string().into());
        map.insert("lengths".into(), self.lengths.id().into());
        map.insert("step".into(), step.into());
        map.insert("request".into(), request.into());
        map
    }

    pub fn setup(&self) -> Setup {
        let Self { block_tokens, max_len, lengths } = *self;
        Setup { pool_tokens: POOL_TOKENS, block_tokens, max_len, lengths }
    }
}
