//! The few functions of CUPTI that are needed, looked up by name in whichever library the program has or can find.
#![expect(unsafe_code, reason = "this is the border to CUPTI and to the dynamic loader; it hands out plain numbers")]

use std::ffi::{CStr, CString, c_char, c_void};
use std::os::unix::ffi::OsStrExt as _;

/// `CUPTI_SUCCESS`.
pub const OK: u32 = 0;

type Request = extern "C" fn(*mut *mut u8, *mut usize, *mut usize);
type Complete = extern "C" fn(*mut c_void, u32, *mut u8, usize, usize);

type Read32 = unsafe extern "C" fn(*mut u32) -> u32;
type Read64 = unsafe extern "C" fn(*mut u64) -> u32;
type Take = unsafe extern "C" fn(u32) -> u32;
type Register = unsafe extern "C" fn(Request, Complete) -> u32;
type Next = unsafe extern "C" fn(*mut u8, usize, *mut *mut u8) -> u32;
type Dropped = unsafe extern "C" fn(*mut c_void, u32, *mut usize) -> u32;

/// CUPTI's functions, with the signatures of `cupti_activity.h` and `cupti_version.h`.
#[derive(Clone, Copy)]
pub struct Cupti {
    version: Read32,
    timestamp: Read64,
    enable: Take,
    register: Register,
    next: Next,
    dropped: Dropped,
    flush: Take,
}

/// What the program has loaded already comes first: two versions in one process do not go together.
const NAMES: [&CStr; 3] = [c"libcupti.so.13", c"libcupti.so.12", c"libcupti.so"];
const FOLDERS: [&str; 3] =
    ["/usr/local/cuda/extras/CUPTI/lib64/", "/usr/local/cuda/lib64/", "/usr/local/cuda/targets/x86_64-linux/lib/"];

impl Cupti {
    /// Finds the library and its functions.
    pub fn load() -> Option<Self> {
        let library = open()?;
        macro_rules! function {
            ($name:literal, $signature:ty) => {{
                // SAFETY: `library` is open and stays so; the name is a C string.
                let found = unsafe { libc::dlsym(library, $name.as_ptr()) };
                if found.is_null() {
                    return None;
                }
                // SAFETY: the symbol is the function of this name, whose C signature the field's type repeats.
                unsafe { std::mem::transmute::<*mut c_void, $signature>(found) }
            }};
        }
        Some(Self {
            version: function!(c"cuptiGetVersion", Read32),
            timestamp: function!(c"cuptiGetTimestamp", Read64),
            enable: function!(c"cuptiActivityEnable", Take),
            register: function!(c"cuptiActivityRegisterCallbacks", Register),
            next: function!(c"cuptiActivityGetNextRecord", Next),
            dropped: function!(c"cuptiActivityGetNumDroppedRecords", Dropped),
            flush: function!(c"cuptiActivityFlushAll", Take),
        })
    }

    pub fn version(&self) -> u32 {
        let mut version = 0;
        // SAFETY: the pointer is to a live u32 that the call writes.
        unsafe { (self.version)(&raw mut version) };
        version
    }

    /// CUPTI's clock, ns.
    pub fn now(&self) -> u64 {
        let mut now = 0;
        // SAFETY: the pointer is to a live u64 that the call writes.
        unsafe { (self.timestamp)(&raw mut now) };
        now
    }

    pub fn register(&self, request: Request, complete: Complete) -> u32 {
        // SAFETY: both callbacks have the signatures of the header and live as long as the process.
        unsafe { (self.register)(request, complete) }
    }

    pub fn enable(&self, kind: u32) -> u32 {
        // SAFETY: takes a number; one that the version does not know is refused with an error code.
        unsafe { (self.enable)(kind) }
    }

    /// Hands over buffers whose records are complete, with `is_forced` the others too.
    pub fn flush(&self, is_forced: bool) -> u32 {
        // SAFETY: takes a number; the callbacks are registered before the first call.
        unsafe { (self.flush)(u32::from(is_forced)) }
    }

    /// Records lost since the last question.
    pub fn dropped(&self, context: *mut c_void, stream: u32) -> u64 {
        let mut n = 0;
        // SAFETY: context and stream are those that CUPTI itself handed to the callback.
        let code = unsafe { (self.dropped)(context, stream, &raw mut n) };
        if code == OK { n as u64 } else { 0 }
    }

    /// Calls `take` with every record of a buffer: its bytes from its start to the end of what is valid.
    pub fn each(&self, buffer: *mut u8, n_valid: usize, take: &mut dyn FnMut(&[u8])) {
        let mut record: *mut u8 = std::ptr::null_mut();
        loop {
            // SAFETY: buffer and length are those of the callback; `record` is null or what the last call returned.
            if unsafe { (self.next)(buffer, n_valid, &raw mut record) } != OK || record.is_null() {
                return;
            }
            let at = (record as usize).wrapping_sub(buffer as usize);
            if at >= n_valid {
                return;
            }
            // SAFETY: the record lies inside the buffer, of which `n_valid` bytes are initialised by CUPTI.
            take(unsafe { std::slice::from_raw_parts(record, n_valid - at) });
        }
    }
}

/// A C string that CUPTI points to, cut at `most` bytes.
pub fn text_at(address: u64, most: usize) -> Vec<u8> {
    if address == 0 {
        return Vec::new();
    }
    // SAFETY: CUPTI documents the name as a C string shared by all records of the kernel, never freed before the end.
    let text = unsafe { CStr::from_ptr(address as usize as *const c_char) };
    text.to_bytes().iter().copied().take(most).collect()
}

fn open() -> Option<*mut c_void> {
    let given = std::env::var_os(vramlab_profile::wire::CUPTI).and_then(|path| CString::new(path.as_bytes()).ok());
    if let Some(path) = given {
        return dlopen(&path, libc::RTLD_NOW);
    }
    let loaded = NAMES.iter().find_map(|name| dlopen(name, libc::RTLD_NOW | libc::RTLD_NOLOAD));
    let by_name = || NAMES.iter().find_map(|name| dlopen(name, libc::RTLD_NOW));
    let by_path = || {
        let paths = FOLDERS.iter().flat_map(|folder| NAMES.iter().map(move |name| (folder, name)));
        paths
            .filter_map(|(folder, name)| CString::new(format!("{folder}{}", name.to_str().ok()?)).ok())
            .find_map(|path| dlopen(&path, libc::RTLD_NOW))
    };
    loaded.or_else(by_name).or_else(by_path)
}

fn dlopen(name: &CStr, flags: i32) -> Option<*mut c_void> {
    // SAFETY: the name is a C string; a library that cannot be opened gives null.
    let library = unsafe { libc::dlopen(name.as_ptr(), flags) };
    (!library.is_null()).then_some(library)
}
