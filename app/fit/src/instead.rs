//! What would do where no plan does, or only a very slow one: another kind of training, or more cards.

use crate::answer::{self, Fits};
use crate::ask::{Ask, Work};
use crate::levers::{LEVERS, Lever};
use crate::plan::{self, Plan, Step};
use vramlab_modelfile::{Field, Model};

/// A plan that takes more than three times as long is held against its alternatives.
pub const SLOW_PERCENT: f64 = 200.0;
/// Cards that are tried at most.
const MOST_CARDS: u64 = 1024;
/// Cards of a server whose heads are not known.
const MOST_SERVERS: u64 = 64;

/// The fewest cards that hold the work: as it stands, or with levers that change neither numbers nor what is trained.
#[derive(Clone, Debug, PartialEq)]
pub struct Enough {
    /// The question on so many cards.
    pub ask: Ask,
    /// Bytes on each of them.
    pub total: u64,
    pub with: Vec<&'static Lever>,
}

pub fn cards(model: &Model, ask: &Ask, capacity: u64) -> Option<Enough> {
    let (mut asked, mut with) = (ask.clone(), Vec::new());
    // Shards do not divide what a layer saves for backward: where that takes twice the cards or more, it has to be saved less.
    let mut more = ["recompute", "loss_chunks"].iter().filter_map(|id| LEVERS.iter().find(|lever| lever.id == *id));
    let mut best: Option<Enough> = None;
    loop {
        if let Some((ask, total)) = fewest(model, &asked, capacity)
            && best.as_ref().is_none_or(|best| 2 * ask.n_cards <= best.ask.n_cards)
        {
            best = Some(Enough { ask, total, with: with.clone() });
        }
        let Some((lever, next)) = more.find_map(|lever| Some((lever, (lever.apply)(model, &asked)?))) else {
            return best;
        };
        (asked, with) = (next, [with, vec![lever]].concat());
    }
}

/// The question on the fewest cards that hold it, and the bytes on each.
fn fewest(model: &Model, ask: &Ask, capacity: u64) -> Option<(Ask, u64)> {
    let on = |n_cards: u64| {
        let ask = Ask { n_cards, ..ask.clone() };
        let sums = answer::sums(model, &ask).ok()?;
        (answer::verdict(&sums, capacity) == Fits::Yes).then(|| (ask, sums.total()))
    };
    if matches!(ask.work, Work::Serve(_)) {
        // Heads are shared evenly, so that not every number of cards will do.
        let most = model.arch.get(Field::Heads).unwrap_or(MOST_SERVERS).min(MOST_CARDS);
        return (ask.n_cards + 1..=most).find_map(on);
    }
    // Shards get smaller with every card.
    let (mut low, mut high) = (ask.n_cards, ask.n_cards * 2);
    while on(high).is_none() {
        if high >= MOST_CARDS {
            return None;
        }
        (low, high) = (high, (high * 2).min(MOST_CARDS));
    }
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if on(middle).is_some() { high = middle } else { low = middle }
    }
    on(high)
}

/// Adapters instead of all weights: alone where that fits, else with the cheapest plan on top.
pub fn adapters(model: &Model, ask: &Ask, capacity: u64) -> Option<Plan> {
    let ways: Vec<_> = ["lora", "qlora"].iter().filter_map(|id| LEVERS.iter().find(|lever| lever.id == *id)).collect();
    let alone = |lever| plan::of(model, ask, &vec![(lever, 1)], capacity);
    let tried: Vec<Plan> = ways.into_iter().filter_map(alone).collect();
    if let Some(fits) = tried.iter().find(|plan| plan.fits == Fits::Yes) {
        return Some(fits.clone());
    }
    let both = tried.into_iter().filter_map(|first| {
        let more = plan::cheapest(model, &first.ask, capacity)?;
        let steps: Vec<Step> = first.steps.into_iter().chain(more.steps).collect();
        Some(Plan {
            steps,
            percent: first.percent + more.percent,
            n_checks: first.n_checks + more.n_checks,
            price: first.price + more.price,
            ..more
        })
    });
    both.min_by(|a, b| a.price.total_cmp(&b.price))
}
