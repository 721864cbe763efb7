//! From an experiment and a judged run to what the chart shows. Every number comes from the verdict or the plan.

use crate::answers::Given;
use vramlab_gpu::manifest::{Experiment, Kernel, Mark, Sweep};
use vramlab_gpu::plan::Plan;
use vramlab_gpu::vars::eval_with;
use vramlab_gpu::verdict::Judged;
use vramlab_kit::Role;
use vramlab_trace::{Invalid, Run};
use vramlab_units::{Lang, Localized, Text, show};
use vramlab_views::experiment_chart::{
    Axis, Band, Ceiling, ChartData, Measured, PERMILLE, Predicted, ReaderMark, Scale, Series, SeriesColor,
};

const SPREAD: Text = Text::new("p10–p90", "p10–p90");

/// The chart of a run; without one, of the plan's predictions alone.
pub fn chart(
    (experiment, kernel): (&Experiment, &Kernel),
    judged: Option<&Judged>,
    run: Option<&Run>,
    plan: Option<&Plan>,
    reader: &[(f64, Given)],
    finding: Localized,
    lang: Lang,
) -> ChartData {
    let sweep = &experiment.sweep;
    let (x, y) = axes(experiment, kernel, lang);
    let mut data = ChartData {
        x,
        y,
        spread_label: SPREAD.into(),
        finding,
        caption: run.map(caption).unwrap_or_default(),
        bands: experiment.marks.iter().filter_map(|mark| band(sweep, mark)).collect(),
        ceilings: judged.and_then(|judged| ceiling(experiment, judged)).into_iter().collect(),
        ..ChartData::default()
    };
    for (idx, series) in experiment.series.iter().enumerate() {
        let mut out = Series {
            id: series.id.clone(),
            label: series.title.clone(),
            color: if experiment.series.len() == 1 { SeriesColor::Role(Role::Parameters) } else { color(idx) },
            predicted: Vec::new(),
            measured: Vec::new(),
        };
        for point in plan.iter().flat_map(|plan| &plan.points).filter(|point| point.series == series.id) {
            if let (Some(y), Some(x)) = (point.predicted, x_of(sweep, point.x)) {
                out.predicted.push(Predicted { x, y });
            }
        }
        if let (Some(judged), Some(run)) = (judged, run) {
            add_measured(&mut out, experiment, judged, run);
        }
        data.series.push(out);
    }
    for (x, given) in reader {
        if let (Given::Number { value }, Some(x)) = (given, x_of(sweep, *x)) {
            data.reader.push(ReaderMark { x, y: *value, curve: 0 });
        }
    }
    data
}

/// The two axes: the swept parameter and what is measured.
pub fn axes(experiment: &Experiment, kernel: &Kernel, lang: Lang) -> (Axis, Axis) {
    let (label, unit) = x_param(experiment, kernel);
    let measure = &experiment.measure;
    let scale = if measure.scale.starts_with("log") { Scale::Log10 } else { Scale::Linear };
    let y = Axis { label: measure.title.clone(), unit: measure.unit.clone(), scale };
    (Axis { label, unit, scale: x_scale(&experiment.sweep, lang) }, y)
}

fn add_measured(out: &mut Series, experiment: &Experiment, judged: &Judged, run: &Run) {
    let sweep = &experiment.sweep;
    for (point, raw) in judged.points.iter().zip(&run.points).filter(|(point, _)| point.series == out.id) {
        let Some(x) = point.x.and_then(|x| x_of(sweep, x)) else { continue };
        if let Some(y) = point.predicted
            && !out.predicted.iter().any(|known| known.x == x)
        {
            out.predicted.push(Predicted { x, y });
        }
        out.measured.push(Measured {
            x,
            y: point.value,
            spread: point.range.map(|[low, high]| (low, high)),
            n_samples: raw.samples_ns.len(),
            relative_error: point.rel_error,
            invalid: point.invalid.as_ref().map(|why| invalid_words(why, &experiment.measure.unit)),
        });
    }
}

