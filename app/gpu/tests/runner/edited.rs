//! An edited source in the child: compiled, run, refused, ended; whatever it does, the next one is served.

use crate::stage::{FAKE, client, is_failed, job, until};
use std::ops::ControlFlow;
use vramlab_gpu::RunError;
use vramlab_gpu::build::Build;
use vramlab_gpu::client::{Client, ClientEvent};
use vramlab_gpu::protocol::{FromChild, Inspect, Job};

fn edited(source: &str, asked: Inspect, deadline_secs: f64) -> Job {
    let mut job = job(deadline_secs);
    job.plan.points.truncate(1);
    job.sources.insert("scripted.cu".to_owned(), source.to_owned());
    job.inspect = Some(asked);
    job
}

/// Builds and points that came, and how it ended.
fn run(client: &mut Client, job: Job) -> (Vec<Build>, Result<usize, RunError>) {
    let mut builds = Vec::new();
    let ended = client.run_blocking(FAKE, job, |event| {
        if let ClientEvent::Job(FromChild::Built { build, .. }) = event {
            builds.push((**build).clone());
        }
        ControlFlow::Continue(())
    });
    (builds, ended.map(|points| points.len()))
}

#[test]
fn a_source_is_compiled_and_run_only_if_asked() {
    let mut client = client("ok");
    let (builds, ended) = run(&mut client, edited("the text", Inspect::Only, 30.0));
    assert_eq!((builds.len(), ended), (1, Ok(0)));
    assert_eq!(builds[0].ptx, "the text");
    // 32 registers and 256 threads fill an SM of compute capability 9.0.
    assert_eq!((builds[0].entries[0].blocks_per_sm, builds[0].entries[0].occupancy), (8, 1.0));
    let (builds, ended) = run(&mut client, edited("the text", Inspect::AndRun, 30.0));
    assert_eq!((builds.len(), ended), (1, Ok(1)));
    let (builds, ended) = run(&mut client, job(30.0));
    assert_eq!((builds.len(), ended), (0, Ok(2)), "who does not ask hears nothing of compilers");
}

#[test]
fn a_syntax_error_comes_with_its_log_and_before_any_run() {
    let mut client = client("compile_error");
    for asked in [Inspect::Only, Inspect::AndRun] {
        let (builds, ended) = run(&mut client, edited("x", asked, 30.0));
        let Err(RunError::Compile { log, .. }) = ended else { panic!("{ended:?}") };
        assert!(builds.is_empty() && log.contains("(3): error"));
    }
}

#[test]
fn a_compiler_that_never_ends_is_ended_at_the_deadline() {
    let mut client = client("compile_hangs");
    for _ in 0..2 {
        let (_, ended) = run(&mut client, edited("x", Inspect::Only, 0.4));
        assert_eq!(ended, Err(RunError::Deadline { secs: 0.4 }));
    }
}

#[test]
fn an_endless_kernel_is_ended_after_its_build_was_told() {
    let mut client = client("hang");
    let (builds, ended) = run(&mut client, edited("while (true) {}", Inspect::AndRun, 0.4));
    assert_eq!((builds.len(), ended), (1, Err(RunError::Deadline { secs: 0.4 })));
    let (builds, ended) = run(&mut client, edited("x", Inspect::Only, 30.0));
    assert_eq!((builds.len(), ended), (1, Ok(0)), "a new child serves the next source");
}

#[test]
fn an_illegal_address_and_a_dead_child_cost_one_run() {
    for script in ["illegal_address", "segfault", "exit_139", "panic"] {
        let mut client = client(script);
        let (builds, ended) = run(&mut client, edited("x", Inspect::AndRun, 30.0));
        assert!(builds.len() == 1 && ended.is_err(), "{script}: {ended:?}");
        let (builds, ended) = run(&mut client, edited("x", Inspect::Only, 30.0));
        assert_eq!((builds.len(), ended), (1, Ok(0)), "{script}");
    }
}

#[test]
fn too_much_shared_memory_is_an_error_that_the_child_survives() {
    let mut client = client("shared_memory");
    for _ in 0..3 {
        let (_, ended) = run(&mut client, edited("x", Inspect::AndRun, 30.0));
        let Err(RunError::Device { is_fatal, .. }) = ended else { panic!("{ended:?}") };
        assert!(!is_fatal);
    }
}

#[test]
fn a_compilation_can_be_cancelled_while_the_window_polls() {
    let mut client = client("slow");
    let id = client.start(FAKE, edited("x", Inspect::Only, 30.0));
    until(&mut client, |event| *event == ClientEvent::Started { job_id: id });
    client.cancel(id);
    let events = until(&mut client, is_failed);
    assert!(events.contains(&ClientEvent::Failed { id, error: RunError::Cancelled }), "{events:?}");
}
