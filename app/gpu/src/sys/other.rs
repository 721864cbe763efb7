//! Systems that are not Unix: what can be done by the standard library alone.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

pub fn own_program() -> io::Result<PathBuf> {
    std::env::current_exe()
}

pub fn own_group(_command: &mut Command) {}

/// The child itself is ended by its handle.
pub fn kill_group(_pid: u32) {}

pub fn signal(_status: ExitStatus) -> Option<i32> {
    None
}

/// The handle is duplicated; what a library prints by the C runtime goes by another buffer and is not redirected.
#[cfg(windows)]
pub fn take_stdout() -> io::Result<File> {
    use std::os::windows::io::AsHandle as _;
    Ok(File::from(io::stdout().as_handle().try_clone_to_owned()?))
}

#[cfg(not(windows))]
pub fn take_stdout() -> io::Result<File> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

pub fn no_core_dumps() {}

pub fn exit_now(code: i32) -> ! {
    std::process::exit(code)
}

pub fn freeze() {
    loop {
        std::thread::park();
    }
}

pub fn crash() {
    std::process::abort()
}

pub fn allowed_processors() -> Vec<usize> {
    Vec::new()
}

pub fn current_processor() -> Option<usize> {
    None
}

pub fn preemptions() -> u64 {
    0
}

pub fn pin(_processor: usize) -> bool {
    false
}

pub fn prefer_large_pages(_words: &mut [u32]) -> bool {
    false
}

pub fn close_pipes() {}
