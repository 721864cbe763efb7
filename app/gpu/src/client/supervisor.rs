//! The thread that owns the child: it starts it, asks it, waits for it with a deadline, ends it and counts its deaths.
//! One message or one tick at a time; every decision is a function of the phase, so that it can be read off here.

use super::link::{Connect, Peer};
use super::session::{Heard, Phase, Session};
use super::{ClientEvent, Facts, Limits, RunnerState, Wake, Wish};
use crate::error::{How, RunError};
use crate::protocol::{FromChild, ToChild, VERSION};
use std::collections::VecDeque;
use std::sync::PoisonError;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};
use vramlab_trace::{Backend as Kind, DeviceFacts};

/// How often a child's life is looked at while there is one that matters.
const TICK: Duration = Duration::from_millis(20);
/// How long the last messages and words may lag behind the death.
const LAG: Duration = Duration::from_millis(200);
/// How long a child may take to leave when the window closes.
const FAREWELL: Duration = Duration::from_millis(400);

pub enum Message {
    Wish(Wish),
    Cancel(u64),
    Reset,
    End,
    Heard { session: u64, heard: Heard },
}

pub struct Supervisor {
    connect: Box<dyn Connect>,
    limits: Limits,
    inbox_of: Sender<Message>,
    events: Sender<ClientEvent>,
    wake: Wake,
    facts: Facts,
    session: Option<Session>,
    n_sessions: u64,
    wishes: VecDeque<Wish>,
    /// Highest job id that was handed to a child.
    last_job: u64,
    deaths: VecDeque<Instant>,
    is_off: bool,
    /// Children that were ended and may still hold memory.
    releasing: Vec<(Box<dyn Peer>, Instant)>,
    state: RunnerState,
}

impl Supervisor {
    pub fn new(
        connect: Box<dyn Connect>,
        limits: Limits,
        inbox_of: Sender<Message>,
        events: Sender<ClientEvent>,
        wake: Wake,
        facts: Facts,
    ) -> Self {
        Self {
            connect,
            limits,
            inbox_of,
            events,
            wake,
            facts,
            session: None,
            n_sessions: 0,
            wishes: VecDeque::new(),
            last_job: 0,
            deaths: VecDeque::new(),
            is_off: false,
            releasing: Vec::new(),
            state: RunnerState::Off,
        }
    }

