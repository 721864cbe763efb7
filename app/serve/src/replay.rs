//! What a run asks of the card, step by step: how many tokens of whom are computed, over how long a cache, in which blocks.
//!
//! `works` reads it off the events of a run; [`Replay`] is a seeded run to hold the model of a step against: prompts come
//! in chunks between decodes, and the pool is short enough that somebody gives way.

use crate::arrivals::{Gaps, Length, Stream};
use crate::schedule::record::{Event, Record};
use crate::schedule::{Detail, Settings, continuous};
use crate::step_time::StepTime;
use crate::{Problem, Request};

/// One request's share of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub request: u32,
    /// Tokens that are computed now; they see all before them and each other in order.
    pub tokens: u32,
    /// Tokens whose keys and values are there at the end of the step, these included.
    pub context: u32,
    /// Blocks that hold them, in order.
    pub blocks: Vec<u32>,
}

/// One step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    pub pieces: Vec<Piece>,
    pub prefill_tokens: u32,
    pub decode_tokens: u32,
}

impl Work {
    /// Tokens that the step computes.
    pub fn tokens(&self) -> u32 {
        self.pieces.iter().map(|piece| piece.tokens).sum()
    }

    /// Tokens whose keys and values it reads.
    pub fn context_tokens(&self) -> u64 {
        self.pieces.iter().map(|piece| u64::from(piece.context)).sum()
    }
}

/// What a card does, for a step that runs its products first and its attention after them, layer by layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InTurn {
    /// The products: weights, their bandwidth, the rate of sums. Its launch time is that of one launch.
    pub step: StepTime,
    /// Bandwidth at which attention reads the cache.
    pub kv_bytes_per_s: f64,
    /// FLOP of attention for a query token and a token that it sees, all layers together.
    pub flop_per_pair: f64,
    pub n_layers: u32,
}

impl InTurn {
    /// Seconds of a step: products, then each request's attention, then launches. Nothing of one hides behind another.
    pub fn seconds(&self, work: &Work) -> f64 {
        let step = &self.step;
        let read = step.weight_bytes / step.bytes_per_s;
        let sums = 2.0 * step.n_params * f64::from(work.tokens()) / step.flop_per_s;
        let attention = |piece: &Piece| {
            let (n, context) = (f64::from(piece.tokens), f64::from(piece.context));
            let read = step.kv_bytes_per_token * context / self.kv_bytes_per_s;
            read.max(self.flop_per_pair * n * (context - (n - 1.0) / 2.0) / step.flop_per_s)
        };
        read.max(sums) + work.pieces.iter().map(attention).sum::<f64>() + self.launches(work) * step.launch_s
    }

    /// Seconds by the model of chapter 21: all reads overlap with all sums.
    pub fn overlapped(&self, work: &Work) -> f64 {
        let all = StepTime { launch_s: self.launches(work) * self.step.launch_s, ..self.step };
        all.seconds(work.tokens().into(), work.context_tokens() as f64, 0.0)
    }

    /// A layer launches its products, its decodes and its chunks.
    fn launches(&self, work: &Work) -> f64 {
        let has = |is: fn(&Piece) -> bool| u32::from(work.pieces.iter().any(is));
        f64::from(self.n_layers * (1 + has(|one| one.tokens == 1) + has(|one| one.tokens > 1)))
    }
}

/// How kernels fill a card: blocks of threads run in rounds, and a round takes as long however few are in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rounds {
    /// Blocks of threads that run at the same time.
    pub slots: u32,
    /// Blocks of a layer's products for one tile of 128 tokens.
    pub row_blocks: u32,
    /// Seconds in which a chunk's attention gets over 16 tokens.
    pub tile_s: f64,
}

impl Rounds {
    /// Tokens of the widest tile of the products, and of the product that the rate of sums was measured with.
    const TILE: u32 = 128;
    const MEASURED: u32 = 512;
    /// Queries of a block of threads, tokens that it goes through, tokens of a tile of the cache; query heads of a KV head.
    const QUERIES: u32 = 64;
    const SPLIT: u32 = 512;
    const TOKENS: u32 = 16;
    const GROUP: u32 = 4;
    const KV_HEADS: u32 = 8;

    /// Rounds of a layer's products.
    fn of(&self, tokens: u32) -> f64 {
        f64::from((self.row_blocks * tokens.div_ceil(Self::TILE)).div_ceil(self.slots))
    }

