//! The answer: verdict, items, limits, levers by what they save, the cheapest plan under a budget.

use crate::ask::{Ask, Work};
use crate::instead::{self, Enough, SLOW_PERCENT};
use crate::items::{Owner, Sums};
use crate::levers::{LEVERS, Lever};
use crate::plan::{self, Plan};
use crate::{serve, train};
use vramlab_modelfile::{Field, Model, Problem};
use vramlab_units::Localized;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fits {
    Yes,
    No,
    /// What is known fits; what is not known decides.
    Unknown,
}

impl Fits {
    pub fn id(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unknown => "unknown",
        }
    }
}

/// A lever that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    pub lever: &'static Lever,
    /// The question with the lever pulled.
    pub ask: Ask,
    pub saves: u64,
    pub total: u64,
    pub fits: Fits,
    pub cost: Localized,
}

/// How far the work can go on this card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Requests at the asked context; tokens of a single request, and those that memory alone would hold; whether the file
    /// says how many positions the model has.
    Serve { requests: u64, context: u64, room: u64, is_bounded: bool },
    /// Sequences in one forward pass.
    Train { batch: u64 },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub ask: Ask,
    pub sums: Sums,
    /// Bytes of one card that may be used.
    pub capacity: u64,
    pub fits: Fits,
    pub limit: Option<Limit>,
    /// Largest saving first.
    pub levers: Vec<Tried>,
    /// The cheapest way to make it fit, where it does not.
    pub plan: Option<Plan>,
    /// Where there is no plan or only a slow one: adapters instead of all weights.
    pub instead: Option<Plan>,
    /// Where serving does not fit, or training has no plan or only a slow one: the fewest cards that hold the work as it is.
    pub enough: Option<Enough>,
}

impl Answer {
    pub fn total(&self) -> u64 {
        self.sums.total()
    }

    /// What is left over, negative where it is too much.
    pub fn free(&self) -> i64 {
        self.capacity as i64 - self.total() as i64
    }
}

/// What lies on one card.
pub fn sums(model: &Model, ask: &Ask) -> Result<Sums, Problem> {
    match &ask.work {
        Work::Serve(work) => serve::sums(model, ask, work),
        Work::Train(work) => train::sums(model, ask, work),
    }
}

/// The same, by formulas alone where the tape would be exact: for searches.
pub fn quick(model: &Model, ask: &Ask) -> Result<Sums, Problem> {
    match &ask.work {
        Work::Serve(work) => serve::sums(model, ask, work),
        Work::Train(work) => train::quick(model, ask, work),
    }
}

pub fn capacity(ask: &Ask) -> u64 {
    ask.budget.map_or(ask.card.total_bytes, |budget| budget.min(ask.card.total_bytes))
}

pub fn verdict(sums: &Sums, capacity: u64) -> Fits {
    if sums.total() > capacity {
        Fits::No
    } else if sums.unknown.is_empty() {
        Fits::Yes
    } else {
        Fits::Unknown
    }
}

/// Answers the question for a model.
pub fn answer(model: &Model, ask: &Ask) -> Result<Answer, Problem> {
    ask.check()?;
    let own = sums(model, ask)?;
    let capacity = capacity(ask);
    let fits = verdict(&own, capacity);
    let mut levers = Vec::new();
    for lever in LEVERS {
        let Some(changed) = (lever.apply)(model, ask) else { continue };
        let Ok(other) = sums(model, &changed) else { continue };
        let saves = own.total().saturating_sub(other.total());
        if saves > 0 {
            let cost = (lever.cost)(model, ask, &changed);
            let (total, fits) = (other.total(), verdict(&other, capacity));
            levers.push(Tried { lever, ask: changed, saves, total, fits, cost });
        }
    }
    levers.sort_by(|a, b| b.saves.cmp(&a.saves).then_with(|| a.lever.id.cmp(b.lever.id)));
    let plan = if fits == Fits::Yes { None } else { plan::cheapest(model, ask, capacity) };
    let is_open = fits == Fits::No && plan.as_ref().is_none_or(|plan| plan.percent > SLOW_PERCENT);
    let instead = if is_open { instead::adapters(model, ask, capacity) } else { None };
    // For serving the fewest cards are quickly found, and worth knowing beside any plan.
    let is_quick = fits == Fits::No && matches!(ask.work, Work::Serve(_));
    let enough = if is_open || is_quick { instead::cards(model, ask, capacity) } else { None };
    let limit = limit(model, ask, &own, capacity);
    Ok(Answer { ask: ask.clone(), sums: own, capacity, fits, limit, levers, plan, instead, enough })
}

fn limit(model: &Model, ask: &Ask, own: &Sums, capacity: u64) -> Option<Limit> {
    if !own.unknown.is_empty() {
        return None;
    }
    match &ask.work {
        Work::Serve(work) => {
            let room = capacity.saturating_sub(own.total() - own.of(Owner::Kv));
            let (requests, room) = serve::limits(model, ask, work, room)?;
            let positions = model.arch.get(Field::Positions);
            let context = positions.map_or(room, |most| room.min(most));
            Some(Limit::Serve { requests, context, room, is_bounded: positions.is_some() })
        }
        Work::Train(work) => {
            let of = |batch: u64| Ask { work: Work::Train(crate::Train { batch, ..*work }), ..ask.clone() };
            let fits = |batch: u64| quick(model, &of(batch)).is_ok_and(|sums| sums.total() <= capacity);
            let mut most = 0;
            while most < 1 << 16 && fits((most * 2).max(1)) {
                most = (most * 2).max(1);
            }
            let mut step = most / 2;
            while step > 0 {
                if fits(most + step) {
                    most += step;
                }
                step /= 2;
            }
            // The formula finds the place, the exact sums the batch.
            let fits = |batch: u64| sums(model, &of(batch)).is_ok_and(|sums| sums.total() <= capacity);
            while most > 0 && !fits(most) {
                most -= (most / 32).max(1);
            }
            while most < 1 << 16 && fits(most + 1) {
                most += 1;
            }
            Some(Limit::Train { batch: most })
        }
    }
}
