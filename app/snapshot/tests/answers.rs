//! What five recorded snapshots answer: figures of their README, and of chapter 18.

use std::path::PathBuf;
use vramlab_alloc::caching::{Class, Config, Metric};
use vramlab_snapshot::analysis::{cache, icicle};
use vramlab_snapshot::bands::bands;
use vramlab_snapshot::findings::{Kind, findings};
use vramlab_snapshot::growth::Verdict;
use vramlab_snapshot::oom::Cause;
use vramlab_snapshot::peak::{By, holders};
use vramlab_snapshot::roles::Role;
use vramlab_snapshot::rules::Rule;
use vramlab_snapshot::steps::How;
use vramlab_snapshot::summary::{METRICS, Pool, read_stats, read_text};
use vramlab_snapshot::what_if::replay_under;
use vramlab_snapshot::{Action, Analysis, Event, Options, Snapshot, read, segments};

fn data(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn of(name: &str) -> (Snapshot, Analysis) {
    let snapshot = read(&data(&format!("snapshots/{name}.pickle.gz")), 64 << 20).expect("a recorded snapshot is read");
    let analysis = Analysis::of(&snapshot, 0, &Options::default());
    (snapshot, analysis)
}

/// Peak allocated, final allocated, peak requested, peak reserved: the README's table.
const FIGURES: [(&str, [u64; 4]); 5] = [
    ("mlp_adam", [1_414_856_704, 877_854_720, 1_414_856_704, 1_453_326_336]),
    ("resnet50_b32", [3_077_896_704, 295_540_736, 3_061_272_480, 3_684_696_064]),
    ("kv_cat", [1_314_193_408, 1_176_502_272, 1_308_426_240, 41_213_231_104]),
    ("kv_cat_expandable", [1_239_220_224, 1_101_529_088, 1_239_220_224, 1_793_064_960]),
    ("kv_cat_round4", [1_510_408_192, 1_342_177_280, 1_239_220_224, 8_522_825_728]),
];

#[test]
fn the_timeline_peaks_where_the_counters_do() {
    for (name, [peak, last, requested, reserved]) in FIGURES {
        let (snapshot, analysis) = of(name);
        let timeline = &analysis.timeline;
        assert_eq!(timeline.n_events(), snapshot.n_events(), "{name}");
        assert_eq!(timeline.allocated.value(timeline.peak()), peak, "{name}");
        assert_eq!(timeline.allocated.last(), last, "{name}");
        let most = |series: &vramlab_snapshot::timeline::Series| series.range(0, usize::MAX).unwrap().1;
        assert_eq!((most(&timeline.requested), most(&timeline.reserved)), (requested, reserved), "{name}");
        assert_eq!(most(&timeline.active), peak, "{name}");
        assert_eq!((analysis.n_unknown_frees, analysis.n_overwritten), (0, 0), "{name}");
    }
}

/// At every event that is looked at, the address space adds up to the running totals.
#[test]
fn the_segments_add_up_to_the_timeline() {
    for (name, _) in FIGURES {
        let (snapshot, analysis) = of(name);
        let n = analysis.timeline.n_events();
        for at in [0, 1, n / 3, n / 2, analysis.timeline.peak(), n] {
            let map = segments::at(&snapshot, &analysis, at);
            let (metrics, timeline) = (map.metrics, &analysis.timeline);
            let totals = (timeline.reserved.value(at), timeline.allocated.value(at));
            assert_eq!((metrics.reserved, metrics.allocated), totals, "{name} at {at}");
            assert_eq!(metrics.reserved, metrics.allocated + metrics.pending + metrics.inactive, "{name} at {at}");
            for segment in &map.segments {
                let sum: u64 = segment.pieces.iter().map(|piece| piece.size).sum();
                assert_eq!(sum, segment.size, "{name} at {at}: 0x{:x}", segment.address);
            }
        }
    }
}

/// Final segments, blocks, holes and the largest of them: the README's table. Nothing of a native segment that is also in
/// use can be returned: PyTorch's own counter `inactive_split_bytes`.
#[test]
fn the_end_is_what_was_recorded() {
    for (name, n_segments, n_blocks, n_holes, largest) in [
        ("mlp_adam", 25, 40, 12, 67_108_864),
        ("resnet50_b32", 109, 582, 96, 163_577_856),
        ("kv_cat", 537, 540, 528, 138_412_032),
        ("kv_cat_expandable", 2, 14, 6, 274_464_768),
        ("kv_cat_round4", 131, 131, 123, 167_772_160),
    ] {
        let (snapshot, analysis) = of(name);
        let map = segments::at(&snapshot, &analysis, analysis.timeline.n_events());
        let found: usize = map.segments.iter().map(|segment| segment.pieces.len()).sum();
        assert_eq!((map.segments.len(), found), (n_segments, n_blocks), "{name}");
        assert_eq!((map.metrics.n_holes, map.metrics.largest_hole), (n_holes, largest), "{name}");
        if name != "kv_cat_expandable" {
            let split = analysis.replay.stats.get(Metric::InactiveSplitBytes, Class::All).current;
            assert_eq!(map.metrics.unreleasable(), split, "{name}");
        }
    }
}

/// One loop was recorded under three settings: each recording, served by another's settings, reserves what that one did.
#[test]
fn other_settings_reserve_what_was_recorded_with_them() {
    for (name, settings, reserved) in [
        ("kv_cat_expandable", "roundup_power2_divisions:4", 8_522_825_728),
        ("kv_cat_round4", "expandable_segments:True", 1_793_064_960),
        ("kv_cat_expandable", "expandable_segments:True", 1_793_064_960),
        ("kv_cat_round4", "roundup_power2_divisions:4", 8_522_825_728),
        ("mlp_adam", "", 1_453_326_336),
    ] {
        let (snapshot, analysis) = of(name);
        let got = replay_under(&snapshot, &analysis, &Config::parse(settings).unwrap());
        assert_eq!(got.peak_reserved, reserved, "{name} under {settings:?}");
        assert_eq!((got.n_ooms, got.n_retries), (0, 0));
    }
    // The native recording began with four more segments of other sizes: within a hundredth.
    let (snapshot, analysis) = of("kv_cat_expandable");
    let got = replay_under(&snapshot, &analysis, &Config::default()).peak_reserved;
    let recorded = 41_213_231_104.0 - 71_303_168.0;
    assert!((got as f64 / recorded - 1.0).abs() < 0.01, "{got}");
}

/// Steps by the optimizer's annotation, or by the loop that repeats: eight layers, each grown 300 times.
#[test]
fn steps_are_found_by_annotation_or_by_period() {
    let (_, mlp) = of("mlp_adam");
    assert_eq!(mlp.steps.how, How::Annotation("Optimizer.step#Adam.step".to_owned()));
    assert_eq!(mlp.steps.ends.len(), 3);
    assert_eq!(mlp.growth.verdict, Verdict::Steady, "{:?}", mlp.growth.ends);
    let (_, resnet) = of("resnet50_b32");
    assert_eq!(resnet.steps.ends.len(), 2);
    assert_eq!(resnet.growth.verdict, Verdict::TooFewSteps);
    for name in ["kv_cat", "kv_cat_expandable", "kv_cat_round4"] {
        let (_, kv) = of(name);
        assert!(matches!(kv.steps.how, How::Period { .. }), "{name}: {:?}", kv.steps.how);
        // The first pass over the layers frees in another order: 299 passes of 8 layers repeat.
        assert_eq!(kv.steps.ends.len(), 299 * 8, "{name}");
        assert_eq!(kv.growth.verdict, Verdict::LeakSuspect, "{name}");
        let site = &kv.growth.sites[0];
        assert!(site.blocks_per_step < 0.01, "{name}: blocks are replaced, not kept: {site:?}");
    }
    // The README: +458,752 B for each growth of a cache.
    let (_, kv) = of("kv_cat_expandable");
    assert_eq!(kv.growth.bytes_per_step, 458_752.0);
}

/// A refusal, or growth over at least three steps: what makes `vramlab snapshot` exit with 1.
#[test]
fn findings_are_growth_by_design_in_the_caches_and_nothing_in_the_trainings() {
    for (name, expected) in [
        ("mlp_adam", None),
        ("resnet50_b32", None),
        ("kv_cat", Some(Kind::Growth)),
        ("kv_cat_expandable", Some(Kind::Growth)),
        ("kv_cat_round4", Some(Kind::Growth)),
    ] {
        let (snapshot, analysis) = of(name);
        let found = findings(&snapshot, &analysis);
        assert_eq!(found.first().map(|finding| finding.kind), expected, "{name}: {found:?}");
        assert!(found.iter().all(|finding| !finding.what.en.as_ref().unwrap().is_empty()), "{name}");
    }
}

/// Four layers of 4096 in fp32, Adam: weights and biases, gradients of the same size, twice as much state.
#[test]
fn roles_of_a_training_have_the_sizes_that_adam_gives_them() {
    let (snapshot, analysis) = of("mlp_adam");
    let parameters = 4 * (4096 * 4096 + 4096) * 4_u64;
    let end = analysis.timeline.n_events();
    let of_role = |role: Role, at: usize| {
        let held = holders(&snapshot, &analysis, at, By::Role);
        held.iter().find(|holder| holder.key.0 == role as u32).map_or(0, |holder| holder.bytes)
    };
    assert_eq!(of_role(Role::Parameter, end), parameters);
    let state = of_role(Role::Optimizer, end);
    // Two moments for each parameter, and a step counter for each tensor.
    assert!(state >= 2 * parameters && state < 2 * parameters + 16 * 512, "{state}");
    let phase = analysis.steps.phases.iter().find(|phase| phase.name.starts_with("Optimizer.step")).unwrap();
    assert_eq!(of_role(Role::Gradient, phase.from), parameters);
    let shares: f64 = holders(&snapshot, &analysis, end, By::Site).iter().map(|holder| holder.share).sum();
    assert!((shares - 1.0).abs() < 1e-9);
}

/// An older recording has no annotations: the optimizer's own stacks say where it worked.
#[test]
fn roles_do_without_annotations() {
    let mut snapshot = read(&data("snapshots/mlp_adam.pickle.gz"), 64 << 20).unwrap();
    let with = Analysis::of(&snapshot, 0, &Options::default());
    snapshot.annotations.clear();
    let without = Analysis::of(&snapshot, 0, &Options::default());
    let of_role = |analysis: &Analysis, at: usize| -> Vec<(u32, u64)> {
        let mut held: Vec<(u32, u64)> =
            holders(&snapshot, analysis, at, By::Role).iter().map(|holder| (holder.key.0, holder.bytes)).collect();
        held.retain(|(role, _)| [Role::Parameter as u32, Role::Optimizer as u32].contains(role));
        held.sort_unstable();
        held
    };
    let end = with.timeline.n_events();
    assert_eq!(of_role(&with, end), of_role(&without, end));
    assert_eq!(of_role(&with, end).len(), 2);
}

/// ResNet-50 at batch 32 is mostly activations, whose frees repeat the stack of their alloc.
#[test]
fn a_convolutional_training_is_mostly_activations() {
    let (snapshot, analysis) = of("resnet50_b32");
    let held = holders(&snapshot, &analysis, analysis.timeline.peak(), By::Role);
    assert_eq!(held[0].key.0, Role::Activation as u32, "{held:?}");
    assert!(held[0].share > 0.7, "{held:?}");
    // 25,557,032 parameters in fp32; small tensors are rounded, buffers come with them.
    let parameters = held.iter().find(|holder| holder.key.0 == Role::Parameter as u32).unwrap().requested;
    let weights = 25_557_032 * 4;
    assert!(parameters >= weights && parameters < weights * 101 / 100, "{parameters}");
}

#[test]
fn a_rule_of_the_reader_wins() {
    let snapshot = read(&data("snapshots/kv_cat.pickle.gz"), 64 << 20).unwrap();
    let rules = vec![Rule::contains("train.py:79", Role::Activation)];
    let analysis = Analysis::of(&snapshot, 0, &Options { rules, ..Options::default() });
    let held = holders(&snapshot, &analysis, analysis.timeline.peak(), By::Role);
    assert_eq!(held[0].label.en.as_deref(), Some("activations"));
    // Four blocks stood before the first event.
    let before: Vec<u64> = analysis.lives.iter().filter(|life| life.from.is_none()).map(|life| life.size).collect();
    assert_eq!((before.len(), before.iter().sum::<u64>()), (4, 69_206_016));
}

/// 38 of 41 GB lie in the cache and none of it holds the next request.
#[test]
fn the_cache_of_a_growing_buffer_is_too_small_everywhere() {
    let (snapshot, analysis) = of("kv_cat");
    let cache = cache(&snapshot, &analysis);
    let miss = cache.miss.unwrap();
    assert!(miss.largest_hole < miss.bytes, "{miss:?}");
    assert!(miss.too_small > 30_000_000_000 && miss.too_small <= cache.map.metrics.inactive, "{miss:?}");
}

#[test]
fn bands_and_icicle_hold_all_of_it() {
    for (name, _) in FIGURES {
        let (snapshot, analysis) = of(name);
        let peak = analysis.timeline.peak();
        let bands = bands(&snapshot, &analysis, By::Stack, 5);
        for at in [0, peak / 2, peak, analysis.timeline.n_events()] {
            let sum: u64 = bands.all.iter().map(|band| band.value(at)).sum();
            assert_eq!(sum, analysis.timeline.allocated.value(at), "{name} at {at}");
        }
        assert_eq!(bands.of_life.len(), analysis.lives.len(), "{name}");
        assert!(bands.of_life.iter().all(|band| usize::from(*band) < bands.all.len()), "{name}");
        let (most, first) = (analysis.timeline.allocated.value(peak), &bands.all[0]);
        assert!(first.range(0, peak + 1).1 >= first.bytes_at_peak && first.bytes_at_peak <= most, "{name}");
        let nodes = icicle(&snapshot, &analysis, peak);
        assert_eq!(nodes[0].bytes, analysis.timeline.allocated.value(peak), "{name}");
        for (idx, node) in nodes.iter().enumerate() {
            let inside: u64 = nodes.iter().skip(1).filter(|n| n.parent as usize == idx).map(|n| n.bytes).sum();
            assert!(inside <= node.bytes, "{name}: node {idx}");
        }
    }
}

/// PyTorch's own table of the run whose counters are also kept exactly: both read the same, to the table's rounding.
#[test]
fn the_table_and_the_counters_agree() {
    let table = read_text(&String::from_utf8(data("files/memory_summary.txt")).unwrap());
    let stats = read_stats(&String::from_utf8(data("snapshots/mlp_adam.json")).unwrap()).unwrap();
    assert_eq!(table.rows.len(), 9 * 3 + 2);
    assert_eq!((table.n_ooms, table.n_retries), (Some(0), Some(0)));
    assert!(table.unknown.is_empty() && stats.unknown.is_empty(), "{:?} {:?}", table.unknown, stats.unknown);
    for row in &stats.rows {
        let metric = &METRICS[row.metric];
        let said = table.row(metric.key, row.pool).unwrap();
        for (exact, rounded) in [(row.current, said.current), (row.peak, said.peak)] {
            let (Some(exact), Some(rounded)) = (exact, rounded) else { panic!("{} lacks a value", metric.name) };
            let unit = if metric.is_bytes { 1 << 20 } else { 1 };
            assert!(exact.abs_diff(rounded) < unit, "{}: {exact} and {rounded}", metric.name);
        }
    }
    assert_eq!(stats.cached(), Some(1_453_326_336 - 877_854_720));
    assert_eq!(stats.rounding(), Some(0));
    assert_eq!(table.row("segment", Pool::Small).unwrap().current, Some(1));
}

/// S7 and the OOM marker: a refusal appended to a recording, a free without an alloc, a block asked for twice.
#[test]
fn a_refusal_is_explained_and_gaps_in_the_trace_never_take_a_total_below_zero() {
    let mut snapshot = read(&data("snapshots/mlp_adam.pickle.gz"), 64 << 20).unwrap();
    let last = *snapshot.traces[0].last().unwrap();
    // 600 MiB are wanted, 100 MiB are free: the cache holds enough, in pieces that are too small.
    let refused = Event { action: Action::Oom, address: 100 << 20, size: 600 << 20, ..last };
    snapshot.traces[0].push(refused);
    let analysis = Analysis::of(&snapshot, 0, &Options::default());
    assert_eq!(analysis.ooms.len(), 1);
    let evidence = analysis.ooms[0].evidence;
    assert_eq!((evidence.request, evidence.inactive), (600 << 20, 1_453_326_336 - 877_854_720));
    assert_eq!(findings(&snapshot, &analysis)[0].kind, Kind::Oom);
    assert_eq!(evidence.releasable, evidence.inactive - 17_629_184, "all but PyTorch's inactive_split_bytes");
    // What the flush would return is enough here.
    assert_eq!(analysis.ooms[0].cause, Cause::FitsNow);

    let stray = Event { action: Action::FreeRequested, address: 0x1234, ..last };
    let twice = *snapshot.traces[0].iter().find(|event| event.action == Action::Alloc).unwrap();
    snapshot.traces[0].extend([stray, Event { action: Action::FreeCompleted, ..stray }, twice, twice]);
    let analysis = Analysis::of(&snapshot, 0, &Options::default());
    assert_eq!(analysis.n_unknown_frees, 2);
    assert!(analysis.n_overwritten >= 1);
    for series in [&analysis.timeline.allocated, &analysis.timeline.active, &analysis.timeline.reserved] {
        assert!(series.range(0, usize::MAX).unwrap().1 < 1 << 40);
    }
}

/// Recorded under a limit of the process, on a card with more than 130 GiB free: 420 MiB in holes of 8 MiB at most refuse
/// 64 MiB.
#[test]
fn a_limit_of_the_process_is_not_taken_for_room_on_the_device() {
    let snapshot = read(&std::fs::read("../../assets/snapshots/fragmentation.pickle.gz").unwrap(), 64 << 20).unwrap();
    let analysis = Analysis::of(&snapshot, 0, &Options::default());
    let [oom] = analysis.ooms.as_slice() else { panic!("one refusal, not {}", analysis.ooms.len()) };
    assert!(oom.is_capped && oom.device_free > 130 << 30);
    assert_eq!(
        (oom.evidence.request, oom.evidence.inactive, oom.evidence.largest_hole),
        (64 << 20, 420 << 20, 8 << 20)
    );
    assert_eq!(oom.cause, Cause::Fragmentation);
}

/// A trace whose front was overwritten: what it frees stood before, and the peak is that of the rest.
#[test]
fn a_trace_cut_at_its_front_still_adds_up() {
    let mut snapshot = read(&data("snapshots/resnet50_b32.pickle.gz"), 64 << 20).unwrap();
    let whole = Analysis::of(&snapshot, 0, &Options::default());
    let half = whole.timeline.n_events() / 2;
    snapshot.traces[0].drain(..half);
    let cut = Analysis::of(&snapshot, 0, &Options::default());
    for at in [0, 500, cut.timeline.n_events()] {
        assert_eq!(cut.timeline.reserved.value(at), whole.timeline.reserved.value(half + at), "at {at}");
        assert_eq!(cut.timeline.allocated.value(at), whole.timeline.allocated.value(half + at), "at {at}");
        let map = segments::at(&snapshot, &cut, at);
        assert_eq!(map.metrics.allocated, cut.timeline.allocated.value(at), "at {at}");
    }
}

/// Settings in the file are checked like typed ones: what no allocator could work with is not used.
#[test]
fn absurd_settings_in_a_file_change_nothing() {
    for (name, value) in [("large_segment_size", "1e300"), ("large_segment_size", "512"), ("max_split_size", "1e300")] {
        let mut snapshot = read(&data("snapshots/mlp_adam.pickle.gz"), 64 << 20).unwrap();
        snapshot.settings.insert(name.to_owned(), value.to_owned());
        let analysis = Analysis::of(&snapshot, 0, &Options::default());
        assert!(analysis.replay.is_exact(), "{name} = {value}: {:?}", analysis.replay.mismatches.first());
    }
    for text in ["large_segment_size_mb:0", "large_segment_size_mb:99999999", "max_non_split_rounding_mb:9999999999"] {
        assert!(Config::parse(text).is_err(), "{text}");
    }
}
