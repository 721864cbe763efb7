//! The recorded requests, served again by the allocator's rules: every address, split and counter is predicted and
//! compared with what was recorded. `ask.rs` serves a request where the record leaves open
//! how, `recorded.rs` is the device as the recording shows it, `settings.rs` the allocator's
//! settings, `order.rs` what the order of events tells, `end.rs` the comparison with the segments at the end.

mod ask;
mod end;
mod order;
mod recorded;
mod settings;

use crate::fast::FastMap;
use crate::homes::{Home, Homes, Labels};
use crate::model::{Action, Event, Snapshot};
use crate::start::{Start, start};
pub(crate) use order::is_explicit;
use order::is_plain;
use recorded::Recorded;
pub use settings::config_of;
use std::collections::BTreeMap;
use vramlab_alloc::caching::{BlockId, Caching, Config, State, Stats, View};
use vramlab_units::Localized;

/// A prediction that the recording contradicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Index of the event, from 0.
    pub event: usize,
    pub what: Localized,
}

/// What a replay found.
#[derive(Clone, Debug)]
pub struct Replay {
    pub n_allocs: u64,
    /// Allocs whose address came out as recorded.
    pub n_right: u64,
    pub n_frees: u64,
    /// Segments, or mapped runs, that the device gave.
    pub n_segments: u64,
    /// Frees of blocks that the recording does not explain.
    pub n_unexplained: u64,
    /// The first of each kind, at most 20 in all.
    pub mismatches: Vec<Mismatch>,
    /// Mismatches in all.
    pub n_wrong: u64,
    /// Private pools that there must have been although no segment at the end names them.
    pub n_inferred_pools: u32,
    /// Requests of which the recording does not tell whether the whole cache was flushed: so far may the count of retries
    /// be wrong.
    pub n_ambiguous: u64,
    pub stats: Stats,
    /// The counters before the first event.
    pub start: Stats,
    pub blocks: Vec<View>,
    /// What stood before the first event.
    pub before: Start,
    /// Size of the block that each alloc got, in their order; 0 if it got none.
    pub sizes: Vec<u64>,
}

impl Replay {
    /// True if every address, every segment and every final block came out as recorded.
    pub fn is_exact(&self) -> bool {
        self.n_right == self.n_allocs && self.n_wrong == 0
    }
}

/// Replays one device under the settings it was recorded with.
pub fn replay(snapshot: &Snapshot, device: usize, config: &Config) -> Replay {
    let homes = Homes::of(snapshot, device, config);
    let mut labels = Labels::default();
    let events = snapshot.traces.get(device).map_or(&[][..], Vec::as_slice);
    let first = Run::whole(snapshot, device, config, &homes, &labels, false);
    if first.is_exact() || (homes.n_groups == 0 && first.before.unsure.is_empty()) {
        return first;
    }
    // What the end does not tell, the first contradiction does: a group is of another pool, a block is larger.
    let n_tries = (MOST_TRIED / events.len().max(1)).clamp(2, 100);
    for _ in 0..n_tries {
        match Run::contradiction(snapshot, device, config, &homes, &labels) {
            Some(Blame::Size { address, size }) => {
                labels.sizes.insert(address, size);
            }
            Some(Blame::Group(group)) => labels.turn(group, homes.pools.len() as u32),
            None => break,
        }
    }
    let second = Run::whole(snapshot, device, config, &homes, &labels, true);
    let score = |replay: &Replay| (replay.n_right, std::cmp::Reverse(replay.n_wrong));
    if score(&second) > score(&first) { second } else { first }
}

/// What stands at a moment.
pub(crate) struct Standing {
    pub blocks: Vec<View>,
    /// Private pools by number.
    pub pools: Vec<(u64, u64)>,
}

/// What stands after `until` events; nothing where the replay contradicts the recording before.
pub(crate) fn blocks_at(snapshot: &Snapshot, device: usize, config: &Config, until: usize) -> Option<Standing> {
    let homes = Homes::of(snapshot, device, config);
    let labels = Labels::default();
    let before = start(snapshot, device, config, &homes, &labels);
    let mut run = Run::new(&before, config, &homes, &labels);
    let events = snapshot.traces.get(device).map_or(&[][..], Vec::as_slice);
    for idx in 0..until.min(events.len()) {
        run.event(events, idx);
    }
    run.come_to_rest();
    (run.machine.device.n_wrong == 0).then(|| Standing { blocks: run.machine.blocks(), pools: before.pools })
}

/// Events that may be replayed in search of pools that no segment names.
const MOST_TRIED: usize = 2_000_000;

/// What a contradiction speaks against.
#[derive(Clone, Copy)]
enum Blame {
    Group(u32),
    /// The block from before the first event is so large.
    Size {
        address: u64,
        size: u64,
    },
}

