//! What a card has beside its one stream: a second stream for copies, a clock of its own, a profiler's ranges, and graphs.

use crate::error::RunError;

/// Kernels run on the first stream, copies may run beside them on the second.
pub trait Lanes {
    /// Queues a copy of the whole of a host buffer on the second stream, to the card or back.
    fn upload_beside(&mut self, address: u64, host: u64) -> Result<(), RunError>;
    fn download_beside(&mut self, address: u64, host: u64) -> Result<(), RunError>;
    /// Copies queued from now on wait for the kernels queued so far.
    fn copies_wait(&mut self) -> Result<(), RunError>;
    /// Kernels queued from now on wait for the copies queued so far.
    fn kernels_wait(&mut self) -> Result<(), RunError>;
    /// Starts the card's own clock where the first stream now is.
    fn start_clock(&mut self) -> Result<(), RunError>;
    /// Waits for the first stream; nanoseconds since [`Self::start_clock`], by the card.
    fn stop_clock(&mut self) -> Result<f64, RunError>;
    /// Launches a kernel of the routine's own source `n` times inside one range of the hardware profiler, reads the range
    /// and gives the nanoseconds of all of it on the host. Nothing where the profiler cannot be used.
    fn in_range(&mut self, entry: &str, n: u64, n_blocks: u32, args: &[u64]) -> Result<Option<f64>, RunError>;
    /// From now on launches are not run but recorded as a graph, one after the other, until [`Self::end_graph`]. Every kernel of
    /// it must have been launched before, as loading one is no part of a graph.
    fn begin_graph(&mut self) -> Result<(), RunError>;
    /// The graph, ready to be launched; a handle.
    fn end_graph(&mut self) -> Result<u64, RunError>;
    /// Queues all kernels of a graph on the first stream, in one call.
    fn launch_graph(&mut self, graph: u64) -> Result<(), RunError>;
    fn drop_graph(&mut self, graph: u64) -> Result<(), RunError>;
}
