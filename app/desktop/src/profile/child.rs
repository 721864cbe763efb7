//! The program's start, the signals that are meant for it, and its end.

#[cfg(unix)]
use super::sys;
use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use vramlab_profile::record::Exit;

/// The child that signals are handed to; 0: none.
static CHILD: AtomicU32 = AtomicU32::new(0);

/// Starts the command with our terminal. `is_quiet`: its output is data of ours no longer and goes to standard error.
pub fn start(command: &mut Command, is_quiet: bool) -> io::Result<Child> {
    command.stdin(Stdio::inherit()).stderr(Stdio::inherit());
    command.stdout(if is_quiet { Stdio::from(io::stderr()) } else { Stdio::inherit() });
    hand_signals_on();
    let child = command.spawn()?;
    CHILD.store(child.id(), Ordering::Release);
    Ok(child)
}

/// Waits for the child; signals that come meanwhile are the child's.
pub fn wait(mut child: Child) -> io::Result<Exit> {
    let status = child.wait();
    CHILD.store(0, Ordering::Release);
    status.map(exit_of)
}

fn exit_of(status: ExitStatus) -> Exit {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    let signal = None;
    Exit { code: status.code(), signal }
}

/// From now on Ctrl-C and the like end the child and not us: what was measured is still written.
#[cfg(unix)]
fn hand_signals_on() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let (ready, is_ready) = std::sync::mpsc::channel();
        // Without the thread the system's own handling stays: a signal ends us, and the child hears it from the terminal.
        let thread = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let Ok(runtime) = runtime else { return };
            let _unheard = runtime.block_on(listen(&ready)).is_err();
        });
        if thread.is_ok() {
            let _late = is_ready.recv_timeout(std::time::Duration::from_secs(1)).is_err();
        }
    });
}

#[cfg(unix)]
async fn listen(ready: &std::sync::mpsc::Sender<()>) -> io::Result<()> {
    use std::future::poll_fn;
    use std::task::Poll;
    use tokio::signal::unix::{SignalKind, signal};
    const NUMBERS: [i32; 4] = [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP];
    let mut all = Vec::new();
    for number in NUMBERS {
        all.push((number, signal(SignalKind::from_raw(number))?));
    }
    let _gone = ready.send(()).is_err();
    loop {
        let number = poll_fn(|cx| {
            let heard = all.iter_mut().find_map(|(number, signal)| signal.poll_recv(cx).is_ready().then_some(*number));
            heard.map_or(Poll::Pending, Poll::Ready)
        });
        let number = number.await;
        let is_of_terminal = matches!(number, libc::SIGINT | libc::SIGQUIT) && sys::has_terminal();
        if !is_of_terminal {
            sys::send(CHILD.load(Ordering::Acquire), number);
        }
    }
}

#[cfg(not(unix))]
fn hand_signals_on() {}