    pub fn run(mut self, inbox: &Receiver<Message>) {
        loop {
            let message = match self.patience() {
                Some(wait) => inbox.recv_timeout(wait),
                None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match message {
                Ok(Message::End) | Err(RecvTimeoutError::Disconnected) => return self.farewell(),
                Ok(Message::Wish(wish)) => self.wishes.push_back(wish),
                Ok(Message::Cancel(id)) => self.cancel(id),
                Ok(Message::Reset) => {
                    self.is_off = false;
                    self.deaths.clear();
                }
                Ok(Message::Heard { session, heard }) => self.hear(session, heard),
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.tick(Instant::now());
            self.next_wish();
            self.tell_state();
        }
    }

    /// How long to wait for a message: not at all bounded while nothing is alive that could go wrong.
    fn patience(&self) -> Option<Duration> {
        let is_watched = self.session.as_ref().is_some_and(|session| session.is_busy() || session.closed.is_some());
        (is_watched || !self.releasing.is_empty()).then_some(TICK)
    }

    fn emit(&self, event: ClientEvent) {
        if self.events.send(event).is_ok() {
            (self.wake)();
        }
    }

    fn fail(&self, id: u64, error: RunError) {
        self.emit(ClientEvent::Failed { id, error });
    }

    fn tell_state(&mut self) {
        let state = match &self.session {
            _ if self.is_off => RunnerState::CrashLoop,
            Some(session) => match session.phase {
                Phase::Greeting => RunnerState::Starting,
                Phase::Idle => RunnerState::Ready,
                _ => RunnerState::Busy,
            },
            None if !self.releasing.is_empty() => RunnerState::Releasing,
            None => RunnerState::Off,
        };
        if state != self.state {
            self.state = state;
            self.emit(ClientEvent::State(state));
        }
    }

    // What the window asks.

    fn cancel(&mut self, id: u64) {
        if self.take(id).is_some() {
            return self.fail(id, RunError::Cancelled);
        }
        let by = Instant::now() + self.limits.cancel;
        if let Some(session) = &mut self.session
            && matches!(session.phase, Phase::Running { job_id, .. } if job_id == id)
        {
            session.say(ToChild::Cancel { job_id: id });
            (session.phase, session.by) = (Phase::Cancelling { job_id: id }, Some(by));
            self.fail(id, RunError::Cancelled);
        }
    }

    /// Turns to the next wish when the child is free; starts a child if there is none.
    fn next_wish(&mut self) {
        if self.is_off {
            for wish in std::mem::take(&mut self.wishes) {
                self.fail(wish.id(), self.crash_loop());
            }
            return;
        }
        let now = Instant::now();
        let Some(wish) = self.wishes.front() else { return };
        let Some(session) = &mut self.session else {
            if self.releasing.is_empty() {
                self.connect(now);
            }
            return;
        };
        if session.is_busy() || session.closed.is_some() {
            return;
        }
        let target = wish.target();
        let is_open = session.opened == Some(target);
        session.heard = now;
        if let (true, Some(Wish::Run { .. })) = (is_open, Some(wish)) {
            let Some(Wish::Run { job, .. }) = self.wishes.pop_front() else { return };
            let (job_id, secs) = (job.id, job.plan.deadline_secs.clamp(0.1, 3600.0));
            self.last_job = job_id;
            session.phase = Phase::Running { job_id, secs };
            session.by = Some(now + Duration::from_secs_f64(secs));
            session.say(ToChild::Run { job });
            self.emit(ClientEvent::Started { job_id });
        } else {
            let wish = wish.id();
            session.opened = None;
            session.phase = Phase::Opening { wish, target };
            session.by = Some(now + self.limits.open);
            session.say(ToChild::Open { backend: target.backend, budget_bytes: target.budget_bytes });
        }
    }

    fn connect(&mut self, now: Instant) {
        match self.connect.connect() {
            Ok(link) => {
                self.n_sessions += 1;
                let by = now + self.limits.hello;
                self.session = Some(Session::start(self.n_sessions, link, &self.inbox_of, now, by));
            }
            Err(error) => {
                if let Some(wish) = self.wishes.pop_front() {
                    self.fail(wish.id(), error);
                }
            }
        }
    }

    // What the child says.

    fn hear(&mut self, number: u64, heard: Heard) {
        let Some(session) = self.session.as_mut().filter(|session| session.number == number) else { return };
        session.heard = Instant::now();
        match heard {
            Heard::Message(message) => self.message(*message),
            Heard::Fault(error) => self.lose(error, true),
            Heard::Closed => {
                session.is_drained = true;
                session.closed.get_or_insert(session.heard);
            }
        }
    }

    fn message(&mut self, message: FromChild) {
        let Some(session) = &mut self.session else { return };
        if let Some(job_id) = message.job_id()
            && job_id > self.last_job
        {
            let what = format!("an answer for job {job_id}, which nobody asked for");
            return self.lose(RunError::Protocol { what }, true);
        }
        match (session.phase, message) {
            (Phase::Greeting, FromChild::Hello { version: VERSION, .. }) => {
                (session.phase, session.by) = (Phase::Idle, None);
            }
            (Phase::Greeting, FromChild::Hello { version, .. }) => {
                self.lose(RunError::Version { ours: VERSION, theirs: version }, false);
            }
            (Phase::Greeting, _) => {
                let what = "the first message was not a greeting".to_owned();
                self.lose(RunError::Protocol { what }, true);
            }
            (Phase::Opening { wish, target }, FromChild::Opened { backend, facts }) if backend == target.backend => {
                session.opened = Some(target);
                (session.phase, session.by) = (Phase::Idle, None);
                self.opened(wish, backend, facts);
            }
            (Phase::Opening { wish, .. }, FromChild::Failed { job_id: None, error }) => {
                let wish = self.take(wish);
                self.failed(wish, error);
            }
            (Phase::Running { job_id, .. }, message) if message.job_id() == Some(job_id) => {
                self.answer(job_id, message);
            }
            (Phase::Cancelling { job_id }, FromChild::Done { job_id: about }) if about == job_id => {
                (session.phase, session.by) = (Phase::Idle, None);
            }
            (Phase::Cancelling { job_id }, FromChild::Failed { job_id: Some(about), error }) if about == job_id => {
                if error.ends_the_runner() {
                    self.leave();
                } else {
                    (session.phase, session.by) = (Phase::Idle, None);
                }
            }
            (_, FromChild::Failed { job_id: None, error }) => self.lose(error, true),
            // Heartbeats, and answers that were on their way when their job ended.
            _ => {}
        }
    }

    fn opened(&mut self, wish: u64, backend: Kind, facts: Box<DeviceFacts>) {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner).insert(backend, (*facts).clone());
        // A job that waits for this back end stays in the queue and is sent next.
        if matches!(self.wishes.front(), Some(Wish::Open { id, .. }) if *id == wish) {
            self.wishes.pop_front();
            self.emit(ClientEvent::Opened { wish, backend, facts });
        }
    }

    /// Takes a wish out of the queue; nothing if it was cancelled meanwhile.
    fn take(&mut self, id: u64) -> Option<u64> {
        let place = self.wishes.iter().position(|wish| wish.id() == id)?;
        self.wishes.remove(place).map(|wish| wish.id())
    }

    fn answer(&mut self, job_id: u64, message: FromChild) {
        match message {
            FromChild::Progress { .. } | FromChild::Point { .. } | FromChild::Rung { .. } | FromChild::Built { .. } => {
                self.emit(ClientEvent::Job(message));
            }
            FromChild::Done { .. } => {
                if let Some(session) = &mut self.session {
                    (session.phase, session.by) = (Phase::Idle, None);
                }
                self.emit(ClientEvent::Job(message));
            }
            FromChild::Failed { error, .. } => self.failed(Some(job_id), error),
            _ => {}
        }
    }

    /// The child reports a failure of a wish. It lives on, unless the failure is one that ends it.
    fn failed(&mut self, id: Option<u64>, error: RunError) {
        let Some(session) = &mut self.session else { return };
        if matches!(error, RunError::Died { .. }) {
            session.parting = Some((id, error));
            return self.leave();
        }
        (session.phase, session.by) = (Phase::Idle, None);
        if error.ends_the_runner() {
            self.leave();
        }
        if let Some(id) = id {
            self.fail(id, error);
        }
    }

    /// The child has said that it goes; it has a moment to do so.
    fn leave(&mut self) {
        let by = Instant::now() + self.limits.exit;
        if let Some(session) = &mut self.session {
            (session.phase, session.by) = (Phase::Leaving, Some(by));
        }
    }

    // What time brings.

    fn tick(&mut self, now: Instant) {
        let release = self.limits.release;
        self.releasing.retain_mut(|(peer, since)| peer.ended().is_none() && now - *since < release);
        let Some(session) = &mut self.session else { return };
        if let Some(exit) = session.ended() {
            let since = *session.closed.get_or_insert(now);
            if session.has_said_all() || now - since > LAG {
                let error = RunError::Died { how: exit.into(), last_words: session.last_words() };
                self.lose(error, true);
            }
            return;
        }
        if session.closed.is_some_and(|since| now - since > self.limits.exit) {
            let error = RunError::Died { how: How::Stayed, last_words: session.last_words() };
            return self.lose(error, true);
        }
        if session.by.is_some_and(|by| now > by) {
            return self.late();
        }
        let silence = now.saturating_duration_since(session.heard);
        let is_speaking = matches!(session.phase, Phase::Opening { .. } | Phase::Running { .. });
        if is_speaking && silence > self.limits.silence {
            let how = How::Silent(silence.as_secs_f64());
            let error = RunError::Died { how, last_words: session.last_words() };
            self.lose(error, true);
        }
    }

    /// The phase has outlasted its deadline.
    fn late(&mut self) {
        let Some(session) = &self.session else { return };
        let (error, is_death) = match session.phase {
            Phase::Greeting => (RunError::Died { how: How::NoGreeting, last_words: session.last_words() }, true),
            Phase::Opening { .. } => (RunError::Deadline { secs: self.limits.open.as_secs_f64() }, true),
            Phase::Running { secs, .. } => (RunError::Deadline { secs }, false),
            Phase::Idle | Phase::Cancelling { .. } | Phase::Leaving => (RunError::Cancelled, false),
        };
        self.lose(error, is_death);
    }

    /// Ends the child and tells whoever waited for it. `is_death` counts it towards a crash loop.
    fn lose(&mut self, error: RunError, is_death: bool) {
        let Some(mut session) = self.session.take() else { return };
        let now = Instant::now();
        if session.ended().is_none() {
            session.peer.kill();
        }
        let waiting = match session.phase {
            Phase::Running { job_id, .. } => Some(job_id),
            Phase::Greeting => self.wishes.pop_front().map(|wish| wish.id()),
            Phase::Opening { wish, .. } => self.take(wish),
            Phase::Idle | Phase::Cancelling { .. } | Phase::Leaving => None,
        };
        if is_death && !matches!(session.phase, Phase::Leaving | Phase::Cancelling { .. }) {
            self.count_death(now);
        }
        if let Some((id, RunError::Died { how, .. })) = session.parting.take() {
            self.count_death(now);
            let error = RunError::Died { how, last_words: session.last_words() };
            id.into_iter().for_each(|id| self.fail(id, error.clone()));
        } else if let Some(id) = waiting {
            self.fail(id, error);
        }
        self.releasing.push((session.peer, now));
    }

    fn count_death(&mut self, now: Instant) {
        self.deaths.push_back(now);
        while self.deaths.front().is_some_and(|death| now - *death > self.limits.crash_window) {
            self.deaths.pop_front();
        }
        self.is_off = self.deaths.len() >= self.limits.crashes as usize;
    }

    fn crash_loop(&self) -> RunError {
        RunError::CrashLoop { times: self.limits.crashes, secs: self.limits.crash_window.as_secs_f64() }
    }

    /// The window closes: ask, wait a moment, end.
    fn farewell(mut self) {
        let Some(mut session) = self.session.take() else { return };
        session.say(ToChild::Quit);
        if !session.is_busy() {
            let by = Instant::now() + FAREWELL;
            while session.ended().is_none() && Instant::now() < by {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        session.peer.kill();
        session.peer.ended();
    }
}
