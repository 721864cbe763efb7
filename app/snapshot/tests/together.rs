//! Snapshots held against each other, ranks, pools and rules, on the recordings whose README gives the figures.

use std::path::PathBuf;
use vramlab_snapshot::compare::{Change, Fate, Side, compare};
use vramlab_snapshot::model::TextId;
use vramlab_snapshot::pools::pools;
use vramlab_snapshot::ranks::ranks;
use vramlab_snapshot::{Action, Analysis, Event, Options, Snapshot, read, rules, segments};

fn of(name: &str) -> (Snapshot, Analysis) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/data/snapshots/{name}.pickle.gz"));
    let snapshot = read(&std::fs::read(path).expect("the recording is there"), 64 << 20).expect("it is read");
    let analysis = Analysis::of(&snapshot, 0, &Options::default());
    (snapshot, analysis)
}

fn sum(changes: &[Change], of: fn(&Change) -> i64) -> i64 {
    changes.iter().map(of).sum()
}

/// The changes of all places, and of all roles, add up to the difference of the two peaks.
#[test]
fn what_changed_adds_up_to_the_difference() {
    for (a, b, peaks) in [
        ("mlp_adam", "resnet50_b32", [1_414_856_704, 3_077_896_704_i64]),
        ("kv_cat", "kv_cat_expandable", [1_314_193_408, 1_239_220_224]),
        ("kv_cat_round4", "kv_cat_expandable", [1_510_408_192, 1_239_220_224]),
    ] {
        let (first, second) = (of(a), of(b));
        let found = compare(Side::at_peak(&first.0, &first.1), Side::at_peak(&second.0, &second.1));
        for changes in [&found.sites, &found.roles] {
            assert_eq!(sum(changes, Change::gained), peaks[1] - peaks[0], "{a} and {b}");
            assert_eq!(sum(changes, |change| change.first.bytes.cast_signed()), peaks[0], "{a}");
        }
        let n = |of: fn(&Change) -> usize| found.sites.iter().map(of).sum::<usize>();
        let counted = (n(|change| change.first.n_blocks), n(|change| change.second.n_blocks));
        assert_eq!(counted, (found.first.n_blocks, found.second.n_blocks), "{a} and {b}");
    }
}

/// One loop under two settings: the same 4,808 requests, another allocator. The caches hold as much; 64 MiB stood before.
#[test]
fn the_same_program_under_other_settings_differs_in_what_is_reserved() {
    let (native, expandable) = (of("kv_cat"), of("kv_cat_expandable"));
    let found = compare(Side::at_peak(&native.0, &native.1), Side::at_peak(&expandable.0, &expandable.1));
    assert!(found.is_same_program(), "{:?} {:?}", found.first, found.second);
    assert_eq!((found.first.n_requests, found.second.n_requests), (4_808, 4_808));
    let reserved = (found.first.peak_reserved, found.second.peak_reserved);
    assert_eq!(reserved, (41_213_231_104, 1_793_064_960));
    let setting = found.settings.iter().find(|change| change.name == "expandable_segments").expect("it differs");
    assert_eq!((setting.first.as_deref(), setting.second.as_deref()), (Some("False"), Some("True")));
    let gone = found.sites.iter().filter(|change| change.fate() == Fate::Vanished);
    assert!(gone.map(|change| change.first.bytes).sum::<u64>() <= 69_206_016, "{:#?}", found.sites);
}

/// Nothing changes against itself; at the end less is held than at the peak.
#[test]
fn a_snapshot_against_itself_is_the_same() {
    let (snapshot, analysis) = of("mlp_adam");
    let side = Side::at_peak(&snapshot, &analysis);
    let same = compare(side, side);
    assert!(same.settings.is_empty() && same.sites.iter().all(|change| change.fate() == Fate::Same));
    let later = compare(side, Side::at_end(&snapshot, &analysis));
    assert_eq!(sum(&later.sites, Change::gained), 877_854_720 - 1_414_856_704);
    assert!(later.sites[0].gained() < 0 && later.sites.is_sorted_by_key(|c| std::cmp::Reverse(c.gained().abs())));
}

/// The code was edited in between: every line of the program moved by three.
#[test]
fn places_are_found_again_after_an_edit() {
    let (snapshot, analysis) = of("mlp_adam");
    let mut edited = snapshot.clone();
    let own = |text: &String| text.ends_with("train.py");
    let file = edited.texts.iter().position(own).expect("a file of the program") as u32;
    edited.frames.iter_mut().filter(|frame| frame.file == TextId(file)).for_each(|frame| frame.line += 3);
    let moved = Analysis::of(&edited, 0, &Options::default());
    let found = compare(Side::at_peak(&snapshot, &analysis), Side::at_peak(&edited, &moved));
    assert!(found.sites.iter().all(|change| change.fate() == Fate::Same), "{:#?}", found.sites);
    assert!(found.sites.iter().any(|change| change.moved_to.is_some()), "{:#?}", found.sites);
}

/// Three ranks, of which one is the ResNet: it is the fullest, and the places add up to each peak.
#[test]
fn ranks_are_measured_against_their_mean() {
    let all = [of("mlp_adam"), of("resnet50_b32"), of("mlp_adam")];
    let sides: Vec<(&Snapshot, &Analysis)> = all.iter().map(|(snapshot, analysis)| (snapshot, analysis)).collect();
    let found = ranks(&sides);
    let peaks = [1_414_856_704_u64, 3_077_896_704, 1_414_856_704];
    assert_eq!(found.all.iter().map(|rank| rank.peak_allocated).collect::<Vec<_>>(), peaks);
    assert_eq!((found.allocated.fullest, found.allocated.emptiest), (1, 0));
    let mean = peaks.iter().sum::<u64>() as f64 / 3.0;
    assert!((found.allocated.imbalance() - (3_077_896_704.0 / mean - 1.0)).abs() < 1e-12);
    assert_eq!(found.reserved.gap(), 3_684_696_064 - 1_453_326_336);
    for (rank, peak) in peaks.iter().enumerate() {
        assert_eq!(found.sites.iter().map(|site| site.bytes[rank]).sum::<u64>(), *peak, "rank {rank}");
    }
    let same = ranks(&[sides[0], sides[2]]);
    assert_eq!((same.allocated.imbalance(), same.sites[0].gap()), (0.0, 0));
}

