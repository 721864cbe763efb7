//! A predicted curve: drawn on the empty plot of the experiment that reveals it, with that plot's axes and places and
//! without its truth; then shown beside the truth, with the largest gap drawn and in words.

use crate::action::Action;
use crate::answers::Given;
use crate::app::App;
use crate::page::{StepState, chart, order_gap};
use crate::route::Route;
use crate::widgets;
use egui::{RichText, Ui};
use vramlab_gpu::manifest::Experiment;
use vramlab_kit::tokens::{Tokens, Type};
use vramlab_lesson::gap::{self, CurveGap};
use vramlab_lesson::{Chapter, ExperimentStep, Form, Predict, Sketch as SketchForm, Step, StepBody};
use vramlab_units::{Lang, Text, show};
use vramlab_views::experiment_chart::{ChartData, ReaderGap, ReaderMark, Sketch};

const LOST: Text = Text::new("找不到揭晓这条曲线的实验", "the experiment that reveals this curve is not there");
const HOW: Text = Text::new(
    "拖动画线；键盘：← → 选位置，↑ ↓ 改高低，Delete 擦掉",
    "Drag to draw. Keys: ← → choose a place, ↑ ↓ move it, Delete clears it",
);
const MISSING: Text = Text::new("至少画 {n} 处", "draw at least {n} places");
const CLEAR: Text = Text::new("重画", "Start over");
const SEE: Text = Text::new("和实测放在一起看 →", "See it beside the measurement →");
const CLOSE: Text = Text::new(
    "你画的曲线：{n} 处都在实测的 25 % 以内，最大的差在{x}处",
    "Your curve lies within 25 % of the truth at all {n} places; the largest gap is at {x}",
);
const GAP: Text = Text::new(
    "你画的曲线：差得最多的是{x}，你画 {given}，实际 {truth}，{by}；{n} 处里 {close} 处在 25 % 以内，{above} 处偏高，{below} 处偏低",
    "Your curve: the largest gap is at {x}, drawn {given}, truth {truth}, {by}; of {n} places {close} within 25 %, {above} too high, {below} too low",
);
const HIGH: Text = Text::new("是实际的 {r} 倍", "too high by a factor of {r}");
const LOW: Text = Text::new("实际是它的 {r} 倍", "too low by a factor of {r}");
const OFF: Text = Text::new("相差 {r}", "off by {r}");

/// Places that are asked for at most; a longer sweep is thinned.
const MOST_PLACES: usize = 16;
/// Fewer places are not a curve.
const LEAST_PLACES: usize = 3;

/// The empty plot, with the sweep's value at each of its places.
struct Plot {
    sketch: Sketch,
    values: Vec<f64>,
}

impl Plot {
    fn marks(&self, points: &[(f64, f64)]) -> Vec<ReaderMark> {
        let place = |value: f64| Some(self.sketch.xs[self.values.iter().position(|known| *known == value)?]);
        points.iter().filter_map(|(value, y)| Some(ReaderMark { x: place(*value)?, y: *y, curve: 0 })).collect()
    }

    fn points(&self, marks: &[ReaderMark]) -> Vec<(f64, f64)> {
        let value = |x: f64| Some(self.values[self.sketch.xs.iter().position(|known| *known == x)?]);
        marks.iter().filter_map(|mark| Some((value(mark.x)?, mark.y))).collect()
    }
}

/// The run of the revealing card on whose axes a curve is drawn.
fn run_of<'a>(chapter: &'a Chapter, predict: &Predict, form: &SketchForm) -> Option<&'a ExperimentStep> {
    let by = predict.revealed_by.as_ref()?;
    let StepBody::Experiment(card) = &chapter.steps.iter().find(|step| step.id == *by)?.body else { return None };
    card.all().find(|run| form.run.as_ref().is_none_or(|wanted| *wanted == run.run))
}

