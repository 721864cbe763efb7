//! Our numbers beside those of peers, in the same start, with the same sizes, in turn: the driver's own copy, PyTorch
//! and Triton, plain C++ through nvcc. A peer that is not installed is a missed row that says so.

use super::super::Cuda;
use super::super::compile;
use super::super::driver::{Event, Function, Shape};
use super::{Setup, Table};
use crate::RunError;
use crate::backend::PointCx;
use crate::plan::{Mode, Plan, PointPlan};
use crate::protocol::Job;
use crate::vars::PointVars;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;
use vramlab_trace::run::median;
use vramlab_units::Map;

const GROUP: &str = "peer";
/// Bytes of an array: 2^28 doubles.
const ARRAY_BYTES: u64 = 1 << 31;
/// Kernel shapes offered: threads a block, 16-byte accesses a thread.
const SHAPES: &[(u64, u64)] = &[(256, 1), (512, 1), (256, 2), (512, 2), (256, 4), (1024, 1)];
const ROUNDS: usize = 15;

pub fn measure(setup: &Setup, table: &mut Table) {
    (setup.say)("peers …");
    let mut cuda = match Cuda::open(Some(1 << 36)) {
        Ok(cuda) => cuda,
        Err(error) => return table.push(GROUP, "device", "opens", error.to_string(), false),
    };
    copy(setup, &mut cuda, table).unwrap_or_else(|error| table.push(GROUP, "copy", "runs", error.to_string(), false));
    triad(setup, &mut cuda, table).unwrap_or_else(|error| table.push(GROUP, "triad", "runs", error.to_string(), false));
    cuda.buffers.clear();
    launches(setup, &cuda, table)
        .unwrap_or_else(|error| table.push(GROUP, "launches", "runs", error.to_string(), false));
}

/// A kernel of the library at one shape.
fn job(setup: &Setup, cuda: &Cuda, slug: &str, shape: (u64, u64)) -> Result<(Job, PointPlan), RunError> {
    let missing = || RunError::Content { what: format!("there is no kernel {slug}") };
    let kernel = setup.library.kernels.get(slug).ok_or_else(missing)?.clone();
    let mut params = Map::new();
    for (key, value) in [("n_bytes", ARRAY_BYTES), ("width_bytes", 16), ("block", shape.0), ("per_thread", shape.1)] {
        params.insert(key.to_owned(), value.into());
    }
    let vars = PointVars::of(&kernel, &params, &cuda.facts).vars;
    let point = PointPlan { series: slug.to_owned(), x: 0.0, params, vars, predicted: None, n_samples: 1 };
    let plan = Plan {
        experiment: slug.to_owned(),
        mode: Mode::Full,
        points: vec![point.clone()],
        peak_bytes: 0,
        deadline_secs: 60.0,
    };
    let sources = setup.library.sources(slug).cloned().unwrap_or_default();
    Ok((Job { id: 1, kernel, sources, plan, counters: Vec::new(), seed: 11, inspect: None }, point))
}

/// Our copy against `cuMemcpyDtoDAsync` over the same buffers, sample by sample.
fn copy(setup: &Setup, cuda: &mut Cuda, table: &mut Table) -> Result<(), RunError> {
    let mut best: Option<(f64, String)> = None;
    for shape in SHAPES {
        let (job, point) = job(setup, cuda, "stream_copy", *shape)?;
        let ready = cuda.ready(&job, &point)?;
        let (from, to) = (cuda.buffers.get("input")?, cuda.buffers.get("out")?);
        let (ours, theirs) = (|| ready.queue(), || from.copy_to(to, "cuMemcpyDtoDAsync"));
        let timer = cuda.timer("stream_copy")?;
        timer.warm_up(&ours, None, &PointCx::alone())?;
        let (mut our_ns, mut their_ns) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            their_ns.push(timer.sample(&theirs, 1)?);
            our_ns.push(timer.sample(&ours, 1)?);
        }
        their_ns.push(timer.sample(&theirs, 1)?);
        let rate = |ns: &[f64]| median(ns).map_or(f64::NAN, |ns| 2.0 * ARRAY_BYTES as f64 / ns);
        let (our_rate, their_rate) = (rate(&our_ns), rate(&their_ns));
        let ratio = our_rate / their_rate;
        let name = format!("{} threads × {}", shape.0, shape.1);
        (setup.say)(&format!("  copy {name}: {our_rate:.0} against {their_rate:.0} GB/s"));
        if best.as_ref().is_none_or(|(known, _)| ratio > *known) {
            best = Some((ratio, format!("{ratio:.4}: {our_rate:.0} against {their_rate:.0} GB/s ({name})")));
        }
    }
    let (ratio, found) = best.unwrap_or_default();
    table.push(GROUP, "copy, 2 × 2 GiB ÷ cuMemcpyDtoDAsync", "≥ 0.985", found, ratio >= 0.985);
    Ok(())
}

