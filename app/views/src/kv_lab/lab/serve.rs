//! The scheduler of `vramlab-serve` at one step: blocks, tables, and why it admitted, refused or preempted.

use super::frame::{Frame, Fresh, Moment, Phase, Table, Tone, Why};
use vramlab_serve::schedule::record::{self, Cursor, Event};
use vramlab_serve::schedule::{Detail, Outcome, Settings, continuous};
use vramlab_serve::{Problem, Request};

/// A stream that was played.
pub struct Serve {
    settings: Settings,
    /// Those that can ever fit.
    requests: Vec<Request>,
    /// The number of each in the stream, from one.
    numbers: Vec<u32>,
    /// Those that never fit: number, request, blocks needed.
    refused: Vec<(u32, Request, u32)>,
    outcome: Outcome,
}

/// What a step did, and what it found when it began.
struct Look<'a> {
    serve: &'a Serve,
    row: record::Row,
    events: &'a [Event],
    /// After those who run have their tokens and the new ones are in, before anything is computed.
    planned: record::State,
}

impl Serve {
    pub fn new(stream: &[Request], settings: Settings) -> Result<Self, Problem> {
        let (mut requests, mut numbers, mut refused) = (Vec::new(), Vec::new(), Vec::new());
        for (idx, request) in stream.iter().enumerate() {
            let need = request.kv_tokens().div_ceil(settings.block_tokens.max(1));
            if need > settings.pool_blocks {
                refused.push((idx as u32 + 1, *request, need));
            } else {
                requests.push(*request);
                numbers.push(idx as u32 + 1);
            }
        }
        let outcome = continuous(&requests, &settings, Detail::Events)?;
        Ok(Self { settings, requests, numbers, refused, outcome })
    }

    pub fn n_steps(&self) -> usize {
        self.outcome.record.rows.len()
    }

    #[cfg(test)]
    pub fn n_refused(&self) -> usize {
        self.refused.len()
    }

    fn name(&self, request: u32) -> String {
        format!("R{}", self.numbers[request as usize])
    }

    /// Used blocks, those who wait, and whether one gave way, step by step.
    pub fn history(&self) -> Vec<Moment> {
        let of = |row: &record::Row| Moment {
            used: row.used_blocks,
            running: row.running,
            waiting: row.waiting,
            is_preempted: row.preempted > 0,
        };
        self.outcome.record.rows.iter().map(of).collect()
    }

    /// The state at the end of a step, from one.
    pub fn frame(&self, step: usize) -> Frame {
        let Settings { block_tokens, pool_blocks, policy, .. } = self.settings;
        let rows = &self.outcome.record.rows;
        let mut frame = Frame::new(block_tokens, pool_blocks);
        let Some(row) = step.checked_sub(1).and_then(|idx| rows.get(idx)) else {
            frame.queue = (0..pool_blocks).collect();
            frame.whys = self.refusals(-1.0, f64::INFINITY);
            return frame.counted();
        };
        let from = if step > 1 { rows[step - 2].n_events } else { 0 };
        let events = &self.outcome.record.events[from..row.n_events];
        let mut cursor = Cursor::new(&self.requests, policy, pool_blocks, &self.outcome.record);
        let computes = events.iter().position(|event| matches!(event, Event::Compute { .. })).unwrap_or(events.len());
        let planned = cursor.seek(from + computes).clone();
        let look = Look { serve: self, row: *row, events, planned };
        let state = cursor.seek(row.n_events);
        for (idx, phase) in state.phases.iter().enumerate() {
            let phase = match phase {
                record::Phase::Ahead | record::Phase::Done => continue,
                record::Phase::Waiting => Phase::Waiting,
                record::Phase::Preempted => Phase::Preempted,
                record::Phase::Running => Phase::Running,
            };
            let (id, blocks) = (idx as u32, state.tables[idx].clone());
            frame.add(Table { id, name: self.name(id), phase, tokens: state.computed[idx], blocks });
        }
        for event in events {
            match event {
                Event::Take { block, .. } => frame.mark(*block, Fresh::Taken),
                Event::Give { block, .. } => frame.mark(*block, Fresh::Given),
                _ => {}
            }
        }
        frame.queue = self.queue(row.n_events, &state.owners);
        let since = if step > 1 { rows[step - 2].start } else { -1.0 };
        // Who comes after the last step has begun is told of in it.
        let until = if step == rows.len() { f64::INFINITY } else { row.start };
        frame.whys = self.refusals(since, until);
        frame.whys.extend(look.whys());
        frame.counted()
    }

    /// Free blocks in the order in which they will be taken: those never used by their numbers, then as they came back.
    fn queue(&self, n_events: usize, owners: &[Option<u32>]) -> Vec<u32> {
        let mut given = vec![0_usize; owners.len()];
        for (at, event) in self.outcome.record.events[..n_events].iter().enumerate() {
            if let Event::Give { block, .. } = event {
                given[*block as usize] = at + 1;
            }
        }
        let mut queue: Vec<u32> = (0..owners.len() as u32).filter(|block| owners[*block as usize].is_none()).collect();
        queue.sort_by_key(|block| given[*block as usize]);
        queue
    }

    /// Requests that came after `since` and never fit.
    fn refusals(&self, since: f64, until: f64) -> Vec<Why> {
        let came = |request: &Request| request.arrival > since && request.arrival <= until;
        let of = |(number, request, need): &(u32, Request, u32)| {
            let (pool, tokens) = (self.settings.pool_blocks, request.kv_tokens());
            Why::new(
                Tone::Bad,
                format!("拒收 R{number}：{tokens} 个 token 要 {need} 块，池里一共只有 {pool} 块，永远放不下。"),
                format!("R{number} is refused: {tokens} tokens need {need} blocks, the whole pool has {pool}."),
            )
        };
        self.refused.iter().filter(|(_, request, _)| came(request)).map(of).collect()
    }
}