    /// Seconds of a layer's attention of all chunks: rounds, times the tiles of the longest block.
    fn chunks(&self, work: &Work) -> f64 {
        let (mut blocks, mut longest) = (0, 0);
        for piece in work.pieces.iter().filter(|piece| piece.tokens > 1) {
            let queries = Self::GROUP * piece.tokens;
            for first in (0..queries).step_by(Self::QUERIES as usize) {
                let last = (first + Self::QUERIES).min(queries) - 1;
                let seen = piece.context - piece.tokens + last / Self::GROUP + 1;
                blocks += Self::KV_HEADS * seen.div_ceil(Self::SPLIT);
                longest = longest.max(seen.min(Self::SPLIT).div_ceil(Self::TOKENS));
            }
        }
        f64::from(blocks.div_ceil(self.slots)) * f64::from(longest) * self.tile_s
    }
}

impl InTurn {
    /// Seconds of a step on a card that works in rounds. Products of up to 64 tokens use narrow tiles and wait for weights.
    pub fn in_rounds(&self, work: &Work, rounds: &Rounds) -> f64 {
        let step = &self.step;
        let read = step.weight_bytes / step.bytes_per_s;
        let measured = 2.0 * step.n_params * f64::from(Rounds::MEASURED) / step.flop_per_s;
        let tokens = work.tokens();
        let sums = if tokens > Rounds::TILE / 2 {
            measured * rounds.of(tokens) / rounds.of(Rounds::MEASURED)
        } else {
            2.0 * step.n_params * f64::from(tokens) / step.flop_per_s
        };
        let context: f64 =
            work.pieces.iter().filter(|piece| piece.tokens == 1).map(|piece| f64::from(piece.context)).sum();
        let decodes = step.kv_bytes_per_token * context / self.kv_bytes_per_s;
        let chunks = f64::from(self.n_layers) * rounds.chunks(work);
        read.max(sums) + decodes + chunks + self.launches(work) * step.launch_s
    }
}

/// The work of each step of a run that was kept with its events.
pub fn works(record: &Record, n_requests: usize) -> Vec<Work> {
    let mut tables: Vec<Vec<u32>> = vec![Vec::new(); n_requests];
    let mut computed = vec![0_u32; n_requests];
    let mut from = 0;
    let mut step = |row: &crate::schedule::record::Row| {
        let mut work = Work { prefill_tokens: row.prefill_tokens, decode_tokens: row.decode_tokens, ..Work::default() };
        for event in record.events.get(from..row.n_events).unwrap_or_default() {
            match *event {
                Event::Take { request, block } => tables[request as usize].push(block),
                Event::Give { request, .. } => {
                    tables[request as usize].pop();
                }
                Event::Preempt { request, lost } => computed[request as usize] -= lost,
                Event::Hit { request, tokens } => computed[request as usize] += tokens,
                Event::Compute { request, tokens } => {
                    let at = request as usize;
                    computed[at] += tokens;
                    work.pieces.push(Piece { request, tokens, context: computed[at], blocks: tables[at].clone() });
                }
                _ => {}
            }
        }
        from = row.n_events;
        work
    };
    record.rows.iter().map(&mut step).collect()
}

/// A seeded stream through the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replay {
    pub seed: u64,
    pub n_requests: u32,
    pub max_seqs: u32,
    pub token_budget: u32,
    pub block_tokens: u32,
    pub pool_blocks: u32,
}

impl Replay {
    /// The run that the experiment `serve_steps` replays.
    pub fn of(seed: u64) -> Self {
        Self { seed, n_requests: 80, max_seqs: 32, token_budget: 256, block_tokens: 16, pool_blocks: 2560 }
    }

    /// Requests with arrivals in steps.
    pub fn requests(&self) -> Result<Vec<Request>, Problem> {
        let stream = Stream {
            n_requests: self.n_requests as usize,
            gaps: Gaps::Gamma { rate: 1.0 / 12.0, burstiness: 0.5 },
            prompt: Length::LogNormal { mean: 1000.0, sigma: 0.6, most: 2500 },
            output: Length::LogNormal { mean: 300.0, sigma: 0.6, most: 900 },
            seed: self.seed,
        };
        stream.requests()
    }