#[derive(Clone)]
struct Run<'a> {
    homes: &'a Homes,
    labels: &'a Labels,
    machine: Caching<Recorded>,
    blocks: FastMap<u64, BlockId>,
    /// Segments that stand, by address, with their size and home.
    standing: BTreeMap<u64, (u64, Home)>,
    /// Pending blocks that came free since the last request: before anything went back, and after.
    late: [Vec<BlockId>; 2],
    start: Stats,
    n_allocs: u64,
    n_right: u64,
    n_frees: u64,
    n_unexplained: u64,
    n_ambiguous: u64,
    skips_completion: bool,
    sizes: Vec<u64>,
    /// Blocks of unsure size, by where the hole behind begins: address, and where the hole ends.
    unsure: FastMap<u64, (u64, u64)>,
    blamed: Option<Blame>,
}

impl<'a> Run<'a> {
    fn new(before: &Start, config: &Config, homes: &'a Homes, labels: &'a Labels) -> Self {
        let device = Recorded { most_reserved: before.most_reserved, ..Recorded::default() };
        let mut machine = Caching::new(config.clone(), device);
        let blocks = machine.restore(&before.parts).into_iter().collect();
        let plain = before.parts.iter().filter(|part| !part.is_expandable);
        let home = |address: u64| homes.at_start(address).unwrap_or(Home::Known(0));
        Self {
            homes,
            labels,
            start: machine.stats().clone(),
            machine,
            blocks,
            standing: plain.map(|part| (part.address, (part.size, home(part.address)))).collect(),
            late: [Vec::new(), Vec::new()],
            n_allocs: 0,
            n_right: 0,
            n_frees: 0,
            n_unexplained: before.n_unexplained,
            n_ambiguous: 0,
            skips_completion: false,
            sizes: Vec::new(),
            unsure: before.unsure.iter().map(|(hole, address, next)| (*hole, (*address, *next))).collect(),
            blamed: None,
        }
    }

    fn whole(
        snapshot: &Snapshot,
        device: usize,
        config: &Config,
        homes: &Homes,
        labels: &Labels,
        has_inferred: bool,
    ) -> Replay {
        let before = start(snapshot, device, config, homes, labels);
        let mut run = Run::new(&before, config, homes, labels);
        let events = snapshot.traces.get(device).map_or(&[][..], Vec::as_slice);
        for idx in 0..events.len() {
            run.event(events, idx);
        }
        run.finish(snapshot, device, before, has_inferred)
    }

    /// The first contradiction that something unknown may be to blame for.
    fn contradiction(
        snapshot: &Snapshot,
        device: usize,
        config: &Config,
        homes: &Homes,
        labels: &Labels,
    ) -> Option<Blame> {
        let before = start(snapshot, device, config, homes, labels);
        let mut run = Run::new(&before, config, homes, labels);
        let events = snapshot.traces.get(device).map_or(&[][..], Vec::as_slice);
        for idx in 0..events.len() {
            run.event(events, idx);
            if run.blamed.is_some() {
                return run.blamed;
            }
        }
        None
    }

    fn event(&mut self, events: &[Event], idx: usize) {
        let event = &events[idx];
        self.machine.device.at = idx;
        match event.action {
            Action::SegmentAlloc | Action::SegmentMap => {
                self.machine.device.queue.push_back((idx, *event));
                if let Some(home) = self.homes.of_given(idx) {
                    self.standing.insert(event.address, (event.size, home));
                }
            }
            Action::SegmentFree | Action::SegmentUnmap => {
                self.release_pool_of(event.address);
                self.machine.device.queue.push_back((idx, *event));
                if is_explicit(events, idx) {
                    self.machine.device.waited = std::mem::take(&mut self.late).concat();
                    self.machine.empty_cache();
                    self.expect_empty();
                }
                self.standing.remove(&event.address);
            }
            Action::Alloc => self.alloc(event, idx),
            Action::Oom => self.oom(event, idx),
            Action::FreeRequested => self.free(event, is_plain(events, idx)),
            Action::FreeCompleted if self.skips_completion => self.skips_completion = false,
            Action::FreeCompleted => self.completed(event),
            _ => {}
        }
    }

    /// Memory of a graph goes back only when the graph is gone.
    fn release_pool_of(&mut self, address: u64) {
        let pool = self.pool_at(address);
        if pool > 0 {
            self.machine.release_pool(pool);
        }
    }

    fn completed(&mut self, event: &Event) {
        let place = usize::from(self.machine.device.has_returns());
        match self.blocks.remove(&event.address) {
            Some(id) if self.machine.view(id).state == State::Pending => self.late[place].push(id),
            _ => self.n_unexplained += 1,
        }
    }

    /// The other streams' work is done; the next request takes the blocks back.
    fn settle(machine: &mut Caching<Recorded>, late: &[BlockId]) {
        for id in late {
            // A block that came free meanwhile is free.
            let _known = machine.event_done(*id).is_ok();
        }
    }

