//! Block tables: each sequence names the physical blocks that hold its tokens; a fork shares them until one side writes.
//!
//! Rules: the lowest free block is taken; an append takes a block when the last one is full; a write into a block that
//! others hold copies it first; when no block is left, the newest sequence is preempted and gives all of its back.
//! Source: PagedAttention (Kwon et al. 2023), sections 4.3 and 4.4; the order of free blocks is the brief's (chapter 16).
//! A script is played once into a list of changes; any state between them is made from the list, forwards or back.

use crate::Problem;
use std::collections::BTreeSet;

pub const MAX_BLOCK_TOKENS: u32 = 256;
pub const MAX_BLOCKS: u32 = 65_536;
/// Changes that a script may make.
const MAX_CHANGES: usize = 1_000_000;

/// One change, as data. `seq` counts sequences in the order of their birth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Born {
        seq: u32,
    },
    /// A block joins the end of a table; `is_shared` if another holds it already.
    Take {
        seq: u32,
        block: u32,
        is_shared: bool,
    },
    Tokens {
        seq: u32,
        n: u32,
    },
    /// Copy-on-write of the last block.
    Copy {
        seq: u32,
        from: u32,
        to: u32,
    },
    /// A block leaves the end of a table; free again unless another holds it.
    Give {
        seq: u32,
        block: u32,
    },
    /// All tokens go, the blocks with the changes that follow.
    Gone {
        seq: u32,
        tokens: u32,
        is_preempted: bool,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sequence {
    pub tokens: u32,
    pub blocks: Vec<u32>,
    pub is_alive: bool,
    pub was_preempted: bool,
}

/// Pool and tables at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub block_tokens: u32,
    /// How many tables hold each block.
    pub holders: Vec<u32>,
    pub sequences: Vec<Sequence>,
}

impl State {
    pub fn used_blocks(&self) -> u32 {
        self.holders.iter().filter(|n| **n > 0).count() as u32
    }

    /// Slots of the used blocks without a token. A shared block counts once, with the most tokens that a table has in it.
    pub fn waste(&self) -> u64 {
        let mut filled = vec![0_u32; self.holders.len()];
        for one in &self.sequences {
            for (before, block) in (0_u32..).zip(&one.blocks) {
                let tokens = one.tokens.saturating_sub(before.saturating_mul(self.block_tokens)).min(self.block_tokens);
                let most = &mut filled[*block as usize];
                *most = tokens.max(*most);
            }
        }
        self.slots() - filled.into_iter().map(u64::from).sum::<u64>()
    }

    /// Slots of the used blocks, a shared one counted once.
    pub fn slots(&self) -> u64 {
        u64::from(self.used_blocks()) * u64::from(self.block_tokens)
    }

    fn play(&mut self, change: Change) {
        match change {
            Change::Born { .. } => self.sequences.push(Sequence { is_alive: true, ..Sequence::default() }),
            Change::Take { seq, block, .. } => {
                self.sequences[seq as usize].blocks.push(block);
                self.holders[block as usize] += 1;
            }
            Change::Tokens { seq, n } => self.sequences[seq as usize].tokens += n,
            Change::Copy { seq, from, to } => self.swap_last(seq, from, to),
            Change::Give { seq, block } => {
                self.sequences[seq as usize].blocks.pop();
                self.holders[block as usize] -= 1;
            }
            Change::Gone { seq, is_preempted, .. } => {
                let one = &mut self.sequences[seq as usize];
                (one.tokens, one.is_alive, one.was_preempted) = (0, false, is_preempted);
            }
        }
    }

    fn undo(&mut self, change: Change) {
        match change {
            Change::Born { .. } => drop(self.sequences.pop()),
            Change::Take { seq, block, .. } => self.play(Change::Give { seq, block }),
            Change::Tokens { seq, n } => self.sequences[seq as usize].tokens -= n,
            Change::Copy { seq, from, to } => self.swap_last(seq, to, from),
            Change::Give { seq, block } => self.play(Change::Take { seq, block, is_shared: false }),
            Change::Gone { seq, tokens, .. } => {
                let one = &mut self.sequences[seq as usize];
                (one.tokens, one.is_alive, one.was_preempted) = (tokens, true, false);
            }
        }
    }

    fn swap_last(&mut self, seq: u32, from: u32, to: u32) {
        if let Some(last) = self.sequences[seq as usize].blocks.last_mut() {
            *last = to;
        }
        self.holders[from as usize] -= 1;
        self.holders[to as usize] += 1;
    }
}

/// Slots without a token in a table of `blocks` blocks with `tokens` tokens.
pub fn waste(blocks: u64, tokens: u64, block_tokens: u64) -> u64 {
    blocks.saturating_mul(block_tokens).saturating_sub(tokens)
}

/// Blocks that a sequence of `tokens` needs.
pub fn blocks(tokens: u64, block_tokens: u64) -> u64 {
    tokens.div_ceil(block_tokens.max(1))
}

/// The machine that makes the changes.
#[derive(Clone, Debug)]
pub struct Tables {
    state: State,
    free: BTreeSet<u32>,
    pub changes: Vec<Change>,
}

