//! Which blocks are in use at some of many moments, without looking at all that ever were. Blocks lie in classes by how long
//! they lived: those that lived at most 2^k events and are in use at a moment began no more than 2^k events before it.

use crate::lives::Life;

/// In use from `begun` to `gone` events done, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    begun: u32,
    gone: u32,
    life: u32,
}

/// The index of some lives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spans {
    /// By the number of bits of how long they lived; each in the order of their beginning.
    classes: Vec<Vec<Span>>,
    begins: Vec<u32>,
    ends: Vec<u32>,
}

impl Spans {
    /// Of the lives that pass; those that only wait for another stream are in use at no time.
    pub fn of(lives: &[Life], passes: impl Fn(u32) -> bool) -> Self {
        let mut this = Self { classes: vec![Vec::new(); 33], ..Self::default() };
        for (idx, life) in lives.iter().enumerate().filter(|(idx, life)| !life.was_pending && passes(*idx as u32)) {
            let begun = life.from.map_or(0, |from| from + 1);
            let gone = life.freed.unwrap_or(u32::MAX);
            if gone < begun {
                continue;
            }
            let class = 32 - (gone - begun).leading_zeros();
            this.classes[class as usize].push(Span { begun, gone, life: idx as u32 });
            this.begins.push(begun);
            this.ends.push(gone);
        }
        // Lives come in the order of their beginning; a damaged file may have them otherwise.
        this.classes.iter_mut().for_each(|class| class.sort_by_key(|span| span.begun));
        this.begins.sort_unstable();
        this.ends.sort_unstable();
        this
    }

    /// How many are in use somewhere from `from` to `until`.
    pub fn count(&self, from: usize, until: usize) -> usize {
        let begun = self.begins.partition_point(|begun| *begun as usize <= until);
        begun.saturating_sub(self.ends.partition_point(|gone| (*gone as usize) < from))
    }

    /// Those in use at any of the moments, which ascend: each once, in no particular order.
    pub fn at_any(&self, moments: &[usize], mut found: impl FnMut(u32)) {
        let (Some(first), Some(last)) = (moments.first(), moments.last()) else { return };
        let gap = (last - first) / moments.len().max(1);
        for (bits, class) in self.classes.iter().enumerate().filter(|(_, class)| !class.is_empty()) {
            let longest = (1_usize << bits) - 1;
            let start =
                |moment: usize| class.partition_point(|span| (span.begun as usize) < moment.saturating_sub(longest));
            if longest > gap {
                let mut next = 0;
                for span in class[start(*first)..].iter().take_while(|span| span.begun as usize <= *last) {
                    while moments.get(next).is_some_and(|moment| *moment < span.begun as usize) {
                        next += 1;
                    }
                    if moments.get(next).is_some_and(|moment| *moment <= span.gone as usize) {
                        found(span.life);
                    }
                }
                continue;
            }
            // Moments may lie closer than their mean: what is in use at two of them is told at the first.
            let mut before = None;
            for moment in moments {
                for span in class[start(*moment)..].iter().take_while(|span| span.begun as usize <= *moment) {
                    let is_told =
                        before.is_some_and(|before| span.begun as usize <= before && span.gone as usize >= before);
                    if span.gone as usize >= *moment && !is_told {
                        found(span.life);
                    }
                }
                before = Some(*moment);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::StackId;

    /// Seeded lives of all lengths, some from before the first event, some without an end, some pending.
    fn lives(n: usize) -> Vec<Life> {
        let mut x = 11_u64;
        let mut next = |most: u64| {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (x >> 33) % most
        };
        let life = |idx: usize| {
            let from = (idx >= 300).then(|| (idx as u32 - 300) * 3);
            let length = [1, 4, 300, 60_000][next(4) as usize];
            let freed = (next(50) > 0).then(|| from.map_or(0, |from| from + 1) + next(length) as u32);
            let was_pending = from.is_none() && next(9) == 0;
            Life {
                address: idx as u64,
                size: 512,
                requested: 512,
                stack: StackId(0),
                stream: 0,
                from,
                freed,
                gone: freed,
                was_pending,
            }
        };
        (0..n).map(life).collect()
    }

    #[test]
    fn the_index_finds_what_looking_at_every_life_finds() {
        let lives = lives(20_000);
        let passes = |idx: u32| idx % 7 != 3;
        let spans = Spans::of(&lives, passes);
        let known = |idx: &u32| passes(*idx);
        for (first, gap, n) in
            [(0, 1, 1), (0, 1, 900), (17, 60, 1000), (0, 700, 86), (30_000, 3, 4000), (59_000, 900, 3)]
        {
            let mut moments: Vec<usize> = (0..n).map(|idx| first + idx * gap + idx % 3).collect();
            moments.sort_unstable();
            moments.dedup();
            let is_met = |idx: &u32| moments.iter().any(|moment| lives[*idx as usize].is_allocated(*moment));
            let expected: Vec<u32> = (0..lives.len() as u32).filter(known).filter(is_met).collect();
            let mut got = Vec::new();
            spans.at_any(&moments, |life| got.push(life));
            got.sort_unstable();
            assert_eq!(got, expected, "{first} {gap} {n}");
            let until = *moments.last().unwrap();
            let overlaps = |idx: &u32| {
                let life = &lives[*idx as usize];
                let begun = life.from.map_or(0, |from| from as usize + 1);
                !life.was_pending && begun <= until && life.freed.is_none_or(|freed| freed as usize >= first)
            };
            assert_eq!(spans.count(first, until), (0..lives.len() as u32).filter(known).filter(overlaps).count());
        }
        spans.at_any(&[], |_| panic!("nothing is asked"));
        assert_eq!(Spans::default().count(0, 9), 0);
    }
}
