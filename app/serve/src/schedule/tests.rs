//! The vectors of brief 21, what must hold of any run, and the way back through one.

use super::record::{Cursor, Phase};
use super::*;
use crate::Random;
use crate::latency::Latency;

fn requests(list: &[(f64, u32, u32)]) -> Vec<Request> {
    list.iter().map(|(arrival, prompt, output)| Request::new(*arrival, *prompt, *output)).collect()
}

fn run(list: &[(f64, u32, u32)], settings: Settings) -> Outcome {
    continuous(&requests(list), &settings, Detail::Events).unwrap_or_else(|problem| panic!("{problem}"))
}

#[test]
fn static_against_continuous() {
    let list = [2, 5, 2, 3].map(|output| (0.0, 1, output));
    let settings = Settings::new(2, 64, 16, 64);
    let still = fixed(&requests(&list), &settings, Detail::Events).unwrap();
    assert_eq!((still.totals.steps, &still.done[..]), (8, &[5.0, 5.0, 8.0, 8.0][..]));
    assert!((still.totals.slot_use - 0.75).abs() < 1e-12);
    let flowing = run(&list, settings);
    assert_eq!((flowing.totals.steps, &flowing.done[..]), (7, &[2.0, 5.0, 4.0, 7.0][..]));
    assert!((flowing.totals.slot_use - 12.0 / 14.0).abs() < 1e-12);
}

#[test]
fn the_newest_is_preempted_and_computed_again() {
    let list = [(0.0, 4, 6); 3];
    let tight = run(&list, Settings::new(3, 64, 4, 5));
    assert_eq!((tight.totals.steps, tight.totals.preemptions, tight.totals.discarded_tokens), (11, 2, 12));
    assert_eq!((&tight.first[..], &tight.done[..]), (&[1.0, 1.0, 1.0][..], &[6.0, 7.0, 11.0][..]));
    let wide = run(&list, Settings::new(3, 64, 4, 64));
    assert_eq!((wide.totals.steps, wide.totals.preemptions, wide.totals.peak_blocks), (6, 0, 9));
    // 27 tokens are needed once; what was discarded is computed a second time.
    assert_eq!(wide.totals.prefill_tokens, 12);
    assert_eq!(tight.totals.prefill_tokens + tight.totals.decode_tokens, 27 + 12);
}

#[test]
fn a_prompt_is_cut_by_the_budget() {
    let list = [(0.0, 100, 2), (0.0, 4, 4)];
    let cut = run(&list, Settings::new(4, 32, 16, 64));
    assert_eq!((&cut.first[..], &cut.done[..]), (&[4.0, 4.0][..], &[5.0, 7.0][..]));
    let whole = run(&list, Settings::new(4, 256, 16, 64));
    assert_eq!((&whole.first[..], &whole.done[..]), (&[1.0, 1.0][..], &[2.0, 4.0][..]));
}

#[test]
fn a_request_that_never_fits_is_refused() {
    let error = continuous(&requests(&[(0.0, 100, 50)]), &Settings::new(4, 64, 16, 4), Detail::Summary).unwrap_err();
    assert_eq!(error.to_string(), "request 0: needs 10 KV blocks, pool has 4");
    // P + O − 1 tokens: 64 fill four blocks exactly.
    assert!(continuous(&requests(&[(0.0, 60, 5)]), &Settings::new(4, 64, 16, 4), Detail::Summary).is_ok());
    for (settings, field) in [
        (Settings::new(0, 64, 16, 4), "max_seqs"),
        (Settings::new(1, 65_537, 16, 4), "token_budget"),
        (Settings::new(1, 1, 257, 4), "block_tokens"),
        (Settings::new(1, 1, 1, 0), "pool_blocks"),
    ] {
        assert_eq!(continuous(&[], &settings, Detail::Summary).unwrap_err().field, field);
    }
    for bad in [(-1.0, 1, 1), (f64::NAN, 1, 1), (0.0, 0, 1), (0.0, 1, 0), (0.0, u32::MAX, 1)] {
        assert_eq!(
            continuous(&requests(&[bad]), &Settings::new(1, 1, 1, 9), Detail::Summary).unwrap_err().field,
            "requests"
        );
    }
}

