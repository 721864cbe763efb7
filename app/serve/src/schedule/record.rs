//! A run as data: a row for each step, every change as an event, and a cursor that goes through them in both directions.

use super::waiting::{Waiting, key, places};
use super::{Policy, by_arrival};
use crate::{Problem, Request};

/// Most events of a kept run: some 100 MB.
pub const MAX_EVENTS: usize = 8_000_000;

/// One change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Arrive {
        request: u32,
    },
    Admit {
        request: u32,
    },
    Take {
        request: u32,
        block: u32,
    },
    /// The last block of the request's table.
    Give {
        request: u32,
        block: u32,
    },
    Compute {
        request: u32,
        tokens: u32,
    },
    Emit {
        request: u32,
    },
    /// `lost` tokens of cache are gone; 0 where they went to the host.
    Preempt {
        request: u32,
        lost: u32,
    },
    Finish {
        request: u32,
    },
    /// `tokens` of the blocks that were just taken are known already.
    Hit {
        request: u32,
        tokens: u32,
    },
    /// A full block can be found by what it holds.
    Cache {
        block: u32,
    },
    /// What a block held is gone.
    Evict {
        block: u32,
    },
}

/// One step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Row {
    pub start: f64,
    pub end: f64,
    pub prefill_tokens: u32,
    pub decode_tokens: u32,
    /// Tokens that were found in the cache.
    pub hit_tokens: u32,
    pub running: u32,
    pub waiting: u32,
    pub preempted: u32,
    pub used_blocks: u32,
    /// Tokens in the cache at the end of the step, before the ended give theirs back.
    pub cached_tokens: u64,
    /// Events up to and with this step.
    pub n_events: usize,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    pub rows: Vec<Row>,
    pub events: Vec<Event>,
}

impl Record {
    pub(crate) fn push(&mut self, event: Event) -> Result<(), Problem> {
        if self.events.len() == MAX_EVENTS {
            let en = format!("the run has more than {MAX_EVENTS} changes; ask for its summary, or for fewer requests");
            return Err(Problem::new("requests", format!("改动超过 {MAX_EVENTS} 次；只要汇总，或减少请求"), en));
        }
        self.events.push(event);
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Phase {
    /// Not arrived.
    #[default]
    Ahead,
    Waiting,
    /// Waiting again after a preemption.
    Preempted,
    Running,
    Done,
}

/// Everything at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub phases: Vec<Phase>,
    pub computed: Vec<u32>,
    pub emitted: Vec<u32>,
    pub tables: Vec<Vec<u32>>,
    /// Whose each block is; of a shared one, the first of its holders.
    pub owners: Vec<Option<u32>>,
    /// How many hold each block.
    pub holders: Vec<u32>,
    /// Whether a block's content can be found, held or free.
    pub cached: Vec<bool>,
    /// In the order of admission.
    pub running: Vec<u32>,
    waiting: Waiting,
    /// Times each request was preempted.
    pub preemptions: Vec<u32>,
    /// Places in `running` that were left, and lost tokens, for the way back.
    left: Vec<u32>,
    /// Owners of shared blocks before one of their holders gave them back.
    owned: Vec<Option<u32>>,
}

impl State {
    pub fn waiting(&self) -> Vec<u32> {
        self.waiting.iter().collect()
    }
}

/// Walks a record. Positions count events; [`Cursor::seek_step`] counts steps.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    requests: &'a [Request],
    record: &'a Record,
    places: Vec<u32>,
    at: usize,
    state: State,
}

