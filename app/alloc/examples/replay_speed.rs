//! Requests and frees a second of every allocator on one core: `cargo run --release -p vramlab-alloc --example replay_speed`.
//!
//! Prints the median of five runs on two traces: small and large requests at random with some hundred alive, and training
//! steps. Building the trace is not timed, the engine's bookkeeping of who holds what is. Counted is the time that this
//! thread had a core, where the system tells it (Linux), so that other programs on the machine matter less.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::time::Instant;
use vramlab_alloc::MIB;
use vramlab_alloc::bfc::Options;
use vramlab_alloc::caching::Config;
use vramlab_alloc::generate::Pattern;
use vramlab_alloc::jax::Policy;
use vramlab_alloc::replay::{Kind, Player};
use vramlab_alloc::trace::Trace;

const N_RUNS: usize = 5;
const CAPACITY: u64 = 140 << 30;
/// Millions a second that are wanted.
const GOAL: f64 = 3.0;

fn kinds() -> Vec<(&'static str, Kind)> {
    let caching = |text: &str| Config::parse(text).map_or_else(|_| Kind::Plain, Kind::Caching);
    vec![
        ("caching, native", caching("")),
        ("caching, expandable", caching("expandable_segments:True")),
        ("caching, divisions 4", caching("roundup_power2_divisions:4")),
        ("BFC, growing", Kind::Bfc(Options::growing(CAPACITY))),
        ("BFC, fixed", Kind::Bfc(Options::fixed(CAPACITY))),
        ("JAX, 0.75+", Kind::Jax(Policy::default())),
        ("stream-ordered pool", Kind::StreamPool { release_threshold_bytes: u64::MAX }),
        ("cudaMalloc", Kind::Plain),
    ]
}

/// Seconds that this thread has run on a core.
fn core_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanos: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanos / 1e9)
}

/// Millions of requests and frees a second, the median of five.
fn speed(trace: &Trace, kind: &Kind) -> f64 {
    let mut rates: Vec<f64> = (0..N_RUNS)
        .map(|_| {
            let mut player = Player::new(trace, kind, CAPACITY);
            let (start, on_core) = (Instant::now(), core_seconds());
            let n = player.play_all();
            let seconds = core_seconds().zip(on_core).map_or(start.elapsed().as_secs_f64(), |(end, start)| end - start);
            n as f64 / seconds / 1e6
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    rates[N_RUNS / 2]
}

fn main() {
    // A part of an allocator's name: only those are timed.
    let only = std::env::args().nth(1).unwrap_or_default();
    let patterns = [
        ("random, 300 alive", Pattern::Random { n_events: 2_000_000, n_live: 300, most_bytes: 64 * MIB }),
        ("random, 10,000 alive", Pattern::Random { n_events: 2_000_000, n_live: 10_000, most_bytes: 4 * MIB }),
        ("training", Pattern::TrainingStep { n_layers: 96, n_steps: 2000 }),
    ];
    for (name, pattern) in patterns {
        match pattern.trace(1) {
            Ok(trace) => {
                println!(
                    "{name}: {} events; millions a second, median of {N_RUNS} (goal {GOAL})",
                    trace.events().len()
                );
                for (kind_name, kind) in kinds().into_iter().filter(|(name, _)| name.contains(&only)) {
                    println!("  {kind_name:<22} {:7.2}", speed(&trace, &kind));
                }
            }
            Err(error) => println!("{name}: {error}"),
        }
    }
}
