//! Whether several snapshots can be ranks of one job. The ranks of a job run one program: they ask for their memory at the
//! same places and name the same phases. Where that is not so, their mean and imbalance would be numbers about nothing,
//! so it is refused, and the difference is named.

use crate::analysis::Analysis;
use crate::compare::{Amount, Side, places};
use crate::model::Snapshot;
use std::collections::{BTreeMap, BTreeSet};
use vramlab_units::{Localized, show};

/// Less of what is held at the peak at common places: another program, which happens to share a helper.
const LEAST_SHARE: f64 = 0.1;

/// Two that are not of one job.
#[derive(Clone, Debug, PartialEq)]
pub struct Stranger {
    /// By their order.
    pub first: usize,
    pub second: usize,
    pub why: Localized,
}

/// Every script has one of these: it tells nothing without its line.
const OUTERMOST: &str = "<module>";

/// File and function, whose lines move with an edit; of what stands outside of functions its line.
type Place = (String, String, u32);

/// What tells which program a snapshot is of.
struct Mark {
    /// Bytes at the peak by place.
    places: BTreeMap<Place, u64>,
    phases: BTreeSet<String>,
}

impl Mark {
    fn of(snapshot: &Snapshot, analysis: &Analysis) -> Self {
        let mut held: BTreeMap<Place, u64> = BTreeMap::new();
        for ((file, name, line), (Amount { bytes, .. }, _)) in places(Side::at_peak(snapshot, analysis)) {
            if !file.is_empty() {
                let line = if name == OUTERMOST { line } else { 0 };
                *held.entry((file, name, line)).or_default() += bytes;
            }
        }
        // A number in a name counts steps.
        let bare = |name: &str| name.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
        let phases = snapshot.annotations.iter().map(|annotation| bare(&annotation.name));
        Self { places: held, phases: phases.collect() }
    }

    /// The share of what the places hold that the other has too.
    fn share_in(&self, other: &Self) -> f64 {
        let all: u64 = self.places.values().sum();
        let common = self.places.iter().filter(|(place, _)| other.places.contains_key(*place));
        common.map(|(_, bytes)| *bytes).sum::<u64>() as f64 / all.max(1) as f64
    }

    fn main_place(&self) -> String {
        let most = self.places.iter().max_by_key(|(_, bytes)| **bytes).map(|(place, _)| place);
        most.map_or(String::new(), |(file, name, line)| {
            let line = if *line > 0 { format!(":{line}") } else { String::new() };
            format!("{}{line} {name}", file.rsplit(['/', '\\']).next().unwrap_or(file))
        })
    }
}

/// The first that is of another job than the first of all; nothing if they may be ranks of one.
pub fn stranger(of: &[(&Snapshot, &Analysis)]) -> Option<Stranger> {
    let marks: Vec<Mark> = of.iter().map(|(snapshot, analysis)| Mark::of(snapshot, analysis)).collect();
    let (first, others) = marks.split_first()?;
    others.iter().enumerate().find_map(|(idx, other)| {
        let why = differ(first, other)?;
        Some(Stranger { first: 0, second: idx + 1, why })
    })
}

fn differ(a: &Mark, b: &Mark) -> Option<Localized> {
    if !a.places.is_empty() && !b.places.is_empty() {
        let share = a.share_in(b).min(b.share_in(a));
        if share >= LEAST_SHARE {
            return None;
        }
        let (first, second) = (a.main_place(), b.main_place());
        let percent = show::with_unit((share * 1000.0).round() / 1000.0, "%");
        return Some(match share > 0.0 {
            false => Localized::both(
                format!("没有一处申请显存的代码是共同的：一份主要在 {first}，另一份主要在 {second}"),
                format!("no place that asks for memory is common: one is mostly {first}, the other mostly {second}"),
            ),
            true => Localized::both(
                format!("共同的代码位置只占峰值的 {percent}：一份主要在 {first}，另一份主要在 {second}"),
                format!(
                    "the places in common hold only {percent} of the peak: one is mostly {first}, the other mostly {second}"
                ),
            ),
        });
    }
    // Without stacks on both sides the phases have to tell.
    if !a.phases.is_empty() && !b.phases.is_empty() && a.phases.is_disjoint(&b.phases) {
        let name = |mark: &Mark| mark.phases.first().cloned().unwrap_or_default();
        let (first, second) = (name(a), name(b));
        return Some(Localized::both(
            format!("没有共同的标注：一份有“{first}”，另一份有“{second}”"),
            format!("no annotation is common: one has \"{first}\", the other \"{second}\""),
        ));
    }
    None
}
