//! Bytes by owner at every event of a step, as a figure draws them.

use crate::replay::{Figures, Start, figures};
use crate::run::Run;
use crate::tape::{Event, Item, Mark, Owner, Tape};

/// Whose bytes a band holds; what the allocator could not split off a block belongs to nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    Owner(Owner),
    /// Rests of blocks beyond the request, rounded to 512 bytes.
    Rest,
}

impl Holder {
    /// Every holder, in the order in which bands lie on each other.
    pub fn all() -> impl Iterator<Item = Self> {
        Owner::ALL.into_iter().map(Self::Owner).chain([Self::Rest])
    }

    pub fn id(self) -> &'static str {
        match self {
            Self::Owner(owner) => owner.id(),
            Self::Rest => "unsplit_rests",
        }
    }

    pub fn title(self) -> vramlab_units::Text {
        match self {
            Self::Owner(owner) => owner.title(),
            Self::Rest => vramlab_units::Text::new("分配器切不下来的余量", "Rests that the allocator cannot split off"),
        }
    }
}

/// One owner's bytes after each event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Band {
    pub holder: Holder,
    pub bytes: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Forward,
    Backward,
    Step,
    /// Gradients and loss go.
    Zero,
}

impl Part {
    pub fn title(self) -> vramlab_units::Text {
        match self {
            Self::Forward => vramlab_units::Text::new("前向", "Forward"),
            Self::Backward => vramlab_units::Text::new("反向", "Backward"),
            Self::Step => vramlab_units::Text::new("更新", "Step"),
            Self::Zero => vramlab_units::Text::new("清梯度", "Zero"),
        }
    }
}

/// A phase of the step: its events, from and until.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    pub part: Part,
    pub from: usize,
    pub until: usize,
}

/// The highest moment of the step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peak {
    /// The event after which it stands.
    pub at: usize,
    pub bytes: u64,
    pub part: Part,
    /// The request that makes it.
    pub item: Item,
    /// What is live then, largest first.
    pub largest: Vec<Item>,
}

/// A step, event by event. The bands add up to `allocated`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// For each point the request or free before it, as an index into the tape.
    pub events: Vec<usize>,
    pub bands: Vec<Band>,
    pub phases: Vec<Phase>,
    pub peak: Peak,
    /// `memory_allocated` without the base.
    pub allocated: Vec<u64>,
    /// `memory_reserved`, the base included.
    pub reserved: Vec<u64>,
    pub figures: Figures,
    pub after_model: u64,
}

const GRAIN: u64 = 512;
const N_LARGEST: usize = 12;

impl Timeline {
    /// The timeline of step `step` of a run: 0, the first, or 1, the steady state.
    pub fn new(run: &Run, start: Start, step: usize) -> Self {
        Self::of(&run.tape, start, step)
    }

    /// The same of a tape alone.
    pub fn of(tape: &Tape, start: Start, step: usize) -> Self {
        let mut allocated = vec![0; tape.events.len()];
        let mut reserved = allocated.clone();
        let (after_model, steps) = figures(tape, start, |idx, live, held| {
            (allocated[idx], reserved[idx]) = (live, held);
        });
        let starts = tape.events.iter().enumerate().filter(|(_, event)| **event == Event::Mark(Mark::StepStart));
        let from = starts.map(|(idx, _)| idx).nth(step).unwrap_or(0);
        let mut this = Self {
            events: Vec::new(),
            bands: Holder::all().map(|holder| Band { holder, bytes: Vec::new() }).collect(),
            phases: Vec::new(),
            peak: Peak { at: 0, bytes: 0, part: Part::Forward, item: NOTHING, largest: Vec::new() },
            allocated: Vec::new(),
            reserved: Vec::new(),
            figures: steps.get(step).copied().unwrap_or_default(),
            after_model,
        };
        this.fill(tape, from, &allocated, &reserved);
        this.find_peak(tape);
        this
    }

    fn fill(&mut self, tape: &Tape, from: usize, allocated: &[u64], reserved: &[u64]) {
        let mut held = [0_u64; Owner::ALL.len()];
        let mut part = Part::Forward;
        let mut phase_from = 0;
        for (idx, event) in tape.events.iter().enumerate() {
            match event {
                Event::Request(id) | Event::Free(id) => {
                    let item = &tape.items[*id as usize];
                    let size = item.bytes.next_multiple_of(GRAIN);
                    let of = &mut held[item.owner as usize];
                    *of = if matches!(event, Event::Request(_)) { *of + size } else { *of - size };
                }
                Event::Mark(mark) if idx >= from => {
                    let next = match mark {
                        Mark::AfterForward => Part::Backward,
                        Mark::AfterBackward => Part::Step,
                        Mark::AfterStep => Part::Zero,
                        Mark::StepEnd => {
                            self.phases.push(Phase { part, from: phase_from, until: self.events.len() });
                            return;
                        }
                        Mark::AfterModel | Mark::StepStart | Mark::EmptyCache => part,
                    };
                    if next != part {
                        self.phases.push(Phase { part, from: phase_from, until: self.events.len() });
                        (part, phase_from) = (next, self.events.len());
                    }
                    // The point before the first event: what the step starts with.
                    if *mark != Mark::StepStart {
                        continue;
                    }
                }
                Event::Mark(_) => continue,
            }
            if idx < from {
                continue;
            }
            self.events.push(idx);
            let sum: u64 = held.iter().sum();
            let bytes = held.iter().copied().chain([allocated[idx].saturating_sub(sum)]);
            for (band, bytes) in self.bands.iter_mut().zip(bytes) {
                band.bytes.push(bytes);
            }
            self.allocated.push(allocated[idx]);
            self.reserved.push(reserved[idx]);
        }
    }

