//! Which blocks are there at a moment, without looking at all that ever were: every now and then the list of those that are
//! active is kept, and a moment needs the last list before it and the blocks that came since.

use crate::lives::Life;

/// Fewer blocks are looked through at once.
const LEAST_APART: usize = 4096;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Mark {
    /// In events done.
    at: usize,
    /// The first life that had not begun.
    next: u32,
    /// Lives that were active.
    active: Vec<u32>,
}

/// The index of one device. Lists are as far apart as they are long, so that all of them together are no longer than the
/// lives are many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alive {
    marks: Vec<Mark>,
}

impl Alive {
    /// `lives` come in the order of their beginning, those from before the first event first.
    pub fn of(lives: &[Life]) -> Self {
        let mut marks: Vec<Mark> = Vec::new();
        let (mut active, mut n_since): (Vec<u32>, usize) = (Vec::new(), 0);
        for (idx, life) in lives.iter().enumerate() {
            active.push(idx as u32);
            n_since += 1;
            if n_since >= LEAST_APART.max(marks.last().map_or(0, |mark| mark.active.len())) {
                let at = life.from.map_or(0, |from| from as usize + 1);
                active.retain(|known| lives[*known as usize].is_active(at));
                // All lives from before the first event begin at once: a list in their midst would lack the rest.
                if lives.get(idx + 1).is_none_or(|next| next.from.is_some()) {
                    marks.push(Mark { at, next: idx as u32 + 1, active: active.clone() });
                    n_since = 0;
                }
            }
        }
        Self { marks }
    }

    /// Lives that are active after `at` events, in their order.
    pub fn at<'a>(&'a self, lives: &'a [Life], at: usize) -> impl Iterator<Item = u32> + 'a {
        self.between(lives, at, at)
    }

    /// Lives that are active somewhere between `from` and `until` events done.
    pub fn between<'a>(&'a self, lives: &'a [Life], from: usize, until: usize) -> impl Iterator<Item = u32> + 'a {
        let idx = self.marks.partition_point(|mark| mark.at <= from);
        let mark = idx.checked_sub(1).map(|idx| &self.marks[idx]);
        let next = mark.map_or(0, |mark| mark.next);
        let end = lives.partition_point(|life| life.from.is_none_or(|start| (start as usize) < until)) as u32;
        let known = mark.map_or(&[][..], |mark| mark.active.as_slice());
        let is_there = move |idx: &u32| lives[*idx as usize].gone.is_none_or(|gone| gone as usize >= from);
        known.iter().copied().chain(next..end.max(next)).filter(is_there)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::StackId;

    /// Seeded lives of all lengths, some from before the first event and some without an end.
    fn lives(n: usize) -> Vec<Life> {
        let mut x = 7_u64;
        let mut next = |most: u64| {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (x >> 33) % most
        };
        let life = |idx: usize| {
            let from = (idx >= 5000).then(|| (idx as u32 - 5000) * 3);
            let length = [4, 300, 60_000][next(3) as usize];
            let gone = (next(50) > 0).then(|| from.map_or(0, |from| from + 1) + next(length) as u32);
            Life {
                address: idx as u64,
                size: 512,
                requested: 512,
                stack: StackId(0),
                stream: 0,
                from,
                freed: gone,
                gone,
                was_pending: false,
            }
        };
        (0..n).map(life).collect()
    }

    #[test]
    fn the_index_finds_what_looking_at_every_life_finds() {
        let lives = lives(40_000);
        let alive = Alive::of(&lives);
        assert!(alive.marks.len() > 2, "{}", alive.marks.len());
        let kept: usize = alive.marks.iter().map(|mark| mark.active.len()).sum();
        assert!(kept <= 2 * lives.len(), "{kept}");
        for at in [0, 1, 2, 3, 4095, 4096, 12_289, 50_000, 99_999, 104_999, 105_000, 400_000] {
            let all: Vec<u32> = (0..lives.len() as u32).filter(|idx| lives[*idx as usize].is_active(at)).collect();
            assert_eq!(alive.at(&lives, at).collect::<Vec<_>>(), all, "at {at}");
            let until = at + 7_000;
            let overlaps = |idx: &u32| {
                let life = &lives[*idx as usize];
                life.from.is_none_or(|from| (from as usize) < until) && life.gone.is_none_or(|gone| gone as usize >= at)
            };
            let all: Vec<u32> = (0..lives.len() as u32).filter(overlaps).collect();
            assert_eq!(alive.between(&lives, at, until).collect::<Vec<_>>(), all, "{at}..{until}");
        }
        assert_eq!(Alive::of(&[]).at(&[], 3).count(), 0);
    }
}