fn band(sweep: &Sweep, mark: &Mark) -> Option<Band> {
    Some(Band { from: x_of(sweep, mark.from)?, to: x_of(sweep, mark.to)?, label: mark.says.clone() })
}

/// The hardware's limit for the measured quantity, where the device tells it and it is the same at every point.
fn ceiling(experiment: &Experiment, judged: &Judged) -> Option<Ceiling> {
    let formula = experiment.measure.at_most.as_deref()?;
    let mut limits = judged.points.iter().map(|point| eval_with(formula, &|name| point.vars.get(name).copied()).ok());
    let first = limits.next()??;
    limits.all(|limit| limit == Some(first)).then(|| {
        let text = show::measured(first.round(), &experiment.measure.unit);
        Ceiling { y: first, label: Localized::both(format!("上限 {text}"), format!("limit {text}")) }
    })
}

fn color(idx: usize) -> SeriesColor {
    match idx {
        0 => SeriesColor::Role(Role::Parameters),
        1 => SeriesColor::Role(Role::Gradients),
        2 => SeriesColor::Role(Role::Optimizer),
        3 => SeriesColor::Role(Role::Activations),
        _ => SeriesColor::Order,
    }
}

/// On a category axis a point stands at the index of its value.
pub fn x_of(sweep: &Sweep, x: f64) -> Option<f64> {
    if sweep.labels.is_empty() {
        return Some(x);
    }
    sweep.values.iter().position(|value| *value == x).map(|idx| idx as f64)
}

fn x_scale(sweep: &Sweep, lang: Lang) -> Scale {
    if sweep.labels.is_empty() {
        scale(&sweep.scale)
    } else {
        Scale::Category(sweep.labels.iter().map(|label| label.get(lang).to_owned()).collect())
    }
}

fn scale(name: &str) -> Scale {
    match name {
        "log2" => Scale::Log2,
        "log10" => Scale::Log10,
        _ => Scale::Linear,
    }
}

/// What the swept parameter means, and its unit.
fn x_param(experiment: &Experiment, kernel: &Kernel) -> (Localized, String) {
    let sweep = &experiment.sweep;
    let Some(param) = kernel.params.iter().find(|param| param.key == sweep.param) else { return Default::default() };
    let unit = match sweep.labels.is_empty() {
        true if sweep.param.ends_with(super::point_name::PERMILLE) => PERMILLE.to_owned(),
        true => param.unit.clone(),
        false => String::new(),
    };
    // The sweep's own name is short; what the parameter means may be a sentence.
    let label = if sweep.title.is_empty() { param.means.clone() } else { sweep.title.clone() };
    (label, unit)
}

/// Device, driver, date: what an export must carry.
pub fn caption(run: &Run) -> String {
    format!("{} · {} · {} · {} · {}", run.experiment, run.device.name, run.device.driver, run.date, run.mode)
}

/// Why a number is not shown as a measurement.
pub fn invalid_words(why: &Invalid, unit: &str) -> Localized {
    match why {
        Invalid::FasterThanHardware { value, limit } => {
            let (value, limit) = (show::measured(*value, unit), show::measured(*limit, unit));
            Localized::both(
                format!("比硬件允许的还快：{value}，上限 {limit}"),
                format!("faster than the hardware allows: {value}, limit {limit}"),
            )
        }
        Invalid::WrongResult => Localized::both(
            "结果与 CPU 参考不一致，不显示时间",
            "the result differs from the CPU reference; no time is shown",
        ),
        Invalid::TooShort { median_ns, floor_ns } => {
            let (median, floor) = (show::number(median_ns / 1e3), show::number(floor_ns / 1e3));
            Localized::both(
                format!("一次启动只有 {median} µs，短于 {floor} µs，计时不准"),
                format!("one launch takes {median} µs, under {floor} µs: too short for the clock"),
            )
        }
        Invalid::Unchecked => {
            Localized::both("结果没有对照过 CPU 参考，不显示时间", "the result was not checked; no time is shown")
        }
        Invalid::Failed { message } => Localized::both(message.clone(), message.clone()),
    }
}
