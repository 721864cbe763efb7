//! Every exercise opens, fails its goals as it stands, and is solved by its solution.

use super::*;
use std::path::Path;

pub(super) fn opened(slug: &str) -> Playground {
    let mut view = Playground::of(slug);
    while let Some(path) = view.wants() {
        let file = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path);
        view.take(Ok(&std::fs::read(file).unwrap()));
    }
    view
}

fn is_solved(desk: &Desk) -> bool {
    matches!(&desk.outcome, Some(Ok(tried)) if tried.is_solved())
}

#[test]
fn a_check_tells_what_is_wrong_and_what_is_right() {
    for slug in EXERCISES {
        let view = opened(slug);
        let desk = view.desk().unwrap_or_else(|| panic!("{slug}: {}", view.finding(Lang::En)));
        let desk = &mut *desk.borrow_mut();
        desk.check();
        assert!(!is_solved(desk) && !desk.is_changed(), "{slug}");
        desk.toggle_solution();
        assert!(desk.outcome.is_none() && desk.shows_solution());
        desk.check();
        assert!(is_solved(desk), "{slug}: {}", words::finding(desk, Lang::En));
        assert!(desk.marks().values().all(|mark| *mark != desk::Mark::Fault), "{slug}");
        desk.toggle_solution();
        assert!(!desk.is_changed(), "{slug}: the reader's own text is back");
    }
}

#[test]
fn a_fault_marks_its_line_and_a_change_makes_it_stale() {
    let view = opened("exercise_coalesce");
    let desk = &mut *view.desk().unwrap().borrow_mut();
    desk.source = "extern \"C\" __global__ void copy_words(const unsigned* input, unsigned* out, unsigned n) {\n    out[n] = 1;\n}\n".to_owned();
    desk.check();
    assert_eq!(desk.marks().get(&2), Some(&desk::Mark::Fault));
    assert!(words::finding(desk, Lang::Zh).starts_with("第 2 行"), "{}", words::finding(desk, Lang::Zh));
    desk.source.push(' ');
    assert!(desk.is_stale() && desk.marks().is_empty());
    desk.source =
        "extern \"C\" __global__ void copy_words(const unsigned* i, unsigned* out, unsigned n) { while (true) {} }"
            .to_owned();
    desk.check();
    assert!(words::finding(desk, Lang::En).contains("endless"));
    desk.reset();
    assert!(!desk.is_changed() && desk.outcome.is_none());
}

/// Every kernel of the course with a CUDA source opens; what the processor does not play it names with its line, and the source stands
/// there all the same.
#[test]
fn every_kernel_opens_and_is_played_or_says_what_is_not() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels"));
    let mut slugs: Vec<String> = std::fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|slug| {
            std::fs::read_to_string(root.join(slug).join("kernel.toml")).is_ok_and(|text| text.contains("[cuda]"))
        })
        .collect();
    slugs.sort();
    assert!(slugs.len() > 40, "{}", slugs.len());
    let (mut n_played, mut n_large) = (0, 0);
    for slug in &slugs {
        let view = opened(slug);
        let desk = &mut *view.desk().unwrap_or_else(|| panic!("{slug}: {}", view.finding(Lang::En))).borrow_mut();
        assert!(desk.source.contains("__global__"), "{slug}");
        desk.check();
        match desk.outcome.as_ref().unwrap() {
            Ok(tried) => {
                n_played += 1;
                let is_meant_to = EXERCISES.contains(&slug.as_str());
                assert!(is_meant_to || tried.is_right(), "{slug}: {}", words::finding(desk, Lang::En));
            }
            Err(vramlab_gpu::play::PlayError::Source(fault)) => {
                assert!(fault.at.line >= 1, "{slug}: {fault}");
                assert!(words::finding(desk, Lang::En).starts_with("Line "), "{slug}: {fault}");
            }
            Err(vramlab_gpu::play::PlayError::TooLarge) => n_large += 1,
            Err(error) => panic!("{slug}: {error}"),
        }
    }
    assert!(n_played > 28 && n_large < 6, "{n_played} of {} are played, {n_large} too large", slugs.len());
}

/// What a routine on the host launches can be read, and says why it cannot be changed; some have no code at all.
#[test]
fn kernels_of_the_host_are_read_only() {
    let with_code = opened("capstone");
    let desk = &mut *with_code.desk().unwrap().borrow_mut();
    assert!(desk.source.contains("__global__") && desk.host().is_some());
    assert!(
        words::finding(desk, Lang::En).starts_with("Read only") && words::finding(desk, Lang::Zh).contains("只能看")
    );
    desk.resume(&desk::Draft { text: Some("// mine".to_owned()), ..Default::default() });
    assert!(!desk.is_changed(), "no text of the reader takes its place");
    let without = opened("oom_real");
    let desk = without.desk().unwrap().borrow();
    assert!(desk.source.is_empty() && words::finding(&desk, Lang::En).starts_with("No code"));
}

/// Nothing that was typed is lost by a reset, a solution, or both in a row.
#[test]
fn replaced_texts_come_back() {
    let view = opened("exercise_coalesce");
    let desk = &mut *view.desk().unwrap().borrow_mut();
    let type_text = |desk: &mut Desk, text: &str| {
        desk.source = text.to_owned();
        desk.typed();
    };
    type_text(desk, "first");
    desk.toggle_solution();
    desk.reset();
    assert!(!desk.is_changed());
    desk.take_back();
    assert_eq!(desk.source, "first", "a reset while the solution is shown keeps the reader's own text");
    type_text(desk, "second");
    desk.reset();
    type_text(desk, "third");
    desk.reset();
    let draft = desk.draft();
    assert_eq!((draft.text.as_deref(), &draft.shelf[..]), (None, &["second".to_owned(), "third".to_owned()][..]));
    desk.take_back();
    desk.take_back();
    desk.take_back();
    assert_eq!(desk.source, "third", "one comes after the other, round and round");
    let again = opened("exercise_coalesce");
    let again = &mut *again.desk().unwrap().borrow_mut();
    again.resume(&desk.draft());
    assert_eq!((&again.source, again.draft()), (&desk.source, desk.draft()));
}
