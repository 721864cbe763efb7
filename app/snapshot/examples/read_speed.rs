//! How fast snapshots are read, counted, replayed and analysed, and what memory that takes:
//! `cargo run --release -p vramlab-snapshot --example read_speed [--events N] [FILE …]`. A million events is the default;
//! `--events 16000000` is 1 GB.
//!
//! Medians of five (of three beyond 4 million events). Counted is the time that this thread had a core, where the system
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

fn median<T>(n: usize, mut run: impl FnMut() -> T) -> f64 {
    let mut times: Vec<f64> = (0..n).map(|_| seconds(&mut run)).collect();
    times.sort_by(f64::total_cmp);
    times[n / 2]
}

fn measure(name: &str, bytes: &[u8], n: usize) {
    let mb = bytes.len() as f64 / 1e6;
    let secs = median(1, || read(bytes, LIMIT));
    if let Some(peak) = peak_memory() {
        println!("{name}: {mb:.1} MB; file and reader held {:.2} times the file at most", peak / bytes.len() as f64);
    }
    let secs = if n > 3 { median(n, || read(bytes, LIMIT)) } else { secs };
    println!("{name}: read in {secs:.3} s, {:.0} MB/s", mb / secs);
    let secs = median(n, || count(bytes, LIMIT));
    println!("{name}: counted in {secs:.3} s, {:.0} MB/s", mb / secs);
    match read(bytes, LIMIT) {
        Ok(snapshot) => ask(name, &snapshot, n),
        Err(error) => println!("{name}: {error}"),
    }
}

fn ask(name: &str, snapshot: &Snapshot, n: usize) {
    let config = config_of(snapshot).unwrap_or_default();
    let n_requests = replay(snapshot, 0, &config);
    let n_requests = (n_requests.n_allocs + n_requests.n_frees) as f64;
    let secs = median(n, || replay(snapshot, 0, &config));
    println!("{name}: {:.2} million requests a second replayed and compared", n_requests / secs / 1e6);
    let secs = median(n, || Analysis::of(snapshot, 0, &Options::default()));
    println!("{name}: analysed in {secs:.3} s");
    let analysis = Analysis::of(snapshot, 0, &Options::default());
    let secs = median(n, || bands(snapshot, &analysis, By::Stack, 12));
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
    let frame = median(n, || (0..100).map(|_| columns()).sum::<u64>()) * 1e3 / 100.0;
    println!("{name}: bands made in {secs:.3} s; 1600 columns of all of them in {frame:.2} ms");
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
    let n = if n_events > 4_000_000 { 3 } else { 5 };
    measure(&format!("{n_events} events"), &common::many_events(n_events), n);
    for path in files {
        match std::fs::read(&path) {
            Ok(bytes) => measure(&path, &bytes, 5),
            Err(error) => println!("{path}: {error}"),
        }
    }
}
