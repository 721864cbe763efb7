//! Host memory that routines copy from and to: pinned by the driver, or ordinary pages.
#![expect(unsafe_code, reason = "pinned memory comes from the driver; hands out plain slices")]

use super::content;
use super::driver::check;
use crate::error::RunError;
use cudarc::driver::sys;
use std::collections::BTreeMap;
use std::ffi::c_void;

enum Pages {
    Ordinary(Vec<u8>),
    Pinned { start: *mut c_void, len: usize },
}

impl Drop for Pages {
    fn drop(&mut self) {
        if let Self::Pinned { start, .. } = self {
            // SAFETY: allocated once in `open`. After a fatal error the call fails, which changes nothing.
            let _ = unsafe { sys::cuMemFreeHost(*start) };
        }
    }
}

/// Host buffers by handle.
#[derive(Default)]
pub struct Staging {
    buffers: BTreeMap<u64, Pages>,
    next: u64,
}

impl Staging {
    pub fn open(&mut self, bytes: u64, is_pinned: bool) -> Result<u64, RunError> {
        let len = usize::try_from(bytes).map_err(|_| content(format!("{bytes} bytes of host memory")))?;
        let pages = if is_pinned { pinned(len)? } else { Pages::Ordinary(vec![0; len]) };
        self.next += 1;
        self.buffers.insert(self.next, pages);
        Ok(self.next)
    }

    pub fn bytes(&mut self, host: u64) -> Result<&mut [u8], RunError> {
        match self.buffers.get_mut(&host) {
            Some(Pages::Ordinary(bytes)) => Ok(bytes),
            Some(Pages::Pinned { start, len }) => {
                // SAFETY: `len` initialised bytes of the driver's, freed only by `drop`; the borrow is that of `self`.
                Ok(unsafe { std::slice::from_raw_parts_mut(start.cast::<u8>(), *len) })
            }
            None => Err(content("no such host buffer".to_owned())),
        }
    }

    /// The caller has waited for copies.
    pub fn close(&mut self, host: u64) {
        self.buffers.remove(&host);
    }
}

/// Pinned pages, zeroed.
fn pinned(len: usize) -> Result<Pages, RunError> {
    let mut start = std::ptr::null_mut();
    // SAFETY: `start` is live; flags 0 asks for plain pinned memory.
    unsafe { check(sys::cuMemHostAlloc(&raw mut start, len.max(1), 0), "cuMemHostAlloc")? };
    // SAFETY: the driver has just given `len` bytes at `start`.
    unsafe { std::ptr::write_bytes(start.cast::<u8>(), 0, len) };
    Ok(Pages::Pinned { start, len })
}
