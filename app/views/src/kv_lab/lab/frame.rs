//! What the laboratory shows at one step, whichever machine made it: blocks, tables, the queue of free blocks, the reasons.

use vramlab_units::Localized;

/// What became of a block in this step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fresh {
    #[default]
    No,
    Taken,
    /// Found by its hash, or joined by a fork.
    Shared,
    /// The copy that a write made.
    Copied,
    /// Given back.
    Given,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The first of its holders.
    pub owner: Option<u32>,
    /// How many tables hold it.
    pub holders: u32,
    /// Slots with a token.
    pub filled: u32,
    /// Nobody holds it, but a later prompt may find its content.
    pub is_cached: bool,
    /// First and last token of what it holds, where prompts are told by their tokens.
    pub content: Option<(u32, u32)>,
    pub fresh: Fresh,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Waiting,
    Preempted,
    Running,
}

/// A request that is here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    pub id: u32,
    pub name: String,
    pub phase: Phase,
    pub tokens: u32,
    pub blocks: Vec<u32>,
}

/// How a reason is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Good,
    Caution,
    Bad,
}

/// Why something happened, or did not.
#[derive(Clone, Debug, PartialEq)]
pub struct Why {
    pub tone: Tone,
    pub text: Localized,
}

impl Why {
    pub fn new(tone: Tone, zh: String, en: String) -> Self {
        Self { tone, text: Localized::both(zh, en) }
    }
}

/// One step of the run, for the line of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Blocks in use when the step was computed.
    pub used: u32,
    pub running: u32,
    pub waiting: u32,
    pub is_preempted: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub used: u32,
    pub free: u32,
    /// Free, with content that a later prompt may find.
    pub cached: u32,
    /// Held by two tables or more.
    pub shared: u32,
    /// Slots of used blocks without a token.
    pub empty_slots: u64,
    pub slots: u64,
    pub running: u32,
    pub waiting: u32,
    pub preempted: u32,
}

/// Everything at the end of one step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    pub block_tokens: u32,
    pub blocks: Vec<Block>,
    pub tables: Vec<Table>,
    /// Free blocks, the next to be taken first.
    pub queue: Vec<u32>,
    pub whys: Vec<Why>,
    pub counters: Counters,
}

impl Frame {
    pub fn new(block_tokens: u32, n_blocks: u32) -> Self {
        Self { block_tokens, blocks: vec![Block::default(); n_blocks as usize], ..Self::default() }
    }

    /// A request with what it holds.
    pub fn add(&mut self, table: Table) {
        for (idx, number) in table.blocks.iter().enumerate() {
            let filled = table.tokens.saturating_sub(idx as u32 * self.block_tokens).min(self.block_tokens);
            let block = &mut self.blocks[*number as usize];
            block.owner.get_or_insert(table.id);
            block.holders += 1;
            block.filled = block.filled.max(filled);
        }
        match table.phase {
            Phase::Running => self.counters.running += 1,
            Phase::Waiting => self.counters.waiting += 1,
            Phase::Preempted => self.counters.preempted += 1,
        }
        self.tables.push(table);
    }

    pub fn mark(&mut self, block: u32, fresh: Fresh) {
        self.blocks[block as usize].fresh = fresh;
    }

    /// Counts the blocks, once all tables are in.
    #[must_use]
    pub fn counted(mut self) -> Self {
        let size = u64::from(self.block_tokens);
        let counters = &mut self.counters;
        for block in &self.blocks {
            if block.holders == 0 {
                counters.free += 1;
                counters.cached += u32::from(block.is_cached);
            } else {
                counters.used += 1;
                counters.shared += u32::from(block.holders > 1);
                counters.slots += size;
                counters.empty_slots += size - u64::from(block.filled);
            }
        }
        self
    }

    pub fn table(&self, id: u32) -> Option<&Table> {
        self.tables.iter().find(|table| table.id == id)
    }
}
