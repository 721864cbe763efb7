//! A pool of keys and values that fills step by step: the same requests, with a place reserved for each, or with pages.
//!
//! Question: the pool, tokens of a page, the longest request, which lengths come, the step, and how memory is given out.
//! Answer: requests running, waiting, done and preempted at that step, slots used and kept.
//! Rule: requests wait in one queue. Each step every running request gains a token; what is finished leaves; then the queue
//! is served from its head while the next fits. Reserved: a request takes the longest length at once. Paged: it takes pages
//! for the tokens it has and one more, then a page whenever its last is full; if none is free, whoever came last is sent
//! back to the head of the queue with its tokens, which are computed again.
//! Assumption: all requests are there at the start and never share pages; a prompt is computed in one step; time is steps.
//! Source: Kwon et al., "Efficient Memory Management for Large Language Model Serving with PagedAttention", SOSP 2023,
//! sections 4.2 to 4.5 (recomputation).
//! Errors: a page or a longest request that is larger than the pool; fields out of range.

use crate::fields;
use crate::registry::Model;
use std::collections::VecDeque;
use vramlab_units::{Args, FieldError, FieldSpec, Map, Text, Value};

/// Requests that come.
pub const N_REQUESTS: usize = 96;
pub const MOST_STEPS: u64 = 1000;

/// How memory is given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    Reserved,
    Paged,
}

/// Which lengths come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lengths {
    Short,
    Mixed,
    Long,
}

impl Lengths {
    pub const ALL: [Self; 3] = [Self::Short, Self::Mixed, Self::Long];

    pub fn id(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Mixed => "mixed",
            Self::Long => "long",
        }
    }

    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|lengths| lengths.id() == id)
    }

    /// Least and most of the longest length, in sixteenths, and how far the middle leans to the short side.
    fn range(self) -> (u64, u64, u32) {
        match self {
            Self::Short => (1, 4, 1),
            Self::Mixed => (1, 16, 2),
            Self::Long => (12, 16, 1),
        }
    }
}

/// The pool and its rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    pub pool_tokens: u64,
    pub block_tokens: u64,
    pub max_len: u64,
    pub lengths: Lengths,
}

/// One request: what it brings, and how long it is when it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub prompt: u64,
    pub total: u64,
}

/// A request that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    pub id: usize,
    pub tokens: u64,
    /// Physical pages by logical page; for a reservation the one place.
    pub pages: Vec<u32>,
}

/// The pool after a number of steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    setup: Setup,
    policy: Policy,
    requests: Vec<Request>,
    /// In order of admission.
    pub running: Vec<Running>,
    waiting: VecDeque<(usize, u64)>,
    free: VecDeque<u32>,
    pub done: usize,
    pub preempted: u64,
}

/// Requests of a kind: the same ones every time.
pub fn requests(lengths: Lengths, max_len: u64) -> Vec<Request> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut share = || {
        // A 64-bit linear congruential step; the upper half is well mixed.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1_u64 << 31) as f64
    };
    let (low, high, lean) = lengths.range();
    let (low, high) = ((low * max_len / 16).max(2), (high * max_len / 16).max(2));
    (0..N_REQUESTS)
        .map(|_| {
            let total = low + ((high - low) as f64 * share().powi(lean as i32)).round() as u64;
            let prompt = ((total as f64) * (0.1 + 0.5 * share())).round().max(1.0) as u64;
            Request { prompt: prompt.min(total - 1), total }
        })
        .collect()
}

impl Pool {
    /// Before the first step, with what the queue's head finds room for.
    pub fn new(setup: Setup, policy: Policy) -> Self {
        let requests = requests(setup.lengths, setup.max_len);
        let waiting = requests.iter().enumerate().map(|(id, request)| (id, request.prompt)).collect();
        let n_places = setup.pool_tokens / place(setup, policy);
        let free = (0..n_places as u32).collect();
        let mut this = Self { setup, policy, requests, running: Vec::new(), waiting, free, done: 0, preempted: 0 };
        this.admit();
        this
    }

    /// After `steps` steps.
    pub fn after(setup: Setup, policy: Policy, steps: u64) -> Self {
        let mut pool = Self::new(setup, policy);
        for _ in 0..steps {
            pool.step();
        }
        pool
    }

    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Slots that hold a token.
    pub fn used(&self) -> u64 {
        self.running.iter().map(|request| request.tokens).sum()
    }

    /// Slots that are taken.
    pub fn kept(&self) -> u64 {
        let places: usize = self.running.iter().map(|request| request.pages.len()).sum();
        places as u64 * place(self.setup, self.policy)
    }

