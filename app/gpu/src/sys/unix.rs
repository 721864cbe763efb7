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

/// Numbers of the processors that the calling thread may use; empty if the system does not tell.
#[cfg(target_os = "linux")]
pub fn allowed_processors() -> Vec<usize> {
    // SAFETY: a zeroed cpu_set_t is an empty set; its size is passed along, and 0 names the calling thread.
    let allowed = unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut allowed) != 0 {
            return Vec::new();
        }
        allowed
    };
    let n_known = usize::try_from(libc::CPU_SETSIZE).unwrap_or_default();
    // SAFETY: every index lies below CPU_SETSIZE.
    (0..n_known).filter(|processor| unsafe { libc::CPU_ISSET(*processor, &allowed) }).collect()
}

/// The processor that runs the calling thread at this moment.
#[cfg(target_os = "linux")]
pub fn current_processor() -> Option<usize> {
    // SAFETY: the call takes nothing and returns a number, negative if it cannot tell.
    usize::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// Keeps the calling thread on one processor. False if the system does not do that. A thread that was started by a
/// pinned one may still go elsewhere.
#[cfg(target_os = "linux")]
pub fn pin(processor: usize) -> bool {
    if processor >= usize::try_from(libc::CPU_SETSIZE).unwrap_or_default() {
        return false;
    }
    // SAFETY: the index is below CPU_SETSIZE; the set outlives the call, which only reads it.
    unsafe {
        let mut one: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(processor, &mut one);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const one) == 0
    }
}

/// Asks for large pages behind `words`, so that address translation does not hide the caches; false if refused.
#[cfg(target_os = "linux")]
pub fn prefer_large_pages(words: &mut [u32]) -> bool {
    const PAGE: usize = 4096;
    let start: *mut u8 = words.as_mut_ptr().cast();
    let (skip, n_bytes) = (start.align_offset(PAGE), size_of_val(words));
    if skip >= n_bytes {
        return false;
    }
    // SAFETY: the range lies inside the slice and starts on a page; MADV_HUGEPAGE changes no contents.
    unsafe { libc::madvise(start.add(skip).cast(), (n_bytes - skip) / PAGE * PAGE, libc::MADV_HUGEPAGE) == 0 }
}

/// How often the system has taken the processor away from the calling thread.
#[cfg(target_os = "linux")]
pub fn preemptions() -> u64 {
    // SAFETY: a zeroed rusage is a valid one; the call writes it and nothing else.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        if libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) != 0 {
            return 0;
        }
        usage
    };
    u64::try_from(usage.ru_nivcsw).unwrap_or_default()
}

/// Not told for a single thread elsewhere.
#[cfg(not(target_os = "linux"))]
pub fn preemptions() -> u64 {
    0
}

/// Other Unix systems offer no pinning that can be relied upon, and large pages by their own judgement.
#[cfg(not(target_os = "linux"))]
pub fn allowed_processors() -> Vec<usize> {
    Vec::new()
}

#[cfg(not(target_os = "linux"))]
pub fn current_processor() -> Option<usize> {
    None
}

#[cfg(not(target_os = "linux"))]
pub fn pin(_processor: usize) -> bool {
    false
}

#[cfg(not(target_os = "linux"))]
pub fn prefer_large_pages(_words: &mut [u32]) -> bool {
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_of_a_pinned_thread_can_be_pinned_elsewhere() {
        let all = allowed_processors();
        std::thread::scope(|scope| {
            let outer = scope.spawn(|| {
                assert!(pin(all[0]));
                assert_eq!(allowed_processors(), [all[0]]);
                let last = all[all.len() - 1];
                let inner = std::thread::spawn(move || (pin(last), allowed_processors() == [last]));
                assert_eq!(inner.join().unwrap(), (true, true));
            });
            outer.join().unwrap();
        });
        assert_eq!(allowed_processors(), all, "the calling thread itself is free");
    }
}
