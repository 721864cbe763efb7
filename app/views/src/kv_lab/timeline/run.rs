//! The same requests through continuous and through static batching: what each does in every step.

use super::question::Question;
use vramlab_serve::latency::Latency;
use vramlab_serve::schedule::record::{Event, Row};
use vramlab_serve::schedule::{Detail, Outcome, continuous, fixed};
use vramlab_serve::{Problem, Request, request};

/// Rows of a pixel each; more of a text are refused, of a file summed up.
pub const MOST_REQUESTS: usize = 240;
const MOST_TOKENS: u64 = 200_000;
/// Of a file.
const MOST_OF_FILE: usize = 100_000;
const MOST_WORK: u64 = 20_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Waiting,
    Prefill,
    Decode,
    /// Gave way and waits to be computed again.
    Preempted,
    /// Has a seat and blocks, but gets nothing to do: the budget is spent, or the batch is not over.
    Idle,
}

/// An act of one request, from one moment to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    pub request: u32,
    pub from: f64,
    pub to: f64,
    pub act: Act,
}

#[derive(Clone, Debug)]
pub struct Side {
    pub outcome: Outcome,
    pub latency: Latency,
    pub spans: Vec<Span>,
}

/// See the module's docs.
#[derive(Clone, Debug)]
pub struct Run {
    pub requests: Vec<Request>,
    /// Requests that never fit, left out of both.
    pub n_refused: usize,
    pub flowing: Side,
    pub still: Side,
    /// Too many to be drawn one by one.
    pub is_summary: bool,
}

impl Run {
    pub fn new(question: &Question) -> Result<Self, Problem> {
        let Question { block_tokens, pool_blocks, .. } = *question;
        let settings = question.settings();
        let (all, is_summary) = match &question.file {
            Some(file) => (file.to_vec(), check(file).is_err()),
            None => (read(&question.text)?, false),
        };
        let fits = |one: &Request| one.kv_tokens().div_ceil(block_tokens.max(1)) <= pool_blocks;
        let requests: Vec<Request> = all.iter().copied().filter(fits).collect();
        let side = |outcome: Outcome| {
            let spans = if is_summary { Vec::new() } else { spans(&requests, &outcome) };
            Side { latency: Latency::of(&requests, &outcome), outcome, spans }
        };
        let detail = if is_summary { Detail::Rows } else { Detail::Events };
        let flowing = side(continuous(&requests, &settings, detail)?);
        let still = side(fixed(&requests, &settings, detail)?);
        Ok(Self { n_refused: all.len() - requests.len(), requests, flowing, still, is_summary })
    }

    /// Rows that are drawn.
    pub fn n_rows(&self) -> usize {
        if self.is_summary { 0 } else { self.requests.len() }
    }

    /// The last step of both.
    pub fn end(&self) -> f64 {
        let end = |side: &Side| side.outcome.record.rows.last().map_or(0.0, |row| row.end);
        end(&self.flowing).max(end(&self.still)).max(1.0)
    }
}

fn read(text: &str) -> Result<Vec<Request>, Problem> {
    let lines = if text.contains('\n') || !text.contains(':') { text.to_owned() } else { text.replace(' ', "\n") };
    let requests = request::read(&lines)?;
    check(&requests)?;
    Ok(requests)
}

/// The requests of a file; none if it is no stream of requests.
pub fn of_file(text: &str) -> Option<Result<Vec<Request>, Problem>> {
    let first = text
        .trim_start_matches('\u{feff}')
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty() && !line.starts_with('#'))?;
    let low = first.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| low.contains(word));
    let is_named = has(&["arrival", "timestamp"]) && has(&["prompt", "context", "input", "output", "generated"]);
    let cells = first.split([',', ':', ' ', '\t']).filter(|cell| !cell.is_empty());
    let is_bare = cells.clone().count() >= 3 && cells.take(3).all(|cell| cell.parse::<f64>().is_ok());
    (is_named || is_bare).then(|| {
        let requests = request::read(text)?;
        let (n, work) = (requests.len(), requests.iter().map(|one| u64::from(one.output)).sum::<u64>());
        if n > MOST_OF_FILE || work > MOST_WORK {
            let zh = format!("{n} 个请求、{work} 个输出 token；最多 {MOST_OF_FILE} 个、{MOST_WORK} 个 token");
            let en =
                format!("{n} requests with {work} tokens of output; at most {MOST_OF_FILE} and {MOST_WORK} are taken");
            return Err(Problem::new("requests", zh, en));
        }
        Ok(requests)
    })
}

