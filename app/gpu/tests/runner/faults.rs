//! What goes wrong inside a job or inside the protocol, and what the reader gets to see.

use crate::stage::{FAKE, client, client_with, is_failed, job, limits, run, until};
use std::time::{Duration, Instant};
use vramlab_gpu::RunError;
use vramlab_gpu::backend::fake::SCRIPTS;
use vramlab_gpu::client::{ClientEvent, Limits, RunnerState};
use vramlab_gpu::protocol::FromChild;
use vramlab_trace::{Invalid, OracleOutcome};
use vramlab_units::Lang;

#[test]
fn a_healthy_job_gives_its_points_in_order() {
    let mut client = client("ok");
    let points = run(&mut client, 30.0).unwrap();
    assert_eq!(points.iter().map(|point| point.median_ns().unwrap()).collect::<Vec<_>>(), [1000.0, 2000.0]);
    assert_eq!(client.facts(FAKE.backend).unwrap().name, "scripted device (ok)");
}

#[test]
fn r1_to_r3_what_is_missing_is_a_value_that_says_what_to_do() {
    for (script, says) in [("no_driver", "no NVIDIA driver"), ("old_driver", "12.0"), ("no_nvrtc", "libnvrtc")] {
        let mut client = client(script);
        let error = client.facts_blocking(FAKE).unwrap_err();
        let RunError::Unavailable { what, fix } = &error else { panic!("{script}: {error:?}") };
        assert!(what.get(Lang::En).contains(says) && !fix.get(Lang::Zh).is_empty(), "{error}");
        // The child that said so lives on, and says so again.
        assert_eq!(client.facts_blocking(FAKE).unwrap_err(), error);
    }
}

#[test]
fn r4_a_compile_error_carries_log_and_options_and_the_child_lives_on() {
    let mut client = client("compile_error");
    for _ in 0..5 {
        let RunError::Compile { log, options, .. } = run(&mut client, 30.0).unwrap_err() else { panic!() };
        assert!(log.contains("(3): error") && !options.is_empty());
    }
    assert!(!client.poll().contains(&ClientEvent::State(RunnerState::CrashLoop)));
}

#[test]
fn r5_a_lost_context_names_code_and_kernel_and_a_new_child_serves_the_next_run() {
    for (script, expected) in [("illegal_address", 700), ("misaligned_address", 716), ("device_assert", 710)] {
        let mut client = client(script);
        // More often than a crash loop allows: a reader's faulty kernel is not a crash of the runner.
        for _ in 0..4 {
            let error = run(&mut client, 30.0).unwrap_err();
            let RunError::Device { code, kernel, is_fatal, .. } = error else { panic!("{error:?}") };
            assert_eq!((code, kernel.as_str(), is_fatal), (expected, "scripted", true));
        }
        assert_eq!(starts(&client.poll()), 0, "blocking calls leave no events behind");
    }
}

#[test]
fn r5_each_lost_context_gets_a_new_child_while_the_window_polls() {
    let mut client = client("illegal_address");
    let mut all = Vec::new();
    for _ in 0..2 {
        client.start(FAKE, job(30.0));
        all.extend(until(&mut client, is_failed));
        all.extend(until(&mut client, |event| *event == ClientEvent::State(RunnerState::Off)));
    }
    assert_eq!(starts(&all), 2, "{all:?}");
}

fn starts(events: &[ClientEvent]) -> usize {
    events.iter().filter(|event| **event == ClientEvent::State(RunnerState::Starting)).count()
}

#[test]
fn r6_an_endless_kernel_is_ended_at_its_deadline() {
    let mut client = client("hang");
    let start = Instant::now();
    assert_eq!(run(&mut client, 0.4).unwrap_err(), RunError::Deadline { secs: 0.4 });
    assert!(start.elapsed() >= Duration::from_millis(400));
    // The same again: the ended child does not stand in the way of the next one.
    assert_eq!(run(&mut client, 0.4).unwrap_err(), RunError::Deadline { secs: 0.4 });
}

#[test]
fn r7_out_of_memory_tells_asked_free_and_total_and_the_child_lives_on() {
    let mut client = client("out_of_memory");
    for _ in 0..4 {
        let error = run(&mut client, 30.0).unwrap_err();
        assert_eq!(error, RunError::OutOfMemory { asked_bytes: 6 << 30, free_bytes: 1 << 30, total_bytes: 8 << 30 });
    }
}

#[test]
fn r7_a_plan_over_the_budget_is_refused_before_it_allocates() {
    let mut client = client("ok");
    let mut big = job(30.0);
    big.plan.peak_bytes = 4 << 30;
    let error = client.run_blocking(FAKE, big, |_| std::ops::ControlFlow::Continue(())).unwrap_err();
    // Half of the 6 GiB that the scripted device says are free.
    assert_eq!(error, RunError::OverBudget { asked_bytes: 4 << 30, budget_bytes: 3 << 30 });
}

#[track_caller]
fn died(script: &str, limits: Limits, says: &str) {
    let mut client = client_with(script, limits);
    let error = run(&mut client, 30.0).unwrap_err();
    let RunError::Died { how, .. } = &error else { panic!("{script}: {error:?}") };
    assert!(how.to_string().contains(says), "{script}: {how}");
}

#[test]
fn r8_an_exit_is_reported_as_the_value_it_was() {
    died("exit_139", limits(), "exit status 139");
    died("panic", limits(), "a scripted panic");
    #[cfg(unix)]
    died("segfault", limits(), "SIGSEGV");
}