fn plot(app: &App, chapter: &Chapter, predict: &Predict, form: &SketchForm) -> Option<Plot> {
    let run = run_of(chapter, predict, form)?;
    let (experiment, kernel) = app.library.kernels().get(&run.run)?;
    let (x, y) = chart::axes(experiment, kernel, app.lang());
    let mut places: Vec<(f64, f64)> = experiment
        .sweep
        .values
        .iter()
        .filter_map(|value| Some((chart::x_of(&experiment.sweep, *value)?, *value)))
        .filter(|(place, _)| x.scale.to_axis(*place).is_some())
        .collect();
    places.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (last, every) = (places.len().saturating_sub(1), places.len().div_ceil(MOST_PLACES).max(1));
    let kept = places.into_iter().enumerate().filter(|(idx, _)| (last - idx).is_multiple_of(every)).map(|(_, it)| it);
    let (xs, values) = kept.unzip();
    let ask = predict.question.ask.clone();
    Some(Plot { sketch: Sketch { x, y, xs, y_low: form.min, y_high: form.max, ask }, values })
}

/// The empty plot; an answer when the reader has committed to a curve.
pub fn input_ui(
    app: &App,
    ui: &mut Ui,
    chapter: &Chapter,
    predict: &Predict,
    form: &SketchForm,
    state: &mut StepState,
    commit: &str,
) -> Option<Given> {
    let (tokens, lang) = (app.tokens(), app.lang());
    let Some(plot) = plot(app, chapter, predict, form) else {
        ui.label(RichText::new(LOST.get(lang)).font(tokens.font(Type::Note)).color(tokens.bad));
        return None;
    };
    plot.sketch.ui(ui, tokens, lang, &mut state.marks);
    let needed = LEAST_PLACES.min(plot.values.len());
    let mut given = None;
    ui.horizontal_wrapped(|ui| {
        if widgets::primary(ui, tokens, commit).clicked() {
            if state.marks.len() < needed {
                state.error = Some(MISSING.get(lang).replace("{n}", &needed.to_string()));
            } else {
                state.error = None;
                given = Some(Given::Sketch { points: plot.points(&state.marks) });
            }
        }
        if !state.marks.is_empty() && widgets::link(ui, tokens, CLEAR.get(lang)).clicked() {
            state.marks.clear();
        }
        let (text, color) = match &state.error {
            Some(error) if state.marks.len() < needed => (error.as_str(), tokens.bad),
            _ => (HOW.get(lang), tokens.muted),
        };
        ui.label(RichText::new(text).font(tokens.font(Type::Small)).color(color));
    });
    given
}

/// The curve that is kept, on its axes.
pub fn kept_ui(app: &App, ui: &mut Ui, chapter: &Chapter, predict: &Predict, form: &SketchForm, points: &[(f64, f64)]) {
    if let Some(plot) = plot(app, chapter, predict, form) {
        plot.sketch.show(ui, app.tokens(), app.lang(), &plot.marks(points));
    }
}

/// The way to the step that shows the truth.
pub fn link_ui(
    ui: &mut Ui,
    tokens: &Tokens,
    lang: Lang,
    chapter: &Chapter,
    predict: &Predict,
    actions: &mut Vec<Action>,
) {
    if let Some(by) = &predict.revealed_by
        && widgets::primary(ui, tokens, SEE.get(lang)).clicked()
    {
        actions.push(Action::Go(Route::step(&chapter.id, by)));
    }
}

/// The reader's curves of `run` that this step reveals, each with the series it is about.
pub fn curves(app: &App, chapter: &Chapter, step: &Step, run: &str) -> Vec<(Option<String>, Given)> {
    let of = |candidate: &Step| {
        let StepBody::Predict(predict) = &candidate.body else { return None };
        let Form::Sketch(form) = &predict.question.form else { return None };
        let is_mine = predict.revealed_by.as_ref() == Some(&step.id) && run_of(chapter, predict, form)?.run == run;
        let given = app.answer(&chapter.id, &candidate.id).filter(|given| matches!(given, Given::Sketch { .. }));
        is_mine.then_some((form.series.clone(), given?.clone()))
    };
    chapter.steps.iter().filter_map(of).collect()
}

