//! How a child is reached: two byte streams and a handle on its life. A process on a pipe is one way, a socket or ssh
//! are others.

use crate::error::RunError;
use std::io::{Read, Write};

/// Starts or reaches a child.
pub trait Connect: Send {
    fn connect(&mut self) -> Result<Link, RunError>;
}

/// An open way to a child.
pub struct Link {
    pub input: Box<dyn Read + Send>,
    pub output: Box<dyn Write + Send>,
    /// Whatever it prints beside the protocol; its last lines are kept.
    pub words: Option<Box<dyn Read + Send>>,
    pub peer: Box<dyn Peer>,
}

/// A handle on the child's life.
pub trait Peer: Send {
    /// Its process number on this machine, if it has one.
    fn pid(&self) -> Option<u32> {
        None
    }
    /// How it ended, if it has. Never waits.
    fn ended(&mut self) -> Option<Exit>;
    /// Ends it and everything that it started, without asking.
    fn kill(&mut self);
}

/// How a child ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exit {
    pub code: Option<i32>,
    pub signal: Option<i32>,
}

impl std::fmt::Display for Exit {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.signal, self.code) {
            (Some(9), _) => out.write_str("it was killed (signal 9, SIGKILL), often by the system when memory ran out"),
            (Some(signal), _) => write!(out, "signal {signal}{}", signal_name(signal)),
            (None, Some(code)) => write!(out, "exit status {code}"),
            (None, None) => out.write_str("the connection closed"),
        }
    }
}

/// Names that are the same on every system we know.
fn signal_name(signal: i32) -> &'static str {
    match signal {
        4 => ", SIGILL, an instruction that this processor does not have",
        6 => ", SIGABRT, it gave up by itself",
        8 => ", SIGFPE, an arithmetic error",
        11 => ", SIGSEGV, a bad memory access",
        15 => ", SIGTERM, it was asked to end",
        _ => "",
    }
}
