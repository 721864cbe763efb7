//! Segments cut into used and free tiles: linked to their neighbours, and the free ones ordered to find the best fit.

use crate::replay::{Part, Piece};
use std::collections::BTreeSet;

/// A tile's place in the arena. Reused after the tile is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TileId(u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State<T> {
    /// Free, for whoever the tag says.
    Free(T),
    /// With the bytes that were asked for.
    Used(u64),
    /// The arena's slot is vacant.
    Gone,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Tile<T> {
    pub address: u64,
    pub size: u64,
    pub prev: Option<TileId>,
    pub next: Option<TileId>,
    pub state: State<T>,
}

impl<T> Tile<T> {
    pub fn end(&self) -> u64 {
        self.address + self.size
    }

    /// It is a whole segment.
    pub fn is_whole(&self) -> bool {
        self.prev.is_none() && self.next.is_none()
    }
}

/// Tiles whose free ones carry a tag; only free neighbours of one tag are merged.
#[derive(Clone, Debug)]
pub(crate) struct Tiles<T> {
    tiles: Vec<Tile<T>>,
    vacant: Vec<TileId>,
    free: BTreeSet<(T, u64, u64, TileId)>,
    /// How many free tiles each tag has.
    tags: Vec<(T, u32)>,
    pub n_segments: u64,
}

impl<T: Copy + Ord> Tiles<T> {
    pub fn new() -> Self {
        Self { tiles: Vec::new(), vacant: Vec::new(), free: BTreeSet::new(), tags: Vec::new(), n_segments: 0 }
    }

    /// A new segment, one free tile.
    pub fn add_segment(&mut self, address: u64, size: u64, tag: T) -> TileId {
        self.n_segments += 1;
        let id = self.add(Tile { address, size, prev: None, next: None, state: State::Free(tag) });
        self.list(id, tag);
        id
    }

    /// The smallest free tile of a tag that holds `size`, at the lowest address, with its size and address.
    #[inline]
    pub fn best_fit(&self, tag: T, size: u64) -> Option<(u64, u64, TileId)> {
        let found = self.free.range((tag, size, 0, TileId(0))..).next()?;
        (found.0 == tag).then_some((found.1, found.2, found.3))
    }

    /// Each tag that a free tile has.
    pub fn tags(&self) -> impl Iterator<Item = T> {
        self.tags.iter().map(|(tag, _)| *tag)
    }

    /// Uses the low end of a free tile; the rest stays free under its tag.
    pub fn take(&mut self, id: TileId, size: u64, requested: u64) {
        let State::Free(tag) = self.at(id).state else { return };
        self.unlist(id, tag);
        let whole = *self.at(id);
        if whole.size > size {
            let rest = Tile { address: whole.address + size, size: whole.size - size, prev: Some(id), ..whole };
            let rest_id = self.add(rest);
            if let Some(next) = whole.next {
                self.at_mut(next).prev = Some(rest_id);
            }
            self.at_mut(id).next = Some(rest_id);
            self.list(rest_id, tag);
        }
        let tile = self.at_mut(id);
        tile.size = size;
        tile.state = State::Used(requested);
    }

    /// Joins free neighbours from `first` on, whatever their tags, until they hold `size`. The whole has the last one's tag.
    pub fn join(&mut self, first: TileId, size: u64) {
        while self.at(first).size < size {
            let (State::Free(tag), Some(next)) = (self.at(first).state, self.at(first).next) else { return };
            let State::Free(next_tag) = self.at(next).state else { return };
            self.unlist(first, tag);
            self.unlist(next, next_tag);
            self.absorb(first, next);
            self.at_mut(first).state = State::Free(next_tag);
            self.list(first, next_tag);
        }
    }