/// Whether they can be drawn one by one.
fn check(requests: &[Request]) -> Result<(), Problem> {
    let tokens: u64 = requests.iter().map(|one| u64::from(one.prompt) + u64::from(one.output)).sum();
    let last = requests.iter().map(|one| one.arrival).fold(0.0, f64::max);
    if requests.len() > MOST_REQUESTS || tokens > MOST_TOKENS || last > 1e6 {
        let n = requests.len();
        let zh = format!(
            "{n} 个请求、{tokens} 个 token、最晚第 {last} 步到；这张图最多放 {MOST_REQUESTS} 个、{MOST_TOKENS} 个 token、一百万步"
        );
        let en = format!(
            "{n} requests, {tokens} tokens, the last at step {last}; the figure takes {MOST_REQUESTS}, {MOST_TOKENS} tokens and a million steps"
        );
        return Err(Problem::new("requests", zh, en));
    }
    Ok(())
}

impl Side {
    /// The row of the step in which `time` lies.
    pub fn row_at(&self, time: f64) -> Option<&Row> {
        let rows = &self.outcome.record.rows;
        let idx = rows.partition_point(|row| row.end < time);
        rows.get(idx).filter(|row| row.start < time)
    }

    /// Who waits in the step that ends at `time`, preempted ones included.
    pub fn n_waiting(&self, time: f64) -> usize {
        if self.spans.is_empty() {
            return self.row_at(time).map_or(0, |row| row.waiting as usize);
        }
        let waits =
            |span: &&Span| matches!(span.act, Act::Waiting | Act::Preempted) && span.from < time && time <= span.to;
        self.spans.iter().filter(waits).count()
    }

    /// What a request does in the step that ends at `time`.
    pub fn act(&self, request: u32, time: f64) -> Option<Act> {
        let is_it = |span: &&Span| span.request == request && span.from < time && time <= span.to;
        self.spans.iter().find(is_it).map(|span| span.act)
    }
}

/// What each request does, step after step.
fn spans(requests: &[Request], outcome: &Outcome) -> Vec<Span> {
    let n = requests.len();
    let (mut running, mut preempted, mut emitted, mut done) =
        (vec![false; n], vec![false; n], vec![0_u32; n], vec![false; n]);
    let mut open: Vec<Option<Span>> = vec![None; n];
    let mut spans = Vec::new();
    let mut from = 0;
    for row in &outcome.record.rows {
        let mut acts: Vec<Option<Act>> = vec![None; n];
        let mut over = Vec::new();
        for event in &outcome.record.events[from..row.n_events] {
            match *event {
                Event::Admit { request } => {
                    (running[request as usize], preempted[request as usize]) = (true, false);
                }
                Event::Preempt { request, .. } => {
                    (running[request as usize], preempted[request as usize]) = (false, true);
                }
                Event::Compute { request, tokens } => {
                    let is_decode = emitted[request as usize] > 0 && tokens == 1;
                    acts[request as usize] = Some(if is_decode { Act::Decode } else { Act::Prefill });
                }
                Event::Emit { request } => emitted[request as usize] += 1,
                Event::Finish { request } => over.push(request as usize),
                _ => {}
            }
        }
        from = row.n_events;
        for (idx, request) in requests.iter().enumerate() {
            let act = match acts[idx] {
                _ if done[idx] => None,
                Some(act) => Some(act),
                None if running[idx] => Some(Act::Idle),
                None if preempted[idx] => Some(Act::Preempted),
                None if request.arrival < row.end => Some(Act::Waiting),
                None => None,
            };
            extend(&mut open[idx], &mut spans, idx as u32, act, row, request.arrival);
        }
        for idx in over {
            (running[idx], done[idx]) = (false, true);
        }
    }
    spans.extend(open.into_iter().flatten());
    spans
}

fn extend(open: &mut Option<Span>, spans: &mut Vec<Span>, request: u32, act: Option<Act>, row: &Row, arrival: f64) {
    if let (Some(span), Some(act)) = (open.as_mut(), act)
        && span.act == act
    {
        span.to = row.end;
        return;
    }
    spans.extend(open.take());
    let from = if act == Some(Act::Waiting) { row.start.max(arrival) } else { row.start };
    *open = act.map(|act| Span { request, from, to: row.end, act });
}

#[cfg(test)]
mod tests {
    use super::super::question::PRESETS;
    use super::*;

    fn run(id: &str) -> Run {
        Run::new(&Question::of(PRESETS.iter().find(|preset| preset.id == id).unwrap())).unwrap()
    }

