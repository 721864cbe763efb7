//! The second stream, the events and the profiler's ranges behind routines on the host.
#![expect(unsafe_code, reason = "streams and copies are the driver's; hands out checked results")]

use super::Cuda;
use super::cupti::{Counters, Failure, Session};
use super::driver::{Device, Event, check};
use crate::error::RunError;
use cudarc::driver::sys;
use std::ffi::c_void;

/// What a range of the profiler counts: one number, in one pass.
const COUNTED: &str = "smsp__cycles_elapsed.max";

/// Opened when first asked for; closed with the card.
#[derive(Default)]
pub struct Side {
    stream: Option<sys::CUstream>,
    order: Option<Event>,
    clock: Option<[Event; 2]>,
    counters: Option<(Counters, Session)>,
    is_refused: bool,
}

impl Side {
    /// A stream that does not wait for the default one.
    pub fn stream(&mut self) -> Result<sys::CUstream, RunError> {
        if let Some(stream) = self.stream {
            return Ok(stream);
        }
        let mut stream = std::ptr::null_mut();
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        // SAFETY: `stream` is live.
        unsafe { check(sys::cuStreamCreate(&raw mut stream, flags), "cuStreamCreate")? };
        self.stream = Some(stream);
        Ok(stream)
    }

    pub fn upload(&mut self, address: u64, from: *const c_void, len: usize) -> Result<(), RunError> {
        let stream = self.stream()?;
        // SAFETY: the routine holds both ends and gives neither back before it has waited for this stream.
        unsafe { check(sys::cuMemcpyHtoDAsync_v2(address, from, len, stream), "cuMemcpyHtoDAsync") }
    }

    pub fn download(&mut self, address: u64, to: *mut c_void, len: usize) -> Result<(), RunError> {
        let stream = self.stream()?;
        // SAFETY: as in `upload`.
        unsafe { check(sys::cuMemcpyDtoHAsync_v2(to, address, len, stream), "cuMemcpyDtoHAsync") }
    }

    /// Lets `then` wait for what `first` holds now. The default stream is null.
    fn order(&mut self, first: sys::CUstream, then: sys::CUstream) -> Result<(), RunError> {
        if self.order.is_none() {
            self.order = Some(Event::new()?);
        }
        let Some(event) = &self.order else { return Ok(()) };
        event.record_on(first)?;
        event.hold(then)
    }

    pub fn copies_wait(&mut self) -> Result<(), RunError> {
        let stream = self.stream()?;
        self.order(std::ptr::null_mut(), stream)
    }

    pub fn kernels_wait(&mut self) -> Result<(), RunError> {
        let stream = self.stream()?;
        self.order(stream, std::ptr::null_mut())
    }

    pub fn start(&mut self) -> Result<(), RunError> {
        if self.clock.is_none() {
            self.clock = Some([Event::new()?, Event::new()?]);
        }
        self.clock.as_ref().map_or(Ok(()), |[from, _]| from.record())
    }

    pub fn stop(&mut self, device: &Device) -> Result<f64, RunError> {
        let Some([from, to]) = &self.clock else { return Ok(0.0) };
        to.record()?;
        to.wait("the routine")?;
        Ok(device.elapsed_ms(from, to, "the routine")? * 1e6)
    }

    /// Runs `work` inside one range; nothing if the profiler refuses, which is asked once.
    pub fn ranged(&mut self, cuda: &Cuda, work: &super::cupti::Work<'_>) -> Result<bool, RunError> {
        if self.counters.is_none() && !self.is_refused {
            let opened = Counters::open(cuda.device(), &[COUNTED.to_owned()])
                .and_then(|counters| Session::open(cuda.device()).map(|session| (counters, session)));
            match opened {
                Ok(opened) => self.counters = Some(opened),
                Err(why) => {
                    eprintln!("ranges of the profiler: {why}");
                    self.is_refused = true;
                }
            }
        }
        let Some((counters, session)) = &self.counters else { return Ok(false) };
        match counters.read(session, &|| Ok(()), work) {
            Ok(_) => Ok(true),
            Err(Failure::Run(error)) => Err(error),
            Err(Failure::Profiler(why)) => {
                eprintln!("ranges of the profiler: {why}");
                (self.counters, self.is_refused) = (None, true);
                Ok(false)
            }
        }
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        if let Some(stream) = self.stream.take() {
            // SAFETY: created once in `stream`; whatever it still holds is waited for.
            unsafe {
                let _ = sys::cuStreamSynchronize(stream);
                let _ = sys::cuStreamDestroy_v2(stream);
            }
        }
    }
}
