//! Every plan of up to eight changes to a step, the memory at each of their steps, and those that nothing beats.
//!
//! Question: the workload and machine of [`crate::pipeline_step`], the memory of the baseline, the card, and the changes in
//! words (`toggles.rs`). Answer: how many plans there are, which fit, and the Pareto set of (time, peak); a plan that is
//! named is worked out.
//! Rule: changes are applied in one canonical order. A plan is feasible only if the memory fits after every step of it,
//! because a step that cannot run cannot be measured.
//! Assumption: changes act on the workload as factors and do not depend on one another but through it.
//! Source: [`crate::pipeline_step`]; V. Pareto's order on pairs: better in one and not worse in the other.
//! Errors: a change that is not read, more than eight, a plan that names what is not there or does not fit.

mod toggles;
mod wrap;

pub use toggles::{CANONICAL, MOST_TOGGLES, Toggle, parse};
pub use wrap::{PlanPareto, TOGGLES};

use crate::bottleneck::{Machine, Work};
use crate::pipeline_step::{self, Timing};

/// A step as some changes have left it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    pub work: Work,
    pub machine: Machine,
    pub is_overlapped: bool,
    /// Bytes of the card at the peak. Signed: changes may be described carelessly.
    pub peak: i64,
}

impl State {
    pub fn timing(&self) -> Timing {
        pipeline_step::step(&self.work, &self.machine, self.is_overlapped)
    }

    fn apply(mut self, toggle: &Toggle) -> Self {
        self.work.bytes *= toggle.bytes;
        self.work.flop *= toggle.flop;
        self.work.launches = toggle.launches_to.unwrap_or(self.work.launches * toggle.launches);
        self.machine.peak_tflop_per_s = toggle.tflop_to.unwrap_or(self.machine.peak_tflop_per_s);
        self.is_overlapped |= toggle.overlaps;
        self.peak = self.peak.saturating_add(toggle.peak).max(0);
        self
    }
}

/// The first step of a plan that does not fit, counted from 1; 0 is the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Infeasible {
    pub step: usize,
    pub by_bytes: u64,
}

/// One plan: which changes, as bits in canonical order, and where it ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    pub bits: u32,
    pub time_ms: f64,
    pub peak: i64,
    pub refused: Option<Infeasible>,
}

impl Plan {
    /// The changes of this plan among all, in canonical order.
    pub fn toggles<'a>(&self, all: &'a [Toggle]) -> impl Iterator<Item = &'a Toggle> {
        let bits = self.bits;
        all.iter().enumerate().filter(move |(idx, _)| bits >> idx & 1 == 1).map(|(_, toggle)| toggle)
    }

    /// `fuse+overlap`; `none` for the baseline.
    pub fn name(&self, all: &[Toggle]) -> String {
        let names: Vec<&str> = self.toggles(all).map(|toggle| toggle.id.as_str()).collect();
        if names.is_empty() { "none".to_owned() } else { names.join("+") }
    }
}

/// The states of a plan, the baseline first; they end at the first that does not fit.
pub fn walk<'a>(
    base: &State,
    toggles: impl Iterator<Item = &'a Toggle>,
    capacity: u64,
) -> (Vec<State>, Option<Infeasible>) {
    let mut states = vec![*base];
    let over = |state: &State| u64::try_from(state.peak).unwrap_or(0).checked_sub(capacity).filter(|over| *over > 0);
    if let Some(by_bytes) = over(base) {
        return (states, Some(Infeasible { step: 0, by_bytes }));
    }
    for (step, toggle) in (1..).zip(toggles) {
        let next = states[step - 1].apply(toggle);
        states.push(next);
        if let Some(by_bytes) = over(&next) {
            return (states, Some(Infeasible { step, by_bytes }));
        }
    }
    (states, None)
}

/// All plans, the baseline first, in the order of their bits.
pub fn all(base: &State, toggles: &[Toggle], capacity: u64) -> Vec<Plan> {
    let plan = |bits: u32| {
        let mut plan = Plan { bits, time_ms: 0.0, peak: 0, refused: None };
        let (states, refused) = walk(base, plan.toggles(toggles), capacity);
        let last = states.last().unwrap_or(base);
        (plan.time_ms, plan.peak, plan.refused) = (last.timing().step_ms, last.peak, refused);
        plan
    };
    (0..1_u32 << toggles.len().min(MOST_TOGGLES)).map(plan).collect()
}

/// Times that differ by less than this share are equal: they come from the same sums in another order.
const TIE: f64 = 1.0e-9;

