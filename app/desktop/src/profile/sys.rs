//! Clocks and signals, where the standard library has no form of them.
#![cfg_attr(unix, expect(unsafe_code, reason = "plain C calls with integers and one struct each"))]

#[cfg(unix)]
fn clock(which: libc::clockid_t) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the struct outlives the call, which only writes it.
    unsafe { libc::clock_gettime(which, &raw mut now) };
    u64::try_from(now.tv_sec).unwrap_or_default() * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or_default()
}

/// The clock that the injected library reads too, ns.
#[cfg(unix)]
pub fn monotonic_ns() -> u64 {
    clock(libc::CLOCK_MONOTONIC)
}

/// Processor time of the calling thread, ns.
#[cfg(unix)]
pub fn thread_cpu_ns() -> u64 {
    clock(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Processes whose parent ends become our children, so that a program that forks is seen whole.
#[cfg(target_os = "linux")]
pub fn adopt_orphans() {
    // SAFETY: takes integers. A failure means that such processes are not seen.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
}

#[cfg(not(target_os = "linux"))]
pub fn adopt_orphans() {}

/// Sends a signal to a process that has not been waited for.
#[cfg(unix)]
pub fn send(pid: u32, signal: i32) {
    if let Ok(pid) = i32::try_from(pid)
        && pid > 1
    {
        // SAFETY: takes two integers.
        unsafe { libc::kill(pid, signal) };
    }
}

/// Whether the terminal sends its Ctrl-C to our process group, and so to the child by itself.
#[cfg(unix)]
pub fn has_terminal() -> bool {
    use std::os::fd::AsRawFd as _;
    let Ok(terminal) = std::fs::File::open("/dev/tty") else { return false };
    // SAFETY: the descriptor is open during the call; both calls return numbers.
    unsafe { libc::tcgetpgrp(terminal.as_raw_fd()) == libc::getpgrp() }
}

/// Bytes of a page of memory.
#[cfg(unix)]
pub fn page_bytes() -> u64 {
    // SAFETY: takes an integer.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

#[cfg(not(unix))]
mod other {
    /// Nothing is injected there, so that the beginning of the program may be the zero.
    pub fn monotonic_ns() -> u64 {
        static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        START.get_or_init(std::time::Instant::now).elapsed().as_nanos() as u64
    }

    pub fn thread_cpu_ns() -> u64 {
        0
    }

    pub fn page_bytes() -> u64 {
        4096
    }
}
#[cfg(not(unix))]
pub use other::*;
