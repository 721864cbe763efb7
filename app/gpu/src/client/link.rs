//! How a child is reached: two byte streams and a handle on its life. A process on a pipe is one way, a socket or ssh
//! are others.

use crate::error::{How, RunError};
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

impl From<Exit> for How {
    fn from(exit: Exit) -> Self {
        match (exit.signal, exit.code) {
            (Some(signal), _) => Self::Signal(signal),
            (None, Some(code)) => Self::Exit(code),
            (None, None) => Self::Closed,
        }
    }
}
