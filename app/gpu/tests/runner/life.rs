//! The life of the child: cancel, restart, crash loop, and what becomes of it when the window goes.

use crate::stage::{FAKE, client, client_with, is_failed, is_state, job, limits, run, until};
use std::io::{Read as _, Write as _};
use std::ops::ControlFlow;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use vramlab_gpu::RunError;
use vramlab_gpu::backend::fake;
use vramlab_gpu::child::{self, Ended, Host};
use vramlab_gpu::client::{Client, ClientEvent, Connect, Exit, Limits, Link, Peer, RunnerState, Spawn, Target};
use vramlab_gpu::protocol::{FromChild, ToChild, VERSION};
use vramlab_gpu::wire;
use vramlab_trace::Backend as Kind;

#[test]
fn a_cancel_is_felt_at_once_and_the_same_child_goes_on() {
    let mut client = client("slow");
    let first = client.start(FAKE, job(60.0));
    until(&mut client, |event| matches!(event, ClientEvent::Started { .. }));
    client.cancel(first);
    let events = until(&mut client, is_failed);
    assert!(events.contains(&ClientEvent::Failed { id: first, error: RunError::Cancelled }));
    let second = client.start(FAKE, job(60.0));
    let events = until(&mut client, |event| *event == ClientEvent::Job(FromChild::Done { job_id: second }));
    assert!(!events.contains(&ClientEvent::State(RunnerState::Starting)), "no second child was needed");
}

#[test]
fn a_cancel_that_is_ignored_ends_the_child_and_the_next_job_runs_in_a_new_one() {
    let mut client = client_with("hang", Limits { cancel: Duration::from_millis(200), ..limits() });
    let first = client.start(FAKE, job(60.0));
    until(&mut client, |event| matches!(event, ClientEvent::Started { .. }));
    client.cancel(first);
    until(&mut client, is_failed);
    let second = client.start(FAKE, job(0.3));
    let events = until(&mut client, is_failed);
    assert!(events.contains(&ClientEvent::Failed { id: second, error: RunError::Deadline { secs: 0.3 } }));
}

#[test]
fn a_job_that_waits_can_be_cancelled_and_jobs_keep_their_order() {
    let mut client = client("slow");
    let ids: Vec<u64> = (0..3).map(|_| client.start(FAKE, job(60.0))).collect();
    client.cancel(ids[1]);
    let events = until(&mut client, |event| *event == ClientEvent::Job(FromChild::Done { job_id: ids[2] }));
    let ends: Vec<_> = events.iter().filter(|event| event.is_last()).filter_map(ClientEvent::id).collect();
    assert_eq!(ends, [ids[1], ids[0], ids[2]]);
}

