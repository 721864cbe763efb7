//! A pool that recognises prompts: full blocks keep their content under a key, also while they are free.
//!
//! A block's key is its parent's key, its tokens and a salt, so that equal keys mean equal prefixes. A lookup takes the
//! longest run of known blocks, at most ⌊(tokens − 1) ÷ size⌋, as one token must be computed to have an output. Hits leave
//! the free queue; what is missing is popped at its head, where a cached block loses its key. A sequence gives its blocks
//! back from its end, so that the block with the longest prefix goes first. Tables are append-only: two blocks may hold the
//! same content. Source: vLLM, `docs/design/prefix_caching.md`; its example is the test.

use crate::Problem;
use crate::queue::FreeQueue;
use std::collections::{BTreeMap, VecDeque};

pub const MAX_BLOCKS: u32 = 65_536;
/// Longest prompt that is taken.
pub const MAX_TOKENS: usize = 1 << 20;

/// A key stands for a whole prefix.
type Key = u64;

#[derive(Clone, Debug, Default)]
struct Sequence {
    tokens: Vec<u32>,
    blocks: Vec<u32>,
    /// Keys of its full blocks.
    keys: Vec<Key>,
    salt: u64,
    is_alive: bool,
}

/// What an admission found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admission {
    pub seq: u32,
    /// Tokens that need not be computed.
    pub reused_tokens: u32,
    pub blocks: Vec<u32>,
    /// Cached blocks that lost their content to this sequence.
    pub evicted: Vec<u32>,
}

#[derive(Clone, Debug)]
pub struct PrefixPool {
    block_tokens: usize,
    free: FreeQueue,
    holders: Vec<u32>,
    key_of: Vec<Option<Key>>,
    /// Blocks under a key, the oldest first.
    cached: BTreeMap<Key, VecDeque<u32>>,
    /// Contents that have been seen: exact, so that two contents never share a key.
    names: BTreeMap<(Key, u64, Vec<u32>), Key>,
    sequences: Vec<Sequence>,
}

impl PrefixPool {
    pub fn new(block_tokens: u32, n_blocks: u32) -> Result<Self, Problem> {
        if !(1..=256).contains(&block_tokens) {
            return Err(Problem::new(
                "block_tokens",
                format!("每块 token 数 {block_tokens} 不在 1 到 256 之间"),
                format!("block_tokens = {block_tokens} must be an integer from 1 to 256"),
            ));
        }
        if !(1..=MAX_BLOCKS).contains(&n_blocks) {
            return Err(Problem::new(
                "pool_blocks",
                format!("块数 {n_blocks} 不在 1 到 {MAX_BLOCKS} 之间"),
                format!("pool_blocks = {n_blocks} must be an integer from 1 to {MAX_BLOCKS}"),
            ));
        }
        Ok(Self {
            block_tokens: block_tokens as usize,
            free: FreeQueue::full(n_blocks),
            holders: vec![0; n_blocks as usize],
            key_of: vec![None; n_blocks as usize],
            cached: BTreeMap::new(),
            names: BTreeMap::new(),
            sequences: Vec::new(),
        })
    }

    /// A prompt comes in. `salt` keeps tenants apart.
    pub fn admit(&mut self, tokens: &[u32], salt: u64) -> Result<Admission, Problem> {
        if tokens.is_empty() || tokens.len() > MAX_TOKENS {
            let n = tokens.len();
            let en = format!("a prompt has 1 to {MAX_TOKENS} tokens, this one {n}");
            return Err(Problem::new("prompt", format!("提示应有 1 到 {MAX_TOKENS} 个 token，这里是 {n}"), en));
        }
        let hits = self.lookup(tokens, salt);
        let need = tokens.len().div_ceil(self.block_tokens) - hits.len();
        let hits_in_queue = hits.iter().filter(|block| self.free.has(**block)).count();
        let room = self.free.len() as usize - hits_in_queue;
        if need > room {
            return Err(Problem::new(
                "pool_blocks",
                format!("还要 {need} 块，只剩 {room} 块"),
                format!("needs {need} more blocks, {room} are free"),
            ));
        }
        for block in &hits {
            self.free.remove(*block);
            self.holders[*block as usize] += 1;
        }
        let seq = self.sequences.len() as u32;
        let reused = hits.len() * self.block_tokens;
        let keys = hits.iter().filter_map(|block| self.key_of[*block as usize]).collect();
        let start = Sequence { tokens: tokens[..reused].to_vec(), blocks: hits, keys, salt, is_alive: true };
        self.sequences.push(start);
        let evicted = self.append(seq, &tokens[reused..])?;
        let blocks = self.sequences[seq as usize].blocks.clone();
        Ok(Admission { seq, reused_tokens: reused as u32, blocks, evicted })
    }

