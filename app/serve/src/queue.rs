//! The queue of free blocks: taken at the head, given back at the tail, and out of the middle when a cached block is hit
//! again. A doubly linked list in two arrays, so that each of the three costs the same however large the pool.

/// No neighbour.
const NONE: u32 = u32::MAX;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FreeQueue {
    /// Two entries a block and one for the ends: `(before, after)`.
    links: Vec<(u32, u32)>,
    is_free: Vec<bool>,
    len: u32,
}

impl FreeQueue {
    /// All blocks, in the order of their numbers.
    pub fn full(n_blocks: u32) -> Self {
        let ends = n_blocks;
        let mut links: Vec<(u32, u32)> =
            (0..=n_blocks).map(|block| (block.wrapping_sub(1), block.saturating_add(1))).collect();
        if n_blocks == 0 {
            links[0] = (ends, ends);
        } else {
            links[0].0 = ends;
            links[n_blocks as usize] = (n_blocks - 1, 0);
        }
        Self { links, is_free: vec![true; n_blocks as usize], len: n_blocks }
    }

    fn ends(&self) -> u32 {
        self.is_free.len() as u32
    }

    pub fn len(&self) -> u32 {
        self.len
    }

    pub fn has(&self, block: u32) -> bool {
        self.is_free.get(block as usize).copied().unwrap_or(false)
    }

    fn first(&self) -> u32 {
        if self.len == 0 { NONE } else { self.links[self.ends() as usize].1 }
    }

    pub fn pop(&mut self) -> Option<u32> {
        let block = self.first();
        self.remove(block).then_some(block)
    }

    /// Takes a block out of the middle.
    pub fn remove(&mut self, block: u32) -> bool {
        if !self.has(block) {
            return false;
        }
        let (before, after) = self.links[block as usize];
        self.links[before as usize].1 = after;
        self.links[after as usize].0 = before;
        self.is_free[block as usize] = false;
        self.len -= 1;
        true
    }

    /// Gives a block back at the tail.
    pub fn push(&mut self, block: u32) {
        debug_assert!(!self.has(block), "block {block} is free already");
        let ends = self.ends();
        let last = self.links[ends as usize].0;
        self.links[block as usize] = (last, ends);
        self.links[last as usize].1 = block;
        self.links[ends as usize].0 = block;
        self.is_free[block as usize] = true;
        self.len += 1;
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> {
        let ends = self.ends();
        std::iter::successors(Some(self.links[ends as usize].1), |block| Some(self.links[*block as usize].1))
            .take_while(move |block| *block != ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_leave_at_the_head_and_come_back_at_the_tail() {
        let mut queue = FreeQueue::full(4);
        assert_eq!((queue.pop(), queue.pop()), (Some(0), Some(1)));
        queue.push(1);
        assert!(queue.remove(3));
        assert!(!queue.remove(3) && !queue.remove(9));
        queue.push(0);
        assert_eq!(queue.iter().collect::<Vec<_>>(), [2, 1, 0]);
        assert_eq!((queue.pop(), queue.pop(), queue.pop(), queue.pop()), (Some(2), Some(1), Some(0), None));
        queue.push(3);
        assert_eq!((queue.len(), queue.pop()), (1, Some(3)));
        assert_eq!(FreeQueue::full(0).iter().count(), 0);
    }
}
