//! What the operating system must do for the runner and the standard library does not: end a process group, keep
//! standard output for the protocol, forbid core dumps, pin a thread, leave at once. One file a family of systems.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub use unix::*;

#[cfg(not(unix))]
mod other;
#[cfg(not(unix))]
pub use other::*;