    /// Tokens are computed behind a sequence; the cached blocks that were evicted for them.
    pub fn append(&mut self, seq: u32, tokens: &[u32]) -> Result<Vec<u32>, Problem> {
        self.alive(seq)?;
        let mut evicted = Vec::new();
        for token in tokens {
            if self.sequences[seq as usize].tokens.len().is_multiple_of(self.block_tokens) {
                let block = self.take(&mut evicted)?;
                self.sequences[seq as usize].blocks.push(block);
            }
            self.sequences[seq as usize].tokens.push(*token);
            self.name_if_full(seq);
        }
        Ok(evicted)
    }

    /// A sequence ends: its blocks join the queue from its end, with what they hold.
    pub fn finish(&mut self, seq: u32) -> Result<(), Problem> {
        self.alive(seq)?;
        let one = &mut self.sequences[seq as usize];
        one.is_alive = false;
        for block in std::mem::take(&mut one.blocks).into_iter().rev() {
            self.holders[block as usize] -= 1;
            if self.holders[block as usize] == 0 {
                self.free.push(block);
            }
        }
        Ok(())
    }

    /// Free blocks, the next to be taken first.
    pub fn queue(&self) -> Vec<u32> {
        self.free.iter().collect()
    }

    /// Whether a block holds a full block's content that a later prompt may hit.
    pub fn is_cached(&self, block: u32) -> bool {
        self.key_of.get(block as usize).is_some_and(Option::is_some)
    }

    /// First and last token of what each block holds: of full ones also while they are free, none of a block without content.
    pub fn contents(&self) -> Vec<Option<(u32, u32)>> {
        let ends = |tokens: &[u32]| Some((*tokens.first()?, *tokens.last()?));
        let of: BTreeMap<Key, Option<(u32, u32)>> =
            self.names.iter().map(|((_, _, tokens), key)| (*key, ends(tokens))).collect();
        let mut out: Vec<_> =
            self.key_of.iter().map(|key| key.and_then(|key| of.get(&key).copied().flatten())).collect();
        for one in self.sequences.iter().filter(|one| one.is_alive) {
            for (block, tokens) in one.blocks.iter().zip(one.tokens.chunks(self.block_tokens)) {
                out[*block as usize] = ends(tokens);
            }
        }
        out
    }

    /// How many sequences hold a block.
    pub fn holders(&self, block: u32) -> u32 {
        self.holders.get(block as usize).copied().unwrap_or(0)
    }

    pub fn blocks(&self, seq: u32) -> &[u32] {
        self.sequences.get(seq as usize).map_or(&[], |one| &one.blocks)
    }

    fn alive(&self, seq: u32) -> Result<(), Problem> {
        let is_alive = self.sequences.get(seq as usize).is_some_and(|one| one.is_alive);
        let problem =
            || Problem::new("script", format!("序列 {seq} 不在运行"), format!("sequence {seq} is not running"));
        if is_alive { Ok(()) } else { Err(problem()) }
    }

    fn lookup(&self, tokens: &[u32], salt: u64) -> Vec<u32> {
        let most = (tokens.len() - 1) / self.block_tokens;
        let mut parent = 0;
        let mut hits = Vec::new();
        for part in tokens.chunks_exact(self.block_tokens).take(most) {
            let name = (parent, if parent == 0 { salt } else { 0 }, part.to_vec());
            let Some(key) = self.names.get(&name) else { break };
            let Some(block) = self.cached.get(key).and_then(VecDeque::front) else { break };
            hits.push(*block);
            parent = *key;
        }
        hits
    }

    fn take(&mut self, evicted: &mut Vec<u32>) -> Result<u32, Problem> {
        let full = || Problem::new("pool_blocks", "没有空闲的块了", "no block is free");
        let block = self.free.pop().ok_or_else(full)?;
        if let Some(key) = self.key_of[block as usize].take() {
            evicted.push(block);
            if let Some(blocks) = self.cached.get_mut(&key) {
                blocks.retain(|one| *one != block);
                if blocks.is_empty() {
                    self.cached.remove(&key);
                }
            }
        }
        self.holders[block as usize] = 1;
        Ok(block)
    }

