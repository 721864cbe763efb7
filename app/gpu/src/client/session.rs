//! One living child: its three threads, its last words, what it was asked and by when it must answer.

use super::Target;
use super::link::{Exit, Link, Peer};
use super::supervisor::Message;
use crate::error::RunError;
use crate::protocol::{FromChild, ToChild, VERSION};
use crate::wire;
use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

/// Lines of standard error that are kept, and bytes of each.
const N_WORDS: usize = 20;
const WORD_BYTES: usize = 400;

/// What a child's reading thread hears.
pub enum Heard {
    Message(Box<FromChild>),
    Fault(RunError),
    Closed,
}

/// What the child was asked last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Phase {
    Greeting,
    Idle,
    Opening {
        wish: u64,
        target: Target,
    },
    Running {
        job_id: u64,
        secs: f64,
    },
    /// Cancelled; the window knows already.
    Cancelling {
        job_id: u64,
    },
    /// It has said that it will go.
    Leaving,
}

pub struct Session {
    pub number: u64,
    pub phase: Phase,
    /// By when the phase must end.
    pub by: Option<Instant>,
    /// When it was last heard.
    pub heard: Instant,
    /// When its output closed or its process ended.
    pub closed: Option<Instant>,
    /// True once everything that it said has been heard.
    pub is_drained: bool,
    pub opened: Option<Target>,
    /// A death that it announced itself: told once its last words are in.
    pub parting: Option<(Option<u64>, RunError)>,
    pub peer: Box<dyn Peer>,
    exit: Option<Exit>,
    say: Sender<ToChild>,
    words: Words,
}

impl Session {
    /// Starts the threads and greets.
    pub fn start(number: u64, link: Link, inbox: &Sender<Message>, now: Instant, by: Instant) -> Self {
        let (say, outbox) = mpsc::channel();
        let words = Words::default();
        let heard = inbox.clone();
        thread::spawn(move || read(link.input, number, &heard));
        thread::spawn(move || write(link.output, &outbox));
        match link.words {
            Some(stream) => {
                let words = words.clone();
                thread::spawn(move || words.read(stream));
            }
            None => words.end(),
        }
        let this = Self {
            number,
            phase: Phase::Greeting,
            by: Some(by),
            heard: now,
            closed: None,
            is_drained: false,
            opened: None,
            parting: None,
            peer: link.peer,
            exit: None,
            say,
            words,
        };
        this.say(ToChild::Hello { version: VERSION });
        this
    }

    /// Hands a message to the writing thread; a child that does not read cannot stall anyone.
    pub fn say(&self, message: ToChild) {
        let _ = self.say.send(message);
    }

    pub fn is_busy(&self) -> bool {
        !matches!(self.phase, Phase::Idle)
    }

    /// The exit, remembered from the first time it is seen.
    pub fn ended(&mut self) -> Option<Exit> {
        if self.exit.is_none() {
            self.exit = self.peer.ended();
        }
        self.exit
    }

    /// True once both of its outputs are at their end.
    pub fn has_said_all(&self) -> bool {
        self.is_drained && self.words.is_over.load(Ordering::Acquire)
    }

    pub fn last_words(&self) -> Option<String> {
        self.words.last()
    }
}

fn read(input: Box<dyn Read + Send>, number: u64, inbox: &Sender<Message>) {
    let mut input = BufReader::new(input);
    loop {
        let heard = match wire::read(&mut input) {
            Ok(Some(message)) => Heard::Message(Box::new(message)),
            Ok(None) => Heard::Closed,
            Err(error) => Heard::Fault(error),
        };
        let is_last = !matches!(heard, Heard::Message(_));
        if inbox.send(Message::Heard { session: number, heard }).is_err() || is_last {
            return;
        }
    }
}

/// Ends, and with it the child's input, when the session is dropped.
fn write(mut output: Box<dyn Write + Send>, outbox: &Receiver<ToChild>) {
    while let Ok(message) = outbox.recv() {
        // A broken pipe is noticed by the reading thread.
        if wire::write(&mut output, &message).is_err() {
            return;
        }
    }
}

/// The last lines of standard error.
#[derive(Clone, Default)]
struct Words {
    lines: Arc<Mutex<VecDeque<String>>>,
    is_over: Arc<AtomicBool>,
}

impl Words {
    fn read(&self, stream: Box<dyn Read + Send>) {
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        while let Ok(chunk) = stream.fill_buf()
            && !chunk.is_empty()
        {
            let newline = chunk.iter().position(|byte| *byte == b'\n');
            let taken = newline.unwrap_or(chunk.len());
            let room = WORD_BYTES.saturating_sub(line.len());
            line.extend_from_slice(&chunk[..taken.min(room)]);
            stream.consume(taken + usize::from(newline.is_some()));
            if newline.is_some() {
                self.push(&line);
                line.clear();
            }
        }
        self.push(&line);
        self.end();
    }

    fn push(&self, line: &[u8]) {
        let line = String::from_utf8_lossy(line).trim_end().to_owned();
        if line.is_empty() {
            return;
        }
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == N_WORDS {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    fn end(&self) {
        self.is_over.store(true, Ordering::Release);
    }

    fn last(&self) -> Option<String> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        (!lines.is_empty()).then(|| lines.iter().cloned().collect::<Vec<_>>().join("\n"))
    }
}