    pub fn is_idle(&self) -> bool {
        self.running.is_empty() && self.waiting.is_empty()
    }

    /// One token for everybody, then leave and enter.
    pub fn step(&mut self) {
        let mut at = 0;
        while at < self.running.len() {
            self.grow(at);
            at += 1;
        }
        let (requests, free) = (&self.requests, &mut self.free);
        let before = self.running.len();
        self.running.retain(|request| {
            let goes_on = requests.get(request.id).is_some_and(|whole| request.tokens < whole.total);
            if !goes_on {
                free.extend(&request.pages);
            }
            goes_on
        });
        self.done += before - self.running.len();
        self.admit();
    }

    /// A token for the `at`-th; whoever came last gives way where no page is free.
    fn grow(&mut self, at: usize) {
        let needs = self.places(self.running[at].tokens + 1);
        while self.running[at].pages.len() < needs {
            if let Some(page) = self.free.pop_front() {
                self.running[at].pages.push(page);
                continue;
            }
            let Some(last) = self.running.pop() else { return };
            self.preempted += 1;
            self.free.extend(&last.pages);
            self.waiting.push_front((last.id, last.tokens));
            if self.running.len() <= at {
                return; // it was this one
            }
        }
        self.running[at].tokens += 1;
    }

    fn admit(&mut self) {
        while let Some((id, tokens)) = self.waiting.front().copied() {
            let needs = self.places(tokens + 1);
            if needs > self.free.len() {
                return;
            }
            self.waiting.pop_front();
            let pages = self.free.drain(..needs).collect();
            self.running.push(Running { id, tokens, pages });
        }
    }

    fn places(&self, tokens: u64) -> usize {
        match self.policy {
            Policy::Reserved => 1,
            Policy::Paged => tokens.div_ceil(self.setup.block_tokens) as usize,
        }
    }
}

fn place(setup: Setup, policy: Policy) -> u64 {
    match policy {
        Policy::Reserved => setup.max_len,
        Policy::Paged => setup.block_tokens,
    }
}

pub struct KvPaging;

impl Model for KvPaging {
    const ID: &'static str = "kv_paging";
    const TITLE: Text = Text::new("KV 池一步步装满", "A KV pool that fills step by step");
    const ASSUMES: Text = Text::new(
        "请求一开始都在排队，不共享页；提示词一步算完；缺页时最后来的让出，回到队首重算。",
        "All requests wait from the start and share no pages; a prompt takes one step; where no page is free, whoever came \
         last goes back to the head of the queue and is computed again.",
    );
    const SOURCE: &'static str = "PagedAttention (Kwon et al. 2023), sections 4.2 to 4.5";
    const EXAMPLE: &'static str = r#"{"policy": "paged", "step": 100}"#;

    fn question() -> Vec<FieldSpec> {
        let tokens = |key, zh, en| FieldSpec::int(key, "token", 1, 65_536, Text::new(zh, en));
        let how = Text::new("reserved 按最长预留，paged 分页", "reserved: the longest length; paged: pages");
        let which = Text::new("来的请求有多长", "How long the requests are");
        vec![
            fields::choice("policy", "", &["reserved", "paged"], how),
            FieldSpec::int("step", "1", 0, MOST_STEPS as i64, Text::new("走了几步", "Steps taken")),
            tokens("pool_tokens", "池装得下几个 token", "Tokens that the pool holds").default_value(4096),
            tokens("block_tokens", "一页几个 token", "Tokens of a page").default_value(16),
            tokens("max_len", "允许的最长请求", "The longest request allowed").default_value(512),
            fields::choice("lengths", "", &["short", "mixed", "long"], which).default_value("mixed"),
        ]
    }

    fn answer() -> Vec<FieldSpec> {
        let count = |key, zh, en| FieldSpec::int(key, "1", 0, i64::MAX, Text::new(zh, en));
        let slots = |key, zh, en| FieldSpec::int(key, "token", 0, 1 << 32, Text::new(zh, en));
        vec![
            count("running", "在跑的请求", "Requests that run"),
            count("waiting", "排队的请求", "Requests that wait"),
            count("done", "跑完的请求", "Requests that are done"),
            count("preempted", "让出过几次", "Times that one gave way"),
            slots("used", "真有 token 的位置", "Slots that hold a token"),
            slots("kept", "占着的位置", "Slots that are kept"),
            FieldSpec::num("waste", "%", 0.0, 1.0, Text::new("占着却空的份额", "Share of kept slots that is empty")),
        ]
    }

