//! One measured point: its value, its spread, its prediction, and whether it may be shown.

use super::{metric_name, names, stats};
use crate::manifest::{Experiment, Kernel, Measure};
use crate::predict::{self, Prediction};
use crate::vars::{PointVars, Vars, eval_with, fact_not_told};
use vramlab_trace::{Backend, Invalid, OracleOutcome, Point, Run, Telemetry};
use vramlab_units::{Formula, Lang, Value};

/// A launch shorter than this is not quoted as a rate: the gap between two adjacent events alone is 1.3 µs.
pub const CUDA_FLOOR_NS: f64 = 50_000.0;
/// The same for the processor, whose clock reads in tens of nanoseconds.
pub const CPU_FLOOR_NS: f64 = 10_000.0;
/// A value may pass its limit by this much: clocks and published peaks are rounded.
const LIMIT_SLACK: f64 = 0.01;

/// A point as the page shows it. An invalid point has no value.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedPoint {
    pub series: String,
    /// Value of the swept parameter; nothing if the recording does not give it.
    pub x: Option<f64>,
    /// Measured, in the unit of the measure: the formula over medians.
    pub value: Option<f64>,
    /// The same over the 10th and 90th percentiles of the samples, in rising order.
    pub range: Option<[f64; 2]>,
    pub predicted: Option<f64>,
    /// The question and answer behind the prediction.
    pub prediction: Option<Prediction>,
    /// (measured − predicted) / predicted.
    pub rel_error: Option<f64>,
    /// MAD over median of what was sampled.
    pub spread: Option<f64>,
    pub invalid: Option<Invalid>,
    /// Why there is no value or no prediction, in a sentence, when it is not `invalid`.
    pub why: Option<String>,
    pub counters: Vec<CounterCheck>,
    /// Everything that formulas may name.
    pub vars: Vars,
}

/// One counter against its formula.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterCheck {
    pub metric: String,
    pub counted: f64,
    pub expected: f64,
    pub agrees: bool,
}

impl JudgedPoint {
    /// Why there is no value or no prediction, for the reader.
    pub fn reason(&self, lang: Lang) -> Option<String> {
        let why = self.why.as_ref()?;
        Some(match (fact_not_told(why), lang) {
            (Some(fact), Lang::Zh) => format!("这台设备没有报告 {fact}，所以没有这个数"),
            (Some(fact), Lang::En) => format!("this device does not report {fact}, so there is no such number"),
            (None, _) => why.clone(),
        })
    }
}

pub fn judge(point: &Point, run: &Run, experiment: &Experiment, kernel: &Kernel) -> JudgedPoint {
    let mut vars = PointVars::of(kernel, &point.params, &run.device).vars;
    let series = experiment.series.iter().find(|series| series.id == point.series);
    let prediction = match series {
        Some(series) => predict::predict(&series.predict, &vars),
        None => Err(format!("the experiment has no series \"{}\" any more", point.series)),
    };
    let counters = check_counters(point, experiment, &vars, prediction.as_ref().ok());
    put_measured(&mut vars, point);
    let measured = Measured { measure: &experiment.measure, point, vars: &vars };
    let value = measured.value(0.5);
    let invalid = point.invalid.clone().or_else(|| measured.invalid(run.backend, value.as_ref().ok().copied()));
    let why = value.as_ref().err().or(prediction.as_ref().err()).cloned();
    let value = value.ok().filter(|_| invalid.is_none());
    let predicted = prediction.as_ref().ok().map(|prediction| prediction.value);
    let rel_error = value.zip(predicted).filter(|(_, predicted)| *predicted != 0.0).map(|(v, p)| (v - p) / p);
    JudgedPoint {
        series: point.series.clone(),
        x: point.params.get(&experiment.sweep.param).and_then(Value::as_f64),
        range: value.and_then(|_| measured.range()),
        spread: measured.spread(),
        value,
        predicted,
        prediction: prediction.ok(),
        rel_error,
        invalid,
        why,
        counters,
        vars,
    }
}

/// The medians and sensors of a point, by name.
fn put_measured(vars: &mut Vars, point: &Point) {
    let mut put = |name: String, value: Option<f64>| {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            vars.insert(name, value);
        }
    };
    put("time_ns".to_owned(), point.median_ns());
    for (name, samples) in &point.readings {
        put(format!("reading.{name}"), stats::median(samples));
        put(name.clone(), stats::median(samples));
    }
    for (metric, value) in &point.counters {
        put(format!("counter.{}", metric_name(metric)), Some(*value));
    }
    for name in names::SENSORS {
        put((*name).to_owned(), sensor(&point.telemetry, name));
    }
}

fn sensor(telemetry: &Telemetry, name: &str) -> Option<f64> {
    match name {
        "sm_clock_mhz" => telemetry.sm_clock_mhz,
        "mem_clock_mhz" => telemetry.mem_clock_mhz,
        "power_w" => telemetry.power_w,
        _ => telemetry.temperature_c,
    }
}

/// A formula over one point: the experiment's measure, or what a lens shows.
pub(super) struct Measured<'a> {
    pub measure: &'a Measure,
    pub point: &'a Point,
    pub vars: &'a Vars,
}

