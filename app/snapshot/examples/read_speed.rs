//! How fast snapshots are read and replayed: `cargo run --release -p vramlab-snapshot --example read_speed [FILE …]`.

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::Instant;
use vramlab_snapshot::bands::bands;
use vramlab_snapshot::peak::By;
use vramlab_snapshot::replay::{config_of, replay};
use vramlab_snapshot::{Analysis, Options, read};

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
        let start = Instant::now();
        let analysis = Analysis::of(&snapshot, 0, &Options::default());
        let secs = start.elapsed().as_secs_f64();
        let n = analysis.timeline.n_events();
        println!("{name}: analysed in {secs:.3} s");
        let start = Instant::now();
        let bands = bands(&snapshot, &analysis, By::Stack, 12);
        let made = start.elapsed();
        let start = Instant::now();
        let mut sum = 0;
        for column in 0..1600 {
            let (from, until) = (n * column / 1600, n * (column + 1) / 1600);
            sum += analysis.timeline.reserved.range(from, until + 1).map_or(0, |range| range.1 % 2);
            sum += bands.all.iter().map(|band| band.range(from, until + 1).1 % 2).sum::<u64>();
        }
        let micros = start.elapsed().as_secs_f64() * 1e6;
        println!("{name}: bands made in {made:.0?}; 1600 columns of all of them in {micros:.0} µs ({sum})");
    }
}
