//! Baseline against candidate, point by point: improved, regressed, no difference detected, too few samples. The rule
//! is `vramlab_model::samples`; runs of different work are refused by `compare.rs` first.

use super::compare::{Difference, comparable_through};
use super::judge;
use super::point::Measured;
use crate::lens::Lens;
use crate::manifest::{Experiment, Kernel};
use vramlab_model::samples::{Change, Interval, change, interval};
use vramlab_trace::{Point, Run, run::median};
use vramlab_units::{Localized, Map};

/// How far the median of one kernel moves from one start of the program to the next on the same card: on an H200, over
/// three starts, a copy ran at 3.97 to 4.03 TB/s and a pointer chase took 666 to 688 cycles. The samples of one run do
/// not see it, so a smaller difference is not yet one of the kernels.
pub const DRIFT: f64 = 0.03;

/// One side of a comparison: a run, and the lens through which it is seen (nothing: the measure).
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    pub run: &'a Run,
    pub lens: Option<&'a str>,
}

/// Two comparable runs, point by point.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    pub points: Vec<PointChange>,
    pub unit: String,
    pub title: Localized,
    /// True if less of the observable is better: a time, cycles.
    pub is_less_better: bool,
}

/// One point in both runs.
#[derive(Clone, Debug, PartialEq)]
pub struct PointChange {
    pub series: String,
    pub x: Option<f64>,
    /// The kernel's parameters there.
    pub params: Map,
    pub baseline: Option<Interval>,
    pub candidate: Option<Interval>,
    /// Medians, also where there are too few samples for an interval.
    pub medians: [Option<f64>; 2],
    pub n_samples: [usize; 2],
    pub change: Change,
    /// How many times as good the candidate's median is.
    pub gain: Option<f64>,
}

/// All points together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overall {
    Improved,
    Regressed,
    NoDifference,
    Insufficient,
    /// Better at some points, worse at others.
    Mixed,
}

impl Overall {
    pub fn id(self) -> &'static str {
        match self {
            Self::Improved => "improved",
            Self::Regressed => "regressed",
            Self::NoDifference => "no_difference",
            Self::Insufficient => "insufficient",
            Self::Mixed => "mixed",
        }
    }
}

impl Compared {
    pub fn count(&self, change: Change) -> usize {
        self.points.iter().filter(|point| point.change == change).count()
    }

    /// True if there are differences, and none of them is larger than what a new start alone makes.
    pub fn is_within_drift(&self) -> bool {
        let is_change = |point: &&PointChange| matches!(point.change, Change::Improved | Change::Regressed);
        let mut gains = self.points.iter().filter(is_change).filter_map(|point| point.gain).peekable();
        gains.peek().is_some() && gains.all(|gain| (1.0 / (1.0 + DRIFT)..=1.0 + DRIFT).contains(&gain))
    }

    /// A point with too few samples decides nothing; if all are such, there are too few.
    pub fn overall(&self) -> Overall {
        match (self.count(Change::Improved), self.count(Change::Regressed), self.count(Change::NoDifference)) {
            (0, 0, 0) => Overall::Insufficient,
            (0, 0, _) => Overall::NoDifference,
            (_, 0, _) => Overall::Improved,
            (0, _, _) => Overall::Regressed,
            _ => Overall::Mixed,
        }
    }
}

/// Compares a candidate with a baseline. Points that only one of the runs has, and points that may not be printed, are
/// left out or have no interval.
pub fn compare(
    baseline: Side<'_>,
    candidate: Side<'_>,
    experiment: &Experiment,
    kernel: &Kernel,
) -> Result<Compared, Difference> {
    comparable_through(baseline, candidate)?;
    let lens = baseline.lens.and_then(|id| experiment.lens(id));
    let measure = lens.map_or(&experiment.measure, |lens| &lens.shows);
    let seen = [observe(baseline.run, lens, experiment, kernel), observe(candidate.run, lens, experiment, kernel)];
    let is_less_better = seen.iter().flatten().find_map(|point| point.is_less_better).unwrap_or(true);
    let points = seen[0].iter().filter_map(|base| {
        let new = seen[1].iter().find(|new| new.series == base.series && new.point.params == base.point.params)?;
        Some(point_change(base, new, is_less_better))
    });
    let points: Vec<PointChange> = points.collect();
    Ok(Compared { points, unit: measure.unit.clone(), title: measure.title.clone(), is_less_better })
}

/// The 95 % interval of the measured quantity at each point of a run; nothing where there are too few samples.
pub fn intervals(run: &Run, experiment: &Experiment, kernel: &Kernel) -> Vec<Option<Interval>> {
    observe(run, None, experiment, kernel).iter().map(|point| interval(&point.samples)).collect()
}

/// The observable at one point, once a sample.
struct Observed<'a> {
    series: &'a str,
    x: Option<f64>,
    point: &'a Point,
    samples: Vec<f64>,
    is_less_better: Option<bool>,
}

fn observe<'a>(run: &'a Run, lens: Option<&Lens>, experiment: &'a Experiment, kernel: &Kernel) -> Vec<Observed<'a>> {
    let judged = judge(run, experiment, kernel);
    let measure = lens.map_or(&experiment.measure, |lens| &lens.shows);
    let observed = |(point, judged): (&'a Point, &super::JudgedPoint)| {
        let measured = Measured { measure, point, vars: &judged.vars };
        let samples = if judged.invalid.is_none() { measured.each() } else { Vec::new() };
        Observed { series: &point.series, x: judged.x, point, samples, is_less_better: measured.is_less_better() }
    };
    run.points.iter().zip(&judged.points).map(observed).collect()
}

