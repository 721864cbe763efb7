//! Many kernels of a known length, launched one by one, with a wait after each, or as one graph: what the launches cost.

use super::steps::once;
use super::{Input, Routine, Stage, Taken};
use crate::error::RunError;
use std::time::{Duration, Instant};
use vramlab_units::Text;

const HOW: &str = "how";
const KERNELS: &str = "n_kernels";
const ELEMENTS: &str = "n_elems";
const TURNS: &str = "turns";
const CYCLES: &str = "cycles";
/// The ways to launch.
const SYNCED: u64 = 1;
const GRAPH: u64 = 2;
/// Elements of a block: 256 threads, four each.
const BLOCK: u64 = 1024;
/// An operation of the chain is x ← A · x + B.
const A: f32 = 0.75;
const B: f32 = 0.25;

pub const LAUNCH_COST: Routine = Routine {
    id: "launch_cost",
    about: Text::new("一串 kernel，换几种方式启动", "a row of kernels, launched in different ways"),
    inputs: &[
        Input { name: HOW, min: 0, max: 2, about: "0 one after the other, 1 with a wait after each, 2 as a graph" },
        Input { name: KERNELS, min: 1, max: 4096, about: "kernels of a run" },
        Input { name: ELEMENTS, min: 0, max: 1 << 29, about: "floats that each reads and writes; 0: it only waits" },
        Input { name: TURNS, min: 1, max: 64, about: "operations of a kernel over floats" },
        Input { name: CYCLES, min: 0, max: 100_000_000, about: "clocks that a kernel waits" },
    ],
    readings: &["calls_us", "build_us"],
    checks: &["every kernel did its work, in its turn", "all memory is back at the end"],
    run,
};

/// The kernels and what they work on.
struct Line<'a, 'b> {
    stage: &'a mut Stage<'b>,
    /// Input and output of a chain; of kernels that wait, the count of those that ran.
    at: [u64; 2],
    n_blocks: u32,
    graph: Option<u64>,
    /// Kernels run so far.
    n_run: u64,
}

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let before = stage.card.memory()?[0];
    let n_blocks = stage.get(ELEMENTS) / BLOCK;
    let bytes = 4 * (n_blocks * BLOCK).max(BLOCK);
    let at = [stage.must(bytes)?, stage.must(bytes)?];
    let mut line = Line { stage, at, n_blocks: u32::try_from(n_blocks).unwrap_or(u32::MAX), graph: None, n_run: 0 };
    line.begin()?;
    let build_us = line.build()?;
    line.settle()?;
    let mut taken = Taken::default();
    for _ in 0..line.stage.n_samples {
        line.stage.cx.check()?;
        let (ns, calls_us) = line.sample()?;
        taken.samples_ns.push(ns.max(1.0));
        taken.read("calls_us", calls_us);
        taken.read("build_us", build_us);
    }
    line.stage.card.sync()?;
    let is_right = line.is_right()?;
    if let Some(graph) = line.graph {
        line.stage.card.drop_graph(graph)?;
    }
    for address in at {
        stage.card.free(address)?;
    }
    let is_back = stage.card.memory()?[0] + 16 * super::PAGE >= before;
    taken.checks = vec![is_right, is_back];
    Ok(taken)
}

impl Line<'_, '_> {
    /// Fills what the kernels work on, and launches one, so that its code is loaded.
    fn begin(&mut self) -> Result<(), RunError> {
        if self.n_blocks > 0 {
            self.stage.card.launch("start", self.n_blocks, 256, &[self.at[0]])?;
        } else {
            self.stage.card.set(self.at[1], 0, 4)?;
        }
        self.kernel(0)?;
        self.n_run += 1;
        self.stage.card.sync()
    }

    /// The kernel number `number` of a run. The first of a chain reads the input; the others work in place.
    fn kernel(&mut self, number: u64) -> Result<(), RunError> {
        let [input, out] = self.at;
        if self.n_blocks == 0 {
            return self.stage.card.launch("wait", 1, 32, &[self.stage.get(CYCLES), out]);
        }
        let from = if number == 0 { input } else { out };
        self.stage.card.launch("chain", self.n_blocks, 256, &[from, out, self.stage.get(TURNS)])
    }

    /// Records the graph, if there is one; microseconds until it can be launched.
    fn build(&mut self) -> Result<f64, RunError> {
        if self.stage.get(HOW) != GRAPH {
            return Ok(0.0);
        }
        let (graph, ns) = once(|| {
            self.stage.card.begin_graph()?;
            (0..self.stage.get(KERNELS)).try_for_each(|number| self.kernel(number))?;
            self.stage.card.end_graph()
        })?;
        self.graph = Some(graph);
        Ok(ns / 1000.0)
    }

    /// All kernels once.
    fn all(&mut self) -> Result<(), RunError> {
        let n = self.stage.get(KERNELS);
        self.n_run += n;
        if let Some(graph) = self.graph {
            return self.stage.card.launch_graph(graph);
        }
        for number in 0..n {
            self.kernel(number)?;
            if self.stage.get(HOW) == SYNCED {
                self.stage.card.sync()?;
            }
        }
        Ok(())
    }

    /// Warm by time, not by count: clocks rise within tens of milliseconds.
    fn settle(&mut self) -> Result<(), RunError> {
        let start = Instant::now();
        let mut n = 0;
        while n < 2 || (start.elapsed() < Duration::from_millis(60) && n < 2_000) {
            self.stage.cx.check()?;
            self.all()?;
            self.stage.card.sync()?;
            n += 1;
        }
        Ok(())
    }

    /// Nanoseconds from an empty card to the end of the last kernel, by the card; and microseconds of the calls on the host.
    fn sample(&mut self) -> Result<(f64, f64), RunError> {
        self.stage.card.sync()?;
        self.stage.card.start_clock()?;
        let start = Instant::now();
        self.all()?;
        let calls_us = start.elapsed().as_nanos() as f64 / 1000.0;
        Ok((self.stage.card.stop_clock()?, calls_us))
    }

    /// The count of the kernels that wait; or some results of the chain, bit by bit.
    fn is_right(&mut self) -> Result<bool, RunError> {
        if self.n_blocks == 0 {
            return Ok(self.word(0)? == self.n_run as u32);
        }
        let n = u64::from(self.n_blocks) * BLOCK;
        let turns = self.stage.get(KERNELS) * self.stage.get(TURNS);
        for at in [0, 1, n / 3, n / 2 + 2, n - 1] {
            let expected = (0..turns).fold(begun(at), |x, _| x.mul_add(A, B));
            if self.word(at)? != expected.to_bits() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn word(&mut self, at: u64) -> Result<u32, RunError> {
        let mut bytes = [0; 4];
        self.stage.card.get(self.at[1] + 4 * at, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }
}

/// What the kernel `start` writes.
fn begun(at: u64) -> f32 {
    ((at as u32).wrapping_mul(2_654_435_761) >> 8) as f32 * (1.0 / 16_777_216.0)
}
