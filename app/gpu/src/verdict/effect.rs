//! Did the effect show? The ratio of two points, and the cause when it is hidden.

use super::point::JudgedPoint;
use crate::manifest::{Cause, Experiment};
use crate::plan::split_reference;
use crate::vars::eval_with;
use vramlab_trace::{Invalid, Point, Run};

/// What the run says about the experiment's effect.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The ratio reaches what the experiment promises. `range` is the ratio at the unfavourable and the favourable end
    /// of both points' 10th to 90th percentiles.
    Shown { ratio: f64, expected: Option<f64>, range: Option<[f64; 2]> },
    /// It does not; `cause` is the first listed cause that applies here.
    Hidden { ratio: f64, expected: Option<f64>, range: Option<[f64; 2]>, cause: Option<Cause> },
    /// One of the two points may not be shown.
    Invalid { series: String, x: f64, why: Invalid },
    /// One of the two points is not there (yet).
    Incomplete,
}

/// A ratio whose error exceeds this is far off: the effect may be there, and the model still describes it badly.
pub const FAR_OFF: f64 = 0.25;

impl Verdict {
    /// The ratio as measured and as the model has it, where both are known.
    pub fn ratios(&self) -> Option<(f64, f64)> {
        match self {
            Self::Shown { ratio, expected, .. } | Self::Hidden { ratio, expected, .. } => {
                expected.filter(|expected| *expected != 0.0).map(|expected| (*ratio, expected))
            }
            Self::Invalid { .. } | Self::Incomplete => None,
        }
    }

    /// The error of the ratio against the model's, with its sign.
    pub fn model_error(&self) -> Option<f64> {
        self.ratios().map(|(ratio, expected)| ratio / expected - 1.0)
    }

    /// The effect is one thing, agreement with the model another.
    pub fn is_far_off(&self) -> bool {
        self.model_error().is_some_and(|error| error.abs() > FAR_OFF)
    }

    /// As written in JSON and exports.
    pub fn id(&self) -> &'static str {
        match self {
            Self::Shown { .. } => "shown",
            Self::Hidden { .. } => "hidden",
            Self::Invalid { .. } => "invalid",
            Self::Incomplete => "incomplete",
        }
    }
}

/// One end of the effect.
#[derive(Clone, Copy)]
struct End<'a> {
    judged: &'a JudgedPoint,
    point: &'a Point,
}

pub fn verdict(run: &Run, experiment: &Experiment, points: &[JudgedPoint]) -> Verdict {
    let effect = &experiment.effect;
    let ends = [&effect.larger, &effect.smaller].map(|reference| find(reference, run, points));
    let [Some(larger), Some(smaller)] = ends else { return Verdict::Incomplete };
    for end in [larger, smaller] {
        if let (Some(why), Some(x)) = (&end.judged.invalid, end.judged.x) {
            return Verdict::Invalid { series: end.judged.series.clone(), x, why: why.clone() };
        }
    }
    let (Some(above), Some(below)) = (larger.judged.value, smaller.judged.value.filter(|value| *value != 0.0)) else {
        return Verdict::Incomplete;
    };
    let ratio = above / below;
    let expected = larger.judged.predicted.zip(smaller.judged.predicted.filter(|p| *p != 0.0)).map(|(a, b)| a / b);
    let range = larger.judged.range.zip(smaller.judged.range).filter(|(_, b)| b.iter().all(|end| *end > 0.0));
    let range = range.map(|(a, b)| [a[0] / b[1], a[1] / b[0]]);
    if ratio >= effect.at_least {
        return Verdict::Shown { ratio, expected, range };
    }
    let cause = effect.causes.iter().find(|cause| applies(cause, larger, smaller, ratio, expected));
    Verdict::Hidden { ratio, expected, range, cause: cause.cloned() }
}

fn find<'a>(reference: &str, run: &'a Run, points: &'a [JudgedPoint]) -> Option<End<'a>> {
    let (series, x) = split_reference(reference)?;
    let idx = points.iter().position(|point| point.series == series && point.x == Some(x))?;
    Some(End { judged: &points[idx], point: &run.points[idx] })
}

/// True if the condition holds. A condition over something unknown here does not apply.
fn applies(cause: &Cause, larger: End<'_>, smaller: End<'_>, ratio: f64, expected: Option<f64>) -> bool {
    let either = |test: fn(&Point) -> f64| test(larger.point).max(test(smaller.point));
    let lookup = |name: &str| match name {
        "ratio" => Some(ratio),
        "expected" => expected,
        "spread" => [larger, smaller].iter().filter_map(|end| end.judged.spread).reduce(f64::max),
        "throttled" => Some(either(|point| f64::from(u8::from(!point.telemetry.throttle.is_empty())))),
        "other_processes" => Some(either(|point| point.telemetry.other_processes.unwrap_or(0).into())),
        name => match name.split_once('.') {
            Some(("larger", rest)) => of_end(larger, rest),
            Some(("smaller", rest)) => of_end(smaller, rest),
            _ => of_end(larger, name),
        },
    };
    eval_with(&cause.when, &lookup).is_ok_and(|value| value != 0.0)
}

fn of_end(end: End<'_>, name: &str) -> Option<f64> {
    match name {
        "value" => end.judged.value,
        "predicted" => end.judged.predicted,
        "spread" => end.judged.spread,
        name => end.judged.vars.get(name).copied(),
    }
}
