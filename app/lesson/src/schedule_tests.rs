//! The schedule against the published formulas of FSRS-5, and what must hold whatever the clock does.

use super::*;
use crate::progress::merge;

const TODAY: Day = Day(20_787);

#[test]
fn days_are_counted_from_1970() {
    assert_eq!(Day::parse("1970-01-01"), Some(Day(0)));
    assert_eq!(Day::parse("2000-03-01"), Some(Day(11_017))); // 30 years of 365 days, 7 leap days, 31 + 29 days
    assert_eq!(Day::parse("2026-11-30"), Some(TODAY));
    for text in ["tomorrow", "2026-02-30", "2026-11", "2026-11-30-1", "", "99999999-1-1"] {
        assert_eq!(Day::parse(text), None, "{text}");
    }
}

#[test]
fn the_weights_are_those_of_the_crate() {
    assert_eq!(WEIGHTS, Parameters::default().w);
}

/// First answers: the stability is the weight of the grade, and the interval at nine in ten is the stability in whole
/// days, at least one more than that of the grade below.
#[test]
fn a_first_answer_comes_back_after_its_weight_in_days() {
    let days = |grade| Schedule::after(None, grade, TODAY).due_day.0 - TODAY.0;
    assert_eq!([Grade::Again, Grade::Hard, Grade::Good, Grade::Easy].map(days), [1, 2, 3, 15]);
    let good = Schedule::after(None, Grade::Good, TODAY);
    assert_eq!(good.stability, 3.1262);
    // w4 − exp(w5 · 2) + 1 = 7.2102 − exp(1.0632) + 1
    assert!((good.difficulty - (8.2102 - 1.0632_f64.exp())).abs() < 1e-12);
}

/// By hand, from the formulas: S' = S · (1 + e^w8 · (11 − D) · S^−w9 · (e^(w10 · (1 − R)) − 1)), R = (1 + 19/81 · t/S)^−½.
#[test]
fn a_second_answer_follows_the_published_formula() {
    let first = Schedule::after(None, Grade::Good, TODAY);
    let second = Schedule::after(Some(&first), Grade::Good, first.due_day);
    let (s, d) = (first.stability, first.difficulty);
    let recall = (1.0 + 19.0 / 81.0 * 3.0 / s).powf(-0.5);
    let grown = 1.616_f64.exp() * (11.0 - d) * s.powf(-0.1544) * ((1.0824 * (1.0 - recall)).exp() - 1.0);
    assert!((second.stability - s * (1.0 + grown)).abs() < 1e-9, "{second:?}");
    assert_eq!(second.due_day.0 - second.last_day.0, (s * (1.0 + grown)).round() as i64);
    assert_eq!((second.n_reps, second.n_lapses), (2, 0));
}

#[test]
fn a_wrong_answer_comes_back_tomorrow_and_counts_as_a_lapse() {
    let mut known = Schedule::after(None, Grade::Easy, TODAY);
    known = Schedule::after(Some(&known), Grade::Good, known.due_day);
    let lost = Schedule::after(Some(&known), Grade::Again, known.due_day);
    assert_eq!(lost.n_lapses, 1);
    assert!(lost.stability < known.stability && lost.due_day.0 - lost.last_day.0 < 10);
    assert!(lost.due_day > lost.last_day);
}

#[test]
fn the_grade_is_what_the_answer_took() {
    let grade = |is_right, n_hints, secs, is_guessable| Grade::of(is_right, Effort { n_hints, secs, is_guessable });
    assert_eq!(grade(false, 0, 1.0, false), Grade::Again);
    assert_eq!(grade(true, 1, 20.0, false), Grade::Hard);
    assert_eq!(grade(true, 0, 200.0, false), Grade::Hard);
    assert_eq!(grade(true, 0, 5.0, false), Grade::Easy);
    assert_eq!(grade(true, 0, 5.0, true), Grade::Good, "an option can be hit by luck");
    assert_eq!(grade(true, 0, 40.0, false), Grade::Good);
}