    fn find_peak(&mut self, tape: &Tape) {
        let highest = self.allocated.iter().copied().max().unwrap_or(0);
        let at = self.allocated.iter().position(|bytes| *bytes == highest).unwrap_or(0);
        let part = self.phases.iter().find(|phase| (phase.from..phase.until).contains(&at));
        let tape_idx = self.events.get(at).copied().unwrap_or(0);
        let item = match tape.events.get(tape_idx) {
            Some(Event::Request(id) | Event::Free(id)) => tape.items[*id as usize],
            _ => NOTHING,
        };
        let mut largest = live_on(tape, tape_idx);
        largest.truncate(N_LARGEST);
        self.peak = Peak { at, bytes: highest, part: part.map_or(Part::Forward, |phase| phase.part), item, largest };
    }

    /// The bytes of each holder after event `at`.
    pub fn at(&self, at: usize) -> Vec<(Holder, u64)> {
        self.bands.iter().map(|band| (band.holder, band.bytes.get(at).copied().unwrap_or(0))).collect()
    }

    /// For `n` columns of a figure the event of each that is highest, so that no peak is lost.
    pub fn columns(&self, n: usize) -> Vec<usize> {
        let n_points = self.allocated.len();
        let n = n.min(n_points);
        let column = |idx: usize| (idx * n_points / n)..((idx + 1) * n_points / n);
        (0..n).filter_map(|idx| column(idx).max_by_key(|at| self.allocated[*at])).collect()
    }
}

const NOTHING: Item = Item { bytes: 0, owner: Owner::Temporary, layer: None, op: "" };

/// What is live after an event of the tape, largest first.
pub fn live_at(run: &Run, tape_idx: usize) -> Vec<Item> {
    live_on(&run.tape, tape_idx)
}

/// The same on a tape alone.
pub fn live_on(tape: &Tape, tape_idx: usize) -> Vec<Item> {
    let mut is_live = vec![false; tape.items.len()];
    for event in tape.events.iter().take(tape_idx + 1) {
        match event {
            Event::Request(id) => is_live[*id as usize] = true,
            Event::Free(id) => is_live[*id as usize] = false,
            Event::Mark(_) => {}
        }
    }
    let live = tape.items.iter().zip(is_live).filter(|(_, is_live)| *is_live);
    let mut out: Vec<Item> = live.map(|(item, _)| *item).collect();
    out.sort_by_key(|item| std::cmp::Reverse(item.bytes));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plan;
    use crate::run::record;

    fn first_given_case() -> Timeline {
        let run = record(&Plan::default()).unwrap();
        Timeline::new(&run, Start::default(), 1)
    }

    /// Phases follow each other without a gap, and their ends are the measured figures of the first given record.
    #[test]
    fn bands_add_up_to_what_was_measured() {
        let timeline = first_given_case();
        let sums: Vec<u64> =
            (0..timeline.allocated.len()).map(|at| timeline.at(at).iter().map(|(_, bytes)| bytes).sum()).collect();
        assert_eq!(sums, timeline.allocated);
        let ends: Vec<u64> = timeline.phases.iter().map(|phase| timeline.allocated[phase.until - 1]).collect();
        assert_eq!(ends[..3], [4_842_164_736, 2_627_004_928, 2_627_004_928]);
        assert!(timeline.phases.windows(2).all(|pair| pair[0].until == pair[1].from));
        assert_eq!(timeline.phases.last().unwrap().until, timeline.allocated.len());
    }

    /// With a vocabulary of 50 257 the peak is in the loss: three tensors of 4·N·V bytes.
    #[test]
    fn the_peak_names_what_makes_it() {
        let timeline = first_given_case();
        assert_eq!((timeline.peak.bytes, timeline.peak.part), (6_078_820_864, Part::Backward));
        assert_eq!((timeline.peak.item.op, timeline.peak.item.bytes), ("log_softmax", 823_410_688));
        let scores = timeline.peak.largest.iter().filter(|item| item.bytes == 823_410_688).count();
        assert_eq!(scores, 3);
    }

    #[test]
    fn columns_keep_the_peak() {
        let timeline = first_given_case();
        for n in [1, 7, 300, 1 << 20] {
            let columns = timeline.columns(n);
            assert_eq!(columns.len(), n.min(timeline.allocated.len()));
            assert!(columns.iter().any(|at| timeline.allocated[*at] == timeline.peak.bytes), "{n}");
            assert!(columns.is_sorted());
        }
    }
}
