//! One buffer that is wanted again after some layers: kept, computed again, or sent to the host and fetched.

use super::{Card, Input, Routine, Stage, Taken};
use crate::error::RunError;
use vramlab_alloc::MIB;
use vramlab_units::Text;

const BYTES: &str = "bytes";
const FMAS: &str = "fmas";
const BETWEEN: &str = "n_between";
const HOW: &str = "how";
/// Floats of a block: 256 threads, four each.
const BLOCK: u64 = 1024;

pub const KEEP_RECOMPUTE_OFFLOAD: Routine = Routine {
    id: "keep_recompute_offload",
    about: Text::new(
        "一块过几层还要用的缓冲区：留着、重算，还是送到主机再取回来",
        "a buffer wanted again after some layers: kept, computed again, or sent to the host and fetched",
    ),
    inputs: &[
        Input { name: BYTES, min: BLOCK * 4, max: 1 << 32, about: "size of the buffer" },
        Input { name: FMAS, min: 1, max: 1 << 16, about: "multiply-adds on each element of a layer" },
        Input { name: BETWEEN, min: 2, max: 64, about: "layers that run before it is wanted again, an even number" },
        Input {
            name: HOW,
            min: 0,
            max: 4,
            about: "0 keep, 1 recompute, 2 offload to pinned memory, 3 to ordinary memory, 4 pinned beside the layers",
        },
    ],
    readings: &["keep_ms", "freed_mib"],
    checks: &["what is there again is what was there before, bit by bit", "all memory is back at the end"],
    run,
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Keep,
    Recompute,
    /// One stream: nothing runs beside a copy.
    Offload,
    Beside,
}

/// What lies where.
struct Bench<'a> {
    card: &'a mut dyn Card,
    bytes: u64,
    fmas: u64,
    n_between: u64,
    /// The layer's input and its output, the buffer.
    input: u64,
    buffer: u64,
    /// Where a buffer comes back.
    back: u64,
    /// Two buffers that the layers between write in turn.
    turns: [u64; 2],
    host: Option<u64>,
}

fn run(stage: &mut Stage<'_>) -> Result<Taken, RunError> {
    let before = stage.card.memory()?[0];
    let bytes = stage.get(BYTES) / (BLOCK * 4) * (BLOCK * 4);
    let how = [How::Keep, How::Recompute, How::Offload, How::Offload, How::Beside][stage.get(HOW) as usize];
    let mut at = [0; 5];
    for address in &mut at {
        *address = stage.must(bytes)?;
    }
    let host = match how {
        How::Keep | How::Recompute => None,
        How::Offload | How::Beside => Some(stage.card.host(bytes, stage.get(HOW) != 3)?),
    };
    let (fmas, n_between, n_samples, cx) = (stage.get(FMAS), stage.get(BETWEEN) / 2 * 2, stage.n_samples, stage.cx);
    let [input, buffer, back, one, two] = at;
    let mut bench =
        Bench { card: &mut *stage.card, bytes, fmas, n_between, input, buffer, back, turns: [one, two], host };
    bench.launch("start", &[input])?;
    bench.launch("start", &[one])?;
    bench.layer(input, buffer)?;
    let (mut taken, mut is_same) = (Taken::default(), true);
    bench.stretch(how)?;
    for _ in 0..n_samples {
        cx.check()?;
        taken.read("keep_ms", bench.stretch(How::Keep)? / 1e6);
        taken.samples_ns.push(bench.stretch(how)?.max(1.0));
        taken.read("freed_mib", if how == How::Keep { 0.0 } else { bytes as f64 / MIB as f64 });
        is_same &= bench.is_back(how)?;
    }
    if let Some(host) = host {
        bench.card.drop_host(host)?;
    }
    for address in at {
        stage.card.free(address)?;
    }
    stage.card.sync()?;
    let is_back = stage.card.memory()?[0] + 16 * super::PAGE >= before;
    taken.checks = vec![is_same, is_back];
    Ok(taken)
}

impl Bench<'_> {
    fn launch(&mut self, entry: &str, args: &[u64]) -> Result<(), RunError> {
        let n_blocks = u32::try_from(self.bytes / 4 / BLOCK).unwrap_or(u32::MAX);
        self.card.launch(entry, n_blocks, 256, args)
    }

    fn layer(&mut self, from: u64, to: u64) -> Result<(), RunError> {
        self.launch("layer", &[from, to, self.fmas])
    }

    fn layers(&mut self, n: u64) -> Result<(), RunError> {
        let [one, two] = self.turns;
        (0..n).try_for_each(|at| if at % 2 == 0 { self.layer(one, two) } else { self.layer(two, one) })
    }

    /// From where the buffer has just been made to where it is there again; nanoseconds by the card.
    fn stretch(&mut self, how: How) -> Result<f64, RunError> {
        let (n, host) = (self.n_between, self.host.unwrap_or_default());
        // Poison, so that what comes back cannot be what was there.
        if how != How::Keep {
            self.card.set(self.back, 0xFF, self.bytes)?;
        }
        self.card.sync()?;
        self.card.start_clock()?;
        match how {
            How::Keep => self.layers(n)?,
            How::Recompute => {
                self.layers(n)?;
                self.layer(self.input, self.back)?;
            }
            How::Offload => {
                self.card.download(self.buffer, host)?;
                self.layers(n)?;
                self.card.upload(self.back, host)?;
            }
            How::Beside => {
                self.card.copies_wait()?;
                self.card.download_beside(self.buffer, host)?;
                self.layers(n / 2)?;
                // From here on the buffer's memory is free for others.
                self.card.kernels_wait()?;
                self.card.copies_wait()?;
                self.card.upload_beside(self.back, host)?;
                self.layers(n / 2)?;
                self.card.kernels_wait()?;
            }
        }
        self.card.stop_clock()
    }

    /// Every element of what came back against the buffer.
    fn is_back(&mut self, how: How) -> Result<bool, RunError> {
        let back = if how == How::Keep { self.buffer } else { self.back };
        let mut bytes = [0_u8; 4];
        // The layers between are over: their first buffer may hold the count, and is made anew.
        let count = self.turns[0];
        self.card.set(count, 0, 4)?;
        self.launch("differ", &[back, self.buffer, count])?;
        self.card.sync()?;
        self.card.get(count, &mut bytes)?;
        self.launch("start", &[count])?;
        Ok(u32::from_le_bytes(bytes) == 0)
    }
}
