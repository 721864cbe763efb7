//! Every exercise: its solution is right and meets the goals, its starting point does not.

use std::collections::BTreeMap;
use std::path::Path;
use vramlab_gpu::exercise::Metric;
use vramlab_gpu::play::BUDGET;
use vramlab_gpu::read::Library;
use vramlab_simt::{Act, Key, Report, Site, Space};

fn library() -> Library {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels"));
    let mut files = BTreeMap::new();
    for folder in std::fs::read_dir(root).expect("kernels/") {
        let folder = folder.expect("a folder").path();
        for file in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let short = file.path().strip_prefix(root).expect("inside").to_string_lossy().replace('\\', "/");
            if short.ends_with(".toml") || short.ends_with(".cu") {
                files.insert(short, std::fs::read_to_string(file.path()).expect("text"));
            }
        }
    }
    Library::from_files(files.iter().map(|(path, text)| (path.as_str(), text.as_str())))
}

#[test]
fn solutions_meet_the_goals_and_starts_do_not() {
    let library = library();
    let problems: Vec<String> =
        library.problems.iter().filter(|problem| problem.file.contains("exercise")).map(ToString::to_string).collect();
    assert!(problems.is_empty(), "{problems:#?}");
    assert!(library.exercises.len() >= 12, "{}", library.exercises.len());
    for (slug, exercise) in &library.exercises {
        let (kernel, sources) = (&library.kernels[slug], library.sources(slug).expect("sources"));
        let solved = exercise.attempt(kernel, &sources[&exercise.solution], BUDGET);
        let solved = solved.unwrap_or_else(|error| panic!("{slug}: {error}"));
        let found: Vec<(Metric, f64)> = solved.goals.iter().map(|goal| (goal.goal.metric, goal.found)).collect();
        assert!(solved.is_solved(), "{slug}: {:?} {found:?}", solved.played);
        let started = exercise.attempt(kernel, &sources[&exercise.start], BUDGET);
        let started = started.unwrap_or_else(|error| panic!("{slug}, start: {error}"));
        let found: Vec<(Metric, f64)> = started.goals.iter().map(|goal| (goal.goal.metric, goal.found)).collect();
        assert!(!started.is_solved(), "{slug}: the start is solved, {found:?}");
        assert!(started.goals.iter().any(|goal| !goal.is_met), "{slug}: every goal is met, {found:?}");
        assert!(!exercise.hints.is_empty(), "{slug} has no hint");
    }
}

/// The counters that a device which keeps to the addresses would show.
fn counters(reports: &[Report]) -> BTreeMap<String, f64> {
    let names = [
        ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", Space::Global, Act::Load, true),
        ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", Space::Global, Act::Load, false),
        ("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", Space::Global, Act::Store, true),
        ("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", Space::Global, Act::Store, false),
        ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", Space::Shared, Act::Load, false),
        ("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", Space::Shared, Act::Store, false),
    ];
    let sum = |(name, space, act, is_requests): (&str, Space, Act, bool)| {
        let sites = reports.iter().map(|report| report.sum(space, act));
        let counted: u64 = sites.map(|site| if is_requests { site.requests } else { site.moved }).sum();
        (name.to_owned(), counted as f64)
    };
    names.into_iter().map(sum).collect()
}

#[test]
fn counters_judge_as_the_addresses_do() {
    let library = library();
    let mut n = 0;
    for (slug, exercise) in &library.exercises {
        let (kernel, sources) = (&library.kernels[slug], library.sources(slug).expect("sources"));
        for name in [&exercise.start, &exercise.solution] {
            let tried = exercise.attempt(kernel, &sources[name], BUDGET).expect("it is played");
            let counted = exercise.by_counters(&counters(&tried.played.reports), Some(&tried.played.reports));
            assert_eq!(counted.len(), tried.goals.len());
            for (judged, counted) in tried.goals.iter().zip(&counted) {
                let Some(counted) = counted else { continue };
                assert_eq!((counted.found, counted.is_met), (judged.found, judged.is_met), "{slug}/{name}");
                n += 1;
            }
        }
    }
    assert!(n >= 20, "{n} goals have counters");
}

/// 32 lanes that read words 32 B apart: 32 sectors a request where 4 would do. 2 % of wavefronts more than the fewest are the
/// counter's, not the kernel's.
#[test]
fn a_goal_by_counters_by_hand() {
    let counter = |name: &str, value: f64| (name.to_owned(), value);
    let loads = BTreeMap::from([
        counter("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 100.0),
        counter("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 3200.0),
    ]);
    assert_eq!(Metric::SectorsPerLoad.counted(&loads, None), Some(32.0));
    assert_eq!(Metric::WastedLoadSectors.counted(&loads, None), None, "the fewest are known by addresses only");
    assert_eq!(Metric::Races.counted(&loads, None), None);
    let site = Site { requests: 100, moved: 100, least: 100, useful_bytes: 12_800 };
    let mut report = Report::default();
    report.sites.insert(Key { at: Default::default(), space: Space::Shared, act: Act::Load, width: 4 }, site);
    let reports = [report];
    let excess = |loads: f64| {
        let counters = BTreeMap::from([
            counter("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", loads),
            counter("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", 0.0),
        ]);
        Metric::ExcessWavefronts.counted(&counters, Some(&reports))
    };
    assert_eq!((excess(101.0), excess(3200.0)), (Some(0.0), Some(3100.0)));
}
