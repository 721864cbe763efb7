//! Steps of a replayed request stream on the card: what the scheduler decided for a step is launched as it stands, the
//! products of all its tokens and the attention over its block tables, and held against the model of a step.
//!
//! `lists.rs` says which block of threads does what, `bench.rs` holds the memory and launches, `check.rs` works some of the
//! results out anew. The model's ceilings are measured here too, each by itself: a pass over the weights, a product of 512
//! tokens, a pass over a whole cache, an empty launch.

mod bench;
mod check;
mod lists;

use super::{Input, Routine, Stage, Taken};
use crate::error::RunError;
use bench::Bench;
use vramlab_serve::replay::{InTurn, Piece, Replay, Work};
use vramlab_serve::step_time::StepTime;
use vramlab_units::Text;

const SEED: &str = "seed";
const STEP: &str = "step";
const LAYERS: &str = "n_layers";

/// Weight rows of a layer of Llama-3-8B, all products together, in rows of 4096: 6144 + 4096 + 28,672 + 14,336.
pub const LAYER_ROWS: u64 = 53_248;
pub const INNER: u64 = 4096;
pub const Q_HEADS: u64 = 32;
pub const KV_HEADS: u64 = 8;
pub const HEAD: u64 = 128;
pub const BLOCK_TOKENS: u64 = 16;

pub const SERVE_STEPS: Routine = Routine {
    id: "serve_steps",
    about: Text::new(
        "把调度器定下的一步原样发到卡上：矩阵乘，再按块表做注意力",
        "a step as the scheduler decided it: products, then attention over its block tables",
    ),
    inputs: &[
        Input { name: SEED, min: 1, max: 1000, about: "of the request stream" },
        Input { name: STEP, min: 0, max: 100_000, about: "which step of the run, from 0" },
        Input { name: LAYERS, min: 1, max: 32, about: "layers of Llama-3-8B" },
    ],
    readings: &["read_gb_per_s", "kv_gb_per_s", "tflop_per_s", "launch_us", "model_ms", "overlapped_ms"],
    checks: &["sampled products are right", "sampled heads are right", "all memory is back at the end"],
    run,
};

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let (work, pool_blocks) = work(stage.get(SEED), stage.get(STEP))?;
    let n_layers = stage.get(LAYERS);
    let before = stage.card.memory()?[0];
    let whole = whole_pool(pool_blocks);
    let mut bench = Bench::open(stage, n_layers, pool_blocks, &[&work, &whole])?;
    bench.warm(stage)?;
    let ceilings = ceilings(&mut bench, stage, &whole)?;
    let mut taken = Taken::default();
    bench.load(stage.card, &work)?;
    for _ in 0..stage.n_samples {
        stage.cx.check()?;
        taken.samples_ns.push(bench.step(stage.card)?.max(1.0));
        taken.read("read_gb_per_s", ceilings.step.bytes_per_s / 1e9);
        taken.read("kv_gb_per_s", ceilings.kv_bytes_per_s / 1e9);
        taken.read("tflop_per_s", ceilings.step.flop_per_s / 1e12);
        taken.read("launch_us", ceilings.step.launch_s * 1e6);
        taken.read("model_ms", ceilings.seconds(&work) * 1e3);
        taken.read("overlapped_ms", ceilings.overlapped(&work) * 1e3);
    }
    let products = check::products(&bench, stage.card, work.tokens().into())?;
    let heads = check::heads(&bench, stage.card, &work)?;
    bench.close(stage.card)?;
    let is_back = stage.card.memory()?[0] + 16 * super::PAGE >= before;
    taken.checks = vec![products, heads, is_back];
    Ok(taken)
}

/// The step of the replay; beyond its end, the last one.
fn work(seed: u64, step: u64) -> Result<(Work, u64), RunError> {
    let replay = Replay::of(seed);
    let content = |problem: vramlab_serve::Problem| RunError::Content { what: problem.to_string() };
    let mut works = replay.works().map_err(content)?;
    let at = (step as usize).min(works.len().saturating_sub(1));
    let empty = || RunError::Content { what: format!("the stream of seed {seed} has no step") };
    if works.is_empty() {
        return Err(empty());
    }
    Ok((works.swap_remove(at), replay.pool_blocks.into()))
}

/// A step that reads the whole pool once: sequences of 128 blocks, one new token each.
fn whole_pool(pool_blocks: u64) -> Work {
    let each = 128.min(pool_blocks as u32);
    let piece = |request: u32| Piece {
        request,
        tokens: 1,
        context: each * BLOCK_TOKENS as u32,
        blocks: (request * each..(request + 1) * each).collect(),
    };
    Work { pieces: (0..pool_blocks as u32 / each).map(piece).collect(), ..Work::default() }
}

/// What this card reaches in each part alone.
fn ceilings(bench: &mut Bench, stage: &mut Stage<'_>, whole: &Work) -> Result<InTurn, RunError> {
    let n_layers = bench.n_layers;
    let launch_s = bench.launches(stage)? * 1e-9;
    let alone = |ns: f64| ns * 1e-9 - n_layers as f64 * launch_s;
    let few = alone(bench.median(stage, |bench, card| bench.products_of(card, 16))?);
    let many = alone(bench.median(stage, |bench, card| bench.products_of(card, bench::MOST_TOKENS))?);
    bench.load(stage.card, whole)?;
    let cache = alone(bench.median(stage, Bench::attention)?);
    let weight_bytes = (n_layers * LAYER_ROWS * INNER * 2) as f64;
    let step = StepTime {
        weight_bytes,
        kv_bytes_per_token: (n_layers * 4 * KV_HEADS * HEAD) as f64,
        bytes_per_s: weight_bytes / few,
        n_params: weight_bytes / 2.0,
        flop_per_s: weight_bytes * bench::MOST_TOKENS as f64 / many,
        launch_s,
        link_bytes_per_s: 1.0,
    };
    Ok(InTurn {
        step,
        kv_bytes_per_s: step.kv_bytes_per_token * whole.context_tokens() as f64 / cache,
        flop_per_pair: (4 * n_layers * Q_HEADS * HEAD) as f64,
        n_layers: n_layers as u32,
    })
}