#[test]
fn nobody_is_there_until_the_next_arrives() {
    let outcome = run(&[(0.0, 1, 1), (10.0, 1, 2), (10.5, 1, 1)], Settings::new(4, 64, 16, 64));
    assert_eq!((outcome.totals.steps, &outcome.done[..]), (3, &[1.0, 12.0, 12.0][..]));
    let still = fixed(&requests(&[(0.0, 1, 1), (10.0, 1, 2)]), &Settings::new(4, 64, 16, 64), Detail::Summary).unwrap();
    assert_eq!((still.totals.steps, &still.done[..]), (3, &[1.0, 12.0][..]));
}

/// The victim has been scheduled in this step already: its budget comes back.
#[test]
fn priorities_choose_the_victim() {
    let mut list = requests(&[(0.0, 4, 6), (0.0, 4, 6), (0.0, 4, 6)]);
    list[0].priority = 9;
    let settings = Settings { policy: Policy::Priority, ..Settings::new(3, 64, 4, 5) };
    let outcome = continuous(&list, &settings, Detail::Events).unwrap();
    let victims: Vec<u32> = outcome
        .record
        .events
        .iter()
        .filter_map(|event| if let record::Event::Preempt { request, .. } = event { Some(*request) } else { None })
        .collect();
    assert_eq!(victims, [0, 2]);
    assert_eq!(outcome.done, [11.0, 6.0, 7.0]);
}

/// 80 streams through a scheduler that was written from the rules alone, in another language and the plainest way.
#[test]
fn another_implementation_agrees() {
    let (mut n, mut n_preempted) = (0, 0);
    for line in include_str!("../../../../tests/data/serving/runs.txt").lines().filter(|line| !line.starts_with('#')) {
        let parts: Vec<Vec<&str>> = line.split('|').map(|part| part.split_whitespace().collect()).collect();
        let numbers = |part: usize| parts[part].iter().filter_map(|word| word.parse::<u32>().ok()).collect::<Vec<_>>();
        let [seats, budget, block, pool] = numbers(0)[..] else { panic!("{line}") };
        let mut settings = Settings::new(seats, budget, block, pool);
        if parts[0][4] == "priority" {
            settings.policy = Policy::Priority;
        }
        let list = crate::request::read(&parts[1].join("\n")).unwrap();
        let got = continuous(&list, &settings, Detail::Summary).unwrap();
        let totals = got.totals;
        let sums = [totals.steps, totals.preemptions, totals.discarded_tokens, totals.peak_blocks.into()];
        assert_eq!(sums.to_vec(), numbers(2).into_iter().map(u64::from).collect::<Vec<_>>(), "{line}");
        let whole = |times: &[f64]| times.iter().map(|time| *time as u32).collect::<Vec<_>>();
        assert_eq!((whole(&got.first), whole(&got.done)), (numbers(3), numbers(4)), "{line}");
        n += 1;
        n_preempted += totals.preemptions;
    }
    assert_eq!((n, n_preempted), (80, 193));
}

/// What goes to the host is not computed again.
#[test]
fn swapping_keeps_what_was_computed() {
    let list = [(0.0, 4, 6); 3];
    let settings = Settings { preempt: Preempt::Swap { host_blocks: 8 }, ..Settings::new(3, 64, 4, 5) };
    let outcome = run(&list, settings);
    let totals = outcome.totals;
    assert_eq!((totals.discarded_tokens, totals.swapped_tokens, totals.preemptions), (0, 12, 2));
    assert_eq!(totals.prefill_tokens + totals.decode_tokens, 27);
    // No room on the host: as if it were not there.
    let none = Settings { preempt: Preempt::Swap { host_blocks: 0 }, ..settings };
    assert_eq!(run(&list, none).totals, run(&list, Settings::new(3, 64, 4, 5)).totals);
}

