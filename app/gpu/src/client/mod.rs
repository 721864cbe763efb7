//! The parent's side: one child, one job at a time, and nothing that the child does can stall or end the window.
//!
//! [`Client`] never blocks: `start` and `cancel` post a wish, `poll` collects what happened, the wake callback says
//! that there is something to collect. A thread of its own (`supervisor.rs`) owns the child, every deadline, the kill
//! and the restarts. [`Client::run_blocking`] is the same for the command line. What a child is reached by is a
//! [`Connect`] (`link.rs`); `process.rs` is the one that starts our own executable.

mod link;
mod process;
mod session;
mod supervisor;

pub use link::{Connect, Exit, Link, Peer};
pub use process::Spawn;

use crate::error::RunError;
use crate::protocol::{FromChild, Job};
use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use vramlab_trace::{Backend as Kind, DeviceFacts, Point};

/// How long each thing may take. A job's own deadline is part of its plan.
#[derive(Clone, Debug)]
pub struct Limits {
    /// From start to greeting.
    pub hello: Duration,
    /// Opening a back end; a cold driver takes seconds.
    pub open: Duration,
    /// Silence of a busy child.
    pub silence: Duration,
    /// From cancel to an answer, then it is ended.
    pub cancel: Duration,
    /// From closed pipes or a fatal error to the exit, then it is ended.
    pub exit: Duration,
    /// How long an ended child may take to give its memory back before the next one starts anyway.
    pub release: Duration,
    /// This many deaths …
    pub crashes: u32,
    /// … in this time turn the runner off.
    pub crash_window: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            hello: Duration::from_secs(5),
            open: Duration::from_secs(30),
            silence: Duration::from_secs(5),
            cancel: Duration::from_millis(1500),
            exit: Duration::from_secs(1),
            release: Duration::from_secs(10),
            crashes: 3,
            crash_window: Duration::from_secs(120),
        }
    }
}

/// What the runner is doing, for the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunnerState {
    /// No child; the next wish starts one.
    Off,
    Starting,
    Ready,
    Busy,
    /// The last child was ended and still holds memory.
    Releasing,
    /// It failed too often; [`Client::reset`] turns it on again.
    CrashLoop,
}

/// What happened, in order. Every wish ends in exactly one of `Opened`, `Done` and `Failed`.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientEvent {
    State(RunnerState),
    Opened {
        wish: u64,
        backend: Kind,
        facts: Box<DeviceFacts>,
    },
    Started {
        job_id: u64,
    },
    /// What the child says of a job that goes well: its progress, its points, how counters were read, its end.
    Job(FromChild),
    /// `id` is that of the job or of the opening.
    Failed {
        id: u64,
        error: RunError,
    },
}

impl ClientEvent {
    /// The wish that the event is about.
    pub fn id(&self) -> Option<u64> {
        match self {
            Self::State(_) => None,
            Self::Opened { wish, .. } => Some(*wish),
            Self::Started { job_id } => Some(*job_id),
            Self::Job(message) => message.job_id(),
            Self::Failed { id, .. } => Some(*id),
        }
    }

    /// True if nothing more will come about this wish.
    pub fn is_last(&self) -> bool {
        matches!(self, Self::Opened { .. } | Self::Job(FromChild::Done { .. }) | Self::Failed { .. })
    }
}

/// Which back end to open, and the most that a job may take there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    pub backend: Kind,
    pub budget_bytes: Option<u64>,
}

impl Target {
    pub fn new(backend: Kind) -> Self {
        Self { backend, budget_bytes: None }
    }
}

/// Called from the supervisor's thread whenever [`Client::poll`] has something to give.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// What the window asks of the supervisor.
enum Wish {
    Open { id: u64, target: Target },
    Run { target: Target, job: Box<Job> },
}

impl Wish {
    fn id(&self) -> u64 {
        match self {
            Self::Open { id, .. } => *id,
            Self::Run { job, .. } => job.id,
        }
    }

    fn target(&self) -> Target {
        match self {
            Self::Open { target, .. } | Self::Run { target, .. } => *target,
        }
    }
}

type Facts = Arc<Mutex<BTreeMap<Kind, DeviceFacts>>>;

/// The window's handle of the runner.
pub struct Client {
    tell: Sender<supervisor::Message>,
    events: Receiver<ClientEvent>,
    /// Events that a blocking call met and that were not its own.
    aside: VecDeque<ClientEvent>,
    facts: Facts,
    next_id: AtomicU64,
    thread: Option<JoinHandle<()>>,
}

