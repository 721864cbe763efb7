//! Blocks that keep what they hold while they are free, so that a later prompt finds it.
//!
//! The rules are those of [`crate::prefix`], for requests of which only lengths are known: the first `shared` tokens of a
//! group are the same tokens, all others are a request's own. A block has a key when it is full, the queue of free blocks is
//! taken at its head and given back to at its tail, the longest prefix first. Two blocks may hold the same.

use crate::Request;
use crate::queue::FreeQueue;
use std::collections::HashMap;

/// A full block's content: whose, and which block of it.
pub(super) type Key = u64;

/// Blocks under one key, the oldest first; nearly always one.
enum Same {
    One(u32),
    Many(Vec<u32>),
}

pub(super) struct Cache {
    block_tokens: u32,
    free: FreeQueue,
    holders: Vec<u32>,
    key_of: Vec<Option<Key>>,
    blocks_of: HashMap<Key, Same>,
}

impl Cache {
    pub fn new(block_tokens: u32, n_blocks: u32) -> Self {
        Self {
            block_tokens,
            free: FreeQueue::full(n_blocks),
            holders: vec![0; n_blocks as usize],
            key_of: vec![None; n_blocks as usize],
            blocks_of: HashMap::new(),
        }
    }

    pub fn n_free(&self) -> u32 {
        self.free.len()
    }

    /// What block `idx` of a request holds when it is full.
    pub fn key(&self, one: &Request, request: u32, idx: u32) -> Key {
        let end = (u64::from(idx) + 1) * u64::from(self.block_tokens);
        let is_shared = one.group > 0 && end <= u64::from(one.shared.min(one.prompt));
        let whose = if is_shared { (1 << 31) | u64::from(one.group) } else { u64::from(request) };
        (whose << 32) | u64::from(idx)
    }

    /// The longest run of known blocks at the start of `known` tokens; one token is always left to compute.
    pub fn lookup(&self, one: &Request, request: u32, known: u32, hits: &mut Vec<u32>) {
        hits.clear();
        for idx in 0..(known - 1) / self.block_tokens {
            match self.blocks_of.get(&self.key(one, request, idx)) {
                Some(Same::One(block)) => hits.push(*block),
                Some(Same::Many(blocks)) if !blocks.is_empty() => hits.push(blocks[0]),
                _ => return,
            }
        }
    }

    /// How many of these nobody holds: they leave the free queue when they are hit.
    pub fn n_idle(&self, hits: &[u32]) -> u32 {
        hits.iter().filter(|block| self.free.has(**block)).count() as u32
    }

    pub fn hold(&mut self, block: u32) {
        self.free.remove(block);
        self.holders[block as usize] += 1;
    }

    /// The next free block, and whether it loses what it held.
    pub fn pop(&mut self) -> Option<(u32, bool)> {
        let block = self.free.pop()?;
        self.holders[block as usize] = 1;
        Some((block, self.forget(block)))
    }

    pub fn give(&mut self, block: u32) {
        self.holders[block as usize] -= 1;
        if self.holders[block as usize] == 0 {
            self.free.push(block);
        }
    }

    /// A block is full; true if it had no key yet.
    pub fn name(&mut self, block: u32, key: Key) -> bool {
        if self.key_of[block as usize].is_some() {
            return false;
        }
        self.key_of[block as usize] = Some(key);
        match self.blocks_of.get_mut(&key) {
            None => drop(self.blocks_of.insert(key, Same::One(block))),
            Some(Same::Many(blocks)) => blocks.push(block),
            Some(same @ Same::One(_)) => {
                if let Same::One(first) = *same {
                    *same = Same::Many(vec![first, block]);
                }
            }
        }
        true
    }

    /// What a block held is not to be found any more; true if it held something.
    pub fn forget(&mut self, block: u32) -> bool {
        let Some(key) = self.key_of[block as usize].take() else { return false };
        let is_last = match self.blocks_of.get_mut(&key) {
            Some(Same::Many(blocks)) => {
                blocks.retain(|one| *one != block);
                blocks.is_empty()
            }
            Some(Same::One(_)) | None => true,
        };
        if is_last {
            self.blocks_of.remove(&key);
        }
        true
    }
}