fn any_stream(random: &mut Random) -> (Vec<Request>, Settings) {
    let mut below = |n: u64| random.word() % n;
    let block = 1 + below(8) as u32;
    let n = 1 + below(20);
    let list: Vec<Request> = (0..n)
        .map(|_| Request {
            arrival: below(30) as f64 / 2.0,
            prompt: 1 + below(40) as u32,
            output: 1 + below(20) as u32,
            priority: below(3) as i32,
            ..Request::new(0.0, 1, 1)
        })
        .collect();
    let least = list.iter().map(|one| one.kv_tokens().div_ceil(block)).max().unwrap_or(1);
    let mut settings = Settings::new(1 + below(6) as u32, 1 + below(40) as u32, block, least + below(20) as u32);
    settings.policy = if below(2) == 0 { Policy::Fcfs } else { Policy::Priority };
    settings.preempt = if below(2) == 0 { Preempt::Recompute } else { Preempt::Swap { host_blocks: below(20) as u32 } };
    (list, settings)
}

/// Blocks have one owner, tables have the size of what is computed, budgets and seats hold, everybody ends.
#[test]
fn what_holds_of_any_run() {
    let mut random = Random::new(3);
    for _ in 0..400 {
        let (list, settings) = any_stream(&mut random);
        let outcome = continuous(&list, &settings, Detail::Events).unwrap();
        let mut cursor = Cursor::new(&list, settings.policy, settings.pool_blocks, &outcome.record);
        for (idx, row) in outcome.record.rows.iter().enumerate() {
            assert!(row.prefill_tokens + row.decode_tokens <= settings.token_budget);
            assert!(row.running <= settings.max_seqs && row.used_blocks <= settings.pool_blocks);
            let state = cursor.seek_step(idx + 1);
            for (request, table) in state.tables.iter().enumerate() {
                assert!(table.iter().all(|block| state.owners[*block as usize] == Some(request as u32)));
                let is_running = state.phases[request] == Phase::Running;
                let blocks = if is_running { state.computed[request].div_ceil(settings.block_tokens) } else { 0 };
                assert_eq!(table.len() as u32, blocks, "{list:?} {settings:?} step {}", idx + 1);
            }
            let owned = state.owners.iter().flatten().count();
            assert_eq!(owned, state.tables.iter().map(Vec::len).sum::<usize>());
        }
        let last = cursor.state();
        assert!(last.phases.iter().all(|phase| *phase == Phase::Done));
        for (idx, one) in list.iter().enumerate() {
            assert_eq!(last.emitted[idx], one.output);
            assert!(outcome.first[idx] > one.arrival && outcome.done[idx] >= outcome.first[idx]);
        }
        let summary = continuous(&list, &settings, Detail::Summary).unwrap();
        assert_eq!((summary.totals, summary.done), (outcome.totals, outcome.done.clone()));
        let needed: u64 = list.iter().map(|one| u64::from(one.kv_tokens())).sum();
        assert_eq!(
            outcome.totals.prefill_tokens + outcome.totals.decode_tokens,
            needed + outcome.totals.discarded_tokens
        );
    }
}

#[test]
fn every_state_is_met_again_on_the_way_back() {
    let mut random = Random::new(11);
    for round in 0..60 {
        let (list, settings) = any_stream(&mut random);
        let run = if round % 2 == 0 { continuous } else { fixed };
        let Ok(outcome) = run(&list, &settings, Detail::Events) else { continue };
        let policy = if round % 2 == 0 { settings.policy } else { Policy::Fcfs };
        let mut cursor = Cursor::new(&list, policy, settings.pool_blocks, &outcome.record);
        let n = outcome.record.events.len();
        let states: Vec<_> = (0..=n).map(|at| cursor.seek(at).clone()).collect();
        for at in (0..=n).rev() {
            assert_eq!(cursor.seek(at), &states[at], "{round}: {at}");
        }
    }
}

#[test]
fn a_run_of_nothing() {
    let settings = Settings::new(4, 64, 16, 64);
    for run in [continuous, fixed] {
        let outcome = run(&[], &settings, Detail::Events).unwrap();
        assert_eq!((outcome.totals.steps, outcome.record.rows.len()), (0, 0));
        let mut cursor = Cursor::new(&[], Policy::Fcfs, 64, &outcome.record);
        assert!(cursor.seek_step(3).running.is_empty());
        assert_eq!(Latency::of(&[], &outcome), Latency::default());
    }
}

