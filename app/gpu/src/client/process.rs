//! A child that is a process of our own executable, in a process group of its own.

use super::link::{Connect, Exit, Link, Peer};
use crate::child::SUBCOMMAND;
use crate::error::RunError;
use crate::sys;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// Which program becomes the child, and with which arguments.
#[derive(Clone, Debug)]
pub struct Spawn {
    program: PathBuf,
    args: Vec<OsString>,
}

impl Spawn {
    /// Our own executable with the hidden subcommand. Looked up once, at the start of the window.
    pub fn own() -> io::Result<Self> {
        Ok(Self { program: sys::own_program()?, args: vec![SUBCOMMAND.into()] })
    }

    /// Another program, for suites and for `ssh HOST vramlab __runner`.
    pub fn program(program: impl Into<PathBuf>, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        Self { program: program.into(), args: args.into_iter().map(Into::into).collect() }
    }

    /// Plays a scripted fault instead of measuring.
    #[must_use]
    pub fn playing(mut self, script: &str) -> Self {
        self.args.push(script.into());
        self
    }
}

impl Connect for Spawn {
    fn connect(&mut self) -> Result<Link, RunError> {
        let mut command = Command::new(&self.program);
        command.args(&self.args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        sys::own_group(&mut command);
        let mut child = command.spawn().map_err(|error| {
            let program = self.program.display();
            RunError::unavailable(
                (
                    format!("运行器 {program} 启动不了：{error}"),
                    format!("the runner {program} does not start: {error}"),
                ),
                (
                    "程序打开期间可能被移动或删除了；请重新启动程序",
                    "the program may have been moved or removed while it was open; start it again",
                ),
            )
        })?;
        let (Some(output), Some(input)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(RunError::Protocol { what: "the runner has no pipes".to_owned() });
        };
        let words = child.stderr.take().map(|words| Box::new(words) as Box<_>);
        Ok(Link { input: Box::new(input), output: Box::new(output), words, peer: Box::new(Process(child)) })
    }
}

struct Process(Child);

impl Peer for Process {
    fn pid(&self) -> Option<u32> {
        Some(self.0.id())
    }

    fn ended(&mut self) -> Option<Exit> {
        let status = self.0.try_wait().ok()??;
        Some(Exit { code: status.code(), signal: sys::signal(status) })
    }

    fn kill(&mut self) {
        // While it has not been waited for, its number is still ours; what it started is in its group.
        if matches!(self.0.try_wait(), Ok(None)) {
            sys::kill_group(self.0.id());
            let _ = self.0.kill();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        let _ = self.0.try_wait();
    }
}
