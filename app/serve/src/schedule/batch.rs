//! Static batching: the next requests in order form a batch, each with room for the longest of them; the batch ends when
//! its longest output does, and only then is anything returned.

use super::record::{Event, Record, Row};
use super::{Clock, Detail, MAX_STEPS, Outcome, Settings, Totals, by_arrival};
use crate::{Problem, Request};

struct Batch<'a> {
    requests: &'a [Request],
    settings: &'a Settings,
    detail: Detail,
    totals: Totals,
    record: Record,
    /// Sums for the means: output tokens, used blocks, tokens over slots.
    sums: [f64; 3],
    first: Vec<f64>,
    done: Vec<f64>,
}

pub(super) fn run(requests: &[Request], settings: &Settings, detail: Detail) -> Result<Outcome, Problem> {
    let order = by_arrival(requests);
    let none = vec![0.0; requests.len()];
    let mut batch = Batch {
        requests,
        settings,
        detail,
        totals: Totals::default(),
        record: Record::default(),
        sums: [0.0; 3],
        first: none.clone(),
        done: none,
    };
    let (mut at, mut arrived, mut now) = (0, 0, 0.0);
    while at < order.len() {
        let next = requests[order[at] as usize].arrival;
        if next > now {
            now = if settings.clock == Clock::Steps { next.ceil() } else { next };
        }
        while arrived < order.len() && requests[order[arrived] as usize].arrival <= now {
            batch.note(Event::Arrive { request: order[arrived] })?;
            arrived += 1;
        }
        let n = batch.members(&order[at..arrived]);
        batch.play(&order[at..at + n], (arrived - at - n) as u32, &mut now)?;
        at += n;
    }
    Ok(batch.outcome())
}

impl Batch<'_> {
    fn request(&self, request: u32) -> &Request {
        &self.requests[request as usize]
    }

    /// Blocks of one member when prompts and outputs are padded to the longest.
    fn reserve(&self, members: &[u32]) -> u32 {
        let longest = |of: fn(&Request) -> u32| members.iter().map(|one| of(self.request(*one))).max().unwrap_or(1);
        self.settings.blocks(longest(|one| one.prompt) + longest(|one| one.output) - 1)
    }

    /// How many of those who are here start together: as many as have seats and room.
    fn members(&self, here: &[u32]) -> usize {
        let most = here.len().min(self.settings.max_seqs as usize);
        let fits = |n: &usize| u64::from(self.reserve(&here[..*n])) * *n as u64 <= u64::from(self.settings.pool_blocks);
        // One alone always fits; padding grows with each, so the longest prefix that fits is sought from the front.
        (1..=most).take_while(fits).last().unwrap_or(1)
    }

    fn play(&mut self, members: &[u32], waiting: u32, now: &mut f64) -> Result<(), Problem> {
        let each = self.reserve(members).min(self.settings.pool_blocks);
        let used = each * members.len() as u32;
        let mut next = 0;
        for request in members {
            self.note(Event::Admit { request: *request })?;
            for _ in 0..each {
                self.note(Event::Take { request: *request, block: next })?;
                next += 1;
            }
        }
        let steps = members.iter().map(|one| self.request(*one).output).max().unwrap_or(0);
        for step in 1..=steps {
            if self.totals.steps == MAX_STEPS {
                let en = format!("the run takes more than {MAX_STEPS} steps");
                return Err(Problem::new("requests", format!("超过 {MAX_STEPS} 步"), en));
            }
            self.step(members, step, used, waiting, now)?;
        }
        for request in members {
            (self.first[*request as usize], self.done[*request as usize]) = (*now, *now);
            self.note(Event::Finish { request: *request })?;
        }
        for (place, request) in members.iter().enumerate().rev() {
            for block in (place as u32 * each..(place as u32 + 1) * each).rev() {
                self.note(Event::Give { request: *request, block })?;
            }
        }
        if let Some(row) = self.record.rows.last_mut() {
            row.n_events = self.record.events.len();
        }
        Ok(())
    }

    /// All prompts at once in the first step, then a token each, whoever has ended included.
    fn step(&mut self, members: &[u32], step: u32, used: u32, waiting: u32, now: &mut f64) -> Result<(), Problem> {
        let longest = members.iter().map(|one| self.request(*one).prompt).max().unwrap_or(1);
        let n = members.len() as u32;
        let mut row = Row { start: *now, running: n, waiting, used_blocks: used, ..Row::default() };
        let tokens = if step == 1 { longest * n } else { n };
        let context = f64::from(longest + step - 1) * f64::from(n);
        *now += match &self.settings.clock {
            Clock::Steps => 1.0,
            Clock::Seconds(time) => time.seconds(tokens.into(), context, 0.0),
        };
        for request in members {
            let one = *self.request(*request);
            row.cached_tokens += u64::from(one.prompt + step.min(one.output) - 1);
            if step <= one.output {
                let tokens = if step == 1 { one.prompt } else { 1 };
                self.note(Event::Compute { request: *request, tokens })?;
                self.note(Event::Emit { request: *request })?;
                self.sums[0] += 1.0;
            }
        }
        row.end = *now;
        (row.prefill_tokens, row.decode_tokens) = if step == 1 { (tokens, 0) } else { (0, tokens) };
        self.totals.prefill_tokens += u64::from(row.prefill_tokens);
        self.totals.decode_tokens += u64::from(row.decode_tokens);
        self.sum_up(&row);
        if self.detail != Detail::Summary {
            row.n_events = self.record.events.len();
            self.record.rows.push(row);
        }
        Ok(())
    }

    fn sum_up(&mut self, row: &Row) {
        self.totals.steps += 1;
        self.totals.peak_blocks = self.totals.peak_blocks.max(row.used_blocks);
        self.totals.peak_running = self.totals.peak_running.max(row.running);
        self.sums[1] += f64::from(row.used_blocks);
        let slots = f64::from(row.used_blocks) * f64::from(self.settings.block_tokens);
        self.sums[2] += row.cached_tokens as f64 / slots.max(1.0);
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
