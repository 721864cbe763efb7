//! Continuous batching, step by step.

use super::cache::Cache;
use super::record::{Event, Record, Row};
use super::waiting::{Waiting, key, places};
use super::{Clock, Detail, MAX_STEPS, Outcome, Policy, Preempt, Settings, Totals, by_arrival};
use crate::{Problem, Request};
use std::collections::VecDeque;

/// What is known of one request while it lives.
#[derive(Clone, Debug, Default)]
struct Job {
    /// Prompt and emitted tokens.
    known: u32,
    computed: u32,
    emitted: u32,
    held: u32,
    /// Tokens of this step.
    now: u32,
    /// Blocks that it holds on the host.
    on_host: u32,
    /// Which ones; only where events are kept or prefixes are recognised.
    blocks: Vec<u32>,
}

struct Engine<'a> {
    requests: &'a [Request],
    settings: &'a Settings,
    places: Vec<u32>,
    jobs: Vec<Job>,
    running: Vec<u32>,
    waiting: Waiting,
    n_free: u32,
    /// Numbers of the free blocks; only where events are kept.
    free: VecDeque<u32>,
    /// Where prefixes are recognised; it then has the free blocks.
    cache: Option<Cache>,
    /// Known blocks of the request that is looked at.
    hits: Vec<u32>,
    host_free: u32,
    detail: Detail,
    totals: Totals,
    record: Record,
    row: Row,
    /// Tokens that crossed to the host or back in this step.
    swapped: u32,
    /// Sums for the means: output tokens, used blocks, tokens over slots.
    sums: [f64; 3],
    first: Vec<f64>,
    done: Vec<f64>,
}

pub(super) fn run(requests: &[Request], settings: &Settings, detail: Detail) -> Result<Outcome, Problem> {
    let order = by_arrival(requests);
    let jobs = requests.iter().map(|request| Job { known: request.prompt, ..Job::default() }).collect();
    let has_queue = detail == Detail::Events && !settings.prefix;
    let free = if has_queue { (0..settings.pool_blocks).collect() } else { VecDeque::new() };
    let mut engine = Engine {
        requests,
        settings,
        places: places(&order),
        jobs,
        running: Vec::new(),
        waiting: Waiting::new(settings.policy),
        n_free: settings.pool_blocks,
        free,
        cache: settings.prefix.then(|| Cache::new(settings.block_tokens, settings.pool_blocks)),
        hits: Vec::new(),
        host_free: if let Preempt::Swap { host_blocks } = settings.preempt { host_blocks } else { 0 },
        detail,
        totals: Totals::default(),
        record: Record::default(),
        row: Row::default(),
        swapped: 0,
        sums: [0.0; 3],
        first: vec![0.0; requests.len()],
        done: vec![0.0; requests.len()],
    };
    engine.all(&order)?;
    Ok(engine.outcome())
}