    fn alloc(&mut self, event: &Event, idx: usize) {
        self.n_allocs += 1;
        let pool = self.pool_at(event.address);
        let n_wrong = self.machine.device.n_wrong;
        match self.ask(pool, event, Some(event.address)) {
            Ok(Some(served)) => {
                if served.address == event.address {
                    self.n_right += 1;
                } else {
                    let what = || {
                        let (got, recorded) = (served.address, event.address);
                        Localized::both(
                            format!("预测 0x{got:x}，录下的是 0x{recorded:x}"),
                            format!("0x{got:x} is predicted, recorded is 0x{recorded:x}"),
                        )
                    };
                    self.machine.device.mismatch(idx, what);
                    self.blame_size(event, served.address);
                    self.blame(event.address, Some(served.address));
                }
                self.blocks.insert(event.address, served.id);
                self.sizes.push(served.size);
            }
            Ok(None) => self.sizes.push(0),
            Err(error) => {
                self.sizes.push(0);
                self.machine.device.mismatch(idx, || {
                    let recorded = event.address;
                    Localized::both(
                        format!("预测被拒，录下的是 0x{recorded:x}"),
                        format!("{error}; recorded is 0x{recorded:x}"),
                    )
                });
            }
        }
        self.expect_empty();
        if self.machine.device.n_wrong > n_wrong {
            self.blame(event.address, None);
        }
    }

    /// Of the two places, one whose home is not known is to blame, the later one of two.
    fn blame(&mut self, recorded: u64, predicted: Option<u64>) {
        let open = |address: u64| self.home_at(address).and_then(|home| self.labels.is_open(home));
        let groups = [Some(recorded), predicted].map(|address| address.and_then(open));
        let group = match groups {
            // One that was just turned is to blame again.
            [Some(a), Some(b)] => Some(self.labels.last.filter(|last| [a, b].contains(last)).unwrap_or(a.min(b))),
            [a, b] => a.or(b),
        };
        self.blamed = self.blamed.or(group.map(Blame::Group));
    }

    /// A request that went elsewhere did not find the hole that begins at `predicted`: the block before it is larger.
    fn blame_size(&mut self, event: &Event, predicted: u64) {
        let Some((address, next)) = self.unsure.get(&predicted).copied() else { return };
        let needs = self.machine.config().round(event.size);
        let Some(hole) = (next - predicted).checked_sub(needs) else { return };
        let more = hole + vramlab_alloc::caching::MIN_BLOCK;
        if more <= crate::start::LEAST_LARGE_REST && self.blocks.contains_key(&address) {
            self.blamed = self.blamed.or(Some(Blame::Size { address, size: predicted - address + more }));
        }
    }

    /// Everything that the device gave before a request was asked for by it.
    fn expect_empty(&mut self) {
        let device = &mut self.machine.device;
        for (at, event) in std::mem::take(&mut device.queue) {
            if Recorded::returns(&event) {
                device.suspect = device.suspect.or(Some(event.address));
            }
            device.mismatch(at, || {
                let (action, bytes) = (event.action, event.size);
                Localized::both(
                    format!("录下了 {action:?}（{bytes} 字节），没有预测到"),
                    format!("{action:?} of {bytes} bytes is recorded and was not predicted"),
                )
            });
        }
        if let Some(address) = device.suspect.take() {
            self.blame(address, None);
        }
    }

    fn free(&mut self, event: &Event, is_plain: bool) {
        let Some(id) = self.blocks.get(&event.address).copied() else {
            self.n_unexplained += 1;
            return;
        };
        self.n_frees += 1;
        let freed = if is_plain { self.machine.free(id) } else { self.machine.free_pending(id) };
        if freed.is_err() {
            self.n_unexplained += 1;
        }
        if is_plain {
            self.blocks.remove(&event.address);
            self.skips_completion = true;
        }
    }

    fn home_at(&self, address: u64) -> Option<Home> {
        let around = self.standing.range(..=address).next_back();
        let plain = around.filter(|(at, (size, _))| address - *at < *size).map(|(_, (_, home))| *home);
        plain.or_else(|| self.homes.reach(address).map(|(_, reach)| reach.home))
    }

    /// Events carry no pool: the segment around the address does.
    fn pool_at(&self, address: u64) -> u32 {
        self.home_at(address).map_or(0, |home| self.labels.pool(home))
    }

    /// Completions that no request has found yet.
    fn come_to_rest(&mut self) {
        let late = std::mem::take(&mut self.late);
        late.iter().for_each(|late| Self::settle(&mut self.machine, late));
        self.machine.settle();
    }

    fn finish(mut self, snapshot: &Snapshot, device: usize, before: Start, has_inferred: bool) -> Replay {
        self.come_to_rest();
        self.compare_blocks(snapshot, device);
        let blocks = self.machine.blocks();
        Replay {
            n_allocs: self.n_allocs,
            n_right: self.n_right,
            n_frees: self.n_frees,
            n_segments: self.machine.device.n_given,
            n_unexplained: self.n_unexplained,
            n_wrong: self.machine.device.n_wrong,
            n_ambiguous: self.n_ambiguous,
            n_inferred_pools: if has_inferred { self.labels.n_unnamed } else { 0 },
            stats: self.machine.stats().clone(),
            start: self.start,
            mismatches: std::mem::take(&mut self.machine.device.wrong),
            blocks,
            before,
            sizes: self.sizes,
        }
    }
}