impl Look<'_> {
    fn whys(&self) -> Vec<Why> {
        let mut whys = Vec::new();
        for (at, event) in self.events.iter().enumerate() {
            match event {
                Event::Preempt { request, lost } => whys.push(self.preempted(at, *request, *lost)),
                Event::Admit { request } => whys.push(self.admitted(at, *request)),
                _ => {}
            }
        }
        whys.extend(self.held_back());
        whys.extend(self.computed());
        whys.extend(self.finished());
        whys
    }

    /// The request that wanted the blocks: the next to take one, or the victim itself.
    fn preempted(&self, at: usize, victim: u32, lost: u32) -> Why {
        let takes = |event: &Event| if let Event::Take { request, .. } = event { Some(*request) } else { None };
        let wants = self.events[at..].iter().find_map(takes).unwrap_or(victim);
        let (victim_name, wants_name) = (self.serve.name(victim), self.serve.name(wants));
        let (who_zh, who_en) = if wants == victim {
            (
                format!("{victim_name} 要一块，没有空闲的，最后进来的就是它自己"),
                format!("{victim_name} needs a block, none is free, and it is itself the last that came in"),
            )
        } else {
            (
                format!("{wants_name} 要一块，没有空闲的，最后进来的 {victim_name} 让出"),
                format!("{wants_name} needs a block and none is free: {victim_name}, the last that came in, gives way"),
            )
        };
        Why::new(
            Tone::Bad,
            format!("抢占：{who_zh}；它的 {lost} 个 token 的 KV 作废，回来时重算。"),
            format!("Preempted: {who_en}; its {lost} tokens of KV are dropped and computed again later."),
        )
    }

    fn admitted(&self, at: usize, request: u32) -> Why {
        let is_its = |event: &&Event| matches!(event, Event::Take { request: other, .. } if *other == request);
        let n = self.events[at..].iter().filter(is_its).count();
        let (name, prompt) = (self.serve.name(request), self.serve.requests[request as usize].prompt);
        let blocks = if n == 1 { "block" } else { "blocks" };
        Why::new(
            Tone::Good,
            format!("接纳 {name}（提示 {prompt} 个 token）：有座位、有预算，取 {n} 块。"),
            format!("{name} is admitted ({prompt} tokens of prompt): a seat, budget, and {n} {blocks} are there."),
        )
    }

    /// Why the first of the waiting is not let in.
    fn held_back(&self) -> Option<Why> {
        let state = &self.planned;
        let front = *state.waiting().first()?;
        let (settings, name) = (&self.serve.settings, self.serve.name(front));
        let spent = self.row.prefill_tokens + self.row.decode_tokens;
        let n_waiting = state.waiting().len();
        let known = self.serve.requests[front as usize].prompt + state.emitted[front as usize];
        let n = (known - state.computed[front as usize]).min(settings.token_budget.saturating_sub(spent));
        let need = (state.computed[front as usize] + n).div_ceil(settings.block_tokens);
        let free = state.owners.iter().filter(|owner| owner.is_none()).count();
        let (zh, en) = if self.row.preempted > 0 {
            ("这一步有抢占，就不接新的".to_owned(), "nobody is admitted in a step with a preemption".to_owned())
        } else if state.running.len() >= settings.max_seqs as usize {
            let seats = settings.max_seqs;
            (format!("{seats} 个座位都有人"), format!("all {seats} seats are taken"))
        } else if spent >= settings.token_budget {
            let budget = settings.token_budget;
            (format!("这一步 {budget} 个 token 的预算用完了"), format!("the step's budget of {budget} tokens is spent"))
        } else {
            (format!("要 {need} 块，只剩 {free} 块"), format!("it needs {need} blocks and {free} are free"))
        };
        let more = n_waiting - 1;
        let (also_zh, also_en) = if more > 0 {
            (format!("；后面还排着 {more} 个，不插队"), format!("; {more} more wait behind it, nobody overtakes"))
        } else {
            (String::new(), String::new())
        };
        Some(Why::new(Tone::Caution, format!("{name} 等着：{zh}{also_zh}。"), format!("{name} waits: {en}{also_en}.")))
    }

    fn computed(&self) -> Option<Why> {
        let (prefill, decode) = (self.row.prefill_tokens, self.row.decode_tokens);
        let budget = self.serve.settings.token_budget;
        (prefill + decode > 0).then(|| {
            Why::new(
                Tone::Plain,
                format!("算了 {prefill} 个预填充 token、{decode} 个解码 token；预算 {budget}。"),
                format!("Computed: {prefill} tokens of prefill, {decode} of decoding; the budget is {budget}."),
            )
        })
    }

    fn finished(&self) -> Option<Why> {
        let done: Vec<u32> = self
            .events
            .iter()
            .filter_map(|event| if let Event::Finish { request } = event { Some(*request) } else { None })
            .collect();
        let gives = |event: &&Event| matches!(event, Event::Give { request, .. } if done.contains(request));
        let n = self.events.iter().filter(gives).count();
        let names: Vec<String> = done.iter().map(|request| self.serve.name(*request)).collect();
        (!done.is_empty()).then(|| {
            Why::new(
                Tone::Plain,
                format!("{} 写完了，还回 {n} 块。", names.join("、")),
                format!("{} done: {n} blocks come back.", names.join(", ")),
            )
        })
    }
}
