//! Five snapshots recorded with torch 2.11 on an H200: every address, every segment, every final block and all counters
//! come out of the allocator's rules.

use std::path::PathBuf;
use vramlab_alloc::caching::{Class, Metric, State};
use vramlab_snapshot::replay::{Replay, config_of, replay};
use vramlab_snapshot::{Snapshot, read};

const LIMIT: usize = 64 << 20;

fn data(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/snapshots").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn snapshot(name: &str) -> Snapshot {
    read(&data(&format!("{name}.pickle.gz")), LIMIT).expect("a snapshot")
}

/// What the recording's own README says.
struct Expected {
    name: &'static str,
    n_events: usize,
    n_allocs: u64,
    n_frees: u64,
    n_segments: u64,
    start_allocated: u64,
    start_reserved: u64,
    n_blocks: usize,
    n_inactive: usize,
    largest_inactive: u64,
}

const ALL: [Expected; 5] = [
    Expected {
        name: "mlp_adam",
        n_events: 413,
        n_allocs: 148,
        n_frees: 120,
        n_segments: 25,
        start_allocated: 0,
        start_reserved: 0,
        n_blocks: 40,
        n_inactive: 12,
        largest_inactive: 67_108_864,
    },
    Expected {
        name: "resnet50_b32",
        n_events: 4_639,
        n_allocs: 1_833,
        n_frees: 1_350,
        n_segments: 106,
        start_allocated: 68_157_440,
        start_reserved: 69_206_016,
        n_blocks: 582,
        n_inactive: 96,
        largest_inactive: 163_577_856,
    },
    Expected {
        name: "kv_cat",
        n_events: 14_941,
        n_allocs: 4_808,
        n_frees: 4_800,
        n_segments: 533,
        start_allocated: 69_206_016,
        start_reserved: 71_303_168,
        n_blocks: 540,
        n_inactive: 528,
        largest_inactive: 138_412_032,
    },
    Expected {
        name: "kv_cat_expandable",
        n_events: 14_498,
        n_allocs: 4_808,
        n_frees: 4_800,
        n_segments: 90,
        start_allocated: 0,
        start_reserved: 0,
        n_blocks: 14,
        n_inactive: 6,
        largest_inactive: 274_464_768,
    },
    Expected {
        name: "kv_cat_round4",
        n_events: 14_539,
        n_allocs: 4_808,
        n_frees: 4_800,
        n_segments: 131,
        start_allocated: 0,
        start_reserved: 0,
        n_blocks: 131,
        n_inactive: 123,
        largest_inactive: 167_772_160,
    },
];

fn check_run(expected: &Expected, snapshot: &Snapshot, got: &Replay) {
    let name = expected.name;
    assert_eq!(snapshot.n_events(), expected.n_events, "{name}");
    assert!(got.is_exact(), "{name}: {} of {}, {:#?}", got.n_right, got.n_allocs, got.mismatches);
    assert_eq!((got.n_allocs, got.n_frees), (expected.n_allocs, expected.n_frees), "{name}");
    assert_eq!((got.n_segments, got.n_unexplained), (expected.n_segments, 0), "{name}");
    let before = |metric| got.start.get(metric, Class::All).current;
    let found = (before(Metric::AllocatedBytes), before(Metric::ReservedBytes));
    assert_eq!(found, (expected.start_allocated, expected.start_reserved), "{name}");
    let blocks: Vec<_> = got.blocks.iter().filter(|block| block.is_mapped).collect();
    let inactive: Vec<u64> = blocks.iter().filter(|block| block.state == State::Free).map(|block| block.size).collect();
    assert_eq!((blocks.len(), inactive.len()), (expected.n_blocks, expected.n_inactive), "{name}");
    assert_eq!(inactive.iter().max(), Some(&expected.largest_inactive), "{name}");
}

/// `memory_stats()` of the process, under PyTorch's own names: 54 counters.
fn check_stats(name: &str, got: &Replay) {
    let recorded: serde_json::Value = serde_json::from_slice(&data(&format!("{name}.json"))).expect("JSON");
    let recorded = recorded["stats"].as_object().expect("counters");
    let mut n = 0;
    for (key, value) in got.stats.named() {
        assert_eq!(recorded.get(&key).and_then(serde_json::Value::as_u64), Some(value), "{name}: {key}");
        n += 1;
    }
    assert_eq!(n, 54);
}

#[test]
fn every_address_and_every_counter_of_five_recordings() {
    for expected in &ALL {
        let snapshot = snapshot(expected.name);
        let config = config_of(&snapshot).unwrap();
        let got = replay(&snapshot, 0, &config);
        check_run(expected, &snapshot, &got);
        check_stats(expected.name, &got);
    }
}

#[test]
fn nothing_in_a_recording_is_unknown_or_contradictory() {
    for expected in &ALL {
        let snapshot = snapshot(expected.name);
        assert!(snapshot.unknown.is_empty(), "{}: {:?}", expected.name, snapshot.unknown);
        assert!(snapshot.warnings.is_empty(), "{}: {:?}", expected.name, snapshot.warnings);
    }
}

#[test]
fn stacks_and_annotations_are_read() {
    let snapshot = snapshot("mlp_adam");
    let first = snapshot.traces[0][0];
    let frames: Vec<(&str, &str, u32)> = snapshot
        .stack(first.stack)
        .map(|frame| (snapshot.text(frame.name), snapshot.text(frame.file), frame.line))
        .collect();
    assert_eq!(frames[0], ("convert", "torch/nn/modules/module.py", 1370));
    assert_eq!(frames.last(), Some(&("<module>", "train.py", 66)));
    assert_eq!(first.time_us, 1_796_017_713_474_490);
    assert_eq!(snapshot.annotations[0].name, "Optimizer.step#Adam.step");
    assert_eq!(snapshot.setting("max_split_size"), Some("-1"));
}

/// Other settings give other figures: the loop that grows by concatenation reserves a fraction of it with expandable
/// segments, as the recording made with them shows.
#[test]
fn a_wrong_setting_is_noticed() {
    let snapshot = snapshot("kv_cat_round4");
    let got = replay(&snapshot, 0, &vramlab_alloc::caching::Config::default());
    assert!(!got.is_exact());
    assert!(got.mismatches[0].event < 300, "{:?}", got.mismatches[0]);
}