/// Two requests of one token and of three, a step of one second: TTFT and TPOT by hand.
#[test]
fn latencies_by_hand() {
    let list = requests(&[(0.0, 4, 3), (0.5, 4, 1)]);
    let outcome = continuous(&list, &Settings::new(4, 64, 16, 64), Detail::Summary).unwrap();
    let latency = Latency::of(&list, &outcome);
    // The second arrives within the first step and is seen after it: its token comes at 2.
    assert_eq!((outcome.first[1], outcome.done[0]), (2.0, 3.0));
    assert!((latency.ttft.mean - (1.0 + 1.5) / 2.0).abs() < 1e-12);
    assert!((latency.tpot.mean - 1.0).abs() < 1e-12 && latency.tpot.n == 1);
    assert!((latency.tokens_per_time - 4.0 / 3.0).abs() < 1e-12);
}

/// The published example of prefix caching, through the scheduler: 15 tokens, then 14 that share 10, then 29 that share 12.
#[test]
fn a_scheduler_that_recognises_prefixes() {
    let sharing =
        |arrival, prompt, output, shared| Request { group: 1, shared, ..Request::new(arrival, prompt, output) };
    let list = [sharing(0.0, 15, 4, 15), sharing(3.0, 14, 2, 10), sharing(10.0, 29, 1, 12)];
    let settings = Settings { prefix: true, ..Settings::new(4, 64, 4, 10) };
    let outcome = continuous(&list, &settings, Detail::Events).unwrap();
    let mut cursor = Cursor::new(&list, Policy::Fcfs, 10, &outcome.record);
    let mut table = |step: usize, request: usize| cursor.seek_step(step).tables[request].clone();
    assert_eq!((table(1, 0), table(3, 0)), (vec![0, 1, 2, 3], vec![0, 1, 2, 3, 4]));
    let events =
        |kind: fn(&record::Event) -> Option<u32>| outcome.record.events.iter().filter_map(kind).collect::<Vec<_>>();
    assert_eq!(table(4, 1), [0, 1, 5, 6]);
    let taken: Vec<u32> =
        events(|event| if let record::Event::Take { request: 2, block } = event { Some(*block) } else { None });
    assert_eq!(taken, [0, 1, 2, 7, 8, 9, 4, 3]);
    assert_eq!(events(|event| if let record::Event::Evict { block } = event { Some(*block) } else { None }), [3]);
    let hits = events(|event| if let record::Event::Hit { tokens, .. } = event { Some(*tokens) } else { None });
    assert_eq!((hits, outcome.totals.hit_tokens, outcome.totals.evictions), (vec![8, 12], 20, 1));
    // The prompts alone, less what was found.
    assert_eq!(outcome.totals.prefill_tokens, 15 + 14 + 29 - 20);
    // Nothing is recognised where it is not asked for, and nothing else changes.
    let plain = continuous(&list, &Settings { prefix: false, ..settings }, Detail::Summary).unwrap();
    assert_eq!((plain.totals.hit_tokens, plain.totals.prefill_tokens), (0, 58));
}

/// A prompt that is known to its last token still computes one block of it; equal ones of a step share at once.
#[test]
fn one_token_is_always_computed() {
    let settings = Settings { prefix: true, ..Settings::new(4, 64, 4, 64) };
    let hits = |list: &[(f64, u32)]| {
        let list: Vec<Request> =
            list.iter().map(|(at, n)| Request { group: 1, shared: *n, ..Request::new(*at, *n, 1) }).collect();
        continuous(&list, &settings, Detail::Summary).unwrap().totals.hit_tokens
    };
    assert_eq!((hits(&[(0.0, 8), (5.0, 8)]), hits(&[(0.0, 8), (5.0, 9)])), (4, 8));
    assert_eq!((hits(&[(0.0, 9), (0.0, 9)]), hits(&[(0.0, 3), (5.0, 3)])), (8, 0));
    // Check question 1 of the brief: blocks of 16, 40 tokens in common: 32.
    let settings = Settings { prefix: true, ..Settings::new(4, 256, 16, 64) };
    let list = [0.0, 5.0].map(|at| Request { group: 1, shared: 40, ..Request::new(at, 100, 1) });
    assert_eq!(continuous(&list, &settings, Detail::Summary).unwrap().totals.hit_tokens, 32);
}