    /// Frees a tile, or changes the tag of a free one, and merges it with neighbours of its tag. Answers with the result,
    /// nothing if there is no such tile.
    pub fn give(&mut self, id: TileId, tag: T) -> Option<TileId> {
        match self.tiles.get(id.0 as usize)?.state {
            State::Gone => return None,
            State::Free(old) => self.unlist(id, old),
            State::Used(_) => {}
        }
        let mut id = id;
        if let Some(next) = self.at(id).next.filter(|next| self.at(*next).state == State::Free(tag)) {
            self.unlist(next, tag);
            self.absorb(id, next);
        }
        if let Some(prev) = self.at(id).prev.filter(|prev| self.at(*prev).state == State::Free(tag)) {
            self.unlist(prev, tag);
            self.absorb(prev, id);
            id = prev;
        }
        self.at_mut(id).state = State::Free(tag);
        self.list(id, tag);
        Some(id)
    }

    /// Takes the stretch `[from, to)` out of a free tile; what lies before and after it no longer are neighbours.
    pub fn cut(&mut self, id: TileId, from: u64, to: u64) {
        let whole = *self.at(id);
        let State::Free(tag) = whole.state else { return };
        self.unlist(id, tag);
        self.n_segments -= 1;
        if whole.prev.is_some() || from > whole.address {
            self.n_segments += 1;
        }
        if whole.next.is_some() || to < whole.end() {
            self.n_segments += 1;
        }
        let after = (to < whole.end()).then(|| {
            let after = self.add(Tile { address: to, size: whole.end() - to, prev: None, ..whole });
            self.list(after, tag);
            after
        });
        if let Some(next) = whole.next {
            self.at_mut(next).prev = after;
        }
        if from > whole.address {
            let before = self.at_mut(id);
            before.size = from - before.address;
            before.next = None;
            self.list(id, tag);
        } else {
            if let Some(prev) = whole.prev {
                self.at_mut(prev).next = None;
            }
            self.drop_slot(id);
        }
    }

    /// The tile after `high` was merged into `low`; the state of `low` is the caller's.
    fn absorb(&mut self, low: TileId, high: TileId) {
        let Tile { size, next, .. } = *self.at(high);
        if let Some(next) = next {
            self.at_mut(next).prev = Some(low);
        }
        let low = self.at_mut(low);
        low.size += size;
        low.next = next;
        self.drop_slot(high);
    }

    fn drop_slot(&mut self, id: TileId) {
        self.at_mut(id).state = State::Gone;
        self.vacant.push(id);
    }

    fn add(&mut self, tile: Tile<T>) -> TileId {
        if let Some(id) = self.vacant.pop() {
            *self.at_mut(id) = tile;
            return id;
        }
        self.tiles.push(tile);
        TileId(self.tiles.len() as u32 - 1)
    }

    fn list(&mut self, id: TileId, tag: T) {
        let Tile { address, size, .. } = *self.at(id);
        self.free.insert((tag, size, address, id));
        match self.tags.iter_mut().find(|(known, _)| *known == tag) {
            Some((_, n)) => *n += 1,
            None => self.tags.push((tag, 1)),
        }
    }

    fn unlist(&mut self, id: TileId, tag: T) {
        let Tile { address, size, .. } = *self.at(id);
        self.free.remove(&(tag, size, address, id));
        if let Some(place) = self.tags.iter().position(|(known, _)| *known == tag) {
            self.tags[place].1 -= 1;
            if self.tags[place].1 == 0 {
                self.tags.swap_remove(place);
            }
        }
    }

    #[inline]
    pub fn at(&self, id: TileId) -> &Tile<T> {
        &self.tiles[id.0 as usize]
    }

    #[inline]
    fn at_mut(&mut self, id: TileId) -> &mut Tile<T> {
        &mut self.tiles[id.0 as usize]
    }

    /// Whether a tile is in use; false for ids of tiles that are gone.
    pub fn is_used(&self, id: TileId) -> bool {
        self.tiles.get(id.0 as usize).is_some_and(|tile| matches!(tile.state, State::Used(_)))
    }

    /// Free tiles of other tags than this, in no order that means anything.
    pub fn free_beside(&self, tag: T) -> Vec<TileId> {
        self.free.iter().filter(|key| key.0 != tag).map(|key| key.3).collect()
    }

