//! Everything about one device of a snapshot, made once.

use crate::alive::Alive;
use crate::fast::FastMap;
use crate::ground::Ground;
use crate::growth::{Growth, growth};
use crate::lives::{Life, lives};
use crate::model::{Action, Event, Snapshot, StackId};
use crate::oom::{Oom, Room, ooms, room};
use crate::replay::{Replay, config_of, replay};
use crate::roles::{Role, roles};
use crate::rules::Rule;
use crate::segments::{SegmentMap, Stays, at};
use crate::sites::Sites;
use crate::steps::{Steps, steps};
use crate::timeline::Timeline;
use vramlab_alloc::caching::Config;

/// What the reader may add to what the file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub rules: Vec<Rule>,
    /// All memory of the device; a snapshot does not say it.
    pub capacity: Option<u64>,
    /// The most that the process was allowed, bytes (`set_per_process_memory_fraction`); a snapshot does not say it either.
    pub limit: Option<u64>,
}

/// The moment that the answers are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Events done.
    pub at: usize,
    pub is_oom: bool,
}

#[derive(Clone, Debug)]
pub struct Analysis {
    pub device: usize,
    /// The settings that the recording was made with.
    pub config: Config,
    pub replay: Replay,
    pub lives: Vec<Life>,
    /// Which of them are there at a moment.
    pub alive: Alive,
    /// One a life.
    pub roles: Vec<Role>,
    /// Life of each alloc, by event.
    pub of_event: Vec<Option<u32>>,
    pub timeline: Timeline,
    pub sites: Sites,
    pub steps: Steps,
    pub growth: Growth,
    pub ooms: Vec<Oom>,
    /// What the allocator could have, where anything tells.
    pub room: Option<Room>,
    /// Events that give or take memory of the device.
    pub segment_events: Vec<u32>,
    /// Of each of these, whether what it gives stays to the end.
    pub stays: Stays,
    /// What the device had given, at some of them.
    pub ground: Ground,
    pub n_unknown_frees: u64,
    pub n_overwritten: u64,
}

impl Analysis {
    pub fn of(snapshot: &Snapshot, device: usize, options: &Options) -> Self {
        let config = config_of(snapshot).unwrap_or_default();
        let replay = replay(snapshot, device, &config);
        let lives = lives(snapshot, device, &replay);
        let sites = Sites::of(snapshot);
        let steps = steps(snapshot, device);
        let growth = growth(&steps, &lives.timeline, &lives.all, &sites);
        let mut this = Self {
            device,
            config,
            replay,
            roles: roles(snapshot, device, &lives.all, &steps, &options.rules),
            alive: Alive::of(&lives.all),
            lives: lives.all,
            of_event: lives.of_event,
            timeline: lives.timeline,
            sites,
            steps,
            growth,
            ooms: Vec::new(),
            room: None,
            segment_events: Vec::new(),
            stays: Stays::default(),
            ground: Ground::default(),
            n_unknown_frees: lives.n_unknown_frees,
            n_overwritten: lives.n_overwritten,
        };
        let gives = |event: &Event| {
            use Action::{SegmentAlloc, SegmentFree, SegmentMap, SegmentUnmap};
            matches!(event.action, SegmentAlloc | SegmentFree | SegmentMap | SegmentUnmap)
        };
        let events = this.events(snapshot);
        this.segment_events = (0..events.len() as u32).filter(|idx| gives(&events[*idx as usize])).collect();
        this.stays = Stays::of(events, &this.segment_events);
        this.ground = Ground::of(snapshot, &this);
        this.ooms = ooms(snapshot, &this, options);
        this.room = room(&this, options.limit);
        this
    }

    /// The first refusal, else the peak.
    pub fn moment(&self) -> Moment {
        match self.ooms.first() {
            Some(oom) => Moment { at: oom.event, is_oom: true },
            None => Moment { at: self.timeline.peak(), is_oom: false },
        }
    }

    /// Judges every role anew, by these rules first.
    pub fn apply_rules(&mut self, snapshot: &Snapshot, rules: &[Rule]) {
        self.roles = roles(snapshot, self.device, &self.lives, &self.steps, rules);
    }

    /// Judges the refusals anew: the process may hold this much, or nobody knows.
    pub fn set_limit(&mut self, snapshot: &Snapshot, limit: Option<u64>) {
        let options = Options { limit, ..Options::default() };
        self.ooms = ooms(snapshot, self, &options);
        self.room = room(self, limit);
    }

    /// Events of this device.
    pub fn events<'a>(&self, snapshot: &'a Snapshot) -> &'a [Event] {
        snapshot.traces.get(self.device).map_or(&[], Vec::as_slice)
    }

    /// Seconds from the first event to the last of `at`; 0 where no time was recorded.
    pub fn seconds(&self, snapshot: &Snapshot, at: usize) -> f64 {
        let events = self.events(snapshot);
        let time = |idx: usize| events.get(idx).map_or(0, |event| event.time_us);
        time(at.saturating_sub(1)).saturating_sub(time(0)) as f64 / 1e6
    }
}

/// A request that no cached block could serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Miss {
    /// The event of the request.
    pub event: usize,
    /// The request, rounded by the settings.
    pub bytes: u64,
    /// In holes of its pool and stream, all smaller than the request.
    pub too_small: u64,
    pub largest_hole: u64,
}

