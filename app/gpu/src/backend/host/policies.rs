//! One trace through the driver, our own allocators and the stream-ordered pool: what each takes from the card at most,
//! and how long an operation takes.

use super::capped_replay::chosen;
use super::server::Server;
use super::stock::{Memory as _, Plain};
use super::{Card, Input, Routine, Stage, Taken, refused, steps};
use crate::error::RunError;
use std::collections::BTreeMap;
use vramlab_alloc::MIB;
use vramlab_alloc::replay::Kind;
use vramlab_alloc::scenario::Policy;
use vramlab_alloc::trace::{Event, Trace};
use vramlab_units::Text;

pub const POLICIES: Routine = Routine {
    id: "alloc_policies",
    about: Text::new(
        "同一串申请，谁从卡上拿走多少、每步多久",
        "the same requests: what each policy takes from the card, and the time",
    ),
    inputs: &[
        Input { name: "scenario", min: 0, max: 3, about: "the trace, by number" },
        Input { name: "seed", min: 0, max: 1 << 32, about: "its seed" },
        Input { name: "policy", min: 0, max: 6, about: "who serves it, by number" },
        Input { name: "capacity_mib", min: 2, max: 65_536, about: "the most that may be taken" },
    ],
    readings: &["peak_mib"],
    checks: &["every request was served", "all memory is back at the end"],
    run,
};

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let (trace, policy) = chosen(stage)?;
    let capacity = stage.get("capacity_mib") * MIB;
    let before = stage.card.memory()?[0];
    let peak = play(stage.card, policy, capacity, &trace, true)?;
    let mut taken = Taken::default();
    for _ in 0..stage.n_samples {
        stage.cx.check()?;
        let (_, ns) = steps::once(|| play(stage.card, policy, capacity, &trace, false))?;
        taken.samples_ns.push(ns);
        taken.read("peak_mib", peak.unwrap_or_default() as f64 / MIB as f64);
    }
    let is_back = stage.card.memory()?[0] + 16 * super::PAGE >= before;
    taken.checks = vec![peak.is_some(), is_back];
    Ok(taken)
}

/// The most bytes taken from the card, or nothing if a request was refused.
fn play(
    card: &mut dyn Card,
    policy: Policy,
    capacity: u64,
    trace: &Trace,
    is_watched: bool,
) -> Result<Option<u64>, RunError> {
    match policy.kind(capacity) {
        Kind::Plain => plain(card, trace, is_watched),
        Kind::StreamPool { release_threshold_bytes } => pool(card, trace, release_threshold_bytes),
        kind => own(Server::new(kind, Plain::new(card, capacity))?, trace),
    }
}

/// `cudaMalloc` each time; free memory is read after each request if it is watched.
fn plain(card: &mut dyn Card, trace: &Trace, is_watched: bool) -> Result<Option<u64>, RunError> {
    let start = card.memory()?[0];
    let (mut held, mut least) = (BTreeMap::new(), start);
    for event in trace.events() {
        match *event {
            Event::Malloc { id, bytes, .. } => {
                let Some(address) = card.malloc(bytes)? else { return Err(refused(card, bytes)) };
                held.insert(id, address);
                if is_watched {
                    least = least.min(card.memory()?[0]);
                }
            }
            Event::Free { id, .. } => {
                if let Some(address) = held.remove(&id) {
                    card.free(address)?;
                }
            }
            Event::Sync => card.sync()?,
            _ => {}
        }
    }
    for address in held.into_values() {
        card.free(address)?;
    }
    Ok(Some(start - least))
}

fn own(mut server: Server<Plain<'_>>, trace: &Trace) -> Result<Option<u64>, RunError> {
    let mut is_served = true;
    for event in trace.events() {
        match *event {
            Event::Malloc { id, bytes, .. } => {
                is_served &= server.malloc(id, bytes).is_some();
                server.memory().trouble.end()?;
            }
            Event::Free { id, .. } => server.free(id),
            Event::Sync => server.memory().card().sync()?,
            _ => {}
        }
    }
    let peak = server.close()?;
    Ok(is_served.then_some(peak))
}

/// `cudaMallocAsync` on one stream, by the pool's own counter.
fn pool(card: &mut dyn Card, trace: &Trace, threshold_bytes: u64) -> Result<Option<u64>, RunError> {
    card.open_pool(threshold_bytes)?;
    let mut held = BTreeMap::new();
    for event in trace.events() {
        match *event {
            Event::Malloc { id, bytes, .. } => {
                let Some(address) = card.pool_malloc(bytes)? else { return Err(refused(card, bytes)) };
                held.insert(id, address);
            }
            Event::Free { id, .. } => {
                if let Some(address) = held.remove(&id) {
                    card.pool_free(address)?;
                }
            }
            Event::Sync => card.sync()?,
            _ => {}
        }
    }
    for address in held.into_values() {
        card.pool_free(address)?;
    }
    card.sync()?;
    let peak = card.pool_bytes()?.most_reserved;
    card.close_pool()?;
    Ok(Some(peak))
}
