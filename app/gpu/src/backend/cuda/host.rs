//! What is read back, on the host's side: kept from point to point, and pinned when large, because a pinned read runs at
//! the speed of the bus and an ordinary one at a fifth of it.
#![expect(unsafe_code, reason = "pins pages through the driver; hands out plain slices")]

use super::guard::guarded;
use crate::oracle;
use cudarc::driver::sys;
use std::collections::BTreeMap;

/// Pinning costs milliseconds, which small buffers do not repay.
const PIN_FROM: usize = 64 << 20;

/// Host memory, unpinned before it is freed.
struct Pages {
    bytes: Vec<u8>,
    is_pinned: bool,
}

impl Pages {
    fn new(len: usize) -> Self {
        let mut bytes = vec![0_u8; len];
        let is_pinned = len >= PIN_FROM && {
            // SAFETY: the range is the vector's own; it is not resized while registered, and unregistered in `drop`.
            let pin = || unsafe { sys::cuMemHostRegister_v2(bytes.as_mut_ptr().cast(), len, 0) };
            guarded("pinning", pin).is_ok_and(|code| code == sys::CUresult::CUDA_SUCCESS)
        };
        Self { bytes, is_pinned }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        if self.is_pinned {
            // SAFETY: registered once in `new`. After a fatal error the call fails, which changes nothing.
            let _ = unsafe { sys::cuMemHostUnregister(self.bytes.as_mut_ptr().cast()) };
        }
    }
}

/// Buffers by name.
#[derive(Default)]
pub struct Host(BTreeMap<String, Pages>);

impl Host {
    /// Keeps only these buffers.
    pub fn retain(&mut self, names: &[&str]) {
        self.0.retain(|name, _| names.contains(&name.as_str()));
    }

    /// The buffer `name` with `len` bytes, whatever they hold.
    pub fn get(&mut self, name: &str, len: usize) -> &mut [u8] {
        if self.0.get(name).is_some_and(|pages| pages.bytes.len() != len) {
            self.0.remove(name);
        }
        &mut self.0.entry(name.to_owned()).or_insert_with(|| Pages::new(len)).bytes
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }
}

impl oracle::Buffers for Host {
    fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(|pages| pages.bytes.as_slice())
    }
}
