//! The desks that are open, one a kernel, wherever it is shown: what they wish for is done here, and what they hold is kept.

use super::drafts::Drafts;
use crate::app::App;
use crate::platform::{BackendState, Platform};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use vramlab_gpu::RunError;
use vramlab_gpu::bench::Bench;
use vramlab_gpu::plan::default_budget;
use vramlab_gpu::protocol::{FromChild, Inspect, Job};
use vramlab_trace::{Backend, DeviceFacts};
use vramlab_units::{Lang, Map};
use vramlab_views::playground::desk::{Checked, Desk, Task};
use vramlab_views::playground::device::{Busy, There, Wish};
use vramlab_views::playground::{Playground, Shared};

/// What a check may take of a frame where there are no threads, in milliseconds: the page stays alive.
const SHARE_MS: f64 = 8.0;

/// A check under way.
enum Check {
    Aside(Receiver<Checked>),
    InPieces(Box<Task>),
}

/// A desk with what is under way.
struct Open {
    desk: Shared,
    check: Option<Check>,
    /// The state that the drafts hold.
    kept: u64,
}

#[derive(Default)]
pub struct Desks {
    open: BTreeMap<String, Open>,
    pub drafts: Drafts,
    /// The playground of the page.
    pub(super) shown: Option<Playground>,
}

impl Desks {
    /// No desk is open; what was written before waits for them.
    pub fn new(drafts: Drafts) -> Self {
        Self { drafts, ..Self::default() }
    }

    /// Lets a playground stand at the desk of its kernel, with the text that the reader left there.
    pub fn attach(&mut self, playground: &mut Playground) {
        let Some(desk) = playground.desk() else { return };
        if let Some(known) = self.open.get(playground.slug()) {
            if !Rc::ptr_eq(&known.desk, desk) {
                playground.share(&Rc::clone(&known.desk));
            }
            return;
        }
        let desk = Rc::clone(desk);
        let mut own = desk.borrow_mut();
        own.is_attended = true;
        if let Some(draft) = self.drafts.get(playground.slug()) {
            own.resume(&draft);
        }
        let kept = own.revision();
        drop(own);
        self.open.insert(playground.slug().to_owned(), Open { desk, check: None, kept });
    }

    /// The kernel of the page: its text and what is found.
    pub(crate) fn spoken(&self, lang: Lang) -> Value {
        let Some(desk) = self.shown.as_ref().and_then(Playground::desk) else { return Value::Null };
        let desk = desk.borrow();
        json!({ "kernel": desk.slug, "text": desk.source, "finding": desk.finding(lang) })
    }

    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The desk of a kernel, if it was opened.
    pub fn desk(&self, slug: &str) -> Option<&Shared> {
        self.open.get(slug).map(|open| &open.desk)
    }

    /// The desk whose job this is.
    fn of_job(&self, job_id: u64) -> Option<&RefCell<Desk>> {
        let desks = self.open.values().map(|open| open.desk.as_ref());
        let mut desks = desks;
        desks.find(|desk| desk.borrow().device.job_id() == Some(job_id))
    }

    /// True if the job is that of a desk.
    pub fn hears(&self, job_id: u64) -> bool {
        self.of_job(job_id).is_some()
    }

    /// A message of the runner about a desk's job.
    pub fn hear(&self, message: FromChild) {
        if let Some(desk) = message.job_id().and_then(|id| self.of_job(id)) {
            let mut desk = desk.borrow_mut();
            desk.device.hear(message);
            desk.heard_device();
        }
    }

    /// A job failed; false if it is somebody else's.
    pub fn fail(&self, job_id: u64, error: &RunError) -> bool {
        let Some(desk) = self.of_job(job_id) else { return false };
        desk.borrow_mut().device.fail(error.clone());
        true
    }

    /// Takes every text into the drafts; true if one has changed.
    pub fn keep(&mut self) -> bool {
        let mut is_changed = false;
        for (slug, open) in &mut self.open {
            let desk = open.desk.borrow();
            if desk.revision() != open.kept {
                open.kept = desk.revision();
                self.drafts.put(slug, desk.draft());
                is_changed = true;
            }
        }
        is_changed
    }
}

impl App {
    /// Does what the desks wish for; true while something is under way. Not in the first part of the program on the web.
    #[inline(never)]
    pub(crate) fn advance_desks(&mut self) -> bool {
        let platform = self.platform.as_mut();
        let mut is_busy = false;
        for open in self.playground.open.values_mut() {
            is_busy |= check(open, platform);
            let mut desk = open.desk.borrow_mut();
            let before = (desk.device.there.clone(), desk.device.busy);
            ask(&mut desk, platform);
            // What changed after the page was painted is painted in the next frame.
            is_busy |= before != (desk.device.there.clone(), desk.device.busy);
        }
        is_busy
    }
}

