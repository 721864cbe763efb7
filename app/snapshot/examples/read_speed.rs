//! How fast snapshots are read, counted, replayed and analysed, and what memory that takes:
//! `cargo run --release -p vramlab-snapshot --example read_speed [--events N] [FILE …]`. A million events is the default;
//! `--events 16000000` is 1 GB.
//!
//! Medians of five, each beside its goal. Counted is the time that this thread had a core, where the system
//! tells it (Linux), so that other programs on the machine matter less.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::Instant;
use vramlab_snapshot::bands::bands;
use vramlab_snapshot::peak::By;
use vramlab_snapshot::replay::{config_of, replay};
use vramlab_snapshot::{Analysis, Options, Snapshot, count, read};

const LIMIT: usize = 16 << 30;

/// Runs of which the median is told.
const N_RUNS: usize = 5;
/// What is wanted: megabytes a second, memory over the file, seconds for a gigabyte, millions of requests a second.
const READ_MB_PER_S: f64 = 150.0;
const TIMES_THE_FILE: f64 = 3.0;
const GIGABYTE_S: f64 = 8.0;
const REQUESTS: f64 = 3.0;
/// As much of a file is called a gigabyte.
const GIGABYTE_MB: f64 = 1000.0;

/// Seconds that this thread has run on a core.
fn core_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanos: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanos / 1e9)
}

/// Most memory that this process had at once, bytes.
fn peak_memory() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? * 1024.0)
}

fn seconds<T>(mut run: impl FnMut() -> T) -> f64 {
    let (start, on_core) = (Instant::now(), core_seconds());
    let out = run();
    let secs = core_seconds().zip(on_core).map_or(start.elapsed().as_secs_f64(), |(end, start)| end - start);
    drop(out);
    secs
}

fn median<T>(mut run: impl FnMut() -> T) -> f64 {
    let mut times: Vec<f64> = (0..N_RUNS).map(|_| seconds(&mut run)).collect();
    times.sort_by(f64::total_cmp);
    times[N_RUNS / 2]
}

fn measure(name: &str, bytes: &[u8]) {
    let mb = bytes.len() as f64 / 1e6;
    // Before anything else: the most that this process ever had.
    let first = seconds(|| read(bytes, LIMIT));
    println!("{name}: {mb:.1} MB, first read in {first:.3} s; medians of {N_RUNS} follow");
    if let Some(peak) = peak_memory() {
        let times = peak / bytes.len() as f64;
        println!("  file and reader held {times:.2} times the file at most (goal {TIMES_THE_FILE})");
    }
    let secs = median(|| read(bytes, LIMIT));
    let whole = if mb >= GIGABYTE_MB { format!(", {GIGABYTE_S} s") } else { String::new() };
    println!("  read in {secs:.3} s, {:.0} MB/s (goal {READ_MB_PER_S} MB/s{whole})", mb / secs);
    let secs = median(|| count(bytes, LIMIT));
    println!("  counted in {secs:.3} s, {:.0} MB/s", mb / secs);
    match read(bytes, LIMIT) {
        Ok(snapshot) => ask(&snapshot),
        Err(error) => println!("{name}: {error}"),
    }
}

fn ask(snapshot: &Snapshot) {
    let config = config_of(snapshot).unwrap_or_default();
    let n_requests = replay(snapshot, 0, &config);
    let n_requests = (n_requests.n_allocs + n_requests.n_frees) as f64;
    let secs = median(|| replay(snapshot, 0, &config));
    let rate = n_requests / secs / 1e6;
    println!("  {rate:.2} million requests a second replayed and compared (goal {REQUESTS}, of the allocator alone)");
    let secs = median(|| Analysis::of(snapshot, 0, &Options::default()));
    println!("  analysed in {secs:.3} s");
    let analysis = Analysis::of(snapshot, 0, &Options::default());
    let secs = median(|| bands(snapshot, &analysis, By::Stack, 12));
    let bands = bands(snapshot, &analysis, By::Stack, 12);
    let n_events = analysis.timeline.n_events();
    let columns = || {
        (0..1600)
            .map(|column| {
                let (from, until) = (n_events * column / 1600, n_events * (column + 1) / 1600);
                let most = analysis.timeline.reserved.range(from, until + 1).map_or(0, |range| range.1 % 2);
                most + bands.all.iter().map(|band| band.range(from, until + 1).1 % 2).sum::<u64>()
            })
            .sum::<u64>()
    };
    // Short: many at once, or the system's clock of a thread does not see them.
    let frame = median(|| (0..100).map(|_| columns()).sum::<u64>()) * 1e3 / 100.0;
    println!("  bands made in {secs:.3} s; 1600 columns of all of them in {frame:.2} ms");
}

fn main() {
    let mut n_events = 1_000_000;
    let mut args = std::env::args().skip(1);
    let mut files = Vec::new();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--events" => n_events = args.next().and_then(|n| n.parse().ok()).unwrap_or(n_events),
            _ => files.push(arg),
        }
    }
    measure(&format!("{n_events} events"), &common::many_events(n_events));
    for path in files {
        match std::fs::read(&path) {
            Ok(bytes) => measure(&path, &bytes),
            Err(error) => println!("{path}: {error}"),
        }
    }
}