impl Client {
    /// Nothing is started until the first wish.
    pub fn new(connect: impl Connect + 'static, limits: Limits, wake: Wake) -> Self {
        let (tell, inbox) = mpsc::channel();
        let (send, events) = mpsc::channel();
        let facts = Facts::default();
        let supervisor =
            supervisor::Supervisor::new(Box::new(connect), limits, tell.clone(), send, wake, facts.clone());
        let thread = std::thread::Builder::new().name("runner".to_owned()).spawn(move || supervisor.run(&inbox)).ok();
        Self { tell, events, aside: VecDeque::new(), facts, next_id: AtomicU64::new(1), thread }
    }

    /// The facts of a back end that was opened before, without asking again.
    pub fn facts(&self, backend: Kind) -> Option<DeviceFacts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner).get(&backend).cloned()
    }

    /// Opens a back end and asks for its facts. Ends in `Opened` or `Failed` with the returned id.
    pub fn open(&self, target: Target) -> u64 {
        let id = self.id();
        self.post(supervisor::Message::Wish(Wish::Open { id, target }));
        id
    }

    /// Runs a job, after those that were asked for before. Its id is given here and returned.
    pub fn start(&self, target: Target, mut job: Job) -> u64 {
        let id = self.id();
        job.id = id;
        self.post(supervisor::Message::Wish(Wish::Run { target, job: Box::new(job) }));
        id
    }

    /// Cancels a wish that waits or runs. `Failed { error: Cancelled }` follows at once.
    pub fn cancel(&self, id: u64) {
        self.post(supervisor::Message::Cancel(id));
    }

    /// Turns a runner that failed too often on again.
    pub fn reset(&self) {
        self.post(supervisor::Message::Reset);
    }

    /// What has happened since the last call. Never waits.
    pub fn poll(&mut self) -> Vec<ClientEvent> {
        self.aside.drain(..).chain(self.events.try_iter()).collect()
    }

    /// Opens a back end and waits for its facts.
    pub fn facts_blocking(&mut self, target: Target) -> Result<DeviceFacts, RunError> {
        let id = self.open(target);
        match self.wait(id, &mut |_| ControlFlow::Continue(()))? {
            ClientEvent::Opened { facts, .. } => Ok(*facts),
            _ => Err(gone()),
        }
    }

    /// Runs a job and waits for its end. `on_event` sees every event of the job; `Break` cancels it.
    pub fn run_blocking(
        &mut self,
        target: Target,
        job: Job,
        mut on_event: impl FnMut(&ClientEvent) -> ControlFlow<()>,
    ) -> Result<Vec<Point>, RunError> {
        let id = self.start(target, job);
        let mut points = Vec::new();
        self.wait(id, &mut |event| {
            if let ClientEvent::Job(FromChild::Point { point, .. }) = event {
                points.push((**point).clone());
            }
            on_event(event)
        })?;
        Ok(points)
    }

    /// Waits for the end of a wish. A quarter of a second without an event is shown to `on_event` as the runner's
    /// state, so that a command line can look for an interrupt.
    fn wait(
        &mut self,
        id: u64,
        on_event: &mut dyn FnMut(&ClientEvent) -> ControlFlow<()>,
    ) -> Result<ClientEvent, RunError> {
        loop {
            let event = match self.events.recv_timeout(Duration::from_millis(250)) {
                Ok(event) => event,
                Err(mpsc::RecvTimeoutError::Timeout) => ClientEvent::State(RunnerState::Busy),
                Err(mpsc::RecvTimeoutError::Disconnected) => return Err(gone()),
            };
            if event.id().is_some_and(|about| about != id) {
                self.aside.push_back(event);
                continue;
            }
            if on_event(&event).is_break() {
                self.cancel(id);
            }
            match event {
                ClientEvent::Failed { error, .. } => return Err(error),
                event if event.is_last() => return Ok(event),
                _ => {}
            }
        }
    }

    fn id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// The supervisor lives as long as this handle, so a failed send has no one to tell.
    fn post(&self, message: supervisor::Message) {
        let _ = self.tell.send(message);
    }
}

impl Drop for Client {
    /// Ends the child before the window goes, within a second.
    fn drop(&mut self) {
        self.post(supervisor::Message::End);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn gone() -> RunError {
    RunError::unavailable(
        ("看管运行器的线程启动不了", "the thread that watches the runner could not be started"),
        ("关掉别的程序，再启动一次", "close other programs and start this one again"),
    )
}
