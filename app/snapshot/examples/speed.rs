//! How fast snapshots are read and replayed: `cargo run --release -p vramlab-snapshot --example speed [FILE …]`.

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::Instant;
use vramlab_snapshot::read;
use vramlab_snapshot::replay::{config_of, replay};

const LIMIT: usize = 4 << 30;

#[expect(clippy::print_stdout, reason = "a benchmark prints")]
fn main() {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let made = [("a million events".to_owned(), common::many_events(1_000_000))];
    let given = files.iter().filter_map(|path| Some((path.clone(), std::fs::read(path).ok()?)));
    for (name, bytes) in made.into_iter().chain(given) {
        let mut times: Vec<f64> = (0..5)
            .map(|_| {
                let start = Instant::now();
                let snapshot = read(&bytes, LIMIT);
                let secs = start.elapsed().as_secs_f64();
                drop(snapshot);
                secs
            })
            .collect();
        times.sort_by(f64::total_cmp);
        let mb = bytes.len() as f64 / 1e6;
        println!("{name}: {mb:.1} MB read in {:.3} s, {:.0} MB/s (median of 5)", times[2], mb / times[2]);
        let Ok(snapshot) = read(&bytes, LIMIT) else { continue };
        let config = config_of(&snapshot).unwrap_or_default();
        let mut times: Vec<f64> = (0..5)
            .map(|_| {
                let start = Instant::now();
                let got = replay(&snapshot, 0, &config);
                (got.n_allocs + got.n_frees) as f64 / start.elapsed().as_secs_f64()
            })
            .collect();
        times.sort_by(f64::total_cmp);
        println!("{name}: {:.2} million requests a second replayed and compared", times[2] / 1e6);
    }
}
