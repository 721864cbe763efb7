//! When a review question comes back: FSRS, on whole days.
//!
//! The scheduler is `rs-fsrs`, by the group that publishes the algorithm: 1,400 lines that do nothing but schedule, and
//! `chrono` for days. Its larger sibling `fsrs` is released more often, but it is a trainer: `rayon`, `ndarray` and
//! `rand`, whose source of randomness does not build for the browser, for three functions of ours.
//!
//! No clock here: the caller says which day it is where the reader lives. A day is enough, because nothing comes back
//! on the day it was answered, and it makes a review due "tomorrow" and not "in 24 hours".

use crate::progress::Progress;
use chrono::{DateTime, NaiveDate};
use rs_fsrs::{Card, FSRS, Parameters, Rating, Seed, State};
use serde::{Deserialize, Serialize};
use vramlab_units::{Map, Value};

/// A date as days since 1970-01-01.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Day(pub i64);

impl Day {
    /// `2026-11-30`; nothing if it is no date.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let (year, month, day) =
            (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let date = NaiveDate::from_ymd_opt(year, month, day).filter(|_| parts.next().is_none())?;
        Some(Self(date.signed_duration_since(NaiveDate::default()).num_days()))
    }

    /// The last day that is taken for a date, some 5,000 years on: a wrong clock must not overflow a calendar.
    const LAST: Self = Self(2_000_000);

    fn time(self) -> DateTime<chrono::Utc> {
        DateTime::from_timestamp(self.0.clamp(0, Self::LAST.0) * 86_400, 0).unwrap_or_default()
    }
}

/// How an answer went: from right or wrong, and what it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grade {
    Again,
    Hard,
    Good,
    Easy,
}

/// What an answer took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effort {
    /// Hints opened before the answer.
    pub n_hints: usize,
    /// From the question on screen to the answer.
    pub secs: f64,
    /// A form that can be hit by luck: options to choose from.
    pub is_guessable: bool,
}

/// Slower than this is recalled with effort.
pub const SLOW_SECS: f64 = 120.0;
/// A number or an order found faster than this was known.
pub const QUICK_SECS: f64 = 15.0;

impl Grade {
    pub fn of(is_right: bool, effort: Effort) -> Self {
        match is_right {
            false => Self::Again,
            true if effort.n_hints > 0 || effort.secs > SLOW_SECS => Self::Hard,
            true if !effort.is_guessable && effort.secs < QUICK_SECS => Self::Easy,
            true => Self::Good,
        }
    }

    fn rating(self) -> Rating {
        match self {
            Self::Again => Rating::Again,
            Self::Hard => Rating::Hard,
            Self::Good => Rating::Good,
            Self::Easy => Rating::Easy,
        }
    }
}

/// What is kept of a question's schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    pub due_day: Day,
    pub last_day: Day,
    /// Days until the chance of recall has fallen to nine in ten.
    pub stability: f64,
    /// 1 to 10.
    pub difficulty: f64,
    #[serde(default)]
    pub n_reps: u32,
    #[serde(default)]
    pub n_lapses: u32,
    #[serde(flatten)]
    pub rest: Map,
}

/// Longest pause: a course is not remembered for a career.
const MOST_DAYS: i32 = 365;

/// The published weights of FSRS-5, as `rs-fsrs` has them; written out because its own default asks the clock.
const WEIGHTS: [f64; 19] = [
    0.4072, 1.1829, 3.1262, 15.4722, 7.2102, 0.5316, 1.0651, 0.0234, 1.616, 0.1544, 1.0824, 1.9813, 0.0953, 0.2975,
    2.2042, 0.2407, 2.9466, 0.5034, 0.6567,
];

fn scheduler() -> FSRS {
    FSRS::new(Parameters {
        request_retention: 0.9,
        maximum_interval: MOST_DAYS,
        w: WEIGHTS,
        decay: Parameters::DECAY,
        factor: Parameters::FACTOR,
        enable_short_term: false, // whole days only
        enable_fuzz: false,       // the same answers give the same days
        seed: Seed::Empty,
    })
}

impl Schedule {
    /// The schedule as it is kept with the progress; nothing if there is none, or none that can be used.
    pub fn from_map(map: &Map) -> Option<Self> {
        let this: Self = serde_json::from_value(Value::Object(map.clone())).ok()?;
        let is_memory = this.stability.is_finite() && this.stability > 0.0 && (1.0..=10.0).contains(&this.difficulty);
        let is_dated = (Day(0)..=Day::LAST).contains(&this.last_day) && this.due_day >= this.last_day;
        (is_memory && is_dated).then_some(this)
    }

    pub fn to_map(&self) -> Map {
        match serde_json::to_value(self) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        }
    }

    /// The schedule after an answer today. `was` is `None` for the first one.
    pub fn after(was: Option<&Self>, grade: Grade, today: Day) -> Self {
        // A clock that has jumped back must not make time run backwards.
        let today = was.map_or(today, |was| today.max(was.last_day)).clamp(Day(0), Day::LAST);
        let card = was.map_or_else(Card::default, |was| Card {
            due: was.due_day.time(),
            stability: was.stability,
            difficulty: was.difficulty,
            elapsed_days: 0,
            scheduled_days: (was.due_day.0 - was.last_day.0).max(0),
            reps: was.n_reps.min(i32::MAX as u32) as i32,
            lapses: was.n_lapses.min(i32::MAX as u32) as i32,
            state: State::Review,
            last_review: was.last_day.time(),
        });
        let next = scheduler().next(card, today.time(), grade.rating()).card;
        Self {
            due_day: Day(today.0 + next.scheduled_days.max(1)),
            last_day: today,
            stability: next.stability,
            difficulty: next.difficulty,
            n_reps: next.reps.max(0) as u32,
            n_lapses: next.lapses.max(0) as u32,
            rest: was.map(|was| was.rest.clone()).unwrap_or_default(),
        }
    }

    /// Due today or earlier. An answer that lies in the future was given under a wrong clock: then the question comes
    /// rather too early than never. One day is left to those who fly.
    pub fn is_due(&self, today: Day) -> bool {
        self.due_day <= today || self.last_day.0 > today.0 + 1
    }
}

impl Progress {
    /// The schedule of a review question, if it has one.
    pub fn schedule(&self, chapter: &str, question: &str) -> Option<Schedule> {
        Schedule::from_map(&self.chapters.get(chapter)?.reviews.get(question)?.schedule)
    }

    /// Keeps an answer to a review question. The first answer of a day moves its schedule; practice on the same day
    /// only counts.
    pub fn answer_review(&mut self, chapter: &str, question: &str, grade: Grade, today: Day) {
        let schedule = match self.schedule(chapter, question) {
            Some(was) if was.last_day == today => was,
            was => Schedule::after(was.as_ref(), grade, today),
        };
        self.review(chapter, question, grade != Grade::Again, schedule.to_map());
    }
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod tests;
