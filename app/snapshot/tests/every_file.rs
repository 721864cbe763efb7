//! Every recorded snapshot of this repository, with the counters of its process beside it.

use std::path::{Path, PathBuf};
use vramlab_snapshot::replay::{Replay, config_of, replay};
use vramlab_snapshot::{Snapshot, read};

const LIMIT: usize = 64 << 20;

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// Name and path of every snapshot, each once.
fn all() -> Vec<(String, PathBuf)> {
    let mut out: Vec<(String, PathBuf)> = Vec::new();
    for folder in ["tests/data/snapshots", "assets/snapshots"].map(folder) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            if let Some(name) = name.strip_suffix(".pickle.gz")
                && !out.iter().any(|(known, _)| known == name)
            {
                out.push((name.to_owned(), path.clone()));
            }
        }
    }
    out.sort();
    out
}

fn opened(path: &Path) -> Snapshot {
    read(&std::fs::read(path).expect("a file"), LIMIT).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn counters(name: &str) -> serde_json::Map<String, serde_json::Value> {
    let path = folder("tests/data/snapshots").join(format!("{name}.json"));
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let all: serde_json::Value = serde_json::from_slice(&bytes).expect("JSON");
    all["stats"].as_object().expect("counters").clone()
}

/// All addresses, all final blocks, and the 56 counters that `torch.cuda.memory_stats()` gave in that process: two streams,
/// graphs that stand and graphs that are gone, a full card, garbage collection, a split limit, a log without its beginning.
#[test]
fn every_address_and_every_counter() {
    let all = all();
    for (name, path) in &all {
        let snapshot = opened(path);
        let got: Replay = replay(&snapshot, 0, &config_of(&snapshot).unwrap());
        assert!(
            got.n_allocs > 0 && got.is_exact(),
            "{name}: {} of {}: {:#?}",
            got.n_right,
            got.n_allocs,
            got.mismatches
        );
        assert_eq!(got.n_unexplained, 0, "{name}");
        assert!(snapshot.unknown.is_empty() && snapshot.warnings.is_empty(), "{name}: {:?}", snapshot.warnings);
        let recorded = counters(name);
        let mut counted = got.stats.named();
        counted.push(("num_alloc_retries".to_owned(), got.stats.n_retries));
        counted.push(("num_ooms".to_owned(), got.stats.n_ooms));
        assert_eq!(counted.len(), 56);
        for (key, value) in counted {
            assert_eq!(recorded.get(&key).and_then(serde_json::Value::as_u64), Some(value), "{name}: {key}");
        }
    }
    let has = |name: &str| all.iter().any(|(known, _)| known == name);
    for name in ["streams", "retry", "options", "graph_pool", "graph_gone", "cut_ring", "random_expandable", "oom"] {
        assert!(has(name), "{name} is gone");
    }
}

/// What each of the special ones is there for is in it.
#[test]
fn the_special_cases_occur() {
    let of = |name: &str| {
        let (_, path) = all().into_iter().find(|(known, _)| known == name).unwrap();
        let snapshot = opened(&path);
        let got = replay(&snapshot, 0, &config_of(&snapshot).unwrap());
        (snapshot, got)
    };
    let (streams, _) = of("streams");
    assert!(streams.streams.len() >= 2, "{:?}", streams.streams);
    let (_, retry) = of("retry");
    assert!(retry.stats.n_retries >= 1);
    let (graphs, _) = of("graph_pool");
    let private = graphs.segments.iter().filter(|segment| segment.pool != (0, 0));
    assert!(private.count() >= 1);
    let (cut, replayed) = of("cut_ring");
    assert_eq!(cut.n_events(), 1500);
    assert!(replayed.before.parts.iter().any(|part| !part.live.is_empty()), "it begins in the middle");
    let (_, options) = of("options");
    assert!(options.stats.n_ooms + options.stats.n_retries >= 1);
}

/// The same recordings with their beginning lost, at many places: what is left replays as it did.
#[test]
fn every_recording_cut_at_many_places() {
    let mut n_cuts = 0;
    for (name, path) in all() {
        let whole = opened(&path);
        let n = whole.traces[0].len();
        let config = config_of(&whole).unwrap();
        for from in (1..n).step_by(n / 12 + 1) {
            let mut cut = whole.clone();
            cut.traces[0].drain(..from);
            let got = replay(&cut, 0, &config);
            assert!(got.is_exact(), "{name} from {from}: {} of {}: {:#?}", got.n_right, got.n_allocs, got.mismatches);
            assert_eq!(got.n_unexplained, 0, "{name} from {from}");
            n_cuts += 1;
        }
    }
    assert!(n_cuts > 200, "{n_cuts}");
}

/// What was added and taken away in all, another 54: of every recording that begins with the process.
#[test]
fn every_total_since_the_start() {
    let mut n_whole = 0;
    for (name, path) in all() {
        let snapshot = opened(&path);
        let got = replay(&snapshot, 0, &config_of(&snapshot).unwrap());
        let recorded = counters(&name);
        if !got.before.parts.is_empty() || !recorded.contains_key("allocation.all.freed") {
            continue;
        }
        n_whole += 1;
        for (key, value) in got.stats.named_totals() {
            assert_eq!(recorded.get(&key).and_then(serde_json::Value::as_u64), Some(value), "{name}: {key}");
        }
    }
    assert!(n_whole >= 15, "{n_whole}");
}
