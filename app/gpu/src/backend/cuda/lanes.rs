//! The second stream, the events, the profiler's ranges and the graphs behind routines on the host.
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
    /// Graphs by handle, counted from 1; dropped ones leave their place empty.
    graphs: Vec<Option<Graph>>,
}

/// A graph that can be launched, destroyed when dropped.
struct Graph(sys::CUgraphExec);

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: instantiated once in `end_graph`; the driver waits for launches that still run.
        let _ = unsafe { sys::cuGraphExecDestroy(self.0) };
    }
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

    /// The default stream cannot be captured: a graph is recorded on the second one.
    pub fn begin_graph(&mut self) -> Result<(), RunError> {
        let stream = self.stream()?;
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream lives and is idle.
        unsafe { check(sys::cuStreamBeginCapture_v2(stream, mode), "cuStreamBeginCapture") }
    }

    pub fn end_graph(&mut self) -> Result<u64, RunError> {
        let stream = self.stream()?;
        let (mut graph, mut exec) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: both handles are live locals; the graph is not needed once it is instantiated.
        unsafe {
            check(sys::cuStreamEndCapture(stream, &raw mut graph), "cuStreamEndCapture")?;
            let made = sys::cuGraphInstantiateWithFlags(&raw mut exec, graph, 0);
            let _ = sys::cuGraphDestroy(graph);
            check(made, "cuGraphInstantiate")?;
        }
        self.graphs.push(Some(Graph(exec)));
        Ok(self.graphs.len() as u64)
    }

    /// Queues a graph on the default stream.
    pub fn launch_graph(&self, graph: u64) -> Result<(), RunError> {
        let found = self.graphs.get(graph.wrapping_sub(1) as usize).and_then(Option::as_ref);
        let Some(Graph(exec)) = found else {
            return Err(RunError::Content { what: format!("there is no graph {graph}") });
        };
        // SAFETY: the graph lives; the null stream is the default stream.
        unsafe { check(sys::cuGraphLaunch(*exec, std::ptr::null_mut()), "cuGraphLaunch") }
    }

    pub fn drop_graph(&mut self, graph: u64) {
        if let Some(place) = self.graphs.get_mut(graph.wrapping_sub(1) as usize) {
            *place = None;
        }
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
