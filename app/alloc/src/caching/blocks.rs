//! Blocks in address order, linked to their neighbours, and the free ones of a pool in the order in which they are tried.

use std::collections::BTreeSet;

/// A block's place in the arena. Reused after the block has been merged away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub(super) u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// In the cache, or address space without memory.
    Free,
    Allocated,
    /// Freed, while another stream may still use it.
    Pending,
}

#[derive(Clone, Debug)]
pub(super) struct Block {
    pub address: u64,
    pub size: u64,
    pub requested: u64,
    pub stream: u32,
    /// Index of its pool.
    pub pool: u32,
    pub prev: Option<BlockId>,
    pub next: Option<BlockId>,
    pub state: State,
    /// False for address space of an expandable segment without memory behind it.
    pub is_mapped: bool,
    /// The range of an expandable segment.
    pub range: Option<u32>,
    /// Lookups of its pool when it became free, for garbage collection.
    pub lookups: u64,
    /// Pending, and the other stream's work is over: the next request takes it back.
    pub is_done: bool,
    /// The arena's slot is in use.
    pub is_alive: bool,
}

impl Block {
    pub fn is_split(&self) -> bool {
        self.prev.is_some() || self.next.is_some()
    }
}

/// A block as others may see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    pub id: BlockId,
    pub address: u64,
    pub size: u64,
    /// What was asked for; meaningless for a free block.
    pub requested: u64,
    pub stream: u32,
    /// 0 is the default pool; others belong to CUDA graphs.
    pub private_pool: u32,
    pub is_small: bool,
    pub state: State,
    pub is_mapped: bool,
    pub is_expandable: bool,
    pub prev: Option<BlockId>,
    pub next: Option<BlockId>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Arena {
    blocks: Vec<Block>,
    vacant: Vec<BlockId>,
}

impl Arena {
    pub fn add(&mut self, block: Block) -> BlockId {
        match self.vacant.pop() {
            Some(id) => {
                self.blocks[id.0 as usize] = block;
                id
            }
            None => {
                self.blocks.push(block);
                BlockId(self.blocks.len() as u32 - 1)
            }
        }
    }

    pub fn remove(&mut self, id: BlockId) {
        self.blocks[id.0 as usize].is_alive = false;
        self.vacant.push(id);
    }

    #[inline]
    pub fn at(&self, id: BlockId) -> &Block {
        &self.blocks[id.0 as usize]
    }

    #[inline]
    pub fn at_mut(&mut self, id: BlockId) -> &mut Block {
        &mut self.blocks[id.0 as usize]
    }

    pub fn alive(&self) -> impl Iterator<Item = (BlockId, &Block)> {
        self.blocks
            .iter()
            .enumerate()
            .filter(|(_, block)| block.is_alive)
            .map(|(idx, block)| (BlockId(idx as u32), block))
    }
}

/// Free blocks are tried by stream, size and address.
pub(super) type FreeKey = (u32, u64, u64, BlockId);

/// Small or large blocks of the default pool or of a CUDA graph's.
#[derive(Clone, Debug, Default)]
pub(super) struct Pool {
    pub private_pool: u32,
    pub is_small: bool,
    pub free: BTreeSet<FreeKey>,
    /// Pieces of address space without memory, by stream and address.
    pub unmapped: BTreeSet<(u32, u64, BlockId)>,
    pub n_lookups: u64,
}

impl Pool {
    pub fn insert(&mut self, id: BlockId, block: &Block) {
        self.free.insert((block.stream, block.size, block.address, id));
    }

    pub fn remove(&mut self, id: BlockId, block: &Block) {
        self.free.remove(&(block.stream, block.size, block.address, id));
    }
}