#[test]
fn r8_the_last_words_of_a_panic_are_kept() {
    let mut client = client("panic");
    let RunError::Died { last_words, .. } = run(&mut client, 30.0).unwrap_err() else { panic!() };
    assert!(last_words.unwrap().contains("a scripted panic"));
}

#[test]
fn r8_a_child_that_stands_still_or_never_speaks_is_ended() {
    died("frozen", Limits { silence: Duration::from_millis(900), ..limits() }, "no sign of life");
    died("silent", Limits { hello: Duration::from_millis(300), ..limits() }, "did not greet");
    #[cfg(unix)]
    died("closes_pipes", Limits { exit: Duration::from_millis(300), ..limits() }, "closed its pipes");
}

#[track_caller]
fn not_the_protocol(script: &str, says: &str) {
    let mut client = client(script);
    let error = run(&mut client, 30.0).unwrap_err();
    let RunError::Protocol { what } = &error else { panic!("{script}: {error:?}") };
    assert!(what.contains(says), "{script}: {what}");
}

#[test]
fn r8_what_is_not_the_protocol_is_quoted_with_its_first_bytes() {
    not_the_protocol("garbage", "NVRM: GPU at PCI");
    not_the_protocol("cut_line", "the line was cut");
    not_the_protocol("flood", "longer than 8388608 bytes");
    not_the_protocol("wrong_job", "which nobody asked for");
}

#[test]
fn r8_a_library_that_prints_cannot_speak_into_the_protocol() {
    assert_eq!(run(&mut client("prints"), 30.0).unwrap().len(), 2);
}

#[test]
fn r8_answers_for_a_cancelled_job_are_not_taken_for_the_next_one() {
    let mut client = client("late_answer");
    let first = client.start(FAKE, job(30.0));
    until(&mut client, |event| matches!(event, ClientEvent::Job(FromChild::Progress { .. })));
    client.cancel(first);
    let second = client.start(FAKE, job(30.0));
    let events = until(&mut client, |event| *event == ClientEvent::Job(FromChild::Done { job_id: second }));
    let about_first: Vec<_> = events.iter().filter(|event| event.id() == Some(first)).collect();
    assert_eq!(about_first, [&ClientEvent::Failed { id: first, error: RunError::Cancelled }]);
    let about_second: Vec<_> = events.iter().filter(|event| event.id() == Some(second)).collect();
    assert_eq!(
        about_second,
        [&ClientEvent::Started { job_id: second }, &ClientEvent::Job(FromChild::Done { job_id: second })]
    );
}

#[test]
fn r11_a_gpu_that_another_program_has_is_named_and_the_next_try_asks_again() {
    let mut client = client("exclusive");
    for _ in 0..4 {
        let error = run(&mut client, 30.0).unwrap_err();
        assert!(matches!(error, RunError::Device { code: 46, is_fatal: false, .. }), "{error:?}");
    }
}

#[test]
fn r11_a_shared_gpu_is_told_with_the_progress() {
    let mut client = client("shared_gpu");
    client.start(FAKE, job(30.0));
    let events = until(&mut client, |event| matches!(event, ClientEvent::Job(FromChild::Done { .. })));
    let shared = events.iter().filter(
        |event| matches!(event, ClientEvent::Job(FromChild::Progress { telemetry, .. }) if telemetry.other_processes == Some(1)),
    );
    assert_eq!(shared.count(), 2);
}

#[test]
fn r12_a_lost_gpu_costs_the_run_and_not_the_window() {
    let mut client = client("gpu_lost");
    for _ in 0..2 {
        assert!(run(&mut client, 30.0).unwrap_err().to_string().contains("the GPU is lost"));
    }
}

#[test]
fn r14_a_wrong_result_arrives_marked_with_its_first_wrong_index() {
    for (script, is_nan) in [("wrong_result", false), ("nan_result", true)] {
        let points = run(&mut client(script), 30.0).unwrap();
        for point in points {
            assert_eq!(point.invalid, Some(Invalid::WrongResult));
            let Some(OracleOutcome::Failed { first_wrong_idx, found, .. }) = point.oracle else { panic!("{script}") };
            assert_eq!((first_wrong_idx, found.is_nan()), (17, is_nan), "{script}");
        }
    }
}

#[test]
fn r16_another_protocol_version_asks_for_a_restart() {
    let mut client = client("old_version");
    for _ in 0..4 {
        let error = run(&mut client, 30.0).unwrap_err();
        assert_eq!(error, RunError::Version { ours: 1, theirs: 0 });
        assert!(error.to_string().contains("restart"));
    }
}

#[test]
fn r16_a_program_that_moved_away_says_so() {
    let spawn = vramlab_gpu::client::Spawn::program("/no such folder/显存/vramlab", ["__runner"]);
    let mut client = vramlab_gpu::client::Client::new(spawn, limits(), std::sync::Arc::new(|| {}));
    let error = client.facts_blocking(FAKE).unwrap_err();
    assert!(
        matches!(&error, RunError::Unavailable { what, .. } if what.get(Lang::Zh).contains("显存/vramlab")),
        "{error:?}"
    );
}

#[test]
fn every_script_ends_in_a_value_within_bounds() {
    for script in SCRIPTS {
        let short = Duration::from_millis(900);
        let mut client = client_with(script.id, Limits { hello: short, silence: short, exit: short, ..limits() });
        client.start(FAKE, job(1.5));
        if script.id == "late_answer" {
            client.cancel(1);
        }
        until(&mut client, |event| event.is_last());
    }
}
