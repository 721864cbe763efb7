//! The self-test of a GPU machine: every CUDA experiment in full with its reference and counters, our numbers beside
//! those of peers measured in the same start, and faults made on purpose.
//!
//! `experiments.rs` runs what readers run, through the child process; `peers.rs` measures beside the driver's copy,
//! PyTorch, Triton and plain C++, `products.rs` beside PyTorch's matrix products; `faults.rs` breaks things, `sanitizer.rs` has
//! NVIDIA's checkers watch `small.rs`; `table.rs` is the table. A missing GPU is a failure here.
//! The caller writes the traces and the table.

mod exercises;
mod experiments;
mod faults;
mod peers;
mod products;
mod sanitizer;
mod small;
mod table;

pub use exercises::exercises;
pub use peers::launch;
pub use small::small;
pub use table::{Row, Table};

use crate::RunError;
use crate::client::{Client, Limits, Spawn};
use crate::client::{ClientEvent, Target};
use crate::protocol::FromChild;
use crate::read::Library;
use std::path::PathBuf;
use std::sync::Arc;
use vramlab_trace::{Backend, DeviceFacts, Run};

/// What the self-test needs from its surroundings.
pub struct Setup {
    /// A folder for what is built on the way.
    pub out: PathBuf,
    pub library: Library,
    /// The scripts and sources of the peers, `kernels/peers`.
    pub peers: PathBuf,
    /// Words after which this program takes `small` and `launch` and calls [`small()`] and [`launch()`].
    pub own: Vec<String>,
    /// Today, `2026-11-30`.
    pub date: String,
    /// Name and version of the program.
    pub program: String,
    /// Told what is being done, line by line.
    pub say: Box<dyn Fn(&str)>,
}

/// What came of it.
pub struct Outcome {
    pub facts: DeviceFacts,
    pub runs: Vec<Run>,
    pub table: Table,
}

/// Runs everything. The error is that of the device: without one there is no self-test.
pub fn run(setup: &Setup) -> Result<Outcome, RunError> {
    let mut client = client()?;
    let facts = client.facts_blocking(Target::new(Backend::Cuda))?;
    (setup.say)(&format!("{} (driver {})", facts.name, facts.driver));
    let mut table = Table::default();
    let runs = experiments::run_all(setup, &mut client, &facts, &mut table);
    experiments::first_number(setup, &mut client, &facts, &mut table);
    faults::drill(setup, &mut client, &mut table);
    drop(client);
    peers::measure(setup, &mut table);
    products::compare(setup, &runs, &mut table);
    sanitizer::check(setup, &mut table);
    Ok(Outcome { facts, runs, table })
}

/// Records the experiments called `ids` with the kernels of the library at hand: what an author runs while a kernel still
/// changes. The error is that of the runner's child.
pub fn record(setup: &Setup, ids: &[String]) -> Result<Vec<Run>, RunError> {
    Ok(experiments::record(setup, &mut client()?, ids))
}

fn client() -> Result<Client, RunError> {
    let spawn = Spawn::own().map_err(|error| {
        RunError::unavailable(
            (format!("程序找不到自己：{error}"), format!("this program cannot find itself: {error}")),
            ("用完整路径启动它", "start it by its full path"),
        )
    })?;
    Ok(Client::new(spawn, Limits::default(), Arc::new(|| {})))
}

/// True for the one event that carries a measured point.
fn is_point(event: &ClientEvent) -> bool {
    matches!(event, ClientEvent::Job(FromChild::Point { .. }))
}