/// Our triad against the best that PyTorch and Triton do, in turn: peer, ours, peer, ours, peer.
fn triad(setup: &Setup, cuda: &mut Cuda, table: &mut Table) -> Result<(), RunError> {
    let what = "triad, doubles, 3 × 2 GiB ÷ best of PyTorch and Triton";
    let mut peer = match Peer::start(&setup.peers.join("triad.py")) {
        Ok(peer) => peer,
        Err(why) => {
            table.push(GROUP, what, "≥ 0.98", why, false);
            return Ok(());
        }
    };
    let mut theirs = vec![peer.ask()];
    let mut ours: Vec<(f64, String)> = Vec::new();
    for turn in 0..2 {
        for shape in SHAPES {
            let (job, point) = job(setup, cuda, "stream_triad", *shape)?;
            let ready = cuda.ready(&job, &point)?;
            let queue = || ready.queue();
            let timer = cuda.timer("stream_triad")?;
            timer.warm_up(&queue, None, &PointCx::alone())?;
            let ns: Vec<f64> = (0..ROUNDS).map(|_| timer.sample(&queue, 1)).collect::<Result<_, _>>()?;
            let rate = median(&ns).map_or(f64::NAN, |ns| 3.0 * ARRAY_BYTES as f64 / ns);
            (setup.say)(&format!("  triad {} threads × {}, turn {turn}: {rate:.0} GB/s", shape.0, shape.1));
            ours.push((rate, format!("{} threads × {}", shape.0, shape.1)));
        }
        theirs.push(peer.ask());
    }
    let (first, second) = ours.split_at(SHAPES.len());
    let apart = first.iter().zip(second).map(|(a, b)| (a.0 / b.0 - 1.0).abs()).fold(0.0, f64::max);
    table.push(
        "method",
        "two medians of a triad in one start",
        "≤ 0.5 % apart",
        format!("worst {:.3} %", apart * 100.0),
        apart <= 0.005,
    );
    let best = |rates: Vec<(f64, String)>| {
        rates.into_iter().filter(|(rate, _)| rate.is_finite()).max_by(|a, b| a.0.total_cmp(&b.0))
    };
    let theirs = theirs.into_iter().collect::<Result<Vec<_>, _>>();
    let (ours, theirs) = match (best(ours), theirs.map(best)) {
        (Some(ours), Ok(Some(theirs))) => (ours, theirs),
        (_, why) => {
            table.push(GROUP, what, "≥ 0.98", format!("no number: {why:?}"), false);
            return Ok(());
        }
    };
    let ratio = ours.0 / theirs.0;
    let found = format!("{ratio:.4}: {:.0} ({}) against {:.0} GB/s ({})", ours.0, ours.1, theirs.0, theirs.1);
    table.push(GROUP, what, "≥ 0.98", found, ratio >= 0.98);
    Ok(())
}