/// P6: the clock jumps.
#[test]
fn p6_a_clock_that_jumps_neither_loses_a_question_nor_breaks_a_number() {
    let known = Schedule::after(None, Grade::Good, TODAY);
    let back = Schedule::after(Some(&known), Grade::Good, Day(TODAY.0 - 400));
    assert!(back.last_day == TODAY && back.due_day > TODAY && back.stability.is_finite());
    let far = Schedule::after(Some(&known), Grade::Good, Day(TODAY.0 + 40_000));
    assert!(far.is_due(TODAY), "answered under a clock of the next century: asked again");
    assert!(!known.is_due(TODAY) && known.is_due(Day(TODAY.0 + 3)));
    let flown = Schedule::after(None, Grade::Good, Day(TODAY.0 + 1));
    assert!(!flown.is_due(TODAY), "a day ahead is a time zone");
    for day in [i64::MIN, i64::MAX, 0] {
        let odd = Schedule::after(Some(&known), Grade::Easy, Day(day.clamp(-1 << 40, 1 << 40)));
        assert!(odd.stability.is_finite() && odd.due_day > odd.last_day, "{odd:?}");
    }
}

#[test]
fn practice_on_the_same_day_counts_but_moves_nothing() {
    let mut progress = Progress::default();
    progress.answer_review("02", "r", Grade::Again, TODAY);
    let first = progress.schedule("02", "r").unwrap();
    assert_eq!(first.due_day, Day(TODAY.0 + 1));
    progress.answer_review("02", "r", Grade::Easy, TODAY);
    assert_eq!(progress.schedule("02", "r").unwrap(), first);
    let review = &progress.chapters["02"].reviews["r"];
    assert_eq!((review.n_seen, review.n_right), (2, 1));
}

/// Files of before the schedule hold an empty one; fields of a later version stay.
#[test]
fn old_and_new_files_are_read() {
    let text = br#"{"vramlab_progress": 1, "counter": 3, "chapters": {"02": {"reviews": {
        "old": {"at": 2, "n_seen": 4, "n_right": 3, "schedule": {}},
        "odd": {"at": 2, "schedule": {"due_day": 5, "last_day": 2, "stability": -1.0, "difficulty": 5.0}},
        "new": {"at": 3, "n_seen": 1, "schedule": {"due_day": 20788, "last_day": 20787, "stability": 0.4072,
            "difficulty": 7.2102, "moods": ["calm"]}}}}}}"#;
    let mut progress = Progress::from_bytes(text).unwrap();
    assert_eq!(progress.schedule("02", "old"), None);
    assert_eq!(progress.schedule("02", "odd"), None);
    progress.answer_review("02", "old", Grade::Good, TODAY);
    progress.answer_review("02", "odd", Grade::Good, TODAY);
    progress.answer_review("02", "new", Grade::Good, Day(TODAY.0 + 1));
    assert_eq!(progress.chapters["02"].reviews["old"].n_seen, 5);
    let again = Progress::from_bytes(&progress.to_bytes()).unwrap();
    assert_eq!(again, progress);
    assert_eq!(again.schedule("02", "old").unwrap().due_day, Day(TODAY.0 + 3));
    assert!(again.schedule("02", "new").unwrap().rest.contains_key("moods"));
}

/// P5: two windows review different questions, and the same one.
#[test]
fn p5_two_windows_keep_both_reviews() {
    let mut one = Progress::default();
    one.answer_review("02", "a", Grade::Good, TODAY);
    let mut two = one.clone();
    one.answer_review("02", "b", Grade::Good, TODAY);
    two.answer_review("02", "c", Grade::Again, TODAY);
    let both = merge(one, two);
    let due = |id: &str| both.schedule("02", id).unwrap().due_day.0 - TODAY.0;
    assert_eq!((due("a"), due("b"), due("c")), (3, 3, 1));
}
