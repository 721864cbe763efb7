//! One step after another: who runs, how many tokens of whom, who gives way.
//!
//! Per step: running requests in the order of their admission take `min(known − computed, budget)` tokens and the blocks
//! these need; when none is left the last of the running (or the one with the largest priority, then the latest) is
//! preempted, its blocks given back, and it goes to the front of the waiting. Without a preemption the front of the waiting
//! is admitted while seats, budget and blocks suffice; nobody is skipped. A request that has computed all it knows emits a
//! token; with its last one it ends. Source: vLLM V1, `vllm/v1/core/sched/scheduler.py`, as brief 21 puts it.
//! With `prefix` a waiting request first takes the full blocks that an earlier one left (`cache.rs`), and computes the rest.
//! `batch.rs` is static batching, for contrast: a batch starts together, is padded to its longest and ends together.

mod batch;
mod cache;
mod engine;
pub mod record;
mod waiting;

use crate::request::{MAX_REQUESTS, MAX_TOKENS};
use crate::step_time::StepTime;
use crate::{Problem, Request};
use record::Record;

pub const MAX_SEQS: u32 = 1024;
pub const MAX_BUDGET: u32 = 65_536;
pub const MAX_BLOCK: u32 = 256;
pub const MAX_POOL: u32 = 1 << 24;
/// Most blocks of a pool that recognises prefixes: it keeps a key for each.
pub const MAX_CACHED_POOL: u32 = 1 << 21;
/// Steps after which a run is given up.
pub const MAX_STEPS: u64 = 20_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// First come, first served.
    Fcfs,
    /// The smaller (priority, arrival) goes first.
    Priority,
}

/// What becomes of a victim's cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preempt {
    /// It is thrown away and computed again.
    Recompute,
    /// It goes to the host's blocks while there are any, and comes back when the request does.
    Swap { host_blocks: u32 },
}

/// What a step takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clock {
    /// One; arrivals are step numbers, and the first step is 1.
    Steps,
    /// Seconds by the model.
    Seconds(StepTime),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    pub max_seqs: u32,
    /// Tokens of a step.
    pub token_budget: u32,
    pub block_tokens: u32,
    pub pool_blocks: u32,
    pub policy: Policy,
    pub preempt: Preempt,
    pub clock: Clock,
    /// Full blocks are recognised by their content, also while they are free.
    pub prefix: bool,
}

impl Settings {
    /// First come first served, recompute, steps as the clock, no prefix recognised.
    pub fn new(max_seqs: u32, token_budget: u32, block_tokens: u32, pool_blocks: u32) -> Self {
        let (policy, preempt, clock) = (Policy::Fcfs, Preempt::Recompute, Clock::Steps);
        Self { max_seqs, token_budget, block_tokens, pool_blocks, policy, preempt, clock, prefix: false }
    }

    pub(crate) fn blocks(&self, tokens: u32) -> u32 {
        tokens.div_ceil(self.block_tokens)
    }
}

/// How much of a run is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    Summary,
    /// A row for each step.
    Rows,
    /// Rows, and every change, so that a cursor can step through the run.
    Events,
}

/// Sums over a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    pub steps: u64,
    pub preemptions: u64,
    /// Tokens whose keys and values were thrown away.
    pub discarded_tokens: u64,
    /// Tokens whose keys and values went to the host.
    pub swapped_tokens: u64,
    /// Tokens that were found in the cache and not computed.
    pub hit_tokens: u64,
    /// Cached blocks that lost what they held to a newcomer.
    pub evictions: u64,
    pub peak_blocks: u32,
    pub peak_running: u32,
    /// Tokens computed, prompts and everything that was computed again.
    pub prefill_tokens: u64,
    pub decode_tokens: u64,
    /// Output tokens over seats · steps.
    pub slot_use: f64,
    /// Mean of used blocks over the pool.
    pub block_use: f64,
    /// Mean of tokens over the slots of used blocks.
    pub fill: f64,
}

/// What a run gave. Times are ends of steps, in the clock of the settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    pub totals: Totals,
    /// First token of each request, in the order in which they were given.
    pub first: Vec<f64>,
    pub done: Vec<f64>,
    pub record: Record,
}

/// Continuous batching.
pub fn continuous(requests: &[Request], settings: &Settings, detail: Detail) -> Result<Outcome, Problem> {
    check(requests, settings)?;
    engine::run(requests, settings, detail)
}

/// Static batching with the same seats and pool; token budget, policy and prefixes do not apply.
pub fn fixed(requests: &[Request], settings: &Settings, detail: Detail) -> Result<Outcome, Problem> {
    check(requests, settings)?;
    batch::run(requests, settings, detail)
}

/// Positions of the requests in the order of their arrival, equal ones as they were given.
pub(crate) fn by_arrival(requests: &[Request]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..requests.len() as u32).collect();
    order.sort_by(|a, b| requests[*a as usize].arrival.total_cmp(&requests[*b as usize].arrival));
    order
}

fn check(requests: &[Request], settings: &Settings) -> Result<(), Problem> {
    let within = |field, value: u32, most: u32, zh: &str| {
        let en = format!("{field} = {value} must be an integer from 1 to {most}");
        let problem = Problem::new(field, format!("{zh} {value} 不在 1 到 {most} 之间"), en);
        if (1..=most).contains(&value) { Ok(()) } else { Err(problem) }
    };
    within("max_seqs", settings.max_seqs, MAX_SEQS, "同时运行的请求数")?;
    within("token_budget", settings.token_budget, MAX_BUDGET, "每步 token 数")?;
    within("block_tokens", settings.block_tokens, MAX_BLOCK, "每块 token 数")?;
    let most = if settings.prefix { MAX_CACHED_POOL } else { MAX_POOL };
    within("pool_blocks", settings.pool_blocks, most, "块数")?;
    if requests.len() > MAX_REQUESTS {
        let en = format!("{} requests; at most {MAX_REQUESTS} are taken", requests.len());
        return Err(Problem::new("requests", format!("请求超过 {MAX_REQUESTS} 个"), en));
    }
    for (idx, request) in requests.iter().enumerate() {
        let range = 1..=MAX_TOKENS;
        if !range.contains(&request.prompt) || !range.contains(&request.output) {
            let en = format!("request {idx}: prompt and output must be integers from 1 to {MAX_TOKENS}");
            return Err(Problem::new("requests", format!("请求 {idx}：长度应在 1 到 {MAX_TOKENS} 之间"), en));
        }
        if !(0.0..=1e9).contains(&request.arrival) {
            let en = format!("request {idx}: arrival must be a number from 0 to 1e9");
            return Err(Problem::new("requests", format!("请求 {idx}：到达时间应在 0 到 1e9 之间"), en));
        }
        let (need, pool) = (settings.blocks(request.kv_tokens()), settings.pool_blocks);
        if need > pool {
            let en = format!("request {idx}: needs {need} KV blocks, pool has {pool}");
            return Err(Problem::new("pool_blocks", format!("请求 {idx}：要 {need} 个 KV 块，池里只有 {pool} 个"), en));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