fn point_change(base: &Observed<'_>, new: &Observed<'_>, is_less_better: bool) -> PointChange {
    let [a, b] = [interval(&base.samples), interval(&new.samples)];
    let medians = [median(&base.samples), median(&new.samples)];
    let ratio = medians[0].zip(medians[1]).map(|(a, b)| if is_less_better { a / b } else { b / a });
    PointChange {
        series: base.series.to_owned(),
        x: base.x,
        params: base.point.params.clone(),
        baseline: a,
        candidate: b,
        medians,
        n_samples: [base.samples.len(), new.samples.len()],
        change: if is_less_better { change(a, b) } else { change(b, a) },
        gain: ratio.filter(|ratio| ratio.is_finite()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{experiment, kernel, run};
    use vramlab_units::Lang;

    /// Nine samples around `factor` times the ideal time.
    fn nine(factor: f64) -> Run {
        let mut run = run(|_| factor);
        for point in &mut run.points {
            let middle = point.samples_ns[1];
            point.samples_ns = [-4, -3, -2, -1, 0, 1, 2, 3, 4].map(|i| middle * (1.0 + 0.002 * f64::from(i))).to_vec();
        }
        run
    }

    fn side(run: &Run) -> Side<'_> {
        Side { run, lens: None }
    }

    fn compared(base: &Run, new: &Run) -> Compared {
        compare(side(base), side(new), &experiment(), &kernel()).unwrap()
    }

    #[test]
    fn more_bandwidth_is_an_improvement() {
        let (base, new) = (nine(1.5), nine(1.25));
        let found = compared(&base, &new);
        assert!(!found.is_less_better, "the measure is a bandwidth");
        assert_eq!((found.overall(), found.count(Change::Improved)), (Overall::Improved, 5));
        // Ranks 2 and 8 of nine: ±3 samples of 0.2 % around 4 bytes a word at 1000 GB/s over 1.5.
        let first = &found.points[0];
        let base_of = first.baseline.unwrap();
        let expected = 1000.0 / 1.5;
        assert!((base_of.low - expected / 1.006).abs() < 1e-6 && (base_of.high - expected / 0.994).abs() < 1e-6);
        assert!((first.gain.unwrap() - 1.5 / 1.25).abs() < 1e-9);
        assert_eq!(compared(&new, &base).overall(), Overall::Regressed);
    }

    #[test]
    fn overlapping_intervals_are_no_difference_and_five_samples_too_few() {
        let (base, mut new) = (nine(1.25), nine(1.255));
        assert_eq!(compared(&base, &new).overall(), Overall::NoDifference);
        new.points.iter_mut().for_each(|point| point.samples_ns.truncate(5));
        let found = compared(&base, &new);
        assert_eq!(found.overall(), Overall::Insufficient);
        assert!(found.points[0].candidate.is_none() && found.points[0].medians[1].is_some());
    }

    #[test]
    fn a_difference_that_a_new_start_makes_is_told_apart() {
        let base = nine(1.25);
        for (factor, is_small) in [(1.25 * 0.98, true), (1.25 * 1.025, true), (1.25 * 0.9, false), (1.25 * 1.1, false)]
        {
            let found = compared(&base, &nine(factor));
            assert_ne!(found.overall(), Overall::NoDifference);
            assert_eq!(found.is_within_drift(), is_small, "{factor}");
        }
        assert!(!compared(&base, &base).is_within_drift(), "there is no difference at all");
    }

    #[test]
    fn better_here_and_worse_there_is_mixed() {
        let (base, mut new) = (nine(1.25), nine(1.25));
        for (idx, factor) in [(0, 0.9), (3, 1.1)] {
            new.points[idx].samples_ns.iter_mut().for_each(|ns| *ns *= factor);
        }
        let found = compared(&base, &new);
        let changes: Vec<Change> = found.points.iter().map(|point| point.change).collect();
        use Change::{Improved, NoDifference, Regressed};
        assert_eq!(changes, [Improved, NoDifference, NoDifference, Regressed, NoDifference]);
        assert_eq!(found.overall(), Overall::Mixed);
    }

    #[test]
    fn cycles_are_better_when_there_are_fewer() {
        let mut experiment = experiment();
        experiment.measure.value = "reading.cycles / 100".into();
        experiment.measure.at_most = None;
        let with = |cycles: f64| {
            let mut run = nine(1.25);
            run.points.iter_mut().for_each(|point| drop(point.readings.insert("cycles".into(), vec![cycles; 9])));
            run
        };
        let (base, new) = (with(320.0), with(100.0));
        let found = compare(side(&base), side(&new), &experiment, &kernel()).unwrap();
        assert!(found.is_less_better);
        assert_eq!((found.overall(), found.points[0].gain), (Overall::Improved, Some(3.2)));
    }

    #[test]
    fn two_lenses_are_not_compared() {
        let run = nine(1.25);
        let through = |lens| Side { run: &run, lens };
        let refused = compare(through(None), through(Some("dram")), &experiment(), &kernel()).unwrap_err();
        assert_eq!(refused.sentence(Lang::En), "these runs cannot be compared: the lens differs, measure against dram");
    }
}