impl Engine<'_> {
    fn all(&mut self, order: &[u32]) -> Result<(), Problem> {
        let mut ahead = order.iter().copied().peekable();
        let mut now = 0.0;
        loop {
            while let Some(request) = ahead.next_if(|one| self.requests[*one as usize].arrival <= now) {
                self.waiting.push_back(request, key(self.requests, &self.places, request));
                self.note(Event::Arrive { request })?;
            }
            if self.running.is_empty() && self.waiting.len() == 0 {
                let Some(next) = ahead.peek() else { return Ok(()) };
                // Nobody is there: jump to the next arrival. Steps have whole numbers.
                let arrival = self.requests[*next as usize].arrival;
                now = if self.settings.clock == Clock::Steps { arrival.ceil() } else { arrival };
                continue;
            }
            if self.totals.steps == MAX_STEPS {
                let en = format!("the run takes more than {MAX_STEPS} steps");
                return Err(Problem::new("requests", format!("超过 {MAX_STEPS} 步"), en));
            }
            self.step(&mut now)?;
        }
    }

    fn step(&mut self, now: &mut f64) -> Result<(), Problem> {
        self.row = Row { start: *now, ..Row::default() };
        self.swapped = 0;
        let mut budget = self.settings.token_budget;
        let is_calm = self.walk(&mut budget)?;
        if is_calm {
            self.admit(&mut budget)?;
        }
        let context = self.context();
        let tokens = self.settings.token_budget - budget;
        *now += match &self.settings.clock {
            Clock::Steps => 1.0,
            Clock::Seconds(time) => time.seconds(tokens.into(), context as f64, self.swapped.into()),
        };
        self.row.end = *now;
        self.sum_up();
        self.compute(*now)?;
        if self.detail != Detail::Summary {
            self.row.n_events = self.record.events.len();
            self.record.rows.push(self.row);
        }
        Ok(())
    }

    /// Gives the running their tokens and blocks; false after a preemption.
    fn walk(&mut self, budget: &mut u32) -> Result<bool, Problem> {
        let mut at = 0;
        let mut is_calm = true;
        while at < self.running.len() && *budget > 0 {
            let request = self.running[at];
            let (n, need) = self.wants(request, *budget, 0);
            while need > self.n_free {
                is_calm = false;
                let place = self.victim();
                let victim = self.running.remove(place);
                *budget += self.preempt(victim)?;
                if victim == request {
                    return Ok(false);
                }
                if place < at {
                    at -= 1;
                }
            }
            self.grant(request, n, need, budget)?;
            at += 1;
        }
        Ok(is_calm)
    }

    fn admit(&mut self, budget: &mut u32) -> Result<(), Problem> {
        while self.running.len() < self.settings.max_seqs as usize && *budget > 0 {
            let Some(request) = self.waiting.front() else { break };
            let n_idle = self.look_up(request);
            let (n, need) = self.wants(request, *budget, self.hits.len() as u32);
            if need + n_idle > self.n_free {
                break;
            }
            self.waiting.take(request, key(self.requests, &self.places, request), true);
            self.running.push(request);
            let job = &mut self.jobs[request as usize];
            if job.on_host > 0 {
                self.host_free += std::mem::take(&mut job.on_host);
                self.swapped += job.computed;
            }
            self.note(Event::Admit { request })?;
            self.reuse(request)?;
            self.grant(request, n, need, budget)?;
        }
        Ok(())
    }

    /// Tokens that a request gets from this budget, and blocks that it lacks for them beside `n_hits` that it finds.
    fn wants(&self, request: u32, budget: u32, n_hits: u32) -> (u32, u32) {
        let job = &self.jobs[request as usize];
        let computed = job.computed + n_hits * self.settings.block_tokens;
        let n = (job.known - computed).min(budget);
        (n, self.settings.blocks(computed + n) - job.held - n_hits)
    }

    /// The blocks that a waiting request finds; how many of them leave the free queue.
    fn look_up(&mut self, request: u32) -> u32 {
        self.hits.clear();
        let job = &self.jobs[request as usize];
        let Some(cache) = self.cache.as_ref().filter(|_| job.computed == 0) else { return 0 };
        cache.lookup(&self.requests[request as usize], request, job.known, &mut self.hits);
        cache.n_idle(&self.hits)
    }

    /// An admitted request takes the blocks that were found; their tokens are not computed.
    fn reuse(&mut self, request: u32) -> Result<(), Problem> {
        let Some(cache) = self.cache.as_mut().filter(|_| !self.hits.is_empty()) else { return Ok(()) };
        let hits = std::mem::take(&mut self.hits);
        for block in &hits {
            cache.hold(*block);
        }
        self.n_free = cache.n_free();
        let tokens = hits.len() as u32 * self.settings.block_tokens;
        let job = &mut self.jobs[request as usize];
        (job.computed, job.held) = (tokens, hits.len() as u32);
        job.blocks.extend(&hits);
        self.totals.hit_tokens += u64::from(tokens);
        self.row.hit_tokens += tokens;
        if self.detail == Detail::Events {
            for block in &hits {
                self.note(Event::Take { request, block: *block })?;
            }
            self.note(Event::Hit { request, tokens })?;
        }
        Ok(())
    }

    fn grant(&mut self, request: u32, n: u32, need: u32, budget: &mut u32) -> Result<(), Problem> {
        self.n_free -= need;
        let job = &mut self.jobs[request as usize];
        job.held += need;
        job.now = n;
        *budget -= n;
        if self.cache.is_some() {
            return self.grant_cached(request, need);
        }
        if self.detail == Detail::Events {
            for _ in 0..need {
                if let Some(block) = self.free.pop_front() {
                    self.jobs[request as usize].blocks.push(block);
                    self.note(Event::Take { request, block })?;
                }
            }
        }
        Ok(())
    }

    /// Blocks off the queue, which lose what they held; those that this step fills get their key.
    fn grant_cached(&mut self, request: u32, need: u32) -> Result<(), Problem> {
        for _ in 0..need {
            let Some((block, is_evicted)) = self.cache.as_mut().and_then(Cache::pop) else { break };
            if is_evicted {
                self.totals.evictions += 1;
                self.note(Event::Evict { block })?;
            }
            self.jobs[request as usize].blocks.push(block);
            self.note(Event::Take { request, block })?;
        }
        let size = self.settings.block_tokens;
        let job = &self.jobs[request as usize];
        // What comes back from the host has no keys yet.
        let (from, to) = (if job.held == need { 0 } else { job.computed / size }, (job.computed + job.now) / size);
        for idx in from..to {
            let block = self.jobs[request as usize].blocks[idx as usize];
            let Some(cache) = self.cache.as_mut() else { break };
            let key = cache.key(&self.requests[request as usize], request, idx);
            if cache.name(block, key) {
                self.note(Event::Cache { block })?;
            }
        }
        Ok(())
    }

    /// What was planned for this step will not be computed: blocks that it would have filled hold nothing.
    fn unplan(&mut self, request: u32) -> Result<u32, Problem> {
        let size = self.settings.block_tokens;
        let job = &mut self.jobs[request as usize];
        let planned = std::mem::take(&mut job.now);
        for idx in job.computed / size..(job.computed + planned) / size {
            let block = self.jobs[request as usize].blocks.get(idx as usize).copied();
            if let (Some(cache), Some(block)) = (self.cache.as_mut(), block)
                && cache.forget(block)
            {
                self.note(Event::Evict { block })?;
            }
        }
        Ok(planned)
    }

    /// Where the one stands that gives way: the last, or the one that goes last by its priority.
    fn victim(&self) -> usize {
        let last = self.running.len() - 1;
        if self.settings.policy == Policy::Fcfs {
            return last;
        }
        let key = |place: &usize| key(self.requests, &self.places, self.running[*place]);
        (0..=last).max_by_key(key).unwrap_or(last)
    }

    /// Tokens that were planned for it in this step come back.
    fn preempt(&mut self, request: u32) -> Result<u32, Problem> {
        let planned = self.unplan(request)?;
        self.totals.preemptions += 1;
        self.row.preempted += 1;
        let is_swap = matches!(self.settings.preempt, Preempt::Swap { .. });
        let job = &mut self.jobs[request as usize];
        let lost = if is_swap && job.held <= self.host_free {
            self.host_free -= job.held;
            job.on_host = job.held;
            self.swapped += job.computed;
            self.totals.swapped_tokens += u64::from(job.computed);
            0
        } else {
            self.totals.discarded_tokens += u64::from(job.computed);
            std::mem::take(&mut job.computed)
        };
        self.waiting.push_front(request, key(self.requests, &self.places, request));
        self.note(Event::Preempt { request, lost })?;
        self.give_all(request)?;
        Ok(planned)
    }

    fn give_all(&mut self, request: u32) -> Result<(), Problem> {
        let job = &mut self.jobs[request as usize];
        self.n_free += std::mem::take(&mut job.held);
        while let Some(block) = self.jobs[request as usize].blocks.pop() {
            match &mut self.cache {
                Some(cache) => cache.give(block),
                None => self.free.push_back(block),
            }
            self.note(Event::Give { request, block })?;
        }
        if let Some(cache) = &self.cache {
            self.n_free = cache.n_free();
        }
        Ok(())
    }

    /// Tokens whose keys and values this step reads.
    fn context(&self) -> u64 {
        let of = |request: &u32| {
            let job = &self.jobs[*request as usize];
            if job.now > 0 { u64::from(job.computed + job.now) } else { 0 }
        };
        self.running.iter().map(of).sum()
    }

    fn sum_up(&mut self) {
        let used = self.settings.pool_blocks - self.n_free;
        let jobs = || self.running.iter().map(|one| &self.jobs[*one as usize]);
        // A block that several hold is full, and counts once.
        let n_twice = jobs().map(|job| u64::from(job.held)).sum::<u64>() - u64::from(used);
        let tokens: u64 = jobs().map(|job| u64::from(job.computed + job.now)).sum();
        let cached = tokens - n_twice * u64::from(self.settings.block_tokens);
        self.totals.steps += 1;
        self.totals.peak_blocks = self.totals.peak_blocks.max(used);
        self.totals.peak_running = self.totals.peak_running.max(self.running.len() as u32);
        self.sums[1] += f64::from(used);
        let slots = u64::from(used) * u64::from(self.settings.block_tokens);
        self.sums[2] += if slots > 0 { cached as f64 / slots as f64 } else { 0.0 };
        (self.row.used_blocks, self.row.cached_tokens) = (used, cached);
        (self.row.running, self.row.waiting) = (self.running.len() as u32, self.waiting.len() as u32);
    }

    /// The tokens of the step are computed; whoever knows all emits one.
    fn compute(&mut self, now: f64) -> Result<(), Problem> {
        let mut n_done = 0;
        for place in 0..self.running.len() {
            let request = self.running[place];
            let job = &mut self.jobs[request as usize];
            let tokens = std::mem::take(&mut job.now);
            if tokens == 0 {
                continue;
            }
            let is_decode = job.emitted > 0 && tokens == 1 && job.computed + 1 == job.known;
            job.computed += tokens;
            let emits = job.computed == job.known;
            if is_decode {
                self.row.decode_tokens += 1;
                self.totals.decode_tokens += 1;
            } else {
                self.row.prefill_tokens += tokens;
                self.totals.prefill_tokens += u64::from(tokens);
            }
            if emits {
                job.emitted += 1;
                job.known += 1;
                self.sums[0] += 1.0;
                if job.emitted == 1 {
                    self.first[request as usize] = now;
                }
            }
            let is_done = emits && job.emitted == self.requests[request as usize].output;
            if self.detail == Detail::Events {
                self.note(Event::Compute { request, tokens })?;
                if emits {
                    self.note(Event::Emit { request })?;
                }
            }
            if is_done {
                n_done += 1;
                self.done[request as usize] = now;
            }
        }
        if n_done > 0 { self.retire() } else { Ok(()) }
    }

    fn retire(&mut self) -> Result<(), Problem> {
        let (done, still): (Vec<u32>, Vec<u32>) = self
            .running
            .iter()
            .partition(|one| self.jobs[**one as usize].emitted == self.requests[**one as usize].output);
        self.running = still;
        for request in done {
            self.note(Event::Finish { request })?;
            self.give_all(request)?;
        }
        Ok(())
    }

    fn note(&mut self, event: Event) -> Result<(), Problem> {
        if self.detail == Detail::Events { self.record.push(event) } else { Ok(()) }
    }

    fn outcome(mut self) -> Outcome {
        let steps = self.totals.steps.max(1) as f64;
        self.totals.slot_use = self.sums[0] / (steps * f64::from(self.settings.max_seqs));
        self.totals.block_use = self.sums[1] / (steps * f64::from(self.settings.pool_blocks));
        self.totals.fill = self.sums[2] / steps;
        Outcome { totals: self.totals, first: self.first, done: self.done, record: self.record }
    }
}
