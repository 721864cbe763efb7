//! An allocator of ours over real memory, whichever it is: requests by the number that a trace gives them.

use super::stock::Memory;
use crate::error::RunError;
use std::collections::BTreeMap;
use vramlab_alloc::bfc::{self, Bfc, ChunkId};
use vramlab_alloc::caching::{BlockId, Caching};
use vramlab_alloc::replay::Kind;

/// A block that was served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub address: u64,
    pub bytes: u64,
}

enum Engine<M> {
    Caching(Box<Caching<M>>, BTreeMap<u32, BlockId>),
    Bfc(Box<Bfc<M>>, BTreeMap<u32, ChunkId>),
}

pub struct Server<M>(Engine<M>);

impl<M: Memory> Server<M> {
    /// PyTorch's or TensorFlow's allocator over `memory`.
    pub fn new(kind: Kind, memory: M) -> Result<Self, RunError> {
        match kind {
            Kind::Caching(config) => Ok(Self(Engine::Caching(Box::new(Caching::new(config, memory)), BTreeMap::new()))),
            Kind::Bfc(options) => Ok(Self(Engine::Bfc(Box::new(Bfc::new(options, memory)), BTreeMap::new()))),
            other => Err(RunError::Content { what: format!("{other:?} is not an allocator of ours") }),
        }
    }

    /// The block of a request, or nothing where the allocator refuses it for lack of memory.
    pub fn malloc(&mut self, id: u32, bytes: u64) -> Option<Block> {
        match &mut self.0 {
            Engine::Caching(engine, held) => {
                let served = engine.malloc(bytes, 0).ok().flatten()?;
                held.insert(id, served.id);
                Some(Block { address: served.address, bytes: served.size })
            }
            Engine::Bfc(engine, held) => {
                let served: bfc::Served = engine.malloc(bytes).ok()?;
                held.insert(id, served.chunk);
                Some(Block { address: served.address, bytes: served.size })
            }
        }
    }

    /// Frees a request that was served; one that was not is passed over.
    pub fn free(&mut self, id: u32) {
        match &mut self.0 {
            Engine::Caching(engine, held) => {
                if let Some(block) = held.remove(&id) {
                    let _ = engine.free(block);
                }
            }
            Engine::Bfc(engine, held) => {
                if let Some(chunk) = held.remove(&id) {
                    let _ = engine.free(chunk);
                }
            }
        }
    }

    pub fn memory(&mut self) -> &mut M {
        match &mut self.0 {
            Engine::Caching(engine, _) => &mut engine.device,
            Engine::Bfc(engine, _) => &mut engine.device,
        }
    }

    /// Gives everything back; tells the most that was taken from the card.
    pub fn close(self) -> Result<u64, RunError> {
        let memory = match self.0 {
            Engine::Caching(engine, _) => engine.device,
            Engine::Bfc(engine, _) => engine.device,
        };
        let most_bytes = memory.most_bytes();
        memory.close()?;
        Ok(most_bytes)
    }
}
