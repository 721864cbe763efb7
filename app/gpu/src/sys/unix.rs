//! The Unix half.
#![expect(unsafe_code, reason = "plain C calls with integers; the standard library has no safe form of them")]

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

/// The program that is running, by handle where the system offers one: an update or a move of the file while the
/// window is open then still starts the version that the window speaks with.
pub fn own_program() -> io::Result<PathBuf> {
    let handle = PathBuf::from("/proc/self/exe");
    if handle.exists() { Ok(handle) } else { std::env::current_exe() }
}

/// Puts the child at the head of a process group of its own, so that it can be ended with all it started.
pub fn own_group(command: &mut Command) {
    command.process_group(0);
}

/// Ends a process group that was made by [`own_group`]. `pid` must not have been waited for yet.
pub fn kill_group(pid: u32) {
    if let Ok(pid) = i32::try_from(pid)
        && pid > 1
    {
        // SAFETY: kill takes two integers; a negative first one names the group, whose head we have not reaped.
        unsafe { libc::kill(-pid, libc::SIGKILL) };
    }
}

/// Number of the signal that ended a process.
pub fn signal(status: ExitStatus) -> Option<i32> {
    status.signal()
}

/// Keeps the real standard output for the caller and points descriptor 1 at standard error, so that a library that
/// prints cannot speak into the protocol.
pub fn take_stdout() -> io::Result<File> {
    let real = io::stdout().as_fd().try_clone_to_owned()?;
    // SAFETY: both descriptors are open for the life of the process; dup2 replaces 1 in one step.
    if unsafe { libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(File::from(real))
}

/// A crashing runner leaves no core file behind.
pub fn no_core_dumps() {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the struct outlives the call, which only reads it. A failure leaves the system's own setting.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const none) };
}

/// Leaves without running exit handlers: a driver's handler waits for a kernel that may never end.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: `_exit` has no preconditions and does not return.
    unsafe { libc::_exit(code) }
}

/// Stops this process where it stands, heartbeats and all: the fault that only a silence limit finds.
pub fn freeze() {
    // SAFETY: raise takes an integer; SIGSTOP suspends the whole process.
    unsafe { libc::raise(libc::SIGSTOP) };
}

/// Ends this process by the signal of a bad memory access.
pub fn crash() {
    // SAFETY: both calls take integers; the default action of SIGSEGV ends the process.
    unsafe {
        libc::signal(libc::SIGSEGV, libc::SIG_DFL);
        libc::raise(libc::SIGSEGV);
    }
}

/// Keeps the calling thread on one of the processors that it may use; `nth` counts among those. False if the system
/// does not do that.
#[cfg(target_os = "linux")]
pub fn pin(nth: usize) -> bool {
    // SAFETY: a zeroed cpu_set_t is an empty set; its size is passed along, and 0 names the calling thread.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        let size = size_of::<libc::cpu_set_t>();
        if libc::sched_getaffinity(0, size, &raw mut allowed) != 0 {
            return false;
        }
        let Some(core) = (0..libc::CPU_SETSIZE as usize).filter(|core| libc::CPU_ISSET(*core, &allowed)).nth(nth)
        else {
            return false;
        };
        let mut one: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut one);
        libc::sched_setaffinity(0, size, &raw const one) == 0
    }
}

/// Other Unix systems offer no pinning that can be relied upon.
#[cfg(not(target_os = "linux"))]
pub fn pin(_nth: usize) -> bool {
    false
}

/// Asks for large pages behind `bytes`, so that address translation does not hide the caches; false if refused.
#[cfg(target_os = "linux")]
pub fn prefer_large_pages(bytes: &mut [u8]) -> bool {
    let start = bytes.as_mut_ptr();
    let skip = start.align_offset(4096);
    if skip >= bytes.len() {
        return false;
    }
    let len = (bytes.len() - skip) / 4096 * 4096;
    // SAFETY: the range lies inside the slice, starts on a page, and MADV_HUGEPAGE changes no contents.
    unsafe { libc::madvise(start.add(skip).cast(), len, libc::MADV_HUGEPAGE) == 0 }
}

#[cfg(not(target_os = "linux"))]
pub fn prefer_large_pages(_bytes: &mut [u8]) -> bool {
    false
}

/// Closes every descriptor that may lead to the parent and goes on living: the fault of a child that hangs after its
/// pipes are gone.
pub fn close_pipes() {
    for descriptor in 0..64 {
        // SAFETY: closing is memory-safe; the caller parks forever and uses none of them again.
        unsafe { libc::close(descriptor) };
    }
}