    /// Brief 21: static 8 steps, done [5, 5, 8, 8], slot use 0.75; continuous 7 steps, done [2, 5, 4, 7].
    #[test]
    fn static_against_continuous() {
        let run = run("four");
        assert_eq!((run.still.outcome.totals.steps, &run.still.outcome.done[..]), (8, &[5.0, 5.0, 8.0, 8.0][..]));
        assert!((run.still.outcome.totals.slot_use - 0.75).abs() < 1e-12);
        assert_eq!((run.flowing.outcome.totals.steps, &run.flowing.outcome.done[..]), (7, &[2.0, 5.0, 4.0, 7.0][..]));
        // The third waits two steps when seats are filled again at once, five when the batch has to end.
        assert_eq!((run.flowing.act(2, 2.0), run.flowing.act(2, 3.0)), (Some(Act::Waiting), Some(Act::Prefill)));
        assert_eq!((run.still.act(2, 5.0), run.still.act(2, 6.0)), (Some(Act::Waiting), Some(Act::Prefill)));
        // The first has its two tokens, and its seat is empty for three steps.
        assert_eq!((run.still.act(0, 2.0), run.still.act(0, 3.0)), (Some(Act::Decode), Some(Act::Idle)));
        assert_eq!(run.flowing.act(0, 3.0), None);
        assert_eq!((run.flowing.n_waiting(3.0), run.still.n_waiting(3.0)), (1, 2));
    }

    /// Decoding steps are the output tokens after the first, whatever the presets do otherwise.
    #[test]
    fn every_token_has_its_step() {
        for preset in &PRESETS {
            let run = Run::new(&Question::of(preset)).unwrap();
            for side in [&run.flowing, &run.still] {
                for (idx, request) in run.requests.iter().enumerate() {
                    let of = |act: Act| -> f64 {
                        let is = |span: &&Span| span.request == idx as u32 && span.act == act;
                        side.spans.iter().filter(is).map(|span| span.to - span.from).sum()
                    };
                    let (decode, preempted) = (of(Act::Decode), of(Act::Preempted));
                    let expected = f64::from(request.output - 1);
                    assert!(decode <= expected, "{} {idx}", preset.id);
                    assert!(decode == expected || preempted > 0.0, "{} {idx}: {decode} {expected}", preset.id);
                    assert!(of(Act::Prefill) >= 1.0);
                }
            }
            assert!(run.flowing.latency.ttft.p50 <= run.still.latency.ttft.p50, "{}", preset.id);
        }
        // 96 tokens are six blocks: whoever comes after the first finds them.
        assert_eq!(run("shared").flowing.outcome.totals.hit_tokens, 7 * 96);
        assert!(run("priority").flowing.outcome.totals.preemptions > 0);
        assert!(run("tight").flowing.outcome.totals.preemptions > 0);
        assert_eq!(run("mixed").flowing.outcome.totals.preemptions, 0);
    }

    /// A file of thousands is summed up; its errors name line, field and range; other files are left to others.
    #[test]
    fn a_file_of_requests() {
        let many: String = (0..5000).map(|idx| format!("{idx} 64 4\n")).collect();
        let file = of_file(&format!("arrival prompt output\n{many}")).unwrap().unwrap();
        let question = Question { file: Some(file.into()), ..Question::of(&PRESETS[0]) };
        let run = Run::new(&question).unwrap();
        assert!(run.is_summary && run.n_rows() == 0 && run.flowing.latency.ttft.n == 5000);
        let few = of_file("{\"arrival\": 0, \"prompt\": 8, \"output\": 2}\n").unwrap().unwrap();
        assert!(!Run::new(&Question { file: Some(few.into()), ..question }).unwrap().is_summary);
        let wrong = of_file("TIMESTAMP,ContextTokens,GeneratedTokens\n0,0,1").unwrap().unwrap_err();
        assert_eq!(wrong.to_string(), "line 2: prompt = 0 must be an integer from 1 to 16777216");
        for other in ["{\n\"model_type\": \"llama\"}", "INFO GPU KV cache size: 8 tokens", "", "a b c"] {
            assert!(of_file(other).is_none(), "{other}");
        }
    }

    #[test]
    fn too_many_are_refused_with_their_number() {
        let text = "0 1 1\n".repeat(241);
        let wrong = Run::new(&Question { text, ..Question::of(&PRESETS[0]) }).unwrap_err();
        assert!(wrong.to_string().starts_with("241 requests"), "{wrong}");
    }
}
