//! The scripts that break the protocol itself: each is a child of its own, written against the bytes.

use super::Script;
use crate::protocol::{FromChild, Job, ToChild, VERSION};
use crate::{sys, wire};
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::thread;
use vramlab_trace::{Backend as Kind, DeviceFacts, Telemetry};

/// Plays a script to its end; the result is the exit code.
pub fn play(script: &Script, input: impl Read, output: impl Write) -> i32 {
    let mut stage = Stage { input: BufReader::new(input), output };
    // A script whose parent went away has nothing left to play.
    stage.play(script.id).unwrap_or(0)
}

struct Stage<R, W> {
    input: BufReader<R>,
    output: W,
}

impl<R: Read, W: Write> Stage<R, W> {
    fn play(&mut self, id: &str) -> io::Result<i32> {
        match id {
            "garbage" => {
                self.output.write_all(b"NVRM: GPU at PCI:0000:01:00 has fallen off the bus\n")?;
                self.wait_for_the_end()
            }
            "cut_line" => {
                self.output.write_all(b"{\"say\":\"hello\",\"ver")?;
                Ok(0)
            }
            "flood" => self.flood(),
            "silent" => self.wait_for_the_end(),
            "old_version" => {
                self.say(&FromChild::Hello { version: VERSION - 1, program: "vramlab 0.0.1".to_owned() })?;
                self.wait_for_the_end()
            }
            "wrong_job" => self.wrong_job(),
            "late_answer" => self.late_answer(),
            "closes_pipes" => self.close_pipes(),
            // crash_at_start
            _ => {
                sys::crash();
                Ok(1)
            }
        }
    }

    fn say(&mut self, message: &FromChild) -> io::Result<()> {
        wire::write(&mut self.output, message)
    }

    /// The next message of the parent; the end of the stream is an error, which ends the script.
    fn hear(&mut self) -> io::Result<ToChild> {
        match wire::read(&mut self.input) {
            Ok(Some(message)) => Ok(message),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn wait_for_the_end(&mut self) -> io::Result<i32> {
        loop {
            let taken = self.input.fill_buf()?.len();
            if taken == 0 {
                return Ok(0);
            }
            self.input.consume(taken);
        }
    }

    fn flood(&mut self) -> io::Result<i32> {
        let block = [b'x'; 1 << 16];
        for _ in 0..1 << 14 {
            self.output.write_all(&block)?;
        }
        self.output.flush()?;
        Ok(0)
    }

    /// Greets, opens whatever is asked, and returns the first job.
    fn up_to_a_job(&mut self) -> io::Result<Job> {
        self.say(&FromChild::Hello { version: VERSION, program: "scripted".to_owned() })?;
        loop {
            match self.hear()? {
                ToChild::Open { backend, .. } => self.open(backend)?,
                ToChild::Run { job } => return Ok(*job),
                ToChild::Quit => return Err(io::ErrorKind::UnexpectedEof.into()),
                _ => {}
            }
        }
    }

    fn open(&mut self, backend: Kind) -> io::Result<()> {
        let facts = DeviceFacts { name: "scripted device".to_owned(), ..DeviceFacts::default() };
        self.say(&FromChild::Opened { backend, facts: Box::new(facts) })
    }

    fn progress(&mut self, job_id: u64) -> io::Result<()> {
        self.say(&FromChild::Progress { job_id, done: 1, total: 2, telemetry: Telemetry::default() })
    }

    fn wrong_job(&mut self) -> io::Result<i32> {
        let job = self.up_to_a_job()?;
        self.say(&FromChild::Done { job_id: job.id + 1000 })?;
        self.wait_for_the_end()
    }

    /// Answers the cancelled job with progress and an end of its own, then serves the next one properly.
    fn late_answer(&mut self) -> io::Result<i32> {
        let first = self.up_to_a_job()?;
        self.progress(first.id)?;
        while !matches!(self.hear()?, ToChild::Cancel { .. }) {}
        self.progress(first.id)?;
        self.say(&FromChild::Done { job_id: first.id })?;
        loop {
            match self.hear()? {
                ToChild::Open { backend, .. } => self.open(backend)?,
                ToChild::Run { job } => {
                    self.progress(first.id)?;
                    self.say(&FromChild::Done { job_id: first.id })?;
                    self.say(&FromChild::Done { job_id: job.id })?;
                }
                ToChild::Quit => return Ok(0),
                _ => {}
            }
        }
    }

    fn close_pipes(&mut self) -> io::Result<i32> {
        self.up_to_a_job()?;
        sys::close_pipes();
        loop {
            thread::park();
        }
    }
}
