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
