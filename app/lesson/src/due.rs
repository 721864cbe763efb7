//! Which review questions are due today, over all chapters. Pure: the day is given.

use crate::chapter::Chapter;
use crate::progress::Progress;
use crate::schedule::Day;

/// New questions a day, so that a finished chapter does not pour its whole deck into one evening.
pub const NEW_A_DAY: usize = 6;

/// A question that should be asked today.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueItem {
    pub chapter: String,
    pub question: String,
    /// Never asked before: its chapter has been read far enough.
    pub is_new: bool,
}

/// What to ask today: what is due, the longest overdue first, then new questions.
///
/// A question is new once at least half of its chapter's steps are done. One that has been answered without a schedule,
/// in a file of before there were schedules, is due.
pub fn due<'a>(progress: &Progress, chapters: impl IntoIterator<Item = &'a Chapter>, today: Day) -> Vec<DueItem> {
    let mut scheduled: Vec<(Day, DueItem)> = Vec::new();
    let mut fresh = Vec::new();
    let mut n_new_today = 0;
    for chapter in chapters {
        let is_read = is_half_done(progress, chapter);
        let reviews = progress.chapters.get(&chapter.id).map(|entry| &entry.reviews);
        for question in &chapter.reviews {
            let item = |is_new| DueItem { chapter: chapter.id.clone(), question: question.id.clone(), is_new };
            match progress.schedule(&chapter.id, &question.id) {
                Some(schedule) => {
                    n_new_today += usize::from(schedule.n_reps == 1 && schedule.last_day == today);
                    if schedule.is_due(today) {
                        scheduled.push((schedule.due_day.min(today), item(false)));
                    }
                }
                None if reviews.is_some_and(|reviews| reviews.get(&question.id).is_some_and(|it| it.n_seen > 0)) => {
                    scheduled.push((today, item(false)));
                }
                None if is_read => fresh.push(item(true)),
                None => {}
            }
        }
    }
    scheduled.sort_by_key(|(day, _)| *day); // stable: chapters keep their order within a day
    let room = NEW_A_DAY.saturating_sub(n_new_today);
    scheduled.into_iter().map(|(_, item)| item).chain(fresh.into_iter().take(room)).collect()
}

/// The day on which the next question comes back, if none is due today.
pub fn next_day<'a>(progress: &Progress, chapters: impl IntoIterator<Item = &'a Chapter>, today: Day) -> Option<Day> {
    let of = |chapter: &'a Chapter| {
        chapter.reviews.iter().filter_map(|question| progress.schedule(&chapter.id, &question.id)).map(|it| it.due_day)
    };
    chapters.into_iter().flat_map(of).filter(|day| *day > today).min()
}

fn is_half_done(progress: &Progress, chapter: &Chapter) -> bool {
    let n_done = chapter.steps.iter().filter(|step| progress.is_done(&chapter.id, &step.id)).count();
    n_done > 0 && 2 * n_done >= chapter.steps.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Grade;

    const TODAY: Day = Day(20_787);

    fn tomorrow(n: i64) -> Day {
        Day(TODAY.0 + n)
    }

    /// Two steps, and review questions of these ids.
    fn chapter(id: &str, reviews: &[&str]) -> Chapter {
        let step = |step: &str| format!("[[step]]\nid = \"{step}\"\nkind = \"prose\"\ntitle = \"S\"\ntext = \"T\"\n");
        let review =
            |id: &&str| format!("[[review]]\nid = \"{id}\"\nask = \"A\"\nitems = [\"x\", \"y\"]\nexplain = \"E\"\n");
        let text = format!(
            "schema = 1\nlang = \"en\"\ntitle = \"C\"\n{}{}{}",
            step("s1"),
            step("s2"),
            reviews.iter().map(review).collect::<String>()
        );
        let parsed = crate::parse(id, "chapter.toml", text.as_bytes());
        assert_eq!(parsed.problems, []);
        parsed.chapter.unwrap()
    }

    fn names(items: &[DueItem]) -> Vec<String> {
        items
            .iter()
            .map(|item| format!("{}/{}{}", item.chapter, item.question, if item.is_new { "*" } else { "" }))
            .collect()
    }

    #[test]
    fn nothing_is_due_before_a_chapter_is_half_read() {
        let chapters = [chapter("01", &["a", "b"]), chapter("02", &["c"])];
        let mut progress = Progress::default();
        assert!(due(&progress, &chapters, TODAY).is_empty());
        progress.set_done("02", "s1");
        assert_eq!(names(&due(&progress, &chapters, TODAY)), ["02/c*"]);
    }

    #[test]
    fn due_tomorrow_is_due_tomorrow_and_the_oldest_comes_first() {
        let chapters = [chapter("01", &["a", "b"]), chapter("02", &["c", "d"])];
        let mut progress = Progress::default();
        progress.answer_review("01", "a", Grade::Good, TODAY); // in 3 days
        progress.answer_review("02", "c", Grade::Again, TODAY); // tomorrow
        assert!(due(&progress, &chapters, TODAY).is_empty());
        assert_eq!(next_day(&progress, &chapters, TODAY), Some(tomorrow(1)));
        assert_eq!(names(&due(&progress, &chapters, tomorrow(1))), ["02/c"]);
        assert_eq!(names(&due(&progress, &chapters, tomorrow(3))), ["02/c", "01/a"]);
    }

    #[test]
    fn new_questions_are_rationed_by_the_day() {
        let many: Vec<String> = (0..9).map(|n| format!("q{n}")).collect();
        let chapters = [chapter("01", &many.iter().map(String::as_str).collect::<Vec<_>>())];
        let mut progress = Progress::default();
        progress.set_done("01", "s1");
        assert_eq!(due(&progress, &chapters, TODAY).len(), NEW_A_DAY);
        progress.answer_review("01", "q0", Grade::Good, TODAY);
        progress.answer_review("01", "q1", Grade::Good, TODAY);
        assert_eq!(names(&due(&progress, &chapters, TODAY)), ["01/q2*", "01/q3*", "01/q4*", "01/q5*"]);
        assert_eq!(due(&progress, &chapters, tomorrow(1)).len(), NEW_A_DAY);
    }

    /// P7: a question that the chapter no longer has stays in the file and is not asked.
    #[test]
    fn p7_questions_that_are_gone_are_not_due_and_not_lost() {
        let mut progress = Progress::default();
        progress.answer_review("01", "gone", Grade::Again, TODAY);
        progress.review("01", "old", true, vramlab_units::Map::new());
        let chapters = [chapter("01", &["old"])];
        assert_eq!(names(&due(&progress, &chapters, tomorrow(9))), ["01/old"]);
        assert!(progress.schedule("01", "gone").is_some());
    }
}
