//! The lenses of the built-in experiments over the recorded runs: what they show, and that none of them is empty.

#![expect(clippy::unwrap_used, reason = "a suite that cannot go on says so by failing")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use vramlab_gpu::lens::Lens;
use vramlab_gpu::read::Library;
use vramlab_gpu::verdict::{Judged, judge, missing, through};
use vramlab_trace::Run;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn library() -> Library {
    let folder = root().join("kernels");
    let mut files = BTreeMap::new();
    for slug in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        for file in std::fs::read_dir(&slug).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
            let name = file.strip_prefix(&folder).unwrap().to_str().unwrap().replace('\\', "/");
            files.insert(name, std::fs::read_to_string(&file).unwrap());
        }
    }
    Library::from_files(files.iter().map(|(path, text)| (path.as_str(), text.as_str())))
}

/// Every recorded run.
fn recorded() -> Vec<Run> {
    let folders = std::fs::read_dir(root().join("assets/traces")).unwrap().map(|entry| entry.unwrap().path());
    let in_folder = |path: PathBuf| std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = folders.filter(|path| path.is_dir()).flat_map(in_folder).collect();
    paths.sort();
    let is_trace = |path: &PathBuf| path.extension().is_some_and(|ext| ext == "vltrace");
    let read = |path: PathBuf| vramlab_trace::file::read(&std::fs::read(path).unwrap()).unwrap().run;
    paths.into_iter().filter(is_trace).map(read).collect()
}

struct Seen {
    judged: Judged,
    lens: Lens,
}

fn see(experiment: &str, lens: &str) -> Seen {
    let library = library();
    let run = recorded().into_iter().find(|run| run.experiment == experiment).unwrap();
    let (experiment, kernel) = library.get(experiment).unwrap();
    let lens = experiment.lens(lens).unwrap().clone();
    let judged = judge(&run, experiment, kernel);
    Seen { judged: through(&lens, &run, &judged), lens }
}

fn at(seen: &Seen, series: &str, x: f64) -> f64 {
    let found = seen.judged.points.iter().find(|point| point.series == series && point.x == Some(x));
    found.and_then(|point| point.value).unwrap_or_else(|| panic!("{}: no value at {series}@{x}", seen.lens.id))
}

#[test]
fn no_lens_of_a_recorded_run_is_empty() {
    let library = library();
    let mut n_lenses = 0;
    for run in recorded() {
        let Some((experiment, kernel)) = library.get(&run.experiment) else { continue };
        assert!(!experiment.lenses.is_empty() || !experiment.absent.is_empty(), "{} has no lenses", run.experiment);
        let judged = judge(&run, experiment, kernel);
        for lens in &experiment.lenses {
            n_lenses += 1;
            assert_eq!(missing(lens, &judged), None, "{} through {}", run.experiment, lens.id);
            for (seen, own) in through(lens, &run, &judged).points.iter().zip(&judged.points) {
                let where_ = format!("{} through {}: {}@{:?}", run.experiment, lens.id, own.series, own.x);
                assert_eq!(seen.value.is_some(), own.value.is_some(), "{where_}: {:?} {:?}", seen.why, seen.invalid);
                assert_eq!(seen.predicted.is_some(), lens.predict.is_some(), "{where_} has no prediction");
            }
        }
    }
    assert!(n_lenses > 10, "{n_lenses}");
}

/// Counted, not computed: a warp that reads 4-byte words at stride s touches 4 s sectors of 32 bytes, 32 at most. DRAM
/// reads 64 bytes at least, so a useful byte costs it s bytes up to 16.
#[test]
fn counters_show_sectors_and_dram_bytes() {
    let sectors = see("strided_read/stride", "sectors");
    for (stride, expected) in [(1.0, 4.0), (2.0, 8.0), (3.0, 12.0), (8.0, 32.0), (64.0, 32.0)] {
        assert_eq!(at(&sectors, "read", stride), expected, "stride {stride}");
    }
    let moved = see("strided_read/stride", "dram_per_useful");
    for (stride, expected) in [(1.0, 1.0), (2.0, 2.0), (8.0, 8.0), (16.0, 16.0), (64.0, 16.0)] {
        let found = at(&moved, "read", stride);
        assert!((found / expected - 1.0).abs() < 0.01, "stride {stride}: {found} against {expected}");
    }
}

/// DRAM is as busy at stride 8 as at stride 1: 95 to 97 % of 4814 GB/s, as read tests measure on this card.
#[test]
fn dram_stays_busy_while_useful_bandwidth_falls() {
    let dram = see("strided_read/stride", "dram");
    for stride in [1.0, 2.0, 4.0, 8.0] {
        let share = at(&dram, "read", stride) / 4814.0;
        assert!((0.90..=1.0).contains(&share), "stride {stride}: {share}");
    }
}

/// The floor of a decoding step: 16.06e9 bytes at 4.8e12 bytes a second take 3.345833 ms. The measured ceiling of
/// reading is lower, so the time is longer by as much.
#[test]
fn a_token_takes_the_weights_over_the_bandwidth() {
    let token = see("stream_read/main", "token");
    let library = library();
    let run = recorded().into_iter().find(|run| run.experiment == "stream_read/main").unwrap();
    let (experiment, kernel) = library.get("stream_read/main").unwrap();
    for (seen, own) in token.judged.points.iter().zip(&judge(&run, experiment, kernel).points) {
        let expected = 3.345_833_333 * 4800.0 / own.value.unwrap();
        assert!((seen.value.unwrap() / expected - 1.0).abs() < 1e-9, "{:?} against {expected}", seen.value);
    }
    assert!(!token.lens.assumes.is_empty(), "a number computed through an assumption says so");
}

/// 128 bytes a cycle and SM without a conflict, a 32nd of it with the worst one.
#[test]
fn shared_memory_gives_128_bytes_a_cycle() {
    let banks = see("shared_banks/stride", "bytes_per_cycle");
    for (series, x, expected) in [("w4", 1.0, 128.0), ("w4", 33.0, 128.0), ("w4", 32.0, 4.0), ("w16", 1.0, 128.0)] {
        let found = at(&banks, series, x);
        assert!((found / expected - 1.0).abs() < 0.02, "{series}@{x}: {found} against {expected}");
    }
}
