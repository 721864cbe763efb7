//! Which pool a segment belonged to. Events do not say; the segments at the end do. Of a segment that was returned before
//! the end only this is known: everything that touched it belonged together. Such a group is taken for one of the default
//! pool until the replay contradicts it, then for one of a graph's.

use crate::fast::FastMap;
use crate::model::{Action, Event, Segment, Snapshot};
use std::collections::BTreeMap;
use vramlab_alloc::caching::Config;

/// Where a segment belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// A private pool by number; 0 is the default pool.
    Known(u32),
    /// A group of which nothing stands at the end.
    Gone(u32),
}

/// A connected stretch of address space of expandable segments, over all time.
#[derive(Clone, Debug)]
pub(crate) struct Reach {
    pub end: u64,
    pub home: Home,
    pub is_small: bool,
    pub stream: u32,
}

/// The pool of an event, where the file tells it.
type Told<'t> = &'t dyn Fn(usize) -> Option<(u64, u64)>;

/// A stretch of an expandable segment, at some time.
struct Piece<'a> {
    start: u64,
    end: u64,
    stream: u32,
    pool: Option<(u64, u64)>,
    /// The segment at the end.
    segment: Option<&'a Segment>,
}

/// The homes of one device.
#[derive(Clone, Debug, Default)]
pub(crate) struct Homes {
    /// Of each event that gives a segment.
    of_event: FastMap<u32, Home>,
    /// Pools of refused requests, where the file tells them.
    of_refusal: FastMap<u32, u32>,
    /// Of the segments that stood before the first event, by address.
    at_start: FastMap<u64, Home>,
    /// By address.
    pub reaches: BTreeMap<u64, Reach>,
    pub n_groups: u32,
    /// Private pools by number: those that the end names; number 0 is the default pool.
    pub pools: Vec<(u64, u64)>,
}

impl Homes {
    pub fn of(snapshot: &Snapshot, device: usize, config: &Config) -> Self {
        let mut this = Self { pools: vec![(0, 0)], ..Self::default() };
        let segments = || snapshot.segments.iter().filter(move |segment| segment.device as usize == device);
        for segment in segments() {
            if !this.pools.contains(&segment.pool) {
                this.pools.push(segment.pool);
            }
        }
        let told = snapshot.event_pools.as_ref().and_then(|all| all.get(device));
        for (_, pool) in told.into_iter().flatten() {
            if !this.pools.contains(pool) {
                this.pools.push(*pool);
            }
        }
        let events = snapshot.traces.get(device).map_or(&[][..], Vec::as_slice);
        let told = |idx: usize| snapshot.event_pool(device, idx);
        this.walk_back(events, &told, segments().filter(|segment| !segment.is_expandable));
        this.connect(events, &told, segments().filter(|segment| segment.is_expandable), config);
        this
    }

    fn number(&self, pool: (u64, u64)) -> u32 {
        self.pools.iter().position(|known| *known == pool).unwrap_or(0) as u32
    }

    fn group(&mut self) -> Home {
        self.n_groups += 1;
        Home::Gone(self.n_groups - 1)
    }

