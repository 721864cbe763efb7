//! Where steps end: by the recording's own annotations, else by a period found in what the program asks for.

use crate::fast::FastMap;
use crate::model::{Action, Event, Snapshot};

/// A named stretch, in events done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    pub name: String,
    pub from: usize,
    pub until: usize,
}

/// How the steps were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum How {
    /// By an annotation of this name.
    Annotation(String),
    /// The same stacks ask and free in the same order, this many requests and frees a round.
    Period { n_requests: usize },
    #[default]
    NotFound,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    pub how: How,
    /// How many events are done at the end of each step.
    pub ends: Vec<usize>,
    /// Every annotated stretch, by its beginning.
    pub phases: Vec<Phase>,
}

/// A program that trains marks its optimizer.
const OPTIMIZER: &str = "Optimizer.step";
/// A period is one if it was seen this often.
const LEAST_ROUNDS: usize = 3;

/// Steps of one device.
pub fn steps(snapshot: &Snapshot, device: usize) -> Steps {
    let events = snapshot.traces.get(device).map_or(&[][..], Vec::as_slice);
    let phases = phases(snapshot, device, events);
    if let Some(name) = step_name(&phases) {
        let ends = phases.iter().filter(|phase| phase.name == name).map(|phase| phase.until).collect();
        return Steps { how: How::Annotation(name), ends, phases };
    }
    match period(events) {
        Some((n_requests, ends)) => Steps { how: How::Period { n_requests }, ends, phases },
        None => Steps { phases, ..Steps::default() },
    }
}

/// START and END of one name belong together, the innermost first.
fn phases(snapshot: &Snapshot, device: usize, events: &[Event]) -> Vec<Phase> {
    let at = |time_us: u64| events.partition_point(|event| event.time_us <= time_us);
    let mut open: Vec<(&str, usize)> = Vec::new();
    let mut out = Vec::new();
    for mark in snapshot.annotations.iter().filter(|mark| mark.device as usize == device) {
        match mark.stage.as_str() {
            "START" => open.push((&mark.name, at(mark.time_us))),
            "END" => {
                if let Some(idx) = open.iter().rposition(|(name, _)| *name == mark.name) {
                    let (name, from) = open.remove(idx);
                    out.push(Phase { name: name.to_owned(), from, until: at(mark.time_us).max(from) });
                }
            }
            _ => {}
        }
    }
    out.sort_by_key(|phase| (phase.from, phase.until));
    out
}

/// The name whose end is a step's: the optimizer's, else a profiler's step.
fn step_name(phases: &[Phase]) -> Option<String> {
    let is_step = |name: &str| name.starts_with(OPTIMIZER) || name.starts_with("ProfilerStep");
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for phase in phases.iter().filter(|phase| is_step(&phase.name)) {
        match counts.iter_mut().find(|(name, _)| *name == phase.name) {
            Some((_, n)) => *n += 1,
            None => counts.push((&phase.name, 1)),
        }
    }
    let most = counts.iter().map(|(_, n)| *n).max()?;
    counts.into_iter().find(|(_, n)| *n == most).map(|(name, _)| name.to_owned())
}

/// The smallest period in which requests and frees repeat, with the ends of its rounds.
fn period(events: &[Event]) -> Option<(usize, Vec<usize>)> {
    let mut numbers: FastMap<(bool, u32), u32> = FastMap::default();
    let mut words = Vec::new();
    let mut places = Vec::new();
    for (idx, event) in events.iter().enumerate() {
        let is_alloc = event.action == Action::Alloc;
        if is_alloc || event.action == Action::FreeRequested {
            let next = numbers.len() as u32;
            words.push(*numbers.entry((is_alloc, event.stack.0)).or_insert(next) * 2 + u32::from(is_alloc));
            places.push(idx);
        }
    }
    // A program often ends with something else: then the rounds end before.
    for percent_off in [0, 2, 5, 10, 25] {
        let len = words.len() - words.len() * percent_off / 100;
        if let Some((period, covered)) = suffix_period(&words[..len]) {
            let start = len - covered / period * period;
            let end = |word: usize| places.get(word).copied().unwrap_or(events.len());
            return Some((period, (1..=covered / period).map(|round| end(start + round * period)).collect()));
        }
    }
    None
}

/// The smallest period of the longest suffix that repeats at least three times and is more than a third of all. A round
/// both asks and frees: a program that only asks is loading.
fn suffix_period(words: &[u32]) -> Option<(usize, usize)> {
    let n = words.len();
    let at = |idx: usize| words[n - 1 - idx];
    // Prefix function of the reversed words.
    let mut border = vec![0_u32; n];
    let mut best = None;
    for idx in 1..n {
        let mut k = border[idx - 1] as usize;
        while k > 0 && at(idx) != at(k) {
            k = border[k - 1] as usize;
        }
        if at(idx) == at(k) {
            k += 1;
        }
        border[idx] = k as u32;
        let (len, period) = (idx + 1, idx + 1 - k);
        if len >= LEAST_ROUNDS * period && len * 3 >= n {
            best = Some((period, len));
        }
    }
    best.filter(|(period, _)| {
        let round = &words[n - period..];
        round.iter().any(|word| word % 2 == 1) && round.iter().any(|word| word % 2 == 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Odd words ask, even ones free.
    #[test]
    fn the_smallest_period_is_found_behind_a_beginning() {
        let loading = [9, 11, 13];
        let round = [1, 3, 2, 4];
        let words: Vec<u32> = loading.iter().chain(round.iter().cycle().take(4 * 5)).copied().collect();
        assert_eq!(suffix_period(&words), Some((4, 20)));
        assert_eq!(suffix_period(&words[..11]), None, "two rounds are no period");
        assert_eq!(suffix_period(&[1; 40]), None, "a program that only asks is loading");
        assert_eq!(suffix_period(&[]), None);
    }
}