    fn name_if_full(&mut self, seq: u32) {
        let one = &mut self.sequences[seq as usize];
        if !one.tokens.len().is_multiple_of(self.block_tokens) {
            return;
        }
        let part = one.tokens[one.tokens.len() - self.block_tokens..].to_vec();
        let parent = one.keys.last().copied().unwrap_or(0);
        let next = self.names.len() as Key + 1;
        let key = *self.names.entry((parent, if parent == 0 { one.salt } else { 0 }, part)).or_insert(next);
        one.keys.push(key);
        if let Some(block) = one.blocks.last() {
            self.key_of[*block as usize] = Some(key);
            self.cached.entry(key).or_default().push_back(*block);
        }
    }
}

/// What is done with a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Admit { tokens: Vec<u32>, salt: u64 },
    Append { seq: u32, tokens: Vec<u32> },
    Finish { seq: u32 },
}

/// Steps with the pool after any of them, for going forwards and back.
#[derive(Clone, Debug)]
pub struct Tape {
    steps: Vec<Step>,
    /// The pool before every `EVERY`th step.
    kept: Vec<PrefixPool>,
    now: PrefixPool,
}

/// Steps between two pools that are kept.
const EVERY: usize = 32;

impl Tape {
    pub fn new(block_tokens: u32, n_blocks: u32) -> Result<Self, Problem> {
        let now = PrefixPool::new(block_tokens, n_blocks)?;
        Ok(Self { steps: Vec::new(), kept: Vec::new(), now })
    }

    /// Does a step; a refused one leaves the tape as it was.
    pub fn push(&mut self, step: Step) -> Result<Option<Admission>, Problem> {
        let mut next = self.now.clone();
        let admission = next.step(&step)?;
        let before = std::mem::replace(&mut self.now, next);
        if self.steps.len().is_multiple_of(EVERY) {
            self.kept.push(before);
        }
        self.steps.push(step);
        Ok(admission)
    }

    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub fn now(&self) -> &PrefixPool {
        &self.now
    }

    /// The pool after `at` steps.
    pub fn at(&self, at: usize) -> PrefixPool {
        let at = at.min(self.steps.len());
        let Some(kept) = self.kept.get(at / EVERY).filter(|_| at < self.steps.len()) else { return self.now.clone() };
        let mut pool = kept.clone();
        for step in &self.steps[at / EVERY * EVERY..at] {
            // It went through once, from the same pool.
            let again = pool.step(step);
            debug_assert!(again.is_ok());
        }
        pool
    }
}