#[test]
fn a_blocking_run_can_be_interrupted_while_nothing_happens() {
    let mut client = client_with("hang", Limits { cancel: Duration::from_millis(200), ..limits() });
    let result = client.run_blocking(FAKE, job(60.0), |event| match event {
        ClientEvent::State(RunnerState::Busy) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    assert_eq!(result.unwrap_err(), RunError::Cancelled);
}

#[test]
fn r9_three_crashes_turn_the_runner_off_until_it_is_reset() {
    let mut client = client("crash_at_start");
    for _ in 0..3 {
        assert!(matches!(run(&mut client, 30.0).unwrap_err(), RunError::Died { .. }));
    }
    let off = RunError::CrashLoop { times: 3, secs: 120.0 };
    assert_eq!(run(&mut client, 30.0).unwrap_err(), off);
    assert_eq!(client.facts_blocking(FAKE).unwrap_err(), off);
    client.reset();
    assert!(matches!(run(&mut client, 30.0).unwrap_err(), RunError::Died { .. }));
}

#[test]
fn r9_crashes_that_lie_far_apart_are_no_loop() {
    let limits = Limits { crash_window: Duration::ZERO, ..limits() };
    let mut client = client_with("crash_at_start", limits);
    for _ in 0..5 {
        assert!(matches!(run(&mut client, 30.0).unwrap_err(), RunError::Died { .. }));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn r9_a_crash_leaves_no_core_file() {
    let mut child = start(&["slow"]);
    assert!(read_line(&mut child).contains("hello"));
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", child.id())).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(core.split_whitespace().skip(4).collect::<Vec<_>>(), ["0", "0", "bytes"]);
    child.kill().unwrap();
    child.wait().unwrap();
}

fn start(args: &[&str]) -> std::process::Child {
    Command::new(env!("CARGO_BIN_EXE_vramlab-fake-runner"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn read_line(child: &mut std::process::Child) -> String {
    let mut line = Vec::new();
    let mut byte = [0];
    while child.stdout.as_mut().unwrap().read(&mut byte).unwrap() == 1 && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    String::from_utf8(line).unwrap()
}

#[test]
fn r10_a_child_whose_parent_is_gone_leaves_within_a_second_even_from_an_endless_kernel() {
    for script in ["ok", "slow", "hang"] {
        let mut child = start(&[script]);
        let mut input = child.stdin.take().unwrap();
        let mut say = |message: &ToChild| wire::write(&mut input, message).unwrap();
        say(&ToChild::Hello { version: VERSION });
        say(&ToChild::Open { backend: Kind::Fake, budget_bytes: None });
        let mut job = job(60.0);
        job.id = 1;
        say(&ToChild::Run { job: Box::new(job) });
        while !read_line(&mut child).contains("rung") {}
        drop(input);
        let start = Instant::now();
        let status = loop {
            match child.try_wait().unwrap() {
                Some(status) => break status,
                None => std::thread::sleep(Duration::from_millis(5)),
            }
            assert!(start.elapsed() < Duration::from_secs(20), "{script}: still there");
        };
        // One second is promised; a busy test machine gets a second more.
        assert!(start.elapsed() < Duration::from_secs(2), "{script}: {:?}", start.elapsed());
        assert!(status.success(), "{script}: {status}");
    }
}

/// Notes the process numbers of the children that it starts.
#[derive(Clone)]
struct Noting(Spawn, Arc<Mutex<Vec<u32>>>);

impl Connect for Noting {
    fn connect(&mut self) -> Result<Link, RunError> {
        let link = self.0.connect()?;
        self.1.lock().unwrap().extend(link.peer.pid());
        Ok(link)
    }
}

fn noting(script: &str) -> (Client, Arc<Mutex<Vec<u32>>>) {
    let pids = Arc::new(Mutex::new(Vec::new()));
    let connect = Noting(Spawn::program(env!("CARGO_BIN_EXE_vramlab-fake-runner"), [script]), pids.clone());
    (Client::new(connect, limits(), Arc::new(|| {})), pids)
}

#[cfg(target_os = "linux")]
#[test]
fn r10_a_window_that_closes_takes_its_child_along() {
    for script in ["ok", "hang"] {
        let (mut client, pids) = noting(script);
        client.start(FAKE, job(60.0));
        until(&mut client, |event| matches!(event, ClientEvent::Started { .. }));
        let pid = pids.lock().unwrap()[0];
        let start = Instant::now();
        drop(client);
        assert!(start.elapsed() < Duration::from_secs(2), "{script}: closing took {:?}", start.elapsed());
        // A killed process leaves when the system next runs it; a zombie holds nothing any more.
        loop {
            let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            if state.is_empty() || state.contains(") Z ") {
                break;
            }
            assert!(start.elapsed() < Duration::from_secs(4), "{script}: {state}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn r8_an_idle_child_that_the_system_kills_is_replaced_for_the_next_run() {
    let (mut client, pids) = noting("ok");
    assert!(run(&mut client, 30.0).is_ok());
    let pid = pids.lock().unwrap()[0].to_string();
    assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    until(&mut client, is_state(RunnerState::Off));
    assert!(run(&mut client, 30.0).is_ok());
    assert_eq!(pids.lock().unwrap().len(), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn r8_a_busy_child_that_the_system_kills_is_reported_with_the_signal() {
    let (mut client, pids) = noting("hang");
    client.start(FAKE, job(60.0));
    until(&mut client, |event| matches!(event, ClientEvent::Job(FromChild::Rung { .. })));
    let pid = pids.lock().unwrap()[0].to_string();
    assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    let events = until(&mut client, is_failed);
    let Some(ClientEvent::Failed { error: RunError::Died { how, .. }, .. }) = events.iter().find(|e| is_failed(e))
    else {
        panic!("{events:?}")
    };
    assert!(how.to_string().contains("SIGKILL"), "{how}");
}

#[test]
fn the_window_is_woken_whenever_there_is_something_to_collect() {
    let woken = Arc::new(AtomicUsize::new(0));
    let counter = woken.clone();
    let wake = Arc::new(move || {
        counter.fetch_add(1, Ordering::SeqCst);
    });
    let spawn = Spawn::program(env!("CARGO_BIN_EXE_vramlab-fake-runner"), ["ok"]);
    let mut client = Client::new(spawn, limits(), wake);
    client.start(FAKE, job(30.0));
    let events = until(&mut client, |event| matches!(event, ClientEvent::Job(FromChild::Done { .. })));
    assert!(woken.load(Ordering::SeqCst) >= events.len());
}

/// A child on a pair of pipes inside this process: the protocol needs no process.
struct InProcess(&'static str);

struct Thread;

impl Peer for Thread {
    fn ended(&mut self) -> Option<Exit> {
        None
    }
    fn kill(&mut self) {}
}

impl Connect for InProcess {
    fn connect(&mut self) -> Result<Link, RunError> {
        let (child_input, output) = std::io::pipe().unwrap();
        let (input, child_output) = std::io::pipe().unwrap();
        let script = fake::Script::find(self.0).unwrap();
        std::thread::spawn(move || {
            let open = Box::new(move |_, _| fake::open(script));
            child::serve(child_input, child_output, Host { open, gone: || {}, program: "in process".to_owned() })
        });
        Ok(Link { input: Box::new(input), output: Box::new(output), words: None, peer: Box::new(Thread) })
    }
}

#[test]
fn the_protocol_runs_over_any_byte_stream() {
    let mut client = Client::new(InProcess("ok"), limits(), Arc::new(|| {}));
    assert_eq!(run(&mut client, 30.0).unwrap().len(), 2);
    let facts = client.facts_blocking(Target::new(Kind::Fake)).unwrap();
    assert_eq!(facts.name, "scripted device (ok)");
}

/// A child that dies slowly, as a process does whose driver still frees its memory.
struct Lingering(Arc<AtomicUsize>);

impl Peer for Lingering {
    fn ended(&mut self) -> Option<Exit> {
        // 1 once it was ended, then some looks at it, and a hundred when it is gone.
        match self.0.load(Ordering::SeqCst) {
            0 => None,
            100.. => Some(Exit { code: None, signal: Some(9) }),
            _ => {
                self.0.fetch_add(9, Ordering::SeqCst);
                None
            }
        }
    }

    fn kill(&mut self) {
        let _ = self.0.compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst);
    }
}

/// Starts a lingering child that hangs, and counts how many of them were alive at once.
struct Slowly(Arc<Mutex<Vec<Arc<AtomicUsize>>>>);

impl Connect for Slowly {
    fn connect(&mut self) -> Result<Link, RunError> {
        let mut link = InProcess("hang").connect()?;
        let mut all = self.0.lock().unwrap();
        assert!(all.iter().all(|life| life.load(Ordering::SeqCst) >= 100), "the last child is still there");
        let life = Arc::new(AtomicUsize::new(0));
        all.push(life.clone());
        link.peer = Box::new(Lingering(life));
        Ok(link)
    }
}

#[test]
fn r6_the_next_child_waits_until_the_last_one_has_given_its_memory_back() {
    let lives = Arc::new(Mutex::new(Vec::new()));
    let mut client = Client::new(Slowly(lives.clone()), limits(), Arc::new(|| {}));
    client.start(FAKE, job(0.2));
    client.start(FAKE, job(0.2));
    let mut all = until(&mut client, is_state(RunnerState::Releasing));
    while all.iter().filter(|event| is_failed(event)).count() < 2 {
        all.extend(until(&mut client, is_failed));
    }
    let states: Vec<_> = all.iter().filter(|event| matches!(event, ClientEvent::State(_))).collect();
    let order = [RunnerState::Starting, RunnerState::Busy, RunnerState::Releasing, RunnerState::Starting];
    let order: Vec<_> = order.into_iter().map(ClientEvent::State).collect();
    let mut wanted = order.iter().peekable();
    for state in states {
        wanted.next_if(|next| *next == state);
    }
    assert!(wanted.peek().is_none(), "{all:?}");
    assert_eq!(lives.lock().unwrap().len(), 2);
}

/// Feeds the child a fixed text and returns how it ended and what it said.
fn child_hears(text: &[u8]) -> (Ended, Vec<FromChild>) {
    let (input, mut ours) = std::io::pipe().unwrap();
    let (hear, output) = std::io::pipe().unwrap();
    ours.write_all(text).unwrap();
    drop(ours);
    let open = Box::new(|_, _| fake::open(fake::Script::find("ok").unwrap()));
    let ended = child::serve(input, output, Host { open, gone: || {}, program: "test".to_owned() });
    let mut hear = std::io::BufReader::new(hear);
    let mut said = Vec::new();
    while let Some(message) = wire::read(&mut hear).unwrap() {
        said.push(message);
    }
    (ended, said)
}

#[test]
fn r16_a_child_refuses_a_parent_of_another_version() {
    let (ended, said) = child_hears(b"{\"say\":\"hello\",\"version\":99}\n");
    assert_eq!(ended, Ended::Version);
    let error = RunError::Version { ours: 99, theirs: VERSION };
    assert_eq!(said.last(), Some(&FromChild::Failed { job_id: None, error }));
}

#[test]
fn r8_a_child_refuses_what_is_not_the_protocol() {
    for text in
        ["GET / HTTP/1.1\n", "{\"say\":\"quit\"", "{\"say\":\"open\",\"backend\":\"fake\",\"budget_bytes\":null}\n"]
    {
        let (ended, said) = child_hears(text.as_bytes());
        assert_eq!(ended, Ended::Protocol, "{text}");
        assert!(matches!(said.last(), Some(FromChild::Failed { job_id: None, error: RunError::Protocol { .. } })));
    }
}

#[test]
fn r10_a_closed_stream_is_a_quiet_end() {
    assert_eq!(child_hears(b"").0, Ended::Quit);
    assert_eq!(child_hears(b"{\"say\":\"hello\",\"version\":1}\n").0, Ended::Quit);
}

#[test]
fn states_tell_the_window_what_the_runner_does() {
    let mut client = client("ok");
    client.open(FAKE);
    let events = until(&mut client, is_state(RunnerState::Ready));
    let states: Vec<_> = events
        .iter()
        .filter_map(|event| if let ClientEvent::State(state) = event { Some(*state) } else { None })
        .collect();
    assert_eq!(states.first(), Some(&RunnerState::Starting));
    assert_eq!(states.last(), Some(&RunnerState::Ready));
}
