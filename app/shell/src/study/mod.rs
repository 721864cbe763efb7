//! What reaches over chapters: the reviews that are due, and how the reader's numbers compare with the truth.
//!
//! `session.rs` is the life of one sitting, without a window; `page.rs` shows it at `/review`; `due_card.rs` and
//! `calibration_card.rs` are cards for the start page. The schedule is `vramlab_lesson::schedule`, what is due
//! `vramlab_lesson::due`; both are asked with the platform's date and no other clock.

mod calibration_card;
mod due_card;
mod page;
mod session;

pub use calibration_card::calibration_ui;
pub use due_card::due_ui;
pub use page::ui;
pub use session::{Session, Turn};

use crate::app::App;
use std::cell::RefCell;
use std::rc::Rc;
use vramlab_lesson::Registry as _;
use vramlab_lesson::calibration::Calibration;
use vramlab_lesson::due::DueItem;
use vramlab_lesson::schedule::Day;
use vramlab_units::{Lang, Text};

/// What is due today, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// Questions whose day has come.
    pub n_due: usize,
    /// Questions that were never asked.
    pub n_new: usize,
    /// Both, by chapter id, in the order of the chapters.
    pub by_chapter: Vec<(String, usize)>,
    /// When the next one comes, if none is due.
    pub next: Option<Day>,
    pub items: Vec<DueItem>,
}

impl Due {
    pub fn n_all(&self) -> usize {
        self.n_due + self.n_new
    }
}

/// State of this module, in memory.
#[derive(Default)]
pub struct Study {
    pub(crate) session: Option<Session>,
    known: RefCell<Known>,
}

/// What was computed from a state of the progress, so that a frame computes nothing anew.
#[derive(Default)]
struct Known {
    due: Option<(Key, Rc<Due>)>,
    calibration: Option<(Key, Rc<Calibration>)>,
}

/// The progress, the day and the chapters that a result was made from.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    counter: u64,
    today: Day,
    n_chapters: usize,
}

impl App {
    /// The reader's date, from the platform.
    pub(crate) fn today(&self) -> Day {
        Day::parse(&self.platform.today()).unwrap_or(Day((self.platform.unix_secs() / 86_400) as i64))
    }

    fn study_key(&self) -> Key {
        Key { counter: self.progress.counter, today: self.today(), n_chapters: self.library.chapters().count() }
    }
}

/// What is due today over all chapters.
pub fn due(app: &App) -> Rc<Due> {
    let key = app.study_key();
    let mut known = app.study.known.borrow_mut();
    if let Some((_, due)) = known.due.as_ref().filter(|(of, _)| *of == key) {
        return Rc::clone(due);
    }
    let items = vramlab_lesson::due::due(&app.progress, app.library.chapters(), key.today);
    let mut by_chapter: Vec<(String, usize)> = Vec::new();
    for chapter in app.library.chapters() {
        let n = items.iter().filter(|item| item.chapter == chapter.id).count();
        if n > 0 {
            by_chapter.push((chapter.id.clone(), n));
        }
    }
    let n_new = items.iter().filter(|item| item.is_new).count();
    let next = vramlab_lesson::due::next_day(&app.progress, app.library.chapters(), key.today);
    let due = Rc::new(Due { n_due: items.len() - n_new, n_new, by_chapter, next, items });
    known.due = Some((key, Rc::clone(&due)));
    due
}

/// The reader's numbers against the models' of today.
pub fn calibration(app: &App) -> Rc<Calibration> {
    let key = app.study_key();
    let mut known = app.study.known.borrow_mut();
    if let Some((_, calibration)) = known.calibration.as_ref().filter(|(of, _)| *of == key) {
        return Rc::clone(calibration);
    }
    let library = &app.library;
    let calibration = Calibration::of(&app.progress, library.chapters(), &|id, set| library.eval(id, set));
    let calibration = Rc::new(calibration);
    known.calibration = Some((key, Rc::clone(&calibration)));
    calibration
}

const TODAY: Text = Text::new("今天", "today");
const TOMORROW: Text = Text::new("明天", "tomorrow");
const IN_DAYS: Text = Text::new("{n} 天后", "in {n} days");

/// When a day comes, seen from today.
pub fn when(day: Day, today: Day, lang: Lang) -> String {
    match day.0 - today.0 {
        n if n <= 0 => TODAY.get(lang).to_owned(),
        1 => TOMORROW.get(lang).to_owned(),
        n => IN_DAYS.get(lang).replace("{n}", &n.to_string()),
    }
}

/// `02 · Access patterns`.
pub(crate) fn chapter_name(app: &App, id: &str, lang: Lang) -> String {
    match app.library.chapter(id) {
        Some(chapter) => {
            let number = chapter.number.map(|n| format!("{n:02} · ")).unwrap_or_default();
            format!("{number}{}", chapter.title.get(lang))
        }
        None => id.to_owned(),
    }
}