    fn run(args: &Args) -> Result<Map, FieldError> {
        let setup = Setup {
            pool_tokens: args.uint("pool_tokens"),
            block_tokens: args.uint("block_tokens"),
            max_len: args.uint("max_len"),
            lengths: Lengths::from_id(args.text("lengths")).unwrap_or(Lengths::Mixed),
        };
        check(setup)?;
        let policy = if args.text("policy") == "paged" { Policy::Paged } else { Policy::Reserved };
        let pool = Pool::after(setup, policy, args.uint("step"));
        Ok(fields::answer([
            ("running", pool.running.len().into()),
            ("waiting", pool.waiting().into()),
            ("done", pool.done.into()),
            ("preempted", pool.preempted.into()),
            ("used", pool.used().into()),
            ("kept", pool.kept().into()),
            ("waste", Value::from(crate::kv_waste::waste(pool.used(), pool.kept()))),
        ]))
    }
}

/// The longest request must fit by itself, in whole pages.
pub fn check(setup: Setup) -> Result<(), FieldError> {
    let room = setup.pool_tokens / setup.block_tokens.max(1) * setup.block_tokens;
    if setup.block_tokens > setup.pool_tokens {
        let reason =
            format!("a page of {} tokens is larger than pool_tokens = {}", setup.block_tokens, setup.pool_tokens);
        return Err(FieldError::conflict("block_tokens", reason));
    }
    if setup.max_len + 1 > room {
        let reason = format!("{} tokens and one more do not fit the {room} of whole pages", setup.max_len);
        return Err(FieldError::conflict("max_len", reason));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::testing::question;
    use serde_json::json;

    const SETUP: Setup = Setup { pool_tokens: 4096, block_tokens: 16, max_len: 512, lengths: Lengths::Mixed };

    #[test]
    fn no_page_is_held_twice_and_none_is_lost() {
        for lengths in Lengths::ALL {
            for policy in [Policy::Reserved, Policy::Paged] {
                let setup = Setup { lengths, ..SETUP };
                let mut pool = Pool::new(setup, policy);
                let n_places = setup.pool_tokens / place(setup, policy);
                for _ in 0..400 {
                    pool.step();
                    let mut held: Vec<u32> = pool.running.iter().flat_map(|request| &request.pages).copied().collect();
                    held.extend(&pool.free);
                    held.sort_unstable();
                    assert_eq!(held, (0..n_places as u32).collect::<Vec<_>>());
                    assert!(pool.used() <= pool.kept());
                    assert_eq!(pool.running.len() + pool.waiting() + pool.done, N_REQUESTS);
                }
            }
        }
    }

    /// A page table covers its tokens, and no page more than the next token needs.
    #[test]
    fn a_table_has_the_pages_that_its_tokens_need() {
        let pool = Pool::after(SETUP, Policy::Paged, 150);
        for request in &pool.running {
            let pages = request.pages.len() as u64;
            assert!((request.tokens..=request.tokens + 1).any(|tokens| tokens.div_ceil(16) == pages), "{request:?}");
        }
    }

    /// 4096 slots hold eight reservations of 512; pages hold as many requests as their tokens allow.
    #[test]
    fn paging_runs_more_of_the_same_requests_at_once() {
        let (reserved, paged) = (Pool::after(SETUP, Policy::Reserved, 60), Pool::after(SETUP, Policy::Paged, 60));
        assert_eq!(reserved.running.len(), 8);
        assert!(paged.running.len() > 16, "{}", paged.running.len());
        let waste = |pool: &Pool| crate::kv_waste::waste(pool.used(), pool.kept());
        assert!(waste(&reserved) > 0.5 && waste(&paged) < 0.1, "{} {}", waste(&reserved), waste(&paged));
    }

    #[test]
    fn everybody_is_served_in_the_end() {
        for policy in [Policy::Reserved, Policy::Paged] {
            let mut pool = Pool::new(SETUP, policy);
            let steps = (0..20_000)
                .take_while(|_| {
                    pool.step();
                    !pool.is_idle()
                })
                .count();
            assert!(pool.is_idle(), "{policy:?} after {steps}");
            assert_eq!(pool.done, N_REQUESTS);
        }
    }

    #[test]
    fn what_does_not_fit_the_pool_is_refused() {
        let error = |more: serde_json::Value| {
            let mut given = question(&json!({"policy": "paged", "step": 1}));
            given.extend(question(&more));
            crate::eval("kv_paging", &given).unwrap_err().field().to_owned()
        };
        assert_eq!(error(json!({"pool_tokens": 8})), "block_tokens");
        assert_eq!(error(json!({"max_len": 4096})), "max_len");
    }
}
