//! One sitting of reviews: what is asked next, what comes again, how it went. No window and no clock.

use std::collections::VecDeque;
use vramlab_lesson::due::DueItem;
use vramlab_lesson::schedule::Grade;

/// One asking of one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    pub chapter: String,
    pub question: String,
    /// Which draw of its parameters.
    pub draw_n: u64,
    /// Asked again because it was wrong; it moves no schedule any more.
    pub is_again: bool,
}

/// How a question went at its first asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub chapter: String,
    pub question: String,
    pub is_right: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Session {
    queue: VecDeque<Turn>,
    /// First askings, done and to come.
    n_all: usize,
    outcomes: Vec<Outcome>,
    /// The question in front has been answered and waits for "next".
    is_answered: bool,
}

impl Session {
    /// `seen` says how often a question has been asked before: each time its parameters are drawn anew.
    pub fn start(items: &[DueItem], seen: impl Fn(&DueItem) -> u64) -> Self {
        let turn = |item: &DueItem| Turn {
            chapter: item.chapter.clone(),
            question: item.question.clone(),
            draw_n: seen(item),
            is_again: false,
        };
        Self { queue: items.iter().map(turn).collect(), n_all: items.len(), ..Self::default() }
    }

    pub fn current(&self) -> Option<&Turn> {
        self.queue.front()
    }

    pub fn is_answered(&self) -> bool {
        self.is_answered
    }

    /// The question in front was answered. A wrong one comes once more at the end, with other numbers.
    pub fn hear(&mut self, chapter: &str, question: &str, grade: Grade) {
        let is_mine = |turn: &&Turn| turn.chapter == chapter && turn.question == question;
        let Some(turn) = self.queue.front().filter(is_mine).filter(|_| !self.is_answered).cloned() else { return };
        self.is_answered = true;
        let is_right = grade != Grade::Again;
        if !turn.is_again {
            self.outcomes.push(Outcome { chapter: turn.chapter.clone(), question: turn.question.clone(), is_right });
        }
        if !is_right {
            self.queue.push_back(Turn { draw_n: turn.draw_n + 1, is_again: true, ..turn });
        }
    }

    /// On to the next question; skipping one that was not answered leaves it due.
    pub fn next(&mut self) {
        self.queue.pop_front();
        self.is_answered = false;
    }

    /// First askings that have been answered, and all of them.
    pub fn progress(&self) -> (usize, usize) {
        (self.outcomes.len(), self.n_all)
    }

    /// Turns to come, the one in front included.
    pub fn n_left(&self) -> usize {
        self.queue.len()
    }

    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(ids: &[&str]) -> Vec<DueItem> {
        let item = |id: &&str| DueItem { chapter: "02".to_owned(), question: (*id).to_owned(), is_new: false };
        ids.iter().map(item).collect()
    }

    fn asked(session: &Session) -> Option<(&str, u64, bool)> {
        session.current().map(|turn| (turn.question.as_str(), turn.draw_n, turn.is_again))
    }

    #[test]
    fn a_wrong_question_comes_again_at_the_end_with_other_numbers() {
        let mut session = Session::start(&items(&["a", "b"]), |item| if item.question == "a" { 4 } else { 0 });
        assert_eq!(asked(&session), Some(("a", 4, false)));
        session.hear("02", "a", Grade::Again);
        session.hear("02", "a", Grade::Good); // a second answer to the same asking changes nothing
        assert!(session.is_answered());
        session.next();
        assert_eq!(asked(&session), Some(("b", 0, false)));
        session.hear("02", "b", Grade::Good);
        session.next();
        assert_eq!((asked(&session), session.progress()), (Some(("a", 5, true)), (2, 2)));
        session.hear("02", "a", Grade::Hard);
        session.next();
        assert_eq!(session.current(), None);
        let right: Vec<bool> = session.outcomes().iter().map(|outcome| outcome.is_right).collect();
        assert_eq!(right, [false, true], "what counts is the first asking");
    }

    #[test]
    fn an_answer_to_another_question_is_not_taken() {
        let mut session = Session::start(&items(&["a"]), |_| 0);
        session.hear("02", "b", Grade::Good);
        session.hear("03", "a", Grade::Good);
        assert!(!session.is_answered() && session.outcomes().is_empty());
        session.next();
        assert_eq!((session.current(), session.progress()), (None, (0, 1)));
    }
}