/// The feasible plans that no other beats, fastest first. Of plans that are equal in both the one with the fewest changes
/// stands for all.
pub fn pareto(plans: &[Plan]) -> Vec<Plan> {
    let mut fit: Vec<Plan> = plans.iter().copied().filter(|plan| plan.refused.is_none()).collect();
    let n = |plan: &Plan| plan.bits.count_ones();
    fit.sort_by(|a, b| {
        let is_tie = (a.time_ms - b.time_ms).abs() <= TIE * a.time_ms.max(b.time_ms);
        let by_time = if is_tie { std::cmp::Ordering::Equal } else { a.time_ms.total_cmp(&b.time_ms) };
        by_time.then(a.peak.cmp(&b.peak)).then(n(a).cmp(&n(b))).then(a.bits.cmp(&b.bits))
    });
    let mut out: Vec<Plan> = Vec::new();
    for plan in fit {
        if out.last().is_none_or(|best| plan.peak < best.peak) {
            out.push(plan);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: i64 = 1 << 30;

    fn base(peak: i64) -> State {
        let work = Work { bytes: 4.8e9, flop: 9.895e10, launches: 1000.0, link_bytes: 5.5e7 };
        let machine = Machine { peak_gb_per_s: 4800.0, peak_tflop_per_s: 989.5, launch_us: 2.5, link_gb_per_s: 55.0 };
        State { work, machine, is_overlapped: false, peak }
    }

    fn toggles() -> Vec<Toggle> {
        parse("overlap peak+4G; fuse bytes*0.5 launches*0.25 peak-1G; graph launches=1 peak+1G").unwrap()
    }

    /// Brief 10, vectors 3 to 6: 3.5, fuse 1.625, + overlap 1.0, + graph still 1.0; graph alone 2.0. The speedup of
    /// the fusion is 28 ÷ 13.
    #[test]
    fn times_are_those_of_the_brief() {
        let (all, toggles) = (all(&base(0), &toggles(), u64::MAX), toggles());
        let time = |name: &str| all.iter().find(|plan| plan.name(&toggles) == name).unwrap().time_ms;
        let wanted =
            [("none", 3.5), ("fuse", 1.625), ("fuse+overlap", 1.0), ("fuse+graph+overlap", 1.0), ("graph", 2.0)];
        for (name, ms) in wanted {
            assert!((time(name) - ms).abs() < 1e-9, "{name}: {} is not {ms}", time(name));
        }
        assert!((time("none") / time("fuse") - 28.0 / 13.0).abs() < 1e-9);
    }

    /// Brief 10, vector 8: 3 GiB too many at the second step.
    #[test]
    fn memory_must_fit_at_every_step() {
        let (base, toggles) = (base(80 * GIB), toggles());
        let plan = toggles.iter().filter(|toggle| toggle.id != "graph");
        let (states, refused) = walk(&base, plan, 80 << 30);
        assert_eq!(refused, Some(Infeasible { step: 2, by_bytes: 3_221_225_472 }));
        assert_eq!(states.iter().map(|state| state.peak / GIB).collect::<Vec<_>>(), [80, 79, 83]);
        let (states, refused) = walk(&base, toggles.iter(), 70 << 30);
        assert_eq!((states.len(), refused), (1, Some(Infeasible { step: 0, by_bytes: 10 << 30 })));
    }

    /// The overlap's 4 GiB stand at the last step, but the plan is refused where they come, whatever follows.
    #[test]
    fn what_saves_later_does_not_help_earlier() {
        let toggles = parse("overlap peak+4G; checkpoint flop*1.5 peak-8G").unwrap();
        let plans = all(&base(78 * GIB), &toggles, 80 << 30);
        let refused: Vec<Option<usize>> = plans.iter().map(|plan| plan.refused.map(|it| it.step)).collect();
        assert_eq!(refused, [None, Some(1), None, Some(1)]);
    }

    #[test]
    fn nothing_beats_what_is_in_the_set_and_something_beats_the_rest() {
        let toggles = parse(
            "fuse bytes*0.5 launches*0.25 peak-1G; tile bytes*0.9; precision bytes*0.6 tflop=1979 peak-9G; \
             graph launches=1 peak+1G; overlap peak+4G; checkpoint flop*1.3333 peak-20G",
        )
        .unwrap();
        let plans = all(&base(60 * GIB), &toggles, 64 << 30);
        assert_eq!(plans.len(), 64);
        let set = pareto(&plans);
        let beats = |a: &Plan, b: &Plan| {
            a.time_ms <= b.time_ms * (1.0 - TIE) && a.peak <= b.peak
                || a.time_ms <= b.time_ms * (1.0 + TIE) && a.peak < b.peak
        };
        for plan in plans.iter().filter(|plan| plan.refused.is_none()) {
            let is_in = set.iter().any(|other| other.bits == plan.bits);
            let is_equal = |other: &Plan| other.peak == plan.peak && (other.time_ms / plan.time_ms - 1.0).abs() < 1e-8;
            let beaten = plans.iter().any(|other| other.refused.is_none() && beats(other, plan));
            assert!(
                is_in != (beaten || set.iter().any(|other| other.bits != plan.bits && is_equal(other))),
                "{plan:?}"
            );
        }
        assert!(set.len() >= 2 && set.windows(2).all(|pair| pair[0].peak > pair[1].peak));
    }
}