/// The pools take the address space apart without a rest, at any moment.
#[test]
fn pools_add_up_to_the_address_space() {
    for name in ["mlp_adam", "resnet50_b32", "kv_cat", "kv_cat_expandable", "kv_cat_round4"] {
        let (snapshot, analysis) = of(name);
        for at in [0, analysis.timeline.peak(), analysis.timeline.n_events()] {
            let map = segments::at(&snapshot, &analysis, at);
            let found = pools(&map);
            let sum = |get: fn(&segments::Metrics) -> u64| found.iter().map(|pool| get(&pool.metrics)).sum::<u64>();
            let metrics = &map.metrics;
            let sums = (sum(|m| m.reserved), sum(|m| m.allocated), sum(|m| m.inactive));
            assert_eq!(sums, (metrics.reserved, metrics.allocated, metrics.inactive), "{name} at {at}");
            assert_eq!(found.iter().map(|pool| pool.segments.len()).sum::<usize>(), map.segments.len());
            assert!(found.iter().all(|pool| pool.key.pool == Some((0, 0))), "no segment was returned: {name}");
        }
    }
    // The README: of what ResNet reserves, the small pool has 56,623,104.
    let (snapshot, analysis) = of("resnet50_b32");
    let map = segments::at(&snapshot, &analysis, analysis.timeline.n_events());
    let small = pools(&map).into_iter().find(|pool| pool.key.is_small).expect("a small pool");
    assert_eq!(small.metrics.reserved, 56_623_104);
}

/// A segment that is returned before the file is written leaves no word about its pool.
#[test]
fn the_pool_of_a_segment_that_is_gone_is_not_known() {
    let (mut snapshot, _) = of("mlp_adam");
    let free = snapshot
        .segments
        .iter()
        .find(|segment| segment.blocks.iter().all(|block| block.state == vramlab_snapshot::BlockState::Inactive));
    let (address, size) = free.map(|segment| (segment.address, segment.size)).expect("one is wholly free");
    snapshot.segments.retain(|segment| segment.address != address);
    let last = *snapshot.traces[0].last().expect("events");
    snapshot.traces[0].push(Event { action: Action::SegmentFree, address, size, ..last });
    let analysis = Analysis::of(&snapshot, 0, &Options::default());
    let n = analysis.timeline.n_events();
    let unknown = |at: usize| {
        let map = segments::at(&snapshot, &analysis, at);
        pools(&map).iter().filter(|pool| pool.key.pool.is_none()).map(|pool| pool.metrics.reserved).sum::<u64>()
    };
    assert_eq!((unknown(n - 1), unknown(n)), (size, 0));
}

/// Rules of the reader come before what is guessed, the first that fits wins.
#[test]
fn rules_of_a_text_judge_the_blocks() {
    let (snapshot, mut analysis) = of("kv_cat");
    let text = "# what this loop keeps\n/train\\.py:7[0-9] / = activation\ntrain.py = gradient\n";
    analysis.apply_rules(&snapshot, &rules::parse(text).expect("these are rules"));
    let peak = analysis.timeline.peak();
    let of_role = |role: vramlab_snapshot::roles::Role| -> u64 {
        let lives = analysis.lives.iter().zip(&analysis.roles);
        lives.filter(|(life, is)| **is == role && life.is_allocated(peak)).map(|(life, _)| life.size).sum()
    };
    use vramlab_snapshot::roles::Role;
    assert!(of_role(Role::Activation) > 0 && of_role(Role::KvCache) == 0);
    let all = Role::ALL.into_iter().map(of_role).sum::<u64>();
    assert_eq!(all, 1_314_193_408);
}

/// Ranks of one job share their places; other programs are refused, with what differs in words.
#[test]
fn only_ranks_of_one_job_are_put_side_by_side() {
    let ranks = [of("rank0"), of("rank1")];
    let pairs = |all: &'static [&'static str]| all.iter().map(|name| of(name)).collect::<Vec<_>>();
    let found = |all: &[(Snapshot, Analysis)]| {
        let all: Vec<(&Snapshot, &Analysis)> = all.iter().map(|(snapshot, analysis)| (snapshot, analysis)).collect();
        vramlab_snapshot::kin::stranger(&all)
    };
    assert_eq!(found(&ranks), None);
    // One program under two settings: told elsewhere, not refused.
    assert_eq!(found(&pairs(&["kv_cat", "kv_cat_expandable", "kv_cat_round4"])), None);
    let other = found(&pairs(&["kv_cat", "kv_cat_expandable", "resnet50_b32"])).expect("another program");
    assert_eq!((other.first, other.second), (0, 2));
    let (zh, en) = (other.why.zh.unwrap_or_default(), other.why.en.unwrap_or_default());
    assert!(en.contains("in common") || en.contains("is common"), "{en}");
    assert!(zh.contains("train.py") && zh.contains("共同"), "{zh}");
    assert!(found(&pairs(&["mlp_adam", "kv_cat"])).is_some());
}