/// Begins a check that is asked for and goes on with one under way.
fn check(open: &mut Open, platform: &mut dyn Platform) -> bool {
    if let Some(task) = open.desk.borrow_mut().take_task() {
        open.check = Some(begin(task, platform));
    }
    let checked = match &mut open.check {
        None => return false,
        Some(Check::InPieces(task)) => Ok(go_on(task, platform)),
        Some(Check::Aside(from)) => match from.try_recv() {
            Ok(checked) => Ok(Some(checked)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(()),
        },
    };
    match checked {
        Ok(None) => return true,
        Ok(Some(checked)) => open.desk.borrow_mut().hear(checked),
        // The thread is gone without an answer.
        Err(()) => open.desk.borrow_mut().is_checking = false,
    }
    open.check = None;
    true
}

/// Plays slice after slice until the frame's share is used up.
fn go_on(task: &mut Task, platform: &dyn Platform) -> Option<Checked> {
    let until = platform.millis() + SHARE_MS;
    loop {
        let checked = task.go_on();
        if checked.is_some() || platform.millis() >= until {
            return checked;
        }
    }
}

fn begin(task: Task, platform: &mut dyn Platform) -> Check {
    if !platform.has_threads() {
        return Check::InPieces(Box::new(task));
    }
    let (tell, from) = channel();
    platform.aside(Box::new(move || {
        // Nobody waits any more if the window is gone.
        let _gone = tell.send(task.run()).is_err();
    }));
    Check::Aside(from)
}

/// The device's part of a desk: its state, a wish, a job that waited for it.
fn ask(desk: &mut Desk, platform: &mut dyn Platform) {
    let state = platform.backend(Backend::Cuda);
    desk.device.there = match &state {
        BackendState::Ready(facts) => There::Ready(facts.name.clone()),
        BackendState::Unavailable { why, .. } => There::Absent {
            why: why.clone(),
            can_compile: !matches!(platform.backend(Backend::Cpu), BackendState::Unavailable { .. }),
        },
        BackendState::Unknown | BackendState::Opening => There::Unknown,
    };
    let wish = desk.device.wish.take();
    let asked = match (wish, desk.device.busy) {
        (Some(Wish::Cancel), Busy::Running(job_id)) => return platform.cancel(job_id),
        (Some(Wish::Cancel), _) => {
            desk.device.busy = Busy::No;
            return;
        }
        (Some(Wish::Ask(asked)), Busy::No) | (_, Busy::Opening(asked)) => asked,
        _ => return,
    };
    match state {
        BackendState::Ready(facts) => start(desk, platform, Backend::Cuda, &facts, asked),
        // The compiler needs no GPU. Where it is missing too, it says what to install.
        BackendState::Unavailable { .. } if asked == Inspect::Only => {
            start(desk, platform, Backend::Cpu, &vramlab_gpu::play::machine(), asked);
        }
        BackendState::Unavailable { why, fix } => desk.device.fail(RunError::Unavailable { what: why, fix }),
        BackendState::Opening => desk.device.busy = Busy::Opening(asked),
        BackendState::Unknown => {
            desk.device.busy = Busy::Opening(asked);
            platform.open(Backend::Cuda);
        }
    }
}

fn start(desk: &mut Desk, platform: &mut dyn Platform, backend: Backend, facts: &DeviceFacts, asked: Inspect) {
    // The goals are read off both ways.
    if asked == Inspect::AndRun && !desk.is_played() && !desk.is_checking {
        desk.ask_check();
    }
    let started = job(desk, facts, asked).and_then(|job| platform.start(backend, job));
    let source = desk.source.clone();
    match started {
        Ok(job_id) => desk.device.begin(&source, Busy::Running(job_id)),
        Err(error) => {
            desk.device.begin(&source, Busy::No);
            desk.device.fail(error);
        }
    }
}

/// Counters that are read of a kernel without goals.
const USUAL: [&str; 5] = [
    "dram__bytes_read.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
];

/// An exercise runs at the size at which it is judged; any other kernel at the course's size, if that fits.
fn job(desk: &Desk, facts: &DeviceFacts, asked: Inspect) -> Result<Job, RunError> {
    let small = desk.params.clone().unwrap_or_default();
    let (counters, sizes) = match &desk.exercise {
        Some(exercise) => (exercise.counters(), vec![small]),
        None => (USUAL.map(str::to_owned).to_vec(), vec![Map::new(), small]),
    };
    // What is only compiled takes no memory of a device.
    let budget = if asked == Inspect::Only { u64::MAX } else { default_budget(facts) };
    let mut failed = RunError::Cancelled;
    for params in &sizes {
        let bench = Bench { kernel: &desk.kernel, source: &desk.source, params, facts };
        match bench.job(counters.clone(), asked) {
            Ok(job) if job.plan.peak_bytes <= budget => return Ok(job),
            Ok(job) => {
                failed = RunError::OverBudget { asked_bytes: job.plan.peak_bytes, budget_bytes: budget };
            }
            Err(what) => failed = RunError::Content { what },
        }
    }
    Err(failed)
}