impl<'a> Cursor<'a> {
    /// Before the first event of a run of `requests` with `pool_blocks` blocks.
    pub fn new(requests: &'a [Request], policy: Policy, pool_blocks: u32, record: &'a Record) -> Self {
        let n = requests.len();
        let state = State {
            phases: vec![Phase::Ahead; n],
            computed: vec![0; n],
            emitted: vec![0; n],
            tables: vec![Vec::new(); n],
            owners: vec![None; pool_blocks as usize],
            holders: vec![0; pool_blocks as usize],
            cached: vec![false; pool_blocks as usize],
            running: Vec::new(),
            waiting: Waiting::new(policy),
            preemptions: vec![0; n],
            left: Vec::new(),
            owned: Vec::new(),
        };
        Self { requests, record, places: places(&by_arrival(requests)), at: 0, state }
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    /// The state at the end of step `step`, from one; 0 is before the first.
    pub fn seek_step(&mut self, step: usize) -> &State {
        let last = self.record.rows.len().saturating_sub(1);
        let row = step.checked_sub(1).and_then(|idx| self.record.rows.get(idx.min(last)));
        self.seek(row.map_or(0, |row| row.n_events))
    }

    pub fn seek(&mut self, at: usize) -> &State {
        let at = at.min(self.record.events.len());
        while self.at < at {
            self.play(self.record.events[self.at]);
            self.at += 1;
        }
        while self.at > at {
            self.at -= 1;
            self.undo(self.record.events[self.at]);
        }
        &self.state
    }

    fn key(&self, request: u32) -> (i32, u32) {
        key(self.requests, &self.places, request)
    }

    fn play(&mut self, event: Event) {
        match event {
            Event::Arrive { request } => {
                let key = self.key(request);
                self.state.waiting.push_back(request, key);
                self.state.phases[request as usize] = Phase::Waiting;
            }
            Event::Admit { request } => {
                let key = self.key(request);
                self.state.waiting.take(request, key, true);
                self.state.running.push(request);
                self.state.phases[request as usize] = Phase::Running;
            }
            Event::Take { request, block } => self.take(request, block),
            Event::Give { request, block } => self.give(request, block),
            Event::Compute { request, tokens } => self.state.computed[request as usize] += tokens,
            Event::Emit { request } => self.state.emitted[request as usize] += 1,
            Event::Preempt { request, lost } => {
                self.leave(request);
                let key = self.key(request);
                self.state.waiting.push_front(request, key);
                self.state.phases[request as usize] = Phase::Preempted;
                self.state.computed[request as usize] -= lost;
                self.state.preemptions[request as usize] += 1;
            }
            Event::Finish { request } => {
                self.leave(request);
                self.state.phases[request as usize] = Phase::Done;
            }
            Event::Hit { request, tokens } => self.state.computed[request as usize] += tokens,
            Event::Cache { block } => self.state.cached[block as usize] = true,
            Event::Evict { block } => self.state.cached[block as usize] = false,
        }
    }

    fn undo(&mut self, event: Event) {
        match event {
            Event::Arrive { request } => {
                let key = self.key(request);
                self.state.waiting.take(request, key, false);
                self.state.phases[request as usize] = Phase::Ahead;
            }
            Event::Admit { request } => {
                let key = self.key(request);
                self.state.running.pop();
                self.state.waiting.push_front(request, key);
                let again = self.state.preemptions[request as usize] > 0;
                self.state.phases[request as usize] = if again { Phase::Preempted } else { Phase::Waiting };
            }
            Event::Take { request, block } => self.untake(request, block),
            Event::Give { request, block } => self.ungive(request, block),
            Event::Compute { request, tokens } => self.state.computed[request as usize] -= tokens,
            Event::Emit { request } => self.state.emitted[request as usize] -= 1,
            Event::Preempt { request, lost } => {
                let key = self.key(request);
                self.state.waiting.take(request, key, true);
                self.come_back(request);
                self.state.computed[request as usize] += lost;
                self.state.preemptions[request as usize] -= 1;
            }
            Event::Finish { request } => self.come_back(request),
            Event::Hit { request, tokens } => self.state.computed[request as usize] -= tokens,
            Event::Cache { block } => self.state.cached[block as usize] = false,
            Event::Evict { block } => self.state.cached[block as usize] = true,
        }
    }

    fn take(&mut self, request: u32, block: u32) {
        let State { tables, owners, holders, .. } = &mut self.state;
        tables[request as usize].push(block);
        holders[block as usize] += 1;
        if holders[block as usize] == 1 {
            owners[block as usize] = Some(request);
        }
    }

    fn untake(&mut self, request: u32, block: u32) {
        let State { tables, owners, holders, .. } = &mut self.state;
        tables[request as usize].pop();
        holders[block as usize] -= 1;
        if holders[block as usize] == 0 {
            owners[block as usize] = None;
        }
    }

    fn give(&mut self, request: u32, block: u32) {
        let State { tables, owners, holders, owned, running, .. } = &mut self.state;
        tables[request as usize].pop();
        holders[block as usize] -= 1;
        let owner = &mut owners[block as usize];
        if holders[block as usize] == 0 {
            *owner = None;
            return;
        }
        owned.push(*owner);
        if *owner == Some(request) {
            *owner = running.iter().copied().find(|one| tables[*one as usize].contains(&block));
        }
    }

    fn ungive(&mut self, request: u32, block: u32) {
        let State { tables, owners, holders, owned, .. } = &mut self.state;
        tables[request as usize].push(block);
        owners[block as usize] =
            if holders[block as usize] == 0 { Some(request) } else { owned.pop().unwrap_or_default() };
        holders[block as usize] += 1;
    }

    fn leave(&mut self, request: u32) {
        if let Some(place) = self.state.running.iter().position(|one| *one == request) {
            self.state.running.remove(place);
            self.state.left.push(place as u32);
        }
    }

    fn come_back(&mut self, request: u32) {
        if let Some(place) = self.state.left.pop() {
            self.state.running.insert(place as usize, request);
        }
        self.state.phases[request as usize] = Phase::Running;
    }
}
