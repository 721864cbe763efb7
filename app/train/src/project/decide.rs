//! The choice under a budget, and where a saving came from.

use super::file::{Entry, Outcome, Project, Run};
use super::rules::judge;
use crate::arena::Owner;
use serde::{Deserialize, Serialize};

/// A decision, with what it was made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    pub budget_bytes: u64,
    pub date: String,
    /// The strategy, as it is written; nothing if none fits.
    pub chosen: Option<String>,
    /// How much the smallest is over the budget, if none fits.
    pub short_bytes: Option<u64>,
    /// Those that no other beats in both time and peak.
    pub pareto: Vec<String>,
    pub rejected: Vec<Rejected>,
}

/// Why a run was not chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rejected {
    pub strategy: String,
    /// `quality`, `out_of_memory`, `over_budget`, `slower` or `larger`.
    pub why: String,
}

/// Low, median and high of samples; nothing for too few.
pub type Interval<'a> = &'a dyn Fn(&[f64]) -> Option<[f64; 3]>;

/// An entry that ran and kept the quality, with the time of a step over the baseline's.
struct Choice<'a> {
    entry: &'a Entry,
    run: &'a Run,
    time: f64,
}

impl Choice<'_> {
    /// Whether nothing shows that this one takes longer: within the noise, or the intervals of both ratios overlap.
    fn is_as_fast(&self, fastest: &Self, noise: f64, interval: Interval<'_>) -> bool {
        let overlaps = || {
            let (own, other) = (interval(&ratios(self.run))?, interval(&ratios(fastest.run))?);
            Some(own[0] <= other[2])
        };
        self.time <= fastest.time * (1.0 + noise) || overlaps() == Some(true)
    }
}

/// The median of numbers; nothing for none.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    match n {
        0 => None,
        n if n % 2 == 1 => Some(sorted[n / 2]),
        n => Some(f64::midpoint(sorted[n / 2 - 1], sorted[n / 2])),
    }
}

/// Each step over the baseline's beside it: what the clock and the neighbours do falls on both.
pub fn ratios(run: &Run) -> Vec<f64> {
    run.samples_ns.iter().zip(&run.base_ns).map(|(own, base)| own / base).collect()
}

/// Time of a step over the baseline's.
pub fn time_ratio(run: &Run) -> f64 {
    median(&ratios(run)).unwrap_or(1.0)
}

fn options(project: &Project) -> (Vec<Choice<'_>>, Vec<Rejected>) {
    let (mut options, mut rejected) = (Vec::new(), Vec::new());
    let Some(baseline) = &project.baseline else { return (options, rejected) };
    for entry in std::iter::once(baseline).chain(&project.candidates) {
        let strategy = entry.strategy.id();
        let Some(run) = entry.ran() else {
            rejected.push(Rejected { strategy, why: "out_of_memory".to_owned() });
            continue;
        };
        if entry != baseline && !judge(project.gate, baseline, entry, |_| false).is_accepted {
            rejected.push(Rejected { strategy, why: "quality".to_owned() });
            continue;
        }
        let time = if entry == baseline { 1.0 } else { time_ratio(run) };
        options.push(Choice { entry, run, time });
    }
    (options, rejected)
}

/// Those that no other beats in both time and peak.
pub fn pareto(project: &Project) -> Vec<String> {
    let (options, _) = options(project);
    let beats = |a: &Choice<'_>, b: &Choice<'_>| {
        let (peak, time) = (a.run.used_bytes <= b.run.used_bytes, a.time <= b.time);
        peak && time && (a.run.used_bytes < b.run.used_bytes || a.time < b.time)
    };
    let is_free = |one: &&Choice<'_>| !options.iter().any(|other| beats(other, one));
    options.iter().filter(is_free).map(|option| option.entry.strategy.id()).collect()
}

/// The fastest that fits; where medians are closer than `noise` (a share) or intervals overlap, the smaller one.
pub fn decide(project: &Project, budget_bytes: u64, noise: f64, date: &str, interval: Interval<'_>) -> Decision {
    let (options, mut rejected) = options(project);
    let fitting: Vec<&Choice<'_>> = options.iter().filter(|option| option.run.used_bytes <= budget_bytes).collect();
    let fastest = fitting.iter().copied().min_by(|a, b| a.time.total_cmp(&b.time));
    let is_close = |option: &Choice<'_>| fastest.is_some_and(|fastest| option.is_as_fast(fastest, noise, interval));
    let close = fitting.iter().filter(|option| is_close(option));
    let chosen = close.min_by_key(|option| option.run.used_bytes).map(|option| option.entry.strategy.id());
    for option in &options {
        let strategy = option.entry.strategy.id();
        if chosen.as_ref() == Some(&strategy) {
            continue;
        }
        let why = if option.run.used_bytes > budget_bytes {
            "over_budget"
        } else if is_close(option) {
            "larger"
        } else {
            "slower"
        };
        rejected.push(Rejected { strategy, why: why.to_owned() });
    }
    let least = options.iter().map(|option| option.run.used_bytes).min();
    let short_bytes = least.filter(|_| chosen.is_none()).map(|least| least.saturating_sub(budget_bytes));
    let date = date.to_owned();
    Decision { budget_bytes, date, chosen, short_bytes, pareto: pareto(project), rejected }
}

/// What a candidate takes less of an owner than the baseline, at the peak of each; negative where it takes more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saving {
    pub owner: Owner,
    pub baseline_bytes: u64,
    pub candidate_bytes: u64,
}

impl Saving {
    pub fn saved(self) -> i128 {
        i128::from(self.baseline_bytes) - i128::from(self.candidate_bytes)
    }
}

/// By owner, the largest saving first.
pub fn saving(baseline: &Entry, candidate: &Entry) -> Vec<Saving> {
    let (Outcome::Ran(base), Outcome::Ran(run)) = (&baseline.result, &candidate.result) else { return Vec::new() };
    let of = |owner| Saving { owner, baseline_bytes: base.owners.of(owner), candidate_bytes: run.owners.of(owner) };
    let mut all: Vec<Saving> = Owner::ALL.into_iter().map(of).collect();
    all.sort_by_key(|saving| std::cmp::Reverse(saving.saved()));
    all
}