impl Measured<'_> {
    /// The measured quantity with every sampled name at its `q`-quantile.
    pub fn value(&self, q: f64) -> Result<f64, String> {
        let sampled = |name: &str| stats::quantile(self.sampled(name)?, q);
        eval_with(&self.measure.value, &|name| sampled(name).or_else(|| self.vars.get(name).copied()))
    }

    /// The measured quantity once a sample, in the order in which they were taken.
    pub fn each(&self) -> Vec<f64> {
        let Ok(formula) = Formula::parse(&self.measure.value) else { return Vec::new() };
        let sampled: Vec<(&str, &[f64])> =
            formula.names().into_iter().filter_map(|name| Some((name, self.sampled(name)?))).collect();
        let n_samples = sampled.iter().map(|(_, samples)| samples.len()).min().unwrap_or(0);
        let at = |idx: usize| {
            let lookup = |name: &str| {
                let found = sampled.iter().find(|(known, _)| *known == name).map(|(_, samples)| samples[idx]);
                found.or_else(|| self.vars.get(name).copied())
            };
            formula.eval(&lookup).ok()
        };
        (0..n_samples).filter_map(at).collect()
    }

    /// True if the measured quantity grows with the time, or with the readings where it names no time.
    pub fn is_less_better(&self) -> Option<bool> {
        let names = self.names();
        let has_time = names.iter().any(|name| name == "time_ns");
        let is_cost = |name: &str| if has_time { name == "time_ns" } else { self.reading(name).is_some() };
        let at = |scale: f64| {
            let lookup = |name: &str| {
                let found = self.sampled(name).and_then(stats::median).or_else(|| self.vars.get(name).copied())?;
                Some(if is_cost(name) { found * scale } else { found })
            };
            eval_with(&self.measure.value, &lookup).ok()
        };
        let (now, slower) = (at(1.0)?, at(1.5)?);
        (now != slower).then_some(slower > now)
    }

    /// The samples behind a name, if it is sampled.
    fn sampled(&self, name: &str) -> Option<&[f64]> {
        if name == "time_ns" { Some(&self.point.samples_ns) } else { self.reading(name) }
    }

    pub fn range(&self) -> Option<[f64; 2]> {
        let (a, b) = (self.value(0.1).ok()?, self.value(0.9).ok()?);
        Some([a.min(b), a.max(b)])
    }

    /// The samples that the value rests on: the first reading it names, else the launch times.
    fn samples(&self) -> &[f64] {
        let names = self.names();
        names.iter().find_map(|name| self.reading(name)).unwrap_or(&self.point.samples_ns)
    }

    /// The samples behind `reading.NAME`, or `NAME` for short.
    fn reading(&self, name: &str) -> Option<&[f64]> {
        self.point.readings.get(name.strip_prefix("reading.").unwrap_or(name)).map(Vec::as_slice)
    }

    fn spread(&self) -> Option<f64> {
        stats::Summary::of(self.samples())?.spread()
    }

    fn names(&self) -> Vec<String> {
        let parsed = Formula::parse(&self.measure.value);
        parsed.map(|formula| formula.names().into_iter().map(str::to_owned).collect()).unwrap_or_default()
    }

    fn invalid(&self, backend: Backend, value: Option<f64>) -> Option<Invalid> {
        match &self.point.oracle {
            None => return Some(Invalid::Unchecked),
            Some(OracleOutcome::Failed { .. }) => return Some(Invalid::WrongResult),
            Some(OracleOutcome::Passed { .. }) => {}
        }
        self.too_short(backend).or_else(|| self.beyond_hardware(value?))
    }

    /// A rate over launches that the clock cannot time. Readings are timed by the device's own cycles.
    fn too_short(&self, backend: Backend) -> Option<Invalid> {
        let floor_ns = match backend {
            Backend::Cuda | Backend::Wgpu => CUDA_FLOOR_NS,
            Backend::Cpu => CPU_FLOOR_NS,
            Backend::Fake => return None,
        };
        let names = self.names();
        let is_timed = names.iter().any(|name| name == "time_ns") && !names.iter().any(|n| self.reading(n).is_some());
        let median_ns = self.point.median_ns()?;
        (is_timed && self.measure.unit.contains("/s") && median_ns < floor_ns)
            .then_some(Invalid::TooShort { median_ns, floor_ns })
    }

    pub fn beyond_hardware(&self, value: f64) -> Option<Invalid> {
        let limit =
            |formula: &Option<String>| eval_with(formula.as_deref()?, &|name| self.vars.get(name).copied()).ok();
        let above = limit(&self.measure.at_most).filter(|limit| value > limit * (1.0 + LIMIT_SLACK));
        let below = limit(&self.measure.at_least).filter(|limit| value < limit * (1.0 - LIMIT_SLACK));
        above.or(below).map(|limit| Invalid::FasterThanHardware { value, limit })
    }
}

/// Counters that were read, each against its formula. A formula that has no value here checks nothing.
fn check_counters(
    point: &Point,
    experiment: &Experiment,
    vars: &Vars,
    prediction: Option<&Prediction>,
) -> Vec<CounterCheck> {
    let lookup = |name: &str| match name.strip_prefix("model.") {
        Some(field) => prediction?.answer.get(field)?.as_f64(),
        None => vars.get(name).copied(),
    };
    let check = |counter: &crate::manifest::Counter| {
        let counted = *point.counters.get(&counter.metric)?;
        let expected = eval_with(&counter.equals, &lookup).ok()?;
        let agrees = (counted - expected).abs() <= counter.tolerance * expected.abs();
        Some(CounterCheck { metric: counter.metric.clone(), counted, expected, agrees })
    };
    experiment.counters.iter().filter_map(check).collect()
}
