//! The cheapest plan: levers pulled together until the model fits.
//!
//! Every set of levers (recompute, chunks, precision, offload) is tried, the repeatable ones several times. A plan costs the
//! extra time of its levers in percent, and for each change that asks for a quality check as many points as the scenario
//! gives it (30 online, 120 batch, 10 edge). The cheapest that fits is taken; of two equal ones the one that leaves more.
//! The search goes by formulas; by the exact sums, every pull that is not needed is then taken out again, dearest first.

use crate::answer::{self, Fits};
use crate::ask::Ask;
use crate::levers::{self, LEVERS, Lever};
use vramlab_modelfile::Model;
use vramlab_units::Localized;

/// One lever of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub lever: &'static Lever,
    pub times: u64,
    pub cost: Localized,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub steps: Vec<Step>,
    pub ask: Ask,
    pub total: u64,
    /// Extra time of all steps, percent.
    pub percent: f64,
    pub n_checks: u64,
    /// What the plan is judged by: percent, and points for checks.
    pub price: f64,
    pub fits: Fits,
}

/// Levers with how often each is pulled.
pub(crate) type Pulls = Vec<(&'static Lever, u64)>;

impl Plan {
    fn nothing(ask: &Ask) -> Self {
        let (steps, ask) = (Vec::new(), ask.clone());
        Self { steps, ask, total: u64::MAX, percent: 0.0, n_checks: 0, price: 0.0, fits: Fits::No }
    }

    /// Pulls a lever for the n-th time; `next` is the question that it leads to.
    fn pull(&mut self, model: &Model, lever: &'static Lever, times: u64, next: Ask) {
        let percent = (lever.percent)(model, &self.ask, &next);
        if times == 1 {
            let cost = (lever.cost)(model, &self.ask, &next);
            self.steps.push(Step { lever, times, cost });
            self.n_checks += u64::from(lever.needs_check);
        } else if let Some(step) = self.steps.last_mut() {
            step.times = times;
        }
        self.percent += percent;
        self.ask = next;
        self.price = self.percent + self.n_checks as f64 * self.ask.scenario.check_points();
    }

    /// Whether its extra time is known: not where it offloads from a card of which only the size was given.
    pub fn is_time_known(&self) -> bool {
        let offloads = |step: &Step| step.lever.id.starts_with("offload");
        levers::knows_time(&self.ask) || !self.steps.iter().any(offloads)
    }

    pub(crate) fn pulls(&self) -> Pulls {
        self.steps.iter().map(|step| (step.lever, step.times)).collect()
    }
}

/// The plan of these pulls with its exact sums; nothing where one of them does not exist.
pub(crate) fn of(model: &Model, ask: &Ask, pulls: &Pulls, capacity: u64) -> Option<Plan> {
    let mut plan = Plan::nothing(ask);
    for (lever, times) in pulls {
        for time in 1..=*times {
            let next = (lever.apply)(model, &plan.ask)?;
            plan.pull(model, lever, time, next);
        }
    }
    let exact = answer::sums(model, &plan.ask).ok()?;
    (plan.total, plan.fits) = (exact.total(), answer::verdict(&exact, capacity));
    Some(plan)
}

/// Takes out, one after the other, each pull without which the budget is still met: the dearest first.
fn pruned(model: &Model, ask: &Ask, capacity: u64, mut plan: Plan) -> Plan {
    loop {
        let pulls = plan.pulls();
        let without = |idx: usize| {
            let mut fewer = pulls.clone();
            fewer[idx].1 -= 1;
            fewer.retain(|(_, times)| *times > 0);
            of(model, ask, &fewer, capacity).filter(|fewer| fewer.fits != Fits::No)
        };
        let cheapest = (0..pulls.len()).filter_map(without).min_by(|a, b| a.price.total_cmp(&b.price));
        match cheapest {
            Some(fewer) if !fewer.steps.is_empty() => plan = fewer,
            _ => return plan,
        }
    }
}

/// Pulls of one lever at most.
fn most(lever: &Lever) -> u64 {
    match lever.id {
        "offload_weights" => 8,
        "smaller_batch" => 12,
        "prefill_chunk" | "loss_chunks" => 2,
        _ => 1,
    }
}

/// The cheapest plan that fits, if there is one.
pub fn cheapest(model: &Model, ask: &Ask, capacity: u64) -> Option<Plan> {
    // Levers that exclude each other give the same question twice, and the dearer one loses.
    let levers: Vec<&'static Lever> =
        LEVERS.iter().filter(|lever| lever.in_plans && (lever.apply)(model, ask).is_some()).collect();
    // The search goes by formulas, which may be off by a tenth either way; what it finds is held against the exact sums.
    // It begins with more room than there is, so that a cheap plan that the formula overrates is not passed over.
    let mut last: Option<Ask> = None;
    for permille in (MOST_SHORT..=MOST_ROOM).rev().step_by(STEP) {
        let found = search_all(model, ask, capacity / 1000 * permille, &levers)?;
        if last.as_ref() == Some(&found.ask) {
            continue;
        }
        let exact = answer::sums(model, &found.ask).ok()?;
        let fits = answer::verdict(&exact, capacity);
        if fits != Fits::No {
            return Some(pruned(model, ask, capacity, Plan { total: exact.total(), fits, ..found }));
        }
        last = Some(found.ask);
    }
    None
}

/// Room of the search in thousandths of what there is: first and last try, and the step between two.
const MOST_ROOM: u64 = 1300;
const MOST_SHORT: u64 = 700;
const STEP: usize = 25;

fn search_all(model: &Model, ask: &Ask, capacity: u64, levers: &[&'static Lever]) -> Option<Plan> {
    let mut best = None;
    search(model, capacity, levers, Plan::nothing(ask), &mut best);
    best
}

fn search(model: &Model, capacity: u64, levers: &[&'static Lever], plan: Plan, best: &mut Option<Plan>) {
    // A dearer set need not be looked at.
    if best.as_ref().is_some_and(|best| plan.price > best.price) {
        return;
    }
    let Some((lever, rest)) = levers.split_first() else {
        return judge(model, capacity, plan, best);
    };
    let mut pulled = plan.clone();
    search(model, capacity, rest, plan, best);
    for times in 1..=most(lever) {
        let Some(next) = (lever.apply)(model, &pulled.ask) else { return };
        pulled.pull(model, lever, times, next);
        search(model, capacity, rest, pulled.clone(), best);
    }
}

fn judge(model: &Model, capacity: u64, mut plan: Plan, best: &mut Option<Plan>) {
    if plan.steps.is_empty() {
        return;
    }
    let Ok(sums) = answer::quick(model, &plan.ask) else { return };
    plan.total = sums.total();
    plan.fits = answer::verdict(&sums, capacity);
    if plan.fits == Fits::No {
        return;
    }
    let is_better = best.as_ref().is_none_or(|best| {
        plan.price < best.price || (plan.price - best.price).abs() < 1e-9 && plan.total < best.total
    });
    if is_better {
        *best = Some(plan);
    }
}