    /// From the end to the start: a segment's address is its own until it was given.
    fn walk_back<'a>(&mut self, events: &[Event], told: Told<'_>, segments: impl Iterator<Item = &'a Segment>) {
        let mut now: FastMap<u64, Home> =
            segments.map(|segment| (segment.address, Home::Known(self.number(segment.pool)))).collect();
        for (idx, event) in events.iter().enumerate().rev() {
            match event.action {
                Action::SegmentFree => {
                    let home = told(idx).map(|pool| Home::Known(self.number(pool)));
                    let home = home.unwrap_or_else(|| self.group());
                    now.insert(event.address, home);
                }
                Action::SegmentAlloc => {
                    let given = told(idx).map(|pool| Home::Known(self.number(pool)));
                    let home = now.remove(&event.address).or(given);
                    let home = home.unwrap_or_else(|| self.group());
                    self.of_event.insert(idx as u32, home);
                }
                Action::Oom => {
                    let pool = told(idx).map(|pool| self.number(pool));
                    self.of_refusal.extend(pool.map(|pool| (idx as u32, pool)));
                }
                _ => {}
            }
        }
        self.at_start = now;
    }

    /// Pieces of expandable segments that touch are of one range.
    fn connect<'a>(
        &mut self,
        events: &[Event],
        told: Told<'_>,
        segments: impl Iterator<Item = &'a Segment>,
        config: &Config,
    ) {
        let maps = |event: &&Event| matches!(event.action, Action::SegmentMap | Action::SegmentUnmap);
        let mut pieces: Vec<Piece<'_>> = events
            .iter()
            .enumerate()
            .filter(|(_, event)| maps(event))
            .map(|(idx, event)| Piece {
                start: event.address,
                end: event.address.saturating_add(event.size),
                stream: event.stream,
                pool: told(idx),
                segment: None,
            })
            .collect();
        pieces.extend(segments.map(|segment| Piece {
            start: segment.address,
            end: segment.address.saturating_add(segment.size),
            stream: segment.stream,
            pool: Some(segment.pool),
            segment: Some(segment),
        }));
        pieces.sort_by_key(|piece| (piece.start, piece.end));
        let page = config.large_segment_bytes.max(1);
        let mut last: Option<(u64, Reach)> = None;
        let mut undecided: Vec<u64> = Vec::new();
        let mut is_decided = false;
        for Piece { start, end, stream, pool, segment } in pieces {
            let joins = last.as_ref().is_some_and(|(_, reach)| reach.end >= start && reach.stream == stream);
            if !joins {
                self.close(last.take(), is_decided, &mut undecided);
                let home = self.group();
                last = Some((start, Reach { end, home, is_small: false, stream }));
                is_decided = false;
            }
            let Some((at, reach)) = last.as_mut() else { continue };
            reach.end = reach.end.max(end);
            if let Some(pool) = pool {
                reach.home = Home::Known(self.pools.iter().position(|known| *known == pool).unwrap_or(0) as u32);
            }
            if let Some(segment) = segment {
                (reach.is_small, is_decided) = (segment.is_small, true);
            } else if !is_decided && [start - *at, end - start].iter().any(|bytes| !bytes.is_multiple_of(page)) {
                // Pages of the large pool are never cut.
                (reach.is_small, is_decided) = (true, true);
            }
        }
        self.close(last, is_decided, &mut undecided);
        self.decide(events, &undecided, config);
    }

    fn close(&mut self, reach: Option<(u64, Reach)>, is_decided: bool, undecided: &mut Vec<u64>) {
        if let Some((start, reach)) = reach {
            if !is_decided {
                undecided.push(start);
            }
            self.reaches.insert(start, reach);
        }
    }

    /// What was asked for inside tells whose pages they were.
    fn decide(&mut self, events: &[Event], undecided: &[u64], config: &Config) {
        for start in undecided {
            let Some(reach) = self.reaches.get_mut(start) else { continue };
            let inside = |event: &&Event| event.action == Action::Alloc && (*start..reach.end).contains(&event.address);
            let request = events.iter().find(inside);
            reach.is_small = request.is_some_and(|event| config.round(event.size) <= 1 << 20);
        }
    }

    /// The home of a segment that an event gives.
    pub fn of_given(&self, idx: usize) -> Option<Home> {
        self.of_event.get(&(idx as u32)).copied()
    }

    /// The pool of a refused request; the default one where it is not told.
    pub fn of_refusal(&self, idx: usize) -> u32 {
        self.of_refusal.get(&(idx as u32)).copied().unwrap_or(0)
    }

    /// The home of a segment that stood before the first event.
    pub fn at_start(&self, address: u64) -> Option<Home> {
        self.at_start.get(&address).copied()
    }

    /// The range of expandable segments around an address.
    pub fn reach(&self, address: u64) -> Option<(u64, &Reach)> {
        let (start, reach) = self.reaches.range(..=address).next_back()?;
        (address < reach.end).then_some((*start, reach))
    }
}

/// The pool that each group is taken for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Labels {
    /// Groups that were contradicted, with the place of the pool at hand in the list of what it could be.
    tried: FastMap<u32, u32>,
    /// Pools that no segment at the end names, but which there must have been.
    pub n_unnamed: u32,
    /// Groups that fit nowhere.
    settled: FastMap<u32, ()>,
    /// The group that was turned last.
    pub last: Option<u32>,
    /// Sizes of blocks from before the first event, by address, where a request that found no room tells.
    pub sizes: FastMap<u64, u64>,
}

impl Labels {
    pub fn pool(&self, home: Home) -> u32 {
        match home {
            Home::Known(pool) => pool,
            Home::Gone(group) => self.tried.get(&group).copied().unwrap_or(0),
        }
    }

    pub fn is_open(&self, home: Home) -> Option<u32> {
        match home {
            Home::Gone(group) if !self.settled.contains_key(&group) => Some(group),
            _ => None,
        }
    }

    /// The next pool that a group may be of; at the end one that no other group is of.
    pub fn turn(&mut self, group: u32, n_named: u32) {
        self.last = Some(group);
        let next = self.pool(Home::Gone(group)) + 1;
        let others = self.tried.iter().filter(|(other, _)| **other != group).map(|(_, pool)| *pool);
        let n_pools = others.max().map_or(n_named, |most| n_named.max(most + 1));
        if next > n_pools {
            self.tried.insert(group, 0);
            self.settled.insert(group, ());
        } else {
            self.tried.insert(group, next);
        }
        let most = self.tried.values().copied().max().unwrap_or(0);
        self.n_unnamed = (most + 1).saturating_sub(n_named);
    }
}