    pub fn works(&self) -> Result<Vec<Work>, Problem> {
        let requests = self.requests()?;
        let settings = Settings::new(self.max_seqs, self.token_budget, self.block_tokens, self.pool_blocks);
        let outcome = continuous(&requests, &settings, Detail::Events)?;
        Ok(works(&outcome.record, requests.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Brief 21's preemption: three requests of 4 prompt and 6 output tokens, blocks of 4, a pool of 5.
    #[test]
    fn the_pieces_of_a_run_with_preemptions() {
        let requests = [Request::new(0.0, 4, 6); 3];
        let outcome = continuous(&requests, &Settings::new(3, 64, 4, 5), Detail::Events).unwrap();
        let works = works(&outcome.record, 3);
        assert_eq!((works.len(), outcome.totals.preemptions), (11, 2));
        // The first step computes three prompts, a block each.
        assert_eq!((works[0].tokens(), works[0].context_tokens(), works[0].prefill_tokens), (12, 12, 12));
        assert_eq!(works[0].pieces.iter().map(|piece| piece.blocks.clone()).collect::<Vec<_>>(), [[0], [1], [2]]);
        let computed: u32 = works.iter().map(Work::tokens).sum();
        // 9 tokens each, and 12 that were thrown away.
        assert_eq!(computed, 3 * 9 + 12);
        check(&works, 4, 5);
    }

    /// A table holds just the blocks of its context; no block is two requests'.
    fn check(works: &[Work], block: u32, pool: u32) {
        for (step, work) in works.iter().enumerate() {
            assert_eq!(work.tokens(), work.prefill_tokens + work.decode_tokens, "step {step}");
            let mut held: Vec<u32> = work.pieces.iter().flat_map(|piece| piece.blocks.clone()).collect();
            let n = held.len();
            held.sort_unstable();
            held.dedup();
            assert!(held.len() == n && held.iter().all(|block| *block < pool), "step {step}");
            for piece in &work.pieces {
                assert_eq!(piece.blocks.len() as u32, piece.context.div_ceil(block), "step {step}");
                assert!(piece.tokens >= 1 && piece.tokens <= piece.context, "step {step}");
            }
        }
    }

    /// By hand: 100 B of weights at 10 B/s, 2 · 3 · 5 FLOP at 1 FLOP/s, 4 B a cached token at 8 B/s, 2 launches of 1 s.
    #[test]
    fn a_step_in_turn_is_a_sum() {
        let step = StepTime {
            weight_bytes: 100.0,
            kv_bytes_per_token: 4.0,
            bytes_per_s: 10.0,
            n_params: 3.0,
            flop_per_s: 1.0,
            launch_s: 1.0,
            link_bytes_per_s: 1.0,
        };
        let card = InTurn { step, kv_bytes_per_s: 8.0, flop_per_pair: 0.5, n_layers: 1 };
        let decode = |context| Piece { request: 0, tokens: 1, context, blocks: Vec::new() };
        let chunk = Piece { request: 1, tokens: 4, context: 10, blocks: Vec::new() };
        let work = Work { pieces: vec![decode(20), chunk], ..Work::default() };
        // 30 s of sums above 10 s of reads; 10 s of cache; 4 · 8.5 · 0.5 = 17 s of sums above 5 s; three launches.
        assert_eq!(card.seconds(&work), 30.0 + 10.0 + 17.0 + 3.0);
        // Everything overlaps: 30 s of sums above (100 + 4 · 30) ÷ 10 = 22 s.
        assert_eq!(card.overlapped(&work), 30.0 + 3.0);
        let work = Work { pieces: vec![decode(20)], ..Work::default() };
        assert_eq!((card.seconds(&work), card.overlapped(&work)), (10.0 + 10.0 + 2.0, 18.0 + 2.0));
    }

    /// Milliseconds on an H200, from the recording of `serve_steps/main`; the card's rates are the readings that it took of
    /// each part alone, the time of a tile is that of `decode_attention/heads` with one KV head (124.6 µs for two rounds of
    /// 32 tiles).
    #[test]
    fn steps_in_rounds_are_those_that_were_measured() {
        let params = 8.0 * 53_248.0 * 4096.0;
        let step = StepTime {
            weight_bytes: 2.0 * params,
            kv_bytes_per_token: 32_768.0,
            bytes_per_s: 3.9e12,
            n_params: params,
            flop_per_s: 385e12,
            launch_s: 1.4e-6,
            link_bytes_per_s: 1.0,
        };
        let card = InTurn { step, kv_bytes_per_s: 2.94e12, flop_per_pair: 8.0 * 16_384.0, n_layers: 8 };
        let rounds = Rounds { slots: 264, row_blocks: 416, tile_s: 1.95e-6 };
        let works = Replay::of(1).works().unwrap();
        for (at, ms) in [(0, 2.909), (64, 3.842), (96, 1.160), (160, 3.542), (256, 2.318), (672, 1.378), (992, 1.103)] {
            let model = card.in_rounds(&works[at], &rounds) * 1e3;
            assert!((ms / model - 1.0).abs() < 0.05, "step {at}: {ms} measured, {model} by the model");
        }
    }

    #[test]
    fn the_replay_has_every_kind_of_step() {
        let replay = Replay::of(1);
        let works = replay.works().unwrap();
        check(&works, replay.block_tokens, replay.pool_blocks);
        let n_of = |is: &dyn Fn(&Work) -> bool| works.iter().filter(|work| is(work)).count();
        let (full, decode) = (n_of(&|work| work.tokens() == 256), n_of(&|work| work.prefill_tokens == 0));
        let deepest = works.iter().map(Work::context_tokens).max().unwrap();
        assert!(full > 50 && decode > 50 && deepest > 30_000, "{full}, {decode}, {deepest}");
    }
}