impl Tables {
    pub fn new(block_tokens: u32, n_blocks: u32) -> Result<Self, Problem> {
        let within = |field, value: u32, most: u32, zh: &str| {
            let en = format!("{field} = {value} must be an integer from 1 to {most}");
            let problem = Problem::new(field, format!("{zh} {value} 不在 1 到 {most} 之间"), en);
            if (1..=most).contains(&value) { Ok(()) } else { Err(problem) }
        };
        within("block_tokens", block_tokens, MAX_BLOCK_TOKENS, "每块 token 数")?;
        within("pool_blocks", n_blocks, MAX_BLOCKS, "块数")?;
        let state = State { block_tokens, holders: vec![0; n_blocks as usize], sequences: Vec::new() };
        Ok(Self { state, free: (0..n_blocks).collect(), changes: Vec::new() })
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    /// A new sequence of `tokens`; its number.
    pub fn start(&mut self, tokens: u32) -> Result<u32, Problem> {
        let seq = self.state.sequences.len() as u32;
        self.make(Change::Born { seq });
        self.append(seq, tokens)?;
        Ok(seq)
    }

    /// Adds tokens one block at a time. A sequence that is preempted on the way, by itself even, keeps none.
    pub fn append(&mut self, seq: u32, tokens: u32) -> Result<(), Problem> {
        let mut rest = tokens;
        self.alive(seq)?;
        while rest > 0 && self.state.sequences[seq as usize].is_alive {
            if self.changes.len() > MAX_CHANGES {
                return Err(Problem::new("script", "改动超过一百万步", "the script makes more than a million changes"));
            }
            let one = &self.state.sequences[seq as usize];
            let filled = one.tokens % self.state.block_tokens;
            if filled == 0 {
                let Some(block) = self.block_for(seq) else { return Ok(()) };
                self.make(Change::Take { seq, block, is_shared: false });
            } else if let Some(from) = one.blocks.last().copied().filter(|last| self.state.holders[*last as usize] > 1)
            {
                let Some(to) = self.block_for(seq) else { return Ok(()) };
                // The other holder may have been the victim: then the block is ours alone, and nothing is copied.
                if self.state.holders[from as usize] > 1 {
                    self.make(Change::Copy { seq, from, to });
                } else {
                    self.free.insert(to);
                }
            }
            let n = rest.min(self.state.block_tokens - filled);
            self.make(Change::Tokens { seq, n });
            rest -= n;
        }
        Ok(())
    }

    /// A second sequence with the same tokens, which holds the same blocks.
    pub fn fork(&mut self, parent: u32) -> Result<u32, Problem> {
        self.alive(parent)?;
        let seq = self.state.sequences.len() as u32;
        self.make(Change::Born { seq });
        let one = self.state.sequences[parent as usize].clone();
        for block in one.blocks {
            self.make(Change::Take { seq, block, is_shared: true });
        }
        if one.tokens > 0 {
            self.make(Change::Tokens { seq, n: one.tokens });
        }
        Ok(seq)
    }

    pub fn end(&mut self, seq: u32) -> Result<(), Problem> {
        self.alive(seq)?;
        self.drop_all(seq, false);
        Ok(())
    }

    fn alive(&self, seq: u32) -> Result<(), Problem> {
        let one = self.state.sequences.get(seq as usize);
        if one.is_some_and(|one| one.is_alive) {
            return Ok(());
        }
        let gone = one.is_some();
        let (zh, en) =
            if gone { ("已经结束或被抢占", "has ended or was preempted") } else { ("不存在", "is unknown") };
        Err(Problem::new("script", format!("序列 {seq} {zh}"), format!("sequence {seq} {en}")))
    }

    /// A free block for `seq`; preempts the newest sequences until there is one. None when `seq` itself was the victim.
    fn block_for(&mut self, seq: u32) -> Option<u32> {
        loop {
            if let Some(block) = self.free.pop_first() {
                return Some(block);
            }
            let victim = self.state.sequences.iter().rposition(|one| one.is_alive)? as u32;
            self.drop_all(victim, true);
            if victim == seq {
                return None;
            }
        }
    }

    fn drop_all(&mut self, seq: u32, is_preempted: bool) {
        let tokens = self.state.sequences[seq as usize].tokens;
        self.make(Change::Gone { seq, tokens, is_preempted });
        while let Some(block) = self.state.sequences[seq as usize].blocks.last().copied() {
            self.make(Change::Give { seq, block });
            if self.state.holders[block as usize] == 0 {
                self.free.insert(block);
            }
        }
    }

    fn make(&mut self, change: Change) {
        self.state.play(change);
        self.changes.push(change);
    }
}

/// A state that moves along a list of changes.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    changes: &'a [Change],
    at: usize,
    state: State,
}

impl<'a> Cursor<'a> {
    /// Before the first change.
    pub fn new(tables: &'a Tables) -> Self {
        let holders = vec![0; tables.state.holders.len()];
        let state = State { block_tokens: tables.state.block_tokens, holders, sequences: Vec::new() };
        Self { changes: &tables.changes, at: 0, state }
    }

