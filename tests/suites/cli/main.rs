//! The command line from outside: outputs, exit codes, messages. None of it needs a GPU.
//!
//! `tests/cli/*.trycmd` hold sessions as they would be typed; the modules here hold what needs a folder, a signal or a
//! socket.

mod bare;
mod check;
mod exits;
mod program;
mod serve;
mod sessions;
mod shells;
