//! Requests a second of the scheduler on one core: `cargo run --release -p vramlab-serve --example speed`.
//!
//! 100,000 requests of a Poisson stream, prompts of 512 tokens and outputs of 128 on average, through a pool that is too small
//! for the seats, so that requests are preempted; then the same with every change kept.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::time::Instant;
use vramlab_serve::arrivals::{Gaps, Length, Stream};
use vramlab_serve::schedule::{Clock, Detail, Policy, Settings, continuous};
use vramlab_serve::step_time::StepTime;

fn main() -> Result<(), vramlab_serve::Problem> {
    let card = StepTime {
        weight_bytes: 16.06e9,
        kv_bytes_per_token: 131_072.0,
        bytes_per_s: 4.8e12,
        n_params: 8.03e9,
        flop_per_s: 989e12,
        launch_s: 20e-6,
        link_bytes_per_s: 55e9,
    };
    let stream = |n_requests| Stream {
        n_requests,
        gaps: Gaps::Gamma { rate: 200.0, burstiness: 1.0 },
        prompt: Length::LogNormal { mean: 512.0, sigma: 0.8, most: 8192 },
        output: Length::LogNormal { mean: 128.0, sigma: 0.8, most: 2048 },
        seed: 1,
    };
    for (n, detail) in [(100_000, Detail::Summary), (100_000, Detail::Rows), (10_000, Detail::Events)] {
        for (policy, pool) in [(Policy::Fcfs, 65_536), (Policy::Fcfs, 4_096), (Policy::Priority, 4_096)] {
            let requests = stream(n).requests()?;
            let settings = Settings { policy, clock: Clock::Seconds(card), ..Settings::new(256, 2048, 16, pool) };
            let start = Instant::now();
            let outcome = continuous(&requests, &settings, detail)?;
            let (took, totals) = (start.elapsed(), outcome.totals);
            println!(
                "{n} requests, {detail:?}, {policy:?}, {pool} blocks: {:.3} s; {} steps, {} preemptions",
                took.as_secs_f64(),
                totals.steps,
                totals.preemptions
            );
        }
    }
    Ok(())
}
