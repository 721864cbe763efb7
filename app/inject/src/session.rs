//! Start, flush and end, and CUPTI's two callbacks.
#![expect(unsafe_code, reason = "C callbacks and handlers of the C library; each is a few lines")]

use crate::cupti::{Cupti, OK, text_at};
use crate::layout;
use crate::out::{NAME_BYTES, Out};
use std::alloc::{Layout, alloc, dealloc};
use std::ffi::c_void;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};
use vramlab_profile::wire::{self, Header, Kind, State};

/// Buffers of this size are handed to CUPTI: small enough that little is lost with a killed process.
const BUFFER_BYTES: usize = 512 << 10;
const ALIGN: usize = 8;
/// Complete buffers are collected this often.
const FLUSH_EVERY: Duration = Duration::from_millis(200);
/// What a process may write if nobody says otherwise.
const DEFAULT_MAX_BYTES: usize = 256 << 20;

struct Session {
    cupti: Cupti,
    pid: u32,
    out: Mutex<Out>,
}

static SESSION: OnceLock<Session> = OnceLock::new();

/// Begins recording, once a process. Every way to fail leaves a file that says which, or nothing.
pub fn start() {
    let Some(folder) = std::env::var_os(wire::DIR).map(PathBuf::from) else { return };
    let most = std::env::var(wire::MAX_BYTES).ok().and_then(|text| text.parse().ok()).unwrap_or(DEFAULT_MAX_BYTES);
    let pid = std::process::id();
    let cupti = Cupti::load();
    let version = cupti.as_ref().map_or(0, Cupti::version);
    let header = Header { pid, cupti_version: version, start: clocks(cupti.as_ref()), ..Header::default() };
    let path = folder.join(format!("{pid}.activity"));
    let fail = |state: State, error: u32| {
        drop(Out::create(&path, most, Header { state: state as u32, error, ..header }));
    };
    let Some(cupti) = cupti else { return fail(State::NoCupti, 0) };
    if !layout::is_known(version) {
        return fail(State::UnknownVersion, 0);
    }
    let Some(out) = Out::create(&path, most, Header { state: State::Recording as u32, ..header }) else { return };
    if SESSION.set(Session { cupti, pid, out: Mutex::new(out) }).is_err() {
        return;
    }
    let code = begin(&cupti);
    if code != OK {
        end_as(State::Refused, code);
    }
}

/// Registers the callbacks, then each kind; one that a version lacks is simply not recorded.
fn begin(cupti: &Cupti) -> u32 {
    let code = cupti.register(on_request, on_complete);
    if code != OK {
        return code;
    }
    let codes = layout::KINDS.map(|kind| cupti.enable(kind));
    if let Some(first) = codes.first().filter(|_| codes.iter().all(|code| *code != OK)) {
        return *first;
    }
    // SAFETY: the handler takes nothing, returns nothing and stays loaded as long as the process.
    unsafe { libc::atexit(at_exit) };
    // Without the thread everything is flushed at the end.
    let _unflushed = std::thread::Builder::new().name("vramlab-flush".to_owned()).spawn(flush_often).is_err();
    OK
}

fn flush_often() {
    loop {
        std::thread::sleep(FLUSH_EVERY);
        let Some(session) = SESSION.get() else { return };
        session.cupti.flush(false);
        if let Ok(mut out) = session.out.lock()
            && out.header.state != State::Recording as u32
        {
            out.write();
            return;
        }
    }
}

/// CUPTI's clock and the monotonic clock, ns, read one after the other.
fn clocks(cupti: Option<&Cupti>) -> [u64; 2] {
    let theirs = cupti.map_or(0, Cupti::now);
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the struct outlives the call, which writes it.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    [theirs, (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64)]
}

extern "C" fn at_exit() {
    // A child that was forked and never started a program of its own shares this handler, but not CUDA.
    if SESSION.get().is_some_and(|session| session.pid == std::process::id()) {
        if let Some(session) = SESSION.get() {
            session.cupti.flush(true);
        }
        end_as(State::Ended, 0);
    }
}

fn end_as(state: State, error: u32) {
    let Some(session) = SESSION.get() else { return };
    if let Ok(mut out) = session.out.lock() {
        out.header.state = state as u32;
        out.header.error = error;
        out.header.last = clocks(Some(&session.cupti));
        out.write();
    }
}

/// CUPTI wants an empty buffer. Null makes it drop records, which it counts.
extern "C" fn on_request(buffer: *mut *mut u8, size: *mut usize, most: *mut usize) {
    // SAFETY: the three pointers are CUPTI's own and live during the call; the layout has a size and a legal alignment.
    unsafe {
        let place = Layout::from_size_align(BUFFER_BYTES, ALIGN).map_or(std::ptr::null_mut(), |layout| alloc(layout));
        *buffer = place;
        *size = if place.is_null() { 0 } else { BUFFER_BYTES };
        *most = 0;
    }
}

/// CUPTI hands a buffer back.
extern "C" fn on_complete(context: *mut c_void, stream: u32, buffer: *mut u8, _size: usize, n_valid: usize) {
    if buffer.is_null() {
        return;
    }
    let began = Instant::now();
    if let Some(session) = SESSION.get()
        && session.pid == std::process::id()
        && let Ok(mut out) = session.out.lock()
    {
        session.cupti.each(buffer, n_valid, &mut |bytes| take(&mut out, bytes));
        out.header.n_dropped += session.cupti.dropped(context, stream);
        out.header.last = clocks(Some(&session.cupti));
        out.header.own_ns += began.elapsed().as_nanos() as u64;
        out.write();
    }
    if let Ok(layout) = Layout::from_size_align(BUFFER_BYTES, ALIGN) {
        // SAFETY: `on_request` allocated the buffer with this very layout, and CUPTI gives each back once.
        unsafe { dealloc(buffer, layout) };
    }
}

fn take(out: &mut Out, bytes: &[u8]) {
    let kind = layout::kind_of(bytes);
    if bytes.len() < layout::n_bytes(kind) {
        out.header.n_unknown += 1;
        return;
    }
    match layout::record(bytes) {
        Some(record) if record.kind == Kind::Kernel => {
            out.put_kernel(record, &text_at(layout::name_of(bytes), NAME_BYTES));
        }
        Some(record) => out.put(record),
        None => out.header.n_unknown += 1,
    }
}
