//! The command line from outside: outputs, exit codes, messages. None of it needs a GPU.
//!
//! `tests/cli/*.trycmd` hold sessions as they would be typed; the modules here hold what needs a folder, a signal or a
//! socket.
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its case fails")]

mod bare;
mod check;
mod exits;
mod fit;
mod guide;
mod pictures;
mod profile;
mod program;
mod project;
mod serve;
mod sessions;
mod shells;
mod snapshot;
