//! Any recording, not only those at hand: requests at random through the allocator under every setting, with streams,
//! graphs, a card that fills up, and the log cut anywhere. What was noted is replayed and comes out the same.

mod maker;

use maker::{Made, Maker, Plan};
use vramlab_alloc::MIB;
use vramlab_alloc::caching::{Class, Metric};
use vramlab_snapshot::replay::{Replay, config_of, replay};
use vramlab_snapshot::{Action, Analysis, Options, Snapshot, segments};

fn plan(seed: u64) -> Plan {
    Plan {
        seed,
        settings: String::new(),
        n_requests: 300,
        n_live: 30,
        n_streams: 1,
        n_graphs: 0,
        empties: 0,
        capacity: 1 << 40,
        has_stacks: true,
        has_pools: false,
    }
}

fn replayed(snapshot: &Snapshot) -> Replay {
    replay(snapshot, 0, &config_of(snapshot).expect("settings"))
}

/// Every address, every segment, every final block and every counter.
fn check(made: &Made, plan: &Plan) {
    let got = replayed(&made.snapshot);
    assert_eq!((got.n_allocs, got.n_unexplained), (made.n_allocs, 0), "{plan:?}");
    assert!(got.is_exact(), "{plan:?}: {} of {}: {:#?}", got.n_right, got.n_allocs, got.mismatches);
    assert_eq!(got.stats.named(), made.stats.named(), "{plan:?}");
    assert_eq!(got.stats.n_ooms, made.stats.n_ooms, "{plan:?}");
    let is_near = got.stats.n_retries.abs_diff(made.stats.n_retries) <= got.n_ambiguous;
    assert!(
        is_near,
        "{plan:?}: {} retries, {}, {} unclear",
        got.stats.n_retries, made.stats.n_retries, got.n_ambiguous
    );
}

/// The log begins at event `from`, as a ring that has lost its first entries.
fn cut(snapshot: &Snapshot, from: usize) -> Snapshot {
    let mut out = snapshot.clone();
    out.traces[0].drain(..from);
    out
}

fn check_cut(made: &Made, plan: &Plan, from: usize) {
    let suffix = cut(&made.snapshot, from);
    let last = from.checked_sub(1).map(|last| made.snapshot.traces[0][last].action);
    if plan.settings.contains("max_split") && last == Some(Action::SegmentAlloc) {
        // A segment of just the split limit is given to a request below it only while it is new; that it was is cut off.
        return;
    }
    let got = replayed(&suffix);
    assert_eq!(got.n_unexplained, 0, "{plan:?} from {from}");
    assert!(got.is_exact(), "{plan:?} from {from}: {} of {}: {:#?}", got.n_right, got.n_allocs, got.mismatches);
    for metric in Metric::ALL {
        for class in Class::ALL {
            let (end, truth) = (got.stats.get(metric, class).current, made.stats.get(metric, class).current);
            assert_eq!(end, truth, "{plan:?} from {from}: {metric:?} {class:?}");
        }
    }
}

const SETTINGS: [&str; 5] = [
    "",
    "expandable_segments:True",
    "roundup_power2_divisions:[256:1,512:2,1024:4,>:8]",
    "max_split_size_mb:40",
    "max_split_size_mb:24,max_non_split_rounding_mb:32,roundup_power2_divisions:4",
];

fn all(vary: impl Fn(&mut Plan), check: impl Fn(&Made, &Plan)) {
    for settings in SETTINGS {
        for seed in 0..4 {
            let mut plan = Plan { settings: settings.to_owned(), ..plan(seed) };
            vary(&mut plan);
            check(&Maker::make(&plan), &plan);
        }
    }
}

#[test]
fn one_stream_under_every_setting() {
    all(|_| {}, check);
}

#[test]
fn streams_that_use_each_others_blocks() {
    all(|plan| plan.n_streams = 3, check);
}

#[test]
fn the_cache_emptied_by_the_program() {
    all(|plan| (plan.empties, plan.n_streams) = (15, 2), check);
}

/// Retries, and refusals.
#[test]
fn a_card_that_fills_up() {
    let retries = std::cell::Cell::new((0, 0));
    all(
        |plan| (plan.capacity, plan.n_streams) = (260 * MIB, 2),
        |made, plan| {
            let (n_retries, n_ooms) = retries.get();
            retries.set((n_retries + made.stats.n_retries, n_ooms + made.stats.n_ooms));
            check(made, plan);
        },
    );
    assert!(retries.get().0 > 50 && retries.get().1 > 20, "{retries:?}");
}

