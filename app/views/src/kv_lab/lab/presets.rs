//! The streams and scripts that the laboratory brings along.

use super::script::Form;
use std::fmt::Write as _;
use std::sync::LazyLock;
use vramlab_serve::arrivals::{Gaps, Length, Stream};
use vramlab_units::Text;

/// Which machine a preset is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// Requests through the scheduler.
    Serve,
    /// A script for block tables, or for the pool that knows prefixes.
    Script(Form),
}

#[derive(Debug, PartialEq)]
pub struct Preset {
    pub id: &'static str,
    pub label: Text,
    pub machine: Machine,
    /// Empty for the one that is drawn.
    text: &'static str,
    pub max_seqs: u32,
    pub token_budget: u32,
    pub block_tokens: u32,
    pub pool_blocks: u32,
    /// The step that is shown first.
    pub opens_at: usize,
}

impl Preset {
    pub fn text(&self) -> &str {
        if self.text.is_empty() { DRAWN.as_str() } else { self.text }
    }
}

/// Drawn once: every frame asks whether the reader has changed it.
static DRAWN: LazyLock<String> = LazyLock::new(drawn);

/// Seven hundred requests for ten thousand blocks, whole steps as their arrivals.
fn drawn() -> String {
    let stream = Stream {
        n_requests: 700,
        gaps: Gaps::Gamma { rate: 8.0, burstiness: 0.6 },
        prompt: Length::LogNormal { mean: 320.0, sigma: 0.7, most: 2048 },
        output: Length::LogNormal { mean: 120.0, sigma: 0.5, most: 400 },
        seed: 21,
    };
    let mut text = String::new();
    for request in stream.requests().unwrap_or_default() {
        let written = writeln!(text, "{:.0} {} {}", request.arrival.floor(), request.prompt, request.output);
        debug_assert!(written.is_ok());
    }
    text
}

const SERVE: Preset = Preset {
    id: "stream",
    label: Text::new("一股请求：排队、抢占、拒收", "a stream: queueing, preemption, refusal"),
    machine: Machine::Serve,
    text: "# arrival prompt output\n0 44 22\n0 20 30\n1 60 18\n2 12 40\n4 300 40\n5 36 16\n8 24 24\n12 80 12\n16 16 20\n20 40 10",
    max_seqs: 4,
    token_budget: 64,
    block_tokens: 8,
    pool_blocks: 24,
    opens_at: 14,
};

pub const PRESETS: [Preset; 8] = [
    SERVE,
    Preset {
        id: "tight",
        label: Text::new("三个请求、五块：谁让位", "three requests, five blocks: who gives way"),
        text: "0 4 6\n0 4 6\n0 4 6",
        max_seqs: 3,
        block_tokens: 4,
        pool_blocks: 5,
        opens_at: 2,
        ..SERVE
    },
    Preset {
        id: "chunks",
        label: Text::new("长提示切成几步（chunked prefill）", "a long prompt in pieces (chunked prefill)"),
        text: "0 100 2\n0 4 4",
        token_budget: 32,
        block_tokens: 16,
        pool_blocks: 16,
        opens_at: 2,
        ..SERVE
    },
    Preset {
        id: "fork",
        label: Text::new("分叉与写时复制（copy-on-write）", "fork and copy-on-write"),
        machine: Machine::Script(Form::Counts),
        text: "a:14 b=a c=a b+1 c+1 a+3 b+6 -a c+9 -b -c",
        block_tokens: 4,
        pool_blocks: 18,
        opens_at: 4,
        ..SERVE
    },
    Preset {
        id: "beam",
        label: Text::new("分叉太多：最新的让位", "too many forks: the newest gives way"),
        machine: Machine::Script(Form::Counts),
        text: "a:22 b=a c=a d=a a+4 b+4 c+4 d+4 a+8 b+8 -a",
        block_tokens: 8,
        pool_blocks: 8,
        opens_at: 7,
        ..SERVE
    },
    Preset {
        id: "prefix",
        label: Text::new("按哈希共享前缀、淘汰（vLLM 的例子）", "prefixes by hash, eviction (vLLM's example)"),
        machine: Machine::Script(Form::Ranges),
        text: "a:0-14 a+15-17 b:0-9,100-103 -a -b c:0-11,200-216",
        block_tokens: 4,
        pool_blocks: 10,
        opens_at: 6,
        ..SERVE
    },
    Preset {
        id: "tenants",
        label: Text::new("同样的提示，两个租户", "one prompt, two tenants"),
        machine: Machine::Script(Form::Ranges),
        text: "a@1:0-49 b@1:0-49 c@2:0-49 -a d@2:0-39,90-99 -b -c",
        block_tokens: 8,
        pool_blocks: 32,
        opens_at: 3,
        ..SERVE
    },
    Preset {
        id: "large",
        label: Text::new("一万块、七百个请求", "ten thousand blocks, seven hundred requests"),
        text: "",
        max_seqs: 1024,
        token_budget: 8192,
        block_tokens: 16,
        pool_blocks: 10_000,
        opens_at: 90,
        ..SERVE
    },
];

pub fn find(id: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.id == id)
}