impl PrefixPool {
    fn step(&mut self, step: &Step) -> Result<Option<Admission>, Problem> {
        match step {
            Step::Admit { tokens, salt } => self.admit(tokens, *salt).map(Some),
            Step::Append { seq, tokens } => self.append(*seq, tokens).map(|_| None),
            Step::Finish { seq } => self.finish(*seq).map(|()| None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(from: u32, n: u32) -> Vec<u32> {
        (from..from + n).collect()
    }

    /// A prompt that shares `shared` tokens with the one from 0.
    fn sharing(shared: u32, n: u32, other: u32) -> Vec<u32> {
        tokens(0, shared).into_iter().chain(tokens(other, n - shared)).collect()
    }

    /// The example of vLLM's design document, as brief 21 has it.
    #[test]
    fn the_published_example() {
        let mut pool = PrefixPool::new(4, 10).unwrap();
        let first = pool.admit(&tokens(0, 15), 0).unwrap();
        assert_eq!(first.blocks, [0, 1, 2, 3]);
        assert_eq!((0..10).filter(|block| pool.is_cached(*block)).collect::<Vec<_>>(), [0, 1, 2]);
        pool.append(first.seq, &[15, 16, 17]).unwrap();
        assert_eq!(pool.blocks(first.seq), [0, 1, 2, 3, 4]);
        let second = pool.admit(&sharing(10, 14, 100), 0).unwrap();
        assert_eq!((second.reused_tokens, &second.blocks[..]), (8, &[0, 1, 5, 6][..]));
        let held = [
            Some((0, 3)),
            Some((4, 7)),
            Some((8, 11)),
            Some((12, 15)),
            Some((16, 17)),
            Some((8, 101)),
            Some((102, 103)),
        ];
        assert_eq!(pool.contents()[..7], held);
        pool.finish(first.seq).unwrap();
        pool.finish(second.seq).unwrap();
        // A block that was not full forgets what it held.
        assert_eq!((pool.contents()[3], pool.contents()[4], pool.contents()[9]), (Some((12, 15)), None, None));
        assert_eq!(pool.queue(), [7, 8, 9, 4, 3, 2, 6, 5, 1, 0]);
        let third = pool.admit(&sharing(12, 29, 200), 0).unwrap();
        assert_eq!(third.reused_tokens, 12);
        assert_eq!(third.blocks, [0, 1, 2, 7, 8, 9, 4, 3]);
        assert_eq!(third.evicted, [3]);
    }

    #[test]
    fn one_token_is_always_computed() {
        let mut pool = PrefixPool::new(4, 16).unwrap();
        let first = pool.admit(&tokens(0, 8), 0).unwrap();
        pool.finish(first.seq).unwrap();
        let same = pool.admit(&tokens(0, 8), 0).unwrap();
        assert_eq!(same.reused_tokens, 4);
        let longer = pool.admit(&tokens(0, 9), 0).unwrap();
        assert_eq!(longer.reused_tokens, 8);
        // Check question 1 of the brief: block 16, 40 tokens in common: 32. And 50 in common: 48.
        for (shared, reused) in [(40, 32), (50, 48)] {
            let mut pool = PrefixPool::new(16, 64).unwrap();
            pool.admit(&tokens(0, 100), 0).unwrap();
            assert_eq!(pool.admit(&sharing(shared, 100, 1000), 0).unwrap().reused_tokens, reused);
        }
    }

    #[test]
    fn a_salt_keeps_tenants_apart() {
        let mut pool = PrefixPool::new(4, 32).unwrap();
        pool.admit(&tokens(0, 12), 1).unwrap();
        assert_eq!(pool.admit(&tokens(0, 12), 2).unwrap().reused_tokens, 0);
        assert_eq!(pool.admit(&tokens(0, 12), 1).unwrap().reused_tokens, 8);
    }

    /// The same block content behind another prefix is another block.
    #[test]
    fn equal_blocks_of_unequal_prefixes_are_apart() {
        let mut pool = PrefixPool::new(2, 32).unwrap();
        pool.admit(&[1, 2, 7, 7, 0], 0).unwrap();
        let other = pool.admit(&[3, 4, 7, 7, 0], 0).unwrap();
        assert_eq!(other.reused_tokens, 0);
        assert_eq!(pool.admit(&[7, 7, 1], 0).unwrap().reused_tokens, 0);
    }

    #[test]
    fn a_tape_is_rewound() {
        let mut tape = Tape::new(4, 64).unwrap();
        let mut queues = vec![tape.now().queue()];
        for round in 0..50_u32 {
            let step = match round % 3 {
                0 => Step::Admit { tokens: sharing(round % 9, 10 + round, 1000 * round), salt: 0 },
                1 => Step::Append { seq: round / 3, tokens: tokens(7, 5) },
                _ => Step::Finish { seq: round / 3 },
            };
            tape.push(step).unwrap();
            queues.push(tape.now().queue());
        }
        for at in (0..=50).rev() {
            assert_eq!(tape.at(at).queue(), queues[at], "{at}");
        }
        assert!(tape.push(Step::Finish { seq: 99 }).is_err());
        assert_eq!((tape.steps().len(), tape.at(99).queue()), (50, queues[50].clone()));
    }

    #[test]
    fn a_full_pool_is_said_so_and_left_as_it_was() {
        let mut pool = PrefixPool::new(4, 4).unwrap();
        let first = pool.admit(&tokens(0, 9), 0).unwrap();
        let before = pool.queue();
        let refused = pool.admit(&tokens(50, 8), 0).unwrap_err();
        assert_eq!(refused.to_string(), "needs 2 more blocks, 1 are free");
        assert_eq!(pool.queue(), before);
        assert_eq!(pool.append(first.seq, &tokens(9, 8)).unwrap_err().field, "pool_blocks");
        assert!(pool.finish(7).is_err() && pool.admit(&[], 0).is_err());
        assert!(PrefixPool::new(0, 1).is_err() && PrefixPool::new(1, 0).is_err());
    }
}