    /// Free tiles by address.
    pub fn free_by_address(&self) -> Vec<(u64, TileId, T)> {
        let mut out: Vec<_> = self.free.iter().map(|(tag, _, address, id)| (*address, *id, *tag)).collect();
        out.sort_unstable_by_key(|(address, ..)| *address);
        out
    }

    /// Every tile by address.
    pub fn by_address(&self) -> Vec<Tile<T>> {
        let mut out: Vec<Tile<T>> =
            self.tiles.iter().filter(|tile| !matches!(tile.state, State::Gone)).copied().collect();
        out.sort_unstable_by_key(|tile| tile.address);
        out
    }

    pub fn largest_free(&self) -> u64 {
        self.free.iter().map(|key| key.1).max().unwrap_or(0)
    }
}

/// Every tile as a piece for drawing, by address.
pub(crate) fn pieces<T: Copy + Ord>(tiles: &Tiles<T>) -> Vec<Piece> {
    let mut n_segments = 0;
    let piece = |tile: Tile<T>| {
        n_segments += u32::from(tile.prev.is_none());
        let (requested, part) = match tile.state {
            State::Used(requested) => (requested, Part::Used),
            _ => (0, Part::Free),
        };
        Piece { address: tile.address, size: tile.size, requested, part, segment: n_segments - 1 }
    };
    tiles.by_address().into_iter().map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(tiles: &Tiles<u8>) -> Vec<(u64, u64, bool)> {
        tiles.by_address().iter().map(|it| (it.address, it.size, matches!(it.state, State::Used(_)))).collect()
    }

    #[test]
    fn tiles_are_split_and_merged_within_a_tag() {
        let mut tiles = Tiles::new();
        let first = tiles.add_segment(0, 100, 1);
        tiles.take(first, 10, 9);
        let (.., second) = tiles.best_fit(1, 10).unwrap();
        tiles.take(second, 10, 10);
        assert_eq!(sizes(&tiles), [(0, 10, true), (10, 10, true), (20, 80, false)]);
        tiles.give(first, 2).unwrap();
        tiles.give(second, 1).unwrap();
        assert_eq!(sizes(&tiles), [(0, 10, false), (10, 90, false)], "of two tags");
        assert_eq!((tiles.best_fit(1, 91), tiles.tags().count()), (None, 2));
        let whole = tiles.give(first, 1).unwrap();
        assert!(tiles.at(whole).is_whole() && !tiles.is_used(whole));
        assert_eq!((tiles.largest_free(), tiles.tags().count()), (100, 1));
    }

    #[test]
    fn the_smallest_that_fits_at_the_lowest_address() {
        let mut tiles = Tiles::new();
        for (address, size) in [(0, 30), (80, 20), (50, 20), (200, 10)] {
            tiles.add_segment(address, size, 0_u8);
        }
        assert_eq!(tiles.best_fit(0, 15).map(|found| (found.0, found.1)), Some((20, 50)));
        assert_eq!(tiles.best_fit(0, 31), None);
        assert_eq!(tiles.best_fit(1, 1), None);
    }

    #[test]
    fn a_stretch_is_cut_out() {
        for (from, to, left) in [(0, 100, vec![]), (20, 100, vec![(0, 20)]), (20, 50, vec![(0, 20), (50, 50)])] {
            let mut tiles = Tiles::new();
            let id = tiles.add_segment(0, 100, 0_u8);
            tiles.cut(id, from, to);
            assert_eq!(tiles.n_segments, left.len() as u64);
            assert_eq!(sizes(&tiles), left.iter().map(|(at, size)| (*at, *size, false)).collect::<Vec<_>>());
        }
        let mut tiles = Tiles::new();
        let used = tiles.add_segment(0, 100, 0_u8);
        tiles.take(used, 10, 10);
        let (.., rest) = tiles.best_fit(0, 1).unwrap();
        tiles.cut(rest, 10, 100);
        assert!(tiles.at(used).is_whole());
        assert_eq!(tiles.n_segments, 1);
    }
}
