//! The player: a typed tree in, the kernel's effect on memory and its counts out. All threads of a block go through the tree
//! together, each statement for the threads that are in it, so a warp's accesses fall together as on the hardware and a barrier is
//! only a check that everybody is there. Blocks run one after another.
//!
//! First file to read: here; then `exec` (statements), `eval` (expressions), `wait` (how both rest), `access` (loads and stores),
//! `count`.

mod access;
mod builtin;
pub mod count;
mod eval;
mod exec;
pub mod memory;
mod wait;

use crate::fault::{Fault, Kind, Place};
use crate::tree::{Function, Program};
use count::{History, Report, Touched};
use memory::Buffer;
use std::pin::pin;
use std::sync::Arc;
use wait::{Known, Slow};

pub const WARP: usize = 32;
const MOST_THREADS: u32 = 1024;
/// Shared memory of a block on the largest of today's cards.
const MOST_SHARED: u64 = 227 << 10;
/// Functions in functions, and what is in them in itself: the player calls itself for each.
const MOST_DEPTH: usize = 300;

/// A kernel's argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arg {
    /// The buffer of this number.
    Buffer(usize),
    /// The bits of a scalar of the parameter's own type.
    Bits(u64),
}

#[derive(Clone, Debug)]
pub struct Launch<'a> {
    pub entry: &'a str,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub shared_bytes: u64,
    pub args: &'a [Arg],
    /// Most operations, lane by lane.
    pub budget: u64,
}

/// The call of a function, or of a lambda within one.
struct Frame {
    function: usize,
    /// Where its variables begin.
    base: usize,
    /// Threads that have returned.
    is_done: Vec<bool>,
    result: Vec<u64>,
}

/// One block at work.
struct Block<'a> {
    program: &'a Program,
    launch: &'a Launch<'a>,
    at: [u32; 3],
    n: usize,
    buffers: &'a mut [Buffer],
    touched: &'a mut [Touched],
    report: &'a mut Report,
    shared: Vec<u8>,
    history: History,
    /// Variables of all frames: scalars of one variable for every thread, scalar after scalar.
    locals: Vec<Vec<u64>>,
    frames: Vec<Frame>,
    depth: usize,
    /// Values worked out before the expression that they are in.
    known: Known,
    /// The operation at which the player rests.
    rest_at: &'a mut u64,
}

/// Plays `launch` over `buffers`.
pub fn run(program: &Program, launch: &Launch<'_>, buffers: &mut [Buffer]) -> Result<Report, Fault> {
    let mut work = pin!(blocks(program, launch, buffers));
    loop {
        if let Some(out) = wait::go_on(work.as_mut()) {
            return out;
        }
    }
}

/// A launch on its way, slice by slice: who has no threads can look after other things in between.
pub struct Playing {
    work: Slow<'static, (Report, Vec<Buffer>)>,
}

impl Playing {
    /// Plays nothing yet; says what is wrong with the launch. The buffers come back at the end.
    pub fn begin(program: Arc<Program>, launch: &Launch<'_>, mut buffers: Vec<Buffer>) -> Result<Self, Fault> {
        kernel(&program, launch)?;
        let (entry, args, launch) = (launch.entry.to_owned(), launch.args.to_vec(), launch.without_names());
        Ok(Self {
            work: Box::pin(async move {
                let launch = Launch { entry: &entry, args: &args, ..launch };
                let report = blocks(&program, &launch, &mut buffers).await?;
                Ok((report, buffers))
            }),
        })
    }

    /// Plays a slice: about a millisecond, within a block too. At the end the report and the buffers; no call may follow then.
    pub fn go_on(&mut self) -> Result<Option<(Report, Vec<Buffer>)>, Fault> {
        wait::go_on(self.work.as_mut()).transpose()
    }
}

impl Launch<'_> {
    fn without_names(&self) -> Launch<'static> {
        let &Launch { grid, block, shared_bytes, budget, .. } = self;
        Launch { entry: "", grid, block, shared_bytes, args: &[], budget }
    }
}

/// Plays all blocks, one after another.
async fn blocks(program: &Program, launch: &Launch<'_>, buffers: &mut [Buffer]) -> Result<Report, Fault> {
    let (index, function) = kernel(program, launch)?;
    let mut touched: Vec<Touched> = buffers.iter().map(|buffer| Touched::of(buffer.bytes.len())).collect();
    let (mut report, mut rest_at) = (Report::default(), 0);
    let shared = (program.shared_bytes.next_multiple_of(16) + launch.shared_bytes) as usize;
    let n = launch.block.iter().map(|size| *size as usize).product();
    let [width, height, depth] = launch.grid.map(u64::from);
    for number in 0..width * height * depth {
        let at = [number % width, number / width % height, number / width / height];
        let mut block = Block {
            program,
            launch,
            at: at.map(|place| place as u32),
            n,
            buffers,
            touched: &mut touched,
            report: &mut report,
            shared: vec![0; shared],
            history: History::of(shared),
            locals: Vec::new(),
            frames: Vec::new(),
            depth: 0,
            known: Known::new(),
            rest_at: &mut rest_at,
        };
        let args = block.arguments(function);
        block.enter(index, &args, &vec![true; n]).await?;
    }
    Ok(report)
}

/// The kernel of a launch, if it can be launched so.
fn kernel<'a>(program: &'a Program, launch: &Launch<'_>) -> Result<(usize, &'a Function), Fault> {
    let refuse = |at: Place, zh: String, en: String| Err(Fault::new(at, Kind::Meaning, zh, en));
    let name = launch.entry;
    let found = program.functions.iter().enumerate().find(|(_, function)| function.is_kernel && function.name == name);
    let Some((index, kernel)) = found else {
        return refuse(
            Place { line: 1, col: 1 },
            format!("没有名为 {name} 的 kernel"),
            format!("no kernel is named {name}"),
        );
    };
    if let Some(fault) = &kernel.unplayed {
        return Err(fault.clone());
    }
    let threads: u32 = launch.block.iter().product();
    if threads == 0 || threads > MOST_THREADS || launch.grid.contains(&0) {
        return refuse(
            kernel.at,
            format!("一个 block 要有 1 到 {MOST_THREADS} 个线程，网格不能为空；这里是 {threads} 个"),
            format!("a block has 1 to {MOST_THREADS} threads and a grid is not empty; here are {threads}"),
        );
    }
    let (want, got) = (kernel.params.len(), launch.args.len());
    if want != got {
        return refuse(
            kernel.at,
            format!("{name} 有 {want} 个参数，启动给了 {got} 个"),
            format!("{name} has {want} parameters, the launch gives {got}"),
        );
    }
    let shared = program.shared_bytes + launch.shared_bytes;
    if shared > MOST_SHARED {
        return refuse(
            kernel.at,
            format!("共享内存要 {shared} 字节，一个 block 最多 {MOST_SHARED} 字节"),
            format!("shared memory needs {shared} B, a block has at most {MOST_SHARED} B"),
        );
    }
    Ok((index, kernel))
}
