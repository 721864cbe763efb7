//! Which block of threads takes which queries over which tokens: the lists that the kernels read.

use vramlab_serve::replay::{Piece, Work};

/// Tokens that a block of threads goes through.
const SPLIT: u32 = 512;
/// Query heads of a KV head, and queries of a block of threads in a chunk.
const GROUP: u32 = 4;
const QUERIES: u32 = 64;
/// Words of an item: table, row, first, n, begin, from, to, place, split, n_splits.
pub const ITEM_WORDS: usize = 10;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Lists {
    /// All block tables, one after the other.
    pub table: Vec<u32>,
    pub decodes: Vec<[u32; ITEM_WORDS]>,
    pub chunks: Vec<[u32; ITEM_WORDS]>,
    /// Places for partial results.
    pub n_places: u32,
    /// Where each piece's queries begin.
    pub rows: Vec<u32>,
}

impl Lists {
    pub fn of(work: &Work) -> Self {
        let (mut lists, mut row) = (Self::default(), 0);
        for piece in &work.pieces {
            lists.rows.push(row);
            lists.add(piece, row);
            lists.table.extend(&piece.blocks);
            row += piece.tokens;
        }
        lists
    }

    fn add(&mut self, piece: &Piece, row: u32) {
        let (table, begin) = (self.table.len() as u32, piece.context - piece.tokens);
        let is_decode = piece.tokens == 1;
        for first in (0..GROUP * piece.tokens).step_by(QUERIES as usize) {
            let n = QUERIES.min(GROUP * piece.tokens - first);
            // The last of these queries sees up to itself.
            let end = begin + (first + n - 1) / GROUP + 1;
            let n_splits = end.div_ceil(SPLIT);
            let split = |split: u32| {
                let (from, to) = (split * SPLIT, end.min((split + 1) * SPLIT));
                [table, row, first, n, begin, from, to, self.n_places, split, n_splits]
            };
            let items = (0..n_splits).map(split);
            if is_decode {
                self.decodes.extend(items)
            } else {
                self.chunks.extend(items)
            }
            self.n_places += n_splits;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(tokens: u32, context: u32) -> Piece {
        Piece { request: 0, tokens, context, blocks: (0..context.div_ceil(16)).collect() }
    }

    /// A decode over 1300 tokens is three pieces; a chunk of 20 after 500 takes 64 and 16 queries, the first up to token
    /// 515, which is two pieces.
    #[test]
    fn every_query_meets_every_token_once() {
        let work = Work { pieces: vec![piece(1, 1300), piece(20, 520)], ..Work::default() };
        let lists = Lists::of(&work);
        assert_eq!(lists.decodes.len(), 3);
        assert_eq!(lists.decodes[2], [0, 0, 0, 4, 1299, 1024, 1300, 0, 2, 3]);
        assert_eq!(lists.chunks.len(), 4);
        assert_eq!(lists.chunks[1], [82, 1, 0, 64, 500, 512, 516, 3, 1, 2]);
        assert_eq!(lists.chunks[3], [82, 1, 64, 16, 500, 512, 520, 5, 1, 2]);
        assert_eq!((lists.n_places, lists.table.len(), &lists.rows[..]), (7, 82 + 33, &[0, 1][..]));
    }
}