#[test]
fn graphs_with_pools_of_their_own() {
    all(|plan| (plan.n_graphs, plan.n_streams) = (2, 2), check);
}

/// Pools of graphs that are gone by the end: the file does not say which segments were theirs.
#[test]
fn graphs_that_are_gone_by_the_end() {
    all(|plan| (plan.n_graphs, plan.n_streams, plan.empties) = (2, 2, 25), check);
}

/// With graphs, streams and a full card together, pools that nothing names cannot always be told. What is
/// not told is not claimed to be exact.
#[test]
fn everything_at_once() {
    let counts = std::cell::Cell::new((0, 0));
    all(
        |plan| (plan.n_graphs, plan.n_streams, plan.empties, plan.capacity) = (2, 2, 0, 400 * MIB),
        |made, plan| {
            let got = replayed(&made.snapshot);
            assert_eq!(got.n_allocs, made.n_allocs, "{plan:?}");
            let (n_exact, n) = counts.get();
            counts.set((n_exact + u32::from(got.is_exact()), n + 1));
            if got.is_exact() {
                assert_eq!(got.n_unexplained, 0, "{plan:?}");
                for ((name, value), (_, truth)) in got.stats.named().into_iter().zip(made.stats.named()) {
                    assert_eq!(value, truth, "{plan:?}: {name}");
                }
            }
        },
    );
    assert!(counts.get().0 * 2 >= counts.get().1, "{counts:?}");
}

/// Newer files name the pool of each event: then nothing needs to be inferred. With a split limit besides, a capture may
/// return single blocks on its way to a refusal, and not every such way can be told from another.
#[test]
fn pools_that_every_event_names() {
    all(
        |plan| {
            (plan.n_graphs, plan.n_streams, plan.empties, plan.capacity) = (2, 3, 30, 400 * MIB);
            plan.has_pools = true;
        },
        |made, plan| {
            let got = replayed(&made.snapshot);
            assert_eq!((got.n_allocs, got.n_inferred_pools), (made.n_allocs, 0), "{plan:?}");
            let analysis = Analysis::of(&made.snapshot, 0, &Options::default());
            let half = segments::at(&made.snapshot, &analysis, made.snapshot.n_events() / 2);
            assert!(half.segments.iter().all(|segment| segment.is_pool_known), "{plan:?}");
            if !plan.settings.contains("max_split") {
                assert!(got.is_exact(), "{plan:?}: {} of {}: {:#?}", got.n_right, got.n_allocs, got.mismatches);
                assert_eq!(got.stats.named(), made.stats.named(), "{plan:?}");
            }
        },
    );
}

/// Garbage collection: which blocks went is recorded, why is not.
#[test]
fn old_blocks_that_were_collected() {
    for seed in 0..30 {
        let settings = "garbage_collection_threshold:0.6,per_process_memory_fraction:0.9".to_owned();
        let plan = Plan { settings, capacity: 400 * MIB, ..plan(seed) };
        let made = Maker::make(&plan);
        let got = replayed(&made.snapshot);
        assert!(got.is_exact(), "{plan:?}: {} of {}: {:#?}", got.n_right, got.n_allocs, got.mismatches);
        assert_eq!(got.stats.named(), made.stats.named(), "{plan:?}");
    }
}

#[test]
fn a_recording_without_stacks() {
    all(|plan| (plan.has_stacks, plan.capacity, plan.n_streams) = (false, 300 * MIB, 2), check);
}

#[test]
fn the_log_cut_anywhere() {
    let cut_everywhere = |made: &Made, plan: &Plan| {
        for from in (0..made.snapshot.n_events()).step_by(37) {
            check_cut(made, plan, from);
        }
    };
    all(|plan| plan.n_requests = 150, cut_everywhere);
    all(|plan| (plan.n_requests, plan.n_streams, plan.empties) = (150, 2, 20), cut_everywhere);
    all(|plan| (plan.n_requests, plan.n_streams, plan.capacity) = (150, 2, 260 * MIB), cut_everywhere);
    all(|plan| (plan.n_requests, plan.n_graphs) = (150, 2), cut_everywhere);
}