/// A script that answers each line with its best rate: `{"gb_per_s": 4375.0, "name": "triton 1024"}`.
struct Peer {
    child: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    fn start(script: &Path) -> Result<Self, String> {
        let mut command = Command::new("python3");
        command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("python3 does not start: {error}"))?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(ask), Some(answers)) => Ok(Self { child, ask, answers: BufReader::new(answers) }),
            _ => Err("python3 has no pipes".to_owned()),
        }
    }

    fn ask(&mut self) -> Result<(f64, String), String> {
        let mut line = String::new();
        let sent = self.ask.write_all(b"measure\n").and_then(|()| self.ask.flush());
        sent.and_then(|()| self.answers.read_line(&mut line)).map_err(|error| error.to_string())?;
        let answer: Value = serde_json::from_str(&line).map_err(|error| format!("{error}: {line}"))?;
        match (answer["gb_per_s"].as_f64(), answer["name"].as_str()) {
            (Some(rate), Some(name)) => Ok((rate, name.to_owned())),
            _ => Err(answer["error"].as_str().unwrap_or(&line).to_owned()),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const EMPTY: &str = "extern \"C\" __global__ void empty() {}";
const ONE: Shape = Shape { grid: (1, 1), block: (32, 1), shared_bytes: 0 };

/// The cost of a launch, ours and that of plain C++, in microseconds.
fn launches(setup: &Setup, cuda: &Cuda, table: &mut Table) -> Result<(), RunError> {
    let image = compile::compile("empty.cu", EMPTY, cuda.cc, &[])?;
    let empty = Function::load(&image.bytes, "empty")?;
    let queue = || empty.launch(ONE, &[]);
    let timer = cuda.timer("empty")?;
    timer.warm_up(&queue, None, &PointCx::alone())?;
    let around = median_of(51, || timer.sample(&queue, 1).map(|ns| ns / 1e3))?;
    let nothing = median_of(51, || timer.sample(&|| Ok(()), 1).map(|ns| ns / 1e3))?;
    let bare = median_of(51, || bare_us(cuda, &empty))?;
    table.push("time", "two adjacent events, queued", "≈ 1.3 µs", format!("{nothing:.2} µs"), nothing <= 2.0);
    let found = format!("{around:.2} µs queued, {bare:.2} µs not queued");
    table.push("time", "events around an empty kernel", "queued ≤ 3 µs", found, around <= 3.0);
    let pairs: Vec<_> = (0..9).map(|_| (own_launch(setup), cpp(setup))).collect();
    for (what, key, limit) in
        [("launch call", "call_us", 1.05), ("device time of a queued empty kernel", "queued_us", 1.02)]
    {
        let goal = format!("≤ {limit} × plain C++");
        let ours = median_field(pairs.iter().map(|(ours, _)| ours), key);
        let theirs = median_field(pairs.iter().map(|(_, theirs)| theirs), key);
        match (ours, theirs) {
            (Ok(ours), Ok(theirs)) => {
                let found =
                    format!("{:.3}: {ours:.3} against {theirs:.3} µs, medians of 9 processes in turn", ours / theirs);
                table.push("time", what, &goal, found, ours / theirs <= limit);
            }
            (Err(why), _) | (_, Err(why)) => table.push("time", what, &goal, why, false),
        }
    }
    Ok(())
}

fn median_field<'a>(answers: impl Iterator<Item = &'a Result<Value, String>>, key: &str) -> Result<f64, String> {
    let one = |answer: &Result<Value, String>| {
        answer.as_ref().map_err(String::clone).and_then(|answer| answer[key].as_f64().ok_or(format!("no {key}")))
    };
    let values = answers.map(one).collect::<Result<Vec<_>, _>>()?;
    Ok(median(&values).unwrap_or(f64::NAN))
}

/// The cost of a launch in this process, as the peer `launch.cu` prints it. Both move by several per cent from process
/// to process, so each is measured in processes of its own.
pub fn launch() -> Result<Value, RunError> {
    let cuda = Cuda::open(None)?;
    let image = compile::compile("empty.cu", EMPTY, cuda.cc, &[])?;
    let empty = Function::load(&image.bytes, "empty")?;
    let queue = || empty.launch(ONE, &[]);
    let timer = cuda.timer("empty")?;
    timer.warm_up(&queue, None, &PointCx::alone())?;
    let call = call_us(&cuda, &empty)?;
    let queued = median_of(51, || timer.sample(&queue, 100).map(|ns| ns / 1e3))?;
    Ok(json!({ "call_us": call, "queued_us": queued }))
}

fn own_launch(setup: &Setup) -> Result<Value, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    answer_of(Command::new(program).args(&setup.own).arg("launch"))
}

fn median_of(n: usize, mut one: impl FnMut() -> Result<f64, RunError>) -> Result<f64, RunError> {
    let samples: Vec<f64> = (0..n).map(|_| one()).collect::<Result<_, _>>()?;
    Ok(median(&samples).unwrap_or(f64::NAN))
}

/// Host time of one launch call, the queue never full.
fn call_us(cuda: &Cuda, empty: &Function) -> Result<f64, RunError> {
    let mut samples = Vec::new();
    for _ in 0..20 {
        for _ in 0..100 {
            let start = Instant::now();
            empty.launch(ONE, &[])?;
            samples.push(start.elapsed().as_secs_f64() * 1e6);
        }
        cuda.device.synchronize("empty")?;
    }
    Ok(median(&samples).unwrap_or(f64::NAN))
}

/// What events read around an empty kernel when nothing holds the stream.
fn bare_us(cuda: &Cuda, empty: &Function) -> Result<f64, RunError> {
    let (from, to) = (Event::new()?, Event::new()?);
    from.record()?;
    empty.launch(ONE, &[])?;
    to.record()?;
    to.wait("empty")?;
    Ok(cuda.device.elapsed_ms(&from, &to, "empty")? * 1e3)
}

/// Runs `launch.cu`, built on the first call.
fn cpp(setup: &Setup) -> Result<Value, String> {
    let (source, program) = (setup.peers.join("launch.cu"), setup.out.join("launch_peer"));
    if program.exists() {
        return answer_of(&mut Command::new(program));
    }
    let built =
        Command::new("nvcc").args(["-O2", "-arch=native", "-o"]).arg(&program).arg(&source).arg("-lcuda").output();
    let built = built.map_err(|error| format!("nvcc does not start: {error}"))?;
    if !built.status.success() {
        return Err(String::from_utf8_lossy(&built.stderr).lines().next().unwrap_or("nvcc failed").to_owned());
    }
    answer_of(&mut Command::new(program))
}

/// The JSON object that a program prints.
fn answer_of(command: &mut Command) -> Result<Value, String> {
    let ran = command.output().map_err(|error| error.to_string())?;
    serde_json::from_slice(&ran.stdout).map_err(|error| error.to_string())
}