    /// Goes to the state after `at` changes, from wherever it is.
    pub fn seek(&mut self, at: usize) -> &State {
        let at = at.min(self.changes.len());
        while self.at < at {
            self.state.play(self.changes[self.at]);
            self.at += 1;
        }
        while self.at > at {
            self.at -= 1;
            self.state.undo(self.changes[self.at]);
        }
        &self.state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(block_tokens: u32, n_blocks: u32) -> Tables {
        Tables::new(block_tokens, n_blocks).unwrap()
    }

    /// Brief 16, vector 3.
    #[test]
    fn the_last_block_of_each_is_what_is_wasted() {
        let of = |lengths: &[u32]| {
            let mut tables = tables(16, 64);
            for length in lengths {
                tables.start(*length).unwrap();
            }
            (u64::from(tables.state.used_blocks()), tables.state.waste())
        };
        assert_eq!(of(&[1]), (1, 15));
        assert_eq!(of(&[16]), (1, 0));
        assert_eq!(of(&[17]), (2, 15));
        assert_eq!(of(&[100, 250, 7, 16]), (25, 27));
        assert_eq!(of(&[]), (0, 0));
        assert_eq!(format!("{:.2}", 100.0 * 27.0 / 400.0), "6.75");
        // The same reserved at 2048 each: 7,819 slots, 95.45 %.
        let reserved = 4 * 2048 - (100 + 250 + 7 + 16);
        assert_eq!((reserved, format!("{:.2}", 100.0 * f64::from(reserved) / 8192.0)), (7_819, "95.45".to_owned()));
        // Check question 2: 64 sequences, block 16.
        assert_eq!((0..64).map(|_| waste(blocks(1, 16), 1, 16)).sum::<u64>(), 960);
    }

    #[test]
    fn a_fork_shares_until_it_writes() {
        let mut tables = tables(4, 8);
        let parent = tables.start(6).unwrap();
        let child = tables.fork(parent).unwrap();
        assert_eq!(tables.state.sequences[child as usize].blocks, [0, 1]);
        assert_eq!((tables.state.used_blocks(), &tables.state.holders[..2]), (2, &[2, 2][..]));
        tables.append(child, 1).unwrap();
        assert!(tables.changes.contains(&Change::Copy { seq: child, from: 1, to: 2 }));
        assert_eq!(tables.state.sequences[child as usize].blocks, [0, 2]);
        // The parent is alone with its last block now: no copy.
        tables.append(parent, 2).unwrap();
        assert_eq!(tables.state.sequences[parent as usize].blocks, [0, 1]);
        // A full last block is shared by a fork and never copied: the next token takes a new one.
        let other = tables.fork(parent).unwrap();
        tables.append(other, 1).unwrap();
        assert_eq!(tables.state.sequences[other as usize].blocks, [0, 1, 3]);
        tables.end(parent).unwrap();
        tables.end(other).unwrap();
        assert_eq!(tables.state.holders[..4], [1, 0, 1, 0]);
    }

    #[test]
    fn the_newest_gives_way() {
        let mut tables = tables(4, 3);
        let (old, new) = (tables.start(4).unwrap(), tables.start(8).unwrap());
        tables.append(old, 1).unwrap();
        let newest = &tables.state.sequences[new as usize];
        assert!(newest.was_preempted && newest.blocks.is_empty());
        assert_eq!(tables.state.sequences[old as usize].blocks, [0, 1]);
        // Itself, when it is the newest; a fork's shared blocks stay with the parent.
        let fork = tables.fork(old).unwrap();
        tables.append(fork, 8).unwrap();
        assert!(tables.state.sequences[fork as usize].was_preempted);
        assert_eq!((tables.state.used_blocks(), tables.free.len()), (2, 1));
        assert!(tables.append(fork, 1).is_err());
    }

    #[test]
    fn every_state_is_met_again_on_the_way_back() {
        let mut tables = tables(4, 6);
        let first = tables.start(7).unwrap();
        let second = tables.fork(first).unwrap();
        tables.append(second, 9).unwrap();
        tables.start(6).unwrap();
        tables.append(first, 12).unwrap();
        tables.end(first).unwrap();
        let mut states = Vec::new();
        let mut cursor = Cursor::new(&tables);
        for at in 0..=tables.changes.len() {
            states.push(cursor.seek(at).clone());
        }
        assert_eq!(states.last(), Some(tables.state()));
        for (at, state) in states.iter().enumerate().rev() {
            assert_eq!(cursor.seek(at), state, "{at}");
        }
        for state in &states {
            let held: u32 = state.sequences.iter().map(|one| one.blocks.len() as u32).sum();
            assert_eq!(held, state.holders.iter().sum::<u32>());
        }
    }

    #[test]
    fn settings_and_sequences_are_checked() {
        assert_eq!(Tables::new(0, 4).unwrap_err().field, "block_tokens");
        assert_eq!(Tables::new(257, 4).unwrap_err().field, "block_tokens");
        assert_eq!(Tables::new(16, 0).unwrap_err().field, "pool_blocks");
        let mut tables = tables(4, 4);
        assert_eq!(tables.fork(3).unwrap_err().to_string(), "sequence 3 is unknown");
    }
}
