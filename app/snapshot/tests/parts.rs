//! A part of a recording: counted, cut, cancelled, bounded; and recordings of which there is only the end.

mod common;
mod maker;

use common::{Forge, many_events};
use maker::{Maker, Plan};
use std::path::PathBuf;
use vramlab_snapshot::replay::{config_of, replay};
use vramlab_snapshot::{
    Analysis, Options, PickleError, Progress, Range, ReadError, Snapshot, count, read, read_range, read_with,
};

const LIMIT: usize = 64 << 20;

fn file(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/snapshots").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The numbers of the recordings' own README.
#[test]
fn events_are_counted_without_being_kept() {
    for (name, n_events) in [("mlp_adam", 413), ("resnet50_b32", 4639), ("kv_cat", 14_941)] {
        let bytes = file(&format!("{name}.pickle.gz"));
        let counts = count(&bytes, LIMIT).unwrap();
        assert_eq!(counts.n_events(), n_events, "{name}");
        let whole = read(&bytes, LIMIT).unwrap();
        for (device, found) in counts.devices.iter().zip(&whole.traces) {
            assert_eq!(device.n_events, found.len());
            assert_eq!(device.first_us, found.first().map_or(0, |event| event.time_us));
            assert_eq!(device.last_us, found.last().map_or(0, |event| event.time_us));
        }
    }
}

fn is_exact(snapshot: &Snapshot) -> bool {
    let got = replay(snapshot, 0, &config_of(snapshot).unwrap_or_default());
    got.is_exact() && got.n_unexplained == 0
}

/// Any part replays exactly, and its segments are those that stood at its end.
#[test]
fn every_part_is_a_snapshot_of_its_own() {
    for name in ["kv_cat", "kv_cat_expandable", "resnet50_b32", "streams", "retry", "random_native"] {
        let bytes = file(&format!("{name}.pickle.gz"));
        let whole = read(&bytes, LIMIT).unwrap();
        let n = whole.traces[0].len();
        for (from, until) in [(0, n), (0, n / 2), (n / 3, n / 2), (n / 2, n), (n - 1, n), (0, 0), (5, 3), (7, 10 * n)] {
            let part = read_range(&bytes, LIMIT, &Range { device: None, from, until }).unwrap();
            let shown = part.shown[0];
            assert_eq!((shown.until - shown.from, shown.n_events), (part.traces[0].len(), n), "{name} {from}..{until}");
            assert!(is_exact(&part), "{name} {from}..{until}");
            for segment in &part.segments {
                let sum: u64 = segment.blocks.iter().map(|block| block.size).sum();
                assert_eq!(sum, segment.size, "{name} {from}..{until}");
            }
            // What is allocated at the end of the part is what the whole timeline says.
            let timeline = Analysis::of(&whole, 0, &Options::default()).timeline;
            let part_line = Analysis::of(&part, 0, &Options::default()).timeline;
            assert_eq!(part_line.requested.last(), timeline.requested.value(shown.until), "{name} {from}..{until}");
            assert_eq!(part_line.reserved.last(), timeline.reserved.value(shown.until), "{name} {from}..{until}");
        }
    }
}

/// The same for recordings at random, cut at many places.
#[test]
fn parts_of_recordings_at_random() {
    for seed in 0..6 {
        for settings in ["", "expandable_segments:True"] {
            let plan = Plan {
                seed,
                settings: settings.to_owned(),
                n_requests: 120,
                n_live: 20,
                n_streams: 2,
                n_graphs: 0,
                empties: 20,
                capacity: 1 << 40,
                has_stacks: true,
                has_pools: false,
            };
            let made = Maker::make(&plan);
            assert!(made.n_allocs > 100 && made.stats.n_ooms == 0, "{plan:?}");
            for until in (0..made.snapshot.n_events()).step_by(23) {
                let mut part = made.snapshot.clone();
                part.keep(&Range { device: Some(0), from: until / 2, until });
                assert!(is_exact(&part), "{plan:?} until {until}");
            }
        }
    }
}

/// Another device's events are left out, its segments stay.
#[test]
fn one_device_of_several() {
    let mut snapshot = read(&file("mlp_adam.pickle.gz"), LIMIT).unwrap();
    let mut other: Vec<_> = snapshot.segments.clone();
    other.iter_mut().for_each(|segment| segment.device = 1);
    snapshot.segments.extend(other);
    snapshot.traces.push(snapshot.traces[0].clone());
    snapshot.keep(&Range { device: Some(1), from: 100, until: 200 });
    assert_eq!((snapshot.traces[0].len(), snapshot.traces[1].len()), (0, 100));
    assert_eq!((snapshot.shown[0].from, snapshot.shown[1].from, snapshot.shown[1].n_events), (413, 100, 413));
    assert!(snapshot.segments.iter().any(|segment| segment.device == 0));
}

#[test]
fn s4_reading_is_watched_and_can_be_cancelled() {
    let bytes = many_events(30_000);
    let mut seen = Vec::new();
    let got = read_with(&bytes, LIMIT, &mut |progress: Progress| {
        seen.push(progress);
        true
    });
    assert_eq!(got.unwrap().n_events(), 30_000);
    assert!(seen.len() > 5 && seen.windows(2).all(|pair| pair[0].done < pair[1].done), "{seen:?}");
    assert!(seen.iter().all(|progress| progress.n_bytes == bytes.len()));
    let mut n_asked = 0;
    let stopped = read_with(&bytes, LIMIT, &mut |_| {
        n_asked += 1;
        n_asked < 3
    });
    assert!(matches!(stopped, Err(ReadError::Pickle(PickleError::Cancelled { offset })) if offset < bytes.len() / 2));
}

/// S4: the size of a public complaint about other viewers. A release build takes a fraction of a second.
#[test]
fn s4_241_384_events_are_read_and_a_part_of_them_says_so() {
    let bytes = many_events(241_384);
    let start = std::time::Instant::now();
    assert_eq!(count(&bytes, 1 << 30).unwrap().n_events(), 241_384);
    let part = read_range(&bytes, 1 << 30, &Range { device: None, from: 41_384, until: 241_384 }).unwrap();
    println!("counted and read in {:.2} s", start.elapsed().as_secs_f64());
    assert_eq!((part.n_events(), part.shown[0].n_events, part.shown[0].from), (200_000, 241_384, 41_384));
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

/// B5: what the reader may take is bounded, and the error says what it would need.
#[test]
fn b5_a_file_that_needs_more_memory_than_is_allowed_is_an_error_with_the_need() {
    let bytes = many_events(200_000);
    let limit = 8 << 20;
    match read(&bytes, limit) {
        Err(ReadError::Pickle(PickleError::TooLarge { needs, limit: told })) => {
            assert_eq!(told, limit as u64);
            assert!((10 << 20..100 << 20).contains(&needs), "{needs}");
        }
        other => panic!("{other:?}"),
    }
    assert!(read(&bytes, LIMIT).is_ok());
}

/// `torch.cuda.memory_snapshot()` gives a bare list; without recording, `_snapshot()` has no events.
#[test]
fn s6_files_without_history_open_with_what_is_missing() {
    let segments = |forge: &mut Forge| {
        forge.op(b"](}(");
        for (key, value) in [("address", 0x7f00_0000_0000), ("total_size", 2_097_152)] {
            forge.text(key);
            forge.int(value);
        }
        forge.text("blocks");
        forge.op(b"](}(");
        for (key, value) in [("size", 2_097_152), ("requested_size", 2_000_000)] {
            forge.text(key);
            forge.int(value);
        }
        forge.text("state");
        forge.text("active_allocated");
        forge.op(b"ueue");
    };
    let mut bare = Forge::new();
    segments(&mut bare);
    bare.op(b".");
    let mut keyed = Forge::new();
    keyed.op(b"}(");
    keyed.text("segments");
    segments(&mut keyed);
    keyed.op(b"u.");
    for forge in [bare, keyed] {
        let snapshot = read(&forge.bytes, LIMIT).unwrap();
        assert_eq!((snapshot.segments.len(), snapshot.n_events()), (1, 0));
        assert!(
            snapshot
                .warnings
                .iter()
                .any(|warning| warning.en.as_deref().is_some_and(|text| text.contains("no history"))),
            "{:?}",
            snapshot.warnings
        );
        let analysis = Analysis::of(&snapshot, 0, &Options::default());
        assert_eq!(analysis.timeline.allocated.last(), 2_097_152);
        assert!(analysis.replay.is_exact());
    }
}

/// Newer files name the pool of each event, as a segment's: two numbers.
#[test]
fn pools_of_events_are_read() {
    let mut forge = Forge::new();
    forge.op(b"}(");
    forge.text("segments");
    forge.op(b"]");
    forge.text("device_traces");
    forge.op(b"](](");
    for (action, pool) in
        [("segment_alloc", b"K\x00K\x07\x86"), ("alloc", b"K\x00K\x07\x86"), ("alloc", b"K\x00K\x00\x86")]
    {
        forge.op(b"}(");
        forge.text("action");
        forge.text(action);
        forge.text("pool_id");
        forge.op(pool);
        forge.op(b"u");
    }
    forge.op(b"eeu.");
    let mut snapshot = read(&forge.bytes, LIMIT).unwrap();
    assert!(snapshot.unknown.is_empty(), "{:?}", snapshot.unknown);
    let pools: Vec<_> = (0..3).map(|event| snapshot.event_pool(0, event)).collect();
    assert_eq!(pools, [Some((0, 7)), Some((0, 7)), Some((0, 0))]);
    snapshot.keep(&Range { device: None, from: 1, until: 3 });
    assert_eq!((snapshot.event_pool(0, 0), snapshot.event_pool(0, 1)), (Some((0, 7)), Some((0, 0))));
    assert_eq!(read(&file("streams.pickle.gz"), LIMIT).unwrap().event_pool(0, 0), None, "torch 2.11 does not tell");
}

/// S2: a container that holds itself is read once and named.
#[test]
fn s2_a_cycle_is_named() {
    let mut forge = Forge::new();
    forge.op(b"}\x94(");
    forge.text("segments");
    forge.op(b"]");
    forge.text("device_traces");
    forge.op(b"]");
    forge.text("self");
    // The dictionary itself.
    forge.op(b"h\x00u.");
    let snapshot = read(&forge.bytes, LIMIT).unwrap();
    assert!(
        snapshot.warnings.iter().any(|warning| warning.en.as_deref().is_some_and(|text| text.contains("holds itself"))),
        "{:?}",
        snapshot.warnings
    );
    assert_eq!(snapshot.unknown.keys().collect::<Vec<_>>(), ["self"]);
}
