//! A seeded trace through an allocator of ours on a small card made of real pages: at which event it really refuses.

use super::server::{Block, Server};
use super::stock::{Memory as _, Stock};
use super::{Card, Input, Routine, Stage, Taken, steps};
use crate::error::RunError;
use std::collections::BTreeMap;
use vramlab_alloc::MIB;
use vramlab_alloc::scenario::{Policy, Scenario};
use vramlab_alloc::trace::{Event, Trace};
use vramlab_units::Text;

const SCENARIO: &str = "scenario";
const SEED: &str = "seed";
const POLICY: &str = "policy";
const CAP: &str = "capacity_mib";

pub const CAPPED_REPLAY: Routine = Routine {
    id: "capped_replay",
    about: Text::new(
        "在用真实物理页拼成的小卡上重放，到哪一步真的不够",
        "a replay on a small card of real pages, up to the real refusal",
    ),
    inputs: &[
        Input { name: SCENARIO, min: 0, max: 3, about: "the trace, by number" },
        Input { name: SEED, min: 0, max: 1 << 32, about: "its seed" },
        Input { name: POLICY, min: 1, max: 4, about: "the allocator, by number: PyTorch's two, BFC's two" },
        Input { name: CAP, min: 2, max: 8192, about: "size of the card" },
    ],
    readings: &["served_events", "reserved_mib"],
    checks: &["every block held its own bytes until its free", "every page is back at the end"],
    run,
};

/// The scenario and policy that two inputs name.
pub fn chosen(stage: &Stage<'_>) -> Result<(Trace, Policy), RunError> {
    let content = |what: String| RunError::Content { what };
    let scenario = Scenario::of(stage.get(SCENARIO)).ok_or_else(|| content("there is no such scenario".to_owned()))?;
    let policy = Policy::of(stage.get(POLICY)).ok_or_else(|| content("there is no such policy".to_owned()))?;
    Ok((scenario.trace(stage.get(SEED)).map_err(|error| content(error.to_string()))?, policy))
}

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let (trace, policy) = chosen(stage)?;
    let capacity = stage.get(CAP) * MIB;
    let before = stage.card.memory()?[0];
    let (mut taken, mut is_intact) = (Taken::default(), true);
    for _ in 0..stage.n_samples {
        stage.cx.check()?;
        let server = Server::new(policy.kind(capacity), Stock::new(&mut *stage.card, capacity)?)?;
        let (played, ns) = steps::once(|| play(server, &trace))?;
        taken.samples_ns.push(ns);
        taken.read("served_events", played.served as f64);
        taken.read("reserved_mib", played.reserved_bytes as f64 / MIB as f64);
        is_intact &= played.is_intact;
    }
    let is_back = stage.card.memory()?[0] + 16 * super::PAGE >= before;
    taken.checks = vec![is_intact, is_back];
    Ok(taken)
}

struct Played {
    /// Events before the first refusal.
    served: usize,
    reserved_bytes: u64,
    is_intact: bool,
}

/// Plays up to the first refusal. Each block is filled with its own byte and read at its free.
fn play(mut server: Server<Stock<'_>>, trace: &Trace) -> Result<Played, RunError> {
    let mut held: BTreeMap<u32, Block> = BTreeMap::new();
    let (mut served, mut is_intact) = (0, true);
    for event in trace.events() {
        match *event {
            Event::Malloc { id, bytes, .. } => {
                let block = server.malloc(id, bytes);
                server.memory().trouble.end()?;
                let Some(block) = block else { break };
                server.memory().card().set(block.address, mark(id), block.bytes)?;
                held.insert(id, block);
            }
            Event::Free { id, .. } => {
                if let Some(block) = held.remove(&id) {
                    is_intact &= holds(server.memory().card(), block, mark(id))?;
                }
                server.free(id);
            }
            _ => {}
        }
        served += 1;
    }
    for (id, block) in held {
        is_intact &= holds(server.memory().card(), block, mark(id))?;
    }
    Ok(Played { served, is_intact, reserved_bytes: server.close()? })
}

/// A byte that neighbours do not share.
fn mark(id: u32) -> u8 {
    (id % 251) as u8 + 1
}

/// Whether the first and last bytes of a block are still its own.
pub fn holds(card: &mut dyn Card, block: Block, byte: u8) -> Result<bool, RunError> {
    let mut found = [0_u8; 2];
    card.get(block.address, &mut found[..1])?;
    card.get(block.address + block.bytes - 1, &mut found[1..])?;
    Ok(found == [byte; 2])
}
