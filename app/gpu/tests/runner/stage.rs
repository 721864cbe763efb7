//! A client with a scripted child, and a job for it.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vramlab_gpu::RunError;
use vramlab_gpu::client::{Client, ClientEvent, Limits, RunnerState, Spawn, Target};
use vramlab_gpu::protocol::Job;
use vramlab_trace::{Backend as Kind, Point};

pub const FAKE: Target = Target { backend: Kind::Fake, budget_bytes: None };
const PROGRAM: &str = env!("CARGO_BIN_EXE_vramlab-fake-runner");

/// Limits that never pass in a test that does not ask for it.
pub fn limits() -> Limits {
    let long = Duration::from_secs(60);
    Limits { hello: long, open: long, silence: long, cancel: long, exit: long, release: long, ..Limits::default() }
}

pub fn client(script: &str) -> Client {
    client_with(script, limits())
}

pub fn client_with(script: &str, limits: Limits) -> Client {
    let spawn = Spawn::program(PROGRAM, [script]);
    Client::new(spawn, limits, Arc::new(|| {}))
}

/// A job of two points; `deadline_secs` is what its plan allows.
pub fn job(deadline_secs: f64) -> Job {
    let point = |x: f64| serde_json::json!({ "series": "only", "x": x, "params": {}, "vars": {}, "predicted": 1.0, "n_samples": 3 });
    let text = serde_json::json!({
        "id": 0,
        "kernel": {
            "schema": 1, "slug": "scripted", "title": { "en": "t" }, "about": { "en": "a" },
            "work": {}, "oracle": { "id": "none" }, "safety": { "en": "s" }, "cuda": null, "cpu": null,
        },
        "sources": {},
        "plan": {
            "experiment": "scripted/main", "mode": "quick", "points": [point(1.0), point(2.0)],
            "peak_bytes": 1024, "deadline_secs": deadline_secs,
        },
        "counters": [], "seed": 1,
    });
    serde_json::from_value(text).unwrap()
}

pub fn run(client: &mut Client, deadline_secs: f64) -> Result<Vec<Point>, RunError> {
    client.run_blocking(FAKE, job(deadline_secs), |_| ControlFlow::Continue(()))
}

/// Polls as a window would, until `done` is satisfied by an event; panics after a minute. Every poll must return at
/// once: a window never stalls. One that waited for the child would take up to the minute of the limits; a second is for
/// a test machine that is busy.
#[track_caller]
pub fn until(client: &mut Client, mut done: impl FnMut(&ClientEvent) -> bool) -> Vec<ClientEvent> {
    let start = Instant::now();
    let mut all = Vec::new();
    while start.elapsed() < Duration::from_secs(60) {
        let asked = Instant::now();
        let events = client.poll();
        assert!(asked.elapsed() < Duration::from_secs(1), "poll took {:?}", asked.elapsed());
        let is_done = events.iter().any(&mut done);
        all.extend(events);
        if is_done {
            return all;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    panic!("nothing came in a minute: {all:?}");
}

pub fn is_failed(event: &ClientEvent) -> bool {
    matches!(event, ClientEvent::Failed { .. })
}

pub fn is_state(state: RunnerState) -> impl Fn(&ClientEvent) -> bool {
    move |event| *event == ClientEvent::State(state)
}
