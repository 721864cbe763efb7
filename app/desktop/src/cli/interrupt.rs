//! Ctrl-C and SIGTERM: the first asks the work to end, the second ends the program at once.

use super::Exit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

static RAISED: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| {
    let raised = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&raised);
    let (ready, is_ready) = channel();
    // Without the thread the system's own handling stays: Ctrl-C ends the program.
    let thread = std::thread::Builder::new().name("interrupt".to_owned()).spawn(move || watch(&flag, &ready));
    if thread.is_ok() {
        let _ = is_ready.recv_timeout(Duration::from_secs(1));
    }
    raised
});

/// From now on the first interrupt is only noted; [`is_raised`] tells.
pub fn listen() {
    LazyLock::force(&RAISED);
}

pub fn is_raised() -> bool {
    RAISED.load(Ordering::Acquire)
}

/// True while the program waits for the reader, and has nothing to cancel.
static IS_IDLE: AtomicBool = AtomicBool::new(false);

/// Runs `wait` so that an interrupt ends the program at once.
pub fn while_idle<T>(wait: impl FnOnce() -> T) -> T {
    IS_IDLE.store(true, Ordering::Release);
    let out = wait();
    IS_IDLE.store(false, Ordering::Release);
    out
}

fn watch(raised: &AtomicBool, ready: &Sender<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return };
    // An error means that the system offers no signals; its own handling stays.
    let _ = runtime.block_on(listen_for(raised, ready));
}

fn note(raised: &AtomicBool) {
    if raised.swap(true, Ordering::AcqRel) || IS_IDLE.load(Ordering::Acquire) {
        std::process::exit(Exit::Interrupted as i32);
    }
}

#[cfg(unix)]
async fn listen_for(raised: &AtomicBool, ready: &Sender<()>) -> std::io::Result<()> {
    use std::future::poll_fn;
    use std::task::Poll;
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let _ = ready.send(());
    loop {
        let either = poll_fn(|cx| match (interrupt.poll_recv(cx), terminate.poll_recv(cx)) {
            (Poll::Pending, Poll::Pending) => Poll::Pending,
            _ => Poll::Ready(()),
        });
        either.await;
        note(raised);
    }
}

#[cfg(not(unix))]
async fn listen_for(raised: &AtomicBool, ready: &Sender<()>) -> std::io::Result<()> {
    let _ = ready.send(());
    loop {
        tokio::signal::ctrl_c().await?;
        note(raised);
    }
}
