//! What the child does with a message: greet, open, run.

use super::shared::{Jobs, Out};
use super::{Ended, Open};
use crate::backend::{Backend, PointCx, Stop};
use crate::error::{How, RunError};
use crate::plan::default_budget;
use crate::protocol::{FromChild, Inspect, Job, ToChild, VERSION};
use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Receiver;
use vramlab_trace::{Backend as Kind, Point};

struct Opened {
    asked_bytes: Option<u64>,
    /// What a job may take, by what was free when the parent asked for the facts it planned with.
    budget_bytes: u64,
    backend: Box<dyn Backend>,
}

pub struct Loop {
    out: Out,
    jobs: Jobs,
    open: Open,
    /// Opened back ends stay warm.
    backends: BTreeMap<Kind, Opened>,
    current: Option<Kind>,
    is_greeted: bool,
}

impl Loop {
    pub fn new(out: Out, jobs: Jobs, open: Open) -> Self {
        Self { out, jobs, open, backends: BTreeMap::new(), current: None, is_greeted: false }
    }

    pub fn run(mut self, inbox: &Receiver<Result<ToChild, RunError>>) -> Ended {
        while let Ok(message) = inbox.recv() {
            let ended = match message {
                Ok(message) => self.hear(message),
                Err(error) => self.refuse(error),
            };
            let Some(ended) = ended else { continue };
            if ended == Ended::Lost {
                // After a fatal error every call into the driver returns it again: nothing is freed, the process ends.
                std::mem::forget(self.backends);
            }
            return ended;
        }
        Ended::Quit
    }

    fn hear(&mut self, message: ToChild) -> Option<Ended> {
        match message {
            ToChild::Hello { version: VERSION } => {
                self.is_greeted = true;
                None
            }
            ToChild::Hello { version } => {
                self.out.say(&FromChild::Failed {
                    job_id: None,
                    error: RunError::Version { ours: version, theirs: VERSION },
                });
                Some(Ended::Version)
            }
            ToChild::Quit => Some(Ended::Quit),
            _ if !self.is_greeted => {
                self.refuse(RunError::Protocol { what: "the first message was not a greeting".to_owned() })
            }
            // The listening thread has raised the flag already.
            ToChild::Cancel { .. } => None,
            ToChild::Open { backend, budget_bytes } => {
                self.jobs.begin(0);
                let result = caught(|| self.open(backend, budget_bytes));
                self.finish(None, result)
            }
            ToChild::Run { job } => {
                let stop = self.jobs.begin(job.id);
                let result = caught(|| self.job(&job, stop));
                self.finish(Some(job.id), result)
            }
        }
    }

    fn refuse(&self, error: RunError) -> Option<Ended> {
        self.out.say(&FromChild::Failed { job_id: None, error });
        Some(Ended::Protocol)
    }

    /// Reports a failure; a lost device or a panic ends the process.
    fn finish(&self, job_id: Option<u64>, result: Result<(), RunError>) -> Option<Ended> {
        self.jobs.end();
        let error = result.err()?;
        let is_lost = error.ends_the_runner();
        self.out.say(&FromChild::Failed { job_id, error });
        is_lost.then_some(Ended::Lost)
    }

    fn open(&mut self, kind: Kind, budget_bytes: Option<u64>) -> Result<(), RunError> {
        self.current = None;
        if self.backends.get(&kind).is_none_or(|known| known.asked_bytes != budget_bytes) {
            self.backends.remove(&kind);
            let backend = (self.open)(kind, budget_bytes)?;
            self.backends.insert(kind, Opened { asked_bytes: budget_bytes, budget_bytes: 0, backend });
        }
        let Some(opened) = self.backends.get_mut(&kind) else { return Ok(()) };
        let facts = opened.backend.facts()?;
        opened.budget_bytes = budget_bytes.unwrap_or_else(|| default_budget(&facts));
        self.current = Some(kind);
        self.out.say(&FromChild::Opened { backend: kind, facts: Box::new(facts) });
        Ok(())
    }

    fn job(&mut self, job: &Job, stop: Stop) -> Result<(), RunError> {
        let Some(Opened { budget_bytes, backend, .. }) = self.current.and_then(|kind| self.backends.get_mut(&kind))
        else {
            return Err(RunError::Protocol { what: "a job came before a back end was open".to_owned() });
        };
        if job.plan.peak_bytes > *budget_bytes {
            return Err(RunError::OverBudget { asked_bytes: job.plan.peak_bytes, budget_bytes: *budget_bytes });
        }
        let mut cx = PointCx::new(stop);
        if let Some(asked) = job.inspect {
            cx.check()?;
            if let Some(build) = backend.build(job, &mut cx)? {
                self.out.say(&FromChild::Built { job_id: job.id, build: Box::new(build) });
            }
            if asked == Inspect::Only {
                self.out.say(&FromChild::Done { job_id: job.id });
                return Ok(());
            }
        }
        let result = points(&self.out, backend.as_mut(), job, &mut cx);
        if !result.as_ref().is_err_and(RunError::ends_the_runner) {
            backend.end(job);
        }
        result?;
        self.out.say(&FromChild::Done { job_id: job.id });
        Ok(())
    }
}

fn points(out: &Out, backend: &mut dyn Backend, job: &Job, cx: &mut PointCx) -> Result<(), RunError> {
    cx.check()?;
    let rung = backend.begin(job, cx)?;
    out.say(&FromChild::Rung { job_id: job.id, rung: rung.id, why: rung.why });
    let total = u32::try_from(job.plan.points.len()).unwrap_or(u32::MAX);
    for (done, planned) in (1..).zip(&job.plan.points) {
        cx.check()?;
        let point = finite(backend.run_point(job, planned, cx)?)?;
        cx.check()?;
        out.say(&FromChild::Point { job_id: job.id, point: Box::new(point) });
        out.say(&FromChild::Progress { job_id: job.id, done, total, telemetry: cx.telemetry().clone() });
    }
    Ok(())
}

/// Times, readings and counters are finite, or the point is a bug of the back end: JSON has no other numbers.
fn finite(point: Point) -> Result<Point, RunError> {
    let mut numbers = point.samples_ns.iter().chain(point.readings.values().flatten()).chain(point.counters.values());
    match numbers.find(|number| !number.is_finite()) {
        Some(number) => Err(RunError::Content { what: format!("a point of {} measured {number}", point.series) }),
        None => Ok(point),
    }
}

/// A panic inside a back end, as an error. What it printed stands in the last words.
fn caught(work: impl FnOnce() -> Result<(), RunError>) -> Result<(), RunError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let how = How::Panicked(panic_text(payload.as_ref()).to_owned());
        Err(RunError::Died { how, last_words: None })
    })
}

fn panic_text(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}