/// What the cache held at one moment, and of what use it was.
#[derive(Clone, Debug, PartialEq)]
pub struct Cache {
    /// How many events were done: at the first refusal, else when memory was last taken from the device.
    pub at: usize,
    pub is_oom: bool,
    pub map: SegmentMap,
    /// The request that was refused, or for which memory was taken last.
    pub miss: Option<Miss>,
}

/// The cache at the first refusal; where nothing was refused, when the last memory was taken from the device.
pub fn cache(snapshot: &Snapshot, analysis: &Analysis) -> Cache {
    let events = analysis.events(snapshot);
    if let Some(oom) = analysis.ooms.first() {
        let map = at(snapshot, analysis, oom.event);
        let (stream, bytes) = (events[oom.event].stream, oom.evidence.request);
        let (too_small, largest_hole) = map.too_small(stream, (0, 0), bytes);
        let miss = Some(Miss { event: oom.event, bytes, too_small, largest_hole });
        return Cache { at: oom.event, is_oom: true, map, miss };
    }
    let gives = |event: &Event| matches!(event.action, Action::SegmentAlloc | Action::SegmentMap);
    let last = analysis.segment_events.iter().rev().find(|idx| gives(&events[**idx as usize])).map(|idx| *idx as usize);
    let Some(last) = last else {
        let end = events.len();
        return Cache { at: end, is_oom: false, map: at(snapshot, analysis, end), miss: None };
    };
    // Several pieces may be mapped for one request: the cache before the first of them counts.
    let first = (0..=last).rev().take_while(|idx| gives(&events[*idx])).last().unwrap_or(last);
    let request = (last..events.len()).find(|idx| matches!(events[*idx].action, Action::Alloc | Action::Oom));
    let before = at(snapshot, analysis, first);
    let miss = request.map(|idx| {
        let event = &events[idx];
        let bytes = analysis.config.round(event.size);
        let around = at(snapshot, analysis, idx);
        let inside = |segment: &&crate::segments::SegmentAt| {
            (segment.address..segment.address.saturating_add(segment.size)).contains(&event.address)
        };
        let pool = around.segments.iter().find(inside).map_or((0, 0), |segment| segment.pool);
        let (too_small, largest_hole) = before.too_small(event.stream, pool, bytes);
        Miss { event: idx, bytes, too_small, largest_hole }
    });
    Cache { at: first, is_oom: false, map: before, miss }
}

/// Sizes of requests: how many of each, and how many bytes, by powers of two from 512 B.
pub fn histogram(analysis: &Analysis) -> Vec<(u64, u64, u64)> {
    let mut out: FastMap<u64, (u64, u64)> = FastMap::default();
    for life in &analysis.lives {
        let class = life.requested.max(512).next_power_of_two();
        let entry = out.entry(class).or_default();
        entry.0 += 1;
        entry.1 = entry.1.saturating_add(life.requested);
    }
    let mut out: Vec<(u64, u64, u64)> = out.into_iter().map(|(class, (n, bytes))| (class, n, bytes)).collect();
    out.sort_unstable();
    out
}

/// A node of an icicle: a frame below its caller, with what it and everything it called holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Index into [`Snapshot::frames`]; nothing for the root and for blocks without a stack.
    pub frame: Option<u32>,
    pub depth: u32,
    pub parent: u32,
    pub bytes: u64,
    pub n_blocks: u64,
}

/// The stacks of what was allocated after `at` events, outermost frame first. Node 0 is all of it.
pub fn icicle(snapshot: &Snapshot, analysis: &Analysis, at: usize) -> Vec<Node> {
    icicle_of(snapshot, analysis, at, &|_| true)
}

/// The same of those lives that pass.
pub fn icicle_of(snapshot: &Snapshot, analysis: &Analysis, at: usize, passes: &dyn Fn(u32) -> bool) -> Vec<Node> {
    let mut by_stack: FastMap<StackId, (u64, u64)> = FastMap::default();
    let lives = analysis.alive.at(&analysis.lives, at).filter(|idx| passes(*idx));
    for life in lives.map(|idx| &analysis.lives[idx as usize]).filter(|life| life.is_allocated(at)) {
        let entry = by_stack.entry(life.stack).or_default();
        entry.0 = entry.0.saturating_add(life.size);
        entry.1 += 1;
    }
    let mut stacks: Vec<(StackId, (u64, u64))> = by_stack.into_iter().collect();
    stacks.sort_unstable();
    let mut nodes = vec![Node { frame: None, depth: 0, parent: 0, bytes: 0, n_blocks: 0 }];
    let mut known: FastMap<(u32, u32), u32> = FastMap::default();
    for (stack, (bytes, n_blocks)) in stacks {
        let frames = analysis.sites.telling(snapshot, stack);
        let mut at = 0_u32;
        nodes[0].bytes = nodes[0].bytes.saturating_add(bytes);
        nodes[0].n_blocks += n_blocks;
        for frame in frames.iter().rev() {
            let next = nodes.len() as u32;
            let node = *known.entry((at, *frame)).or_insert(next);
            if node == next {
                let depth = nodes[at as usize].depth + 1;
                nodes.push(Node { frame: Some(*frame), depth, parent: at, bytes: 0, n_blocks: 0 });
            }
            nodes[node as usize].bytes = nodes[node as usize].bytes.saturating_add(bytes);
            nodes[node as usize].n_blocks += n_blocks;
            at = node;
        }
    }
    nodes
}