/// Adds a drawn curve to a chart, and its largest gap to what has been measured.
pub fn add(data: &mut ChartData, curve: usize, series: Option<&str>, points: &[(f64, f64)], experiment: &Experiment) {
    let at = |(value, y): &(f64, f64)| Some((chart::x_of(&experiment.sweep, *value)?, *y));
    let given: Vec<(f64, f64)> = points.iter().filter_map(at).collect();
    data.reader.extend(given.iter().map(|(x, y)| ReaderMark { x: *x, y: *y, curve }));
    if let Some(gap) = truth(data, series).and_then(|truth| gap::curve(&given, &truth)) {
        let label = match ratio(&gap) {
            Some(ratio) => format!("{}×", show::number(ratio.max(1.0 / ratio))),
            None => show::with_unit((gap.given - gap.truth).abs(), &data.y.unit),
        };
        data.gaps.push(ReaderGap { x: gap.x, given: gap.given, truth: gap.truth, label });
    }
}

/// The true curve: what was measured. Where nothing has been, there is nothing to compare with.
fn truth(data: &ChartData, series: Option<&str>) -> Option<Vec<(f64, f64)>> {
    let series = match series {
        Some(id) => data.series.iter().find(|series| series.id == id)?,
        None => data.series.first()?,
    };
    let valid = series.measured.iter().filter(|point| point.invalid.is_none());
    let measured: Vec<(f64, f64)> = valid.filter_map(|point| Some((point.x, point.y?))).collect();
    (!measured.is_empty()).then_some(measured)
}

fn ratio(gap: &CurveGap) -> Option<f64> {
    (gap.given > 0.0 && gap.truth > 0.0).then(|| gap.given / gap.truth)
}

/// The gaps of the curves on a chart in words, under it.
pub fn gap_ui(
    ui: &mut Ui,
    tokens: &Tokens,
    lang: Lang,
    experiment: &Experiment,
    data: &ChartData,
    curves: &[(Option<String>, Given)],
) {
    for (curve, (series, _)) in curves.iter().enumerate() {
        let given: Vec<(f64, f64)> =
            data.reader.iter().filter(|mark| mark.curve == curve + 1).map(|mark| (mark.x, mark.y)).collect();
        if let Some(gap) = truth(data, series.as_deref()).and_then(|truth| gap::curve(&given, &truth)) {
            widgets::finding(
                ui,
                tokens,
                &format!("◇ {}", words(&gap, data, &place(experiment, data, gap.x, lang), lang)),
            );
        }
    }
}

/// A place of the sweep by the name that the experiment gives it: `stride 16`, or a category.
fn place(experiment: &Experiment, data: &ChartData, x: f64, lang: Lang) -> String {
    let exact = data.x.exact(x);
    match experiment.sweep.title.get(lang) {
        _ if !experiment.sweep.labels.is_empty() => exact,
        "" => exact,
        title => format!("{title} {}", show::number(x)),
    }
}

/// The gap of a curve: where it is largest, by how much, and on which side the rest lies.
pub fn words(gap: &CurveGap, data: &ChartData, x: &str, lang: Lang) -> String {
    if gap.n_close == gap.n_compared {
        return CLOSE
            .get(lang)
            .replace("{n}", &gap.n_compared.to_string())
            .replace("{x}", order_gap::spaced(x, lang).trim_end());
    }
    let by = match ratio(gap) {
        Some(ratio) if ratio > 1.0 => HIGH.get(lang).replace("{r}", &show::number(ratio)),
        Some(ratio) => LOW.get(lang).replace("{r}", &show::number(1.0 / ratio)),
        None => OFF.get(lang).replace("{r}", &show::with_unit((gap.given - gap.truth).abs(), &data.y.unit)),
    };
    GAP.get(lang)
        .replace("{x}", order_gap::spaced(x, lang).trim_end())
        .replace("{given}", &show::with_unit(gap.given, &data.y.unit))
        .replace("{truth}", &show::with_unit(gap.truth, &data.y.unit))
        .replace("{by}", &by)
        .replace("{n}", &gap.n_compared.to_string())
        .replace("{close}", &gap.n_close.to_string())
        .replace("{above}", &gap.n_above.to_string())
        .replace("{below}", &gap.n_below.to_string())
}
