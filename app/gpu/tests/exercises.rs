//! Every exercise: its solution is right and meets the goals, its starting point does not.

use std::collections::BTreeMap;
use std::path::Path;
use vramlab_gpu::exercise::Metric;
use vramlab_gpu::play::BUDGET;
use vramlab_gpu::read::Library;

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
