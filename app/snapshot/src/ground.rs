//! What the device had given at any moment, from the last of some kept states: a moment costs the segments that are there,
//! and not those that ever were.

use crate::analysis::Analysis;
use crate::model::{Action, Segment, Snapshot};
use std::collections::BTreeMap;

/// Fewer events are walked through at once.
const LEAST_APART: usize = 256;

/// A segment, or a run of mapped pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub size: u64,
    pub stream: u32,
    pub is_small: bool,
    pub pool: (u64, u64),
    pub is_pool_known: bool,
    pub is_expandable: bool,
}

pub(crate) type Stretches = BTreeMap<u64, Stretch>;

/// States after some of [`Analysis::segment_events`]. They are as far apart as they are large.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ground {
    /// Number of segment events done, and what was there then.
    marks: Vec<(usize, Stretches)>,
}

impl Ground {
    pub fn of(snapshot: &Snapshot, analysis: &Analysis) -> Self {
        let mut all = before(snapshot, analysis);
        let mut marks = vec![(0, all.clone())];
        let mut n_since = 0;
        for place in 0..analysis.segment_events.len() {
            apply(&mut all, snapshot, analysis, place);
            n_since += 1;
            if n_since >= LEAST_APART.max(all.len()) {
                marks.push((place + 1, all.clone()));
                n_since = 0;
            }
        }
        Self { marks }
    }
}

/// What the device had given after `at` events, by address; touching runs of an expandable segment are one.
pub(crate) fn stretches(snapshot: &Snapshot, analysis: &Analysis, at: usize) -> Stretches {
    let n_done = analysis.segment_events.partition_point(|idx| (*idx as usize) < at);
    let marks = &analysis.ground.marks;
    let mark = marks.partition_point(|(done, _)| *done <= n_done).checked_sub(1).map(|idx| &marks[idx]);
    let (from, mut all) = mark.map_or_else(|| (0, before(snapshot, analysis)), |(done, all)| (*done, all.clone()));
    (from..n_done).for_each(|place| apply(&mut all, snapshot, analysis, place));
    join(all)
}

/// What stood before the first event.
fn before(snapshot: &Snapshot, analysis: &Analysis) -> Stretches {
    let before = &analysis.replay.before;
    let mut all = Stretches::new();
    for part in &before.parts {
        let pool = before.pools.get(part.private_pool as usize).copied().unwrap_or_default();
        let (size, stream, is_small, is_expandable) = (part.size, part.stream, part.is_small, part.is_expandable);
        // A part that goes back to the device in the window is only known by its going.
        let is_told = snapshot.event_pools.is_some();
        let is_pool_known = is_told || is_expandable || !analysis.stays.gone.contains_key(&part.address);
        all.insert(part.address, Stretch { size, stream, is_small, pool, is_pool_known, is_expandable });
    }
    all
}

/// One of the events that give or take memory.
fn apply(all: &mut Stretches, snapshot: &Snapshot, analysis: &Analysis, place: usize) {
    let idx = analysis.segment_events[place] as usize;
    let event = &analysis.events(snapshot)[idx];
    if !matches!(event.action, Action::SegmentAlloc | Action::SegmentMap) {
        cut(all, event.address, event.size);
        return;
    }
    let told = snapshot.event_pool(analysis.device, idx);
    let stays = analysis.stays.events.get(place).copied().unwrap_or(false);
    let known = segment_around(snapshot, analysis.device, event.address);
    let stretch = Stretch {
        size: event.size,
        stream: event.stream,
        is_small: known.map_or(event.size == crate::segments::SMALL_PAGE, |segment| segment.is_small),
        pool: told.unwrap_or(known.map_or((0, 0), |segment| segment.pool)),
        is_pool_known: told.is_some() || (known.is_some() && stays),
        is_expandable: event.action == Action::SegmentMap,
    };
    all.insert(event.address, stretch);
}

fn segment_around(snapshot: &Snapshot, device: usize, address: u64) -> Option<&Segment> {
    let inside = |segment: &&Segment| {
        segment.device as usize == device
            && (segment.address..segment.address.saturating_add(segment.size)).contains(&address)
    };
    // Segments come by address; a file that has them otherwise is searched to its end.
    let guess = snapshot.segments.partition_point(|segment| segment.address <= address).checked_sub(1);
    let guess = guess.and_then(|idx| snapshot.segments.get(idx)).filter(inside);
    guess.or_else(|| snapshot.segments.iter().find(inside))
}

/// Takes a stretch away; of a run, what lies around it stays.
fn cut(all: &mut Stretches, address: u64, size: u64) {
    let end = address.saturating_add(size);
    let touched: Vec<u64> = all
        .range(..end)
        .rev()
        .take_while(|(start, run)| start.saturating_add(run.size) > address || **start >= address)
        .map(|(start, _)| *start)
        .collect();
    for start in touched {
        let Some(run) = all.remove(&start) else { continue };
        let until = start.saturating_add(run.size);
        let Stretch { stream, is_small, pool, is_pool_known, is_expandable, .. } = run;
        let rest = |size| Stretch { size, stream, is_small, pool, is_pool_known, is_expandable };
        if until > end {
            all.insert(end, rest(until - end));
        }
        if start < address {
            all.insert(start, rest(address - start));
        }
    }
}

fn join(all: Stretches) -> Stretches {
    let mut out: Stretches = Stretches::new();
    for (address, stretch) in all {
        if stretch.is_expandable
            && let Some((start, last)) = out.iter_mut().next_back()
            && last.is_expandable
            && start.saturating_add(last.size) == address
            && (last.stream, last.is_small, last.pool) == (stretch.stream, stretch.is_small, stretch.pool)
        {
            last.size = last.size.saturating_add(stretch.size);
        } else {
            out.insert(address, stretch);
        }
    }
    out
}
