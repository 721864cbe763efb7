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