/// A victim finds its own blocks again while nobody has taken them.
#[test]
fn a_victim_finds_what_it_left() {
    let list = [(0.0, 4, 6); 3];
    let settings = Settings::new(3, 64, 4, 5);
    let plain = run(&list, settings).totals;
    let cached = run(&list, Settings { prefix: true, ..settings }).totals;
    assert!(cached.hit_tokens > 0 && cached.preemptions > 0);
    assert!(cached.prefill_tokens < plain.prefill_tokens, "{cached:?} {plain:?}");
}

/// With shared beginnings, too: holders are counted, tokens add up, every state is met again on the way back, and a run that
/// is not kept comes to the same.
#[test]
fn what_holds_with_prefixes() {
    let mut random = Random::new(29);
    let (mut n_hits, mut n_evicted, mut n_preempted) = (0, 0, 0);
    for _ in 0..300 {
        let (mut list, mut settings) = any_stream(&mut random);
        settings.prefix = true;
        for one in &mut list {
            one.group = (random.word() % 3) as u32;
            one.shared = (random.word() % u64::from(one.prompt + 1)) as u32;
        }
        let outcome = continuous(&list, &settings, Detail::Events).unwrap();
        let mut cursor = Cursor::new(&list, settings.policy, settings.pool_blocks, &outcome.record);
        for (idx, row) in outcome.record.rows.iter().enumerate() {
            let state = cursor.seek_step(idx + 1);
            let mut holders = vec![0; settings.pool_blocks as usize];
            for (request, table) in state.tables.iter().enumerate() {
                table.iter().for_each(|block| holders[*block as usize] += 1);
                let is_running = state.phases[request] == Phase::Running;
                let blocks = if is_running { state.computed[request].div_ceil(settings.block_tokens) } else { 0 };
                assert_eq!(table.len() as u32, blocks, "{list:?} {settings:?} step {}", idx + 1);
            }
            assert_eq!(holders, state.holders);
            for (block, owner) in state.owners.iter().enumerate() {
                let is_right =
                    owner.map_or(holders[block] == 0, |one| state.tables[one as usize].contains(&(block as u32)));
                assert!(is_right, "block {block} of {owner:?}");
            }
            assert!(row.cached_tokens <= u64::from(row.used_blocks) * u64::from(settings.block_tokens));
        }
        let n = outcome.record.events.len();
        let states: Vec<_> = (0..n + 1).step_by(7).map(|at| cursor.seek(at).clone()).collect();
        for at in (0..n + 1).step_by(7).rev() {
            assert_eq!(cursor.seek(at), &states[at / 7]);
        }
        let totals = outcome.totals;
        let needed: u64 = list.iter().map(|one| u64::from(one.kv_tokens())).sum();
        assert_eq!(totals.prefill_tokens + totals.decode_tokens + totals.hit_tokens, needed + totals.discarded_tokens);
        let summary = continuous(&list, &settings, Detail::Summary).unwrap();
        assert_eq!((summary.totals, summary.done), (totals, outcome.done.clone()));
        n_hits += totals.hit_tokens;
        n_evicted += totals.evictions;
        n_preempted += totals.preemptions;
    }
    assert!(n_hits > 1000 && n_evicted > 100 && n_preempted > 50, "{n_hits} {n_evicted} {n_preempted}");
}

/// 100,000 requests within a second, prefixes recognised or not. The bound is for a build without optimisation.
#[test]
fn a_hundred_thousand_requests() {
    let gaps = crate::arrivals::Gaps::Gamma { rate: 1.0, burstiness: 1.0 };
    let length = |mean, most| crate::arrivals::Length::LogNormal { mean, sigma: 0.7, most };
    let stream = crate::arrivals::Stream {
        n_requests: 100_000,
        gaps,
        prompt: length(200.0, 2048),
        output: length(40.0, 512),
        seed: 5,
    };
    let mut list = stream.requests().unwrap();
    for (idx, one) in list.iter_mut().enumerate() {
        (one.group, one.shared) = (1 + idx as u32 % 50, one.prompt.min(128));
    }
    for prefix in [false, true] {
        let settings = Settings { prefix, ..Settings::new(256, 2048, 16, 8192) };
        let outcome = continuous(&list, &settings, Detail::Summary).unwrap();
        assert!(outcome.done.iter().all(|done| *done > 0.0));
        assert_eq!(outcome.totals.hit_tokens > 1_000_000, prefix);
    }
}
